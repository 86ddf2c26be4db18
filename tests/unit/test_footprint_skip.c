/* Plans of more tiles than are replayed one by one: peak, lines and the first overflow must be
 * those that running every tile would give. */
#include "host/scratch/footprint.h"
#include "tests/unit/cap16.h"
#include "tests/unit/unit.h"

#define PERSISTENT ((size_t)24832)
#define TILE ((size_t)61824)
#define MANY ((size_t)1000000000000)

static struct footprint plan_of(const struct program *program, enum policy policy, size_t tiles,
                                size_t pool, size_t alignment)
{
    const struct footprint_request request = {policy, tiles, pool, alignment};
    struct footprint footprint;
    assert_ok(footprint_plan(program, &request, &footprint));
    return footprint;
}

static void skipped_cap16_has_its_exact_need(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    struct footprint unscoped = plan_of(&program, POLICY_UNSCOPED, MANY, FOOTPRINT_NO_LIMIT, 128);
    assert_true(unscoped.peak_bytes == PERSISTENT + TILE * MANY);
    assert_true(unscoped.current_bytes == unscoped.peak_bytes);
    assert_true(unscoped.touched_lines == unscoped.peak_bytes / 128);
    assert_false(unscoped.overflow.happened);
    struct footprint scoped = plan_of(&program, POLICY_SCOPED, MANY, (size_t)1 << 20, 128);
    assert_true(scoped.peak_bytes == 86656 && scoped.touched_lines == 677);
    assert_true(plan_of(&program, POLICY_NESTED, MANY, (size_t)1 << 20, 128).peak_bytes == 62080);
    program_fini(&program);
}

/* The overflow lies where nothing was replayed but the skipped tiles' neighbours. */
static void skipped_cap16_overflows_at_its_exact_tile(void **state)
{
    (void)state;
    static const size_t fitting[] = {16, 2097151, 2097152, 2097153, 5000000000};
    struct program program;
    cap16_build(&program);
    for (size_t i = 0; i < sizeof fitting / sizeof fitting[0]; i++) {
        size_t pool = PERSISTENT + TILE * fitting[i];
        struct footprint full = plan_of(&program, POLICY_UNSCOPED, MANY, pool, 128);
        assert_true(full.overflow.happened);
        assert_true(full.overflow.tile == fitting[i] + 1);
        assert_int_equal(full.overflow.handle, CAP16_M_NEW);
        assert_true(full.overflow.free_bytes == 0 && full.overflow.used_bytes == pool);
        assert_true(full.peak_bytes == PERSISTENT + TILE * MANY);
        struct footprint short_of = plan_of(&program, POLICY_UNSCOPED, MANY, pool - 1, 128);
        assert_true(short_of.overflow.tile == fitting[i]);
        assert_int_equal(short_of.overflow.handle, CAP16_ACC_NEW);
        assert_false(plan_of(&program, POLICY_UNSCOPED, fitting[i], pool, 128).overflow.happened);
    }
    program_fini(&program);
}

/* Tiles of 37 + 5 bytes at alignment 4: neighbours share lines, and their number per tile varies.
 */
static void skipped_lines_repeat_by_periods(void **state)
{
    (void)state;
    struct program program;
    size_t handle;
    program_init(&program);
    assert_ok(program_alloc(&program, "a", DTYPE_I8, shape_1d(61), shape_1d(61), &handle));
    assert_ok(program_tile_begin(&program));
    assert_ok(program_alloc(&program, "t", DTYPE_I8, shape_1d(37), shape_1d(37), &handle));
    assert_ok(program_alloc(&program, "u", DTYPE_I8, shape_1d(5), shape_1d(5), &handle));
    assert_ok(program_tile_end(&program));
    for (size_t tiles = 1000; tiles < 1050; tiles++) {
        struct footprint few = plan_of(&program, POLICY_UNSCOPED, tiles, FOOTPRINT_NO_LIMIT, 4);
        struct footprint many =
            plan_of(&program, POLICY_UNSCOPED, tiles + ((size_t)1 << 40), FOOTPRINT_NO_LIMIT, 4);
        /* 40 + 5 bytes a tile, each aligned up: 48 bytes, 3 lines in 8 tiles */
        assert_true(many.peak_bytes - few.peak_bytes == (size_t)48 << 40);
        assert_true(many.touched_lines - few.touched_lines == ((size_t)48 << 40) / 128);
    }
    program_fini(&program);
}

static void skipped_need_that_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct program program;
    cap16_build(&program);
    const struct footprint_request request = {POLICY_UNSCOPED, SIZE_MAX / TILE, FOOTPRINT_NO_LIMIT,
                                              128};
    struct footprint footprint;
    assert_int_equal(footprint_plan(&program, &request, &footprint), STATUS_RANGE);
    assert_true(footprint.peak_bytes == 0);
    status_clear();
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_cap16_has_its_exact_need),
        cmocka_unit_test(skipped_cap16_overflows_at_its_exact_tile),
        cmocka_unit_test(skipped_lines_repeat_by_periods),
        cmocka_unit_test(skipped_need_that_wraps_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
