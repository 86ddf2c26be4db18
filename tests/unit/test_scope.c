/* Scopes, poison, and handles after their scope: R1, R2, R7. */
#include "tests/unit/scratch_fixture.h"

/*  bytes
 *   768 |        #             #
 *   512 |    #########     #########
 *   256 |# #########################      persistent stays
 *     0 +---------------------------
 *        p { a { b }   } { c { d } }
 */
static void end_goes_back_to_its_own_begin(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    alloc(&scratch, "persistent", 64);
    struct scratch_scope outer = begin(&scratch);
    struct scratch_handle a = alloc(&scratch, "a", 64);
    struct scratch_scope inner = begin(&scratch);
    struct scratch_handle b = alloc(&scratch, "b", 64);
    assert_int_equal(768, scratch_cursor(&scratch));
    end(&scratch, inner);
    assert_int_equal(512, scratch_cursor(&scratch));
    end(&scratch, outer);
    assert_int_equal(256, scratch_cursor(&scratch));
    struct scratch_scope again = begin(&scratch);
    assert_int_equal(a.address, alloc(&scratch, "c", 64).address);
    struct scratch_scope again_inner = begin(&scratch);
    assert_int_equal(b.address, alloc(&scratch, "d", 64).address);
    end(&scratch, again_inner);
    end(&scratch, again);
    assert_int_equal(768, scratch_stats(&scratch).padded.peak);
    scratch_fini(&scratch);
}

static void end_with_no_scope_open_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    alloc(&scratch, "a", 10);
    struct snapshot before = take(&scratch);
    struct scratch_scope forged = {.depth = 0, .serial = 1, .owner = scratch.id};
    assert_status(STATUS_MISUSE, scratch_end(&scratch, (struct scratch_scope){0}));
    assert_status(STATUS_MISUSE, scratch_end(&scratch, forged));
    assert_unchanged(&scratch, &before);
    scratch_fini(&scratch);
}

static void end_twice_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    struct scratch_scope outer = begin(&scratch);
    struct scratch_scope inner = begin(&scratch);
    end(&scratch, inner);
    alloc(&scratch, "a", 10);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_end(&scratch, inner));
    assert_unchanged(&scratch, &before);
    struct scratch_scope other = begin(&scratch);
    assert_status(STATUS_MISUSE, scratch_end(&scratch, inner));
    end(&scratch, other);
    end(&scratch, outer);
    scratch_fini(&scratch);
}

static void end_out_of_order_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    struct scratch_scope outer = begin(&scratch);
    struct scratch_scope inner = begin(&scratch);
    alloc(&scratch, "a", 10);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_end(&scratch, outer));
    assert_unchanged(&scratch, &before);
    end(&scratch, inner);
    end(&scratch, outer);
    scratch_fini(&scratch);
}

static void end_with_a_scope_of_another_scratch_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    struct scratch other = make((struct scratch_options){0});
    struct scratch_scope scope = begin(&scratch);
    struct scratch_scope foreign = begin(&other);
    assert_int_equal(scope.serial, foreign.serial);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_end(&scratch, foreign));
    assert_unchanged(&scratch, &before);
    scratch_fini(&other);
    scratch_fini(&scratch);
}

static void begin_past_the_depth_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){.max_depth = 2});
    struct scratch_scope refused;
    begin(&scratch);
    struct scratch_scope last = begin(&scratch);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_begin(&scratch, &refused));
    assert_int_equal(0, refused.serial);
    assert_unchanged(&scratch, &before);
    end(&scratch, last);
    begin(&scratch);
    scratch_fini(&scratch);
}

static void reset_gives_persistent_allocations_back(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    struct scratch_handle q = alloc(&scratch, "q", 64);
    fill(&scratch, q, 0x22);
    assert_ok(scratch_reset(&scratch));
    assert_true(scratch_is_valid(&scratch));
    assert_int_equal(0, scratch_cursor(&scratch));
    assert_status(STATUS_STALE, scratch_check(&scratch, &q));
    assert_filled(memory, POOL, 0xFF);
    assert_int_equal(q.address, alloc(&scratch, "q", 64).address);
    assert_status(STATUS_STALE, scratch_check(&scratch, &q));
    assert_int_equal(512, scratch_stats(&scratch).padded.total);
    scratch_fini(&scratch);
}

static void reset_with_a_scope_open_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle q = alloc(&scratch, "q", 64);
    begin(&scratch);
    struct snapshot before = take(&scratch);
    assert_status(STATUS_MISUSE, scratch_reset(&scratch));
    assert_unchanged(&scratch, &before);
    assert_ok(scratch_check(&scratch, &q));
    scratch_fini(&scratch);
}

/*  bytes
 *   512 | F F F   F       F = 0xFF
 *   256 | F F B   F
 *     0 | F A A   A
 *          a { b  }
 */
static void end_poisons_what_lies_above_the_cursor(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(true);
    assert_filled(memory, POOL, 0xFF);
    fill(&scratch, alloc(&scratch, "a", 64), 0xAA);
    struct scratch_scope scope = begin(&scratch);
    fill(&scratch, alloc(&scratch, "b", 64), 0xBB);
    assert_filled(memory + 256, 256, 0xBB);
    end(&scratch, scope);
    assert_filled(memory, 256, 0xAA);
    assert_filled(memory + 256, POOL - 256, 0xFF);
    scratch_fini(&scratch);
}

static void end_without_poison_leaves_the_bytes(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_scope scope = begin(&scratch);
    fill(&scratch, alloc(&scratch, "b", 64), 0xBB);
    end(&scratch, scope);
    assert_filled(memory, 256, 0xBB);
    assert_filled(memory + 256, POOL - 256, 0x11);
    scratch_fini(&scratch);
}

static void check_after_the_scope_is_stale(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle a = alloc(&scratch, "a", 64);
    void *data = memory;
    assert_ok(scratch_check(&scratch, &a));
    end(&scratch, scope);
    assert_status(STATUS_STALE, scratch_check(&scratch, &a));
    assert_status(STATUS_STALE, scratch_data(&scratch, &a, &data));
    assert_null(data);
    assert_string_equal("a", status_last()->what);
    scratch_fini(&scratch);
}

static void check_of_the_last_tenant_is_stale(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_scope first = begin(&scratch);
    struct scratch_handle old = alloc(&scratch, "old", 64);
    end(&scratch, first);
    begin(&scratch);
    struct scratch_handle tenant = alloc(&scratch, "tenant", 64);
    assert_int_equal(old.address, tenant.address);
    assert_status(STATUS_STALE, scratch_check(&scratch, &old));
    assert_ok(scratch_check(&scratch, &tenant));
    scratch_fini(&scratch);
}

static void check_of_another_scratch_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch twin = make((struct scratch_options){0});
    struct scratch_handle mine = alloc(&scratch, "a", 64);
    struct scratch_handle foreign = alloc(&twin, "a", 64);
    assert_int_equal(mine.address, foreign.address);
    assert_int_equal(mine.scope, foreign.scope);
    assert_status(STATUS_MISUSE, scratch_check(&scratch, &foreign));
    scratch_fini(&twin);
    scratch_fini(&scratch);
}

static void check_of_a_former_life_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle old = alloc(&scratch, "a", 64);
    scratch_fini(&scratch);
    scratch = make_with_memory(false);
    alloc(&scratch, "a", 64);
    assert_status(STATUS_MISUSE, scratch_check(&scratch, &old));
    scratch_fini(&scratch);
}

static void check_of_changed_fields_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_scope outer = begin(&scratch);
    struct scratch_handle a = alloc(&scratch, "a", 64);
    struct scratch_scope inner = begin(&scratch);
    struct scratch_handle b = alloc(&scratch, "b", 64);
    alloc(&scratch, "c", 64);
    struct scratch_handle bad[9];
    for (size_t i = 0; i < 9; i++) {
        bad[i] = i < 5 ? b : a;
    }
    bad[0].address += 384;                /* end past the cursor */
    bad[1].address -= 256;                /* below its scope */
    bad[2].bytes += 4;                    /* not what the shape has */
    bad[3].address += 4;                  /* not aligned */
    bad[4].address = 0;                   /* below the base */
    bad[5].shape = shape_1d(65);          /* not what the bytes are */
    bad[6].address = b.address;           /* in the inner scope, not its own */
    bad[7].dtype = DTYPE_F16;             /* not what the bytes are */
    bad[8].shape = shape_2d(SIZE_MAX, 2); /* wraps */
    for (size_t i = 0; i < 9; i++) {
        assert_status(STATUS_MISUSE, scratch_check(&scratch, &bad[i]));
    }
    bad[0] = a;
    bad[0].depth = 2; /* of an outer scope, said to be in the inner one */
    assert_status(STATUS_STALE, scratch_check(&scratch, &bad[0]));
    bad[0].depth = 99;
    assert_status(STATUS_STALE, scratch_check(&scratch, &bad[0]));
    end(&scratch, inner);
    end(&scratch, outer);
    scratch_fini(&scratch);
}

static void data_without_memory_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make((struct scratch_options){0});
    struct scratch_handle a = alloc(&scratch, "a", 64);
    void *data = &scratch;
    assert_status(STATUS_MISUSE, scratch_data(&scratch, &a, &data));
    assert_null(data);
    scratch_fini(&scratch);
}

static void data_points_at_the_address(void **state)
{
    (void)state;
    struct scratch scratch = make_with_memory(false);
    struct scratch_handle a = alloc(&scratch, "a", 33);
    struct scratch_handle b = alloc(&scratch, "b", 1);
    assert_ptr_equal(memory, data_of(&scratch, a));
    assert_ptr_equal(memory + (b.address - a.address), data_of(&scratch, b));
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(end_goes_back_to_its_own_begin),
        unit_test_clean(end_with_no_scope_open_is_misuse),
        unit_test_clean(end_twice_is_misuse),
        unit_test_clean(end_out_of_order_is_misuse),
        unit_test_clean(end_with_a_scope_of_another_scratch_is_misuse),
        unit_test_clean(begin_past_the_depth_is_misuse),
        unit_test_clean(reset_gives_persistent_allocations_back),
        unit_test_clean(reset_with_a_scope_open_is_misuse),
        unit_test_clean(end_poisons_what_lies_above_the_cursor),
        unit_test_clean(end_without_poison_leaves_the_bytes),
        unit_test_clean(check_after_the_scope_is_stale),
        unit_test_clean(check_of_the_last_tenant_is_stale),
        unit_test_clean(check_of_another_scratch_is_misuse),
        unit_test_clean(check_of_a_former_life_is_misuse),
        unit_test_clean(check_of_changed_fields_is_misuse),
        unit_test_clean(data_without_memory_is_misuse),
        unit_test_clean(data_points_at_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
