/* Event time against host time: of launches made up here, and of a device whose stamps are faked.
 */
#include "bench/clocks.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "tests/cmocka.h"
#include "tests/unit/fake_opencl.h"

#include <math.h>

static struct clocks clocks;

static int start(void **state)
{
    (void)state;
    status_clear();
    fake_opencl_reset();
    clocks = (struct clocks){.stride = 0};
    return 0;
}

/* Launches of a millisecond and more. */
static void add(double event_ms, double host_ms, size_t count)
{
    const struct event_time time = {
        .event_ns = event_ms * 1e6, .host_ns = host_ms * 1e6, .sane = true};
    for (size_t i = 0; i < count; i++) {
        clocks_add(&clocks, &time);
    }
}

static void clocks_that_tell_the_same_agree(void **state)
{
    (void)state;
    add(1.9, 2.0, 3);
    const struct clocks_verdict verdict = clocks_judge(&clocks);
    assert_true(verdict.known && verdict.agree);
    assert_true(fabs(verdict.ratio - 0.95) < 1e-12);
}

static void clock_that_runs_at_another_rate_does_not_agree(void **state)
{
    (void)state;
    static const double event_ms[] = {1.7, 2.3, 2000.0, 0.002};
    for (size_t i = 0; i < sizeof event_ms / sizeof event_ms[0]; i++) {
        clocks = (struct clocks){.stride = 0};
        add(event_ms[i], 2.0, 1);
        const struct clocks_verdict verdict = clocks_judge(&clocks);
        assert_true(verdict.known);
        assert_false(verdict.agree);
    }
}

static void clocks_of_short_launches_are_not_compared(void **state)
{
    (void)state;
    add(0.3, 0.9, 5);
    const struct clocks_verdict verdict = clocks_judge(&clocks);
    assert_false(verdict.known || verdict.agree);
    assert_true(fabs(verdict.ratio - 1.0 / 3.0) < 1e-12);
}

static void clocks_go_by_the_median_launch(void **state)
{
    (void)state;
    add(2.0, 2.0, 3);
    add(0.1, 2.0, 2); /* the host was put aside */
    assert_true(clocks_judge(&clocks).agree);
}

static void launches_without_sane_stamps_do_not_count(void **state)
{
    (void)state;
    const struct event_time bad = {.event_ns = (double)NAN, .host_ns = 2e6, .sane = false};
    clocks_add(&clocks, &bad);
    const struct clocks_verdict none = clocks_judge(&clocks);
    assert_true(isnan(none.ratio));
    assert_false(none.known || none.agree);
    add(2.0, 2.0, 1);
    assert_true(clocks_judge(&clocks).agree);
}

/* The second half of a long run weighs as much as the first. */
static void many_launches_are_kept_evenly(void **state)
{
    (void)state;
    add(2.0, 2.0, 3 * CLOCKS_SAMPLES);
    add(1.0, 2.0, 3 * CLOCKS_SAMPLES + 8);
    assert_true(clocks.count <= CLOCKS_SAMPLES && clocks.count > CLOCKS_SAMPLES / 2);
    size_t early = 0;
    for (size_t i = 0; i < clocks.count; i++) {
        early += clocks.ratios[i] > 0.75 ? 1 : 0;
    }
    assert_int_equal(early, 3 * CLOCKS_SAMPLES / clocks.stride);
    assert_true(fabs(clocks_judge(&clocks).ratio - 0.5) < 1e-12);
}

/* ---- A device ---- */

static struct event_time launch(cl_ulong start_ns, cl_ulong end_ns)
{
    struct device_list list;
    struct device *device = NULL;
    cl_kernel kernel = NULL;
    struct event_time time;
    fake.stamps[0] = start_ns;
    fake.stamps[1] = end_ns;
    fake.finish_ns = 2000000;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    assert_int_equal(device_open(&list.devices[0], &device), STATUS_OK);
    assert_int_equal(build_kernel(device, "__kernel void k(void) {}", "", "k", &kernel), STATUS_OK);
    assert_int_equal(launch_kernel(device, kernel, 1, 1, 1, &time), STATUS_OK);
    (void)clReleaseKernel(kernel);
    device_close(device);
    device_list_fini(&list);
    return time;
}

/* Its launch takes 2 ms and more; that is no limit on how much more. */
static void device_that_counts_microseconds_is_found_out(void **state)
{
    (void)state;
    struct event_time time = launch(1000, 3000);
    clocks_add(&clocks, &time);
    const struct clocks_verdict verdict = clocks_judge(&clocks);
    assert_true(verdict.known);
    assert_false(verdict.agree);
    assert_true(verdict.ratio < 0.01);
}

static void device_with_reversed_stamps_says_nothing(void **state)
{
    (void)state;
    struct event_time time = launch(3000, 1000);
    clocks_add(&clocks, &time);
    assert_true(isnan(clocks_judge(&clocks).ratio));
}

#define TEST(name_) cmocka_unit_test_setup(name_, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(clocks_that_tell_the_same_agree),
        TEST(clock_that_runs_at_another_rate_does_not_agree),
        TEST(clocks_of_short_launches_are_not_compared),
        TEST(clocks_go_by_the_median_launch),
        TEST(launches_without_sane_stamps_do_not_count),
        TEST(many_launches_are_kept_evenly),
        TEST(device_that_counts_microseconds_is_found_out),
        TEST(device_with_reversed_stamps_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
