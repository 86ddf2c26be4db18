/* The device layer over the fake OpenCL: every call made to fail in turn, and limits and answers
 * that no real device here gives. */
#include "host/device/build.h"
#include "host/device/launch.h"
#include "host/device/pe_arenas.h"
#include "tests/cmocka.h"
#include "tests/unit/fake_opencl.h"

#include <math.h>
#include <string.h>

enum { MAX_CALLS = 200 };

static const char source[] = "__kernel void k(void) {}";

static int start(void **state)
{
    (void)state;
    status_clear();
    fake_opencl_reset();
    return 0;
}

static enum status use_arenas(struct pe_arenas *arenas)
{
    enum status status = STATUS_OK;
    struct pe_arenas_touch touch;
    unsigned char bytes[16];

    STATUS_TRY(pe_arenas_reset(arenas));
    STATUS_TRY(pe_arenas_paint(arenas, 0xA5));
    STATUS_TRY(pe_arenas_scan(arenas, 0xA5));
    STATUS_TRY(pe_arenas_measure(arenas, &touch));
    STATUS_TRY(pe_arenas_dump(arenas, 1, 100, sizeof bytes, bytes));
out:
    return status;
}

static enum status use_kernel(struct device *device)
{
    enum status status = STATUS_OK;
    cl_kernel kernel = NULL;
    struct event_time time;

    STATUS_TRY(build_kernel(device, source, "", "k", &kernel));
    STATUS_TRY(launch_kernel(device, kernel, 4, 8, 3, &time));
out:
    if (kernel != NULL) {
        (void)clReleaseKernel(kernel);
    }
    return status;
}

static enum status use_buffer(struct device *device)
{
    enum status status = STATUS_OK;
    cl_mem buffer = NULL;
    unsigned char bytes[8] = {1};

    STATUS_TRY(device_buffer(device, CL_MEM_READ_WRITE, sizeof bytes, bytes, &buffer));
    STATUS_TRY(device_write(device, buffer, 0, sizeof bytes, bytes));
    STATUS_TRY(device_read(device, buffer, 0, sizeof bytes, bytes));
    STATUS_TRY(device_finish(device));
out:
    if (buffer != NULL) {
        (void)clReleaseMemObject(buffer);
    }
    return status;
}

/* Everything that the layer does with a device. */
static enum status use_everything(const struct device_info *info)
{
    enum status status = STATUS_OK;
    struct device *device = NULL;
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = {.pes = 2, .pool_bytes = 1000, .guard_bytes = 8192};

    STATUS_TRY(device_open(info, &device));
    STATUS_TRY(use_buffer(device));
    STATUS_TRY(use_kernel(device));
    STATUS_TRY(pe_arenas_create(device, shape, &arenas));
    STATUS_TRY(use_arenas(arenas));
out:
    pe_arenas_destroy(arenas);
    device_close(device);
    return status;
}

static void call_that_fails_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    struct device_list list;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    assert_int_equal(use_everything(&list.devices[0]), STATUS_OK);
    size_t calls = fake.calls - 1; /* device_close waits for the queue and can't fail */
    assert_in_range(calls, 30, MAX_CALLS);
    for (size_t i = 1; i <= calls; ++i) {
        start(NULL);
        fake.fail_at = i;
        enum status status = use_everything(&list.devices[0]);
        if (status != STATUS_OPENCL || status_last()->code != CL_OUT_OF_RESOURCES ||
            fake.live != 0) {
            fail_msg("call %zu: status %d, %zu objects left", i, (int)status, fake.live);
        }
    }
    device_list_fini(&list);
}

static void buffer_above_the_limit_is_refused_before_any_call(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_mem buffer = NULL;
    size_t calls = fake.calls;
    assert_int_equal(device_buffer(device, 0, ((size_t)1 << 30) + 1, NULL, &buffer),
                     STATUS_NO_SPACE);
    assert_null(buffer);
    assert_int_equal(fake.calls, calls);
    assert_non_null(strstr(status_last()->why, "1073741825"));
    assert_non_null(strstr(status_last()->why, "1073741824"));
    device_close(device);
}

static void buffer_of_no_bytes_has_one(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_mem buffer = NULL;
    unsigned char byte = 7;
    assert_int_equal(device_buffer(device, 0, 0, &byte, &buffer), STATUS_OK);
    assert_int_equal(device_read(device, buffer, 0, 1, &byte), STATUS_OK);
    assert_int_equal(byte, 0);
    (void)clReleaseMemObject(buffer);
    device_close(device);
}

static void program_of_equal_texts_is_built_once(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program first = NULL;
    cl_program second = NULL;
    char copy[sizeof source];
    memcpy(copy, source, sizeof source);
    assert_int_equal(build_program(device, source, "-D N=1", &first), STATUS_OK);
    assert_int_equal(build_program(device, copy, "-D N=1", &second), STATUS_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(build_count(device), 1);
    assert_int_equal(fake.builds, 1);
    device_close(device);
}

static void program_with_other_options_is_another(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program first = NULL;
    cl_program second = NULL;
    assert_int_equal(build_program(device, source, "-D N=1", &first), STATUS_OK);
    assert_int_equal(build_program(device, source, "-D N=2", &second), STATUS_OK);
    assert_ptr_not_equal(first, second);
    assert_int_equal(build_count(device), 2);
    assert_string_equal(fake.options, "-cl-std=CL1.2 -D N=2");
    device_close(device);
}

static void program_with_relaxed_arithmetic_is_misuse(void **state)
{
    (void)state;
    static const char *const options[] = {"-cl-fast-relaxed-math", "-D A -cl-finite-math-only",
                                          "-cl-unsafe-math-optimizations", "-cl-mad-enable"};
    struct device *device = fake_opencl_open();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; ++i) {
        cl_program program = NULL;
        assert_int_equal(build_program(device, source, options[i], &program), STATUS_MISUSE);
        assert_null(program);
    }
    assert_int_equal(fake.builds, 0);
    device_close(device);
}

static void program_that_fails_is_tried_again(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program program = NULL;
    fake.build_code = CL_BUILD_PROGRAM_FAILURE;
    assert_int_equal(build_program(device, source, "", &program), STATUS_OPENCL);
    assert_null(program);
    assert_int_equal(build_count(device), 0);
    fake.build_code = CL_SUCCESS;
    assert_int_equal(build_program(device, source, "", &program), STATUS_OK);
    assert_int_equal(build_count(device), 1);
    device_close(device);
}

static void build_log_with_an_error_gives_no_hint_of_the_cache(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program program = NULL;
    fake.build_code = CL_BUILD_PROGRAM_FAILURE;
    fake.build_log = "k.cl:1:1: error: expected ';'";
    assert_int_equal(build_program(device, source, "", &program), STATUS_OPENCL);
    assert_string_equal(status_last()->detail, fake.build_log);
    assert_string_equal(status_last()->hint, "");
    device_close(device);
}

static void build_log_without_an_error_hints_at_the_cache(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program program = NULL;
    fake.build_code = CL_BUILD_PROGRAM_FAILURE;
    fake.build_log = "Device failed to build the program";
    assert_int_equal(build_program(device, source, "", &program), STATUS_OPENCL);
    assert_non_null(strstr(status_last()->hint, "POCL_CACHE_DIR"));
    device_close(device);
}

static void build_without_a_log_hints_at_the_cache(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_program program = NULL;
    fake.build_code = CL_OUT_OF_HOST_MEMORY;
    fake.build_log = "\n";
    assert_int_equal(build_program(device, source, "", &program), STATUS_OPENCL);
    assert_null(status_last()->detail);
    assert_int_equal(status_last()->code, CL_OUT_OF_HOST_MEMORY);
    assert_non_null(strstr(status_last()->hint, "POCL_CACHE_DIR"));
    device_close(device);
}

/* Launches a kernel with what the test has set up in the fake. */
static enum status launched(size_t groups, size_t local, size_t count, struct event_time *time)
{
    struct device *device = fake_opencl_open();
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(device, source, "", "k", &kernel), STATUS_OK);
    enum status status = launch_kernel(device, kernel, groups, local, count, time);
    (void)clReleaseKernel(kernel);
    device_close(device);
    return status;
}

static void launch_takes_the_times_of_device_and_host(void **state)
{
    (void)state;
    struct event_time time;
    assert_int_equal(launched(4, 8, 1, &time), STATUS_OK);
    assert_int_equal(fake.launches, 1);
    assert_true(time.sane);
    assert_true(time.event_ns == 1500.0);
    assert_true(time.host_ns > 0);
}

static void launch_of_several_takes_the_span_of_all(void **state)
{
    (void)state;
    struct event_time time;
    assert_int_equal(launched(4, 8, 5, &time), STATUS_OK);
    assert_int_equal(fake.launches, 5);
    assert_true(time.event_ns ==
                41500.0); /* start of the first at 1000, end of the last at 42500 */
}

static void launch_with_reversed_stamps_has_no_event_time(void **state)
{
    (void)state;
    struct event_time time;
    fake.stamps[0] = 3000;
    assert_int_equal(launched(4, 8, 1, &time), STATUS_OK);
    assert_false(time.sane);
    assert_true(isnan(time.event_ns));
    assert_true(time.host_ns > 0);
}

static void launch_with_stamps_refused_has_no_event_time(void **state)
{
    (void)state;
    struct event_time time;
    fake.stamps_code = CL_PROFILING_INFO_NOT_AVAILABLE;
    assert_int_equal(launched(4, 8, 2, &time), STATUS_OK);
    assert_false(time.sane);
    assert_true(isnan(time.event_ns));
    assert_true(time.host_ns > 0);
}

static void launch_that_ended_badly_is_a_failure(void **state)
{
    (void)state;
    struct event_time time;
    fake.event_state = CL_OUT_OF_RESOURCES;
    assert_int_equal(launched(4, 8, 1, &time), STATUS_OPENCL);
    assert_int_equal(status_last()->code, CL_OUT_OF_RESOURCES);
}

static void launch_above_the_kernels_work_group_is_refused(void **state)
{
    (void)state;
    struct event_time time;
    fake.work_group_size = 64;
    assert_int_equal(launched(4, 65, 1, &time), STATUS_BAD_INPUT);
    assert_int_equal(fake.launches, 0);
    assert_non_null(strstr(status_last()->why, "64"));
    status_clear();
    assert_int_equal(launched(4, 64, 1, &time), STATUS_OK);
}

static void launch_above_the_devices_work_group_is_refused(void **state)
{
    (void)state;
    struct event_time time;
    fake.work_group_size = 4096;
    assert_int_equal(launched(4, 1025, 1, &time), STATUS_BAD_INPUT);
    assert_int_equal(fake.launches, 0);
}

static void launch_above_the_local_memory_is_refused(void **state)
{
    (void)state;
    struct event_time time;
    fake.kernel_local = 65537;
    assert_int_equal(launched(4, 8, 1, &time), STATUS_NO_SPACE);
    assert_int_equal(fake.launches, 0);
    assert_non_null(strstr(status_last()->why, "65537"));
    assert_non_null(strstr(status_last()->why, "65536"));
    status_clear();
    fake.kernel_local = 65536;
    assert_int_equal(launched(4, 8, 1, &time), STATUS_OK);
}

static void local_argument_up_to_what_the_device_has_is_set(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(device, source, "", "k", &kernel), STATUS_OK);
    assert_int_equal(launch_local_argument(device, kernel, 0, 65536 - 100, 100), STATUS_OK);
    assert_int_equal(launch_local_argument(device, kernel, 0, 65537 - 100, 100), STATUS_NO_SPACE);
    assert_int_equal(launch_local_argument(device, kernel, 0, 1, 65536), STATUS_NO_SPACE);
    assert_int_equal(launch_local_argument(device, kernel, 0, 1, SIZE_MAX), STATUS_NO_SPACE);
    (void)clReleaseKernel(kernel);
    device_close(device);
}

static void local_argument_that_the_driver_refuses_is_a_failure(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(device, source, "", "k", &kernel), STATUS_OK);
    fake.fail_at = fake.calls + 1;
    assert_int_equal(launch_local_argument(device, kernel, 0, 64, 0), STATUS_OPENCL);
    (void)clReleaseKernel(kernel);
    device_close(device);
}

static void launch_of_nothing_is_misuse(void **state)
{
    (void)state;
    struct event_time time;
    assert_int_equal(launched(0, 8, 1, &time), STATUS_MISUSE);
    assert_int_equal(launched(4, 0, 1, &time), STATUS_MISUSE);
    assert_int_equal(launched(4, 8, 0, &time), STATUS_MISUSE);
    assert_int_equal(fake.launches, 0);
}

static void launch_of_more_items_than_size_t_is_refused(void **state)
{
    (void)state;
    struct event_time time;
    assert_int_equal(launched(SIZE_MAX / 2, 4, 1, &time), STATUS_RANGE);
    assert_int_equal(fake.launches, 0);
}

static const struct fake_device coarse_device = {
    .name = "Coarse",
    .extensions = "",
    .type = CL_DEVICE_TYPE_GPU,
    .align_bits = 4096,
    .max_alloc_bytes = 1u << 20,
    .local_bytes = 65536,
};

static void dump_begins_its_sub_buffer_where_the_device_allows(void **state)
{
    (void)state;
    const struct fake_platform platform = {"Coarse", &coarse_device, 1, CL_SUCCESS};
    fake.platforms = &platform;
    fake.sub_buffer_align = 512;
    struct device *device = fake_opencl_open();
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = {
        .pes = 3, .pool_bytes = 1000, .guard_bytes = 640, .shift_bytes = 128};
    unsigned char bytes[1000];
    assert_int_equal(pe_arenas_create(device, shape, &arenas), STATUS_OK);
    assert_int_equal(arenas->shape.stride_bytes, 2048);
    for (size_t pe = 0; pe < 3; ++pe) {
        assert_int_equal(pe_arenas_dump(arenas, pe, 0, 1000, bytes), STATUS_OK);
    }
    assert_int_equal(fake.misplaced, 0);
    pe_arenas_destroy(arenas);
    device_close(device);
}

static void arenas_above_the_limit_are_refused_before_any_call(void **state)
{
    (void)state;
    const struct fake_platform platform = {"Coarse", &coarse_device, 1, CL_SUCCESS};
    fake.platforms = &platform;
    struct device *device = fake_opencl_open();
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = {.pes = 2, .pool_bytes = 1u << 19, .guard_bytes = 128};
    size_t calls = fake.calls;
    assert_int_equal(pe_arenas_create(device, shape, &arenas), STATUS_NO_SPACE);
    assert_null(arenas);
    assert_int_equal(fake.calls, calls);
    device_close(device);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, start, fake_opencl_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(call_that_fails_is_reported_and_leaks_nothing),
        TEST(buffer_above_the_limit_is_refused_before_any_call),
        TEST(buffer_of_no_bytes_has_one),
        TEST(program_of_equal_texts_is_built_once),
        TEST(program_with_other_options_is_another),
        TEST(program_with_relaxed_arithmetic_is_misuse),
        TEST(program_that_fails_is_tried_again),
        TEST(build_log_with_an_error_gives_no_hint_of_the_cache),
        TEST(build_log_without_an_error_hints_at_the_cache),
        TEST(build_without_a_log_hints_at_the_cache),
        TEST(launch_takes_the_times_of_device_and_host),
        TEST(launch_of_several_takes_the_span_of_all),
        TEST(launch_with_reversed_stamps_has_no_event_time),
        TEST(launch_with_stamps_refused_has_no_event_time),
        TEST(launch_that_ended_badly_is_a_failure),
        TEST(launch_above_the_kernels_work_group_is_refused),
        TEST(launch_above_the_devices_work_group_is_refused),
        TEST(launch_above_the_local_memory_is_refused),
        TEST(local_argument_up_to_what_the_device_has_is_set),
        TEST(local_argument_that_the_driver_refuses_is_a_failure),
        TEST(launch_of_nothing_is_misuse),
        TEST(launch_of_more_items_than_size_t_is_refused),
        TEST(dump_begins_its_sub_buffer_where_the_device_allows),
        TEST(arenas_above_the_limit_are_refused_before_any_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
