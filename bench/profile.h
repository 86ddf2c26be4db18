/* Where the time goes in a tile, and what the arena costs.
 *
 * Each part is one variant of the kernel, timed in rounds with the plain build and the plain build
 * once more as its control (race.h), so that each has an interval and a noise floor of its own.
 * Shares are of the plain build's time:
 *
 *   twice     a stage is done twice: what another one costs, with its data in the cache already.
 *             Every stage reads what it does not write, so results stay right, and are checked.
 *   left out  a loading stage is not done: what is saved, its memory traffic included. Later stages
 *             compute on what lies there; results are wrong, so this is timing only.
 *   tax       a shortcut past the arena: what is saved by constants in place of the offset table
 *             (table), by V read from its source in place of a copy in the arena (staging), and by
 *             l_new and acc_new at the place of l and acc in place of their copies (copy_to). m is
 *             copied all the same, as alpha needs the old one. Each is checked, and timing only
 *             where it is not right: copy_to is not where blocks of rows or columns overlap, as the
 *             overlap is then rescaled twice; nor is table in the simt style under PoCL 3.1, whose
 *             compiler gets constant offsets wrong there (Oclgrind runs that build right, and sees
 *             no data race).
 *
 * None of them is a policy, a kernel style or a row of a sweep. The plain build is checked and
 * measured as a sweep's rows are before anything is timed.
 */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "bench/cells.h"
#include "bench/pairs.h"

enum profile_kind { PROFILE_TWICE, PROFILE_LEFT_OUT, PROFILE_TAX };

enum profile_check {
    PROFILE_RIGHT,       /* verified, and bit for bit what the plain build gives */
    PROFILE_WRONG,       /* a stage done twice that does not: not timed */
    PROFILE_TIMING_ONLY, /* results are not right, and need not be */
    PROFILE_NONE,        /* this problem or policy has no such variant: `why` */
};

/* "twice", "left out", "tax"; "right", "WRONG", "timing only", "none". */
const char *profile_kind_name(enum profile_kind kind);
const char *profile_check_name(enum profile_check check);

enum { PROFILE_PARTS = 11, PROFILE_DEFINES_BYTES = 512 };

struct profile_part {
    const char *name;                    /* "keys", "table" */
    const char *what;                    /* one line: what the stage or the shortcut is */
    const char *why;                     /* PROFILE_NONE: why; NULL else */
    enum profile_kind kind;              /* */
    enum profile_check check;            /* */
    char defines[PROFILE_DEFINES_BYTES]; /* build options of the variant */
    double share;                        /* of the plain build's time; NaN = not timed */
    double lower;                        /* its interval, 2.5 % */
    double upper;                        /* 97.5 % */
    double noise_floor;                  /* of the control */
    bool clear;                          /* the interval lies outside the noise */
};

/* Pure: the share that a ratio of a variant's time to the plain build's tells of. */
void profile_judge(const struct pairs_ratio *ratio, double noise_floor, struct profile_part *part);

struct profile_options {
    size_t blocks;     /* of rounds, >= 1 */
    size_t rounds;     /* of a block, >= 1 */
    double sample_s;   /* least length of a sample, > 0 */
    double cut_s;      /* as sweep_options' */
    double check_work; /* */
    uint64_t seed;     /* */
};

/* 5 blocks of 8 rounds; the rest as a sweep's. */
void profile_options_default(struct profile_options *options);

struct profile {
    struct cell_result result;                /* of the plain build */
    struct profile_part parts[PROFILE_PARTS]; /* in the order above */
    size_t count;                             /* parts that are done */
    size_t wrong;                             /* of them; the plain build counts */
    double launch_ns;                         /* of the plain build; NaN = not timed */
    double tile_ns;                           /* of it, one tile on one PE */
};

struct profile_sink {
    void *user;
    /* Part `index` of PROFILE_PARTS, and a word: "build", "check", "time". */
    void (*progress)(void *user, size_t index, const char *name, const char *stage);
    bool (*interrupted)(void *user);
};

/* Plans, checks and profiles a cell with global arenas. A wrong plain build ends it with STATUS_OK
 * and wrong = 1; STATUS_INTERRUPTED: the parts that are done are in *out. STATUS_BAD_INPUT: the
 * cell overflows its pool; STATUS_NO_SPACE: the device; else as attention_create. */
enum status profile_run(struct device *device, const struct topology *topology, struct cell *cell,
                        const struct profile_options *options, const struct profile_sink *sink,
                        struct profile *out) STATUS_MUST_USE;

/* The variants, for tests: fills name, kind, what, why and defines of part `index`, and the table
 * that it runs with in place of `plain`, which has the same size. */
void profile_variant(size_t index, const struct problem *problem, const struct offset_table *plain,
                     struct profile_part *part, struct offset_table *table);

#endif
