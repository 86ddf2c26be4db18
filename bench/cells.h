/* Cells of a sweep: one cell is one row of the table (preset, policy, dtype, S and every other
 * setting). Plans cells without a device, and runs a whole sweep with one.
 *
 * A sweep goes through its cells in order. Neighbours that differ in policy alone form a group:
 * they share inputs, reference and built kernel, are checked and timed together, and give the
 * ratios. For every group: check each cell (verdict before speed) and time it with Google
 * Benchmark, then the rounds of pairs; the rows come out as they finish. Where the pool grows with
 * the need, it may differ within a group.
 */
#ifndef BENCH_CELLS_H
#define BENCH_CELLS_H

#include "bench/gbench.h"
#include "bench/roofline.h"
#include "host/attention/run.h"
#include "host/device/topology.h"

enum { CELL_NAME_BYTES = 512, CELL_TEXT_BYTES = 1024 };

struct cell {
    char name[CELL_NAME_BYTES]; /* run_name: "attention/cap16/nested/f16/S:16..." */
    const char *preset;         /* "cap16" */
    enum policy policy;         /* */
    enum kernel_style style;    /* */
    struct problem problem;     /* */
    size_t pes;                 /* work-groups; 0 in a plan without a device = not known */
    size_t pool_bytes;          /* of one PE; with pool_grow filled in by cell_plan, which also */
                                /* lowers it to what local_bytes leaves */
    size_t local_bytes;         /* local arenas: what a work-group has for pool and guard; */
                                /* SIZE_MAX = no device, so not known; global: not read */
    size_t alignment;           /* bytes, 128 */
    enum pe_arenas_space arena; /* where the arenas are */
    bool any_style;             /* style is not known yet: the device chooses it */
    bool pool_grow;             /* the pool is what the row needs */
    bool poison;                /* check with rewound ranges filled, too */
};

/* What is known of a cell before and after it ran. */
struct cell_result {
    size_t tiles;                        /* S: walked by the longest item */
    struct footprint footprint;          /* overflow.name is NULL: see overflow_name */
    struct problem_traffic traffic;      /* of one launch over all items */
    double flops;                        /* of one launch over all items */
    size_t parts_bytes;                  /* of the states that parts leave; 0 if unsplit */
    bool overflow;                       /* the pool's, or the device's */
    size_t overflow_tile;                /* from 1; 0 = persistent or device */
    char overflow_name[64];              /* temporary, or "device" */
    size_t overflow_request_bytes;       /* device: of the buffer, or local memory, it can't hold */
    size_t overflow_free_bytes;          /* device: its largest allocation, or local memory */
    char overflow_text[CELL_TEXT_BYTES]; /* R5's text */
    size_t cache_level;                  /* that holds the peak of all PEs; 0 = none or unknown */
    bool checked;                        /* the fields below are valid */
    struct attention_check check;        /* */
    bool agrees;             /* measured = planned (bytes, lines, parts), guards intact */
    bool same_bits;          /* output equal to the group's first checked cell's */
    bool ok;                 /* verified, agrees, repeatable, same_bits, neutral */
    size_t items;            /* of the whole problem */
    size_t timed_items;      /* that the timing ran: see cut_s; 0 = untimed */
    double timed_flops;      /* of one launch of those; 0 = untimed */
    size_t timed_read_bytes; /* dram_read_bytes of those; SIZE_MAX = saturated, 0 = untimed */
    struct roofline_peaks
        peaks;               /* right before and after the timing, the larger; NaN = not measured */
    double event_host_ratio; /* median of the timed launches; NaN or 0 = no sane stamps */
    bool clocks_known;       /* launches were long enough to compare event time and host time */
    bool clocks_agree;       /* and they are within 10 % */
};

/* One run row: a repetition or an aggregate. Times are per launch of timed_items. */
struct cell_run {
    enum gbench_run_type type;
    char aggregate_name[16]; /* "" on a repetition */
    size_t repetitions;      /* */
    size_t repetition_index; /* */
    size_t threads;          /* */
    uint64_t iterations;     /* */
    double real_time_ns;     /* event time where sane, else host time; cv: a ratio; NaN = none */
    double cpu_time_ns;      /* cv: a ratio */
    double event_time_ns;    /* NaN = stamps were not sane; cv: a ratio */
    double host_time_ns;     /* cv: a ratio */
    bool time_is_event;      /* time_source */
    double gflops;           /* of the timed items; cv: a ratio; NaN = no time */
    bool failed;             /* */
    char message[256];       /* */
};

/* Ratio of one policy's time to another's within one group, from pairs. */
struct cell_ratio {
    const char *preset;          /* */
    char group[CELL_NAME_BYTES]; /* the cells' name without its policy part */
    size_t tiles;                /* S */
    enum policy numerator;       /* */
    enum policy denominator;     /* the same one in the control */
    double ratio;                /* median of the blocks' medians; NaN = too few samples */
    double lower;                /* bootstrap interval, 2.5 % */
    double upper;                /* 97.5 % */
    size_t blocks;               /* */
    size_t rounds;               /* of a block */
    double noise_floor;          /* spread of the control of this group */
    bool not_slower;             /* upper < 1 + max(1 %, noise floor) */
    bool conclusive;             /* pairs_conclusive: not too noisy to tell */
};

/* The pool of local arenas: the smaller of the cell's and what its local_bytes leave beside the
 * guard. Where the pool grows, it stays, and a need above that is the device's overflow. */
void cell_limit_pool(struct cell *cell);

/* Whether the pool of local arenas is above what its local_bytes leave beside the guard. */
bool cell_exceeds_local(const struct cell *cell);

/* Plans a cell, its pool limited: footprint, overflow, traffic, FLOPs. `max_alloc_bytes` and
 * `base_align_bytes` of the device decide on overflow_name = device; 0 = no device. Sets
 * cell->pool_bytes under pool_grow. STATUS_BAD_INPUT / STATUS_RANGE as the problem's. */
enum status cell_plan(struct cell *cell, size_t max_alloc_bytes, size_t base_align_bytes,
                      const struct topology *topology, struct cell_result *out) STATUS_MUST_USE;

/* What footprint.h plans for this cell: its policy and walked tiles in its pool (under pool_grow
 * after cell_plan only). */
struct footprint_request cell_request(const struct cell *cell);

/* The arenas of a planned cell: its pool, and the guard that cell_plan counts. */
struct pe_arenas_shape cell_arenas(const struct cell *cell);

/* Lowers the local_bytes of local arenas by what the built kernel takes itself of the device's.
 * Whether it did: the cell is to be planned again. */
bool cell_take_local(struct cell *cell, size_t device_bytes, size_t own_bytes);

/* Fills checked, agrees, same_bits and ok from result->check and the plan. */
void cell_judge(struct cell_result *result, bool same_bits);

/* Whether repetitions spread so widely that their median is no steady number: their standard
 * deviation over their mean, above 5 %. NaN is not. */
bool cell_spread_is_wide(double cv);

/* Blocks of pairs that an interval of 95 % needs. */
enum { SWEEP_LEAST_PAIR_BLOCKS = 5 };

struct sweep_options {
    size_t repetitions; /* of each cell, >= 1 */
    double min_time_s;  /* of each repetition, > 0 */
    uint64_t seed;      /* of the inputs and the bootstrap */
    double check_work;  /* reference_create's bound */
    size_t pair_blocks; /* blocks of rounds; 0 = no ratios; else the least of them or more */
    size_t pair_rounds; /* rounds of a block, >= 1 */
    double sample_s;    /* least length of one sample, s, > 0 */
    double cut_s;       /* a launch over all items that takes longer: time one item a PE, and more
                         * until one of them walks S tiles; never with parts, s, > 0, infinity:
                         * always all items */
    struct roofline_probe *probe; /* run beside each timing; NULL = none; borrowed */
};

/* 3 repetitions of 0.05 s, seed 1, the reference's default work, 5 blocks of 4 rounds, samples of
 * 2 ms, cut at 50 ms. */
void sweep_options_default(struct sweep_options *options);

/* Where a sweep reports. Any function may be NULL but `row`. */
struct sweep_sink {
    void *user;
    /* A cell is done (runs = NULL, count 0 when it overflows or is wrong). A non-OK status ends the
     * sweep: the file could not be written. */
    enum status (*row)(void *user, const struct cell *cell, const struct cell_result *result,
                       const struct cell_run *runs, size_t count);
    void (*ratio)(void *user, const struct cell_ratio *ratio);
    /* What is going on: cell `index` of `count`, and a word ("reference", "build", "check", "time",
     * "pairs"). */
    void (*progress)(void *user, size_t index, size_t count, const struct cell *cell,
                     const char *stage);
    bool (*interrupted)(void *user);
};

/* Where the time of a sweep went, s. What fails ends the sweep uncounted. */
struct sweep_seconds {
    double inputs;    /* random tensors */
    double reference; /* results in double precision */
    double build;     /* kernels, from source or a cache; inputs to the device */
    double check;     /* painted runs, scans, comparison */
    double timing;    /* of single cells */
    double pairs;     /* rounds, with arenas of their own */
    double rows;      /* in the sink's `row` */
};

struct sweep_outcome {
    size_t rows;                  /* done */
    size_t overflows;             /* */
    size_t wrong;                 /* checked and not ok */
    struct sweep_seconds seconds; /* so far */
};

/* Runs those of cells [0, count) whose name passes --benchmark_filter; the others are no rows, and
 * progress counts without them. Rows come out in the cells' order, a group's ratios after its rows.
 * STATUS_INTERRUPTED: the sink said so; rows done so far were reported. A wrong row is reported
 * and counted, and the sweep goes on; a failure of the device, the host's memory or the sink ends
 * it. Every cell is planned first, so bad input is refused before anything runs. */
enum status sweep_run(struct device *device, const struct topology *topology, struct cell *cells,
                      size_t count, const struct sweep_options *options,
                      const struct sweep_sink *sink, struct sweep_outcome *outcome) STATUS_MUST_USE;

#endif
