/* scratchscope sweep on the CPU device: rows, verdicts, names, formats and ratios of small
 * problems. */
#include "tests/cli/cli_case.h"

static json_t *sweep_json(const char *options)
{
    struct cli_run run;
    char line[512];

    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --format json %s", options);
    cli(&run, line);
    if (run.code != 0) {
        fail_msg("exit code %d: %s", run.code, run.err);
    }
    json_t *file = cli_json(run.out);
    cli_fini(&run);
    return file;
}

/* Every row that ran is right, measured as planned, with guards intact and equal outputs. */
static size_t check_rows(const json_t *file)
{
    const json_t *rows = json_object_get(file, "benchmarks");
    size_t ran = 0;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (cli_integer(row, "overflow") == 1) {
            continue;
        }
        ran++;
        assert_int_equal(cli_integer(row, "verified"), 1);
        assert_int_equal(cli_integer(row, "guards_intact"), 1);
        assert_int_equal(cli_integer(row, "same_bits"), 1);
        assert_int_equal(cli_integer(row, "repeatable"), 1);
        assert_int_equal(cli_integer(row, "measured_peak_bytes"),
                         cli_integer(row, "planned_peak_bytes"));
        assert_int_equal(cli_integer(row, "measured_touched_lines"),
                         cli_integer(row, "planned_touched_lines"));
        assert_int_equal(cli_integer(row, "measured_parts_bytes"), cli_integer(row, "parts_bytes"));
        assert_true(json_number_value(json_object_get(row, "max_abs_err")) <=
                    json_number_value(json_object_get(row, "tolerance")));
    }
    return ran;
}

static void sweep_past_the_cap_ends_well(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 16,17");
    assert_int_equal(check_rows(file), 5 * (2 + 4));
    const json_t *row = cli_row(file, "unscoped", 17);
    assert_int_equal(cli_integer(row, "overflow_tile"), 17);
    assert_string_equal(json_string_value(json_object_get(row, "overflow_name")), "v");
    assert_int_equal(cli_integer(row, "overflow_request_bytes"), 16384);
    assert_int_equal(cli_integer(row, "overflow_free_bytes"), 5504);
    assert_int_equal(cli_integer(row, "planned_peak_bytes"), 1075840);
    assert_true(cli_is_null(row, "real_time"));
    assert_true(cli_is_null(row, "cpu_time"));
    assert_true(cli_is_null(row, "time_unit"));
    assert_true(cli_is_null(row, "cache_level"));
    json_decref(file);
}

static void sweep_rows_have_the_shape_of_google_benchmark(void **state)
{
    static const char *const names[] = {"mean", "median", "stddev", "cv"};

    (void)state;
    json_t *file = sweep_json("--tiles 1 --policy nested");
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 6);
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_string_equal(json_string_value(json_object_get(row, "run_type")), "iteration");
        assert_int_equal(cli_integer(row, "repetitions"), 2);
        assert_int_equal(cli_integer(row, "repetition_index"), i);
        assert_true(cli_integer(row, "iterations") >= 1);
        assert_true(json_real_value(json_object_get(row, "real_time")) > 0.0);
        assert_true(json_real_value(json_object_get(row, "gflops")) > 0.0);
        assert_string_equal(json_string_value(json_object_get(row, "time_unit")), "ms");
        assert_string_equal(json_string_value(json_object_get(row, "name")),
                            "attention/cap16/nested/f16/S:1/seq_q:32/q_heads:1");
    }
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(rows, 2 + i);
        char name[128];
        (void)snprintf(name, sizeof name, "attention/cap16/nested/f16/S:1/seq_q:32/q_heads:1_%s",
                       names[i]);
        assert_string_equal(json_string_value(json_object_get(row, "aggregate_name")), names[i]);
        assert_string_equal(json_string_value(json_object_get(row, "name")), name);
        assert_string_equal(json_string_value(json_object_get(row, "run_name")),
                            "attention/cap16/nested/f16/S:1/seq_q:32/q_heads:1");
    }
    json_decref(file);
}

static void sweep_of_one_repetition_has_no_aggregates(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1 --policy nested --repetitions 1");
    assert_int_equal(json_array_size(json_object_get(file, "benchmarks")), 1);
    json_decref(file);
}

/* Of a sweep under POCL_AFFINITY = value, NULL = not set. */
static json_t *context_under(const char *affinity, const char *options)
{
    struct cli_run run;
    char line[512];

    (void)snprintf(line, sizeof line,
                   "sweep " CLI_SMALL " --tiles 1 --policy nested --format json%s", options);
    const struct cli_start start = {
        .line = line, .variable = affinity != NULL ? "POCL_AFFINITY" : NULL, .value = affinity};
    cli_start(&run, &start);
    if (run.code != 0) {
        fail_msg("exit code %d: %s", run.code, run.err);
    }
    json_t *file = cli_json(run.out);
    json_t *context = json_incref(json_object_get(file, "context"));
    json_decref(file);
    cli_fini(&run);
    return context;
}

/* Whether PEs are bound depends on the machine; that the context tells it does not. */
static void sweep_context_tells_whether_pes_are_bound(void **state)
{
    (void)state;
    json_t *context = context_under(NULL, "");
    const json_t *binding = json_object_get(context, "binding");
    bool bound = json_is_true(json_object_get(binding, "pes_bound"));
    assert_int_equal(bound, json_is_string(json_object_get(binding, "cpus")));
    assert_int_equal(bound, cli_is_null(binding, "why_not"));
    assert_true(json_is_string(json_object_get(context, "affinity")));
    assert_true(json_is_object(json_object_get(context, "cpu_frequency")));
    assert_int_equal(json_array_size(json_object_get(context, "load_avg")), 3);
    json_decref(context);
}

static void expect_unbound(const char *affinity, const char *options, const char *why_not)
{
    json_t *context = context_under(affinity, options);
    const json_t *binding = json_object_get(context, "binding");
    assert_string_equal(json_string_value(json_object_get(binding, "why_not")), why_not);
    json_decref(context);
}

static void sweep_does_not_bind_where_it_must_not(void **state)
{
    (void)state;
    expect_unbound("0", "", "POCL_AFFINITY=0 is set");
    expect_unbound(NULL, " --bind none", "--bind none");
}

static void sweep_context_tells_device_settings_and_ratios(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1 --seed 5");
    const json_t *context = json_object_get(file, "context");
    const json_t *ratios = json_object_get(context, "ratios");
    assert_true(json_is_string(json_object_get(context, "device")));
    assert_true(cli_integer(context, "pes") >= 1);
    assert_int_equal(cli_integer(json_object_get(context, "settings"), "seed"), 5);
    assert_int_equal(cli_integer(json_object_get(context, "settings"), "repetitions"), 2);
    assert_int_equal(json_array_size(ratios), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *ratio = json_array_get(ratios, i);
        assert_string_equal(json_string_value(json_object_get(ratio, "group")),
                            "attention/cap16/f16/S:1/seq_q:32/q_heads:1");
        assert_true(cli_integer(ratio, "blocks") >= 5);
        assert_true(json_real_value(json_object_get(ratio, "ratio")) > 0.0);
        assert_int_equal(json_array_size(json_object_get(ratio, "interval")), 2);
    }
    json_decref(file);
}

static void sweep_context_tells_where_the_time_went(void **state)
{
    static const char *const parts[] = {"roofline", "inputs", "reference", "build",
                                        "check",    "timing", "pairs",     "rows"};
    double sum = 0.0;

    (void)state;
    json_t *file = sweep_json("--tiles 1");
    const json_t *seconds = json_object_get(json_object_get(file, "context"), "seconds");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const double part = json_real_value(json_object_get(seconds, parts[i]));
        assert_true(part > 0.0);
        sum += part;
    }
    assert_true(json_real_value(json_object_get(seconds, "total")) >= sum);
    json_decref(file);
}

static void sweep_without_pairs_has_no_ratios(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1 --pairs 0");
    const json_t *context = json_object_get(file, "context");
    assert_int_equal(json_array_size(json_object_get(context, "ratios")), 0);
    assert_int_equal(cli_integer(json_object_get(context, "settings"), "pair_blocks"), 0);
    json_decref(file);
}

static void sweep_of_whole_launches_times_all_items(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1024 --policy nested --whole --pairs 0 --seq-q 512 "
                              "--repetitions 1");
    const json_t *row = cli_row(file, "nested", 1024);
    assert_int_equal(cli_integer(row, "items"), 16);
    assert_int_equal(cli_integer(row, "timed_items"), 16);
    json_decref(file);
}

static void sweep_with_a_growing_pool_runs_unscoped_past_the_cap(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 64 --pool grow");
    assert_int_equal(check_rows(file), 3 * 6);
    assert_int_equal(cli_integer(cli_row(file, "unscoped", 64), "planned_peak_bytes"),
                     24832 + 61824 * 64);
    json_decref(file);
}

static void sweep_in_both_styles_types_masks_and_with_poison(void **state)
{
    static const char *const lines[] = {
        "--tiles 2 --kernel simt --poison",
        "--tiles 2 --dtype f32 --poison",
        "--tiles 3 --causal --head-dim 40 --head-dim-v 24",
        "--tiles 3 --window 50,3 --scale 0.25 --block-m 5 --block-n 33",
        "--tiles 2 --q-heads 6 --kv-heads 2 --batch 2 --pes 3",
        "--tiles 3 --softcap 2 --alibi --causal --q-heads 3",
        "--tiles 3 --sinks --mask --window 100,-1 --kernel simt --poison",
        "--tiles 7 --parts 3 --seq-q 1 --q-heads 4 --kv-heads 1 --block-m 4 --sinks --poison",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char line[256];
        (void)snprintf(line, sizeof line, "%s --repetitions 1", lines[i]);
        json_t *file = sweep_json(line);
        assert_int_equal(check_rows(file), 3);
        json_decref(file);
    }
}

static void sweep_of_crossed_lists_has_a_row_for_each(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1,2 --dtype f16,f32 --policy nested --repetitions 1");
    assert_int_equal(check_rows(file), 4);
    json_decref(file);
}

static void sweep_of_arenas_above_the_device_is_an_overflow(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 1 --policy nested --pes 1000000 --pool 1GiB");
    const json_t *row = cli_row(file, "nested", 1);
    assert_int_equal(cli_integer(row, "overflow"), 1);
    assert_string_equal(json_string_value(json_object_get(row, "overflow_name")), "device");
    assert_true(cli_is_null(row, "cache_level"));
    json_decref(file);
}

static void sweep_filter_picks_rows_and_google_flags_act_as_ours(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --seq-q 32 --q-heads 1 --tiles 1,2 --device cpu --format json "
              "--benchmark_filter=/nested/ --benchmark_repetitions=3 --benchmark_min_time=0.001");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 2 * (3 + 4));
    assert_int_equal(cli_integer(json_array_get(rows, 0), "repetitions"), 3);
    json_decref(file);
    cli_fini(&run);
}

static void sweep_table_goes_to_stdout_and_one_line_to_stderr(void **state)
{
    struct cli_run run;
    const struct cli_start start = {
        .line = "sweep " CLI_SMALL " --tiles 16,17", .variable = "LC_ALL", .value = "C"};

    (void)state;
    cli_start(&run, &start);
    assert_int_equal(run.code, 0);
    cli_says(run.out, "the cap: unscoped");
    cli_says(run.out, "1,014,016  same");
    cli_says(run.out, "OVERFLOW: v of tile 17");
    cli_says(run.out, "24,832 + 61,824 S bytes");
    cli_says(run.out, "scoped/unscoped");
    cli_says(run.out, "all 5 rows that ran are verified");
    /* A busy machine may set the clocks apart, and then the sweep says so. */
    const size_t warned = strstr(run.err, "scratchscope: clocks: ") != NULL ? 1 : 0;
    assert_int_equal(cli_count_lines(run.err), 1 + warned);
    cli_says(run.err, "scratchscope: device ");
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_past_the_cap_ends_well),
        cmocka_unit_test(sweep_rows_have_the_shape_of_google_benchmark),
        cmocka_unit_test(sweep_of_one_repetition_has_no_aggregates),
        cmocka_unit_test(sweep_context_tells_device_settings_and_ratios),
        cmocka_unit_test(sweep_context_tells_whether_pes_are_bound),
        cmocka_unit_test(sweep_does_not_bind_where_it_must_not),
        cmocka_unit_test(sweep_context_tells_where_the_time_went),
        cmocka_unit_test(sweep_without_pairs_has_no_ratios),
        cmocka_unit_test(sweep_of_whole_launches_times_all_items),
        cmocka_unit_test(sweep_with_a_growing_pool_runs_unscoped_past_the_cap),
        cmocka_unit_test(sweep_in_both_styles_types_masks_and_with_poison),
        cmocka_unit_test(sweep_of_crossed_lists_has_a_row_for_each),
        cmocka_unit_test(sweep_of_arenas_above_the_device_is_an_overflow),
        cmocka_unit_test(sweep_filter_picks_rows_and_google_flags_act_as_ours),
        cmocka_unit_test(sweep_table_goes_to_stdout_and_one_line_to_stderr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
