/* Presets of a sweep: one problem each, and the settings that a row's name leaves unsaid. Those of
 * models are named after the model and the phase. */
#ifndef HOST_APP_PRESET_H
#define HOST_APP_PRESET_H

#include "host/attention/problem.h"
#include "host/device/pe_arenas.h"

struct preset {
    const char *name;       /* "cap16" */
    const char *summary;    /* one line for --help, at most 56 columns */
    const char *source;     /* of a model's numbers, likewise; NULL = no model */
    const char *tiles;      /* S as --tiles takes it; NULL = seq_kv is fixed, S follows from it */
    struct problem problem; /* seq_kv is set by S where `tiles` is */
    size_t pool_bytes;      /* of one PE */
    enum pe_arenas_space arena; /* where the arenas are */
};

enum { PRESET_COUNT = 16 };

/* The preset of an index below PRESET_COUNT; the order is that of PRESET_WORDS. */
const struct preset *preset_at(size_t index);

#define PRESET_WORDS                                                                               \
    "cap16|chip48|square4096|"                                                                     \
    "llama3-8b-prefill|llama3-8b-decode|llama3-70b-prefill|llama3-70b-decode|gpt2-prefill|"        \
    "gemma2-9b-prefill|gemma2-9b-decode|mistral-7b-prefill|mistral-7b-decode|"                     \
    "gpt-oss-20b-prefill|gpt-oss-20b-decode|deepseek-mla-prefill|vit-b16"

/* The preset's own name for `name`, so that it can be kept; "" if there is none. */
const char *preset_intern(const char *name);

/* Heads of keys and columns of values that go with these of the preset, where nothing else is
 * said: they follow where they are equal in the preset, and are the preset's own otherwise. */
size_t preset_kv_heads(const struct preset *preset, size_t q_heads);
size_t preset_head_dim_v(const struct preset *preset, size_t head_dim);

#endif
