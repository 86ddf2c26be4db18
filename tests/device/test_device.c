/* A real device: what is known of it, its buffers, and launches. */
#include "host/device/build.h"
#include "host/device/launch.h"
#include "tests/device/device_case.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 1000, OPTIONS_BYTES = 64 };

/* add: adds 1 to each item's number. shared: needs BYTES of local memory and those of `extra`. */
static const char source[] =
    "__kernel void add(__global uint *numbers) { numbers[get_global_id(0)] += 1; }\n"
    "#ifndef BYTES\n"
    "#define BYTES 4\n"
    "#endif\n"
    "__kernel void shared(__global uint *numbers, __local uchar *extra) {\n"
    "    __local uchar own[BYTES];\n"
    "    own[get_local_id(0)] = 1;\n"
    "    extra[get_local_id(0)] = 2;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    numbers[get_global_id(0)] = own[0] + extra[0];\n"
    "}\n";

static void device_is_listed_with_usable_limits(void **state)
{
    const struct device *device = *state;
    const struct device_info *info = &device->info;
    assert_true(info->available);
    assert_true(strlen(info->name) > 0);
    assert_true(strlen(info->platform_name) > 0);
    assert_true(strncmp(info->version, "OpenCL ", 7) == 0);
    assert_true(info->compute_units >= 1);
    assert_true(info->max_work_group_size >= 1);
    assert_true(info->base_align_bytes >= 128); /* long16, for every full-profile device */
    assert_true(info->max_alloc_bytes >= info->global_bytes / 64);
    assert_true(info->local_bytes >= 32768);
}

static void buffer_keeps_its_contents(void **state)
{
    struct device *device = *state;
    const unsigned char contents[] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char read[4] = {0};
    cl_mem buffer = NULL;
    DEVICE_OK(device_buffer(device, CL_MEM_READ_ONLY, sizeof contents, contents, &buffer));
    DEVICE_OK(device_read(device, buffer, 3, sizeof read, read));
    assert_memory_equal(read, contents + 3, sizeof read);
    (void)clReleaseMemObject(buffer);
}

static void buffer_write_changes_its_range_alone(void **state)
{
    struct device *device = *state;
    const unsigned char contents[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const unsigned char expected[] = {1, 2, 9, 9, 5, 6, 7, 8};
    unsigned char read[sizeof contents] = {0};
    cl_mem buffer = NULL;
    DEVICE_OK(device_buffer(device, CL_MEM_READ_WRITE, sizeof contents, contents, &buffer));
    DEVICE_OK(device_write(device, buffer, 2, 2, "\t\t"));
    DEVICE_OK(device_write(device, buffer, 0, 0, NULL));
    DEVICE_OK(device_read(device, buffer, 0, sizeof read, read));
    assert_memory_equal(read, expected, sizeof read);
    (void)clReleaseMemObject(buffer);
}

static void buffer_read_past_its_end_fails(void **state)
{
    struct device *device = *state;
    unsigned char read[16];
    cl_mem buffer = NULL;
    DEVICE_OK(device_buffer(device, CL_MEM_READ_WRITE, 8, NULL, &buffer));
    assert_int_equal(device_read(device, buffer, 4, 5, read), STATUS_OPENCL);
    assert_int_equal(status_last()->code, CL_INVALID_VALUE);
    (void)clReleaseMemObject(buffer);
}

static void buffer_above_the_largest_allocation_is_refused(void **state)
{
    struct device *device = *state;
    cl_mem buffer = NULL;
    assert_int_equal(device_buffer(device, 0, device->info.max_alloc_bytes + 1, NULL, &buffer),
                     STATUS_NO_SPACE);
    assert_null(buffer);
}

/* COUNT numbers, all 5. */
static cl_mem numbers_of(struct device *device)
{
    cl_uint numbers[COUNT];
    cl_mem buffer = NULL;
    for (size_t i = 0; i < COUNT; ++i) {
        numbers[i] = 5;
    }
    DEVICE_OK(device_buffer(device, CL_MEM_READ_WRITE, sizeof numbers, numbers, &buffer));
    return buffer;
}

static void launch_runs_every_item_every_time(void **state)
{
    struct device *device = *state;
    struct event_time time;
    cl_uint numbers[COUNT];
    cl_kernel kernel = NULL;
    cl_mem buffer = numbers_of(device);
    DEVICE_OK(build_kernel(device, source, "", "add", &kernel));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    DEVICE_OK(launch_kernel(device, kernel, COUNT / 8, 8, 3, &time));
    DEVICE_OK(device_read(device, buffer, 0, sizeof numbers, numbers));
    for (size_t i = 0; i < COUNT; ++i) {
        assert_int_equal(numbers[i], 8);
    }
    (void)clReleaseKernel(kernel);
    (void)clReleaseMemObject(buffer);
}

static void launch_time_of_the_device_lies_within_the_hosts(void **state)
{
    struct device *device = *state;
    struct event_time time;
    cl_kernel kernel = NULL;
    cl_mem buffer = numbers_of(device);
    DEVICE_OK(build_kernel(device, source, "", "add", &kernel));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    DEVICE_OK(launch_kernel(device, kernel, COUNT / 8, 8, 100, &time));
    assert_true(time.host_ns > 0);
    if (time.sane) {
        /* The stamps are at most one tick of the device's timer off at either end. */
        assert_true(time.event_ns > 0);
        assert_true(time.event_ns <= time.host_ns + 2.0 * (double)device->info.timer_resolution_ns);
    }
    (void)clReleaseKernel(kernel);
    (void)clReleaseMemObject(buffer);
}

static void launch_without_its_argument_fails(void **state)
{
    struct device *device = *state;
    struct event_time time;
    cl_kernel kernel = NULL;
    DEVICE_OK(build_kernel(device, source, "", "add", &kernel));
    assert_int_equal(launch_kernel(device, kernel, 1, 1, 1, &time), STATUS_OPENCL);
    assert_int_equal(status_last()->code, CL_INVALID_KERNEL_ARGS);
    (void)clReleaseKernel(kernel);
}

static void launch_above_the_work_group_limit_is_refused(void **state)
{
    struct device *device = *state;
    struct event_time time;
    cl_kernel kernel = NULL;
    size_t items = 0;
    size_t bytes = 0;
    DEVICE_OK(build_kernel(device, source, "", "add", &kernel));
    DEVICE_OK(build_kernel_limits(device, kernel, &items, &bytes));
    assert_int_equal(launch_kernel(device, kernel, 1, items + 1, 1, &time), STATUS_BAD_INPUT);
    (void)clReleaseKernel(kernel);
}

/* Launches `shared` with `own` bytes in the kernel and `extra` in its argument. */
static enum status launch_shared(struct device *device, size_t own, size_t extra)
{
    struct event_time time;
    char options[OPTIONS_BYTES];
    cl_kernel kernel = NULL;
    cl_mem buffer = numbers_of(device);
    (void)snprintf(options, sizeof options, "-D BYTES=%zu", own);
    DEVICE_OK(build_kernel(device, source, options, "shared", &kernel));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    enum status status = launch_local_argument(device, kernel, 1, extra, own);
    if (status == STATUS_OK) {
        status = launch_kernel(device, kernel, 2, 4, 1, &time);
    }
    (void)clReleaseKernel(kernel);
    (void)clReleaseMemObject(buffer);
    return status;
}

static void launch_within_the_local_memory_runs(void **state)
{
    assert_int_equal(launch_shared(*state, 1024, 1024), STATUS_OK);
}

/* Drivers may end the process on it instead of refusing it. */
static void launch_with_too_large_a_local_argument_is_refused(void **state)
{
    struct device *device = *state;
    assert_int_equal(launch_shared(device, 1024, device->info.local_bytes), STATUS_NO_SPACE);
    assert_non_null(strstr(status_last()->why, "local memory"));
}

#define TEST(name_) cmocka_unit_test_setup(name_, device_case_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(device_is_listed_with_usable_limits),
        TEST(buffer_keeps_its_contents),
        TEST(buffer_write_changes_its_range_alone),
        TEST(buffer_read_past_its_end_fails),
        TEST(buffer_above_the_largest_allocation_is_refused),
        TEST(launch_runs_every_item_every_time),
        TEST(launch_time_of_the_device_lies_within_the_hosts),
        TEST(launch_without_its_argument_fails),
        TEST(launch_above_the_work_group_limit_is_refused),
        TEST(launch_within_the_local_memory_runs),
        TEST(launch_with_too_large_a_local_argument_is_refused),
    };
    return cmocka_run_group_tests(tests, device_case_open, device_case_close);
}
