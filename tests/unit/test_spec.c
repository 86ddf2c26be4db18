/* The eight tests of test_tl_scratch_scope.py, under their own names and with their own numbers. */
#include "tests/unit/unit.h"

#include "host/scratch/scratch.h"

static struct scratch make(void)
{
    struct scratch scratch;
    const struct scratch_options options = {.base = 1 << 24, .capacity = 1 << 20};
    assert_ok(scratch_init(&scratch, &options));
    return scratch;
}

static struct scratch_handle alloc(struct scratch *scratch, struct shape shape)
{
    struct scratch_handle handle;
    assert_ok(scratch_alloc(scratch, "out", DTYPE_F16, shape, &handle));
    assert_true(scratch_is_valid(scratch));
    return handle;
}

static struct scratch_scope begin(struct scratch *scratch)
{
    struct scratch_scope scope;
    assert_ok(scratch_begin(scratch, &scope));
    return scope;
}

static void test_scratch_scope_method_exists(void **state)
{
    (void)state;
    struct scratch scratch = make();
    struct scratch_scope scope = begin(&scratch);
    assert_int_not_equal(0, scope.serial);
    assert_ok(scratch_end(&scratch, scope));
    scratch_fini(&scratch);
}

/*  bytes
 *   384 |  #    #          #
 *   256 | ##   ##         ##
 *   128 |###  ###   ...  ###
 *     0 +---0----0---------0--
 *        tile 1  2        10
 */
static void test_scratch_scope_recycles_within_loop(void **state)
{
    (void)state;
    struct scratch scratch = make();
    for (size_t i = 0; i < 10; i++) {
        struct scratch_scope scope = begin(&scratch);
        alloc(&scratch, shape_1d(64));
        alloc(&scratch, shape_1d(64));
        alloc(&scratch, shape_1d(64));
        assert_int_equal(384, scratch_cursor(&scratch));
        assert_ok(scratch_end(&scratch, scope));
    }
    assert_int_equal(0, scratch_cursor(&scratch));
    assert_int_equal(384, scratch_stats(&scratch).padded.peak);
    scratch_fini(&scratch);
}

static void test_scratch_scope_preserves_outside_allocations(void **state)
{
    (void)state;
    struct scratch scratch = make();
    struct scratch_handle persistent = alloc(&scratch, shape_1d(64));
    size_t after_persistent = scratch_cursor(&scratch);
    struct scratch_scope scope = begin(&scratch);
    alloc(&scratch, shape_1d(64));
    alloc(&scratch, shape_1d(64));
    assert_ok(scratch_end(&scratch, scope));
    assert_int_equal(after_persistent, scratch_cursor(&scratch));
    struct scratch_handle fresh = alloc(&scratch, shape_1d(64));
    assert_int_not_equal(persistent.address, fresh.address);
    scratch_fini(&scratch);
}

/*  bytes
 *   384 |        #
 *   256 |      ###
 *   128 |  #####  ###
 *     0 +##---------###
 *        out in  in out
 *        {   {   }  }
 */
static void test_scratch_scope_nesting(void **state)
{
    (void)state;
    struct scratch scratch = make();
    struct scratch_scope outer = begin(&scratch);
    alloc(&scratch, shape_1d(64));
    size_t outer_save = scratch_cursor(&scratch);
    struct scratch_scope inner = begin(&scratch);
    alloc(&scratch, shape_1d(64));
    alloc(&scratch, shape_1d(64));
    size_t inner_peak = scratch_cursor(&scratch);
    assert_ok(scratch_end(&scratch, inner));
    assert_int_equal(outer_save, scratch_cursor(&scratch));
    assert_true(inner_peak > outer_save);
    assert_ok(scratch_end(&scratch, outer));
    assert_int_equal(0, scratch_cursor(&scratch));
    scratch_fini(&scratch);
}

static void test_without_scope_grows_unbounded(void **state)
{
    (void)state;
    struct scratch scratch = make();
    for (size_t i = 0; i < 10; i++) {
        alloc(&scratch, shape_1d(64));
        alloc(&scratch, shape_1d(64));
        alloc(&scratch, shape_1d(64));
    }
    assert_true(scratch_cursor(&scratch) >= 30 * 128);
    scratch_fini(&scratch);
}

static void test_overflow_avoided_with_scope(void **state)
{
    (void)state;
    struct scratch scratch = make();
    for (size_t i = 0; i < 100; i++) {
        struct scratch_scope scope = begin(&scratch);
        alloc(&scratch, shape_1d(32 * 1024));
        assert_ok(scratch_end(&scratch, scope));
    }
    assert_int_equal(0, scratch_cursor(&scratch));
    assert_false(scratch_last_overflow(&scratch)->happened);
    scratch_fini(&scratch);
}

/*  bytes (running = 1024)
 *  4096 |    #      #
 *  3072 |   ##     ##
 *  2048 |  ###    ###
 *  1024 |##################      copy_to(running, new_running) before each end
 *     0 +------------------
 *          tile 1 tile 2 ...
 */
static void test_scoped_loop_with_copy_to_keeps_cursor_bounded(void **state)
{
    (void)state;
    struct scratch scratch = make();
    struct scratch_handle running = alloc(&scratch, shape_2d(8, 64));
    size_t after_persist = scratch_cursor(&scratch);
    assert_int_not_equal(0, running.address);
    for (size_t i = 0; i < 50; i++) {
        struct scratch_scope scope = begin(&scratch);
        alloc(&scratch, shape_2d(8, 64));
        alloc(&scratch, shape_2d(8, 64));
        struct scratch_handle new_running = alloc(&scratch, shape_2d(8, 64));
        assert_ok(scratch_copy_to(&scratch, &running, &new_running));
        assert_ok(scratch_end(&scratch, scope));
        assert_int_equal(after_persist, scratch_cursor(&scratch));
    }
    assert_int_equal(after_persist, scratch_cursor(&scratch));
    assert_int_equal(4 * 1024, scratch_stats(&scratch).padded.peak);
    scratch_fini(&scratch);
}

static void test_persistent_handle_survives_after_copy_to_in_scope(void **state)
{
    (void)state;
    struct scratch scratch = make();
    struct scratch_handle persistent = alloc(&scratch, shape_1d(64));
    size_t address_before = persistent.address;
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle scoped = alloc(&scratch, shape_1d(64));
    assert_ok(scratch_copy_to(&scratch, &persistent, &scoped));
    assert_ok(scratch_end(&scratch, scope));
    assert_int_equal(address_before, persistent.address);
    assert_ok(scratch_check(&scratch, &persistent));
    struct scratch_handle fresh = alloc(&scratch, shape_1d(64));
    assert_int_not_equal(persistent.address, fresh.address);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(test_scratch_scope_method_exists),
        unit_test_clean(test_scratch_scope_recycles_within_loop),
        unit_test_clean(test_scratch_scope_preserves_outside_allocations),
        unit_test_clean(test_scratch_scope_nesting),
        unit_test_clean(test_without_scope_grows_unbounded),
        unit_test_clean(test_overflow_avoided_with_scope),
        unit_test_clean(test_scoped_loop_with_copy_to_keeps_cursor_bounded),
        unit_test_clean(test_persistent_handle_survives_after_copy_to_in_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
