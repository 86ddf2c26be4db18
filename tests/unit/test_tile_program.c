/* The recorded program: its handles against the layout, its footprint against the design's numbers,
 * its traffic against a count item by item. */
#include "host/attention/tile_program.h"

#include "host/scratch/footprint.h"
#include "kernels/layout.h"
#include "tests/unit/attention_fixture.h"
#include "tests/unit/fail_alloc.h"

#include <string.h>

enum { RANDOM_PROBLEMS = 500, MIB = 1 << 20 };

static struct footprint plan_cap16(enum policy policy, size_t tiles, size_t pool_bytes)
{
    struct problem problem = cap16_problem(tiles);
    struct footprint_request request = {
        .policy = policy, .tiles = tiles, .pool_bytes = pool_bytes, .alignment = 128};
    struct footprint footprint;
    struct program program;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    assert_int_equal(footprint_plan(&program, &request, &footprint), STATUS_OK);
    program_fini(&program);
    return footprint;
}

static void cap16_handles_stand_in_the_columns_of_the_layout(void **state)
{
    static const struct {
        const char *name;
        size_t bytes;
    } expected[TABLE_HANDLES] = {
        [TABLE_Q] = {"q", 8192},        [TABLE_M] = {"m", 128},
        [TABLE_L] = {"l", 128},         [TABLE_ACC] = {"acc", 16384},
        [TABLE_M_NEW] = {"m_new", 128}, [TABLE_ALPHA] = {"alpha", 128},
        [TABLE_L_NEW] = {"l_new", 128}, [TABLE_P] = {"p", 4096},
        [TABLE_S] = {"s", 8192},        [TABLE_K] = {"k", 16384},
        [TABLE_V] = {"v", 16384},       [TABLE_ACC_NEW] = {"acc_new", 16384},
    };
    struct problem problem = cap16_problem(1);
    struct program program;
    (void)state;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    assert_int_equal(program.handle_count, TABLE_HANDLES);
    for (size_t i = 0; i < TABLE_HANDLES; i++) {
        assert_string_equal(program.handles[i].name, expected[i].name);
        assert_int_equal(program.handles[i].size_bytes, expected[i].bytes);
        assert_int_equal(program.handles[i].requested_bytes, expected[i].bytes);
        assert_int_equal(program.handles[i].persistent, i <= TABLE_ACC);
    }
    program_fini(&program);
}

static void cap16_scopes_stand_in_the_columns_of_the_layout(void **state)
{
    static const struct {
        const char *name;
        size_t column, level;
    } expected[] = {
        {"tile", TABLE_SCOPE_TILE, 0},
        {"scores", TABLE_SCOPE_SCORES, 1},
        {"keys", TABLE_SCOPE_KEYS, 2},
        {"values", TABLE_SCOPE_VALUES, 1},
    };
    struct problem problem = cap16_problem(1);
    struct program program;
    (void)state;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    assert_int_equal(program.scope_count, 4);
    for (size_t i = 0; i < program.scope_count; i++) {
        assert_string_equal(program.scopes[i].name, expected[i].name);
        assert_int_equal(program.scopes[i].level, expected[i].level);
        assert_int_equal(program.handle_count + 2 * i, expected[i].column);
    }
    assert_int_equal(program.handle_count + 2 * program.scope_count, TABLE_SCOPE_ITEM);
    program_fini(&program);
}

static void table_has_the_columns_of_the_layout(void **state)
{
    struct problem problem = cap16_problem(2);
    struct footprint_request request = {
        .policy = POLICY_NESTED, .tiles = 2, .pool_bytes = MIB, .alignment = 128};
    struct offset_table table;
    struct program program;
    (void)state;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    assert_int_equal(footprint_table(&program, &request, &table), STATUS_OK);
    assert_int_equal(table.columns, TABLE_COLUMNS);
    assert_int_equal(table.rows, 1);
    assert_int_equal(table.cells[TABLE_Q], 0);
    assert_int_equal(table.cells[TABLE_M_NEW], 24832);
    assert_int_equal(table.cells[TABLE_K], table.cells[TABLE_SCOPE_KEYS]);
    assert_int_equal(table.cells[TABLE_SCOPE_KEYS + 1] - table.cells[TABLE_SCOPE_KEYS], 16384);
    assert_int_equal(table.cells[TABLE_V], table.cells[TABLE_S]);
    assert_int_equal(table.cells[TABLE_SCOPE_VALUES + 1], 62080);
    offset_table_fini(&table);
    program_fini(&program);
}

static void cap16_unscoped_grows_by_one_tile(void **state)
{
    static const size_t tiles[] = {0, 1, 2, 16, 17, 1024};
    (void)state;

    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
        struct footprint plan = plan_cap16(POLICY_UNSCOPED, tiles[i], FOOTPRINT_NO_LIMIT);
        assert_int_equal(plan.persistent_bytes, 24832);
        assert_int_equal(plan.peak_bytes, 24832 + 61824 * tiles[i]);
        assert_false(plan.overflow.happened);
    }
}

static void cap16_unscoped_tile_and_bound_are_the_designs(void **state)
{
    struct footprint plan = plan_cap16(POLICY_UNSCOPED, 1, MIB);
    (void)state;

    assert_int_equal(plan.tile_bytes, 61824);
    assert_int_equal(plan.lower_bound_bytes, 62080);
    assert_int_equal(plan.peak_bytes, 86656);
    assert_int_equal(plan.touched_lines, 86656 / 128);
}

static void cap16_unscoped_fits_16_tiles(void **state)
{
    struct footprint plan = plan_cap16(POLICY_UNSCOPED, 16, MIB);
    (void)state;

    assert_false(plan.overflow.happened);
    assert_int_equal(plan.peak_bytes, 1014016);
    assert_int_equal(plan.lower_bound_bytes, 62080);
}

static void cap16_unscoped_overflows_at_v_of_tile_17(void **state)
{
    static const struct {
        size_t tiles, need;
    } rows[] = {{17, 1075840}, {1024, 63332608}};
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        struct footprint plan = plan_cap16(POLICY_UNSCOPED, rows[i].tiles, MIB);
        assert_true(plan.overflow.happened);
        assert_int_equal(plan.overflow.tile, 17);
        assert_int_equal(plan.overflow.handle, TABLE_V);
        assert_int_equal(plan.overflow.request_bytes, 16384);
        assert_int_equal(plan.overflow.free_bytes, 5504);
        assert_int_equal(plan.peak_bytes, rows[i].need);
    }
}

/* Bytes over time in a tile, above the persistent 24,832:
 *
 *     nested:  [small 384|p 4096|s 8192|k 16384]      -> 29,056
 *              [small 384|p 4096|v 16384|acc_new 16384] -> 37,248
 *     scoped:  [small 384|p 4096|s 8192|k 16384|v 16384|acc_new 16384] -> 61,824
 */
static void cap16_scoped_and_nested_are_constant(void **state)
{
    static const size_t tiles[] = {1, 2, 16, 17, 1024};
    (void)state;

    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
        struct footprint scoped = plan_cap16(POLICY_SCOPED, tiles[i], MIB);
        struct footprint nested = plan_cap16(POLICY_NESTED, tiles[i], MIB);
        assert_int_equal(scoped.peak_bytes, 86656);
        assert_int_equal(nested.peak_bytes, 62080);
        assert_int_equal(nested.lower_bound_bytes, 62080);
        assert_false(scoped.overflow.happened || nested.overflow.happened);
    }
    assert_int_equal(plan_cap16(POLICY_SCOPED, 0, MIB).peak_bytes, 24832);
    assert_int_equal(plan_cap16(POLICY_NESTED, 0, MIB).peak_bytes, 24832);
}

static void record_odd_shapes_pads_row_pitch_and_rows_of_k(void **state)
{
    struct problem problem = cap16_problem(1);
    struct program program;
    const struct program_handle *handles;
    (void)state;

    problem.block_m = 33;
    problem.block_n = 65;
    problem.head_dim = 40;
    problem.head_dim_v = 1;
    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    handles = program.handles;
    assert_true(shape_equal(handles[TABLE_Q].logical, shape_2d(33, 40)));
    assert_true(shape_equal(handles[TABLE_Q].stored, shape_2d(33, LAYOUT_PITCH((size_t)40))));
    assert_true(shape_equal(handles[TABLE_ACC].stored, shape_2d(33, 16)));
    assert_true(shape_equal(handles[TABLE_P].stored, shape_2d(33, 80)));
    assert_true(shape_equal(handles[TABLE_S].stored, shape_2d(33, 80)));
    assert_true(shape_equal(handles[TABLE_K].logical, shape_2d(65, 40)));
    assert_true(shape_equal(handles[TABLE_K].stored, shape_2d(LAYOUT_PITCH((size_t)65), 48)));
    assert_true(shape_equal(handles[TABLE_V].stored, shape_2d(65, 16)));
    assert_true(shape_equal(handles[TABLE_ACC_NEW].stored, shape_2d(33, 16)));
    assert_true(shape_equal(handles[TABLE_ALPHA].stored, shape_1d(33)));
    program_fini(&program);
}

static void record_uses_storage_type_for_q_k_v_p_alone(void **state)
{
    struct problem problem = cap16_problem(1);
    struct program program;
    (void)state;

    problem.dtype = DTYPE_I8;
    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    for (size_t i = 0; i < program.handle_count; i++) {
        bool stored = i == TABLE_Q || i == TABLE_K || i == TABLE_V || i == TABLE_P;
        assert_int_equal(program.handles[i].dtype, stored ? DTYPE_I8 : DTYPE_F32);
    }
    program_fini(&program);
}

static void record_size_that_wraps_leaves_an_empty_program(void **state)
{
    static const size_t too_many[] = {SIZE_MAX, SIZE_MAX / 64};
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        struct problem problem = cap16_problem(1);
        struct program program;
        problem.block_n = too_many[i];
        status_clear();
        assert_int_equal(tile_program_record(&problem, &program), STATUS_RANGE);
        assert_int_equal(program.handle_count, 0);
        assert_int_equal(program.step_count, 0);
        program_fini(&program);
    }
    status_clear();
}

static void record_without_memory_leaves_an_empty_program(void **state)
{
    struct problem problem = cap16_problem(1);
    size_t call = 0;
    bool failed = true;
    (void)state;

    while (failed) {
        struct program program;
        fail_alloc_on(++call);
        enum status status = tile_program_record(&problem, &program);
        failed = fail_alloc_at == 0;
        fail_alloc_on(0);
        assert_status(failed ? STATUS_NO_MEMORY : STATUS_OK, status);
        assert_int_equal(program.handle_count, failed ? 0 : TABLE_HANDLES);
        program_fini(&program);
        status_clear();
    }
    assert_true(call > TABLE_HANDLES);
}

/* One item of cap16 by hand. Reads: scores q + k, softmax s + m + l, values p + v + alpha + acc,
 * copies m_new + l_new + acc_new; once an item acc + l + m. */
static void cap16_scratch_traffic_is_the_sum_of_operands(void **state)
{
    size_t tile_reads = (8192 + 16384) + (8192 + 256) + (4096 + 16384 + 128 + 16384) + 16640;
    size_t tile_writes = 16384 + 8192 + (384 + 4096) + 16384 + 16384 + 16640;
    struct problem problem = cap16_problem(3);
    struct problem_traffic traffic;
    struct program program;
    (void)state;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    traffic = tile_program_traffic(&problem, &program);
    assert_int_equal(traffic.scratch_read_bytes, 16 * (3 * tile_reads + 16640));
    assert_int_equal(traffic.scratch_write_bytes, 16 * (3 * tile_writes + 8192 + 16640));
    assert_int_equal(traffic.copy_bytes, 16 * 3 * 16640);
    assert_int_equal(traffic.dram_read_bytes, 4 * 128 * 128 * 2 + 16 * 3 * 64 * 256 * 2);
    assert_int_equal(traffic.dram_write_bytes, 4 * 128 * 129 * 4);
    program_fini(&program);
}

/* Element by element: which key and value rows of which tiles, which query rows. */
static struct problem_traffic count_traffic(const struct problem *problem,
                                            const struct program *program)
{
    struct program_traffic per_tile = program_tile_traffic(program);
    struct program_traffic per_item = program_item_traffic(program);
    size_t bytes = dtype_bytes(problem->dtype);
    struct problem_traffic sum = {0};

    for (size_t i = 0; i < problem_item_count(problem); i++) {
        struct problem_item item = problem_item(problem, i);
        for (size_t r = 0; r < item.rows; r++) {
            sum.dram_read_bytes += problem->head_dim * bytes;
            sum.dram_write_bytes += item.part == 0 ? problem->head_dim_v * 4 + 4 : 0;
        }
        if (problem_parts(problem) > 1) {
            size_t state_bytes = problem->block_m * 4 * (2 + LAYOUT_PITCH(problem->head_dim_v));
            sum.dram_write_bytes += state_bytes;
            sum.dram_read_bytes += state_bytes;
        }
        for (size_t t = item.tile_first; t < item.tile_first + item.tile_count; t++) {
            for (size_t n = 0; n < problem->block_n; n++) {
                if (t * problem->block_n + n < problem->seq_kv) {
                    sum.dram_read_bytes += (problem->head_dim + problem->head_dim_v) * bytes;
                    sum.dram_read_bytes += problem->mask ? item.rows * sizeof(float) : 0;
                }
            }
            sum.scratch_read_bytes += per_tile.read_bytes;
            sum.scratch_write_bytes += per_tile.write_bytes;
            sum.copy_bytes += per_tile.copy_bytes;
        }
        sum.scratch_read_bytes += per_item.read_bytes;
        sum.scratch_write_bytes += per_item.write_bytes;
        sum.copy_bytes += per_item.copy_bytes;
    }
    return sum;
}

static void traffic_of_random_problems_equals_a_count(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        struct problem_traffic traffic, expected;
        struct program program;
        problem.mask = random_below(&random, 2) == 0;
        problem.parts = random_in(&random, 0, 5);
        assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
        traffic = tile_program_traffic(&problem, &program);
        expected = count_traffic(&problem, &program);
        assert_memory_equal(&traffic, &expected, sizeof(traffic));
        assert_int_equal(tile_program_read_bytes(&problem, problem_item_count(&problem)),
                         traffic.dram_read_bytes);
        program_fini(&program);
    }
}

/* Causal, 2 x 2 blocks of keys and rows: the first block of rows sees the first tile alone. */
static void read_bytes_of_the_first_items_are_theirs(void **state)
{
    struct problem problem = {.batch = 1,
                              .q_heads = 1,
                              .kv_heads = 1,
                              .seq_q = 12,
                              .seq_kv = 12,
                              .head_dim = 4,
                              .head_dim_v = 2,
                              .block_m = 8,
                              .block_n = 8,
                              .dtype = DTYPE_F16,
                              .causal = true,
                              .window_left = -1,
                              .window_right = -1};
    const size_t first = (8 * 4 + 8 * 6) * 2;
    const size_t second = (4 * 4 + 12 * 6) * 2;
    (void)state;

    assert_int_equal(tile_program_read_bytes(&problem, 0), 0);
    assert_int_equal(tile_program_read_bytes(&problem, 1), first);
    assert_int_equal(tile_program_read_bytes(&problem, 2), first + second);
    problem.mask = true;
    assert_int_equal(tile_program_read_bytes(&problem, 1), first + 8 * 8 * 4);
}

static void traffic_past_size_t_saturates(void **state)
{
    struct problem problem = cap16_problem(1);
    struct problem_traffic traffic;
    struct program program;
    (void)state;

    problem.batch = 1 << 18;
    problem.seq_kv = (size_t)1 << 33;
    problem.block_n = 1;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    traffic = tile_program_traffic(&problem, &program);
    assert_true(traffic.scratch_read_bytes == SIZE_MAX);
    assert_true(traffic.scratch_write_bytes == SIZE_MAX);
    assert_true(traffic.copy_bytes == SIZE_MAX);
    assert_true(traffic.dram_read_bytes == SIZE_MAX);
    program_fini(&program);
}

/* A mask is read for every row and key, once a part the q, and the parts' states both ways. */
static void cap16_mask_and_parts_add_their_traffic(void **state)
{
    struct problem problem = cap16_problem(3);
    struct problem_traffic plain, split;
    struct program program;
    (void)state;

    assert_int_equal(tile_program_record(&problem, &program), STATUS_OK);
    plain = tile_program_traffic(&problem, &program);
    problem.mask = true;
    problem.parts = 2;
    split = tile_program_traffic(&problem, &program);
    assert_int_equal(split.dram_read_bytes - plain.dram_read_bytes,
                     4 * 128 * 192 * 4 + 4 * 128 * 128 * 2 + 32 * 16640);
    assert_int_equal(split.dram_write_bytes - plain.dram_write_bytes, 32 * 16640);
    assert_int_equal(split.copy_bytes, plain.copy_bytes);
    assert_int_equal(split.scratch_read_bytes - plain.scratch_read_bytes, 16 * 16640);
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cap16_handles_stand_in_the_columns_of_the_layout),
        cmocka_unit_test(cap16_scopes_stand_in_the_columns_of_the_layout),
        cmocka_unit_test(table_has_the_columns_of_the_layout),
        cmocka_unit_test(cap16_unscoped_grows_by_one_tile),
        cmocka_unit_test(cap16_unscoped_tile_and_bound_are_the_designs),
        cmocka_unit_test(cap16_unscoped_fits_16_tiles),
        cmocka_unit_test(cap16_unscoped_overflows_at_v_of_tile_17),
        cmocka_unit_test(cap16_scoped_and_nested_are_constant),
        cmocka_unit_test(record_odd_shapes_pads_row_pitch_and_rows_of_k),
        cmocka_unit_test(record_uses_storage_type_for_q_k_v_p_alone),
        cmocka_unit_test(record_size_that_wraps_leaves_an_empty_program),
        cmocka_unit_test(record_without_memory_leaves_an_empty_program),
        cmocka_unit_test(cap16_scratch_traffic_is_the_sum_of_operands),
        cmocka_unit_test(traffic_of_random_problems_equals_a_count),
        cmocka_unit_test(read_bytes_of_the_first_items_are_theirs),
        cmocka_unit_test(traffic_past_size_t_saturates),
        cmocka_unit_test(cap16_mask_and_parts_add_their_traffic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
