/* Kernel programs built by a real compiler: logs, the cache, options, limits. */
#include "host/device/build.h"
#include "tests/device/device_case.h"

#include <string.h>

static const char source[] = "#ifndef N\n"
                             "#define N 64\n"
                             "#endif\n"
                             "__kernel void fill(__global uchar *out) {\n"
                             "    __local uchar shared[N];\n"
                             "    shared[get_local_id(0)] = N;\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    out[get_global_id(0)] = shared[0];\n"
                             "}\n";

static const char broken[] = "#line 41 \"mine.cl\"\n"
                             "__kernel void first(__global int *out) { out[0] = missing_name; }\n"
                             "__kernel void second(__global int *out) { out[0] = 1 + ; }\n";

static void program_that_does_not_compile_gives_the_whole_log(void **state)
{
    cl_program program = NULL;
    assert_int_equal(build_program(*state, broken, "", &program), STATUS_OPENCL);
    assert_null(program);
    assert_int_equal(status_last()->code, CL_BUILD_PROGRAM_FAILURE);
    const char *log = status_last()->detail;
    assert_non_null(log);
    assert_non_null(strstr(log, "missing_name"));
    assert_non_null(strstr(log, "expected expression"));
    assert_null(strstr(status_last()->hint, "POCL_CACHE_DIR"));
}

static void program_that_does_not_compile_is_named_with_its_lines(void **state)
{
    cl_program program = NULL;
    assert_int_equal(build_program(*state, broken, "", &program), STATUS_OPENCL);
    assert_non_null(strstr(status_last()->detail, "mine.cl:41:"));
    assert_non_null(strstr(status_last()->detail, "mine.cl:42:"));
}

static void program_is_built_once_and_timed(void **state)
{
    struct device *device = *state;
    cl_program first = NULL;
    cl_program second = NULL;
    size_t count = build_count(device);
    double seconds = build_seconds(device);
    DEVICE_OK(build_program(device, source, "-D N=3", &first));
    assert_int_equal(build_count(device), count + 1);
    assert_true(build_seconds(device) > seconds);
    seconds = build_seconds(device);
    DEVICE_OK(build_program(device, source, "-D N=3", &second));
    assert_ptr_equal(first, second);
    assert_int_equal(build_count(device), count + 1);
    assert_true(build_seconds(device) == seconds);
}

static void kernel_limits_tell_items_and_local_memory(void **state)
{
    struct device *device = *state;
    cl_kernel kernel = NULL;
    size_t items = 0;
    size_t bytes = 0;
    DEVICE_OK(build_kernel(device, source, "-D N=200", "fill", &kernel));
    DEVICE_OK(build_kernel_limits(device, kernel, &items, &bytes));
    assert_true(items >= 1);
    assert_true(bytes == 0 || (bytes >= 200 && bytes < 400)); /* 0: the driver does not tell */
    (void)clReleaseKernel(kernel);
}

static void kernel_of_an_unknown_name_fails_with_the_name(void **state)
{
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(*state, source, "", "no_such_kernel", &kernel), STATUS_OPENCL);
    assert_null(kernel);
    assert_int_equal(status_last()->code, CL_INVALID_KERNEL_NAME);
    assert_non_null(strstr(status_last()->why, "no_such_kernel"));
}

static void kernel_of_a_broken_program_fails(void **state)
{
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(*state, broken, "", "first", &kernel), STATUS_OPENCL);
    assert_null(kernel);
}

#define TEST(name_) cmocka_unit_test_setup(name_, device_case_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(program_that_does_not_compile_gives_the_whole_log),
        TEST(program_that_does_not_compile_is_named_with_its_lines),
        TEST(program_is_built_once_and_timed),
        TEST(kernel_limits_tell_items_and_local_memory),
        TEST(kernel_of_an_unknown_name_fails_with_the_name),
        TEST(kernel_of_a_broken_program_fails),
    };
    return cmocka_run_group_tests(tests, device_case_open, device_case_close);
}
