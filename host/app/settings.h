/* What the command line asks for: the option table of all commands, and its result. */
#ifndef HOST_APP_SETTINGS_H
#define HOST_APP_SETTINGS_H

#include "host/app/format.h"
#include "host/app/options.h"
#include "host/app/preset.h"

enum command {
    COMMAND_SWEEP,
    COMMAND_PLAN,
    COMMAND_DEVICES,
    COMMAND_ATTEND,
    COMMAND_ROOFLINE,
    COMMAND_PROFILE,
    COMMAND_TUNE,
};

enum { COMMAND_COUNT = 7 };

const char *command_name(enum command command);

/* The longest time of one repetition. */
enum { SETTINGS_MAX_MIN_TIME_S = 3600 };

/* Blocks of rounds of pairs, unless told otherwise. */
enum { SETTINGS_PAIRS = 5 };

/* The time that a search for a tile takes where nothing else is said, and at most. */
enum { SETTINGS_TUNE_S = 60, SETTINGS_MAX_TUNE_S = 86400 };

/* S of a search where the preset takes it from --tiles. */
enum { SETTINGS_TUNE_TILES = 16 };

/* `kernel` of settings. */
enum { SETTINGS_KERNEL_AUTO, SETTINGS_KERNEL_SIMD, SETTINGS_KERNEL_SIMT };

/* `bind` of settings. */
enum { SETTINGS_BIND_AUTO, SETTINGS_BIND_NONE };

/* `arena` of settings that is the preset's. */
enum { SETTINGS_ARENA_PRESET = 2 };

/* Lists are empty where the option was not given: the preset's value counts. */
struct settings {
    size_t preset;                /* index, preset_at */
    struct ranges tiles;          /* S */
    struct ranges policies;       /* enum policy */
    struct ranges dtypes;         /* enum dtype */
    struct ranges block_m;        /* */
    struct ranges block_n;        /* */
    struct options_block block;   /* both at once; all 0 = not given */
    struct ranges head_dim;       /* */
    struct ranges head_dim_v;     /* empty = as preset_head_dim_v says */
    struct ranges seq_q;          /* */
    struct ranges q_heads;        /* */
    struct ranges kv_heads;       /* empty = as preset_kv_heads says */
    struct ranges batch;          /* */
    struct ranges parts;          /* items that share a block's tiles; 1 = unsplit */
    struct options_pool pool;     /* all 0 = the preset's */
    size_t pes;                   /* 0 = auto */
    size_t kernel;                /* SETTINGS_KERNEL_ */
    size_t bind;                  /* SETTINGS_BIND_ */
    size_t arena;                 /* enum pe_arenas_space; SETTINGS_ARENA_PRESET = not given */
    bool causal;                  /* these seven: what is not given is the preset's */
    struct options_window window; /* -1,-1 = none */
    double softcap;               /* 0 = not given */
    bool alibi;                   /* */
    bool sinks;                   /* */
    bool mask;                    /* */
    double scale;                 /* 0 = not given */
    bool poison;                  /* */
    bool whole;                   /* time all items, however long they take */
    const char *device;           /* NULL = automatic; borrowed from argv */
    size_t repetitions;           /* 0 = not given */
    double min_time_s;            /* 0 = not given */
    size_t rounds;                /* of a profile's blocks; 0 = not given */
    size_t pairs;                 /* blocks of rounds of pairs */
    double time_limit_s;          /* of tune */
    size_t seed;                  /* */
    size_t format;                /* enum format; FORMAT_COUNT = not given */
    struct options_texts outputs; /* borrowed from argv */
    bool resume;                  /* */
    bool force;                   /* */
};

/* Parses argv[1..argc) and checks what one option alone cannot: presets that fix S, types without
 * a kernel, a mask that contradicts itself, too few pairs, --resume without a file, a block given
 * twice, lists of a search. STATUS_BAD_INPUT with reason and hint. End it with settings_fini in any
 * case. */
enum status settings_parse(enum command command, int argc, char **argv, struct settings *out,
                           bool *help) STATUS_MUST_USE;
void settings_fini(struct settings *settings);

/* Where the arenas are: what was given, else the preset's. */
enum pe_arenas_space settings_arena(const struct settings *settings);

/* The options of a command, and the presets where it takes them, for its --help. */
void settings_help(enum command command, FILE *file);

#endif
