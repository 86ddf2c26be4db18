/* Google Benchmark from C. Hides what differs between its releases 1.7 and 1.9: the names of
 * errored runs, the suffixes on names (/manual_time, /repeats:N, /iterations:N, /min_time:X), the
 * spelling of --benchmark_min_time, and the default reporter that must not run twice.
 *
 *     static void body(struct gbench_state *state, void *context)
 *     {
 *         while (gbench_keep_running(state)) {
 *             double seconds = launch(context);
 *             gbench_set_iteration_seconds(state, seconds);
 *         }
 *         gbench_counter(state, "gflops", 12.5);
 *     }
 *     gbench_init(&argc, argv);
 *     gbench_register("attention/cap16/...", body, context, &options);
 *     gbench_run_registered(on_run, user, &count);
 *     gbench_clear();
 *
 * One process may register, run and clear as often as it likes. Not thread-safe. No C++ exception
 * leaves a function of this header.
 */
#ifndef BENCH_GBENCH_H
#define BENCH_GBENCH_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gbench_state;

/* Called once for each attempt: several times for a run that grows to its min time, once more for
 * each repetition. Must loop until gbench_keep_running says no, or skip; a body that leaves
 * earlier, or with manual_time does not set the time of each iteration, becomes a failed run. After
 * a failed repetition the body is not called again in this gbench_run_registered: the benchmark's
 * other repetitions fail with the same message. */
typedef void gbench_body(struct gbench_state *state, void *context);

struct gbench_options {
    size_t repetitions;  /* >= 1; 0 = what --benchmark_repetitions says, else 1 */
    double min_time_s;   /* > 0 seconds; 0 = what --benchmark_min_time says, else 0.5 */
    uint64_t iterations; /* exact number of iterations; 0 = by min_time */
    bool manual_time;    /* gbench_set_iteration_seconds gives the time, else the real clock */
};

enum gbench_run_type { GBENCH_ITERATION, GBENCH_AGGREGATE };

enum { GBENCH_MAX_COUNTERS = 16 };

struct gbench_counter_value {
    const char *name; /* valid during the callback */
    double value;
};

/* One finished run, or one aggregate over repetitions. Valid during the callback. */
struct gbench_run {
    const char *name;     /* as registered, plus _mean, _median ... on an aggregate */
    const char *run_name; /* as registered, no suffix of Google Benchmark's */
    enum gbench_run_type type;
    const char *aggregate_name; /* "mean", "median", "stddev", "cv"; "" on an iteration run */
    size_t repetitions;         /* >= 1 */
    size_t repetition_index;    /* from 0; 0 on an aggregate */
    size_t threads;             /* >= 1 */
    uint64_t iterations;        /* of this run, 0 if it failed; on an aggregate of how many runs */
    double real_time_ns;        /* per iteration; for cv: a ratio, not ns; NaN if it failed */
    double cpu_time_ns;         /* per iteration; for cv: a ratio; NaN if it failed */
    bool failed;                /* gbench_skip was called; it has no counters then */
    const char *message;        /* why; "" otherwise */
    struct gbench_counter_value counters[GBENCH_MAX_COUNTERS];
    size_t counter_count;
};

typedef void gbench_on_run(const struct gbench_run *run, void *user);

/* Takes the --benchmark_* flags that stand before any "--" out of argv (argc is updated), checks
 * them, and remembers them for the process in place of those remembered before. On failure nothing
 * changes. What the environment says to Google Benchmark (BENCHMARK_OUT ...) counts for nothing.
 * --benchmark_report_aggregates_only keeps the runs below aggregates from on_run.
 * --benchmark_min_time=100x and --benchmark_dry_run are taken on both releases. STATUS_BAD_INPUT: a
 * flag that Google Benchmark does not know, or a value that it cannot read (both spellings of
 * min_time, 0.02 and 0.02s, are taken on both releases), or one of its flags that print or write by
 * themselves (--benchmark_out, --benchmark_format, ...: the reason names the option of ours to use
 * instead). Never prints, never exits. */
enum status gbench_init(int *argc, char **argv) STATUS_MUST_USE;

/* Whether a name passes --benchmark_filter (a regular expression, "-" in front negates). True when
 * none was given. */
bool gbench_filter_matches(const char *name);

/* Values of the flags given, 0 = not given. --benchmark_min_time=100x gives iterations, not a time.
 * A dry run is one iteration and one repetition of each benchmark, whatever its options say. */
size_t gbench_flag_repetitions(void);
double gbench_flag_min_time_s(void);
uint64_t gbench_flag_iterations(void);
bool gbench_flag_dry_run(void);

/* The index-th KEY=VALUE of --benchmark_context, for the results' context; false (and "") past the
 * last. Valid until the next gbench_init. */
bool gbench_flag_context(size_t index, const char **key, const char **value);

/* Registers a benchmark under `name` (copied; any text, names may repeat). options: copied; NULL =
 * all 0. STATUS_BAD_INPUT: a bad option; STATUS_MISUSE: benchmarks are running. */
enum status gbench_register(const char *name, gbench_body *body, void *context,
                            const struct gbench_options *options) STATUS_MUST_USE;

/* Runs everything registered; calls on_run for every finished run and aggregate, in the order
 * they finish (all repetitions of a benchmark at once). *count: benchmarks that ran (0 when the
 * filter took all). A failed run is not a failure of this call. STATUS_MISUSE: called from a body
 * or a callback. */
enum status gbench_run_registered(gbench_on_run *on_run, void *user, size_t *count) STATUS_MUST_USE;

/* Forgets everything registered; does nothing while benchmarks run. */
void gbench_clear(void);

/* In a body: one more iteration? */
bool gbench_keep_running(struct gbench_state *state);

/* In a body, with manual_time: how long this iteration took, s, > 0 and finite; once an iteration.
 * Any other value skips the run. */
void gbench_set_iteration_seconds(struct gbench_state *state, double seconds);

/* In a body: a counter of this run; the same name again replaces it. Aggregates carry it. More than
 * GBENCH_MAX_COUNTERS skip the run. */
void gbench_counter(struct gbench_state *state, const char *name, double value);

/* In a body: this run failed; leave the loop after it. The first message stays. */
void gbench_skip(struct gbench_state *state, const char *message);

/* Iterations done so far in this run: 0 within the first, all of them after the loop. */
uint64_t gbench_iterations(const struct gbench_state *state);

/* Keeps the optimiser from removing a value or pending writes to memory. */
void gbench_keep(const void *value);

/* "1.7.1" where it is known, else "". */
const char *gbench_version(void);

#ifdef __cplusplus
}
#endif

#endif
