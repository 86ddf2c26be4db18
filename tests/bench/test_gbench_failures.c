/* Failed runs, bodies that break the rules, and silence: what Google Benchmark itself would abort
 * on or print. */
#include "bench/gbench.h"
#include "tests/bench/recorder.h"

#include <stdbool.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const struct gbench_options five = {.repetitions = 1, .iterations = 5, .manual_time = true};

enum place { BEFORE_LOOP, IN_LOOP, AFTER_LOOP, LEAVE_EARLY, FORGET_TIME, TIME_TWICE, NOWHERE };

/* A body that does one thing wrong, from a given call on. */
struct trouble {
    enum place place;
    size_t from_call;    /* from 0 */
    double seconds;      /* of each iteration */
    const char *message; /* of the skip */
    size_t calls;        /* of the body */
    size_t after_skip;   /* iterations that gbench_keep_running granted after a skip */
};

static void iterate(struct gbench_state *state, struct trouble *trouble, enum place place)
{
    bool skipped = place == BEFORE_LOOP;
    while (gbench_keep_running(state)) {
        trouble->after_skip += skipped ? 1 : 0;
        if (place == LEAVE_EARLY && gbench_iterations(state) == 3) {
            return;
        }
        if (place == IN_LOOP && gbench_iterations(state) == 3) {
            gbench_skip(state, trouble->message);
            skipped = true;
        }
        if (place != FORGET_TIME || gbench_iterations(state) != 3) {
            gbench_set_iteration_seconds(state, trouble->seconds);
        }
        if (place == TIME_TWICE) {
            gbench_set_iteration_seconds(state, trouble->seconds);
        }
    }
}

static void troubled(struct gbench_state *state, void *context)
{
    struct trouble *trouble = context;
    const enum place place = trouble->calls >= trouble->from_call ? trouble->place : NOWHERE;
    trouble->calls++;
    if (place == BEFORE_LOOP) {
        gbench_skip(state, trouble->message);
    }
    iterate(state, trouble, place);
    gbench_counter(state, "value", 1);
    if (place == AFTER_LOOP) {
        gbench_skip(state, trouble->message);
    }
}

static void assert_failed(const struct row *row, const char *message)
{
    assert_true(row->run.failed);
    assert_string_equal(row->message, message);
    assert_true(isnan(row->run.real_time_ns));
    assert_true(isnan(row->run.cpu_time_ns));
    assert_int_equal(row->run.iterations, 0);
    assert_int_equal(row->run.counter_count, 0);
}

static void skip_anywhere_is_a_failed_run(void **state)
{
    static const enum place places[] = {BEFORE_LOOP, IN_LOOP, AFTER_LOOP};
    (void)state;
    for (size_t i = 0; i < LENGTH(places); i++) {
        struct trouble trouble = {.place = places[i], .seconds = 1e-6, .message = "why: so"};
        gbench_clear();
        add("a/b:1", troubled, &trouble, &five);
        assert_int_equal(run_all(), 1);
        assert_int_equal(recorder.count, 1);
        assert_failed(&recorder.rows[0], "why: so");
        assert_string_equal(recorder.rows[0].name, "a/b:1");
        assert_string_equal(recorder.rows[0].run_name, "a/b:1");
        assert_int_equal(trouble.calls, 1);
        assert_int_equal(trouble.after_skip, 0);
    }
}

static void skip_ends_the_growth_to_min_time(void **state)
{
    const struct gbench_options options = {.min_time_s = 1, .manual_time = true};
    (void)state;
    struct trouble trouble = {
        .place = AFTER_LOOP, .from_call = 1, .seconds = 1e-6, .message = "enough"};
    add("x", troubled, &trouble, &options);
    assert_int_equal(run_all(), 1);
    assert_failed(&recorder.rows[0], "enough");
    assert_int_equal(trouble.calls, 2);
}

static void skipping_twice(struct gbench_state *state, void *context)
{
    (void)context;
    gbench_skip(state, "first");
    gbench_skip(state, "second");
}

static void skip_twice_keeps_the_first_message(void **state)
{
    (void)state;
    add("x", skipping_twice, NULL, &five);
    assert_int_equal(run_all(), 1);
    assert_failed(&recorder.rows[0], "first");
}

static void skipping_silently(struct gbench_state *state, void *context)
{
    (void)context;
    gbench_skip(state, NULL);
}

static void skip_without_message_is_a_failed_run(void **state)
{
    (void)state;
    add("x", skipping_silently, NULL, &five);
    assert_int_equal(run_all(), 1);
    assert_failed(&recorder.rows[0], "");
}

/* Whatever repetition fails first, those before it stand, and the body is not called again. */
static void failed_repetition_fails_the_later_ones(void **state)
{
    static const enum place places[] = {BEFORE_LOOP, IN_LOOP, AFTER_LOOP, LEAVE_EARLY, FORGET_TIME};
    const struct gbench_options options = {.repetitions = 4, .iterations = 5, .manual_time = true};
    (void)state;
    for (size_t i = 0; i < LENGTH(places) * 4; i++) {
        const size_t good = i % 4;
        struct trouble trouble = {
            .place = places[i / 4], .from_call = good, .seconds = 1e-6, .message = "broke"};
        gbench_clear();
        add("x", troubled, &trouble, &options);
        assert_int_equal(run_all(), 1);
        assert_int_equal(trouble.calls, good + 1);
        assert_int_equal(recorder.count, good >= 2 ? 8 : 4);
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(recorder.rows[j].run.failed, j >= good);
            assert_string_equal(recorder.rows[j].message, j < good ? "" : recorder.rows[3].message);
        }
    }
}

/* Two good repetitions of 1 us and two failed ones: the aggregates are over the good ones. */
static void aggregates_leave_failed_repetitions_out(void **state)
{
    const struct gbench_options options = {.repetitions = 4, .iterations = 5, .manual_time = true};
    (void)state;
    struct trouble trouble = {
        .place = BEFORE_LOOP, .from_call = 2, .seconds = 1e-6, .message = "broke"};
    add("x", troubled, &trouble, &options);
    assert_int_equal(run_all(), 1);
    assert_string_equal(recorder.rows[5].name, "x_median");
    assert_false(recorder.rows[5].run.failed);
    assert_true(fabs(recorder.rows[5].run.real_time_ns - 1000) < 1e-6);
    assert_true(counter(&recorder.rows[5], "value") == 1);
}

static void failed_benchmark_leaves_others_alone(void **state)
{
    (void)state;
    struct trouble bad = {.place = IN_LOOP, .seconds = 1e-6, .message = "broke"};
    struct trouble good = {.place = NOWHERE, .seconds = 1e-6};
    add("bad", troubled, &bad, &five);
    add("good", troubled, &good, &five);
    assert_int_equal(run_all(), 2);
    assert_true(recorder.rows[0].run.failed);
    assert_false(recorder.rows[1].run.failed);
    assert_int_equal(recorder.rows[1].run.counter_count, 1);
}

static void failed_benchmark_runs_again_in_the_next_run(void **state)
{
    (void)state;
    struct trouble trouble = {.place = IN_LOOP, .seconds = 1e-6, .message = "broke"};
    add("x", troubled, &trouble, &five);
    assert_int_equal(run_all(), 1);
    trouble.place = NOWHERE;
    assert_int_equal(run_all(), 1);
    assert_false(recorder.rows[0].run.failed);
}

static void body_that_breaks_the_rules_fails(void **state)
{
    static const enum place places[] = {LEAVE_EARLY, FORGET_TIME, TIME_TWICE};
    (void)state;
    for (size_t i = 0; i < LENGTH(places); i++) {
        struct trouble trouble = {.place = places[i], .seconds = 1e-6};
        gbench_clear();
        add("x", troubled, &trouble, &five);
        assert_int_equal(run_all(), 1);
        assert_true(recorder.rows[0].run.failed);
        assert_true(strlen(recorder.rows[0].message) > 0);
    }
}

static void doing_nothing(struct gbench_state *state, void *context)
{
    (void)state;
    (void)context;
}

static void body_without_a_loop_fails(void **state)
{
    (void)state;
    add("x", doing_nothing, NULL, &five);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.failed);
}

static void leaving_at_the_last(struct gbench_state *state, void *context)
{
    (void)context;
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
        if (gbench_iterations(state) == 4) {
            return;
        }
    }
}

static void body_that_leaves_in_its_last_iteration_fails(void **state)
{
    (void)state;
    add("x", leaving_at_the_last, NULL, &five);
    assert_int_equal(run_all(), 1);
    assert_true(recorder.rows[0].run.failed);
}

static void asking_on(struct gbench_state *state, void *context)
{
    size_t *granted = context;
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
    }
    *granted += gbench_keep_running(state) ? 1 : 0;
    *granted += gbench_keep_running(state) ? 1 : 0;
}

static void keep_running_after_the_end_says_no(void **state)
{
    size_t granted = 0;
    (void)state;
    add("x", asking_on, &granted, &five);
    assert_int_equal(run_all(), 1);
    assert_int_equal(granted, 0);
    assert_false(recorder.rows[0].run.failed);
    assert_int_equal(recorder.rows[0].run.iterations, 5);
}

static void bad_iteration_times_fail_the_run(void **state)
{
    const double bad[] = {0, -1e-6, (double)NAN, (double)INFINITY};
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct trouble trouble = {.place = NOWHERE, .seconds = bad[i]};
        gbench_clear();
        add("x", troubled, &trouble, &five);
        assert_int_equal(run_all(), 1);
        assert_true(recorder.rows[0].run.failed);
        assert_true(isnan(recorder.rows[0].run.real_time_ns));
    }
}

/* What a body and a callback may not do; the statuses they got. */
struct nested_calls {
    enum status registered;
    enum status run;
    size_t count;
};

static void calling_back(struct gbench_state *state, void *context)
{
    struct nested_calls *calls = context;
    gbench_clear();
    calls->registered = gbench_register("y", doing_nothing, NULL, NULL);
    calls->run = gbench_run_registered(record, &recorder, &calls->count);
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
    }
}

static void calls_while_running_are_misuse(void **state)
{
    (void)state;
    struct nested_calls calls = {STATUS_OK, STATUS_OK, 7};
    add("x", calling_back, &calls, &five);
    assert_int_equal(run_all(), 1);
    assert_int_equal(calls.registered, STATUS_MISUSE);
    assert_int_equal(calls.run, STATUS_MISUSE);
    assert_int_equal(calls.count, 0);
    assert_int_equal(recorder.count, 1);
    assert_string_equal(recorder.rows[0].name, "x");
    assert_int_equal(run_all(), 1);
}

/* Bytes that went to stdout and stderr between capture_begin and capture_end. */
struct capture {
    FILE *file;
    int out;
    int err;
};

static void capture_begin(struct capture *capture)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    capture->file = tmpfile();
    capture->out = dup(STDOUT_FILENO);
    capture->err = dup(STDERR_FILENO);
    assert_true(capture->file != NULL && capture->out >= 0 && capture->err >= 0);
    (void)dup2(fileno(capture->file), STDOUT_FILENO);
    (void)dup2(fileno(capture->file), STDERR_FILENO);
}

static long capture_end(struct capture *capture)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    (void)dup2(capture->out, STDOUT_FILENO);
    (void)dup2(capture->err, STDERR_FILENO);
    (void)close(capture->out);
    (void)close(capture->err);
    const long bytes = (long)lseek(fileno(capture->file), 0, SEEK_END);
    (void)fclose(capture->file);
    return bytes;
}

/* Everything that could print, without an assertion that could leave stdout redirected. */
static bool provoke(struct trouble *good, struct trouble *bad)
{
    static char program[] = "test";
    static char unknown[] = "--benchmark_unknown";
    static char help[] = "--help";
    char *wrong_flags[] = {program, unknown, NULL};
    char *not_ours[] = {program, help, NULL};
    int argc = 2;
    size_t ran = 0;
    size_t none = 0;
    bool fine = gbench_init(&argc, wrong_flags) == STATUS_BAD_INPUT;
    fine = gbench_init(&argc, not_ours) == STATUS_OK && argc == 2 && fine;
    fine = gbench_register("good", troubled, good, &five) == STATUS_OK && fine;
    fine = gbench_register("bad", troubled, bad, &five) == STATUS_OK && fine;
    fine = gbench_run_registered(record, &recorder, &ran) == STATUS_OK && ran == 2 && fine;
    fine = gbench_run_registered(record, &recorder, &ran) == STATUS_OK && ran == 2 && fine;
    gbench_clear();
    fine = gbench_run_registered(record, &recorder, &none) == STATUS_OK && none == 0 && fine;
    return fine;
}

/* The first test: what the library prints at its first use must not get through either. */
static void running_prints_nothing(void **state)
{
    (void)state;
    struct capture capture;
    struct trouble good = {.place = NOWHERE, .seconds = 1e-6};
    struct trouble bad = {.place = IN_LOOP, .seconds = 1e-6, .message = "broke"};
    capture_begin(&capture);
    const bool fine = provoke(&good, &bad);
    const long bytes = capture_end(&capture);
    assert_true(fine);
    assert_int_equal(bytes, 0);
}

static void printing(struct gbench_state *state, void *context)
{
    (void)context;
    while (gbench_keep_running(state)) {
        gbench_set_iteration_seconds(state, 1e-6);
        printf(".");
    }
}

static void body_that_prints_is_heard(void **state)
{
    (void)state;
    struct capture capture;
    size_t ran = 0;
    add("x", printing, NULL, &five);
    capture_begin(&capture);
    const enum status status = gbench_run_registered(record, &recorder, &ran);
    const long bytes = capture_end(&capture);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(bytes, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(running_prints_nothing, start_afresh),
        cmocka_unit_test_setup(body_that_prints_is_heard, start_afresh),
        cmocka_unit_test_setup(skip_anywhere_is_a_failed_run, start_afresh),
        cmocka_unit_test_setup(skip_ends_the_growth_to_min_time, start_afresh),
        cmocka_unit_test_setup(skip_twice_keeps_the_first_message, start_afresh),
        cmocka_unit_test_setup(skip_without_message_is_a_failed_run, start_afresh),
        cmocka_unit_test_setup(failed_repetition_fails_the_later_ones, start_afresh),
        cmocka_unit_test_setup(aggregates_leave_failed_repetitions_out, start_afresh),
        cmocka_unit_test_setup(failed_benchmark_leaves_others_alone, start_afresh),
        cmocka_unit_test_setup(failed_benchmark_runs_again_in_the_next_run, start_afresh),
        cmocka_unit_test_setup(body_that_breaks_the_rules_fails, start_afresh),
        cmocka_unit_test_setup(body_without_a_loop_fails, start_afresh),
        cmocka_unit_test_setup(body_that_leaves_in_its_last_iteration_fails, start_afresh),
        cmocka_unit_test_setup(keep_running_after_the_end_says_no, start_afresh),
        cmocka_unit_test_setup(bad_iteration_times_fail_the_run, start_afresh),
        cmocka_unit_test_setup(calls_while_running_are_misuse, start_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
