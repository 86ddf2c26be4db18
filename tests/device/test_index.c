/* Index arithmetic of the kernels beyond 2^31 and 2^32 elements, where no tensor could be
 * allocated: a probe kernel behind the product's own text asks its functions for row numbers and
 * tiles, and problem.h says what they must be. */
#include "host/attention/problem.h"
#include "host/base/size.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "kernels/kernels.h"
#include "kernels/layout.h"
#include "tests/device/device_case.h"

#include <stdio.h>
#include <string.h>

static const char probe[] =
    "\n__kernel void probe(__global const struct attention_params *params,\n"
    "                    __global const ulong *items, __global ulong *out)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    const struct item item = rows_item(params, items[i]);\n"
    "    __global ulong *to = out + 8 * i;\n"
    "    to[0] = rows_q_row(params, &item, item.rows - 1) * HEAD_DIM;\n"
    "    to[1] = (rows_kv_row(params, &item) + item.tile_first * BLOCK_N) * HEAD_DIM;\n"
    "    to[2] = item.tile_first;\n"
    "    to[3] = item.tile_count;\n"
    "    to[4] = item.rows;\n"
    "    to[5] = (ulong)rows_columns(params, &item, 0, item.tile_first * BLOCK_N).first;\n"
    "    to[6] = items[i] * LAYOUT_PART_ELEMS(BLOCK_M, V_PITCH);\n"
    "    to[7] = item.first_row;\n"
    "}\n";

enum { WORDS = 8, ITEMS = 6 };

static struct device *device;

static void run_probe(const struct problem *problem, const uint64_t items[ITEMS],
                      uint64_t out[ITEMS * WORDS])
{
    const struct attention_params params = {.batch = problem->batch,
                                            .q_heads = problem->q_heads,
                                            .kv_heads = problem->kv_heads,
                                            .seq_q = problem->seq_q,
                                            .seq_kv = problem->seq_kv,
                                            .reach_left = problem_reach_left(problem),
                                            .reach_right = problem_reach_right(problem),
                                            .parts = problem_parts(problem)};
    const size_t bytes = strlen(kernels_attention_simd) + sizeof probe;
    const size_t out_bytes = ITEMS * WORDS * sizeof out[0];
    char *source = malloc(bytes);
    cl_kernel kernel = NULL;
    cl_mem buffers[3] = {NULL, NULL, NULL};
    struct event_time time;
    assert_non_null(source);
    snprintf(source, bytes, "%s%s", kernels_attention_simd, probe);
    DEVICE_OK(
        build_kernel(device, source, "-DHEAD_DIM=128 -DBLOCK_M=32 -DBLOCK_N=64", "probe", &kernel));
    DEVICE_OK(device_buffer(device, CL_MEM_READ_ONLY, sizeof params, &params, &buffers[0]));
    DEVICE_OK(device_buffer(device, CL_MEM_READ_ONLY, ITEMS * sizeof items[0], items, &buffers[1]));
    DEVICE_OK(device_buffer(device, CL_MEM_READ_WRITE, out_bytes, NULL, &buffers[2]));
    for (cl_uint i = 0; i < 3; ++i) {
        assert_int_equal(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), CL_SUCCESS);
    }
    DEVICE_OK(launch_kernel(device, kernel, ITEMS, 1, 1, &time));
    DEVICE_OK(device_read(device, buffers[2], 0, out_bytes, out));
    for (size_t i = 0; i < 3; ++i) {
        clReleaseMemObject(buffers[i]);
    }
    clReleaseKernel(kernel);
    free(source);
}

/* First items, last items and some between, of a problem whose items are counted in 64 bits. */
static void choose_items(const struct problem *problem, uint64_t items[ITEMS])
{
    const uint64_t count = problem_item_count(problem);
    const uint64_t chosen[ITEMS] = {0, 1, count / 3, count / 2 + 7, count - 2, count - 1};
    memcpy(items, chosen, sizeof chosen);
}

static void assert_same_items(const struct problem *problem)
{
    uint64_t items[ITEMS], out[ITEMS * WORDS];
    const size_t group = problem_group(problem);
    choose_items(problem, items);
    run_probe(problem, items, out);
    for (size_t i = 0; i < ITEMS; ++i) {
        const struct problem_item item = problem_item(problem, items[i]);
        const size_t last = item.first_row + item.rows - 1;
        const size_t head = item.kv_head * group + last % group;
        const size_t q_row = (item.batch * problem->q_heads + head) * problem->seq_q + last / group;
        const size_t kv_row = (item.batch * problem->kv_heads + item.kv_head) * problem->seq_kv;
        size_t first, end;
        problem_visible(problem, item.first_row / group, &first, &end);
        const size_t key = item.tile_first * problem->block_n;
        const uint64_t *got = out + i * WORDS;
        assert_true(got[0] == q_row * problem->head_dim);
        assert_true(got[1] == (kv_row + key) * problem->head_dim);
        assert_true(got[2] == item.tile_first);
        assert_true(got[3] == item.tile_count);
        assert_true(got[4] == item.rows);
        assert_true(got[5] == (first > key ? size_min(first - key, problem->block_n) : 0));
        assert_true(got[6] == items[i] * LAYOUT_PART_ELEMS(problem->block_m, problem->head_dim));
        assert_true(got[7] == item.first_row);
    }
}

static struct problem huge_problem(void)
{
    return (struct problem){.batch = 3,
                            .q_heads = 24,
                            .kv_heads = 8,
                            .seq_q = ((size_t)1 << 33) + 5,
                            .seq_kv = ((size_t)1 << 33) + 77,
                            .head_dim = 128,
                            .head_dim_v = 128,
                            .block_m = 32,
                            .block_n = 64,
                            .dtype = DTYPE_F16,
                            .window_left = -1,
                            .window_right = -1};
}

static void index_beyond_32_bits_is_the_hosts(void **state)
{
    (void)state;
    struct problem problem = huge_problem();
    assert_true(problem_item_count(&problem) > UINT32_MAX);
    assert_same_items(&problem);
}

static void index_of_causal_windows_beyond_32_bits_is_the_hosts(void **state)
{
    (void)state;
    struct problem problem = huge_problem();
    problem.causal = true;
    assert_same_items(&problem);
    problem.window_left = (int64_t)1 << 32;
    assert_same_items(&problem);
}

static void index_of_parts_beyond_32_bits_is_the_hosts(void **state)
{
    (void)state;
    struct problem problem = huge_problem();
    problem.parts = 7;
    problem.window_left = 1000000;
    assert_same_items(&problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_beyond_32_bits_is_the_hosts),
        cmocka_unit_test(index_of_causal_windows_beyond_32_bits_is_the_hosts),
        cmocka_unit_test(index_of_parts_beyond_32_bits_is_the_hosts),
    };
    device = device_case_device();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_close(device);
    return failed;
}
