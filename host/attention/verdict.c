/* The verdict on a kernel's output.
 *
 * A kernel's score is off by a rounding or two of each of its terms, 2^-24 of them each, so by at
 * most about e = 2^-22 x its size (reference.h); exp(s + e) = exp(s) (1 + e) turns that absolute
 * error of the score into a relative one of p, and with it of out, and adds it to LSE as it is. To
 * first order a row's error is the mean of its scores' errors, weighted as its values are.
 *
 * The rest of out's error is relative to what is summed. f32 storage: exp is good to a few 2^-24,
 * and sums over 65,536 keys walk to some 1e-5 of their result; 5e-5 covers both. f16 storage: the
 * inputs are the same numbers for the reference, but p is stored with 11 bits, so each is off by up
 * to 2^-11 = 4.9e-4; 2e-3 is four of those. l is summed before p is rounded, so LSE has one
 * tolerance for both types. The absolute parts are for results near 0.
 *
 * Scores so large that f32 has no digits left for their differences make a row that cannot be
 * judged; what they add is bounded, so that no such row passes on a tolerance that fits anything.
 */
#include "host/attention/reference.h"

#include <math.h>

/* The relative error that scores of that size allow; reached at a size of some 200,000. */
static const double most_score_error = 0.05;

static double score_error(double score_size)
{
    return fmin(REFERENCE_SCORE_ROUNDING * score_size, most_score_error);
}

/* For scores of that size. */
static double out_tolerance(const struct reference *reference, enum dtype dtype, double score_size)
{
    double absolute = dtype == DTYPE_F32 ? 1e-6 : 1e-5;
    double relative = (dtype == DTYPE_F32 ? 5e-5 : 2e-3) + score_error(score_size);

    return absolute + relative * reference->out_magnitude;
}

static double lse_tolerance(const struct reference *reference, double score_size)
{
    return 1e-5 + score_error(score_size) + 1e-6 * reference->lse_magnitude;
}

/* |actual - expected|; 0 for the same NaN or infinity, infinity for one that stands alone. */
static double error_of(float actual, double expected)
{
    double value = (double)actual;

    if (isfinite(value) && isfinite(expected)) {
        return fabs(value - expected);
    }
    if (value == expected || (isnan(value) && isnan(expected))) {
        return 0.0;
    }
    return (double)INFINITY;
}

struct result_row {
    const float *out; /* [columns] */
    float lse;
    size_t columns;
};

/* Where a row is off by more than its own tolerance, that element is the worst from then on, unless
 * another one is off by more times its tolerance. */
struct worst {
    double excess; /* error / tolerance of the element; 1 = none was off */
};

static void note_error(struct verdict *verdict, struct worst *worst, double error, double tolerance,
                       size_t row, size_t column)
{
    const double excess = error / tolerance;
    const bool off = excess > worst->excess;

    if (off || (worst->excess <= 1.0 && error > verdict->max_abs_err)) {
        verdict->max_abs_err = error;
        verdict->worst_row = row;
        verdict->worst_column = column;
    }
    if (off) {
        worst->excess = excess;
        verdict->tolerance = tolerance;
    }
}

/* Compares one row; false if it is off by more than its own tolerance. */
static bool compare_row(const struct reference *reference, size_t r, enum dtype dtype,
                        const struct result_row *actual, struct verdict *verdict,
                        struct worst *worst)
{
    const double *expected = reference->out + r * actual->columns;
    double tolerance = out_tolerance(reference, dtype, reference->score_sizes[r]);
    double lse_error = error_of(actual->lse, reference->lse[r]);
    bool right = lse_error <= lse_tolerance(reference, reference->score_sizes[r]);

    verdict->lse_max_abs_err = fmax(verdict->lse_max_abs_err, lse_error);
    for (size_t c = 0; c < actual->columns; c++) {
        double error = error_of(actual->out[c], expected[c]);
        right = right && error <= tolerance;
        note_error(verdict, worst, error, tolerance, reference->rows[r], c);
    }
    return right;
}

void reference_compare(const struct reference *reference, const struct problem *problem,
                       const float *out, const float *lse, struct verdict *verdict)
{
    size_t dim_v = problem->head_dim_v;
    struct worst worst = {.excess = 1.0};

    *verdict = (struct verdict){
        .verified = true,
        .tolerance = out_tolerance(reference, problem->dtype, reference->score_magnitude),
        .lse_tolerance = lse_tolerance(reference, reference->score_magnitude),
        .rows_checked = reference->row_count,
        .worst_row = reference->rows[0],
    };
    for (size_t r = 0; r < reference->row_count; r++) {
        size_t row = reference->rows[r];
        struct result_row actual = {out + row * dim_v, lse[row], dim_v};
        if (!compare_row(reference, r, problem->dtype, &actual, verdict, &worst)) {
            verdict->verified = false;
        }
    }
}
