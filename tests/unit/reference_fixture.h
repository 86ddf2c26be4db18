/* What the unit tests of the reference share. */
#ifndef TESTS_UNIT_REFERENCE_FIXTURE_H
#define TESTS_UNIT_REFERENCE_FIXTURE_H

#include "host/attention/reference.h"
#include "tests/unit/attention_fixture.h"

#include <math.h>

enum { ALL_ROWS_WORK = 1000000000 };

static const double infinite = (double)INFINITY;

/* One head, dimension 1, scale 1, f32. */
static inline struct problem unit_problem(size_t seq_q, size_t seq_kv)
{
    return (struct problem){
        .batch = 1,
        .q_heads = 1,
        .kv_heads = 1,
        .seq_q = seq_q,
        .seq_kv = seq_kv,
        .head_dim = 1,
        .head_dim_v = 1,
        .block_m = 2,
        .block_n = 2,
        .dtype = DTYPE_F32,
        .scale = 1.0,
        .window_left = -1,
        .window_right = -1,
    };
}

/* Equal, or within a few roundings of a double: sums of fewer than 100 terms of size 1. */
static inline void assert_close(double actual, double expected)
{
    if (isnan(expected)) {
        assert_true(isnan(actual));
    } else if (isinf(expected)) {
        assert_true(actual == expected);
    } else {
        assert_true(fabs(actual - expected) <= 1e-13 * fmax(1.0, fabs(expected)));
    }
}

static inline void assert_rows(const struct reference *reference, const double *out,
                               const double *lse)
{
    for (size_t r = 0; r < reference->row_count; r++) {
        assert_close(reference->out[r], out[r]);
        assert_close(reference->lse[r], lse[r]);
    }
}

static inline struct inputs *make_inputs(const struct problem *problem)
{
    struct inputs *inputs;

    assert_int_equal(inputs_create(problem, 1, &inputs), STATUS_OK);
    return inputs;
}

static inline struct reference *make_reference(const struct problem *problem,
                                               const struct inputs *inputs, double work)
{
    struct reference *reference = NULL;

    assert_int_equal(reference_create(problem, inputs, work, &reference), STATUS_OK);
    return reference;
}

/* Every row, of f32 arrays. */
static inline struct reference *attend(const struct problem *problem, float *q, float *k, float *v)
{
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v};
    struct reference *reference = make_reference(problem, &inputs, ALL_ROWS_WORK);

    assert_int_equal(reference->row_count, problem_lse_elems(problem));
    return reference;
}

#endif
