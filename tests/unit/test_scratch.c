/* Allocation and statistics: R3-R5, R8, R9. */
#include "tests/unit/fail_alloc.h"
#include "tests/unit/scratch_fixture.h"

static void init_defaults_are_those_of_the_specification(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle a = alloc(&scratch, "a", 1);
    struct scratch_handle b = alloc(&scratch, "b", 1);
    assert_int_equal(1 << 24, a.address);
    assert_int_equal((1 << 24) + 128, b.address);
    assert_int_equal(0, a.depth);
    scratch_fini(&scratch);
}

static void init_takes_base_and_alignment(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){.base = 4096, .alignment = 64});
    assert_int_equal(4096, alloc(&scratch, "a", 1).address);
    assert_int_equal(4096 + 64, alloc(&scratch, "b", 1).address);
    scratch_fini(&scratch);
}

static void init_with_bad_options_is_refused(void **state)
{
    (void)state;
    static const struct scratch_options bad[] = {
        {.capacity = POOL, .alignment = 96},
        {.capacity = 0},
        {.capacity = 1},
        {.capacity = 127},
        {.capacity = POOL, .base = SIZE_MAX - POOL + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct scratch scratch;
        assert_status(STATUS_BAD_INPUT, scratch_init(&scratch, &bad[i]));
        assert_null(scratch.levels);
        assert_false(scratch_is_valid(&scratch));
        scratch_fini(&scratch);
    }
}

static void init_without_memory_is_refused(void **state)
{
    (void)state;
    struct scratch scratch;
    const struct scratch_options options = {.capacity = POOL};
    const struct scratch_options deep = {.capacity = POOL, .max_depth = SIZE_MAX};
    fail_alloc_on(1);
    assert_status(STATUS_NO_MEMORY, scratch_init(&scratch, &options));
    fail_alloc_on(0);
    assert_null(scratch.levels);
    assert_status(STATUS_NO_MEMORY, scratch_init(&scratch, &deep));
}

static void after_init_nothing_is_taken_from_the_heap(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    fail_alloc_on(0);
    for (size_t i = 0; i < 1000; i++) {
        struct scratch_scope scope = begin(&scratch);
        alloc(&scratch, "a", 32);
        end(&scratch, scope);
    }
    assert_int_equal(0, fail_alloc_bytes);
    scratch_fini(&scratch);
}

static void after_fini_every_call_is_refused(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle a = alloc(&scratch, "a", 1);
    struct scratch_handle none = {0};
    struct scratch_scope scope;
    scratch_fini(&scratch);
    assert_status(STATUS_MISUSE, scratch_alloc(&scratch, "b", DTYPE_F32, shape_1d(1), &none));
    assert_status(STATUS_MISUSE, scratch_begin(&scratch, &scope));
    assert_status(STATUS_MISUSE, scratch_end(&scratch, scope));
    assert_status(STATUS_MISUSE, scratch_reset(&scratch));
    assert_status(STATUS_MISUSE, scratch_check(&scratch, &a));
    assert_status(STATUS_MISUSE, scratch_check(&scratch, &none));
    scratch_fini(&scratch);
}

static void alloc_handle_tells_what_was_asked_for(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle p;
    assert_ok(scratch_alloc(&scratch, "p", DTYPE_F16, shape_2d(32, 16), &p));
    assert_string_equal("p", p.name);
    assert_int_equal(32 * 16 * 2, p.bytes);
    assert_int_equal(DTYPE_F16, p.dtype);
    assert_true(shape_equal(shape_2d(32, 16), p.shape));
    assert_int_equal(1, p.depth);
    assert_int_equal(scope.serial, p.scope);
    scratch_fini(&scratch);
}

static void alloc_that_does_not_fit_fills_the_overflow_record(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle handle;
    assert_false(scratch_last_overflow(&scratch)->happened);
    alloc(&scratch, "q", 1000);
    scratch_set_tile(&scratch, 17);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_NO_SPACE,
                  scratch_alloc(&scratch, "v", DTYPE_F16, shape_2d(64, 128), &handle));
    assert_unchanged(&scratch, &before);
    const struct scratch_overflow *overflow = scratch_last_overflow(&scratch);
    assert_true(overflow->happened);
    assert_string_equal("v", overflow->name);
    assert_int_equal(16384, overflow->requested_bytes);
    assert_int_equal(0, overflow->free_bytes);
    assert_int_equal(4000, overflow->used_bytes);
    assert_int_equal(POOL, overflow->capacity_bytes);
    assert_int_equal(16384, overflow->missing_bytes);
    assert_int_equal(128, overflow->alignment_bytes);
    assert_int_equal(17, overflow->tile);
    assert_int_equal(0, handle.address);
    assert_int_equal(0, handle.owner);
    scratch_fini(&scratch);
}

static void alloc_that_does_not_fit_says_why(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){.alignment = 64});
    struct scratch_handle handle;
    alloc(&scratch, "q", 1000);
    scratch_set_tile(&scratch, 17);
    assert_status(STATUS_NO_SPACE, scratch_alloc(&scratch, "v", DTYPE_I8, shape_1d(100), &handle));
    assert_string_equal("v", status_last()->what);
    assert_string_equal("100 bytes requested in tile 17, 64 free (36 missing): 4000 of 4096 used, "
                        "alignment 64",
                        status_last()->why);
    scratch_fini(&scratch);
}

static void alloc_after_an_overflow_goes_on(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle handle;
    assert_status(STATUS_NO_SPACE,
                  scratch_alloc(&scratch, "big", DTYPE_F32, shape_1d(POOL), &handle));
    alloc(&scratch, "small", POOL / 4);
    assert_int_equal(POOL, scratch_cursor(&scratch));
    assert_string_equal("big", scratch_last_overflow(&scratch)->name);
    assert_status(STATUS_NO_SPACE, scratch_alloc(&scratch, "more", DTYPE_I8, shape_1d(1), &handle));
    assert_string_equal("more", scratch_last_overflow(&scratch)->name);
    scratch_fini(&scratch);
}

static void alloc_overflow_keeps_the_name_after_the_caller_drops_it(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle handle;
    char name[100];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_status(STATUS_NO_SPACE,
                  scratch_alloc(&scratch, name, DTYPE_F32, shape_1d(POOL), &handle));
    memset(name, 'x', sizeof name);
    assert_int_equal(SCRATCH_NAME_BYTES - 1, strlen(scratch_last_overflow(&scratch)->name));
    assert_int_equal('n', scratch_last_overflow(&scratch)->name[0]);
    scratch_fini(&scratch);
}

static void alloc_whose_size_wraps_is_out_of_range(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle handle;
    struct snapshot before = take(&scratch);
    assert_status(STATUS_RANGE,
                  scratch_alloc(&scratch, "a", DTYPE_I8, shape_2d(SIZE_MAX, 2), &handle));
    assert_status(STATUS_RANGE,
                  scratch_alloc(&scratch, "a", DTYPE_F32, shape_1d(SIZE_MAX / 2), &handle));
    assert_unchanged(&scratch, &before);
    assert_int_equal(0, handle.address);
    scratch_fini(&scratch);
}

static void alloc_misuse_changes_nothing(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle handle;
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_alloc(&scratch, NULL, DTYPE_F32, shape_1d(1), &handle));
    assert_status(STATUS_MISUSE,
                  scratch_alloc(&scratch, "a", (enum dtype)DTYPE_COUNT, shape_1d(1), &handle));
    assert_unchanged(&scratch, &before);
    scratch_fini(&scratch);
}

static void alloc_of_no_elements_has_an_address(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle none = alloc(&scratch, "none", 0);
    assert_int_equal(1 << 24, none.address);
    assert_int_equal(0, scratch_cursor(&scratch));
    assert_ok(scratch_check(&scratch, &none));
    assert_ptr_equal(memory, data_of(&scratch, none));
    scratch_fini(&scratch);
}

/*  requested / padded cursor
 *   a 10 B             10 / 10
 *   { b 100 B         110 / 228
 *     { c 200 B }     310 / 456
 *   }                  10 / 10
 */
static void stats_tell_requested_and_padded_apart(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle handle;
    assert_ok(scratch_alloc(&scratch, "a", DTYPE_I8, shape_1d(10), &handle));
    struct scratch_scope outer = begin(&scratch);
    assert_ok(scratch_alloc(&scratch, "b", DTYPE_I8, shape_1d(100), &handle));
    struct scratch_scope inner = begin(&scratch);
    assert_ok(scratch_alloc(&scratch, "c", DTYPE_I8, shape_1d(200), &handle));
    struct scratch_stats stats = scratch_stats(&scratch);
    assert_int_equal(310, stats.requested.current);
    assert_int_equal(456, stats.padded.current);
    end(&scratch, inner);
    assert_int_equal(110, scratch_stats(&scratch).requested.current);
    assert_int_equal(228, scratch_stats(&scratch).padded.current);
    end(&scratch, outer);
    begin(&scratch);
    assert_ok(scratch_alloc(&scratch, "b", DTYPE_I8, shape_1d(100), &handle));
    stats = scratch_stats(&scratch);
    assert_int_equal(110, stats.requested.current);
    assert_int_equal(310, stats.requested.peak);
    assert_int_equal(410, stats.requested.total);
    assert_int_equal(228, stats.padded.current);
    assert_int_equal(456, stats.padded.peak);
    assert_int_equal(456 + 218, stats.padded.total);
    assert_int_equal(4, stats.allocations);
    scratch_fini(&scratch);
}

static void stats_total_stays_at_the_limit(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    scratch.stats.requested.total = SIZE_MAX - 1;
    scratch.stats.padded.total = SIZE_MAX - 1;
    alloc(&scratch, "a", 1);
    assert_int_equal(SIZE_MAX, scratch_stats(&scratch).requested.total);
    assert_int_equal(SIZE_MAX, scratch_stats(&scratch).padded.total);
    scratch_fini(&scratch);
}

static void is_valid_sees_each_broken_invariant(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    begin(&scratch);
    alloc(&scratch, "a", 64);
    begin(&scratch);
    struct scratch bad = scratch;
    bad.arena.peak = 0;
    assert_false(scratch_is_valid(&bad));
    bad = scratch;
    bad.depth = scratch.max_depth + 1;
    assert_false(scratch_is_valid(&bad));
    bad = scratch;
    bad.stats.padded.current++;
    assert_false(scratch_is_valid(&bad));
    bad = scratch;
    bad.stats.requested.total = 0;
    assert_false(scratch_is_valid(&bad));
    bad = scratch;
    bad.last_serial = 1;
    assert_false(scratch_is_valid(&bad));
    scratch.levels[1].mark = 300;
    assert_false(scratch_is_valid(&scratch));
    scratch.levels[1].mark = 0;
    scratch.levels[2].serial = 1;
    assert_false(scratch_is_valid(&scratch));
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(init_defaults_are_those_of_the_specification),
        unit_test_clean(init_takes_base_and_alignment),
        unit_test_clean(init_with_bad_options_is_refused),
        unit_test_clean(init_without_memory_is_refused),
        unit_test_clean(after_init_nothing_is_taken_from_the_heap),
        unit_test_clean(after_fini_every_call_is_refused),
        unit_test_clean(alloc_handle_tells_what_was_asked_for),
        unit_test_clean(alloc_that_does_not_fit_fills_the_overflow_record),
        unit_test_clean(alloc_that_does_not_fit_says_why),
        unit_test_clean(alloc_after_an_overflow_goes_on),
        unit_test_clean(alloc_overflow_keeps_the_name_after_the_caller_drops_it),
        unit_test_clean(alloc_whose_size_wraps_is_out_of_range),
        unit_test_clean(alloc_misuse_changes_nothing),
        unit_test_clean(alloc_of_no_elements_has_an_address),
        unit_test_clean(stats_tell_requested_and_padded_apart),
        unit_test_clean(stats_total_stays_at_the_limit),
        unit_test_clean(is_valid_sees_each_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
