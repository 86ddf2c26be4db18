/* Every option of attention alone and in pairs, and the edges that users fall over.
 *
 *     test_options STYLE DTYPE LOCAL_SIZE [small]
 *
 * What needs a build of its own (softcap, ALiBi, mask, sinks, parts) is walked in the outer loop,
 * what is an argument (causal, windows, grouped heads, batch, scale) inside, so that pairs share
 * builds. `small` is what a simulator can do in a minute. */
#include "tests/device/attention_case.h"

#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

static struct device *device;
static enum kernel_style style = KERNEL_SIMD;
static enum dtype dtype = DTYPE_F32;
static size_t local_size;

enum { BUILT_OPTIONS = 5 };

/* Option `which` of those that need a build; BUILT_OPTIONS = none. */
static void turn_on(struct problem *problem, size_t which)
{
    switch (which) {
    case 0:
        problem->softcap = 1.5;
        break;
    case 1:
        problem->alibi = true;
        break;
    case 2:
        problem->mask = true;
        break;
    case 3:
        problem->sinks = true;
        break;
    case 4:
        problem->parts = 3;
        break;
    default:
        break;
    }
}

static struct problem small_problem(void)
{
    struct problem problem = case_cap16(1);
    problem.batch = 2;
    problem.q_heads = problem.kv_heads = 2;
    problem.seq_q = 21;
    problem.seq_kv = 77;
    problem.head_dim = 40;
    problem.head_dim_v = 24;
    problem.block_m = 8;
    problem.block_n = 16;
    problem.dtype = dtype;
    return problem;
}

static void assert_right(const struct problem *problem,
                         void (*edit)(const struct problem *problem, struct inputs *inputs))
{
    const struct case_build build = {.style = style, .local_size = local_size, .edit = edit};
    struct case_setup setup;
    case_setup_build(&setup, device, problem, &build);
    case_assert_policies(&setup, true);
    case_teardown(&setup);
}

/* What an argument of the kernel can change, on the build that `problem` needs. */
static void run_arguments(struct problem problem)
{
    assert_right(&problem, NULL);
    problem.causal = true;
    assert_right(&problem, NULL);
    problem.window_left = 20;
    assert_right(&problem, NULL);
    problem.causal = false;
    problem.window_right = 9;
    problem.q_heads = 6;
    assert_right(&problem, NULL);
    problem.window_left = problem.window_right = -1;
    problem.scale = 0.75;
    assert_right(&problem, NULL);
    problem.seq_q = 90;
    problem.causal = true;
    assert_right(&problem, NULL);
}

static void options_alone_and_in_pairs_agree(void **state)
{
    (void)state;
    for (size_t first = 0; first <= BUILT_OPTIONS; ++first) {
        for (size_t second = first; second < BUILT_OPTIONS || second == first; ++second) {
            struct problem problem = small_problem();
            turn_on(&problem, first);
            turn_on(&problem, second);
            run_arguments(problem);
        }
    }
}

/* Rows without a key: no keys at all, and rows above the diagonal. Out 0 and LSE -inf exactly. */
static void options_row_without_a_key_is_zero(void **state)
{
    (void)state;
    for (size_t which = 0; which <= BUILT_OPTIONS; ++which) {
        struct problem problem = small_problem();
        turn_on(&problem, which);
        problem.seq_kv = 0;
        struct case_setup setup;
        case_setup(&setup, device, &problem, style, local_size, NULL);
        struct case_result result = case_run(&setup, POLICY_NESTED, true, NULL);
        assert_true(case_is_right(&result));
        float *out = calloc(problem_out_elems(&problem), sizeof out[0]);
        float *lse = calloc(problem_lse_elems(&problem), sizeof lse[0]);
        assert_true(out != NULL && lse != NULL);
        DEVICE_OK(attention_read(setup.attention, out, lse));
        for (size_t i = 0; i < problem_out_elems(&problem); ++i) {
            assert_true(out[i] == 0.0F);
        }
        for (size_t i = 0; i < problem_lse_elems(&problem); ++i) {
            assert_true(lse[i] == -INFINITY);
        }
        free(out);
        free(lse);
        case_teardown(&setup);
    }
}

/* The mask hides everything from odd positions and the first, and elsewhere the first half. The
 * first head's last value is NaN: rows that see nothing stay 0. */
static void hide_much(const struct problem *problem, struct inputs *inputs)
{
    const size_t row_bytes = problem->head_dim_v * dtype_bytes(problem->dtype);
    memset((char *)inputs->v + (problem->seq_kv - 1) * row_bytes, 0xFF, row_bytes);
    for (size_t p = 0; p < problem->seq_q; ++p) {
        for (size_t key = 0; key < problem->seq_kv; ++key) {
            if (p % 2 == 1 || key < problem->seq_kv / 2 || p == 0) {
                inputs->mask[p * problem->seq_kv + key] = -INFINITY;
            }
        }
    }
}

static void options_masked_rows_and_parts_agree(void **state)
{
    (void)state;
    static const size_t with[] = {BUILT_OPTIONS, 3, 4};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; ++i) {
        struct problem problem = small_problem();
        problem.mask = true;
        turn_on(&problem, with[i]);
        assert_right(&problem, hide_much);
    }
}

/* Split-KV, also into more parts than there are tiles. */
static void options_any_number_of_parts_agrees(void **state)
{
    (void)state;
    static const size_t parts[] = {1, 2, 3, 7, 40};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        struct problem problem = small_problem();
        problem.parts = parts[i];
        assert_right(&problem, NULL);
        problem.seq_q = 1;
        problem.q_heads = 8;
        problem.seq_kv = 300;
        assert_right(&problem, NULL);
    }
}

/* Every score is +-128 x 60 x 60 = +-460,800: far beyond f16, whose products nobody stores. */
static void make_huge(const struct problem *problem, struct inputs *inputs)
{
    const size_t q_count = problem_q_elems(problem), k_count = problem_k_elems(problem);
    for (size_t i = 0; i < q_count; ++i) {
        if (dtype == DTYPE_F16) {
            ((uint16_t *)inputs->q)[i] = dtype_f16_from_f32(60.0F);
        } else {
            ((float *)inputs->q)[i] = 60.0F;
        }
    }
    for (size_t i = 0; i < k_count; ++i) {
        const float value = i / problem->head_dim % 3 == 0 ? -60.0F : 60.0F;
        if (dtype == DTYPE_F16) {
            ((uint16_t *)inputs->k)[i] = dtype_f16_from_f32(value);
        } else {
            ((float *)inputs->k)[i] = value;
        }
    }
}

static void options_huge_scores_are_finite_and_right(void **state)
{
    (void)state;
    for (size_t which = 0; which <= BUILT_OPTIONS; ++which) {
        struct problem problem = small_problem();
        turn_on(&problem, which);
        problem.scale = 1.0;
        assert_right(&problem, make_huge);
        problem.scale = -250.0; /* scores of some 1e4 from random inputs */
        assert_right(&problem, NULL);
    }
}

static void options_33000_keys_agree(void **state)
{
    (void)state;
    struct problem problem = small_problem();
    problem.batch = 1;
    problem.seq_q = 2;
    problem.seq_kv = 33000;
    assert_right(&problem, NULL);
}

/* K and V of the second head are NaN: what lies past the first head's last key. */
static void spoil_second_head(const struct problem *problem, struct inputs *inputs)
{
    const size_t bytes = dtype_bytes(problem->dtype);
    const size_t k_half = problem_k_elems(problem) / 2 * bytes;
    const size_t v_half = problem_v_elems(problem) / 2 * bytes;
    memset((char *)inputs->k + k_half, 0xFF, k_half);
    memset((char *)inputs->v + v_half, 0xFF, v_half);
}

/* out and lse of the first head, one behind the other; freed by the caller. */
static float *first_head(void (*edit)(const struct problem *problem, struct inputs *inputs),
                         size_t *count)
{
    struct problem problem = small_problem();
    problem.batch = 1;
    const struct case_build build = {.style = style, .local_size = local_size, .edit = edit};
    struct case_setup setup;
    case_setup_build(&setup, device, &problem, &build);
    (void)case_run(&setup, POLICY_NESTED, true, NULL);
    const size_t out_count = problem_out_elems(&problem), lse_count = problem_lse_elems(&problem);
    float *out = calloc(out_count + lse_count, sizeof out[0]);
    float *lse = calloc(lse_count, sizeof lse[0]);
    assert_true(out != NULL && lse != NULL);
    DEVICE_OK(attention_read(setup.attention, out, lse));
    memcpy(out + out_count / 2, lse, lse_count / 2 * sizeof lse[0]);
    *count = (out_count + lse_count) / 2;
    free(lse);
    case_teardown(&setup);
    return out;
}

static void options_rows_past_the_end_never_reach_a_result(void **state)
{
    (void)state;
    size_t count = 0;
    float *clean = first_head(NULL, &count);
    float *beside_nan = first_head(spoil_second_head, &count);
    assert_memory_equal(clean, beside_nan, count * sizeof clean[0]);
    free(clean);
    free(beside_nan);
}

/* The same NaN in the reference and in the result, and nowhere else. */
static void options_nan_stands_where_the_reference_has_it(void **state)
{
    (void)state;
    struct problem problem = small_problem();
    assert_right(&problem, spoil_second_head);
}

static void options_small_shapes_agree(void **state)
{
    (void)state;
    struct problem problem = small_problem();
    problem.batch = 1;
    problem.q_heads = problem.kv_heads = 1;
    problem.seq_q = 5;
    problem.seq_kv = 19;
    problem.head_dim = problem.head_dim_v = 8;
    problem.block_m = 4;
    problem.block_n = 8;
    problem.softcap = 2.0;
    problem.alibi = problem.mask = problem.sinks = true;
    problem.parts = 2;
    assert_right(&problem, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(options_small_shapes_agree),
        cmocka_unit_test(options_alone_and_in_pairs_agree),
        cmocka_unit_test(options_row_without_a_key_is_zero),
        cmocka_unit_test(options_masked_rows_and_parts_agree),
        cmocka_unit_test(options_any_number_of_parts_agrees),
        cmocka_unit_test(options_huge_scores_are_finite_and_right),
        cmocka_unit_test(options_33000_keys_agree),
        cmocka_unit_test(options_rows_past_the_end_never_reach_a_result),
        cmocka_unit_test(options_nan_stands_where_the_reference_has_it),
    };
    const struct CMUnitTest small[] = {cmocka_unit_test(options_small_shapes_agree)};
    struct case_arguments arguments;
    if (!case_arguments(argc, argv, &arguments)) {
        return 2;
    }
    style = arguments.style;
    dtype = arguments.dtype;
    local_size = arguments.local_size;
    device = device_case_device();
    int failed = arguments.few ? cmocka_run_group_tests(small, NULL, NULL)
                               : cmocka_run_group_tests(all, NULL, NULL);
    device_close(device);
    return failed;
}
