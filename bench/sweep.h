/* What the files of the sweep share: its state, and one group of cells on the device.
 * sweep.c goes through the groups and checks, sweep_time.c times a cell with Google Benchmark,
 * sweep_pairs.c runs the rounds of pairs. */
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "bench/cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cell that passed the filter, with what is known of it. */
struct sweep_entry {
    struct cell *cell;         /* the caller's */
    struct cell_result result; /* */
};

struct sweep {
    struct device *device;               /* */
    const struct sweep_options *options; /* */
    const struct sweep_sink *sink;       /* */
    struct sweep_outcome *outcome;       /* */
    const struct topology *topology;     /* of the device's machine; NULL = not its caches */
    struct sweep_entry *entries;         /* owned */
    size_t count;                        /* */
    struct inputs *inputs;               /* of inputs_problem; NULL = none yet */
    struct problem inputs_problem;       /* */
    struct reference *reference;         /* of reference_problem; NULL = none yet */
    struct problem reference_problem;    /* */
};

/* Entries [first, end) of a sweep: equal but for the policy, and the pool where it grows. */
struct sweep_group {
    struct sweep *sweep;         /* */
    size_t first;                /* */
    size_t end;                  /* at most POLICY_COUNT entries */
    struct attention *attention; /* shared by all of them */
    bool hashed;                 /* output_hash is that of the first checked cell */
    uint64_t output_hash;        /* */
    size_t timed_items;          /* the same for all; 0 = not decided yet */
};

/* A policy on arenas of its own. */
struct sweep_lease {
    struct pe_arenas *arenas;
    struct attention_bound *bound;
};

/* The rows of one cell as they come from Google Benchmark. */
struct sweep_runs {
    struct cell_run *runs; /* owned */
    size_t count;
    size_t capacity;
};

/* STATUS_INTERRUPTED if the sink says so. Cheap: asked between any two launches. */
enum status sweep_poll(const struct sweep *sweep) STATUS_MUST_USE;

void sweep_progress(const struct sweep *sweep, size_t entry, const char *stage);

/* Times an entry that is ok, and appends its runs. Decides the group's timed_items first. */
enum status sweep_time(struct sweep_group *group, struct sweep_entry *entry,
                       struct sweep_lease *lease, struct sweep_runs *runs) STATUS_MUST_USE;

/* Of a problem that is too long to time whole: as many of the first items as make one a PE, and one
 * of them walk S tiles, as under a mask the first may walk fewer. Parts of a block belong together
 * and are few: all of them. */
size_t sweep_cut_items(const struct cell *cell, const struct cell_result *result);

/* Pairs between the timed entries of a group, and its control; reports the ratios. */
enum status sweep_pairs(struct sweep_group *group) STATUS_MUST_USE;

#endif
