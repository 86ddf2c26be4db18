/* Lists of counts: what is taken, in which order, and what is refused. */
#include "host/app/ranges.h"

#include "tests/unit/unit.h"

#include <string.h>

static void expect(const char *text, const size_t *values, size_t count)
{
    struct ranges ranges = {0};

    status_clear();
    assert_int_equal(ranges_parse("--tiles", text, 1, &ranges), STATUS_OK);
    assert_int_equal(ranges.count, count);
    assert_memory_equal(ranges.values, values, count * sizeof *values);
    ranges_fini(&ranges);
}

static void refuse(const char *text, const char *reason)
{
    struct ranges ranges = {0};

    status_clear();
    assert_int_equal(ranges_parse("--tiles", text, 1, &ranges), STATUS_BAD_INPUT);
    assert_string_equal(status_last()->what, "--tiles");
    assert_non_null(strstr(status_last()->why, reason));
    assert_null(ranges.values);
    assert_int_equal(ranges.count, 0);
    status_clear();
}

#define EXPECT(text_, ...)                                                                         \
    do {                                                                                           \
        const size_t values_[] = {__VA_ARGS__};                                                    \
        expect((text_), values_, sizeof values_ / sizeof values_[0]);                              \
    } while (0)

static void parse_single_values_order_kept(void **state)
{
    (void)state;
    EXPECT("7", 7);
    EXPECT("16,1,17", 16, 1, 17);
    EXPECT("18446744073709551615", 18446744073709551615U);
}

static void parse_factor_range_end_included_only_if_hit(void **state)
{
    (void)state;
    EXPECT("4:64:x2", 4, 8, 16, 32, 64);
    EXPECT("1:10:x2", 1, 2, 4, 8);
    EXPECT("3:3:x2", 3);
}

static void parse_step_range_end_included_only_if_hit(void **state)
{
    (void)state;
    EXPECT("1:4", 1, 2, 3, 4);
    EXPECT("1:9:+4", 1, 5, 9);
    EXPECT("1:10:+4", 1, 5, 9);
    EXPECT("5:5", 5);
}

static void parse_duplicates_removed_first_place_kept(void **state)
{
    (void)state;
    EXPECT("1,2,4:64:x2,17", 1, 2, 4, 8, 16, 32, 64, 17);
    EXPECT("8,1:8:x2,8", 8, 1, 2, 4);
}

static void parse_range_at_top_of_type_does_not_wrap(void **state)
{
    (void)state;
    EXPECT("18446744073709551614:18446744073709551615", 18446744073709551614U,
           18446744073709551615U);
    EXPECT("9223372036854775808:18446744073709551615:x2", 9223372036854775808U);
    EXPECT("1:18446744073709551615:+18446744073709551615", 1);
}

static void parse_nothing_refused(void **state)
{
    (void)state;
    refuse("", "empty");
    refuse(",", "nothing");
    refuse("1,", "nothing");
    refuse(",1", "nothing");
    refuse("1,,2", "nothing");
}

static void parse_no_number_refused(void **state)
{
    (void)state;
    refuse("x", "'x'");
    refuse("-1", "'-1'");
    refuse("+1", "'+1'");
    refuse("1.5", "'1.5'");
    refuse(" 1", "' 1'");
    refuse("1:", "''");
    refuse(":4", "''");
    refuse("99999999999999999999", "too large (at most 18446744073709551615)");
    refuse("1:99999999999999999999", "too large");
}

static void parse_below_minimum_refused(void **state)
{
    (void)state;
    refuse("0", "least");
    refuse("1,0", "least");
    refuse("0:4", "least");
}

static void parse_range_that_never_ends_refused(void **state)
{
    (void)state;
    refuse("1:8:x1", "never ends");
    refuse("1:8:x0", "never ends");
    refuse("1:8:+0", "never ends");
    refuse("1:8:2", "not a step");
    refuse("1:8:*2", "not a step");
    refuse("1:8:x", "not a step");
    refuse("1:8:x2:x2", "not a step");
    refuse("8:1", "backwards");
}

static void parse_too_many_values_refused(void **state)
{
    struct ranges ranges = {0};

    (void)state;
    assert_int_equal(ranges_parse("--tiles", "1:10000", 1, &ranges), STATUS_OK);
    assert_int_equal(ranges.count, RANGES_MAX);
    ranges_fini(&ranges);
    refuse("1:10001", "10000");
    refuse("1:18446744073709551615", "10000");
}

static void parse_zero_with_minimum_zero_taken_but_not_by_factor(void **state)
{
    struct ranges ranges = {0};

    (void)state;
    assert_int_equal(ranges_parse("--n", "0:2", 0, &ranges), STATUS_OK);
    assert_int_equal(ranges.count, 3);
    status_clear();
    assert_int_equal(ranges_parse("--n", "0:8:x2", 0, &ranges), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "factor"));
    status_clear();
    ranges_fini(&ranges);
}

static void parse_again_replaces_the_values(void **state)
{
    struct ranges ranges = {0};

    (void)state;
    assert_int_equal(ranges_parse("--n", "1,2,3", 1, &ranges), STATUS_OK);
    assert_int_equal(ranges_parse("--n", "9", 1, &ranges), STATUS_OK);
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.values[0], 9);
    ranges_fini(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_single_values_order_kept),
        cmocka_unit_test(parse_factor_range_end_included_only_if_hit),
        cmocka_unit_test(parse_step_range_end_included_only_if_hit),
        cmocka_unit_test(parse_duplicates_removed_first_place_kept),
        cmocka_unit_test(parse_range_at_top_of_type_does_not_wrap),
        cmocka_unit_test(parse_nothing_refused),
        cmocka_unit_test(parse_no_number_refused),
        cmocka_unit_test(parse_below_minimum_refused),
        cmocka_unit_test(parse_range_that_never_ends_refused),
        cmocka_unit_test(parse_too_many_values_refused),
        cmocka_unit_test(parse_zero_with_minimum_zero_taken_but_not_by_factor),
        cmocka_unit_test(parse_again_replaces_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
