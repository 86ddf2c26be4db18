/* Both kernel styles against the reference, over shapes: result, peak and lines, all policies.
 *
 *     test_attention STYLE DTYPE LOCAL_SIZE [small]
 *
 * A build is needed for each head_dim and block, so those two are walked along two axes, and every
 * build runs all lengths and head counts. `small` is what a simulator can do in a minute. */
#include "tests/device/attention_case.h"

#include <string.h>

static struct device *device;
static enum kernel_style style = KERNEL_SIMD;
static enum dtype dtype = DTYPE_F32;
static size_t local_size;

static const size_t seq_kv_values[] = {1, 63, 64, 65, 1000};
static const size_t seq_q_values[] = {1, 31, 33, 100};
enum { SEQ_KV_COUNT = 5, SEQ_Q_COUNT = 4 };

/* What one build serves. */
struct build_shape {
    size_t head_dim, block_m, block_n;
};

static void run_one(struct build_shape build, size_t heads, size_t seq_q, size_t seq_kv)
{
    struct problem problem = case_cap16(1);
    problem.q_heads = problem.kv_heads = heads;
    problem.seq_q = seq_q;
    problem.seq_kv = seq_kv;
    problem.head_dim = problem.head_dim_v = build.head_dim;
    problem.block_m = build.block_m;
    problem.block_n = build.block_n;
    problem.dtype = dtype;
    struct case_setup setup;
    case_setup(&setup, device, &problem, style, local_size, NULL);
    case_assert_policies(&setup, false);
    case_teardown(&setup);
}

/* All lengths crossed, with one head and with three. */
static void run_lengths(struct build_shape build)
{
    for (size_t i = 0; i < SEQ_KV_COUNT; ++i) {
        for (size_t j = 0; j < SEQ_Q_COUNT; ++j) {
            run_one(build, (i + j) % 2 == 0 ? 1 : 3, seq_q_values[j], seq_kv_values[i]);
        }
    }
}

/* Every length once, side by side: for blocks so small that crossing them takes minutes. */
static void run_lengths_paired(struct build_shape build)
{
    for (size_t i = 0; i < SEQ_KV_COUNT; ++i) {
        for (size_t heads = 1; heads <= 3; heads += 2) {
            run_one(build, heads, seq_q_values[i % SEQ_Q_COUNT], seq_kv_values[i]);
        }
    }
}

static void attention_all_head_dims_agree(void **state)
{
    (void)state;
    static const size_t head_dim[] = {1, 40, 63, 64, 80, 128, 256};
    for (size_t i = 0; i < sizeof head_dim / sizeof head_dim[0]; ++i) {
        run_lengths((struct build_shape){head_dim[i], 32, 64});
    }
}

static void attention_all_blocks_agree(void **state)
{
    (void)state;
    run_lengths_paired((struct build_shape){40, 1, 1});
    run_lengths_paired((struct build_shape){40, 4, 2});
    run_lengths((struct build_shape){80, 8, 16});
    run_lengths((struct build_shape){63, 33, 65});
}

/* Head dim of V of its own, grouped heads, batch, causal and windows: the parts of rows.clh. */
static void attention_masks_and_groups_agree(void **state)
{
    (void)state;
    static const struct {
        size_t q_heads, kv_heads, seq_q, seq_kv;
        bool causal;
        int64_t left, right;
    } cases[] = {
        {6, 2, 45, 130, false, -1, -1}, {4, 1, 100, 100, true, -1, -1},
        {3, 3, 70, 33, true, -1, -1},   {2, 2, 33, 200, true, 40, -1},
        {2, 1, 90, 90, false, 10, 5},   {2, 2, 5, 0, false, -1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct problem problem = case_cap16(1);
        problem.batch = 2;
        problem.q_heads = cases[i].q_heads;
        problem.kv_heads = cases[i].kv_heads;
        problem.seq_q = cases[i].seq_q;
        problem.seq_kv = cases[i].seq_kv;
        problem.head_dim = 40;
        problem.head_dim_v = 24;
        problem.block_m = 8;
        problem.block_n = 16;
        problem.dtype = dtype;
        problem.causal = cases[i].causal;
        problem.window_left = cases[i].left;
        problem.window_right = cases[i].right;
        struct case_setup setup;
        case_setup(&setup, device, &problem, style, local_size, NULL);
        case_assert_policies(&setup, true);
        case_teardown(&setup);
    }
}

/* Rewound ranges filled with NaN bytes, a pool that starts off the buffer's beginning. */
static void attention_poison_and_shift_change_nothing(void **state)
{
    (void)state;
    struct problem problem = case_cap16(5);
    problem.q_heads = problem.kv_heads = 2;
    problem.dtype = dtype;
    struct case_setup setup;
    case_setup(&setup, device, &problem, style, local_size, NULL);
    setup.shift_bytes = 384;
    case_assert_policies(&setup, true);
    case_teardown(&setup);
}

/* The reference program past its cap: 16 tiles in 1 MiB, 64 tiles in pools that grow. */
static void attention_cap16_policies_equal_bit_for_bit(void **state)
{
    (void)state;
    for (size_t tiles = 16; tiles <= 64; tiles *= 4) {
        struct problem problem = case_cap16(tiles);
        problem.dtype = dtype;
        struct case_setup setup;
        case_setup(&setup, device, &problem, style, local_size, NULL);
        setup.pool_bytes = tiles == 16 && dtype == DTYPE_F16 ? 1 << 20 : 0;
        case_assert_policies(&setup, false);
        case_teardown(&setup);
    }
}

enum { SMALL_SHAPES = 2 };

static struct problem small_problem(size_t i)
{
    static const struct {
        size_t seq_q, seq_kv, head_dim, block_m, block_n;
    } shapes[SMALL_SHAPES] = {{5, 17, 8, 4, 8}, {9, 33, 20, 3, 16}};
    struct problem problem = case_cap16(1);
    problem.q_heads = problem.kv_heads = 2;
    problem.seq_q = shapes[i].seq_q;
    problem.seq_kv = shapes[i].seq_kv;
    problem.head_dim = problem.head_dim_v = shapes[i].head_dim;
    problem.block_m = shapes[i].block_m;
    problem.block_n = shapes[i].block_n;
    problem.dtype = dtype;
    problem.causal = i == 1;
    return problem;
}

/* What reads a temporary that nothing wrote shows in a simulator alone, and there only while no
 * paint has counted as a write: in the first arenas of the process. */
static void attention_fresh_arenas_are_written_before_read(void **state)
{
    (void)state;
    struct problem problem = small_problem(SMALL_SHAPES - 1);
    struct case_setup setup;
    case_setup(&setup, device, &problem, style, local_size, NULL);
    setup.launch_first = true;
    struct case_result result = case_run(&setup, POLICY_NESTED, false, NULL);
    assert_true(case_is_right(&result));
    case_teardown(&setup);
}

static void attention_small_shapes_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < SMALL_SHAPES; ++i) {
        struct problem problem = small_problem(i);
        struct case_setup setup;
        case_setup(&setup, device, &problem, style, local_size, NULL);
        case_assert_policies(&setup, true);
        case_teardown(&setup);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(attention_small_shapes_agree),
        cmocka_unit_test(attention_all_head_dims_agree),
        cmocka_unit_test(attention_all_blocks_agree),
        cmocka_unit_test(attention_masks_and_groups_agree),
        cmocka_unit_test(attention_poison_and_shift_change_nothing),
        cmocka_unit_test(attention_cap16_policies_equal_bit_for_bit),
    };
    const struct CMUnitTest small[] = {
        cmocka_unit_test(attention_fresh_arenas_are_written_before_read),
        cmocka_unit_test(attention_small_shapes_agree),
    };
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
