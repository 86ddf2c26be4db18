/* The roofline's bound, by hand. */
#include "bench/roofline.h"
#include "tests/cmocka.h"

#include <math.h>

/* 100 GFLOP/s, and 20 GB/s of memory behind a cache of 50: the ridge is at 5 FLOP a byte. */
static const struct roofline roofline = {
    .pes = 2,
    .fma_gflops = 100.0,
    .reads = {{.bytes = 1 << 20, .level = 2, .gb_per_s = 50.0},
              {.bytes = 1 << 26, .level = 0, .gb_per_s = 20.0}},
    .read_count = 2,
};

static const double exact = 1e-12; /* a product and a quotient of small numbers */

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= exact)) {
        fail_msg("%.17g is not %.17g", value, expected);
    }
}

static void memory_is_the_last_of_the_reads(void **state)
{
    const struct roofline none = {.read_count = 0};

    (void)state;
    assert_near(roofline_memory_gb_per_s(&roofline), 20.0);
    assert_near(roofline_memory_gb_per_s(&none), 0.0);
}

static void bound_below_the_ridge_is_what_memory_feeds(void **state)
{
    (void)state;
    assert_near(roofline_bound_gflops(&roofline, 4.0, 1.0), 80.0);
    assert_near(roofline_bound_gflops(&roofline, 1e9, 4e9), 5.0);
}

static void bound_from_the_ridge_on_is_the_fma_peak(void **state)
{
    (void)state;
    assert_near(roofline_bound_gflops(&roofline, 5.0, 1.0), 100.0);
    assert_near(roofline_bound_gflops(&roofline, 6.0, 1.0), 100.0);
}

static void bound_without_bytes_is_the_fma_peak(void **state)
{
    (void)state;
    assert_near(roofline_bound_gflops(&roofline, 1.0, 0.0), 100.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_last_of_the_reads),
        cmocka_unit_test(bound_below_the_ridge_is_what_memory_feeds),
        cmocka_unit_test(bound_from_the_ridge_on_is_the_fma_peak),
        cmocka_unit_test(bound_without_bytes_is_the_fma_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
