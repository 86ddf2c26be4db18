/* The roofline on a device: figures that can be, interruption, and that its kernels do all the work
 * that is counted. */
#include "bench/roofline.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "host/device/topology.h"
#include "kernels/kernels.h"
#include "tests/device/device_case.h"

#include <math.h>

enum { WIDTH = 4, CHAINS = 3, STREAMS = 2, GROUPS = 3, SLICE_VECTORS = 6 * STREAMS };

static const char options[] = "-DVECTOR_WIDTH=4 -DCHAINS=3 -DSTREAMS=2";

struct counter {
    size_t calls;
    size_t stop_at; /* the call that says so; 0 = none */
};

static bool count_down(void *user)
{
    struct counter *counter = user;
    return ++counter->calls == counter->stop_at;
}

static struct roofline_request request_of(const struct topology *topology, struct counter *counter)
{
    return (struct roofline_request){
        .topology = topology, .pes = 2, .interrupted = count_down, .user = counter};
}

static void figures_are_positive_and_finite(void **state)
{
    struct topology topology;
    struct counter counter = {0};
    struct roofline roofline;
    DEVICE_OK(topology_init(&topology));
    const struct roofline_request request = request_of(&topology, &counter);
    DEVICE_OK(roofline_measure(*state, &request, &roofline));
    assert_int_equal(roofline.pes, 2);
    assert_true(isfinite(roofline.fma_gflops) && roofline.fma_gflops > 0.0);
    assert_in_range(roofline.read_count, 1, ROOFLINE_MAX_SIZES);
    for (size_t i = 0; i < roofline.read_count; i++) {
        const struct roofline_read *read = &roofline.reads[i];
        assert_true(isfinite(read->gb_per_s) && read->gb_per_s > 0.0);
        assert_true(i == 0 || read->bytes > read[-1].bytes);
        assert_int_equal(read->level == 0, i + 1 == roofline.read_count);
    }
    assert_true(counter.calls > roofline.read_count); /* before every figure */
}

static void interruption_ends_it_between_figures(void **state)
{
    struct topology topology;
    DEVICE_OK(topology_init(&topology));
    for (size_t stop_at = 1; stop_at <= 3; stop_at++) {
        struct counter counter = {.stop_at = stop_at};
        const struct roofline_request request = request_of(&topology, &counter);
        struct roofline roofline;
        status_clear();
        assert_int_equal(roofline_measure(*state, &request, &roofline), STATUS_INTERRUPTED);
        assert_int_equal(counter.calls, stop_at);
        assert_int_equal(roofline.read_count, 0);
        assert_true(roofline.fma_gflops == 0.0);
    }
}

/* With a = b = 1 each step adds 1: a lane of chain i ends at its work-item + i + steps. Whole
 * numbers far below 2^24: exact in f32. */
static void every_multiply_add_counts(void **state)
{
    struct device *device = *state;
    const cl_ulong steps = 1000;
    const float one = 1.0F;
    cl_kernel kernel = NULL;
    cl_mem out = NULL;
    float sums[GROUPS];
    struct event_time time;
    DEVICE_OK(build_kernel(device, kernels_roofline, options, "fma_peak", &kernel));
    DEVICE_OK(device_buffer(device, CL_MEM_WRITE_ONLY, sizeof sums, NULL, &out));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof steps, &steps), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof one, &one), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof one, &one), CL_SUCCESS);
    DEVICE_OK(launch_kernel(device, kernel, GROUPS, 1, 1, &time));
    DEVICE_OK(device_read(device, out, 0, sizeof sums, sums));
    for (size_t item = 0; item < GROUPS; item++) {
        size_t chain = item + (size_t)steps;
        assert_int_equal((size_t)sums[item], WIDTH * (CHAINS * chain + CHAINS * (CHAINS - 1) / 2));
    }
    (void)clReleaseMemObject(out);
    (void)clReleaseKernel(kernel);
}

/* data[i] = i: a group's slice has a sum of its own. Whole numbers below 2^24: exact in f32. */
static void every_pass_reads_the_whole_slice(void **state)
{
    enum { SLICE = SLICE_VECTORS * WIDTH };
    struct device *device = *state;
    const cl_ulong vectors = SLICE_VECTORS, passes = 3;
    float data[GROUPS * SLICE], sums[GROUPS];
    cl_kernel kernel = NULL;
    cl_mem in = NULL, out = NULL;
    struct event_time time;
    for (size_t i = 0; i < GROUPS * SLICE; i++) {
        data[i] = (float)i;
    }
    DEVICE_OK(build_kernel(device, kernels_roofline, options, "read_peak", &kernel));
    DEVICE_OK(device_buffer(device, CL_MEM_READ_ONLY, sizeof data, data, &in));
    DEVICE_OK(device_buffer(device, CL_MEM_WRITE_ONLY, sizeof sums, NULL, &out));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof in, &in), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof vectors, &vectors), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof passes, &passes), CL_SUCCESS);
    DEVICE_OK(launch_kernel(device, kernel, GROUPS, 1, 1, &time));
    DEVICE_OK(device_read(device, out, 0, sizeof sums, sums));
    for (size_t group = 0; group < GROUPS; group++) {
        size_t slice = SLICE * (group * SLICE) + SLICE * (SLICE - 1) / 2;
        assert_int_equal((size_t)sums[group], passes * slice + passes);
    }
    (void)clReleaseMemObject(in);
    (void)clReleaseMemObject(out);
    (void)clReleaseKernel(kernel);
}

/* A probe does known work in a measured time: figures within two orders of the roofline's, which
 * tells a wrong count of passes or steps, and no more on a busy machine. It never lowers one. */
static void probe_gives_the_figures_again(void **state)
{
    struct device *device = *state;
    struct topology topology;
    struct roofline roofline;
    struct roofline_probe *probe = NULL;
    struct roofline_peaks peaks = {.fma_gflops = NAN, .memory_gb_per_s = 1e9};
    DEVICE_OK(topology_init(&topology));
    const struct roofline_request request = {.topology = &topology, .pes = 2};
    DEVICE_OK(roofline_measure(device, &request, &roofline));
    DEVICE_OK(roofline_probe_create(device, &roofline, &probe));
    DEVICE_OK(roofline_probe_run(probe, &peaks));
    assert_true(peaks.fma_gflops > roofline.fma_gflops / 100.0);
    assert_true(peaks.fma_gflops < roofline.fma_gflops * 100.0);
    assert_true(peaks.memory_gb_per_s == 1e9);
    roofline_probe_destroy(probe);
    roofline.read_count = 0;
    assert_int_equal(roofline_probe_create(device, &roofline, &probe), STATUS_MISUSE);
    assert_null(probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(figures_are_positive_and_finite, device_case_clear),
        cmocka_unit_test_setup(interruption_ends_it_between_figures, device_case_clear),
        cmocka_unit_test_setup(probe_gives_the_figures_again, device_case_clear),
        cmocka_unit_test_setup(every_multiply_add_counts, device_case_clear),
        cmocka_unit_test_setup(every_pass_reads_the_whole_slice, device_case_clear),
    };
    return cmocka_run_group_tests(tests, device_case_open, device_case_close);
}
