#include "tests/unit/unit.h"

#include "host/base/size.h"

static void add_up_to_the_limit_fits(void **state)
{
    (void)state;
    size_t out;
    assert_true(size_add(SIZE_MAX - 1, 1, &out));
    assert_int_equal(SIZE_MAX, out);
    assert_true(size_add(0, SIZE_MAX, &out));
    assert_int_equal(SIZE_MAX, out);
}

static void add_that_wraps_is_refused(void **state)
{
    (void)state;
    size_t out = 7;
    assert_false(size_add(SIZE_MAX, 1, &out));
    assert_int_equal(0, out);
    assert_false(size_add(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, &out));
}

static void mul_up_to_the_limit_fits(void **state)
{
    (void)state;
    size_t out;
    assert_true(size_mul(SIZE_MAX, 1, &out));
    assert_int_equal(SIZE_MAX, out);
    assert_true(size_mul(0, SIZE_MAX, &out));
    assert_int_equal(0, out);
    assert_true(size_mul(SIZE_MAX, 0, &out));
    assert_int_equal(0, out);
    assert_true(size_mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &out));
    assert_int_equal(0xFFFFFFFF00000000U, out);
}

static void mul_that_wraps_is_refused(void **state)
{
    (void)state;
    size_t out = 7;
    assert_false(size_mul((size_t)1 << 32, (size_t)1 << 32, &out));
    assert_int_equal(0, out);
    assert_false(size_mul(SIZE_MAX, 2, &out));
    assert_false(size_mul(3, SIZE_MAX / 3 + 1, &out));
}

static void align_up_takes_any_alignment(void **state)
{
    (void)state;
    static const size_t cases[][3] = {
        {0, 128, 0},   {1, 128, 128}, {128, 128, 128}, {129, 128, 256},
        {65, 64, 128}, {7, 1, 7},     {10, 6, 12},     {12, 6, 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t out;
        assert_true(size_align_up(cases[i][0], cases[i][1], &out));
        assert_int_equal(cases[i][2], out);
    }
}

static void align_up_at_the_limit_fits_or_is_refused(void **state)
{
    (void)state;
    size_t out;
    assert_true(size_align_up(SIZE_MAX - 127, 128, &out));
    assert_int_equal(SIZE_MAX - 127, out);
    assert_false(size_align_up(SIZE_MAX - 126, 128, &out));
    assert_int_equal(0, out);
    assert_false(size_align_up(SIZE_MAX, 2, &out));
    assert_true(size_align_up(SIZE_MAX, 1, &out));
    assert_int_equal(SIZE_MAX, out);
}

static void align_up_to_nothing_is_refused(void **state)
{
    (void)state;
    size_t out = 7;
    assert_false(size_align_up(5, 0, &out));
    assert_int_equal(0, out);
}

static void div_up_never_wraps(void **state)
{
    (void)state;
    assert_int_equal(0, size_div_up(0, 5));
    assert_int_equal(1, size_div_up(1, 5));
    assert_int_equal(1, size_div_up(5, 5));
    assert_int_equal(2, size_div_up(6, 5));
    assert_int_equal(SIZE_MAX / 2 + 1, size_div_up(SIZE_MAX, 2));
    assert_int_equal(SIZE_MAX, size_div_up(SIZE_MAX, 1));
}

static void min_and_max_take_one_of_the_two(void **state)
{
    (void)state;
    assert_int_equal(3, size_min(3, SIZE_MAX));
    assert_int_equal(3, size_min(SIZE_MAX, 3));
    assert_int_equal(SIZE_MAX, size_max(3, SIZE_MAX));
    assert_int_equal(SIZE_MAX, size_max(SIZE_MAX, 3));
}

static void is_power_of_two_knows_the_edges(void **state)
{
    (void)state;
    assert_false(size_is_power_of_two(0));
    assert_false(size_is_power_of_two(SIZE_MAX));
    assert_false(size_is_power_of_two(96));
    for (unsigned bit = 0; bit < sizeof(size_t) * 8; bit++) {
        assert_true(size_is_power_of_two((size_t)1 << bit));
    }
}

static void shape_equal_compares_rank_and_extents(void **state)
{
    (void)state;
    assert_true(shape_equal(shape_2d(32, 64), shape_2d(32, 64)));
    assert_false(shape_equal(shape_2d(32, 64), shape_2d(64, 32)));
    assert_false(shape_equal(shape_1d(32), shape_2d(32, 1)));
    assert_false(shape_equal(shape_1d(32), shape_1d(33)));
    assert_true(shape_equal((struct shape){0}, (struct shape){0}));
}

static void shape_equal_ignores_unused_extents(void **state)
{
    (void)state;
    struct shape dirty = {.rank = 1, .extent = {32, 99}};
    assert_true(shape_equal(dirty, shape_1d(32)));
}

static void shape_equal_of_a_rank_too_high_is_false(void **state)
{
    (void)state;
    struct shape bad = {.rank = SHAPE_MAX_RANK + 1};
    assert_false(shape_equal(bad, bad));
}

static void shape_elems_is_the_product(void **state)
{
    (void)state;
    size_t elems;
    assert_true(shape_elems((struct shape){0}, &elems));
    assert_int_equal(1, elems);
    assert_true(shape_elems(shape_1d(64), &elems));
    assert_int_equal(64, elems);
    assert_true(shape_elems((struct shape){.rank = 4, .extent = {2, 3, 5, 7}}, &elems));
    assert_int_equal(210, elems);
}

static void shape_elems_that_wrap_are_refused(void **state)
{
    (void)state;
    size_t elems = 7;
    assert_false(shape_elems(shape_2d(SIZE_MAX, 2), &elems));
    assert_int_equal(0, elems);
    assert_false(shape_elems((struct shape){.rank = SHAPE_MAX_RANK + 1}, &elems));
}

static void shape_elems_with_an_empty_extent_are_none(void **state)
{
    (void)state;
    size_t elems = 7;
    struct shape shape = {.rank = 3, .extent = {SIZE_MAX, SIZE_MAX, 0}};
    assert_true(shape_elems(shape, &elems));
    assert_int_equal(0, elems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_up_to_the_limit_fits),
        cmocka_unit_test(add_that_wraps_is_refused),
        cmocka_unit_test(mul_up_to_the_limit_fits),
        cmocka_unit_test(mul_that_wraps_is_refused),
        cmocka_unit_test(align_up_takes_any_alignment),
        cmocka_unit_test(align_up_at_the_limit_fits_or_is_refused),
        cmocka_unit_test(align_up_to_nothing_is_refused),
        cmocka_unit_test(div_up_never_wraps),
        cmocka_unit_test(min_and_max_take_one_of_the_two),
        cmocka_unit_test(is_power_of_two_knows_the_edges),
        cmocka_unit_test(shape_equal_compares_rank_and_extents),
        cmocka_unit_test(shape_equal_ignores_unused_extents),
        cmocka_unit_test(shape_equal_of_a_rank_too_high_is_false),
        cmocka_unit_test(shape_elems_is_the_product),
        cmocka_unit_test(shape_elems_that_wrap_are_refused),
        cmocka_unit_test(shape_elems_with_an_empty_extent_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
