/* scratchscope roofline, and the roofline in a sweep: its context, its rows' shares, --resume. */
#include "tests/cli/cli_case.h"

#include <math.h>

static void assert_figures(const json_t *roofline)
{
    const json_t *reads = json_object_get(roofline, "read");
    size_t count = json_array_size(reads);
    double memory = json_number_value(json_object_get(roofline, "memory_gb_per_s"));

    assert_true(json_number_value(json_object_get(roofline, "fma_gflops")) > 0.0);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *read = json_array_get(reads, i);
        assert_true(cli_integer(read, "bytes") > 0);
        assert_true(json_number_value(json_object_get(read, "gb_per_s")) > 0.0);
        assert_int_equal(cli_is_null(read, "level"), i + 1 == count);
    }
    const json_t *last = json_array_get(reads, count - 1);
    assert_true(json_number_value(json_object_get(last, "gb_per_s")) == memory);
}

static void roofline_table_tells_both_peaks(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "roofline --device cpu --pes 1");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "FMA peak, f32, 1 PE: ");
    cli_says(run.out, "GFLOP/s");
    cli_says(run.out, "GB/s");
    cli_says(run.out, "  memory  ");
    cli_fini(&run);
}

static void roofline_json_has_figures_and_the_device(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "roofline --device cpu --format json");
    assert_int_equal(run.code, 0);
    json_t *json = cli_json(run.out);
    assert_figures(json);
    assert_true(json_is_string(json_object_get(json, "device")));
    assert_true(cli_integer(json, "pes") >= 1);
    json_decref(json);
    cli_fini(&run);
}

static void roofline_refuses_what_it_does_not_take(void **state)
{
    static const char *const lines[] = {"roofline --tiles 4", "roofline --format csv",
                                        "roofline --pes 0", "roofline more"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cli_run run;
        cli(&run, lines[i]);
        assert_int_equal(run.code, 2);
        assert_string_equal(run.out, "");
        cli_says(run.err, "scratchscope roofline --help lists the options");
        cli_fini(&run);
    }
}

static void help_lists_the_command_and_its_options(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "--help");
    cli_says(run.out, "  roofline   ");
    cli_fini(&run);
    cli(&run, "roofline --help");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "--device");
    cli_says(run.out, "--pes");
    cli_says(run.out, "--format table|json");
    cli_fini(&run);
}

static double number(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);

    if (!json_is_number(value)) {
        fail_msg("%s is no number", key);
    }
    return json_number_value(value);
}

/* Written with 15 digits: 1e-12 leaves room for their rounding. */
static void assert_share(double share, double expected)
{
    assert_true(fabs(share - expected) <= 1e-12 * fabs(expected));
}

static void sweep_rows_are_shares_of_the_context_s_roofline(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --tiles 2 --policy nested --format json " CLI_SMALL);
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *roofline = json_object_get(json_object_get(file, "context"), "roofline");
    assert_figures(roofline);
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 6);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *aggregate = json_string_value(json_object_get(row, "aggregate_name"));
        bool cv = aggregate != NULL && strcmp(aggregate, "cv") == 0;
        double gflops = number(row, "gflops");
        double fma = number(roofline, "fma_gflops");
        double fed = number(roofline, "memory_gb_per_s") * number(row, "flops") /
                     number(row, "dram_read_bytes");
        assert_share(number(row, "fma_peak_fraction"), cv ? gflops : gflops / fma);
        assert_share(number(row, "bandwidth_fraction"), cv ? gflops : gflops / fed);
        assert_share(number(row, "roofline_fraction"), cv ? gflops : gflops / fmin(fma, fed));
    }
    json_decref(file);
    cli_fini(&run);
}

static void sweep_that_times_nothing_measures_no_roofline(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --tiles 17 --policy unscoped --format json " CLI_SMALL);
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    assert_true(cli_is_null(json_object_get(file, "context"), "roofline"));
    const json_t *row = json_array_get(json_object_get(file, "benchmarks"), 0);
    assert_true(cli_is_null(row, "fma_peak_fraction"));
    assert_true(cli_is_null(row, "bandwidth_fraction"));
    assert_true(cli_is_null(row, "roofline_fraction"));
    json_decref(file);
    cli_fini(&run);
}

static void sweep_table_has_the_share_in_percent(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --tiles 2 --policy nested " CLI_SMALL);
    assert_int_equal(run.code, 0);
    cli_says(run.out, "of peak");
    cli_says(run.out, "of peak: of min(FMA peak ");
    cli_fini(&run);
}

static void resumed_sweep_without_work_keeps_the_roofline(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[512];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, "sweep --tiles 2 --output %s/a.json --resume " CLI_SMALL,
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_fini(&run);
    char *text = cli_file(folder, "a.json");
    json_t *before = cli_json(text);
    free(text);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_fini(&run);
    text = cli_file(folder, "a.json");
    json_t *after = cli_json(text);
    free(text);
    assert_figures(json_object_get(json_object_get(after, "context"), "roofline"));
    assert_true(json_equal(json_object_get(json_object_get(before, "context"), "roofline"),
                           json_object_get(json_object_get(after, "context"), "roofline")));
    assert_true(
        json_equal(json_object_get(before, "benchmarks"), json_object_get(after, "benchmarks")));
    json_decref(before);
    json_decref(after);
    cli_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roofline_table_tells_both_peaks),
        cmocka_unit_test(roofline_json_has_figures_and_the_device),
        cmocka_unit_test(roofline_refuses_what_it_does_not_take),
        cmocka_unit_test(help_lists_the_command_and_its_options),
        cmocka_unit_test(sweep_rows_are_shares_of_the_context_s_roofline),
        cmocka_unit_test(sweep_that_times_nothing_measures_no_roofline),
        cmocka_unit_test(sweep_table_has_the_share_in_percent),
        cmocka_unit_test(resumed_sweep_without_work_keeps_the_roofline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
