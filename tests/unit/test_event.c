/* What the stamps of an event are worth, and the host's clock. */
#include "host/device/event.h"
#include "tests/cmocka.h"

#include <math.h>

static void stamps_in_order_give_their_difference(void **state)
{
    (void)state;
    double ns = 0;
    assert_true(event_stamps_ns(1000, 2500, &ns));
    assert_true(ns == 1500.0);
}

static void stamps_of_the_largest_values_do_not_wrap(void **state)
{
    (void)state;
    double ns = 0;
    assert_true(event_stamps_ns(UINT64_MAX - 7, UINT64_MAX, &ns));
    assert_true(ns == 7.0);
}

static void refuse(cl_ulong start, cl_ulong end)
{
    double ns = 1.0;
    assert_false(event_stamps_ns(start, end, &ns));
    assert_true(isnan(ns));
}

static void stamps_both_zero_give_no_time(void **state)
{
    (void)state;
    refuse(0, 0);
}

static void stamps_start_zero_gives_no_time(void **state)
{
    (void)state;
    refuse(0, 2500);
}

static void stamps_end_zero_gives_no_time(void **state)
{
    (void)state;
    refuse(1000, 0);
}

static void stamps_equal_give_no_time(void **state)
{
    (void)state;
    refuse(1000, 1000);
}

static void stamps_reversed_give_no_time(void **state)
{
    (void)state;
    refuse(2500, 1000);
}

static void clock_later_reading_is_not_smaller(void **state)
{
    (void)state;
    uint64_t first = event_clock_ns();
    uint64_t second = event_clock_ns();
    assert_true(first > 0);
    assert_true(second >= first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_in_order_give_their_difference),
        cmocka_unit_test(stamps_of_the_largest_values_do_not_wrap),
        cmocka_unit_test(stamps_both_zero_give_no_time),
        cmocka_unit_test(stamps_start_zero_gives_no_time),
        cmocka_unit_test(stamps_end_zero_gives_no_time),
        cmocka_unit_test(stamps_equal_give_no_time),
        cmocka_unit_test(stamps_reversed_give_no_time),
        cmocka_unit_test(clock_later_reading_is_not_smaller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
