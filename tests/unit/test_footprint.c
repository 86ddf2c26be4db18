/* The reference program's numbers, to the byte, and what else a plan tells. */
#include "host/scratch/footprint.h"
#include "host/scratch/lower_bound.h"
#include "tests/unit/cap16.h"
#include "tests/unit/fail_alloc.h"

enum { PERSISTENT = 24832, TILE = 61824, NESTED = 62080, SCOPED = 86656 };
enum { POOL = 1 << 20 };

static const size_t sweep[] = {1, 2, 4, 8, 16, 17, 32, 64, 128, 256, 512, 1024};

enum { SWEEP = sizeof sweep / sizeof sweep[0] };

static struct footprint plan(const struct program *program, enum policy policy, size_t tiles,
                             size_t pool)
{
    const struct footprint_request request = {policy, tiles, pool, 128};
    struct footprint footprint;
    assert_ok(footprint_plan(program, &request, &footprint));
    return footprint;
}

static struct footprint plan_cap16(enum policy policy, size_t tiles, size_t pool)
{
    struct program program;
    cap16_build(&program);
    struct footprint footprint = plan(&program, policy, tiles, pool);
    program_fini(&program);
    footprint.overflow.name = NULL; /* it was the program's */
    return footprint;
}

static size_t alloc(struct program *program, const char *name, size_t bytes)
{
    size_t handle;
    struct shape shape = shape_1d(bytes);
    assert_ok(program_alloc(program, name, DTYPE_I8, shape, shape, &handle));
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

/* policies */

static void policy_names_parse_back(void **state)
{
    (void)state;
    static const enum policy all[] = {POLICY_UNSCOPED, POLICY_SCOPED, POLICY_NESTED};
    static const char *const names[] = {"unscoped", "scoped", "nested"};
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        enum policy out;
        assert_string_equal(names[i], policy_name(all[i]));
        assert_true(policy_parse(names[i], &out));
        assert_int_equal(all[i], out);
    }
    assert_string_equal("unknown", policy_name((enum policy)POLICY_COUNT));
}

static void policy_parse_refuses_other_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "Nested", "nested ", "scope", "greedy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum policy out = POLICY_NESTED;
        assert_false(policy_parse(names[i], &out));
        assert_int_equal(POLICY_UNSCOPED, out);
    }
}

static void policy_depth_is_the_levels_that_count(void **state)
{
    (void)state;
    assert_int_equal(0, policy_depth(POLICY_UNSCOPED));
    assert_int_equal(1, policy_depth(POLICY_SCOPED));
    assert_int_equal(SIZE_MAX, policy_depth(POLICY_NESTED));
}

/* the reference program */

static void cap16_unscoped_grows_by_a_tile(void **state)
{
    (void)state;
    assert_int_equal(86656, plan_cap16(POLICY_UNSCOPED, 1, POOL).peak_bytes);
    assert_int_equal(1014016, plan_cap16(POLICY_UNSCOPED, 16, POOL).peak_bytes);
    assert_int_equal(1075840, plan_cap16(POLICY_UNSCOPED, 17, POOL).peak_bytes);
    assert_int_equal(63332608, plan_cap16(POLICY_UNSCOPED, 1024, POOL).peak_bytes);
    for (size_t i = 0; i < SWEEP; i++) {
        struct footprint footprint = plan_cap16(POLICY_UNSCOPED, sweep[i], FOOTPRINT_NO_LIMIT);
        assert_int_equal(PERSISTENT + TILE * sweep[i], footprint.peak_bytes);
        assert_int_equal(footprint.peak_bytes, footprint.current_bytes);
        assert_int_equal(footprint.peak_bytes / 128, footprint.touched_lines);
        assert_false(footprint.overflow.happened);
    }
}

/*  bytes over one tile: 86,656 = 24,832 + 61,824
 *            .---.
 *         .--'   |      m_new alpha l_new p s k v acc_new, all until the tile's end
 *     .---'      |
 *  ---'          '---   24,832
 *     {          }
 */
static void cap16_scoped_is_the_same_for_every_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < SWEEP; i++) {
        struct footprint footprint = plan_cap16(POLICY_SCOPED, sweep[i], POOL);
        assert_int_equal(SCOPED, footprint.peak_bytes);
        assert_int_equal(PERSISTENT, footprint.current_bytes);
        assert_int_equal(SCOPED / 128, footprint.touched_lines);
        assert_false(footprint.overflow.happened);
    }
}

/*  bytes over one tile: 62,080 = 24,832 + 4,480 + 32,768
 *                    .----.     v acc_new 32,768
 *          .-.       |    |     k 16,384
 *        .-' '-.     |    |     s 8,192
 *     .--'     '-----'    |     m_new alpha l_new p 4,480
 *  ---'                   '---  24,832
 *     {  { {   } }   {    } }
 */
static void cap16_nested_is_the_same_for_every_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < SWEEP; i++) {
        struct footprint footprint = plan_cap16(POLICY_NESTED, sweep[i], POOL);
        assert_int_equal(NESTED, footprint.peak_bytes);
        assert_int_equal(PERSISTENT, footprint.current_bytes);
        assert_int_equal(NESTED / 128, footprint.touched_lines);
        assert_false(footprint.overflow.happened);
    }
}

static void cap16_parts_are_the_same_under_every_policy(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        for (size_t i = 0; i < SWEEP; i++) {
            struct footprint footprint = plan_cap16((enum policy)policy, sweep[i], POOL);
            assert_int_equal(PERSISTENT, footprint.persistent_bytes);
            assert_int_equal(TILE, footprint.tile_bytes);
            assert_int_equal(NESTED, footprint.lower_bound_bytes);
            assert_int_equal(PERSISTENT + TILE * sweep[i], footprint.requested_bytes);
            assert_int_equal(PERSISTENT + TILE * sweep[i], footprint.padded_bytes);
        }
    }
}

static void cap16_without_tiles_is_persistent_alone(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        struct footprint footprint = plan_cap16((enum policy)policy, 0, POOL);
        assert_int_equal(PERSISTENT, footprint.peak_bytes);
        assert_int_equal(PERSISTENT, footprint.current_bytes);
        assert_int_equal(PERSISTENT, footprint.lower_bound_bytes);
        assert_int_equal(PERSISTENT, footprint.requested_bytes);
        assert_int_equal(TILE, footprint.tile_bytes);
        assert_int_equal(PERSISTENT / 128, footprint.touched_lines);
    }
}

static void cap16_at_s_17_overflows_at_v(void **state)
{
    (void)state;
    static const size_t tiles[] = {17, 1024};
    for (size_t i = 0; i < 2; i++) {
        struct footprint_overflow overflow = plan_cap16(POLICY_UNSCOPED, tiles[i], POOL).overflow;
        assert_true(overflow.happened);
        assert_int_equal(17, overflow.tile);
        assert_int_equal(CAP16_V, overflow.handle);
        assert_int_equal(16384, overflow.request_bytes);
        assert_int_equal(5504, overflow.free_bytes);
        assert_int_equal(POOL - 5504, overflow.used_bytes);
        assert_int_equal(16384 - 5504, overflow.missing_bytes);
        assert_int_equal(POOL - 5504 - PERSISTENT, overflow.live_tile_bytes);
        assert_int_equal(4480 + 8192 + 16384, overflow.this_tile_bytes);
    }
}

static void cap16_overflow_names_the_programs_handle(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    struct footprint footprint = plan(&program, POLICY_UNSCOPED, 17, POOL);
    assert_ptr_equal(program.handles[CAP16_V].name, footprint.overflow.name);
    assert_string_equal("v", footprint.overflow.name);
    assert_null(plan(&program, POLICY_UNSCOPED, 16, POOL).overflow.name);
    program_fini(&program);
}

static void cap16_with_the_exact_pool_fits(void **state)
{
    (void)state;
    assert_false(plan_cap16(POLICY_NESTED, 9, NESTED).overflow.happened);
    assert_true(plan_cap16(POLICY_NESTED, 9, NESTED - 1).overflow.happened);
    assert_false(plan_cap16(POLICY_UNSCOPED, 17, 1075840).overflow.happened);
    assert_true(plan_cap16(POLICY_UNSCOPED, 17, 1075839).overflow.happened);
}

/* overflow */

static void overflow_of_a_persistent_allocation_is_tile_0(void **state)
{
    (void)state;
    struct footprint footprint = plan_cap16(POLICY_NESTED, 3, 8192);
    assert_true(footprint.overflow.happened);
    assert_int_equal(0, footprint.overflow.tile);
    assert_int_equal(CAP16_M, footprint.overflow.handle);
    assert_int_equal(128, footprint.overflow.request_bytes);
    assert_int_equal(0, footprint.overflow.free_bytes);
    assert_int_equal(8192, footprint.overflow.used_bytes);
    assert_int_equal(0, footprint.overflow.live_tile_bytes);
    assert_int_equal(NESTED, footprint.peak_bytes);
}

static void overflow_under_scoped_happens_in_the_first_tile(void **state)
{
    (void)state;
    struct footprint footprint = plan_cap16(POLICY_SCOPED, 5, 70000);
    assert_int_equal(1, footprint.overflow.tile);
    assert_int_equal(CAP16_V, footprint.overflow.handle);
    assert_int_equal(PERSISTENT + 4480 + 8192 + 16384, footprint.overflow.used_bytes);
    assert_int_equal(footprint.overflow.live_tile_bytes, footprint.overflow.this_tile_bytes);
    assert_int_equal(SCOPED, footprint.peak_bytes);
}

/* Alignment 128, pool 200: a ends at 100, b would start at 128, so 72 are free. */
static void overflow_free_bytes_count_from_the_aligned_start(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    alloc(&program, "a", 100);
    alloc(&program, "b", 73);
    struct footprint footprint = plan(&program, POLICY_NESTED, 0, 200);
    assert_int_equal(72, footprint.overflow.free_bytes);
    assert_int_equal(100, footprint.overflow.used_bytes);
    assert_int_equal(1, footprint.overflow.missing_bytes);
    assert_int_equal(201, footprint.peak_bytes);
    program_fini(&program);
}

/* requested and padded, lines, bound */

static void padded_bytes_count_pitch_and_alignment(void **state)
{
    (void)state;
    struct program program;
    size_t k;
    program_init(&program);
    alloc(&program, "a", 100);
    assert_ok(program_tile_begin(&program));
    assert_ok(program_alloc(&program, "k", DTYPE_F16, shape_2d(3, 40), shape_2d(3, 48), &k));
    assert_ok(program_tile_end(&program));
    struct footprint footprint = plan(&program, POLICY_NESTED, 5, POOL);
    assert_int_equal(100 + 5 * 240, footprint.requested_bytes);
    assert_int_equal(128 + 5 * 384, footprint.padded_bytes);
    assert_int_equal(128 + 288 - 100, footprint.tile_bytes);
    program_fini(&program);
}

/* Alignment 32: tile t holds [64 + 32 t, 96 + 32 t), so four tiles share a line. */
static void touched_lines_shared_by_tiles_count_once(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    alloc(&program, "a", 64);
    assert_ok(program_tile_begin(&program));
    size_t scope = begin(&program, "tile");
    alloc(&program, "t", 20);
    assert_ok(program_end(&program, scope));
    assert_ok(program_tile_end(&program));
    struct footprint_request request = {POLICY_UNSCOPED, 0, POOL, 32};
    for (size_t tiles = 0; tiles < 40; tiles++) {
        struct footprint footprint;
        request.tiles = tiles;
        request.policy = POLICY_UNSCOPED;
        assert_ok(footprint_plan(&program, &request, &footprint));
        size_t end = tiles == 0 ? 64 : 64 + 32 * (tiles - 1) + 20;
        assert_int_equal((end + 127) / 128, footprint.touched_lines);
        request.policy = POLICY_SCOPED;
        assert_ok(footprint_plan(&program, &request, &footprint));
        assert_int_equal(1, footprint.touched_lines);
    }
    program_fini(&program);
}

/* Alignment 512: of every four lines, one is covered. */
static void touched_lines_leave_gaps_out(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    alloc(&program, "t", 100);
    assert_ok(program_tile_end(&program));
    const struct footprint_request request = {POLICY_UNSCOPED, 1000, POOL, 512};
    struct footprint footprint;
    assert_ok(footprint_plan(&program, &request, &footprint));
    assert_int_equal(1000, footprint.touched_lines);
    assert_int_equal(999 * 512 + 100, footprint.peak_bytes);
    program_fini(&program);
}

static void lower_bound_leaves_the_largest_tail_out(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    alloc(&program, "a", 100);
    alloc(&program, "b", 200);
    struct footprint footprint = plan(&program, POLICY_NESTED, 0, POOL);
    assert_int_equal(128 + 256 - 56, footprint.lower_bound_bytes);
    assert_int_equal(128 + 200, footprint.peak_bytes);
    program_fini(&program);
}

/* a is live over both writes, b from its write to its own end: never with c. */
static void lower_bound_counts_live_ranges_not_scopes(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    size_t a = alloc(&program, "a", 1280);
    size_t b = alloc(&program, "b", 2560);
    size_t c = alloc(&program, "c", 5120);
    alloc(&program, "unused", 99999);
    write_to(&program, a);
    write_to(&program, b);
    write_to(&program, c);
    const struct program_operation read = {.name = "read", .reads = {a}, .read_count = 1};
    assert_ok(program_operation(&program, &read));
    assert_ok(program_tile_end(&program));
    assert_int_equal(1280 + 5120, plan(&program, POLICY_NESTED, 7, POOL).lower_bound_bytes);
    program_fini(&program);
}

static void lower_bound_is_never_above_a_peak(void **state)
{
    (void)state;
    for (size_t i = 0; i < SWEEP; i++) {
        for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
            struct footprint footprint = plan_cap16((enum policy)policy, sweep[i], POOL);
            assert_true(footprint.lower_bound_bytes <= footprint.peak_bytes);
        }
    }
}

/* edges and failures */

static void program_without_a_tile_has_its_persistent_bytes(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        assert_int_equal(0, plan(&program, (enum policy)policy, 3, POOL).peak_bytes);
    }
    alloc(&program, "a", 1000);
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        assert_int_equal(1000, plan(&program, (enum policy)policy, 3, POOL).peak_bytes);
    }
    program_fini(&program);
}

static void plan_of_a_bad_request_is_refused(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    static const struct footprint_request bad[] = {
        {POLICY_NESTED, 1, POOL, 0}, {POLICY_NESTED, 1, POOL, 96}, {POLICY_NESTED, 1, 127, 128},
        {POLICY_NESTED, 1, 0, 128},  {POLICY_NESTED, 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct footprint footprint = {.peak_bytes = 7};
        struct offset_table table = {.rows = 7};
        assert_status(STATUS_BAD_INPUT, footprint_plan(&program, &bad[i], &footprint));
        assert_int_equal(0, footprint.peak_bytes);
        assert_status(STATUS_BAD_INPUT, footprint_table(&program, &bad[i], &table));
        assert_int_equal(0, table.rows);
    }
    program_fini(&program);
}

static void plan_of_an_open_tile_is_misuse(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint;
    const struct footprint_request request = {POLICY_NESTED, 1, POOL, 128};
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    assert_status(STATUS_MISUSE, footprint_plan(&program, &request, &footprint));
    program_fini(&program);
}

static void plan_whose_need_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint = {.peak_bytes = 7};
    struct footprint_request request = {POLICY_UNSCOPED, 3, POOL, 128};
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    alloc(&program, "huge", SIZE_MAX / 3);
    assert_ok(program_tile_end(&program));
    assert_status(STATUS_RANGE, footprint_plan(&program, &request, &footprint));
    assert_int_equal(0, footprint.peak_bytes);
    request.tiles = 2;
    assert_ok(footprint_plan(&program, &request, &footprint));
    assert_int_equal(1, footprint.overflow.tile);
    request.tiles = SIZE_MAX;
    assert_status(STATUS_RANGE, footprint_plan(&program, &request, &footprint));
    program_fini(&program);
}

static void plan_of_a_tile_that_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint;
    const struct footprint_request request = {POLICY_NESTED, 1, FOOTPRINT_NO_LIMIT, 128};
    program_init(&program);
    assert_ok(program_tile_begin(&program));
    alloc(&program, "a", SIZE_MAX - 15);
    assert_ok(program_tile_end(&program));
    assert_status(STATUS_RANGE, footprint_plan(&program, &request, &footprint));
    program_fini(&program);
}

/* The totals fit size_t; with the base in front, the addresses do not. */
static void plan_past_the_end_of_the_address_space_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint;
    const struct footprint_request request = {POLICY_NESTED, 1, POOL, 128};
    program_init(&program);
    alloc(&program, "a", SIZE_MAX - POOL);
    assert_status(STATUS_RANGE, footprint_plan(&program, &request, &footprint));
    assert_false(footprint.overflow.happened);
    program_fini(&program);
}

static void lower_bound_that_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    size_t bytes = 7;
    program_init(&program);
    alloc(&program, "a", SIZE_MAX / 2);
    alloc(&program, "b", SIZE_MAX / 2);
    assert_status(STATUS_RANGE, lower_bound_bytes(&program, true, 128, &bytes));
    assert_int_equal(0, bytes);
    program_fini(&program);
}

static void plan_takes_any_power_of_two_as_alignment(void **state)
{
    (void)state;
    struct program program;
    program_init(&program);
    alloc(&program, "a", 100);
    alloc(&program, "b", 100);
    for (unsigned bit = 0; bit < 40; bit++) {
        size_t alignment = (size_t)1 << bit;
        const struct footprint_request request = {POLICY_NESTED, 1, FOOTPRINT_NO_LIMIT, alignment};
        struct footprint footprint;
        assert_ok(footprint_plan(&program, &request, &footprint));
        size_t start = (100 + alignment - 1) / alignment * alignment;
        assert_int_equal(start + 100, footprint.peak_bytes);
    }
    program_fini(&program);
}

static void plan_memory_does_not_grow_with_s(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        fail_alloc_on(0);
        plan(&program, (enum policy)policy, 2, POOL);
        size_t few = fail_alloc_bytes;
        fail_alloc_on(0);
        plan(&program, (enum policy)policy, 100000, POOL);
        assert_int_equal(few, fail_alloc_bytes);
    }
    program_fini(&program);
}

static void plan_without_memory_is_refused_wherever_it_fails(void **state)
{
    (void)state;
    struct program program;
    const struct footprint_request request = {POLICY_UNSCOPED, 2, POOL, 128};
    cap16_build(&program);
    for (size_t call = 1;; call++) {
        struct offset_table table = {.rows = 7};
        fail_alloc_on(call);
        enum status status = footprint_table(&program, &request, &table);
        bool reached = fail_alloc_at == 0;
        fail_alloc_on(0);
        status_clear();
        if (!reached) {
            assert_ok(status);
            assert_true(call >= 12);
            offset_table_fini(&table);
            break;
        }
        assert_status(STATUS_NO_MEMORY, status);
        assert_null(table.cells);
        assert_int_equal(0, table.rows);
    }
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(policy_names_parse_back),
        unit_test_clean(policy_parse_refuses_other_names),
        unit_test_clean(policy_depth_is_the_levels_that_count),
        unit_test_clean(cap16_unscoped_grows_by_a_tile),
        unit_test_clean(cap16_scoped_is_the_same_for_every_s),
        unit_test_clean(cap16_nested_is_the_same_for_every_s),
        unit_test_clean(cap16_parts_are_the_same_under_every_policy),
        unit_test_clean(cap16_without_tiles_is_persistent_alone),
        unit_test_clean(cap16_at_s_17_overflows_at_v),
        unit_test_clean(cap16_overflow_names_the_programs_handle),
        unit_test_clean(cap16_with_the_exact_pool_fits),
        unit_test_clean(overflow_of_a_persistent_allocation_is_tile_0),
        unit_test_clean(overflow_under_scoped_happens_in_the_first_tile),
        unit_test_clean(overflow_free_bytes_count_from_the_aligned_start),
        unit_test_clean(padded_bytes_count_pitch_and_alignment),
        unit_test_clean(touched_lines_shared_by_tiles_count_once),
        unit_test_clean(touched_lines_leave_gaps_out),
        unit_test_clean(lower_bound_leaves_the_largest_tail_out),
        unit_test_clean(lower_bound_counts_live_ranges_not_scopes),
        unit_test_clean(lower_bound_is_never_above_a_peak),
        unit_test_clean(program_without_a_tile_has_its_persistent_bytes),
        unit_test_clean(plan_of_a_bad_request_is_refused),
        unit_test_clean(plan_of_an_open_tile_is_misuse),
        unit_test_clean(plan_whose_need_wraps_is_out_of_range),
        unit_test_clean(plan_of_a_tile_that_wraps_is_out_of_range),
        unit_test_clean(plan_past_the_end_of_the_address_space_is_out_of_range),
        unit_test_clean(lower_bound_that_wraps_is_out_of_range),
        unit_test_clean(plan_takes_any_power_of_two_as_alignment),
        unit_test_clean(plan_memory_does_not_grow_with_s),
        unit_test_clean(plan_without_memory_is_refused_wherever_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
