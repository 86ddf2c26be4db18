#include "tests/unit/unit.h"

#include "host/base/size.h"
#include "host/scratch/line_set.h"
#include "tests/unit/fail_alloc.h"
#include "tests/unit/random.h"

static void add(struct line_set *set, size_t first, size_t end)
{
    assert_ok(line_set_add(set, first, end));
    assert_true(line_set_is_valid(set));
}

static void add_counts_each_line_once(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    assert_int_equal(0, line_set_count(&set));
    add(&set, 0, 4);
    add(&set, 2, 6);
    add(&set, 5, 6);
    assert_int_equal(6, line_set_count(&set));
    assert_int_equal(1, set.count);
    line_set_fini(&set);
}

static void add_between_ranges_joins_them(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    add(&set, 10, 12);
    add(&set, 0, 2);
    add(&set, 20, 22);
    assert_int_equal(3, set.count);
    add(&set, 2, 10);
    assert_int_equal(2, set.count);
    assert_int_equal(14, line_set_count(&set));
    add(&set, 0, 30);
    assert_int_equal(1, set.count);
    assert_int_equal(30, line_set_count(&set));
    line_set_fini(&set);
}

static void add_of_no_lines_changes_nothing(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    add(&set, 5, 5);
    add(&set, 7, 3);
    assert_int_equal(0, set.count);
    line_set_settle(&set, 100);
    assert_int_equal(0, line_set_count(&set));
    line_set_fini(&set);
}

static void settle_forgets_ranges_and_keeps_the_count(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    add(&set, 0, 10);
    add(&set, 20, 30);
    line_set_settle(&set, 25);
    assert_true(line_set_is_valid(&set));
    assert_int_equal(1, set.count);
    assert_int_equal(20, line_set_count(&set));
    add(&set, 25, 31);
    assert_int_equal(21, line_set_count(&set));
    line_set_fini(&set);
}

static void settle_as_it_grows_keeps_the_set_small(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    for (size_t i = 0; i < 100000; i++) {
        add(&set, 3 * i, 3 * i + 2);
        line_set_settle(&set, 3 * i + 2);
    }
    assert_int_equal(200000, line_set_count(&set));
    assert_true(set.capacity <= 8);
    line_set_fini(&set);
}

static void add_without_memory_changes_nothing(void **state)
{
    (void)state;
    struct line_set set;
    line_set_init(&set);
    for (size_t i = 0; i < 8; i++) {
        add(&set, 3 * i, 3 * i + 1);
    }
    fail_alloc_on(1);
    assert_status(STATUS_NO_MEMORY, line_set_add(&set, 100, 101));
    fail_alloc_on(0);
    assert_int_equal(8, line_set_count(&set));
    assert_true(line_set_is_valid(&set));
    line_set_fini(&set);
}

static void is_valid_sees_ranges_out_of_order(void **state)
{
    (void)state;
    struct line_range ranges[] = {{4, 6}, {0, 2}};
    struct line_set set = {.ranges = ranges, .count = 2, .capacity = 2};
    assert_false(line_set_is_valid(&set));
    ranges[1] = (struct line_range){6, 8};
    assert_false(line_set_is_valid(&set));
    ranges[1] = (struct line_range){7, 8};
    assert_true(line_set_is_valid(&set));
    ranges[1].end = 7;
    assert_false(line_set_is_valid(&set));
}

enum { LINES = 200 };

static void random_adds_and_settles_match_a_bitmap(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random random = {seed};
        bool map[LINES] = {false};
        size_t count = 0;
        size_t floor = 0;
        struct line_set set;
        line_set_init(&set);
        for (int i = 0; i < 60; i++) {
            size_t first = floor + random_below(&random, LINES - floor);
            size_t end = first + random_below(&random, size_min(LINES - first, 12) + 1);
            add(&set, first, end);
            for (size_t line = first; line < end; line++) {
                count += map[line] ? 0 : 1;
                map[line] = true;
            }
            if (random_below(&random, 8) == 0) {
                floor = size_min(floor + random_below(&random, 9), LINES - 1);
                line_set_settle(&set, floor);
                assert_true(line_set_is_valid(&set));
            }
            assert_int_equal(count, line_set_count(&set));
        }
        line_set_fini(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(add_counts_each_line_once),
        unit_test_clean(add_between_ranges_joins_them),
        unit_test_clean(add_of_no_lines_changes_nothing),
        unit_test_clean(settle_forgets_ranges_and_keeps_the_count),
        unit_test_clean(settle_as_it_grows_keeps_the_set_small),
        unit_test_clean(add_without_memory_changes_nothing),
        unit_test_clean(is_valid_sees_ranges_out_of_order),
        unit_test_clean(random_adds_and_settles_match_a_bitmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
