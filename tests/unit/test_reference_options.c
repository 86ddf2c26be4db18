/* The reference with every option: against an independent naive loop, and by hand. */
#include "host/attention/reference.h"

#include "tests/unit/reference_fixture.h"

enum { ROUNDS = 30 };

/* -------------------------------------------------------------------------------------------------
 * Random problems against the textbook: exp of every score, no maximum (scores are below 100).
 */

struct naive_row {
    double out[20];
    double lse;
    double score_size;
};

struct naive_score {
    double value;
    double size;
};

static struct naive_score naive_product(const struct problem *problem, const struct inputs *inputs,
                                        size_t q_row, size_t k_row)
{
    double root = sqrt((double)problem->head_dim);
    struct naive_score score = {0};

    for (size_t i = 0; i < problem->head_dim; i++) {
        double product = inputs_value(inputs, inputs->q, q_row * problem->head_dim + i) *
                         inputs_value(inputs, inputs->k, k_row * problem->head_dim + i);
        score.value += product / root;
        score.size += fabs(product) / root;
    }
    return score;
}

/* `row` over [batch, q_heads, seq_q]. */
static struct naive_score naive_score(const struct problem *problem, const struct inputs *inputs,
                                      size_t row, size_t key)
{
    size_t head = row / problem->seq_q, position = row % problem->seq_q;
    size_t kv_head = head / (problem->q_heads / problem->kv_heads);
    struct naive_score score = naive_product(problem, inputs, row, kv_head * problem->seq_kv + key);

    if (problem->softcap != 0.0) {
        double e = exp(2.0 * score.value / problem->softcap);
        double t = (e - 1.0) / (e + 1.0);
        score.value = problem->softcap * t;
        score.size = score.size * (1.0 - t * t) + fabs(score.value);
    }
    if (problem->alibi) {
        double ahead = (double)(key + problem->seq_q) - (double)(position + problem->seq_kv);
        double bias = -definition_of_slope(problem->q_heads, head % problem->q_heads) * fabs(ahead);
        score.value += bias;
        score.size += fabs(bias);
    }
    if (problem->mask) {
        double mask = (double)inputs->mask[position * problem->seq_kv + key];
        score.value += mask;
        score.size += isinf(mask) ? 0.0 : fabs(mask);
    }
    return score;
}

static void add_naive_key(const struct problem *problem, const struct inputs *inputs, size_t row,
                          size_t key, struct naive_row *result, double *sum)
{
    size_t kv_head = row / problem->seq_q / (problem->q_heads / problem->kv_heads);
    struct naive_score score = naive_score(problem, inputs, row, key);
    double p = exp(score.value);

    *sum += p;
    result->score_size += p * score.size;
    for (size_t c = 0; c < problem->head_dim_v; c++) {
        size_t i = (kv_head * problem->seq_kv + key) * problem->head_dim_v + c;
        result->out[c] += p * inputs_value(inputs, inputs->v, i);
    }
}

static struct naive_row naive(const struct problem *problem, const struct inputs *inputs,
                              size_t row)
{
    struct naive_row result = {0};
    double sum = 0.0;

    for (size_t key = 0; key < problem->seq_kv; key++) {
        if (is_visible(problem, row % problem->seq_q, key)) {
            add_naive_key(problem, inputs, row, key, &result, &sum);
        }
    }
    if (sum > 0.0 && problem->sinks) {
        double sink = (double)inputs->sinks[row / problem->seq_q % problem->q_heads];
        sum += exp(sink);
        result.score_size += exp(sink) * fabs(sink);
    }
    for (size_t c = 0; c < problem->head_dim_v && sum > 0.0; c++) {
        result.out[c] /= sum;
    }
    result.score_size /= sum > 0.0 ? sum : 1.0;
    result.lse = log(sum);
    return result;
}

/* A score of size 100 carries its roundings of 2^-53 into the result, and the tolerance's size is
 * taken within the score's error, 1e-5 of it. */
static void assert_near(double actual, double expected, double tolerance)
{
    if (isinf(expected)) {
        assert_true(actual == expected);
    } else {
        assert_true(fabs(actual - expected) <= tolerance * fmax(1.0, fabs(expected)));
    }
}

static void assert_equals_naive(const struct problem *problem)
{
    struct inputs *inputs = make_inputs(problem);
    struct reference *reference = make_reference(problem, inputs, ALL_ROWS_WORK);
    double out = 0.0, size = 0.0, lse = 0.0;

    assert_int_equal(reference->row_count, problem_lse_elems(problem));
    for (size_t row = 0; row < reference->row_count; row++) {
        struct naive_row expected = naive(problem, inputs, row);
        assert_int_equal(reference->rows[row], row);
        assert_near(reference->lse[row], expected.lse, 1e-12);
        assert_near(reference->score_sizes[row], expected.score_size, 1e-4);
        size = fmax(size, expected.score_size);
        lse = isinf(expected.lse) ? lse : fmax(lse, fabs(expected.lse));
        for (size_t c = 0; c < problem->head_dim_v; c++) {
            assert_near(reference->out[row * problem->head_dim_v + c], expected.out[c], 1e-12);
            out = fmax(out, fabs(expected.out[c]));
        }
    }
    assert_near(reference->out_magnitude, out, 1e-12);
    assert_near(reference->score_magnitude, size, 1e-4);
    assert_near(reference->lse_magnitude, lse, 1e-12);
    reference_destroy(reference);
    inputs_destroy(inputs);
}

static void random_problems_equal_a_naive_loop(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < ROUNDS * 10; n++) {
        struct problem problem = random_problem(&random);
        assert_equals_naive(&problem);
    }
}

static void every_option_alone_and_in_pairs_equals_a_naive_loop(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < ROUNDS * OPTION_CHOICES; n++) {
        struct problem problem = random_problem(&random);
        set_options(&problem, n % OPTION_CHOICES);
        assert_equals_naive(&problem);
    }
}

static void all_options_at_once_equal_a_naive_loop(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < ROUNDS * 5; n++) {
        struct problem problem = random_problem(&random);
        for (size_t option = 0; option < OPTION_COUNT; option++) {
            set_option(&problem, option);
        }
        assert_equals_naive(&problem);
    }
}

static void parts_change_nothing(void **state)
{
    struct problem problem = unit_problem(7, 40);
    (void)state;

    problem.parts = 3;
    set_option(&problem, 2);
    assert_equals_naive(&problem);
}

/* -------------------------------------------------------------------------------------------------
 * By hand. One head, dimension 1, scale 1 (unit_problem).
 */

/* Two scores of 0 and a sink of log 2: exp gives 1, 1 and 2. */
static void sink_joins_the_sum_without_a_value(void **state)
{
    struct problem problem = unit_problem(1, 2);
    float q[] = {0.0F}, k[] = {0.0F, 0.0F}, v[] = {4.0F, 8.0F}, sinks[] = {0.693147182F};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .sinks = sinks};
    struct reference *reference;
    (void)state;

    problem.sinks = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_true(fabs(reference->out[0] - 3.0) < 1e-7);
    assert_true(fabs(reference->lse[0] - log(4.0)) < 1e-7);
    reference_destroy(reference);
}

/* Far above the keys it takes everything; far below, nothing; either way the row has a key. */
static void sink_far_from_the_scores_overflows_nothing(void **state)
{
    const double out[] = {0.0, 2.0}, lse[] = {1e4, 1e4 + log(2.0)};
    struct problem problem = unit_problem(1, 2);
    float q[] = {1.0F, 1.0F}, k[] = {-1e4F, -1e4F, 1e4F, 1e4F}, v[] = {1.0F, 3.0F, 1.0F, 3.0F};
    float sinks[] = {1e4F, -1e4F};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .sinks = sinks};
    struct reference *reference;
    (void)state;

    problem.q_heads = problem.kv_heads = 2;
    problem.sinks = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

static void sink_of_minus_infinity_is_none_and_nan_spreads(void **state)
{
    const double out[] = {2.0, (double)NAN}, lse[] = {log(2.0), (double)NAN};
    struct problem problem = unit_problem(1, 2);
    float q[] = {0.0F, 0.0F}, k[] = {0.0F, 0.0F}, v[] = {1.0F, 3.0F}, sinks[] = {-INFINITY, NAN};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .sinks = sinks};
    struct reference *reference;
    (void)state;

    problem.q_heads = 2;
    problem.sinks = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

/* Capped at 2: scores of +-1e30 are +-2, and the mask's -inf comes after the cap. */
static void softcap_bounds_scores_before_the_mask(void **state)
{
    struct problem problem = unit_problem(1, 3);
    float q[] = {1e30F}, k[] = {1.0F, -1.0F, INFINITY}, v[] = {1.0F, 0.0F, 9.0F};
    float mask[] = {0.0F, 0.0F, -INFINITY};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .mask = mask};
    struct reference *reference;
    (void)state;

    problem.softcap = 2.0;
    problem.mask = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_close(reference->out[0], 1.0 / (1.0 + exp(-4.0)));
    assert_close(reference->lse[0], 2.0 + log(1.0 + exp(-4.0)));
    assert_true(reference->score_magnitude < 1.0 + 2.0);
    reference_destroy(reference);
}

/* 1 head: slope 2^-8. Bottom-right aligned: position 0 of 2 stands at key 1 of 3. */
static void alibi_counts_keys_from_the_diagonal_both_ways(void **state)
{
    struct problem problem = unit_problem(2, 3);
    float q[] = {0.0F, 0.0F}, k[] = {0.0F, 0.0F, 0.0F}, v[] = {0.0F, 1.0F, 0.0F};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v};
    struct reference *reference;
    double one = exp(-1.0 / 256.0), two = exp(-2.0 / 256.0);
    (void)state;

    problem.alibi = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_close(reference->out[0], 1.0 / (1.0 + 2.0 * one));
    assert_close(reference->lse[0], log(1.0 + 2.0 * one));
    assert_close(reference->out[1], one / (1.0 + one + two));
    assert_close(reference->lse[1], log(1.0 + one + two));
    reference_destroy(reference);
}

static void mask_of_minus_infinity_everywhere_is_no_key(void **state)
{
    const double out[] = {0.0, 3.0}, lse[] = {-infinite, 0.5};
    struct problem problem = unit_problem(2, 2);
    float q[] = {0.0F, 0.0F}, k[] = {0.0F, 0.0F}, v[] = {1.0F, 3.0F};
    float mask[] = {-INFINITY, -INFINITY, -INFINITY, 0.5F};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .mask = mask};
    struct reference *reference;
    (void)state;

    problem.mask = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

/* Case 5 with each option: causal, no key for the first 3 of 5 rows; and no keys at all. */
static void no_visible_key_is_zero_whatever_the_options(void **state)
{
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, k[] = {1.0F, 1.0F}, v[] = {1.0F, 3.0F};
    float sinks[] = {1.0F}, mask[10] = {0.0F};
    struct inputs inputs = {
        .dtype = DTYPE_F32, .q = q, .k = k, .v = v, .sinks = sinks, .mask = mask};
    (void)state;

    for (size_t choice = 0; choice < OPTION_CHOICES * 2; choice++) {
        struct problem problem = unit_problem(5, choice < OPTION_CHOICES ? 2 : 0);
        size_t empty = problem.seq_kv == 0 ? 5 : 3;
        struct reference *reference;
        problem.causal = true;
        set_options(&problem, choice % OPTION_CHOICES);
        reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
        for (size_t r = 0; r < 5; r++) {
            assert_true((reference->lse[r] == -infinite) == (r < empty));
            assert_true((reference->out[r] == 0.0) == (r < empty));
        }
        reference_destroy(reference);
    }
}

/* A finite stand-in for -inf hides its key, and makes no tolerance wide; nor does a far key. */
static void terms_of_keys_without_weight_widen_no_tolerance(void **state)
{
    struct problem problem = unit_problem(1, 3);
    float q[] = {1.0F}, k[] = {1.0F, 1.0F, -1e9F}, v[] = {5.0F, 1.0F, 1.0F};
    float mask[] = {-3.4e38F, 0.0F, 0.0F};
    struct inputs inputs = {.dtype = DTYPE_F32, .q = q, .k = k, .v = v, .mask = mask};
    struct reference *reference;
    (void)state;

    problem.mask = true;
    reference = make_reference(&problem, &inputs, ALL_ROWS_WORK);
    assert_rows(reference, (double[]){1.0}, (double[]){1.0});
    assert_true(reference->score_magnitude == 1.0);
    reference_destroy(reference);
}

/* A score of 1e9 - 1.01e9 is surely below one of 0; that of 1e9 - 1e9 may be anything in f32. */
static void terms_that_cancel_widen_the_tolerance(void **state)
{
    struct problem problem = unit_problem(1, 2);
    float q[] = {1e4F, 1e4F}, k[] = {0.0F, 0.0F, 1e5F, -1.01e5F}, v[] = {1.0F, 2.0F};
    struct reference *reference;
    (void)state;

    problem.head_dim = 2;
    reference = attend(&problem, q, k, v);
    assert_true(reference->score_magnitude == 0.0);
    reference_destroy(reference);
    k[3] = -1e5F;
    reference = attend(&problem, q, k, v);
    assert_true(reference->score_magnitude > 9e8);
    reference_destroy(reference);
}

/* f16 inputs of 300: 128 products of 9e4 sum to 1.152e7, past the largest f16. */
static void dot_products_past_f16_stay_finite(void **state)
{
    struct problem problem = unit_problem(2, 2);
    struct inputs *inputs;
    struct reference *reference;
    uint16_t *q, *k;
    (void)state;

    problem.head_dim = 128;
    problem.dtype = DTYPE_F16;
    inputs = make_inputs(&problem);
    q = inputs->q;
    k = inputs->k;
    for (size_t i = 0; i < 256; i++) {
        q[i] = dtype_f16_from_f32(i < 128 ? 300.0F : -300.0F);
        k[i] = dtype_f16_from_f32(i < 128 ? 300.0F : 299.0F);
    }
    reference = make_reference(&problem, inputs, ALL_ROWS_WORK);
    assert_close(reference->lse[0], 1.152e7);
    assert_close(reference->lse[1], -128.0 * 300.0 * 299.0);
    assert_close(reference->out[0], inputs_value(inputs, inputs->v, 0));
    assert_close(reference->out[1], inputs_value(inputs, inputs->v, 1));
    reference_destroy(reference);
    inputs_destroy(inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems_equal_a_naive_loop),
        cmocka_unit_test(every_option_alone_and_in_pairs_equals_a_naive_loop),
        cmocka_unit_test(all_options_at_once_equal_a_naive_loop),
        cmocka_unit_test(parts_change_nothing),
        cmocka_unit_test(sink_joins_the_sum_without_a_value),
        cmocka_unit_test(sink_far_from_the_scores_overflows_nothing),
        cmocka_unit_test(sink_of_minus_infinity_is_none_and_nan_spreads),
        cmocka_unit_test(softcap_bounds_scores_before_the_mask),
        cmocka_unit_test(alibi_counts_keys_from_the_diagonal_both_ways),
        cmocka_unit_test(mask_of_minus_infinity_everywhere_is_no_key),
        cmocka_unit_test(no_visible_key_is_zero_whatever_the_options),
        cmocka_unit_test(terms_of_keys_without_weight_widen_no_tolerance),
        cmocka_unit_test(terms_that_cancel_widen_the_tolerance),
        cmocka_unit_test(dot_products_past_f16_stay_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
