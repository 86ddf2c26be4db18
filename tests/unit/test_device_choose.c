/* Choosing a device from lists made by hand. */
#include "host/device/device.h"
#include "tests/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 40 };

static struct device_info made(const char *name, enum device_type type, bool available)
{
    struct device_info info = {.type = type, .available = available, .platform_name = "Some"};
    (void)snprintf(info.name, sizeof info.name, "%s", name);
    return info;
}

/* A CPU, two like GPUs of two platforms, and an accelerator. */
static struct device_list mixed(struct device_info devices[4])
{
    devices[0] = made("pthread-haswell CPU", DEVICE_CPU, true);
    devices[1] = made("Big GPU", DEVICE_GPU, true);
    devices[2] = made("Big GPU", DEVICE_GPU, true);
    (void)snprintf(devices[2].platform_name, DEVICE_NAME_BYTES, "Another");
    devices[3] = made("Odd thing", DEVICE_OTHER, true);
    return (struct device_list){devices, 4, 2, 0};
}

static int clear_record(void **state)
{
    (void)state;
    status_clear();
    return 0;
}

static void chosen_is(const struct device_list *list, const char *spec, size_t expected)
{
    size_t index = 99;
    assert_int_equal(device_choose(list, spec, &index), STATUS_OK);
    assert_int_equal(index, expected);
}

static void refused_is(const struct device_list *list, const char *spec, enum status expected)
{
    size_t index = 99;
    assert_int_equal(device_choose(list, spec, &index), expected);
    assert_int_equal(index, 0);
    assert_int_equal(status_last()->status, expected);
}

static void default_prefers_the_first_gpu(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    chosen_is(&list, NULL, 1);
    chosen_is(&list, "", 1);
}

static void default_passes_by_an_unavailable_gpu(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    devices[1].available = false;
    chosen_is(&list, NULL, 2);
}

static void default_without_gpu_takes_a_cpu(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    devices[1].available = devices[2].available = false;
    chosen_is(&list, NULL, 0);
}

static void default_without_gpu_and_cpu_takes_any(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    devices[0].available = devices[1].available = devices[2].available = false;
    chosen_is(&list, NULL, 3);
}

static void default_with_nothing_available_finds_no_device(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    for (size_t i = 0; i < 4; ++i) {
        devices[i].available = false;
    }
    refused_is(&list, NULL, STATUS_NO_DEVICE);
}

static void type_word_finds_the_first_of_its_type(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    chosen_is(&list, "cpu", 0);
    chosen_is(&list, "gpu", 1);
    chosen_is(&list, "GPU", 1);
}

static void type_word_without_such_a_device_names_those_that_are(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    list.count = 1;
    refused_is(&list, "gpu", STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->why, "GPU"));
    assert_non_null(strstr(status_last()->why, "0 = pthread-haswell CPU (Some)"));
}

static void index_finds_the_device_at_it(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    chosen_is(&list, "0", 0);
    chosen_is(&list, "2", 2);
}

static void index_out_of_range_lists_the_devices(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    refused_is(&list, "4", STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "2 = Big GPU (Another)"));
}

static void index_beyond_size_t_is_refused(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    refused_is(&list, "18446744073709551616", STATUS_BAD_INPUT);
}

static void index_of_an_unavailable_device_finds_no_device(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    devices[3].available = false;
    refused_is(&list, "3", STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->why, "Odd thing"));
}

static void name_part_finds_the_device_in_any_case(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    chosen_is(&list, "HASWELL", 0);
    chosen_is(&list, "thing", 3);
    chosen_is(&list, "Odd thing", 3);
}

static void name_of_two_devices_is_refused_with_both(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    refused_is(&list, "big", STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "1 = Big GPU (Some)"));
    assert_non_null(strstr(status_last()->why, "2 = Big GPU (Another)"));
    assert_non_null(strstr(status_last()->hint, "--device 1"));
}

static void name_of_no_device_lists_the_devices(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    refused_is(&list, "quantum", STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "quantum"));
    assert_non_null(strstr(status_last()->why, "3 = Odd thing"));
}

static void name_longer_than_any_device_is_refused(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    refused_is(&list, "Odd thing and then some", STATUS_BAD_INPUT);
}

static void name_of_an_unavailable_device_finds_no_device(void **state)
{
    (void)state;
    struct device_info devices[4];
    struct device_list list = mixed(devices);
    devices[0].available = false;
    refused_is(&list, "pthread", STATUS_NO_DEVICE);
}

static void list_without_platform_says_what_to_install(void **state)
{
    (void)state;
    struct device_list list = {NULL, 0, 0, 0};
    refused_is(&list, NULL, STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->hint, "pocl-opencl-icd"));
}

static void list_without_platform_has_no_index_either(void **state)
{
    (void)state;
    struct device_list list = {NULL, 0, 0, 0};
    refused_is(&list, "0", STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->hint, "pocl-opencl-icd"));
}

static void list_without_device_names_the_cache_folder(void **state)
{
    (void)state;
    struct device_list list = {NULL, 0, 1, 0};
    refused_is(&list, "cpu", STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->hint, "POCL_CACHE_DIR"));
}

static void list_without_device_tells_what_a_platform_answered(void **state)
{
    (void)state;
    struct device_list list = {NULL, 0, 2, CL_OUT_OF_HOST_MEMORY};
    refused_is(&list, NULL, STATUS_NO_DEVICE);
    assert_non_null(strstr(status_last()->why, "CL_OUT_OF_HOST_MEMORY"));
}

static void list_of_many_devices_is_cut_not_overrun(void **state)
{
    (void)state;
    static struct device_info devices[MANY];
    struct device_list list = {devices, MANY, 1, 0};
    for (size_t i = 0; i < MANY; ++i) {
        devices[i] = made("a device with a name that is rather long", DEVICE_CPU, true);
    }
    refused_is(&list, "40", STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "there is no device 40"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(default_prefers_the_first_gpu, clear_record),
        cmocka_unit_test_setup(default_passes_by_an_unavailable_gpu, clear_record),
        cmocka_unit_test_setup(default_without_gpu_takes_a_cpu, clear_record),
        cmocka_unit_test_setup(default_without_gpu_and_cpu_takes_any, clear_record),
        cmocka_unit_test_setup(default_with_nothing_available_finds_no_device, clear_record),
        cmocka_unit_test_setup(type_word_finds_the_first_of_its_type, clear_record),
        cmocka_unit_test_setup(type_word_without_such_a_device_names_those_that_are, clear_record),
        cmocka_unit_test_setup(index_finds_the_device_at_it, clear_record),
        cmocka_unit_test_setup(index_out_of_range_lists_the_devices, clear_record),
        cmocka_unit_test_setup(index_beyond_size_t_is_refused, clear_record),
        cmocka_unit_test_setup(index_of_an_unavailable_device_finds_no_device, clear_record),
        cmocka_unit_test_setup(name_part_finds_the_device_in_any_case, clear_record),
        cmocka_unit_test_setup(name_of_two_devices_is_refused_with_both, clear_record),
        cmocka_unit_test_setup(name_of_no_device_lists_the_devices, clear_record),
        cmocka_unit_test_setup(name_longer_than_any_device_is_refused, clear_record),
        cmocka_unit_test_setup(name_of_an_unavailable_device_finds_no_device, clear_record),
        cmocka_unit_test_setup(list_without_platform_says_what_to_install, clear_record),
        cmocka_unit_test_setup(list_without_platform_has_no_index_either, clear_record),
        cmocka_unit_test_setup(list_without_device_names_the_cache_folder, clear_record),
        cmocka_unit_test_setup(list_without_device_tells_what_a_platform_answered, clear_record),
        cmocka_unit_test_setup(list_of_many_devices_is_cut_not_overrun, clear_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
