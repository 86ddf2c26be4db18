/* The fastest tile for a problem and a pool, under each policy.
 *
 * A tile's speed hardly depends on the policy (the arithmetic is the same, its offsets are others),
 * so the search times tiles, and only its winners are timed under each policy:
 *
 * 1. Looks: one tile after another, earlier winners and then the promising ones first, on a part
 *    of the problem that is the same share of its work for all; a slow tile is left after a launch.
 *    They end when the other steps need the time that is left.
 * 2. Rounds: the best of each policy on more of the problem, interleaved, the slower half dropped
 *    every other round; a tile's speed is the median of its ratios to the first one's.
 * 3. Verdict: the winner of each policy runs the whole problem, painted, against the reference. A
 *    tile that is wrong is told, and the next one takes its place.
 * 4. Pairs: the winners, each under its own policy, and a control, in blocks of rounds (pairs.h).
 *    Where they show that a policy would be faster with the tile of a less recycling one, steps 3
 *    and 4 are done once more, with what is known now.
 */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include "bench/pairs.h"
#include "bench/tune_space.h"

struct tune_block {
    size_t block_m; /* */
    size_t block_n; /* */
};

struct tune_request {
    struct cell cell;            /* preset, problem, style, pes, pool, arena and its local_bytes; */
                                 /* block and policy: none yet */
    bool policies[POLICY_COUNT]; /* at least one */
    double limit_s;              /* about; the last steps and a build under way may go past it */
    uint64_t seed;               /* of inputs and bootstrap */
    double check_work;           /* reference_create's bound */

    /* Earlier winners, 0 x 0 = none: looked at first and sent to the rounds, whatever the limit. */
    struct tune_block known[POLICY_COUNT];
};

struct tune_winner {
    bool found;                /* a tile fits, was timed and is right */
    struct tune_tile tile;     /* */
    struct cell_result result; /* planned under the policy, and checked */
    double gflops;             /* under the policy, of the pairs; NaN = not there yet */
    double time_ns;            /* of a launch over all items, at that speed */
};

/* Time for the same work, of one policy's winner to another's. */
struct tune_ratio {
    enum policy numerator;
    enum policy denominator;
    struct pairs_ratio ratio;
};

enum { TUNE_MAX_RATIOS = 3 };

struct tune_result {
    struct tune_space space;                   /* owned: every tile that fits, timed or not */
    struct tune_winner winners[POLICY_COUNT];  /* */
    struct tune_ratio ratios[TUNE_MAX_RATIOS]; /* scoped and nested to unscoped, nested to scoped */
    size_t ratio_count;                        /* of policies that have winners */
    double noise_floor;                        /* of the control; NaN = no pairs */
    size_t wrong;                              /* tiles that failed their verdict */
    double seconds;                            /* that it took */
    bool complete;                             /* every tile that fits was looked at */
};

struct tune_progress {
    const char *stage; /* "look", "rounds", "verdict", "pairs" */
    size_t done;       /* tiles that were timed */
    size_t count;      /* tiles that fit */
    size_t block_m;    /* the one at hand */
    size_t block_n;    /* */
    double share;      /* of the time limit, 0..1 */
};

struct tune_sink {
    void *user;
    void (*progress)(void *user, const struct tune_progress *progress); /* NULL = not told */
    bool (*interrupted)(void *user);                                    /* NULL = never */
};

/* Tunes. No tile fits: no winner, which is not a failure. STATUS_INTERRUPTED: *out has what is
 * known so far; winners that are found are verified. Other failures: those of the device, or of no
 * tile that could be built; *out likewise. End it with tune_result_fini in any case. */
enum status tune_run(struct device *device, const struct topology *topology,
                     const struct tune_request *request, const struct tune_sink *sink,
                     struct tune_result *out) STATUS_MUST_USE;
void tune_result_fini(struct tune_result *result);

/* The least number of first items whose FLOPs reach `flops`, as a multiple of the PEs and at least
 * one each, or all of them; all where blocks are split in parts. */
size_t tune_items(const struct problem *problem, size_t pes, double flops);

#endif
