/* The --benchmark_* flags: which are taken, which are refused and why. */
#include "bench/gbench.h"
#include "host/base/text.h"
#include "tests/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static char program[] = "scratchscope";

/* gbench_init with one flag; argc says whether it was taken. */
static enum status init_with(const char *flag, int *argc)
{
    char *copy = strdup(flag);
    char *argv[] = {program, copy, NULL};
    *argc = 2;
    const enum status status = gbench_init(argc, argv);
    free(copy);
    return status;
}

static void take(const char *flag)
{
    int argc = 0;
    assert_int_equal(init_with(flag, &argc), STATUS_OK);
    assert_int_equal(argc, 1);
}

static int forget_flags(void **state)
{
    char *argv[] = {program, NULL};
    int argc = 1;
    (void)state;
    status_clear();
    return gbench_init(&argc, argv) == STATUS_OK ? 0 : -1;
}

static void init_flags_leave_argv(void **state)
{
    (void)state;
    char sweep[] = "sweep";
    char filter[] = "--benchmark_filter=nested";
    char tiles[] = "--tiles";
    char repetitions[] = "--benchmark_repetitions=3";
    char last[] = "1,2";
    char *argv[] = {program, sweep, filter, tiles, repetitions, last, NULL};
    int argc = 6;
    assert_int_equal(gbench_init(&argc, argv), STATUS_OK);
    assert_int_equal(argc, 4);
    assert_ptr_equal(argv[0], program);
    assert_ptr_equal(argv[1], sweep);
    assert_ptr_equal(argv[2], tiles);
    assert_ptr_equal(argv[3], last);
    assert_null(argv[4]);
    assert_int_equal(gbench_flag_repetitions(), 3);
    assert_true(gbench_filter_matches("a/nested"));
    assert_false(gbench_filter_matches("a/scoped"));
}

static void init_double_dash_ends_flags(void **state)
{
    (void)state;
    char dashes[] = "--";
    char repetitions[] = "--benchmark_repetitions=3";
    char *argv[] = {program, dashes, repetitions, NULL};
    int argc = 3;
    assert_int_equal(gbench_init(&argc, argv), STATUS_OK);
    assert_int_equal(argc, 3);
    assert_ptr_equal(argv[2], repetitions);
    assert_int_equal(gbench_flag_repetitions(), 0);
}

static void init_without_null_behind_argv_stays_inside(void **state)
{
    (void)state;
    char tiles[] = "--tiles";
    char *argv[] = {program, tiles};
    int argc = 2;
    assert_int_equal(gbench_init(&argc, argv), STATUS_OK);
    assert_int_equal(argc, 2);
    assert_ptr_equal(argv[1], tiles);
}

static void init_again_forgets_earlier_flags(void **state)
{
    (void)state;
    take("--benchmark_repetitions=3");
    take("--benchmark_min_time=0.25");
    assert_int_equal(gbench_flag_repetitions(), 0);
    assert_true(gbench_flag_min_time_s() == 0.25);
}

static void init_nothing_given_is_zero(void **state)
{
    const char *key = NULL;
    const char *value = NULL;
    (void)state;
    assert_int_equal(gbench_flag_repetitions(), 0);
    assert_true(gbench_flag_min_time_s() == 0);
    assert_int_equal(gbench_flag_iterations(), 0);
    assert_false(gbench_flag_dry_run());
    assert_false(gbench_flag_context(0, &key, &value));
    assert_string_equal(key, "");
    assert_string_equal(value, "");
}

static void min_time_both_spellings_are_taken(void **state)
{
    (void)state;
    take("--benchmark_min_time=0.02");
    assert_true(gbench_flag_min_time_s() == 0.02);
    take("--benchmark_min_time=0.03s");
    assert_true(gbench_flag_min_time_s() == 0.03);
    assert_int_equal(gbench_flag_iterations(), 0);
}

static void min_time_of_iterations_is_taken(void **state)
{
    (void)state;
    take("--benchmark_min_time=25x");
    assert_int_equal(gbench_flag_iterations(), 25);
    assert_true(gbench_flag_min_time_s() == 0);
}

static void min_time_later_flag_wins(void **state)
{
    (void)state;
    char time[] = "--benchmark_min_time=0.5";
    char iterations[] = "--benchmark_min_time=25x";
    char *first[] = {program, time, iterations, NULL};
    char *second[] = {program, iterations, time, NULL};
    int argc = 3;
    assert_int_equal(gbench_init(&argc, first), STATUS_OK);
    assert_true(gbench_flag_iterations() == 25 && gbench_flag_min_time_s() == 0);
    argc = 3;
    assert_int_equal(gbench_init(&argc, second), STATUS_OK);
    assert_true(gbench_flag_iterations() == 0 && gbench_flag_min_time_s() == 0.5);
}

static void take_dry_run(const char *word)
{
    char flag[64];
    (void)snprintf(flag, sizeof flag, "--benchmark_dry_run%s", word);
    take(flag);
}

static void switches_take_the_usual_words(void **state)
{
    static const char *const words[] = {"", "=", "=true", "=1", "=YES", "=on"};
    static const char *const not_words[] = {"=false", "=0", "=No", "=off"};
    (void)state;
    for (size_t i = 0; i < LENGTH(words); i++) {
        take_dry_run(words[i]);
        assert_true(gbench_flag_dry_run());
    }
    for (size_t i = 0; i < LENGTH(not_words); i++) {
        take_dry_run(not_words[i]);
        assert_false(gbench_flag_dry_run());
    }
}

static void other_good_flags_are_taken(void **state)
{
    (void)state;
    take("--benchmark_enable_random_interleaving=true");
    take("--benchmark_report_aggregates_only");
    take("--benchmark_min_warmup_time=0");
    take("--benchmark_min_warmup_time=0.5s");
}

static void context_pairs_come_back_in_order(void **state)
{
    (void)state;
    char two[] = "--benchmark_context=node=n7,governor=";
    char one[] = "--benchmark_context=room=B";
    char *argv[] = {program, two, one, NULL};
    const char *key = NULL;
    const char *value = NULL;
    int argc = 3;
    assert_int_equal(gbench_init(&argc, argv), STATUS_OK);
    assert_true(gbench_flag_context(0, &key, &value));
    assert_string_equal(key, "node");
    assert_string_equal(value, "n7");
    assert_true(gbench_flag_context(1, &key, &value));
    assert_string_equal(key, "governor");
    assert_string_equal(value, "");
    assert_true(gbench_flag_context(2, &key, &value));
    assert_string_equal(key, "room");
    assert_string_equal(value, "B");
    assert_false(gbench_flag_context(3, &key, &value));
}

static void filter_is_an_extended_regular_expression(void **state)
{
    (void)state;
    take("--benchmark_filter=S:(1|16)$");
    assert_true(gbench_filter_matches("attention/cap16/nested/f16/S:16"));
    assert_false(gbench_filter_matches("attention/cap16/nested/f16/S:17"));
}

static void filter_dash_negates(void **state)
{
    (void)state;
    take("--benchmark_filter=-unscoped");
    assert_false(gbench_filter_matches("attention/cap16/unscoped/f16/S:1"));
    assert_true(gbench_filter_matches("attention/cap16/nested/f16/S:1"));
}

static void filter_all_and_empty_match_everything(void **state)
{
    (void)state;
    assert_true(gbench_filter_matches("anything"));
    take("--benchmark_filter=all");
    assert_true(gbench_filter_matches("anything"));
    take("--benchmark_filter=");
    assert_true(gbench_filter_matches("anything"));
}

static void bad_flags_are_refused(void **state)
{
    static const char *const flags[] = {
        "--benchmark_repetitions=0",
        "--benchmark_repetitions=-5",
        "--benchmark_repetitions=",
        "--benchmark_repetitions",
        "--benchmark_repetitions=many",
        "--benchmark_repetitions=2147483648",
        "--benchmark_min_time=0",
        "--benchmark_min_time=-1",
        "--benchmark_min_time=0s",
        "--benchmark_min_time=nan",
        "--benchmark_min_time=inf",
        "--benchmark_min_time=",
        "--benchmark_min_time=1 s",
        "--benchmark_min_time=0x",
        "--benchmark_min_time=-3x",
        "--benchmark_min_time=x",
        "--benchmark_min_time=1.5x",
        "--benchmark_min_time=99999999999999999999999999999999999x",
        "--benchmark_min_time",
        "--benchmark_min_warmup_time=-1",
        "--benchmark_filter",
        "--benchmark_filter=S:(1",
        "--benchmark_filter=-[",
        "--benchmark_dry_run=perhaps",
        "--benchmark_context=novalue",
        "--benchmark_context==x",
        "--benchmark_context=a=b=c",
        "--benchmark_context=a=1,a=2",
        "--benchmark_context=a=1,",
        "--benchmark_no_such_flag=1",
        "--benchmark_",
        "--benchmark_repetitionsx=2",
    };
    int argc = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(flags); i++) {
        status_clear();
        if (init_with(flags[i], &argc) != STATUS_BAD_INPUT) {
            fail_msg("taken: %s", flags[i]);
        }
        assert_int_equal(argc, 2);
        assert_memory_equal(status_last()->what, flags[i], strcspn(flags[i], "="));
        assert_true(strlen(status_last()->why) > 0);
    }
}

static void printing_flags_name_what_to_use(void **state)
{
    static const struct {
        const char *flag;
        const char *instead;
    } cases[] = {
        {"--benchmark_format=json", "--format"},
        {"--benchmark_out=x.json", "--output"},
        {"--benchmark_out_format=csv", "--format"},
        {"--benchmark_list_tests", "plan"},
        {"--benchmark_list_tests=true", "plan"},
        {"--benchmark_color=yes", "--format"},
        {"--benchmark_counters_tabular=true", "--format table"},
        {"--benchmark_display_aggregates_only=true", "--benchmark_report_aggregates_only"},
        {"--benchmark_time_unit=ms", "time_unit"},
        {"--benchmark_perf_counters=CYCLES", "perf stat"},
    };
    int argc = 0;
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        status_clear();
        assert_int_equal(init_with(cases[i].flag, &argc), STATUS_BAD_INPUT);
        assert_non_null(strstr(status_last()->why, cases[i].instead));
    }
}

static void bad_flag_changes_nothing(void **state)
{
    (void)state;
    take("--benchmark_repetitions=3");
    char repetitions[] = "--benchmark_repetitions=4";
    char filter[] = "--benchmark_filter=nested";
    char context[] = "--benchmark_context=a=b";
    char bad[] = "--benchmark_min_time=-1";
    char *argv[] = {program, repetitions, filter, context, bad, NULL};
    int argc = 5;
    assert_int_equal(gbench_init(&argc, argv), STATUS_BAD_INPUT);
    assert_int_equal(argc, 5);
    assert_ptr_equal(argv[1], repetitions);
    assert_ptr_equal(argv[4], bad);
    assert_int_equal(gbench_flag_repetitions(), 3);
    assert_true(gbench_filter_matches("scoped"));
}

static void too_many_context_pairs_are_refused(void **state)
{
    char flag[512];
    struct text text = text_begin(flag, sizeof flag);
    int argc = 0;
    (void)state;
    text_add(&text, "--benchmark_context=k0=v");
    for (int i = 1; i < 32; i++) {
        text_add(&text, ",k%d=v", i);
    }
    take(flag);
    text_add(&text, ",more=v");
    assert_false(text.cut);
    assert_int_equal(init_with(flag, &argc), STATUS_BAD_INPUT);
}

static void init_without_arguments_is_misuse(void **state)
{
    (void)state;
    assert_int_equal(gbench_init(NULL, NULL), STATUS_MISUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(init_flags_leave_argv, forget_flags),
        cmocka_unit_test_setup(init_double_dash_ends_flags, forget_flags),
        cmocka_unit_test_setup(init_without_null_behind_argv_stays_inside, forget_flags),
        cmocka_unit_test_setup(init_again_forgets_earlier_flags, forget_flags),
        cmocka_unit_test_setup(init_nothing_given_is_zero, forget_flags),
        cmocka_unit_test_setup(min_time_both_spellings_are_taken, forget_flags),
        cmocka_unit_test_setup(min_time_of_iterations_is_taken, forget_flags),
        cmocka_unit_test_setup(min_time_later_flag_wins, forget_flags),
        cmocka_unit_test_setup(switches_take_the_usual_words, forget_flags),
        cmocka_unit_test_setup(other_good_flags_are_taken, forget_flags),
        cmocka_unit_test_setup(context_pairs_come_back_in_order, forget_flags),
        cmocka_unit_test_setup(filter_is_an_extended_regular_expression, forget_flags),
        cmocka_unit_test_setup(filter_dash_negates, forget_flags),
        cmocka_unit_test_setup(filter_all_and_empty_match_everything, forget_flags),
        cmocka_unit_test_setup(bad_flags_are_refused, forget_flags),
        cmocka_unit_test_setup(printing_flags_name_what_to_use, forget_flags),
        cmocka_unit_test_setup(bad_flag_changes_nothing, forget_flags),
        cmocka_unit_test_setup(too_many_context_pairs_are_refused, forget_flags),
        cmocka_unit_test_setup(init_without_arguments_is_misuse, forget_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
