/* What the tests of the sweep share: tiny cells, a sink that writes down what it is told, and ways
 * to spoil a check or a launch's stamps: the linker puts functions of sweep_case.c between the
 * sweep and host/attention (--wrap). */
#ifndef TESTS_DEVICE_SWEEP_CASE_H
#define TESTS_DEVICE_SWEEP_CASE_H

#include "bench/cells.h"
#include "tests/cmocka.h"
#include "tests/device/attention_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CELLS = 16, MAX_RUNS = 16, MAX_RATIOS = 32, PES = 2, NEVER = 1 << 30 };

enum spoil {
    SPOIL_NOTHING,
    SPOIL_HASH,
    SPOIL_PEAK,
    SPOIL_LINES,
    SPOIL_GUARD,
    SPOIL_PARTS,
    SPOIL_VERDICT
};

struct spoiled {
    enum spoil check;       /* what the check numbered `at` shows */
    size_t at;              /* from 0 */
    size_t checks;          /* so far */
    size_t insane_every;    /* every Nth launch has bad stamps; 0 = none */
    size_t launches;        /* so far */
    size_t local_launches;  /* of them, with local arenas */
    size_t own_local_bytes; /* what every kernel takes of local memory; 0 = as it is */
    double event_factor;    /* on every event time; 0 = none */
    double host_ns;         /* of every launch, with an event time as long; 0 = as it was */
    double first_ns;        /* of the first launch of a binding after its check; 0 = as it was */
    const void *seen;       /* the binding launched last */
};

struct row {
    char name[CELL_NAME_BYTES];
    struct cell_result result;
    struct cell_run runs[MAX_RUNS];
    size_t run_count;
};

struct record {
    struct row rows[MAX_CELLS];
    size_t row_count;
    struct cell_ratio ratios[MAX_RATIOS];
    size_t ratio_count;
    char stage[32];           /* the last one */
    size_t progress_count;    /* `count` of the last progress */
    size_t interrupt_rows;    /* interrupted once so many rows are out; NEVER */
    const char *interrupt_at; /* interrupted in this stage; NULL = never */
    size_t interrupt_polls;   /* after so many polls in it */
    size_t fail_row;          /* this row can't be written; NEVER */
};

extern struct spoiled spoiled;
extern struct record record;
extern struct device *device;

/* One head, 16 queries in 4 items, S tiles of 8 keys. */
struct cell tiny(enum policy policy, size_t tiles, size_t pool_bytes);

/* The pool in which unscoped just fits with S tiles. */
size_t pool_for(size_t tiles);

/* All policies of S, in a pool that unscoped fills with `fit` tiles. Returns 3. */
size_t tiny_group(struct cell *cells, size_t tiles, size_t fit);

/* Short repetitions and samples, 5 blocks of 2 rounds, nothing cut. */
struct sweep_options quick(void);

/* A sweep into `record`; run_fine fails the test unless it ends well. */
enum status run(struct cell *cells, size_t count, const struct sweep_options *options,
                struct sweep_outcome *outcome);
struct sweep_outcome run_fine(struct cell *cells, size_t count,
                              const struct sweep_options *options);

/* The recorded ratio of two policies; NULL = none. */
const struct cell_ratio *find_ratio(enum policy numerator, enum policy denominator);

/* Fixtures: of every test, and of the program. */
int fresh(void **state);
int open_device(void **state);
int close_device(void **state);

#define SWEEP_TEST(name_) cmocka_unit_test_setup(name_, fresh)

#endif
