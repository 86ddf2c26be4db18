/* Offsets as data: the table that a kernel reads. */
#include "host/scratch/footprint.h"
#include "tests/unit/cap16.h"

enum { PERSISTENT = 24832, TILE = 61824, POOL = 1 << 20 };
enum { COLUMNS = CAP16_HANDLES + 2 * CAP16_SCOPES + 2 };

static struct offset_table make(enum policy policy, size_t tiles)
{
    struct program program;
    struct offset_table table;
    const struct footprint_request request = {policy, tiles, POOL, 128};
    cap16_build(&program);
    assert_ok(footprint_table(&program, &request, &table));
    program_fini(&program);
    assert_int_equal(COLUMNS, table.columns);
    return table;
}

static uint64_t cell(const struct offset_table *table, size_t tile, size_t column)
{
    return table->cells[tile * table->row_stride + column];
}

static void assert_row(const struct offset_table *table, size_t tile,
                       const uint64_t expected[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        assert_int_equal(expected[i], cell(table, tile, i));
    }
}

/* m_new .. p fill [24832, 29312); s and k follow, or v and acc_new in their place. */
static void nested_row_reuses_the_place_of_s_and_k(void **state)
{
    (void)state;
    static const uint64_t expected[COLUMNS] = {
        0,     8192,  8320,  8448,                                        /* q m l acc */
        24832, 24960, 25088, 25216, 29312, 37504, 29312, 45696,           /* m_new .. acc_new */
        24832, 29312, 29312, 37504, 37504, 53888, 29312, 62080, 0, 24832, /* scopes, item */
    };
    struct offset_table table = make(POLICY_NESTED, 1024);
    assert_int_equal(1, table.rows);
    assert_int_equal(0, table.row_stride);
    assert_row(&table, 0, expected);
    assert_row(&table, 1023, expected);
    offset_table_fini(&table);
    assert_null(table.cells);
}

static void scoped_row_ignores_inner_scopes(void **state)
{
    (void)state;
    static const uint64_t expected[COLUMNS] = {
        0,     8192,  8320,  8448,                              /* q m l acc */
        24832, 24960, 25088, 25216, 29312, 37504, 53888, 70272, /* m_new .. acc_new */
        24832, 86656, 0,     0,     0,     0,     0,     0,     0, 24832,
    };
    struct offset_table table = make(POLICY_SCOPED, 1024);
    assert_int_equal(1, table.rows);
    assert_int_equal(0, table.row_stride);
    assert_row(&table, 0, expected);
    offset_table_fini(&table);
}

static void unscoped_rows_move_by_a_tile(void **state)
{
    (void)state;
    struct offset_table table = make(POLICY_UNSCOPED, 16);
    struct offset_table scoped = make(POLICY_SCOPED, 1);
    assert_int_equal(16, table.rows);
    assert_int_equal(COLUMNS, table.row_stride);
    for (size_t tile = 0; tile < 16; tile++) {
        for (size_t i = 0; i < CAP16_HANDLES; i++) {
            size_t moved = i <= CAP16_ACC ? 0 : tile * TILE;
            assert_int_equal(cell(&scoped, 0, i) + moved, cell(&table, tile, i));
        }
        for (size_t i = CAP16_HANDLES; i < COLUMNS - 1; i++) {
            assert_int_equal(0, cell(&table, tile, i));
        }
        assert_int_equal(PERSISTENT + 16 * TILE, cell(&table, tile, COLUMNS - 1));
    }
    offset_table_fini(&table);
    offset_table_fini(&scoped);
}

static void tables_of_one_tile_hold_the_same_offsets(void **state)
{
    (void)state;
    struct offset_table unscoped = make(POLICY_UNSCOPED, 1);
    struct offset_table scoped = make(POLICY_SCOPED, 1);
    assert_memory_equal(unscoped.cells, scoped.cells, CAP16_HANDLES * sizeof *scoped.cells);
    offset_table_fini(&unscoped);
    offset_table_fini(&scoped);
}

static void table_without_tiles_has_one_row(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        struct offset_table table = make((enum policy)policy, 0);
        assert_int_equal(1, table.rows);
        assert_int_equal(8448, cell(&table, 0, CAP16_ACC));
        assert_int_equal(0, cell(&table, 0, CAP16_V));
        assert_int_equal(PERSISTENT, cell(&table, 0, COLUMNS - 1));
        offset_table_fini(&table);
    }
}

/* A temporary outside of every scope is given back by no policy, so its place rises. */
static void table_of_a_tile_that_rises_has_a_row_each(void **state)
{
    (void)state;
    struct program program;
    struct offset_table table;
    size_t handle;
    size_t scope;
    const struct footprint_request request = {POLICY_NESTED, 3, POOL, 128};
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    assert_ok(program_alloc(&program, "kept", DTYPE_I8, shape_1d(128), shape_1d(128), &handle));
    assert_ok(program_begin(&program, "inner", &scope));
    assert_ok(program_alloc(&program, "t", DTYPE_I8, shape_1d(256), shape_1d(256), &handle));
    assert_ok(program_end(&program, scope));
    assert_ok(program_tile_end(&program));
    assert_ok(footprint_table(&program, &request, &table));
    assert_int_equal(3, table.rows);
    assert_int_equal(6, table.row_stride);
    for (size_t tile = 0; tile < 3; tile++) {
        assert_int_equal(128 * tile, cell(&table, tile, 0));
        assert_int_equal(128 * tile + 128, cell(&table, tile, 1));
        assert_int_equal(128 * tile + 128, cell(&table, tile, 2));
        assert_int_equal(128 * tile + 384, cell(&table, tile, 3));
        assert_int_equal(384, cell(&table, tile, 5));
    }
    offset_table_fini(&table);
    program_fini(&program);
}

static void table_of_a_program_that_overflows_is_refused(void **state)
{
    (void)state;
    struct program program;
    struct offset_table table = {.rows = 7};
    const struct footprint_request request = {POLICY_UNSCOPED, 17, POOL, 128};
    cap16_build(&program);
    assert_status(STATUS_NO_SPACE, footprint_table(&program, &request, &table));
    assert_null(table.cells);
    assert_int_equal(0, table.rows);
    assert_string_equal("scratch of one PE", status_last()->what);
    assert_memory_equal("v in tile 17: 16,384 bytes", status_last()->why, 26);
    offset_table_fini(&table);
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(nested_row_reuses_the_place_of_s_and_k),
        unit_test_clean(scoped_row_ignores_inner_scopes),
        unit_test_clean(unscoped_rows_move_by_a_tile),
        unit_test_clean(tables_of_one_tile_hold_the_same_offsets),
        unit_test_clean(table_without_tiles_has_one_row),
        unit_test_clean(table_of_a_tile_that_rises_has_a_row_each),
        unit_test_clean(table_of_a_program_that_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
