/* scratchscope devices, and what every command says on a machine without a platform. */
#include "tests/cli/cli_case.h"

static void devices_table_lists_limits_styles_and_the_machine(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "devices");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "OpenCL devices");
    cli_says(run.out, "kernel simd");
    cli_says(run.out, "kernel simt");
    cli_says(run.out, "largest allocation");
    cli_says(run.out, "local memory");
    cli_says(run.out, "This machine:");
    cli_says(run.out, "sweep takes this one");
    assert_string_equal(run.err, "");
    cli_fini(&run);
}

static void devices_json_has_each_device_once(void **state)
{
    struct cli_run run;
    size_t standard = 0;

    (void)state;
    cli(&run, "devices --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *devices = json_object_get(file, "devices");
    assert_true(json_array_size(devices) >= 1);
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        const json_t *limits = json_object_get(device, "limits");
        assert_int_equal(cli_integer(device, "index"), i);
        assert_true(cli_integer(limits, "compute_units") >= 1);
        assert_true(cli_integer(limits, "max_alloc_bytes") > 0);
        assert_true(cli_integer(limits, "base_align_bytes") >= 1);
        assert_non_null(json_object_get(json_object_get(device, "kernels"), "simd"));
        standard += json_is_true(json_object_get(device, "default")) ? 1 : 0;
    }
    assert_int_equal(standard, 1);
    assert_true(cli_integer(json_object_get(file, "topology"), "cores") >= 1);
    json_decref(file);
    cli_fini(&run);
}

static void no_platform_is_one_line_that_says_what_to_install(void **state)
{
    static const char *const lines[] = {"sweep", "devices", "devices --format json",
                                        "sweep --device cpu"};
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cli_run run;
        const struct cli_start start = {
            .line = lines[i], .variable = "OCL_ICD_VENDORS", .value = folder};
        cli_start(&run, &start);
        assert_int_equal(run.code, 3);
        assert_string_equal(run.out, "");
        assert_int_equal(cli_count_lines(run.err), 1);
        cli_says(run.err, "scratchscope: error: ");
        cli_says(run.err, "pocl-opencl-icd");
        cli_fini(&run);
    }
    cli_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_table_lists_limits_styles_and_the_machine),
        cmocka_unit_test(devices_json_has_each_device_once),
        cmocka_unit_test(no_platform_is_one_line_that_says_what_to_install),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
