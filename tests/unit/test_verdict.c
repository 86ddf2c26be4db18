/* The verdict must see each kind of wrong number, and no other. */
#include "host/attention/reference.h"

#include "tests/unit/unit.h"

#include <math.h>

static const double infinite = (double)INFINITY;

/* Equal but for roundings of a double. */
static void assert_close(double actual, double expected)
{
    assert_true(fabs(actual - expected) <= 1e-13 * fmax(1.0, fabs(expected)));
}

#define ROWS ((size_t)4)
#define COLUMNS ((size_t)3)

/* A reference whose second row sees nothing, and a kernel's output that equals it. */
struct compared {
    struct problem problem;
    size_t rows[ROWS];
    double expected_out[ROWS * COLUMNS];
    double expected_lse[ROWS];
    double score_sizes[ROWS];
    float out[ROWS * COLUMNS];
    float lse[ROWS];
    struct reference reference;
};

static void fill_compared(struct compared *compared)
{
    compared->problem = (struct problem){
        .batch = 1,
        .q_heads = 1,
        .kv_heads = 1,
        .seq_q = ROWS,
        .seq_kv = 8,
        .head_dim = 1,
        .head_dim_v = COLUMNS,
        .block_m = 2,
        .block_n = 2,
        .dtype = DTYPE_F32,
        .window_left = -1,
        .window_right = -1,
    };
    for (size_t r = 0; r < ROWS; r++) {
        compared->rows[r] = r;
        compared->score_sizes[r] = 16.0;
        compared->lse[r] = r == 1 ? -INFINITY : (float)r;
        compared->expected_lse[r] = (double)compared->lse[r];
        for (size_t c = 0; c < COLUMNS; c++) {
            compared->out[r * COLUMNS + c] = r == 1 ? 0.0F : (float)(r + c) - 2.5F;
            compared->expected_out[r * COLUMNS + c] = (double)compared->out[r * COLUMNS + c];
        }
    }
    compared->reference = (struct reference){
        .row_count = ROWS,
        .rows = compared->rows,
        .out = compared->expected_out,
        .lse = compared->expected_lse,
        .score_sizes = compared->score_sizes,
        .out_magnitude = 2.5,
        .score_magnitude = 16.0,
        .lse_magnitude = 3.0,
    };
}

static struct verdict compare(const struct compared *compared)
{
    struct verdict verdict;

    reference_compare(&compared->reference, &compared->problem, compared->out, compared->lse,
                      &verdict);
    return verdict;
}

static void verdict_equal_results_verified(void **state)
{
    struct compared compared;
    struct verdict verdict;
    (void)state;

    fill_compared(&compared);
    verdict = compare(&compared);
    assert_true(verdict.verified);
    assert_true(verdict.max_abs_err == 0.0 && verdict.lse_max_abs_err == 0.0);
    assert_int_equal(verdict.rows_checked, ROWS);
}

static void verdict_tolerance_is_by_storage_type(void **state)
{
    double score_error = 16.0 / 4194304.0;
    struct compared compared;
    struct verdict f32, f16;
    (void)state;

    fill_compared(&compared);
    f32 = compare(&compared);
    compared.problem.dtype = DTYPE_F16;
    f16 = compare(&compared);
    assert_close(f32.tolerance, 1e-6 + (5e-5 + score_error) * 2.5);
    assert_close(f16.tolerance, 1e-5 + (2e-3 + score_error) * 2.5);
    assert_close(f32.lse_tolerance, 1e-5 + score_error + 1e-6 * 3.0);
    assert_close(f16.lse_tolerance, f32.lse_tolerance);
}

static void verdict_half_a_tolerance_off_verified(void **state)
{
    struct compared compared;
    struct verdict verdict;
    (void)state;

    fill_compared(&compared);
    verdict = compare(&compared);
    compared.out[0] += (float)(0.5 * verdict.tolerance);
    compared.lse[0] += (float)(0.5 * verdict.lse_tolerance);
    assert_true(compare(&compared).verified);
}

static void verdict_one_element_off_refused_and_found(void **state)
{
    struct compared compared;
    struct verdict verdict;
    (void)state;

    fill_compared(&compared);
    compared.rows[2] = 3; /* a sample: rows 0, 1, 3 of the output, the last one twice */
    for (size_t c = 0; c < COLUMNS; c++) {
        compared.expected_out[2 * COLUMNS + c] = compared.expected_out[3 * COLUMNS + c];
    }
    compared.expected_lse[2] = compared.expected_lse[3];
    verdict = compare(&compared);
    assert_true(verdict.verified);
    compared.out[3 * COLUMNS + 2] += (float)(2.0 * verdict.tolerance);
    verdict = compare(&compared);
    assert_false(verdict.verified);
    assert_int_equal(verdict.worst_row, 3);
    assert_int_equal(verdict.worst_column, 2);
    assert_true(fabs(verdict.max_abs_err - 2.0 * verdict.tolerance) < 1e-6);
}

static void verdict_lse_off_refused(void **state)
{
    struct compared compared;
    struct verdict verdict;
    (void)state;

    fill_compared(&compared);
    compared.lse[3] += (float)(2.0 * compare(&compared).lse_tolerance);
    verdict = compare(&compared);
    assert_false(verdict.verified);
    assert_true(verdict.max_abs_err == 0.0);
    assert_true(verdict.lse_max_abs_err > verdict.lse_tolerance);
}

static void verdict_nan_alone_refused(void **state)
{
    struct compared compared;
    (void)state;

    fill_compared(&compared);
    compared.out[4] = NAN;
    assert_false(compare(&compared).verified);
    assert_true(compare(&compared).max_abs_err == infinite);
    assert_int_equal(compare(&compared).worst_column, 1);
    fill_compared(&compared);
    compared.lse[2] = NAN;
    assert_false(compare(&compared).verified);
    fill_compared(&compared);
    compared.expected_out[4] = (double)NAN;
    assert_false(compare(&compared).verified);
    fill_compared(&compared);
    compared.expected_lse[0] = (double)NAN;
    assert_false(compare(&compared).verified);
}

static void verdict_nan_and_infinity_on_both_sides_verified(void **state)
{
    struct compared compared;
    (void)state;

    fill_compared(&compared);
    compared.out[4] = NAN;
    compared.expected_out[4] = (double)NAN;
    compared.out[5] = INFINITY;
    compared.expected_out[5] = infinite;
    compared.lse[0] = NAN;
    compared.expected_lse[0] = (double)NAN;
    assert_true(compare(&compared).verified);
    assert_true(compare(&compared).max_abs_err == 0.0);
}

static void verdict_infinity_with_the_other_sign_refused(void **state)
{
    struct compared compared;
    (void)state;

    fill_compared(&compared);
    compared.lse[1] = INFINITY;
    assert_false(compare(&compared).verified);
    assert_true(compare(&compared).lse_max_abs_err == infinite);
    fill_compared(&compared);
    compared.out[5] = -INFINITY;
    compared.expected_out[5] = infinite;
    assert_false(compare(&compared).verified);
}

static void verdict_finite_stand_in_for_infinity_refused(void **state)
{
    struct compared compared;
    (void)state;

    fill_compared(&compared);
    compared.lse[1] = -1e30F;
    assert_false(compare(&compared).verified);
    fill_compared(&compared);
    compared.lse[0] = -INFINITY;
    assert_false(compare(&compared).verified);
}

static void verdict_empty_row_not_zero_refused(void **state)
{
    struct compared compared;
    (void)state;

    fill_compared(&compared);
    compared.out[1 * COLUMNS] = 0.01F;
    assert_false(compare(&compared).verified);
}

/* One row with scores that f32 can not resolve leaves the others as they were, and is itself held
 * to a few hundredths of the largest result. */
static void verdict_each_row_has_its_own_tolerance(void **state)
{
    struct compared compared;
    struct verdict narrow, wide;
    (void)state;

    fill_compared(&compared);
    narrow = compare(&compared);
    compared.score_sizes[3] = compared.reference.score_magnitude = 1e8;
    wide = compare(&compared);
    assert_true(wide.verified && wide.tolerance > 100.0 * narrow.tolerance);
    assert_true(wide.lse_tolerance > 100.0 * narrow.lse_tolerance);
    assert_true(wide.tolerance < 0.06 * compared.reference.out_magnitude + 1e-5);
    compared.out[3 * COLUMNS] += (float)(10.0 * narrow.tolerance);
    compared.lse[3] += (float)(10.0 * narrow.lse_tolerance);
    assert_true(compare(&compared).verified);
    compared.out[2 * COLUMNS] += (float)(2.0 * narrow.tolerance);
    assert_false(compare(&compared).verified);
    fill_compared(&compared);
    compared.score_sizes[3] = compared.reference.score_magnitude = 1e8;
    compared.lse[2] += (float)(2.0 * narrow.lse_tolerance);
    assert_false(compare(&compared).verified);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_equal_results_verified),
        cmocka_unit_test(verdict_tolerance_is_by_storage_type),
        cmocka_unit_test(verdict_half_a_tolerance_off_verified),
        cmocka_unit_test(verdict_one_element_off_refused_and_found),
        cmocka_unit_test(verdict_lse_off_refused),
        cmocka_unit_test(verdict_nan_alone_refused),
        cmocka_unit_test(verdict_nan_and_infinity_on_both_sides_verified),
        cmocka_unit_test(verdict_infinity_with_the_other_sign_refused),
        cmocka_unit_test(verdict_finite_stand_in_for_infinity_refused),
        cmocka_unit_test(verdict_empty_row_not_zero_refused),
        cmocka_unit_test(verdict_each_row_has_its_own_tolerance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
