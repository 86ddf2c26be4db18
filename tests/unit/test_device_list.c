/* Listing devices over the fake OpenCL: drivers that are missing, empty, broken or odd. */
#include "host/device/device.h"
#include "tests/cmocka.h"
#include "tests/unit/fake_opencl.h"

#include <string.h>

enum { LOADER_FOUND_NO_PLATFORM = -1001 };

static const struct fake_device cpu = {
    .name = "  A CPU   ",
    .extensions = "cl_khr_fp64 cl_khr_fp16",
    .type = CL_DEVICE_TYPE_CPU,
    .align_bits = 1024,
    .max_alloc_bytes = 1u << 30,
    .local_bytes = 65536,
    .fp64 = true,
};

static const struct fake_device gpu = {
    .name = "A GPU",
    .extensions = "cl_khr_fp16_like",
    .type = CL_DEVICE_TYPE_GPU,
    .align_bits = 4096,
    .max_alloc_bytes = 6ull << 30,
    .local_bytes = 49152,
};

static int start(void **state)
{
    (void)state;
    status_clear();
    fake_opencl_reset();
    return 0;
}

/* Lists what the platforms hold; the test frees the list. */
static struct device_list listed(const struct fake_platform *platforms, size_t count)
{
    struct device_list list;
    fake.platforms = platforms;
    fake.platform_count = count;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    return list;
}

static void list_without_platform_is_empty_and_no_failure(void **state)
{
    (void)state;
    struct device_list list = listed(NULL, 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.platform_count, 0);
    device_list_fini(&list);
}

static void list_where_the_loader_finds_no_driver_is_empty_and_no_failure(void **state)
{
    (void)state;
    fake.platform_code = LOADER_FOUND_NO_PLATFORM;
    struct device_list list = listed(NULL, 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.platform_count, 0);
    device_list_fini(&list);
}

static void list_where_the_loader_fails_is_a_failure(void **state)
{
    (void)state;
    struct device_list list;
    fake.platform_code = CL_OUT_OF_HOST_MEMORY;
    assert_int_equal(device_list_init(&list), STATUS_OPENCL);
    assert_int_equal(list.count, 0);
    assert_int_equal(status_last()->code, CL_OUT_OF_HOST_MEMORY);
}

static void list_of_two_drivers_counts_devices_over_both(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"One", &cpu, 1, CL_SUCCESS},
                                              {"Two", &gpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 2);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.devices[1].index, 1);
    assert_string_equal(list.devices[0].platform_name, "One");
    assert_string_equal(list.devices[1].platform_name, "Two");
    assert_int_equal(list.devices[0].type, DEVICE_CPU);
    assert_int_equal(list.devices[1].type, DEVICE_GPU);
    device_list_fini(&list);
}

static void platform_without_device_is_passed_by(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"Empty", NULL, 0, CL_DEVICE_NOT_FOUND},
                                              {"Zero", NULL, 0, CL_SUCCESS},
                                              {"One", &cpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.platform_count, 3);
    assert_int_equal(list.platform_error, 0);
    assert_int_equal(list.devices[0].index, 0);
    device_list_fini(&list);
}

static void platform_that_fails_is_passed_by_and_noted(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"Broken", NULL, 0, CL_OUT_OF_RESOURCES},
                                              {"One", &cpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 2);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.platform_error, CL_OUT_OF_RESOURCES);
    assert_int_equal(status_last()->status, STATUS_OK);
    device_list_fini(&list);
}

static void device_alignment_is_told_in_bytes(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"One", &cpu, 1, CL_SUCCESS},
                                              {"Two", &gpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 2);
    assert_int_equal(list.devices[0].base_align_bytes, 128);
    assert_int_equal(list.devices[1].base_align_bytes, 512);
    device_list_fini(&list);
}

static void device_precisions_are_told_apart(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"One", &cpu, 1, CL_SUCCESS},
                                              {"Two", &gpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 2);
    assert_true(list.devices[0].fp16);
    assert_true(list.devices[0].fp64);
    assert_false(list.devices[1].fp16);
    assert_false(list.devices[1].fp64);
    assert_true(list.devices[1].available);
    device_list_fini(&list);
}

static void device_limits_are_read(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"Two", &gpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    const struct device_info *info = &list.devices[0];
    assert_int_equal(info->max_alloc_bytes, 6ull << 30);
    assert_int_equal(info->global_bytes, 24ull << 30);
    assert_int_equal(info->local_bytes, 49152);
    assert_true(info->local_is_dedicated);
    assert_int_equal(info->compute_units, 4);
    assert_int_equal(info->max_work_group_size, 1024);
    assert_int_equal(info->float_vector_width, 8);
    assert_int_equal(info->timer_resolution_ns, 1);
    device_list_fini(&list);
}

static void device_name_loses_its_padding(void **state)
{
    (void)state;
    const struct fake_platform platforms[] = {{"  One ", &cpu, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    assert_string_equal(list.devices[0].name, "A CPU");
    assert_string_equal(list.devices[0].platform_name, "One");
    device_list_fini(&list);
}

static void device_name_too_long_is_cut(void **state)
{
    (void)state;
    char name[2 * DEVICE_NAME_BYTES];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    struct fake_device device = cpu;
    device.name = name;
    const struct fake_platform platforms[] = {{"One", &device, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    assert_int_equal(strlen(list.devices[0].name), DEVICE_NAME_BYTES - 1);
    assert_true(list.devices[0].available);
    device_list_fini(&list);
}

static void device_without_compiler_is_not_available(void **state)
{
    (void)state;
    struct fake_device device = cpu;
    device.no_compiler = true;
    const struct fake_platform platforms[] = {{"One", &device, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    assert_false(list.devices[0].available);
    device_list_fini(&list);
}

static void device_that_does_not_answer_is_not_available(void **state)
{
    (void)state;
    struct fake_device devices[2] = {cpu, cpu};
    devices[0].refused = CL_DEVICE_MAX_MEM_ALLOC_SIZE;
    const struct fake_platform platforms[] = {{"One", devices, 2, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    assert_int_equal(list.count, 2);
    assert_false(list.devices[0].available);
    assert_int_equal(list.devices[0].max_alloc_bytes, 0);
    assert_true(list.devices[1].available);
    device_list_fini(&list);
}

static void device_without_double_config_is_available(void **state)
{
    (void)state;
    struct fake_device device = cpu;
    device.refused = CL_DEVICE_DOUBLE_FP_CONFIG;
    const struct fake_platform platforms[] = {{"One", &device, 1, CL_SUCCESS}};
    struct device_list list = listed(platforms, 1);
    assert_true(list.devices[0].available);
    assert_false(list.devices[0].fp64);
    device_list_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(list_without_platform_is_empty_and_no_failure, start),
        cmocka_unit_test_setup(list_where_the_loader_finds_no_driver_is_empty_and_no_failure,
                               start),
        cmocka_unit_test_setup(list_where_the_loader_fails_is_a_failure, start),
        cmocka_unit_test_setup(list_of_two_drivers_counts_devices_over_both, start),
        cmocka_unit_test_setup(platform_without_device_is_passed_by, start),
        cmocka_unit_test_setup(platform_that_fails_is_passed_by_and_noted, start),
        cmocka_unit_test_setup(device_alignment_is_told_in_bytes, start),
        cmocka_unit_test_setup(device_precisions_are_told_apart, start),
        cmocka_unit_test_setup(device_limits_are_read, start),
        cmocka_unit_test_setup(device_name_loses_its_padding, start),
        cmocka_unit_test_setup(device_name_too_long_is_cut, start),
        cmocka_unit_test_setup(device_without_compiler_is_not_available, start),
        cmocka_unit_test_setup(device_that_does_not_answer_is_not_available, start),
        cmocka_unit_test_setup(device_without_double_config_is_available, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
