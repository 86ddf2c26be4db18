/* Cases 1-3 of the cases with known right answers. */
#include "host/scratch/footprint.h"
#include "host/scratch/scratch.h"
#include "tests/unit/unit.h"

enum { MIB = 1 << 20, KIB64 = 1 << 16 };

static struct scratch make(size_t capacity, size_t alignment)
{
    struct scratch scratch;
    const struct scratch_options options = {.capacity = capacity, .alignment = alignment};
    assert_ok(scratch_init(&scratch, &options));
    return scratch;
}

/* One temporary of 65,536 bytes a tile, nothing persistent. */
static void build_edge(struct program *program)
{
    struct shape shape = shape_1d(KIB64);
    size_t scope;
    size_t handle;
    program_init(program);
    assert_ok(program_tile_begin(program));
    assert_ok(program_begin(program, "tile", &scope));
    assert_ok(program_alloc(program, "t", DTYPE_I8, shape, shape, &handle));
    assert_ok(program_end(program, scope));
    assert_ok(program_tile_end(program));
}

static struct footprint plan_edge(enum policy policy, size_t tiles)
{
    struct program program;
    struct footprint footprint;
    const struct footprint_request request = {policy, tiles, MIB, 128};
    build_edge(&program);
    assert_ok(footprint_plan(&program, &request, &footprint));
    program_fini(&program);
    return footprint;
}

static void case_1_unscoped_s_16_ends_at_the_capacity(void **state)
{
    (void)state;
    struct footprint footprint = plan_edge(POLICY_UNSCOPED, 16);
    assert_false(footprint.overflow.happened);
    assert_int_equal(MIB, footprint.peak_bytes);
}

static void case_1_unscoped_s_17_does_not_fit(void **state)
{
    (void)state;
    struct footprint footprint = plan_edge(POLICY_UNSCOPED, 17);
    assert_true(footprint.overflow.happened);
    assert_int_equal(17, footprint.overflow.tile);
    assert_int_equal(KIB64, footprint.overflow.request_bytes);
    assert_int_equal(0, footprint.overflow.free_bytes);
    assert_int_equal(17 * KIB64, footprint.peak_bytes);
}

static void case_1_scoped_peak_is_one_tile_for_every_s(void **state)
{
    (void)state;
    for (size_t tiles = 1; tiles <= 1024; tiles *= 2) {
        assert_int_equal(KIB64, plan_edge(POLICY_SCOPED, tiles).peak_bytes);
        assert_int_equal(KIB64, plan_edge(POLICY_NESTED, tiles).peak_bytes);
    }
}

static void case_1_scratch_meets_the_same_edge(void **state)
{
    (void)state;
    struct scratch scratch = make(MIB, 128);
    struct scratch_handle handle;
    for (size_t tile = 1; tile <= 16; tile++) {
        assert_ok(scratch_alloc(&scratch, "t", DTYPE_I8, shape_1d(KIB64), &handle));
    }
    assert_int_equal(MIB, scratch_cursor(&scratch));
    assert_status(STATUS_NO_SPACE,
                  scratch_alloc(&scratch, "t", DTYPE_I8, shape_1d(KIB64), &handle));
    assert_int_equal(KIB64, scratch_last_overflow(&scratch)->requested_bytes);
    assert_int_equal(0, scratch_last_overflow(&scratch)->free_bytes);
    scratch_fini(&scratch);
}

static void case_2_arena_aligns_and_then_checks(void **state)
{
    (void)state;
    struct arena arena;
    size_t address;
    assert_ok(arena_init(&arena, ARENA_DEFAULT_BASE, 160));
    assert_ok(arena_push(&arena, 65, 64, &address));
    assert_status(STATUS_NO_SPACE, arena_push(&arena, 64, 64, &address));
    assert_int_equal(65, arena.cursor);
    assert_int_equal(65, arena.peak);
    assert_int_equal(0, address);
    assert_ok(arena_push(&arena, 32, 64, &address));
}

static void case_2_scratch_aligns_and_then_checks(void **state)
{
    (void)state;
    struct scratch scratch = make(160, 64);
    struct scratch_handle handle;
    assert_ok(scratch_alloc(&scratch, "a", DTYPE_I8, shape_1d(65), &handle));
    assert_status(STATUS_NO_SPACE, scratch_alloc(&scratch, "b", DTYPE_I8, shape_1d(64), &handle));
    assert_int_equal(65, scratch_cursor(&scratch));
    assert_int_equal(65, scratch_stats(&scratch).padded.peak);
    assert_int_equal(32, scratch_last_overflow(&scratch)->free_bytes);
    assert_int_equal(32, scratch_last_overflow(&scratch)->missing_bytes);
    scratch_fini(&scratch);
}

static void case_2_footprint_aligns_and_then_checks(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint;
    size_t handle;
    const struct footprint_request request = {POLICY_NESTED, 1, 160, 64};
    program_init(&program);
    assert_ok(program_alloc(&program, "a", DTYPE_I8, shape_1d(65), shape_1d(65), &handle));
    assert_ok(program_alloc(&program, "b", DTYPE_I8, shape_1d(64), shape_1d(64), &handle));
    assert_ok(footprint_plan(&program, &request, &footprint));
    assert_true(footprint.overflow.happened);
    assert_int_equal(65, footprint.overflow.used_bytes);
    assert_int_equal(32, footprint.overflow.free_bytes);
    assert_int_equal(192, footprint.peak_bytes);
    program_fini(&program);
}

static const size_t huge[] = {4294960256U, SIZE_MAX - 15};
static const char *const huge_text[] = {
    "4294960256 bytes requested outside the tiles, 1048320 free (4293911936 missing): "
    "200 of 1048576 used, alignment 128",
    "18446744073709551600 bytes requested outside the tiles, 1048320 free (18446744073708503280 "
    "missing): 200 of 1048576 used, alignment 128",
};

static void case_3_arena_refuses_sizes_that_wrap(void **state)
{
    (void)state;
    struct arena arena;
    size_t address;
    assert_ok(arena_init(&arena, ARENA_DEFAULT_BASE, MIB));
    assert_ok(arena_push(&arena, 200, 128, &address));
    for (size_t i = 0; i < 2; i++) {
        assert_status(STATUS_NO_SPACE, arena_push(&arena, huge[i], 128, &address));
        assert_int_equal(200, arena.cursor);
        assert_int_equal(200, arena.peak);
    }
}

static void case_3_scratch_refuses_sizes_that_wrap_and_prints_them_unsigned(void **state)
{
    (void)state;
    struct scratch scratch = make(MIB, 128);
    struct scratch_handle handle;
    assert_ok(scratch_alloc(&scratch, "a", DTYPE_I8, shape_1d(200), &handle));
    for (size_t i = 0; i < 2; i++) {
        status_clear();
        assert_status(STATUS_NO_SPACE,
                      scratch_alloc(&scratch, "huge", DTYPE_I8, shape_1d(huge[i]), &handle));
        assert_string_equal(huge_text[i], status_last()->why);
        assert_int_equal(huge[i], scratch_last_overflow(&scratch)->requested_bytes);
        assert_int_equal(200, scratch_cursor(&scratch));
    }
    scratch_fini(&scratch);
}

static void case_3_scratch_refuses_a_shape_that_wraps(void **state)
{
    (void)state;
    struct scratch scratch = make(MIB, 128);
    struct scratch_handle handle;
    struct shape wraps_to_0 = shape_2d((size_t)1 << 32, (size_t)1 << 32);
    assert_status(STATUS_RANGE, scratch_alloc(&scratch, "a", DTYPE_I8, wraps_to_0, &handle));
    assert_status(STATUS_RANGE, scratch_alloc(&scratch, "a", DTYPE_F32,
                                              shape_1d(((size_t)1 << 62) + 1), &handle));
    assert_int_equal(0, scratch_cursor(&scratch));
    assert_int_equal(0, scratch_stats(&scratch).requested.total);
    scratch_fini(&scratch);
}

static void case_3_footprint_refuses_sizes_that_wrap(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct program program;
        struct footprint footprint;
        size_t handle;
        struct shape shape = shape_1d(huge[i]);
        const struct footprint_request request = {POLICY_NESTED, 1, MIB, 128};
        program_init(&program);
        assert_ok(program_alloc(&program, "huge", DTYPE_I8, shape, shape, &handle));
        enum status expected = i == 0 ? STATUS_OK : STATUS_RANGE;
        assert_status(expected, footprint_plan(&program, &request, &footprint));
        assert_int_equal(i == 0 ? huge[0] : 0, footprint.peak_bytes);
        assert_int_equal(i == 0, footprint.overflow.happened);
        program_fini(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(case_1_unscoped_s_16_ends_at_the_capacity),
        unit_test_clean(case_1_unscoped_s_17_does_not_fit),
        unit_test_clean(case_1_scoped_peak_is_one_tile_for_every_s),
        unit_test_clean(case_1_scratch_meets_the_same_edge),
        unit_test_clean(case_2_arena_aligns_and_then_checks),
        unit_test_clean(case_2_scratch_aligns_and_then_checks),
        unit_test_clean(case_2_footprint_aligns_and_then_checks),
        unit_test_clean(case_3_arena_refuses_sizes_that_wrap),
        unit_test_clean(case_3_scratch_refuses_sizes_that_wrap_and_prints_them_unsigned),
        unit_test_clean(case_3_scratch_refuses_a_shape_that_wraps),
        unit_test_clean(case_3_footprint_refuses_sizes_that_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
