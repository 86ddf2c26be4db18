/* Presets of a sweep: one problem each, and the settings that a row's name leaves unsaid. */
#ifndef HOST_APP_PRESET_H
#define HOST_APP_PRESET_H

#include "host/attention/problem.h"

struct preset {
    const char *name;       /* "cap16" */
    const char *summary;    /* one line for --help */
    const char *tiles;      /* S as --tiles takes it; NULL = S follows from seq_kv */
    struct problem problem; /* seq_kv is set by S where `tiles` is */
    size_t pool_bytes;      /* of one PE */
};

enum { PRESET_COUNT = 2 };

/* The preset of an index below PRESET_COUNT; the order is that of PRESET_WORDS. */
const struct preset *preset_at(size_t index);

#define PRESET_WORDS "cap16|square4096"

/* The preset's own name for `name`, so that it can be kept; "" if there is none. */
const char *preset_intern(const char *name);

#endif
