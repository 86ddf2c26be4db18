#include "tests/unit/cap16.h"
#include "tests/unit/fail_alloc.h"

/* A program inside its tile, with one handle x of one float before it. */
static void start(struct program *program)
{
    size_t x;
    program_init(program);
    assert_ok(program_alloc(program, "x", DTYPE_F32, shape_1d(1), shape_1d(1), &x));
    assert_ok(program_tile_begin(program));
}

static size_t alloc(struct program *program, const char *name, size_t floats)
{
    size_t handle;
    assert_ok(program_alloc(program, name, DTYPE_F32, shape_1d(floats), shape_1d(floats), &handle));
    return handle;
}

static size_t begin(struct program *program, const char *name)
{
    size_t scope;
    assert_ok(program_begin(program, name, &scope));
    return scope;
}

static void write_to(struct program *program, size_t handle)
{
    const struct program_operation operation = {
        .name = "write", .writes = {handle}, .write_count = 1};
    assert_ok(program_operation(program, &operation));
}

static enum status read_from(struct program *program, size_t handle)
{
    const struct program_operation operation = {.name = "read", .reads = {handle}, .read_count = 1};
    return program_operation(program, &operation);
}

/* That a refused call recorded nothing. */
static void assert_counts(const struct program *program, size_t handles, size_t scopes,
                          size_t operations, size_t steps)
{
    assert_int_equal(handles, program->handle_count);
    assert_int_equal(scopes, program->scope_count);
    assert_int_equal(operations, program->operation_count);
    assert_int_equal(steps, program->step_count);
}

static void build_reference_records_it_in_order(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    assert_counts(&program, CAP16_HANDLES, CAP16_SCOPES, 10, CAP16_HANDLES + 2 * CAP16_SCOPES + 10);
    assert_string_equal("acc_new", program.handles[CAP16_ACC_NEW].name);
    assert_int_equal(16384, program.handles[CAP16_ACC_NEW].size_bytes);
    assert_int_equal(8192, program.handles[CAP16_Q].size_bytes);
    assert_true(program.handles[CAP16_ACC].persistent);
    assert_false(program.handles[CAP16_P].persistent);
    assert_int_equal(PROGRAM_NO_SCOPE, program.handles[CAP16_Q].scope);
    assert_int_equal(CAP16_KEYS, program.handles[CAP16_K].scope);
    assert_int_equal(0, program.scopes[CAP16_TILE].level);
    assert_int_equal(1, program.scopes[CAP16_VALUES].level);
    assert_int_equal(2, program.scopes[CAP16_KEYS].level);
    assert_int_equal(CAP16_SCORES, program.scopes[CAP16_KEYS].parent);
    assert_int_equal(CAP16_TILE, program.scopes[CAP16_VALUES].parent);
    assert_int_equal(5, program.tile_first);
    assert_int_equal(program.step_count - 1, program.tile_end);
    assert_int_equal(PROGRAM_ALLOC, program.steps[0].kind);
    assert_int_equal(PROGRAM_BEGIN, program.steps[program.tile_first].kind);
    assert_int_equal(PROGRAM_END, program.steps[program.tile_end - 1].kind);
    program_fini(&program);
    assert_counts(&program, 0, 0, 0, 0);
}

static void alloc_tells_logical_and_stored_sizes_apart(void **state)
{
    (void)state;
    struct program program;
    size_t k;
    program_init(&program);
    assert_ok(program_alloc(&program, "k", DTYPE_F16, shape_2d(63, 40), shape_2d(64, 48), &k));
    assert_int_equal(63 * 40 * 2, program.handles[k].requested_bytes);
    assert_int_equal(64 * 48 * 2, program.handles[k].size_bytes);
    program_fini(&program);
}

static void alloc_name_is_a_copy(void **state)
{
    (void)state;
    struct program program;
    char name[] = "abc";
    size_t handle;
    program_init(&program);
    assert_ok(program_alloc(&program, name, DTYPE_I8, shape_1d(1), shape_1d(1), &handle));
    name[0] = 'x';
    assert_string_equal("abc", program.handles[handle].name);
    program_fini(&program);
}

static void alloc_whose_size_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    size_t handle = 7;
    struct shape one = shape_1d(1);
    program_init(&program);
    assert_status(STATUS_RANGE,
                  program_alloc(&program, "a", DTYPE_F32, one, shape_1d(SIZE_MAX / 2), &handle));
    assert_status(STATUS_RANGE,
                  program_alloc(&program, "a", DTYPE_I8, one, shape_2d(SIZE_MAX, 2), &handle));
    assert_status(STATUS_RANGE,
                  program_alloc(&program, "a", DTYPE_I8, shape_2d(SIZE_MAX, 2), one, &handle));
    assert_int_equal(0, handle);
    assert_counts(&program, 0, 0, 0, 0);
    program_fini(&program);
}

static void alloc_misuse_records_nothing(void **state)
{
    (void)state;
    struct program program;
    size_t handle;
    struct shape one = shape_1d(1);
    program_init(&program);
    assert_status(STATUS_MISUSE, program_alloc(&program, NULL, DTYPE_F32, one, one, &handle));
    assert_status(STATUS_MISUSE,
                  program_alloc(&program, "a", DTYPE_F32, shape_1d(2), one, &handle));
    assert_status(STATUS_MISUSE,
                  program_alloc(&program, "a", (enum dtype)DTYPE_COUNT, one, one, &handle));
    assert_ok(program_tile_begin(&program));
    assert_ok(program_tile_end(&program));
    assert_status(STATUS_MISUSE, program_alloc(&program, "a", DTYPE_F32, one, one, &handle));
    assert_counts(&program, 0, 0, 0, 0);
    program_fini(&program);
}

static void begin_outside_the_tile_is_misuse(void **state)
{
    (void)state;
    struct program program;
    size_t scope;
    program_init(&program);
    assert_status(STATUS_MISUSE, program_begin(&program, "tile", &scope));
    assert_ok(program_tile_begin(&program));
    assert_status(STATUS_MISUSE, program_begin(&program, NULL, &scope));
    assert_ok(program_tile_end(&program));
    assert_status(STATUS_MISUSE, program_begin(&program, "tile", &scope));
    assert_counts(&program, 0, 0, 0, 0);
    program_fini(&program);
}

static void end_that_is_not_the_innermost_is_misuse(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    assert_status(STATUS_MISUSE, program_end(&program, 0));
    size_t outer = begin(&program, "outer");
    size_t inner = begin(&program, "inner");
    assert_status(STATUS_MISUSE, program_end(&program, outer));
    assert_status(STATUS_MISUSE, program_end(&program, 99));
    assert_ok(program_end(&program, inner));
    assert_status(STATUS_MISUSE, program_end(&program, inner));
    assert_counts(&program, 1, 2, 0, 4);
    assert_ok(program_end(&program, outer));
    assert_status(STATUS_MISUSE, program_end(&program, outer));
    program_fini(&program);
}

static void tile_out_of_order_is_misuse(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    assert_status(STATUS_MISUSE, program_tile_end(&program));
    assert_ok(program_tile_begin(&program));
    assert_status(STATUS_MISUSE, program_tile_begin(&program));
    size_t scope = begin(&program, "tile");
    assert_status(STATUS_MISUSE, program_tile_end(&program));
    assert_ok(program_end(&program, scope));
    assert_ok(program_tile_end(&program));
    assert_status(STATUS_MISUSE, program_tile_end(&program));
    assert_status(STATUS_MISUSE, program_tile_begin(&program));
    program_fini(&program);
}

static void operation_on_a_handle_after_its_scope_is_stale(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    size_t scope = begin(&program, "scores");
    size_t s = alloc(&program, "s", 4);
    write_to(&program, s);
    size_t inner = begin(&program, "keys");
    assert_ok(read_from(&program, s));
    assert_ok(program_end(&program, inner));
    assert_ok(program_end(&program, scope));
    assert_status(STATUS_STALE, read_from(&program, s));
    assert_status(STATUS_STALE, program_copy_to(&program, 0, s));
    begin(&program, "again");
    assert_status(STATUS_STALE, read_from(&program, s));
    program_fini(&program);
}

static void operation_that_reads_what_nothing_wrote_is_misuse(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    const struct program_operation in_place = {
        .name = "scale", .reads = {0}, .read_count = 1, .writes = {0}, .write_count = 1};
    assert_status(STATUS_MISUSE, read_from(&program, 0));
    assert_status(STATUS_MISUSE, program_operation(&program, &in_place));
    assert_status(STATUS_MISUSE, read_from(&program, 0));
    write_to(&program, 0);
    assert_ok(program_operation(&program, &in_place));
    assert_int_equal(2, program.operation_count);
    program_fini(&program);
}

static void operation_misuse_records_nothing(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    struct program_operation operation = {.name = "a", .writes = {1}, .write_count = 1};
    assert_status(STATUS_MISUSE, program_operation(&program, &operation));
    operation = (struct program_operation){.writes = {0}, .write_count = 1};
    assert_status(STATUS_MISUSE, program_operation(&program, &operation));
    operation.name = "a";
    operation.write_count = PROGRAM_MAX_OPERANDS + 1;
    assert_status(STATUS_MISUSE, program_operation(&program, &operation));
    operation.write_count = 1;
    operation.read_count = PROGRAM_MAX_OPERANDS + 1;
    assert_status(STATUS_MISUSE, program_operation(&program, &operation));
    assert_counts(&program, 1, 0, 0, 1);
    assert_false(program.handles[0].written);
    program_fini(&program);
}

static void operation_is_no_copy_by_its_own_word(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    const struct program_operation operation = {
        .name = "a", .writes = {0}, .write_count = 1, .copy = true};
    assert_ok(program_operation(&program, &operation));
    assert_false(program.operations[0].copy);
    program_fini(&program);
}

static void copy_to_records_a_copy(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    begin(&program, "tile");
    size_t y = alloc(&program, "y", 1);
    write_to(&program, y);
    assert_ok(program_copy_to(&program, 0, y));
    const struct program_operation *copy = &program.operations[1];
    assert_true(copy->copy);
    assert_int_equal(y, copy->reads[0]);
    assert_int_equal(0, copy->writes[0]);
    assert_ok(read_from(&program, 0));
    program_fini(&program);
}

static void copy_to_misuse_records_nothing(void **state)
{
    (void)state;
    struct program program;
    size_t half;
    start(&program);
    write_to(&program, 0);
    begin(&program, "tile");
    size_t unwritten = alloc(&program, "unwritten", 1);
    size_t wide = alloc(&program, "wide", 2);
    assert_ok(program_alloc(&program, "half", DTYPE_F16, shape_1d(1), shape_1d(1), &half));
    write_to(&program, wide);
    write_to(&program, half);
    assert_status(STATUS_MISUSE, program_copy_to(&program, 0, 0));
    assert_status(STATUS_MISUSE, program_copy_to(&program, 0, unwritten));
    assert_status(STATUS_MISUSE, program_copy_to(&program, 0, wide));
    assert_status(STATUS_MISUSE, program_copy_to(&program, 0, half));
    assert_status(STATUS_MISUSE, program_copy_to(&program, unwritten, 0));
    assert_status(STATUS_MISUSE, program_copy_to(&program, 0, 99));
    assert_status(STATUS_MISUSE, program_copy_to(&program, 99, 0));
    assert_int_equal(3, program.operation_count);
    program_fini(&program);
}

static void copy_to_compares_stored_shapes(void **state)
{
    (void)state;
    struct program program;
    size_t a;
    size_t b;
    start(&program);
    begin(&program, "tile");
    assert_ok(program_alloc(&program, "a", DTYPE_F32, shape_1d(3), shape_1d(16), &a));
    assert_ok(program_alloc(&program, "b", DTYPE_F32, shape_1d(4), shape_1d(16), &b));
    write_to(&program, b);
    assert_ok(program_copy_to(&program, a, b));
    program_fini(&program);
}

static void scope_encloses_itself_and_what_is_inside(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    assert_true(program_scope_encloses(&program, CAP16_KEYS, CAP16_KEYS));
    assert_true(program_scope_encloses(&program, CAP16_TILE, CAP16_KEYS));
    assert_true(program_scope_encloses(&program, PROGRAM_NO_SCOPE, CAP16_KEYS));
    assert_true(program_scope_encloses(&program, PROGRAM_NO_SCOPE, PROGRAM_NO_SCOPE));
    assert_false(program_scope_encloses(&program, CAP16_KEYS, CAP16_TILE));
    assert_false(program_scope_encloses(&program, CAP16_VALUES, CAP16_KEYS));
    assert_false(program_scope_encloses(&program, CAP16_TILE, PROGRAM_NO_SCOPE));
    program_fini(&program);
}

/* Reads: q k, s m l, acc alpha p v, m_new, l_new, acc_new. Writes: k, s, the four of softmax, v,
 * acc_new, m, l, acc. */
static void traffic_of_the_reference_counts_every_operand(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    struct program_traffic tile = program_tile_traffic(&program);
    struct program_traffic item = program_item_traffic(&program);
    assert_int_equal((8192 + 16384) + (8192 + 128 + 128) + (16384 + 128 + 4096 + 16384) +
                         (128 + 128 + 16384),
                     tile.read_bytes);
    assert_int_equal(16384 + 8192 + (3 * 128 + 4096) + 16384 + 16384 + (128 + 128 + 16384),
                     tile.write_bytes);
    assert_int_equal(128 + 128 + 16384, tile.copy_bytes);
    assert_int_equal(128 + 16384 + 128, item.read_bytes);
    assert_int_equal(24832, item.write_bytes);
    assert_int_equal(0, item.copy_bytes);
    program_fini(&program);
}

static void traffic_stays_at_the_limit(void **state)
{
    (void)state;
    struct program program;
    size_t big;
    program_init(&program);
    struct shape shape = shape_1d(SIZE_MAX / 2 + 1);
    assert_ok(program_alloc(&program, "big", DTYPE_I8, shape, shape, &big));
    write_to(&program, big);
    write_to(&program, big);
    assert_int_equal(SIZE_MAX, program_item_traffic(&program).write_bytes);
    assert_int_equal(0, program_tile_traffic(&program).write_bytes);
    program_fini(&program);
}

static void traffic_of_an_open_tile_is_what_it_has_so_far(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    write_to(&program, 0);
    assert_int_equal(4, program_tile_traffic(&program).write_bytes);
    assert_int_equal(0, program_item_traffic(&program).write_bytes);
    program_fini(&program);
}

static enum status record_all(struct program *program)
{
    enum status status = STATUS_OK;
    const struct program_operation operation = {.name = "w", .writes = {0}, .write_count = 1};
    size_t handle;
    size_t scope;
    STATUS_TRY(program_alloc(program, "x", DTYPE_F32, shape_1d(1), shape_1d(1), &handle));
    STATUS_TRY(program_operation(program, &operation));
    STATUS_TRY(program_tile_begin(program));
    STATUS_TRY(program_begin(program, "tile", &scope));
    STATUS_TRY(program_alloc(program, "y", DTYPE_F32, shape_1d(1), shape_1d(1), &handle));
    STATUS_TRY(program_end(program, scope));
    STATUS_TRY(program_tile_end(program));
out:
    return status;
}

static void recording_without_memory_is_refused_wherever_it_fails(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t call = 1;; call++) {
        struct program program;
        program_init(&program);
        fail_alloc_on(call);
        enum status status = record_all(&program);
        bool reached = fail_alloc_at == 0;
        fail_alloc_on(0);
        program_fini(&program);
        status_clear();
        if (!reached) {
            assert_ok(status);
            break;
        }
        assert_status(STATUS_NO_MEMORY, status);
        failures++;
    }
    assert_true(failures >= 9);
}

static void recording_a_long_program_grows(void **state)
{
    (void)state;
    struct program program;
    start(&program);
    for (size_t i = 0; i < 1000; i++) {
        size_t scope = begin(&program, "s");
        write_to(&program, alloc(&program, "t", i));
        assert_ok(program_end(&program, scope));
    }
    assert_counts(&program, 1001, 1000, 1000, 4001);
    assert_int_equal(4 * 999, program.handles[1000].size_bytes);
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(build_reference_records_it_in_order),
        unit_test_clean(alloc_tells_logical_and_stored_sizes_apart),
        unit_test_clean(alloc_name_is_a_copy),
        unit_test_clean(alloc_whose_size_wraps_is_out_of_range),
        unit_test_clean(alloc_misuse_records_nothing),
        unit_test_clean(begin_outside_the_tile_is_misuse),
        unit_test_clean(end_that_is_not_the_innermost_is_misuse),
        unit_test_clean(tile_out_of_order_is_misuse),
        unit_test_clean(operation_on_a_handle_after_its_scope_is_stale),
        unit_test_clean(operation_that_reads_what_nothing_wrote_is_misuse),
        unit_test_clean(operation_misuse_records_nothing),
        unit_test_clean(operation_is_no_copy_by_its_own_word),
        unit_test_clean(copy_to_records_a_copy),
        unit_test_clean(copy_to_misuse_records_nothing),
        unit_test_clean(copy_to_compares_stored_shapes),
        unit_test_clean(scope_encloses_itself_and_what_is_inside),
        unit_test_clean(traffic_of_the_reference_counts_every_operand),
        unit_test_clean(traffic_stays_at_the_limit),
        unit_test_clean(traffic_of_an_open_tile_is_what_it_has_so_far),
        unit_test_clean(recording_without_memory_is_refused_wherever_it_fails),
        unit_test_clean(recording_a_long_program_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
