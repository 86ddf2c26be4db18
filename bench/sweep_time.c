/* Times one cell with Google Benchmark, and turns its runs into rows.
 *
 * Google Benchmark gets one time an iteration: the event's where its stamps are sane, else the
 * host's. A run in which any stamp was not sane is told by host time as a whole, and so are the
 * aggregates over it; that is why both times travel as counters. No counter is ever NaN: a run
 * without event time carries 0 there, which collect() does not pass on.
 */
#include "bench/clocks.h"
#include "bench/gbench.h"
#include "bench/sweep.h"
#include "host/attention/tile_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_EVENT_NS "event_ns"
#define COUNTER_HOST_NS "host_ns"
#define COUNTER_EVENT_GFLOPS "event_gflops"
#define COUNTER_HOST_GFLOPS "host_gflops"
#define COUNTER_IS_EVENT "time_is_event"

/* Of COUNTER_IS_EVENT: above it, no repetition in the mean had a bad stamp. */
#define ALL_OF_THEM (1.0 - 1e-9)

struct timing {
    struct sweep_group *group;
    struct sweep_lease *lease;
    struct sweep_runs *runs;
    double flops;      /* of one launch */
    bool warm;         /* the warm-up has been */
    bool always_event; /* in every repetition so far; the mean, the first aggregate, tells it too */
    enum status status;   /* the first failure inside the body or collect() */
    struct clocks clocks; /* of the timed launches */
};

/* Sums over the iterations of one run. */
struct tally {
    double event_ns;
    double host_ns;
    size_t insane;
};

static enum status launch(struct timing *timing, struct event_time *time)
{
    enum status status = STATUS_OK;
    struct sweep_group *group = timing->group;
    STATUS_TRY(sweep_poll(group->sweep));
    STATUS_TRY(attention_launch(group->attention, timing->lease->bound, group->timed_items, false,
                                1, time));
out:
    return status;
}

static double best_ns(const struct event_time *time)
{
    return time->sane ? time->event_ns : time->host_ns;
}

static void count_tally(struct gbench_state *state, const struct timing *timing,
                        const struct tally *tally)
{
    double iterations = (double)gbench_iterations(state);
    if (iterations < 1.0) {
        return;
    }
    bool sane = tally->insane == 0;
    double event_ns = sane ? tally->event_ns / iterations : 0.0;
    double host_ns = tally->host_ns / iterations;
    gbench_counter(state, COUNTER_EVENT_NS, event_ns);
    gbench_counter(state, COUNTER_HOST_NS, host_ns);
    gbench_counter(state, COUNTER_EVENT_GFLOPS, sane ? timing->flops / event_ns : 0.0);
    gbench_counter(state, COUNTER_HOST_GFLOPS, timing->flops / host_ns);
    gbench_counter(state, COUNTER_IS_EVENT, sane ? 1.0 : 0.0);
}

/* No build and no first launch is ever timed: the kernel was built with the group, the check ran
 * it, and the launch before the loop has touched this lease's arenas.
 *
 * A failure leaves through timing->status; what Google Benchmark is told only ends its loop. */
static void body(struct gbench_state *state, void *context)
{
    struct timing *timing = context;
    struct tally tally = {0};
    struct event_time time;
    if (timing->status == STATUS_OK && !timing->warm) {
        timing->status = launch(timing, &time);
        timing->warm = true;
    }
    if (timing->status != STATUS_OK) {
        gbench_skip(state, status_name(timing->status));
        return;
    }
    while (gbench_keep_running(state)) {
        timing->status = launch(timing, &time);
        if (timing->status != STATUS_OK) {
            gbench_skip(state, status_name(timing->status));
            return;
        }
        clocks_add(&timing->clocks, &time);
        tally.event_ns += time.sane ? time.event_ns : 0.0;
        tally.host_ns += time.host_ns;
        tally.insane += time.sane ? 0 : 1;
        gbench_set_iteration_seconds(state, best_ns(&time) * 1e-9);
    }
    count_tally(state, timing, &tally);
}

static double counter_of(const struct gbench_run *run, const char *name)
{
    for (size_t i = 0; i < run->counter_count; i++) {
        if (strcmp(run->counters[i].name, name) == 0) {
            return run->counters[i].value;
        }
    }
    return (double)NAN;
}

static struct cell_run *runs_push(struct sweep_runs *runs)
{
    if (runs->count == runs->capacity) {
        size_t capacity = runs->capacity > 0 ? 2 * runs->capacity : 16;
        struct cell_run *grown = realloc(runs->runs, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        runs->runs = grown;
        runs->capacity = capacity;
    }
    struct cell_run *run = &runs->runs[runs->count++];
    *run = (struct cell_run){0};
    return run;
}

static void fill_run(const struct gbench_run *run, bool is_event, struct cell_run *out)
{
    out->type = run->type;
    snprintf(out->aggregate_name, sizeof out->aggregate_name, "%s", run->aggregate_name);
    out->repetitions = run->repetitions;
    out->repetition_index = run->repetition_index;
    out->threads = run->threads;
    out->iterations = run->iterations;
    out->cpu_time_ns = run->cpu_time_ns;
    out->event_time_ns = is_event ? counter_of(run, COUNTER_EVENT_NS) : (double)NAN;
    out->host_time_ns = counter_of(run, COUNTER_HOST_NS);
    out->real_time_ns = is_event ? out->event_time_ns : out->host_time_ns;
    out->gflops = counter_of(run, is_event ? COUNTER_EVENT_GFLOPS : COUNTER_HOST_GFLOPS);
    out->time_is_event = is_event;
    out->failed = run->failed;
    snprintf(out->message, sizeof out->message, "%s", run->message);
}

static void collect(const struct gbench_run *run, void *user)
{
    struct timing *timing = user;
    if (timing->status != STATUS_OK) {
        return;
    }
    bool is_event = counter_of(run, COUNTER_IS_EVENT) > ALL_OF_THEM;
    if (run->type == GBENCH_ITERATION || strcmp(run->aggregate_name, "mean") == 0) {
        timing->always_event = timing->always_event && is_event;
    }
    struct cell_run *out = runs_push(timing->runs);
    if (out == NULL) {
        timing->status = STATUS_FAIL(STATUS_NO_MEMORY, run->run_name, "no memory for its rows");
        return;
    }
    fill_run(run, run->type == GBENCH_ITERATION ? is_event : timing->always_event, out);
}

size_t sweep_cut_items(const struct cell *cell, const struct cell_result *result)
{
    size_t longest = 0;

    if (problem_parts(&cell->problem) > 1) {
        return result->items;
    }
    while (longest + 1 < result->items &&
           problem_item(&cell->problem, longest).tile_count < result->tiles) {
        longest++;
    }
    return size_min(result->items, size_max(cell->pes, longest + 1));
}

/* One launch over all items tells whether the group's problem is cut. */
static enum status decide_items(struct sweep_group *group, const struct sweep_entry *entry,
                                struct sweep_lease *lease)
{
    enum status status = STATUS_OK;
    struct event_time time;
    size_t items = entry->result.items;
    STATUS_TRY(sweep_poll(group->sweep));
    STATUS_TRY(attention_launch(group->attention, lease->bound, items, false, 1, &time));
    bool cut = best_ns(&time) * 1e-9 > group->sweep->options->cut_s;
    group->timed_items = cut ? sweep_cut_items(entry->cell, &entry->result) : items;
out:
    return status;
}

static void set_clocks(struct timing *timing, struct cell_result *result)
{
    const struct clocks_verdict verdict = clocks_judge(&timing->clocks);
    result->event_host_ratio = verdict.ratio;
    result->clocks_known = verdict.known;
    result->clocks_agree = verdict.agree;
}

enum status sweep_time(struct sweep_group *group, struct sweep_entry *entry,
                       struct sweep_lease *lease, struct sweep_runs *runs)
{
    enum status status = STATUS_OK;
    const struct sweep_options *options = group->sweep->options;
    const struct gbench_options how = {.repetitions = options->repetitions,
                                       .min_time_s = options->min_time_s,
                                       .manual_time = true};
    struct timing timing = {.group = group, .lease = lease, .runs = runs, .always_event = true};
    size_t ran = 0;

    if (group->timed_items == 0) {
        STATUS_TRY(decide_items(group, entry, lease));
    }
    timing.flops = problem_flops(&entry->cell->problem, group->timed_items);
    STATUS_TRY(gbench_register(entry->cell->name, body, &timing, &how));
    status = gbench_run_registered(collect, &timing, &ran);
    gbench_clear();
    if (timing.status != STATUS_OK) {
        status = timing.status;
    }
    STATUS_TRY(status);
    if (ran > 0) {
        set_clocks(&timing, &entry->result);
        entry->result.timed_items = group->timed_items;
        entry->result.timed_flops = timing.flops;
        entry->result.timed_read_bytes =
            group->timed_items == entry->result.items
                ? entry->result.traffic.dram_read_bytes
                : tile_program_read_bytes(&entry->cell->problem, group->timed_items);
    }
out:
    return status;
}
