/* The command line: help, version, and every kind of bad input: exit 2, one error line with the
 * reason, nothing on stdout. */
#include "tests/cli/cli_case.h"

static void refuse(const char *line, const char *what, const char *why)
{
    struct cli_run run;
    char start[256];

    cli(&run, line);
    if (run.code != 2) {
        fail_msg("%s: exit code %d", line, run.code);
    }
    assert_string_equal(run.out, "");
    (void)snprintf(start, sizeof start, "scratchscope: error: %s: ", what);
    assert_memory_equal(run.err, start, strlen(start));
    cli_says(run.err, why);
    assert_true(cli_count_lines(run.err) <= 2);
    cli_fini(&run);
}

static void nothing_asked_is_bad_usage(void **state)
{
    (void)state;
    refuse("", "usage", "--help");
}

static void unknown_command_names_the_nearest(void **state)
{
    (void)state;
    refuse("swep", "swep", "sweep");
    refuse("trace", "trace", "no such command");
}

static void unknown_option_names_the_nearest(void **state)
{
    (void)state;
    refuse("sweep --tilez 1", "--tilez", "--tiles");
    refuse("plan --tile 1", "--tile", "--tiles");
    refuse("plan --help=1", "--help", "no value");
}

static void options_of_another_command_refused(void **state)
{
    (void)state;
    refuse("plan --device cpu", "--device", "sweep");
    refuse("plan --resume", "--resume", "sweep");
    refuse("devices --tiles 3", "--tiles", "devices does not take it");
}

/* Values that no command takes. */
static const struct {
    const char *option;
    const char *value;
    bool sweep_alone;
} out_of_range[] = {
    {"--min-time", "0", true},
    {"--min-time", "-1", true},
    {"--repetitions", "0", true},
    {"--repetitions", "-5", true},
    {"--tiles", "0", false},
    {"--tiles", "''", false},
    {"--tiles", "1,", false},
    {"--tiles", "-1", false},
    {"--tiles", "9:1", false},
    {"--block-n", "0", false},
    {"--block-m", "0", false},
    {"--pool", "0", false},
    {"--pool", "1", false},
    {"--pool", "127", false},
    {"--pool", "1e6", false},
    {"--head-dim", "0", false},
    {"--q-heads", "0", false},
    {"--kv-heads", "0", false},
    {"--batch", "0", false},
    {"--seq-q", "0", false},
    {"--pes", "0", false},
    {"--policy", "all", false},
    {"--policy", "''", false},
    {"--dtype", "f64", false},
    {"--preset", "cap17", false},
    {"--kernel", "vliw", false},
    {"--window", "1", false},
    {"--window", "-2,1", false},
    {"--scale", "0", false},
    {"--scale", "nan", false},
    {"--format", "xml", false},
    {"--tiles", "1:9999999", false},
    {"--softcap", "0", false},
    {"--softcap", "-1", false},
    {"--parts", "0", false},
    {"--parts", "-1", false},
    {"--parts", "65537", false},
    {"--parts", "auto", false},
    {"--scale", "1e7", false},
    {"--min-time", "1e9", true},
    {"--seed", "9223372036854775808", true},
    {"--pairs", "1", true},
    {"--pairs", "4", true},
};

static void values_out_of_range_refused(void **state)
{
    static const char *const commands[] = {"sweep", "plan"};
    (void)state;
    for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++) {
        for (size_t j = 0; j < (out_of_range[i].sweep_alone ? 1 : 2); j++) {
            char line[128];
            (void)snprintf(line, sizeof line, "%s %s %s", commands[j], out_of_range[i].option,
                           out_of_range[i].value);
            refuse(line, out_of_range[i].option, "");
        }
    }
}

static void heads_that_do_not_divide_refused_before_anything_runs(void **state)
{
    (void)state;
    refuse("sweep --q-heads 3 --kv-heads 2", "--q-heads/--kv-heads", "multiple");
    refuse("sweep --q-heads 33 --kv-heads 2", "--q-heads/--kv-heads", "multiple");
}

static void type_without_a_kernel_refused_by_sweep(void **state)
{
    (void)state;
    refuse("sweep --dtype bf16", "--dtype", "no kernel");
    refuse("sweep --dtype f16,f8", "--dtype", "no kernel");
    refuse("sweep --dtype i8", "--dtype", "scratchscope plan");
}

static void tiles_of_a_fixed_preset_refused(void **state)
{
    (void)state;
    refuse("sweep --preset square4096 --tiles 3", "--tiles", "square4096");
    refuse("plan --preset llama3-8b-decode --tiles 3", "--tiles", "seq_kv = 8192");
}

static void outputs_that_cannot_be_are_refused_before_anything_runs(void **state)
{
    (void)state;
    refuse("sweep --output results", "--output", ".json");
    refuse("sweep --output nowhere/x.json", "nowhere/x.json", "folder 'nowhere' does not exist");
    refuse("sweep --output /dev/null/x.json", "/dev/null/x.json", "written");
    refuse("sweep --output a.json --output a.json", "--output", "twice");
    refuse("sweep --output a.json --output ./a.json", "--output", "twice");
    refuse("sweep --resume", "--resume", "--output");
    refuse("sweep --resume --output a.csv", "--resume", "JSON");
}

static void google_flags_are_checked(void **state)
{
    (void)state;
    refuse("sweep --benchmark_nonsense=1", "--benchmark_nonsense", "");
    refuse("sweep --benchmark_out=x", "--benchmark_out", "--output");
    refuse("sweep --benchmark_min_time=0", "--benchmark_min_time", "");
    refuse("sweep --benchmark_repetitions=0", "--benchmark_repetitions", "");
    refuse("sweep --benchmark_repetitions=2 --repetitions 3", "--benchmark_repetitions",
           "--repetitions");
    refuse("sweep --benchmark_filter=nothing_has_this_name", "--benchmark_filter", "no row");
    refuse("plan --benchmark_filter=zzz", "--benchmark_filter", "attention/cap16/unscoped/f16/S:1");
    refuse("sweep --benchmark_filter nested", "--benchmark_filter", "after a =");
    refuse("plan --benchmark_filter nested", "--benchmark_filter", "after a =");
    refuse("sweep --benchmark_min_time=3601", "--benchmark_min_time", "at most 3600 s");
    refuse("plan --benchmark_repetitions=2", "--benchmark_repetitions=2", "plan");
}

static void unknown_device_refused_with_the_list(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --device no_device_has_this_name");
    assert_int_equal(run.code, 2);
    cli_says(run.err, "there are:");
    cli_fini(&run);
    cli(&run, "sweep --device 999");
    assert_int_equal(run.code, 2);
    cli_fini(&run);
}

static void help_goes_to_stdout(void **state)
{
    static const char *const lines[] = {"--help", "sweep --help", "plan --help", "devices --help",
                                        "sweep --tiles 3 --help"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cli_run run;
        cli(&run, lines[i]);
        assert_int_equal(run.code, 0);
        assert_memory_equal(run.out, "Usage: scratchscope", 19);
        assert_string_equal(run.err, "");
        cli_fini(&run);
    }
}

static void help_advertises_nothing_that_is_not_there(void **state)
{
    static const char *const absent[] = {"compare", "report", "trace"};
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --help");
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_null(strstr(run.out, absent[i]));
    }
    cli_fini(&run);
}

static void version_is_one_line(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "--version");
    assert_int_equal(run.code, 0);
    assert_memory_equal(run.out, "scratchscope ", 13);
    assert_int_equal(cli_count_lines(run.out), 1);
    cli_fini(&run);
}

static void mask_that_contradicts_itself_refused_before_anything_runs(void **state)
{
    (void)state;
    refuse("sweep --causal --window 4,1", "--window", "contradict --causal");
    refuse("plan --preset mistral-7b-prefill --window 4,1", "--window",
           "contradict preset mistral-7b-prefill");
    refuse("plan --softcap 1e39", "--softcap", "f32");
    refuse("plan --mask=m.npy", "--mask", "no value");
}

static void help_lists_the_presets(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --help");
    cli_says(run.out, "\n  llama3-70b-decode     1 query on 8192 keys");
    cli_says(run.out, "arXiv:2407.21783");
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_bad_usage),
        cmocka_unit_test(unknown_command_names_the_nearest),
        cmocka_unit_test(unknown_option_names_the_nearest),
        cmocka_unit_test(options_of_another_command_refused),
        cmocka_unit_test(values_out_of_range_refused),
        cmocka_unit_test(heads_that_do_not_divide_refused_before_anything_runs),
        cmocka_unit_test(type_without_a_kernel_refused_by_sweep),
        cmocka_unit_test(tiles_of_a_fixed_preset_refused),
        cmocka_unit_test(outputs_that_cannot_be_are_refused_before_anything_runs),
        cmocka_unit_test(google_flags_are_checked),
        cmocka_unit_test(unknown_device_refused_with_the_list),
        cmocka_unit_test(help_goes_to_stdout),
        cmocka_unit_test(help_advertises_nothing_that_is_not_there),
        cmocka_unit_test(version_is_one_line),
        cmocka_unit_test(mask_that_contradicts_itself_refused_before_anything_runs),
        cmocka_unit_test(help_lists_the_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
