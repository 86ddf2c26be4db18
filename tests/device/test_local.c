/* Local arenas: the work-group's own memory, painted and scanned by the checking build.
 *
 *     test_local STYLE DTYPE LOCAL_SIZE [small]
 *
 * Both styles against the reference, peak and lines, all policies, and what must be found when it
 * is wrong. `small` is what a simulator can do in a minute. */
#include "host/device/build.h"
#include "host/device/launch.h"
#include "kernels/kernels.h"
#include "kernels/layout.h"
#include "tests/device/attention_case.h"

#include <string.h>

static struct device *device;
static enum kernel_style style = KERNEL_SIMD;
static enum dtype dtype = DTYPE_F32;
static size_t local_size;

/* Lengths that fill no block, two heads, two PEs that walk several items each. */
struct case_shape {
    size_t seq_q, seq_kv, head_dim, head_dim_v, block_m, block_n;
};

static struct problem problem_of(struct case_shape shape)
{
    struct problem problem = case_cap16(1);
    problem.q_heads = problem.kv_heads = 2;
    problem.seq_q = shape.seq_q;
    problem.seq_kv = shape.seq_kv;
    problem.head_dim = shape.head_dim;
    problem.head_dim_v = shape.head_dim_v;
    problem.block_m = shape.block_m;
    problem.block_n = shape.block_n;
    problem.dtype = dtype;
    return problem;
}

static void set_up(struct case_setup *setup, const struct problem *problem, const char *source)
{
    const struct case_build build = {
        .style = style, .arena = PE_ARENAS_LOCAL, .local_size = local_size, .source = source};
    case_setup_build(setup, device, problem, &build);
}

static void run_policies(const struct problem *problem)
{
    struct case_setup setup;
    set_up(&setup, problem, NULL);
    case_assert_policies(&setup, true);
    case_teardown(&setup);
}

static void local_small_shapes_agree(void **state)
{
    (void)state;
    const struct case_shape shapes[] = {{5, 17, 8, 8, 4, 8}, {9, 33, 20, 12, 3, 16}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        struct problem problem = problem_of(shapes[i]);
        problem.causal = i == 1;
        run_policies(&problem);
    }
}

static void local_odd_shapes_agree(void **state)
{
    (void)state;
    const struct case_shape shapes[] = {{7, 5, 40, 40, 1, 1}, {70, 150, 63, 40, 33, 65}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
        const struct problem problem = problem_of(shapes[i]);
        run_policies(&problem);
    }
}

/* More PEs than items, and no key at all: pools that nothing but the starting state touches. */
static void local_idle_pes_and_no_keys_agree(void **state)
{
    (void)state;
    struct problem problem = problem_of((struct case_shape){4, 0, 8, 8, 4, 8});
    run_policies(&problem);
    problem.q_heads = problem.kv_heads = 1;
    problem.seq_kv = 9;
    run_policies(&problem);
}

static void local_options_and_parts_agree(void **state)
{
    (void)state;
    struct problem problem = problem_of((struct case_shape){21, 90, 16, 16, 8, 16});
    problem.kv_heads = 1;
    problem.causal = true;
    problem.softcap = 20.0;
    problem.alibi = true;
    problem.sinks = true;
    problem.mask = true;
    problem.parts = 2;
    run_policies(&problem);
}

static struct problem chip48(size_t tiles)
{
    return problem_of((struct case_shape){64, tiles * 32, 64, 64, 16, 32});
}

/* In 47 KiB, what a device of 48 KiB leaves beside the guard. */
static void local_chip48_policies_equal_bit_for_bit(void **state)
{
    (void)state;
    const struct problem problem = chip48(2);
    struct case_setup setup;
    set_up(&setup, &problem, NULL);
    setup.pool_bytes = dtype == DTYPE_F16 ? pe_arenas_local_pool(48 << 10) : 0;
    case_assert_policies(&setup, true);
    case_teardown(&setup);
}

/* The same arithmetic in the same order: this device gives the same bits, though two builds promise
 * none. */
static void local_builds_agree_here(void **state)
{
    (void)state;
    const struct problem problem = chip48(2);
    struct case_setup setup;
    set_up(&setup, &problem, NULL);
    const struct case_result result = case_run(&setup, POLICY_NESTED, false, NULL);
    assert_true(result.check.builds_agree);
    case_teardown(&setup);
}

/* Where things go wrong ---------------------------------------------------------------------- */

static struct case_result run_broken(const char *source, enum policy policy,
                                     void (*edit)(struct offset_table *table))
{
    const struct problem problem = problem_of((struct case_shape){9, 40, 16, 16, 4, 16});
    struct case_setup setup;
    set_up(&setup, &problem, source);
    const struct case_result result = case_run(&setup, policy, false, edit);
    case_teardown(&setup);
    return result;
}

static void move(struct offset_table *table, size_t column, size_t bytes)
{
    for (size_t row = 0; row < table->rows; ++row) {
        table->cells[row * table->columns + column] += bytes;
    }
}

static void move_out_of_pool(struct offset_table *table)
{
    move(table, TABLE_ACC_NEW, 128);
}

static void local_write_past_the_pool_breaks_the_guard(void **state)
{
    (void)state;
    const struct case_result right = run_broken(NULL, POLICY_NESTED, NULL);
    assert_true(case_is_right(&right));
    const struct case_result result = run_broken(NULL, POLICY_NESTED, move_out_of_pool);
    assert_false(result.check.touch.guards_intact);
    assert_false(result.agrees);
}

static void move_past_the_peak(struct offset_table *table)
{
    move(table, TABLE_ACC_NEW, sizeof(float));
}

static void local_write_past_the_peak_is_measured(void **state)
{
    (void)state;
    assert_false(run_broken(NULL, POLICY_NESTED, move_past_the_peak).agrees);
}

/* m where its last row is l's first one. */
static void move_into_neighbour(struct offset_table *table)
{
    move(table, TABLE_M, 128 - 3 * sizeof(float));
}

static void local_table_entry_in_its_neighbour_is_wrong(void **state)
{
    (void)state;
    const struct case_result result = run_broken(NULL, POLICY_NESTED, move_into_neighbour);
    assert_false(result.check.verdict.verified);
}

/* Two temporaries in one place leave lines of the plan untouched. */
static void fold_temporaries(struct offset_table *table)
{
    for (size_t row = 0; row < table->rows; ++row) {
        table->cells[row * table->columns + TABLE_V] = table->cells[row * table->columns + TABLE_S];
    }
}

static void local_untouched_lines_are_measured(void **state)
{
    (void)state;
    const struct case_result result = run_broken(NULL, POLICY_UNSCOPED, fold_temporaries);
    assert_true(result.check.touch.touched_lines < result.plan.touched_lines);
    assert_false(result.agrees);
}

/* The text of the style with lines before it; freed by the caller. */
static char *prefixed(const char *lines)
{
    const char *source = style == KERNEL_SIMT ? kernels_attention_simt : kernels_attention_simd;
    const size_t bytes = strlen(lines) + strlen(source) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    snprintf(text, bytes, "%s%s", lines, source);
    return text;
}

/* What is timed is compared, too: here the build that is painted is right, and it is not. */
static void local_timing_build_that_is_wrong_is_found(void **state)
{
    (void)state;
    char *source = prefixed("#if !ARENA_CHECK\n#define STAGE_COPIES 0\n#endif\n");
    const struct case_result result = run_broken(source, POLICY_NESTED, NULL);
    free(source);
    assert_true(result.agrees);
    assert_false(result.check.builds_agree);
    assert_false(result.check.verdict.verified);
}

/* Bytes from a line's start to where the argument is. */
static const char probe[] = "\n__kernel void probe(ARENA arena_unit *arena, __global ulong *out)\n"
                            "{\n"
                            "    if (get_local_id(0) == 0)\n"
                            "        out[get_group_id(0)] = (ulong)arena % 128;\n"
                            "}\n";

static void local_arena_begins_a_line(void **state)
{
    (void)state;
    enum { GROUPS = 3 };
    cl_ulong out[GROUPS] = {1, 1, 1};
    const size_t room = strlen(kernels_attention_simd) + sizeof probe;
    char *source = malloc(room);
    cl_kernel kernel = NULL;
    cl_mem buffer = NULL;
    struct event_time time;
    assert_non_null(source);
    snprintf(source, room, "%s%s", kernels_attention_simd, probe);
    DEVICE_OK(build_kernel(device, source, "-DARENA_LOCAL=1", "probe", &kernel));
    DEVICE_OK(device_buffer(device, CL_MEM_READ_WRITE, sizeof out, out, &buffer));
    DEVICE_OK(launch_local_argument(device, kernel, 0, 16000, 0));
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof buffer, &buffer), CL_SUCCESS);
    DEVICE_OK(launch_kernel(device, kernel, GROUPS, 1, 1, &time));
    DEVICE_OK(device_read(device, buffer, 0, sizeof out, out));
    for (size_t i = 0; i < GROUPS; ++i) {
        assert_true(out[i] == 0);
    }
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    free(source);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(local_small_shapes_agree),
        cmocka_unit_test(local_odd_shapes_agree),
        cmocka_unit_test(local_idle_pes_and_no_keys_agree),
        cmocka_unit_test(local_options_and_parts_agree),
        cmocka_unit_test(local_chip48_policies_equal_bit_for_bit),
        cmocka_unit_test(local_builds_agree_here),
        cmocka_unit_test(local_write_past_the_pool_breaks_the_guard),
        cmocka_unit_test(local_write_past_the_peak_is_measured),
        cmocka_unit_test(local_table_entry_in_its_neighbour_is_wrong),
        cmocka_unit_test(local_untouched_lines_are_measured),
        cmocka_unit_test(local_timing_build_that_is_wrong_is_found),
        cmocka_unit_test(local_arena_begins_a_line),
    };
    const struct CMUnitTest small[] = {
        cmocka_unit_test(local_small_shapes_agree),
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
