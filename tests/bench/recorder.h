/* Keeps what a run reports, for the tests of the shim. */
#ifndef TESTS_BENCH_RECORDER_H
#define TESTS_BENCH_RECORDER_H

#include "bench/gbench.h"
#include "tests/cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 64 };

/* What on_run saw; copied, since a run is valid during the callback alone. */
struct row {
    struct gbench_run run;
    char name[128];
    char run_name[128];
    char aggregate_name[32];
    char message[128];
    char counter_names[GBENCH_MAX_COUNTERS][32];
};

struct recorder {
    struct row rows[MAX_ROWS];
    size_t count;
};

static struct recorder recorder;

static inline void record(const struct gbench_run *run, void *user)
{
    struct recorder *to = user;
    if (to->count == MAX_ROWS) {
        return;
    }
    struct row *row = &to->rows[to->count++];
    row->run = *run;
    (void)snprintf(row->name, sizeof row->name, "%s", run->name);
    (void)snprintf(row->run_name, sizeof row->run_name, "%s", run->run_name);
    (void)snprintf(row->aggregate_name, sizeof row->aggregate_name, "%s", run->aggregate_name);
    (void)snprintf(row->message, sizeof row->message, "%s", run->message);
    for (size_t i = 0; i < run->counter_count; i++) {
        (void)snprintf(row->counter_names[i], sizeof row->counter_names[i], "%s",
                       run->counters[i].name);
    }
}

static inline size_t run_all(void)
{
    size_t count = 0;
    recorder.count = 0;
    assert_int_equal(gbench_run_registered(record, &recorder, &count), STATUS_OK);
    return count;
}

static inline void take_flag(const char *flag)
{
    static char program[] = "test";
    char *copy = strdup(flag);
    char *argv[] = {program, copy, NULL};
    int argc = 2;
    const enum status status = gbench_init(&argc, argv);
    free(copy);
    assert_int_equal(status, STATUS_OK);
}

static inline int start_afresh(void **state)
{
    static char program[] = "test";
    char *argv[] = {program, NULL};
    int argc = 1;
    (void)state;
    status_clear();
    gbench_clear();
    return gbench_init(&argc, argv) == STATUS_OK ? 0 : -1;
}

static inline double counter(const struct row *row, const char *name)
{
    for (size_t i = 0; i < row->run.counter_count; i++) {
        if (strcmp(row->counter_names[i], name) == 0) {
            return row->run.counters[i].value;
        }
    }
    return (double)NAN;
}

static inline void add(const char *name, gbench_body *body, void *context,
                       const struct gbench_options *options)
{
    assert_int_equal(gbench_register(name, body, context, options), STATUS_OK);
}

#endif
