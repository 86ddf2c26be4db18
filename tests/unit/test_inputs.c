/* Random inputs: exact in f16, the same numbers in both types, a function of seed, tensor and index
 * alone. */
#include "host/attention/inputs.h"

#include "tests/unit/fail_alloc.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct problem problem_of(enum dtype dtype, size_t seq_kv)
{
    return (struct problem){
        .batch = 2,
        .q_heads = 4,
        .kv_heads = 2,
        .seq_q = 37,
        .seq_kv = seq_kv,
        .head_dim = 65,
        .head_dim_v = 33,
        .block_m = 32,
        .block_n = 64,
        .dtype = dtype,
        .window_left = -1,
        .window_right = -1,
    };
}

static struct inputs *make(const struct problem *problem, uint64_t seed)
{
    struct inputs *inputs;

    assert_int_equal(inputs_create(problem, seed, &inputs), STATUS_OK);
    assert_non_null(inputs);
    return inputs;
}

static struct problem optional_problem(enum dtype dtype, size_t seq_kv)
{
    struct problem problem = problem_of(dtype, seq_kv);

    problem.sinks = true;
    problem.mask = true;
    return problem;
}

static void values_are_multiples_within_range(void **state)
{
    struct problem problem = problem_of(DTYPE_F32, 100);
    struct inputs *inputs = make(&problem, 1);
    (void)state;

    for (size_t i = 0; i < problem_k_elems(&problem); i++) {
        double value = inputs_value(inputs, inputs->k, i);
        assert_true(value >= -2.0 && value < 2.0);
        assert_true(value * 512.0 == floor(value * 512.0));
    }
    inputs_destroy(inputs);
}

/* 26,000 draws of a uniform value: mean 0, variance 4/3, each of the 2048 values about 13 times. */
static void values_are_spread_evenly(void **state)
{
    struct problem problem = problem_of(DTYPE_F32, 100);
    struct inputs *inputs = make(&problem, 1);
    size_t count = problem_k_elems(&problem), distinct = 0;
    double sum = 0.0, squares = 0.0;
    unsigned char seen[2048] = {0};
    (void)state;

    for (size_t i = 0; i < count; i++) {
        double value = inputs_value(inputs, inputs->k, i);
        size_t number = (size_t)(value * 512.0 + 1024.0);
        sum += value;
        squares += value * value;
        distinct += seen[number] == 0;
        seen[number] = 1;
    }
    assert_true(fabs(sum / (double)count) < 0.05);
    assert_true(fabs(squares / (double)count - 4.0 / 3.0) < 0.05);
    assert_true(distinct > 2040);
    inputs_destroy(inputs);
}

static void both_types_get_the_same_numbers(void **state)
{
    struct problem f32 = problem_of(DTYPE_F32, 100);
    struct problem f16 = problem_of(DTYPE_F16, 100);
    struct inputs *a = make(&f32, 7);
    struct inputs *b = make(&f16, 7);
    (void)state;

    for (size_t i = 0; i < problem_q_elems(&f32); i++) {
        assert_true(inputs_value(a, a->q, i) == inputs_value(b, b->q, i));
    }
    for (size_t i = 0; i < problem_v_elems(&f32); i++) {
        assert_true(inputs_value(a, a->v, i) == inputs_value(b, b->v, i));
    }
    inputs_destroy(a);
    inputs_destroy(b);
}

static void value_does_not_depend_on_the_size_of_its_tensor(void **state)
{
    struct problem small = problem_of(DTYPE_F16, 3);
    struct problem large = problem_of(DTYPE_F16, 100);
    struct inputs *a = make(&small, 7);
    struct inputs *b = make(&large, 7);
    (void)state;

    assert_memory_equal(a->q, b->q, problem_q_elems(&small) * 2);
    assert_memory_equal(a->k, b->k, problem_k_elems(&small) * 2);
    assert_memory_equal(a->v, b->v, problem_v_elems(&small) * 2);
    inputs_destroy(a);
    inputs_destroy(b);
}

static size_t count_equal(const uint16_t *a, const uint16_t *b, size_t count)
{
    size_t equal = 0;

    for (size_t i = 0; i < count; i++) {
        equal += a[i] == b[i];
    }
    return equal;
}

/* Unrelated arrays of 1000 values agree in about one of 2048 places. */
static void tensors_and_seeds_are_unrelated(void **state)
{
    struct problem problem = problem_of(DTYPE_F16, 100);
    struct inputs *a = make(&problem, 7);
    struct inputs *b = make(&problem, 8);
    (void)state;

    assert_in_range(count_equal(a->q, a->k, 1000), 0, 10);
    assert_in_range(count_equal(a->k, a->v, 1000), 0, 10);
    assert_in_range(count_equal(a->q, a->v, 1000), 0, 10);
    assert_in_range(count_equal(a->q, b->q, 1000), 0, 10);
    assert_in_range(count_equal(a->k, b->q, 1000), 0, 10);
    inputs_destroy(a);
    inputs_destroy(b);
}

static void create_without_keys_gives_arrays(void **state)
{
    struct problem problem = problem_of(DTYPE_F16, 0);
    struct inputs *inputs = make(&problem, 1);
    (void)state;

    assert_non_null(inputs->q);
    assert_non_null(inputs->k);
    assert_non_null(inputs->v);
    inputs_destroy(inputs);
}

static void create_type_without_kernel_refused(void **state)
{
    struct problem problem = problem_of(DTYPE_BF16, 1);
    struct inputs *inputs = (struct inputs *)&problem;
    (void)state;

    assert_int_equal(inputs_create(&problem, 1, &inputs), STATUS_BAD_INPUT);
    assert_null(inputs);
    assert_string_equal(status_last()->what, "dtype");
    status_clear();
}

static void create_without_memory_fails_on_every_call(void **state)
{
    struct problem problem = optional_problem(DTYPE_F16, 100);
    size_t call = 0;
    bool failed = true;
    (void)state;

    while (failed) {
        struct inputs *inputs = (struct inputs *)&problem;
        fail_alloc_on(++call);
        enum status status = inputs_create(&problem, 1, &inputs);
        failed = fail_alloc_at == 0;
        fail_alloc_on(0);
        assert_status(failed ? STATUS_NO_MEMORY : STATUS_OK, status);
        assert_true(failed == (inputs == NULL));
        inputs_destroy(inputs);
        status_clear();
    }
    assert_int_equal(call, 7);
}

static void destroy_nothing_is_allowed(void **state)
{
    (void)state;

    inputs_destroy(NULL);
}

static void options_not_asked_for_have_no_array(void **state)
{
    struct problem problem = problem_of(DTYPE_F16, 100);
    struct inputs *inputs = make(&problem, 1);
    (void)state;

    assert_null(inputs->sinks);
    assert_null(inputs->mask);
    inputs_destroy(inputs);
}

static bool is_a_value(float value)
{
    return value >= -2.0F && value < 2.0F && (double)value * 512.0 == floor((double)value * 512.0);
}

static void sinks_are_values_and_differ_by_head(void **state)
{
    struct problem problem = optional_problem(DTYPE_F16, 100);
    struct inputs *inputs = make(&problem, 1);
    (void)state;

    for (size_t head = 0; head < problem.q_heads; head++) {
        assert_true(is_a_value(inputs->sinks[head]));
        assert_true(head == 0 || inputs->sinks[head] != inputs->sinks[head - 1]);
    }
    inputs_destroy(inputs);
}

/* 37 x 1000 draws: 4625 hidden ones expected, standard deviation 64; the others' mean is 0. */
static void mask_hides_one_key_in_eight(void **state)
{
    struct problem problem = optional_problem(DTYPE_F32, 1000);
    struct inputs *inputs = make(&problem, 1);
    size_t hidden = 0;
    double sum = 0.0;
    (void)state;

    for (size_t i = 0; i < 37000; i++) {
        if (inputs->mask[i] == -INFINITY) {
            hidden++;
        } else {
            assert_true(is_a_value(inputs->mask[i]));
            sum += (double)inputs->mask[i];
        }
    }
    assert_in_range(hidden, 4300, 4950);
    assert_true(fabs(sum / 32000.0) < 0.05);
    inputs_destroy(inputs);
}

static void options_do_not_depend_on_type_or_size(void **state)
{
    struct problem small = optional_problem(DTYPE_F16, 3);
    struct problem large = optional_problem(DTYPE_F32, 100);
    struct inputs *a = make(&small, 7);
    struct inputs *b = make(&large, 7);
    (void)state;

    assert_memory_equal(a->sinks, b->sinks, 4 * sizeof(float));
    assert_memory_equal(a->mask, b->mask, 37 * 3 * sizeof(float));
    inputs_destroy(a);
    inputs_destroy(b);
}

static void mask_without_keys_is_an_array(void **state)
{
    struct problem problem = optional_problem(DTYPE_F32, 0);
    struct inputs *inputs = make(&problem, 1);
    (void)state;

    assert_non_null(inputs->mask);
    inputs_destroy(inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_multiples_within_range),
        cmocka_unit_test(values_are_spread_evenly),
        cmocka_unit_test(both_types_get_the_same_numbers),
        cmocka_unit_test(value_does_not_depend_on_the_size_of_its_tensor),
        cmocka_unit_test(tensors_and_seeds_are_unrelated),
        cmocka_unit_test(create_without_keys_gives_arrays),
        cmocka_unit_test(create_type_without_kernel_refused),
        cmocka_unit_test(create_without_memory_fails_on_every_call),
        cmocka_unit_test(destroy_nothing_is_allowed),
        cmocka_unit_test(options_not_asked_for_have_no_array),
        cmocka_unit_test(sinks_are_values_and_differ_by_head),
        cmocka_unit_test(mask_hides_one_key_in_eight),
        cmocka_unit_test(options_do_not_depend_on_type_or_size),
        cmocka_unit_test(mask_without_keys_is_an_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
