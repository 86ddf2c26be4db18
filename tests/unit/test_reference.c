/* The reference against known answers; its sample of rows. */
#include "host/attention/reference.h"

#include "tests/unit/fail_alloc.h"
#include "tests/unit/reference_fixture.h"

enum { RANDOM_PROBLEMS = 300 };

/* Case 4. */
static void causal_more_queries_than_keys_first_rows_are_empty(void **state)
{
    const double out[] = {0.0, 0.0, 0.0, 1.0, 2.0};
    const double lse[] = {-infinite, -infinite, -infinite, 0.0, log(2.0)};
    struct problem problem = unit_problem(5, 2);
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, k[] = {0.0F, 0.0F}, v[] = {1.0F, 3.0F};
    struct reference *reference;
    (void)state;

    problem.causal = true;
    reference = attend(&problem, q, k, v);
    assert_rows(reference, out, lse);
    assert_true(fabs(reference->lse[4] - 0.693147) < 1e-6);
    reference_destroy(reference);
}

static void causal_more_keys_than_queries_last_row_sees_all(void **state)
{
    const double out[] = {2.5, 3.0};
    const double lse[] = {log(4.0), log(5.0)};
    struct problem problem = unit_problem(2, 5);
    float q[] = {1.0F, 1.0F}, k[] = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
    float v[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
    struct reference *reference;
    (void)state;

    problem.causal = true;
    reference = attend(&problem, q, k, v);
    assert_rows(reference, out, lse);
    assert_true(fabs(reference->lse[0] - 1.386294) < 1e-6);
    assert_true(fabs(reference->lse[1] - 1.609438) < 1e-6);
    reference_destroy(reference);
}

/* Case 5. */
static void no_keys_gives_zero_and_lse_minus_infinity(void **state)
{
    const double out[] = {0.0, 0.0, 0.0};
    const double lse[] = {-infinite, -infinite, -infinite};
    struct problem problem = unit_problem(3, 0);
    float q[] = {1.0F, 2.0F, 3.0F}, none = 0.0F;
    (void)state;

    for (int causal = 0; causal <= 1; causal++) {
        struct reference *reference;
        problem.causal = causal == 1;
        reference = attend(&problem, q, &none, &none);
        assert_rows(reference, out, lse);
        assert_true(reference->out_magnitude == 0.0 && reference->lse_magnitude == 0.0);
        reference_destroy(reference);
    }
}

/* Case 6. */
static void grouped_heads_read_their_key_value_head(void **state)
{
    const double out[] = {1.0, 1.0, 1.0, 2.0, 2.0, 2.0};
    const double lse[] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    struct problem problem = unit_problem(1, 1);
    float q[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, k[] = {0.0F, 0.0F}, v[] = {1.0F, 2.0F};
    struct reference *reference;
    (void)state;

    problem.q_heads = 6;
    problem.kv_heads = 2;
    reference = attend(&problem, q, k, v);
    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

static void scores_of_ten_thousand_neither_overflow_nor_vanish(void **state)
{
    const double out[] = {2.0, 5.0};
    const double lse[] = {1e4 + log(2.0), 1e4};
    struct problem problem = unit_problem(2, 3);
    float q[] = {1e4F, -1e4F}, k[] = {1.0F, -1.0F, 1.0F}, v[] = {1.0F, 5.0F, 3.0F};
    struct reference *reference = attend(&problem, q, k, v);
    (void)state;

    assert_rows(reference, out, lse);
    assert_true(reference->score_magnitude == 1e4);
    reference_destroy(reference);
}

static void scores_that_are_all_very_negative_still_average(void **state)
{
    const double out[] = {2.0};
    const double lse[] = {-1e4 + log(2.0)};
    struct problem problem = unit_problem(1, 2);
    float q[] = {1.0F}, k[] = {-1e4F, -1e4F}, v[] = {1.0F, 3.0F};
    struct reference *reference = attend(&problem, q, k, v);
    (void)state;

    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

static void score_of_minus_infinity_hides_its_key(void **state)
{
    const double out[] = {3.0};
    const double lse[] = {2.0};
    struct problem problem = unit_problem(1, 3);
    float q[] = {1.0F}, k[] = {-INFINITY, 2.0F, -INFINITY}, v[] = {1.0F, 3.0F, 9.0F};
    struct reference *reference = attend(&problem, q, k, v);
    (void)state;

    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

/* 40 keys: more than one step of the online softmax has no finite maximum. */
static void scores_all_minus_infinity_give_an_empty_row(void **state)
{
    const double out[] = {0.0};
    const double lse[] = {-infinite};
    struct problem problem = unit_problem(1, 40);
    float q[] = {1.0F}, k[40], v[40];
    struct reference *reference;
    (void)state;

    for (size_t j = 0; j < 40; j++) {
        k[j] = -INFINITY;
        v[j] = 1.0F;
    }
    reference = attend(&problem, q, k, v);
    assert_rows(reference, out, lse);
    k[39] = 0.0F;
    reference_destroy(reference);
    reference = attend(&problem, q, k, v);
    assert_rows(reference, (double[]){1.0}, (double[]){0.0});
    reference_destroy(reference);
}

static void nan_in_a_visible_key_reaches_its_rows_alone(void **state)
{
    const double out[] = {1.0, (double)NAN};
    const double lse[] = {0.0, (double)NAN};
    struct problem problem = unit_problem(2, 2);
    float q[] = {1.0F, 1.0F}, k[] = {0.0F, NAN}, v[] = {1.0F, 3.0F};
    struct reference *reference;
    (void)state;

    problem.causal = true;
    reference = attend(&problem, q, k, v);
    assert_rows(reference, out, lse);
    reference_destroy(reference);
}

static void nan_before_minus_infinity_and_larger_scores_stays(void **state)
{
    struct problem problem = unit_problem(1, 70);
    float q[] = {1.0F}, k[70], v[70];
    struct reference *reference;
    (void)state;

    for (size_t j = 0; j < 70; j++) {
        k[j] = j < 40 ? -INFINITY : (float)j;
        v[j] = 1.0F;
    }
    k[5] = NAN;
    reference = attend(&problem, q, k, v);
    assert_rows(reference, (double[]){(double)NAN}, (double[]){(double)NAN});
    reference_destroy(reference);
}

static void score_of_plus_infinity_gives_nan(void **state)
{
    struct problem problem = unit_problem(1, 2);
    float q[] = {1.0F}, k[] = {0.0F, INFINITY}, v[] = {1.0F, 3.0F};
    struct reference *reference = attend(&problem, q, k, v);
    (void)state;

    assert_rows(reference, (double[]){(double)NAN}, (double[]){(double)NAN});
    reference_destroy(reference);
}

static void infinite_value_reaches_out_alone(void **state)
{
    struct problem problem = unit_problem(1, 2);
    float q[] = {1.0F}, k[] = {0.0F, 0.0F}, v[] = {1.0F, -INFINITY};
    struct reference *reference = attend(&problem, q, k, v);
    (void)state;

    assert_rows(reference, (double[]){-infinite}, (double[]){log(2.0)});
    assert_true(reference->out_magnitude == 0.0);
    reference_destroy(reference);
}

/* -------------------------------------------------------------------------------------------------
 * Samples.
 */

static double row_work(const struct problem *problem)
{
    double keys = problem->seq_kv > 16 ? (double)problem->seq_kv : 16.0;

    return keys * (double)(problem->head_dim + problem->head_dim_v + 16);
}

static void sample_of_random_problems_keeps_its_bound(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        size_t total = problem_lse_elems(&problem);
        size_t allowed = random_in(&random, 0, total);
        struct inputs *inputs = make_inputs(&problem);
        struct reference *reference =
            make_reference(&problem, inputs, ((double)allowed + 0.5) * row_work(&problem));
        size_t least = total < 4 ? total : 4;
        assert_in_range(reference->row_count, least, allowed > least ? allowed : least);
        assert_int_equal(reference->rows[0], 0);
        assert_int_equal(reference->rows[reference->row_count - 1], total - 1);
        for (size_t r = 1; r < reference->row_count; r++) {
            assert_true(reference->rows[r] > reference->rows[r - 1]);
        }
        reference_destroy(reference);
        inputs_destroy(inputs);
    }
}

static void sampled_rows_equal_those_of_the_full_reference(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        struct inputs *inputs = make_inputs(&problem);
        struct reference *full = make_reference(&problem, inputs, ALL_ROWS_WORK);
        struct reference *sample = make_reference(&problem, inputs, 9.0 * row_work(&problem));
        size_t dim_v = problem.head_dim_v;
        for (size_t r = 0; r < sample->row_count; r++) {
            size_t row = sample->rows[r];
            assert_memory_equal(&sample->out[r * dim_v], &full->out[row * dim_v],
                                dim_v * sizeof(double));
            assert_memory_equal(&sample->lse[r], &full->lse[row], sizeof(double));
        }
        reference_destroy(full);
        reference_destroy(sample);
        inputs_destroy(inputs);
    }
}

static struct problem long_problem(void)
{
    return (struct problem){
        .batch = 2,
        .q_heads = 8,
        .kv_heads = 4,
        .seq_q = 1000,
        .seq_kv = 1000,
        .head_dim = 3,
        .head_dim_v = 5,
        .block_m = 48,
        .block_n = 64,
        .dtype = DTYPE_F32,
        .window_left = -1,
        .window_right = -1,
    };
}

static void sample_has_every_head_and_edges_of_blocks_and_sequences(void **state)
{
    struct problem problem = long_problem();
    struct inputs *inputs = make_inputs(&problem);
    struct reference *reference = make_reference(&problem, inputs, 200.0 * row_work(&problem));
    size_t of_head[16] = {0}, block_first = 0, block_last = 0, first = 0, last = 0;
    (void)state;

    assert_in_range(reference->row_count, 100, 200);
    for (size_t r = 0; r < reference->row_count; r++) {
        size_t position = reference->rows[r] % 1000;
        size_t head = reference->rows[r] / 1000;
        size_t packed = position * 2 + head % 2;
        of_head[head]++;
        block_first += packed % 48 == 0 && packed > 0;
        block_last += packed % 48 == 47;
        first += position == 0;
        last += position == 999;
    }
    for (size_t head = 0; head < 16; head++) {
        assert_true(of_head[head] >= 5);
    }
    assert_true(block_first >= 10 && block_last >= 10);
    assert_true(first >= 8 && last >= 8);
    reference_destroy(reference);
    inputs_destroy(inputs);
}

static void sample_has_rows_at_edges_of_tiles(void **state)
{
    struct problem problem = long_problem();
    struct inputs *inputs;
    struct reference *reference;
    size_t ends_with_tile = 0, one_key_more = 0;
    (void)state;

    problem.causal = true;
    inputs = make_inputs(&problem);
    reference = make_reference(&problem, inputs, 200.0 * row_work(&problem));
    for (size_t r = 0; r < reference->row_count; r++) {
        size_t keys = reference->rows[r] % 1000 + 1;
        ends_with_tile += keys % 64 == 0;
        one_key_more += keys % 64 == 1 && keys > 1;
    }
    assert_true(ends_with_tile >= 10 && one_key_more >= 10);
    reference_destroy(reference);
    inputs_destroy(inputs);
}

static void sample_is_the_same_every_time(void **state)
{
    struct problem problem = long_problem();
    struct inputs *inputs = make_inputs(&problem);
    struct reference *a = make_reference(&problem, inputs, 100.0 * row_work(&problem));
    struct reference *b = make_reference(&problem, inputs, 100.0 * row_work(&problem));
    (void)state;

    assert_int_equal(a->row_count, b->row_count);
    assert_memory_equal(a->rows, b->rows, a->row_count * sizeof(a->rows[0]));
    reference_destroy(a);
    reference_destroy(b);
    inputs_destroy(inputs);
}

static void create_without_memory_fails_on_every_call(void **state)
{
    struct problem problem = long_problem();
    struct inputs *inputs = make_inputs(&problem);
    size_t call = 0;
    bool failed = true;
    (void)state;

    while (failed) {
        struct reference *reference = (struct reference *)&problem;
        fail_alloc_on(++call);
        enum status status = reference_create(&problem, inputs, 0.0, &reference);
        failed = fail_alloc_at == 0;
        fail_alloc_on(0);
        assert_status(failed ? STATUS_NO_MEMORY : STATUS_OK, status);
        assert_true(failed == (reference == NULL));
        reference_destroy(reference);
        status_clear();
    }
    assert_in_range(call, 11, 20);
    inputs_destroy(inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causal_more_queries_than_keys_first_rows_are_empty),
        cmocka_unit_test(causal_more_keys_than_queries_last_row_sees_all),
        cmocka_unit_test(no_keys_gives_zero_and_lse_minus_infinity),
        cmocka_unit_test(grouped_heads_read_their_key_value_head),
        cmocka_unit_test(scores_of_ten_thousand_neither_overflow_nor_vanish),
        cmocka_unit_test(scores_that_are_all_very_negative_still_average),
        cmocka_unit_test(score_of_minus_infinity_hides_its_key),
        cmocka_unit_test(scores_all_minus_infinity_give_an_empty_row),
        cmocka_unit_test(nan_in_a_visible_key_reaches_its_rows_alone),
        cmocka_unit_test(nan_before_minus_infinity_and_larger_scores_stays),
        cmocka_unit_test(score_of_plus_infinity_gives_nan),
        cmocka_unit_test(infinite_value_reaches_out_alone),
        cmocka_unit_test(sample_of_random_problems_keeps_its_bound),
        cmocka_unit_test(sampled_rows_equal_those_of_the_full_reference),
        cmocka_unit_test(sample_has_every_head_and_edges_of_blocks_and_sequences),
        cmocka_unit_test(sample_has_rows_at_edges_of_tiles),
        cmocka_unit_test(sample_is_the_same_every_time),
        cmocka_unit_test(create_without_memory_fails_on_every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
