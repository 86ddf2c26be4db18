/* Google Benchmark through its C shim. Times are given by hand wherever it can be, so that what
 * comes out is known. */
#include "bench/gbench.h"
#include "tests/bench/recorder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Times are sums of a few microseconds in seconds, divided and put into ns: some roundings. */
#define TOLERANCE 1e-9

static void assert_near(double actual, double expected)
{
    assert_true(fabs(actual - expected) <= TOLERANCE * fabs(expected));
}

/* A body that sets the times it is told to: call i of it sets seconds[i] in each iteration. */
struct script {
    double seconds[8];
    size_t calls;      /* of the body */
    size_t iterations; /* over all calls */
};

static void scripted(struct gbench_state *state, void *context)
{
    struct script *script = context;
    const double seconds = script->seconds[script->calls % LENGTH(script->seconds)];
    script->calls++;
    while (gbench_keep_running(state)) {
        script->iterations++;
        gbench_set_iteration_seconds(state, seconds);
    }
    gbench_counter(state, "value", 1e7 * seconds);
    gbench_counter(state, "constant", 3);
}

static const struct gbench_options twice = {.repetitions = 1, .iterations = 2, .manual_time = true};
static const struct gbench_options thrice_twice = {
    .repetitions = 3, .iterations = 2, .manual_time = true};

static void run_manual_time_is_the_row_time(void **state)
{
    (void)state;
    struct script script = {.seconds = {2.5e-6}};
    add("one", scripted, &script, &twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.count, 1);
    const struct row *row = &recorder.rows[0];
    assert_near(row->run.real_time_ns, 2500);
    assert_true(row->run.cpu_time_ns >= 0);
    assert_int_equal(row->run.type, GBENCH_ITERATION);
    assert_int_equal(row->run.iterations, 2);
    assert_int_equal(row->run.repetitions, 1);
    assert_int_equal(row->run.repetition_index, 0);
    assert_int_equal(row->run.threads, 1);
    assert_false(row->run.failed);
    assert_string_equal(row->message, "");
    assert_string_equal(row->aggregate_name, "");
}

/* Iterations of different lengths: the row has their mean. */
static void uneven(struct gbench_state *state, void *context)
{
    double seconds = 1e-6;
    (void)context;
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, seconds);
        seconds *= 3;
    }
}

static void run_uneven_iterations_are_averaged(void **state)
{
    (void)state;
    add("uneven", uneven, NULL, &twice);
    assert_int_equal(run_all(), 1);
    assert_near(recorder.rows[0].run.real_time_ns, 2000);
}

static void sleeping(struct gbench_state *state, void *context)
{
    const struct timespec two_ms = {.tv_nsec = 2000000};
    (void)context;
    while (gbench_keep_running(state)) {
        (void)nanosleep(&two_ms, NULL);
    }
}

static void run_without_manual_time_takes_the_real_clock(void **state)
{
    (void)state;
    const struct gbench_options options = {.iterations = 3};
    add("sleep", sleeping, NULL, &options);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.real_time_ns >= 2e6);
    assert_true(recorder.rows[0].run.cpu_time_ns < recorder.rows[0].run.real_time_ns);
}

/* 2 ms or more an iteration: 14 are surely enough for 20 ms of real time, while their CPU time
 * would ask for far more. */
static void min_time_without_manual_time_is_real_time(void **state)
{
    (void)state;
    const struct gbench_options options = {.min_time_s = 0.02};
    add("sleep", sleeping, NULL, &options);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.iterations <= 14);
}

/* Repetitions of 1, 2 and 6 us: mean 3, median 2, stddev sqrt((4 + 1 + 9) / 2) = sqrt(7). */
static void repetitions_are_rows_then_aggregates(void **state)
{
    static const char *const names[] = {"r", "r", "r", "r_mean", "r_median", "r_stddev", "r_cv"};
    const double times[] = {1000, 2000, 6000, 3000, 2000, 1000 * sqrt(7), sqrt(7) / 3};
    (void)state;
    struct script script = {.seconds = {1e-6, 2e-6, 6e-6}};
    add("r", scripted, &script, &thrice_twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(script.calls, 3);
    assert_int_equal(recorder.count, LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) {
        const struct row *row = &recorder.rows[i];
        assert_string_equal(row->name, names[i]);
        assert_string_equal(row->run_name, "r");
        assert_near(row->run.real_time_ns, times[i]);
        assert_int_equal(row->run.type, i < 3 ? GBENCH_ITERATION : GBENCH_AGGREGATE);
        assert_string_equal(row->aggregate_name, i < 3 ? "" : names[i] + 2);
        assert_int_equal(row->run.repetitions, 3);
        assert_int_equal(row->run.repetition_index, i < 3 ? i : 0);
        assert_int_equal(row->run.iterations, i < 3 ? 2 : 3);
    }
}

static void counters_are_in_rows_and_aggregates(void **state)
{
    const double values[] = {10, 20, 60, 30, 20, 10 * sqrt(7), sqrt(7) / 3};
    const double constants[] = {3, 3, 3, 3, 3, 0, 0};
    (void)state;
    struct script script = {.seconds = {1e-6, 2e-6, 6e-6}};
    add("r", scripted, &script, &thrice_twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.count, LENGTH(values));
    for (size_t i = 0; i < LENGTH(values); i++) {
        assert_int_equal(recorder.rows[i].run.counter_count, 2);
        assert_near(counter(&recorder.rows[i], "value"), values[i]);
        assert_near(counter(&recorder.rows[i], "constant"), constants[i]);
    }
}

static void recounting(struct gbench_state *state, void *context)
{
    (void)context;
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
        gbench_counter(state, "again", (double)gbench_iterations(state));
    }
    gbench_counter(state, "again", 42);
}

static void counter_of_the_same_name_is_replaced(void **state)
{
    (void)state;
    add("c", recounting, NULL, &twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.rows[0].run.counter_count, 1);
    assert_true(counter(&recorder.rows[0], "again") == 42);
}

/* context: how many counters, the first of them set twice. */
static void counting(struct gbench_state *state, void *context)
{
    char name[] = "c00";
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
    }
    for (size_t i = 0; i < *(const size_t *)context; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        gbench_counter(state, name, (double)i);
    }
    gbench_counter(state, "c00", 7);
}

static void counters_up_to_the_limit_arrive(void **state)
{
    size_t many = GBENCH_MAX_COUNTERS;
    (void)state;
    add("c", counting, &many, &twice);
    assert_int_equal(run_all(), 1);
    assert_false(recorder.rows[0].run.failed);
    assert_int_equal(recorder.rows[0].run.counter_count, GBENCH_MAX_COUNTERS);
    assert_true(counter(&recorder.rows[0], "c15") == 15);
    assert_true(counter(&recorder.rows[0], "c00") == 7);
}

static void counters_past_the_limit_fail_the_run(void **state)
{
    size_t many = GBENCH_MAX_COUNTERS + 1;
    (void)state;
    add("c", counting, &many, &twice);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.failed);
}

/* Counts in `seen` what gbench_iterations says: before, in the first and second, and after. */
static void watching(struct gbench_state *state, void *context)
{
    uint64_t *seen = context;
    *seen++ = gbench_iterations(state);
    while (gbench_keep_running(state)) {
        *seen++ = gbench_iterations(state);
        gbench_set_iteration_seconds(state, 1e-6);
    }
    *seen = gbench_iterations(state);
}

static void iterations_count_what_is_done(void **state)
{
    uint64_t seen[4] = {9, 9, 9, 9};
    (void)state;
    add("w", watching, seen, &twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(seen[0], 0);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[2], 1);
    assert_int_equal(seen[3], 2);
}

/* 1 ms an iteration: at least 20 of them make 20 ms, and one more growth makes 10 times as many. */
static void min_time_decides_iterations(void **state)
{
    const struct gbench_options options = {.min_time_s = 0.02, .manual_time = true};
    (void)state;
    struct script script = {.seconds = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    add("m", scripted, &script, &options);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.iterations >= 20);
    assert_true(recorder.rows[0].run.iterations <= 200);
    assert_true(script.calls > 1);
}

static void min_time_flag_counts_without_option(void **state)
{
    static const char *const flags[] = {"--benchmark_min_time=0.02", "--benchmark_min_time=0.02s"};
    const struct gbench_options options = {.manual_time = true};
    (void)state;
    for (size_t i = 0; i < LENGTH(flags); i++) {
        struct script script = {.seconds = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
        take_flag(flags[i]);
        gbench_clear();
        add("m", scripted, &script, &options);
        assert_int_equal(run_all(), 1);
        assert_true(recorder.rows[0].run.iterations >= 20);
        assert_true(recorder.rows[0].run.iterations <= 200);
    }
}

static void min_time_default_is_half_a_second(void **state)
{
    const struct gbench_options options = {.manual_time = true};
    (void)state;
    struct script script = {.seconds = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}};
    add("m", scripted, &script, &options);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.iterations >= 5);
    assert_true(recorder.rows[0].run.iterations <= 50);
}

static void min_time_tiny_is_not_the_default(void **state)
{
    const struct gbench_options options = {.min_time_s = 1e-300, .manual_time = true};
    (void)state;
    struct script script = {.seconds = {1e-3}};
    add("m", scripted, &script, &options);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.rows[0].run.iterations, 1);
}

static void iterations_flag_counts_without_option(void **state)
{
    const struct gbench_options free_length = {.manual_time = true};
    const struct gbench_options timed = {.min_time_s = 2e-3, .manual_time = true};
    (void)state;
    struct script script = {.seconds = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    take_flag("--benchmark_min_time=7x");
    add("free", scripted, &script, &free_length);
    add("two", scripted, &script, &twice);
    add("timed", scripted, &script, &timed);
    assert_int_equal(run_all(), 3);
    assert_int_equal(recorder.rows[0].run.iterations, 7);
    assert_int_equal(recorder.rows[1].run.iterations, 2);
    assert_true(recorder.rows[2].run.iterations != 7);
}

static void repetitions_flag_counts_without_option(void **state)
{
    const struct gbench_options free_repetitions = {.iterations = 1, .manual_time = true};
    (void)state;
    struct script script = {.seconds = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    take_flag("--benchmark_repetitions=4");
    add("free", scripted, &script, &free_repetitions);
    add("once", scripted, &script, &twice);
    assert_int_equal(run_all(), 2);
    assert_int_equal(recorder.count, 4 + 4 + 1);
    assert_int_equal(recorder.rows[0].run.repetitions, 4);
    assert_int_equal(recorder.rows[8].run.repetitions, 1);
}

static void dry_run_is_one_iteration_once(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-6, 2e-6, 6e-6}};
    take_flag("--benchmark_dry_run");
    add("d", scripted, &script, &thrice_twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.count, 1);
    assert_int_equal(script.iterations, 1);
}

static void warmup_flag_runs_the_body_before(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}};
    take_flag("--benchmark_min_warmup_time=0.01");
    add("w", scripted, &script, &twice);
    assert_int_equal(run_all(), 1);
    assert_true(script.iterations >= 2 + 10);
    assert_int_equal(recorder.count, 1);
    assert_int_equal(recorder.rows[0].run.iterations, 2);
}

static void aggregates_only_flag_leaves_runs_out(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-6, 2e-6, 6e-6}};
    take_flag("--benchmark_report_aggregates_only=true");
    add("a", scripted, &script, &thrice_twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.count, 4);
    assert_string_equal(recorder.rows[0].name, "a_mean");
}

/* Appends its letter to a string, once a repetition. */
struct letters {
    char letter;
    char *text;
};

static void spelling(struct gbench_state *state, void *context)
{
    const struct letters *letters = context;
    char *end = letters->text + strlen(letters->text);
    end[0] = letters->letter;
    end[1] = '\0';
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
    }
}

/* By chance alone the letters stay sorted once in 6e10 runs. */
static void interleaving_flag_mixes_repetitions_but_not_rows(void **state)
{
    (void)state;
    const struct gbench_options options = {.repetitions = 20, .iterations = 1, .manual_time = true};
    char text[64] = "";
    struct letters a = {'a', text};
    struct letters b = {'b', text};
    take_flag("--benchmark_enable_random_interleaving=true");
    add("a", spelling, &a, &options);
    add("b", spelling, &b, &options);
    assert_int_equal(run_all(), 2);
    assert_int_equal(strlen(text), 40);
    assert_non_null(strstr(text, "ab"));
    assert_non_null(strstr(text, "ba"));
    assert_int_equal(recorder.count, 48);
    for (size_t i = 0; i < recorder.count; i++) {
        assert_string_equal(recorder.rows[i].run_name, recorder.rows[i < 24 ? 0 : 24].run_name);
    }
    assert_string_not_equal(recorder.rows[0].run_name, recorder.rows[24].run_name);
}

static void names_come_back_as_registered(void **state)
{
    static const char *const names[] = {
        "attention/cap16/nested/f16/S:1024/window:4096,0",
        "a/manual_time",
        "a/repeats:3/manual_time",
        "a/iterations:5/real_time/threads:2",
        "a/min_time:0.500",
        "DISABLED_a",
        "with space, (brackets) [x]+ \xc3\xa9 %s",
        "/",
        "twin",
        "twin",
    };
    (void)state;
    struct script script = {.seconds = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6}};
    for (size_t i = 0; i < LENGTH(names); i++) {
        add(names[i], scripted, &script, &twice);
    }
    assert_int_equal(run_all(), LENGTH(names));
    assert_int_equal(recorder.count, LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_string_equal(recorder.rows[i].name, names[i]);
        assert_string_equal(recorder.rows[i].run_name, names[i]);
    }
}

static void name_is_copied(void **state)
{
    char name[] = "before";
    (void)state;
    struct script script = {.seconds = {1e-6}};
    add(name, scripted, &script, &twice);
    (void)strcpy(name, "after");
    assert_int_equal(run_all(), 1);
    assert_string_equal(recorder.rows[0].name, "before");
}

static void filter_selects_by_our_names(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-6, 1e-6, 1e-6}};
    take_flag("--benchmark_filter=S:1$");
    add("x/S:1", scripted, &script, &twice);
    add("x/S:16", scripted, &script, &twice);
    add("y/S:1", scripted, &script, &twice);
    assert_int_equal(run_all(), 2);
    assert_int_equal(recorder.count, 2);
    assert_string_equal(recorder.rows[0].name, "x/S:1");
    assert_string_equal(recorder.rows[1].name, "y/S:1");
}

static void filter_that_takes_all_leaves_nothing(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-6}};
    take_flag("--benchmark_filter=none");
    add("x", scripted, &script, &twice);
    assert_int_equal(run_all(), 0);
    assert_int_equal(recorder.count, 0);
    assert_int_equal(script.calls, 0);
}

static void run_of_nothing_is_fine(void **state)
{
    (void)state;
    assert_int_equal(run_all(), 0);
    assert_int_equal(recorder.count, 0);
}

static void rounds_of_register_run_clear_are_independent(void **state)
{
    (void)state;
    for (size_t round = 0; round < 4; round++) {
        struct script script = {.seconds = {(double)(round + 1) * 1e-6}};
        add(round % 2 == 0 ? "even" : "odd", scripted, &script, &twice);
        assert_int_equal(run_all(), 1);
        assert_int_equal(recorder.count, 1);
        assert_string_equal(recorder.rows[0].name, round % 2 == 0 ? "even" : "odd");
        assert_near(recorder.rows[0].run.real_time_ns, (double)(round + 1) * 1000);
        gbench_clear();
    }
    assert_int_equal(run_all(), 0);
}

static void run_again_without_clear_runs_again(void **state)
{
    (void)state;
    struct script script = {.seconds = {1e-6, 2e-6}};
    add("x", scripted, &script, &twice);
    assert_int_equal(run_all(), 1);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.count, 1);
    assert_near(recorder.rows[0].run.real_time_ns, 2000);
}

static void register_bad_options_are_refused(void **state)
{
    const struct gbench_options bad[] = {
        {.repetitions = (size_t)INT32_MAX + 1},
        {.min_time_s = -1},
        {.min_time_s = (double)NAN},
        {.min_time_s = (double)INFINITY},
        {.iterations = (uint64_t)INT64_MAX + 1},
    };
    (void)state;
    struct script script = {.seconds = {1e-6}};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(gbench_register("x", scripted, &script, &bad[i]), STATUS_BAD_INPUT);
    }
    assert_int_equal(gbench_register(NULL, scripted, NULL, &twice), STATUS_MISUSE);
    assert_int_equal(gbench_register("x", NULL, NULL, &twice), STATUS_MISUSE);
    assert_int_equal(run_all(), 0);
}

static void register_without_options_takes_the_defaults(void **state)
{
    (void)state;
    take_flag("--benchmark_min_time=1x");
    add("x", sleeping, NULL, NULL);
    assert_int_equal(run_all(), 1);
    assert_int_equal(recorder.rows[0].run.iterations, 1);
}

static void run_without_callback_is_misuse(void **state)
{
    size_t count = 7;
    (void)state;
    assert_int_equal(gbench_run_registered(NULL, NULL, &count), STATUS_MISUSE);
    assert_int_equal(count, 0);
    assert_int_equal(gbench_run_registered(record, &recorder, NULL), STATUS_MISUSE);
}

static void version_is_the_librarys(void **state)
{
    (void)state;
    assert_true(gbench_version()[0] >= '1' && gbench_version()[0] <= '9');
    assert_non_null(strchr(gbench_version(), '.'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(run_manual_time_is_the_row_time, start_afresh),
        cmocka_unit_test_setup(run_uneven_iterations_are_averaged, start_afresh),
        cmocka_unit_test_setup(run_without_manual_time_takes_the_real_clock, start_afresh),
        cmocka_unit_test_setup(min_time_without_manual_time_is_real_time, start_afresh),
        cmocka_unit_test_setup(repetitions_are_rows_then_aggregates, start_afresh),
        cmocka_unit_test_setup(counters_are_in_rows_and_aggregates, start_afresh),
        cmocka_unit_test_setup(counter_of_the_same_name_is_replaced, start_afresh),
        cmocka_unit_test_setup(counters_up_to_the_limit_arrive, start_afresh),
        cmocka_unit_test_setup(counters_past_the_limit_fail_the_run, start_afresh),
        cmocka_unit_test_setup(iterations_count_what_is_done, start_afresh),
        cmocka_unit_test_setup(min_time_decides_iterations, start_afresh),
        cmocka_unit_test_setup(min_time_flag_counts_without_option, start_afresh),
        cmocka_unit_test_setup(min_time_default_is_half_a_second, start_afresh),
        cmocka_unit_test_setup(min_time_tiny_is_not_the_default, start_afresh),
        cmocka_unit_test_setup(iterations_flag_counts_without_option, start_afresh),
        cmocka_unit_test_setup(repetitions_flag_counts_without_option, start_afresh),
        cmocka_unit_test_setup(dry_run_is_one_iteration_once, start_afresh),
        cmocka_unit_test_setup(warmup_flag_runs_the_body_before, start_afresh),
        cmocka_unit_test_setup(aggregates_only_flag_leaves_runs_out, start_afresh),
        cmocka_unit_test_setup(interleaving_flag_mixes_repetitions_but_not_rows, start_afresh),
        cmocka_unit_test_setup(names_come_back_as_registered, start_afresh),
        cmocka_unit_test_setup(name_is_copied, start_afresh),
        cmocka_unit_test_setup(filter_selects_by_our_names, start_afresh),
        cmocka_unit_test_setup(filter_that_takes_all_leaves_nothing, start_afresh),
        cmocka_unit_test_setup(run_of_nothing_is_fine, start_afresh),
        cmocka_unit_test_setup(rounds_of_register_run_clear_are_independent, start_afresh),
        cmocka_unit_test_setup(run_again_without_clear_runs_again, start_afresh),
        cmocka_unit_test_setup(register_bad_options_are_refused, start_afresh),
        cmocka_unit_test_setup(register_without_options_takes_the_defaults, start_afresh),
        cmocka_unit_test_setup(run_without_callback_is_misuse, start_afresh),
        cmocka_unit_test_setup(version_is_the_librarys, start_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
