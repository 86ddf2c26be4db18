/* Where the arenas of the PEs lie in their buffer.
 *
 *     | shift |  pool of PE i  |  rest of the guard |  PE i + 1 ...
 */
#include "host/device/pe_arenas.h"
#include "tests/cmocka.h"

#include <string.h>

enum { MIB = 1048576 };

static int clear_record(void **state)
{
    (void)state;
    status_clear();
    return 0;
}

static struct pe_arenas_shape shape_of(size_t pes, size_t pool, size_t guard, size_t shift)
{
    return (struct pe_arenas_shape){
        .pes = pes, .pool_bytes = pool, .guard_bytes = guard, .shift_bytes = shift};
}

static void laid_out(struct pe_arenas_shape shape, size_t align, size_t stride, size_t total)
{
    assert_int_equal(pe_arenas_layout(align, SIZE_MAX, &shape), STATUS_OK);
    assert_int_equal(shape.stride_bytes, stride);
    assert_int_equal(shape.total_bytes, total);
}

static void refused(struct pe_arenas_shape shape, enum status expected)
{
    assert_int_equal(pe_arenas_layout(128, SIZE_MAX, &shape), expected);
    assert_int_equal(shape.stride_bytes, 0);
    assert_int_equal(shape.total_bytes, 0);
}

static void stride_is_pool_and_guard(void **state)
{
    (void)state;
    laid_out(shape_of(2, MIB, 8192, 0), 128, MIB + 8192, 2 * (MIB + 8192));
}

static void stride_of_an_odd_pool_is_whole_lines(void **state)
{
    (void)state;
    laid_out(shape_of(3, 1000, 128, 0), 128, 1152, 3456);
    laid_out(shape_of(1, 1, 128, 0), 128, 256, 256);
}

static void stride_follows_a_coarse_alignment(void **state)
{
    (void)state;
    laid_out(shape_of(2, 1000, 128, 0), 4096, 4096, 8192);
}

static void stride_is_whole_lines_at_a_fine_alignment(void **state)
{
    (void)state;
    laid_out(shape_of(1, 130, 128, 0), 16, 384, 384);
    laid_out(shape_of(1, 130, 128, 0), 0, 384, 384);
}

static void stride_is_whole_lines_at_an_odd_alignment(void **state)
{
    (void)state;
    laid_out(shape_of(1, 130, 128, 0), 192, 384, 384);
    laid_out(shape_of(1, 300, 128, 0), 192, 768, 768);
}

static void total_goes_beyond_32_bits(void **state)
{
    (void)state;
    size_t pool = (size_t)3 << 30;
    laid_out(shape_of(5, pool, 128, 0), 128, pool + 128, 5 * (pool + 128));
}

static void total_that_wraps_is_refused(void **state)
{
    (void)state;
    refused(shape_of(1, SIZE_MAX - 100, 128, 0), STATUS_RANGE);
    refused(shape_of(1, SIZE_MAX - 200, 128, 0), STATUS_RANGE);
    refused(shape_of(SIZE_MAX / 2, MIB, 128, 0), STATUS_RANGE);
}

static void total_at_the_limit_fits(void **state)
{
    (void)state;
    struct pe_arenas_shape shape = shape_of(2, 896, 128, 0);
    assert_int_equal(pe_arenas_layout(128, 2048, &shape), STATUS_OK);
    assert_int_equal(shape.total_bytes, 2048);
}

static void total_above_the_limit_says_both(void **state)
{
    (void)state;
    struct pe_arenas_shape shape = shape_of(2, 896, 128, 0);
    assert_int_equal(pe_arenas_layout(128, 2047, &shape), STATUS_NO_SPACE);
    assert_non_null(strstr(status_last()->why, "2048"));
    assert_non_null(strstr(status_last()->why, "2047"));
    assert_int_equal(shape.total_bytes, 2048);
}

static void shift_up_to_a_line_before_the_guards_end_fits(void **state)
{
    (void)state;
    laid_out(shape_of(1, 1024, 1024, 896), 128, 2048, 2048);
    refused(shape_of(1, 1024, 1024, 1024), STATUS_BAD_INPUT);
    refused(shape_of(1, 1024, 1024, SIZE_MAX - 127), STATUS_BAD_INPUT);
}

static void shift_off_a_line_is_refused(void **state)
{
    (void)state;
    refused(shape_of(1, 1024, 1024, 64), STATUS_BAD_INPUT);
}

static void guard_off_a_line_or_missing_is_refused(void **state)
{
    (void)state;
    refused(shape_of(1, 1024, 1000, 0), STATUS_BAD_INPUT);
    refused(shape_of(1, 1024, 0, 0), STATUS_BAD_INPUT);
}

static void arenas_of_nothing_are_refused(void **state)
{
    (void)state;
    refused(shape_of(0, 1024, 128, 0), STATUS_BAD_INPUT);
    refused(shape_of(1, 0, 128, 0), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(stride_is_pool_and_guard, clear_record),
        cmocka_unit_test_setup(stride_of_an_odd_pool_is_whole_lines, clear_record),
        cmocka_unit_test_setup(stride_follows_a_coarse_alignment, clear_record),
        cmocka_unit_test_setup(stride_is_whole_lines_at_a_fine_alignment, clear_record),
        cmocka_unit_test_setup(stride_is_whole_lines_at_an_odd_alignment, clear_record),
        cmocka_unit_test_setup(total_goes_beyond_32_bits, clear_record),
        cmocka_unit_test_setup(total_that_wraps_is_refused, clear_record),
        cmocka_unit_test_setup(total_at_the_limit_fits, clear_record),
        cmocka_unit_test_setup(total_above_the_limit_says_both, clear_record),
        cmocka_unit_test_setup(shift_up_to_a_line_before_the_guards_end_fits, clear_record),
        cmocka_unit_test_setup(shift_off_a_line_is_refused, clear_record),
        cmocka_unit_test_setup(guard_off_a_line_or_missing_is_refused, clear_record),
        cmocka_unit_test_setup(arenas_of_nothing_are_refused, clear_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
