/* scratch_copy_to: R6. */
#include "tests/unit/unit.h"

#include "host/scratch/scratch.h"

#include <string.h>

enum { POOL = 8192 };

static _Alignas(128) unsigned char memory[POOL];
static _Alignas(128) unsigned char twin_memory[POOL];

static struct scratch make(void *bytes)
{
    struct scratch scratch;
    const struct scratch_options options = {.capacity = POOL, .memory = bytes, .poison = true};
    assert_ok(scratch_init(&scratch, &options));
    return scratch;
}

/* An allocation of 2 x 32 floats, all of whose bytes are `value`. */
static struct scratch_handle alloc(struct scratch *scratch, const char *name, int value)
{
    struct scratch_handle handle;
    void *data;
    assert_ok(scratch_alloc(scratch, name, DTYPE_F32, shape_2d(2, 32), &handle));
    assert_ok(scratch_data(scratch, &handle, &data));
    memset(data, value, handle.bytes);
    return handle;
}

static struct scratch_scope begin(struct scratch *scratch)
{
    struct scratch_scope scope;
    assert_ok(scratch_begin(scratch, &scope));
    return scope;
}

static void assert_holds(const struct scratch *scratch, struct scratch_handle handle,
                         unsigned char value)
{
    void *data;
    assert_ok(scratch_data(scratch, &handle, &data));
    for (size_t i = 0; i < handle.bytes; i++) {
        assert_int_equal(value, ((unsigned char *)data)[i]);
    }
}

/* That a copy is refused with this status and no byte, statistic or cursor changes. */
static void assert_refused(struct scratch *scratch, enum status expected,
                           const struct scratch_handle *dst, const struct scratch_handle *src)
{
    unsigned char bytes[POOL];
    struct scratch before = *scratch;
    memcpy(bytes, memory, sizeof bytes);
    assert_status(expected, scratch_copy_to(scratch, dst, src));
    assert_memory_equal(bytes, memory, sizeof bytes);
    assert_memory_equal(&before, scratch, sizeof before);
    assert_true(scratch_is_valid(scratch));
    status_clear();
}

/*  bytes
 *   512 |    src
 *   256 |dst dst dst      after the end dst has src's bytes, where it was
 *        dst { copy }
 */
static void copy_to_an_outer_scope_survives_the_end(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst = alloc(&scratch, "acc", 1);
    size_t address = dst.address;
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle src = alloc(&scratch, "acc_new", 2);
    assert_ok(scratch_copy_to(&scratch, &dst, &src));
    assert_holds(&scratch, src, 2);
    assert_ok(scratch_end(&scratch, scope));
    assert_holds(&scratch, dst, 2);
    assert_int_equal(address, dst.address);
    scratch_fini(&scratch);
}

static void copy_within_a_scope_is_allowed(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    begin(&scratch);
    struct scratch_handle dst = alloc(&scratch, "a", 1);
    struct scratch_handle src = alloc(&scratch, "b", 2);
    assert_ok(scratch_copy_to(&scratch, &dst, &src));
    assert_holds(&scratch, dst, 2);
    assert_ok(scratch_copy_to(&scratch, &src, &dst));
    scratch_fini(&scratch);
}

static void copy_over_several_scopes_is_allowed(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst = alloc(&scratch, "acc", 1);
    begin(&scratch);
    struct scratch_handle middle = alloc(&scratch, "middle", 3);
    begin(&scratch);
    struct scratch_handle src = alloc(&scratch, "acc_new", 2);
    assert_ok(scratch_copy_to(&scratch, &dst, &src));
    assert_ok(scratch_copy_to(&scratch, &middle, &src));
    assert_holds(&scratch, dst, 2);
    assert_holds(&scratch, middle, 2);
    scratch_fini(&scratch);
}

static void copy_into_an_inner_scope_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle src = alloc(&scratch, "acc", 1);
    begin(&scratch);
    struct scratch_handle middle = alloc(&scratch, "middle", 2);
    begin(&scratch);
    struct scratch_handle dst = alloc(&scratch, "acc_new", 3);
    assert_refused(&scratch, STATUS_MISUSE, &dst, &src);
    assert_refused(&scratch, STATUS_MISUSE, &dst, &middle);
    assert_refused(&scratch, STATUS_MISUSE, &middle, &src);
    scratch_fini(&scratch);
}

static void copy_of_another_dtype_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst = alloc(&scratch, "a", 1);
    struct scratch_handle half;
    struct scratch_handle wide;
    assert_ok(scratch_alloc(&scratch, "half", DTYPE_F16, shape_2d(2, 32), &half));
    assert_ok(scratch_alloc(&scratch, "wide", DTYPE_F16, shape_2d(2, 64), &wide));
    assert_int_equal(dst.bytes, wide.bytes);
    assert_refused(&scratch, STATUS_MISUSE, &dst, &half);
    assert_refused(&scratch, STATUS_MISUSE, &dst, &wide);
    scratch_fini(&scratch);
}

static void copy_of_another_shape_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst = alloc(&scratch, "a", 1);
    struct scratch_handle turned;
    assert_ok(scratch_alloc(&scratch, "turned", DTYPE_F32, shape_2d(32, 2), &turned));
    assert_int_equal(dst.bytes, turned.bytes);
    assert_refused(&scratch, STATUS_MISUSE, &dst, &turned);
    scratch_fini(&scratch);
}

static void copy_onto_itself_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle a = alloc(&scratch, "a", 1);
    assert_refused(&scratch, STATUS_MISUSE, &a, &a);
    scratch_fini(&scratch);
}

static void copy_that_overlaps_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle a = alloc(&scratch, "a", 1);
    alloc(&scratch, "b", 2);
    struct scratch_handle between = a;
    between.address += 128;
    assert_ok(scratch_check(&scratch, &between));
    assert_refused(&scratch, STATUS_MISUSE, &a, &between);
    assert_refused(&scratch, STATUS_MISUSE, &between, &a);
    scratch_fini(&scratch);
}

static void copy_with_an_ended_source_is_stale(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst = alloc(&scratch, "a", 1);
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle src = alloc(&scratch, "b", 2);
    assert_ok(scratch_end(&scratch, scope));
    assert_refused(&scratch, STATUS_STALE, &dst, &src);
    begin(&scratch);
    alloc(&scratch, "tenant", 3);
    assert_refused(&scratch, STATUS_STALE, &dst, &src);
    scratch_fini(&scratch);
}

static void copy_to_an_ended_destination_is_stale(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_scope scope = begin(&scratch);
    struct scratch_handle dst = alloc(&scratch, "a", 1);
    assert_ok(scratch_end(&scratch, scope));
    begin(&scratch);
    alloc(&scratch, "tenant", 2);
    struct scratch_handle src = alloc(&scratch, "b", 3);
    assert_refused(&scratch, STATUS_STALE, &dst, &src);
    scratch_fini(&scratch);
}

/* The twin has done just the same, so that nothing but the owner tells its handles apart. */
static void copy_with_a_handle_of_another_scratch_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch twin = make(twin_memory);
    struct scratch_handle a = alloc(&scratch, "a", 1);
    struct scratch_handle b = alloc(&scratch, "b", 2);
    struct scratch_handle twin_a = alloc(&twin, "a", 3);
    struct scratch_handle twin_b = alloc(&twin, "b", 4);
    assert_int_equal(b.address, twin_b.address);
    assert_refused(&scratch, STATUS_MISUSE, &a, &twin_b);
    assert_refused(&scratch, STATUS_MISUSE, &twin_a, &b);
    assert_refused(&scratch, STATUS_MISUSE, &twin_a, &twin_b);
    assert_holds(&twin, twin_a, 3);
    scratch_fini(&twin);
    scratch_fini(&scratch);
}

static void copy_with_a_forged_handle_is_misuse(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle a = alloc(&scratch, "a", 1);
    struct scratch_handle b = alloc(&scratch, "b", 2);
    struct scratch_handle far = b;
    struct scratch_handle nothing = {0};
    far.address = a.address + POOL - 128;
    assert_refused(&scratch, STATUS_MISUSE, &far, &a);
    assert_refused(&scratch, STATUS_MISUSE, &a, &far);
    far.address = SIZE_MAX - 127;
    assert_refused(&scratch, STATUS_MISUSE, &far, &a);
    assert_refused(&scratch, STATUS_MISUSE, &nothing, &a);
    assert_refused(&scratch, STATUS_MISUSE, &a, &nothing);
    far = b;
    far.shape = shape_2d(32, 128);
    far.bytes = (size_t)32 * 128 * 4;
    assert_refused(&scratch, STATUS_MISUSE, &far, &far);
    scratch_fini(&scratch);
}

static void copy_in_accounting_only_checks_the_same(void **state)
{
    (void)state;
    struct scratch scratch = make(NULL);
    struct scratch_handle dst;
    struct scratch_handle src;
    assert_ok(scratch_alloc(&scratch, "a", DTYPE_F32, shape_1d(32), &dst));
    begin(&scratch);
    assert_ok(scratch_alloc(&scratch, "b", DTYPE_F32, shape_1d(32), &src));
    assert_ok(scratch_copy_to(&scratch, &dst, &src));
    assert_refused(&scratch, STATUS_MISUSE, &src, &dst);
    scratch_fini(&scratch);
}

static void copy_of_no_bytes_is_allowed(void **state)
{
    (void)state;
    struct scratch scratch = make(memory);
    struct scratch_handle dst;
    struct scratch_handle src;
    assert_ok(scratch_alloc(&scratch, "a", DTYPE_F32, shape_1d(0), &dst));
    assert_ok(scratch_alloc(&scratch, "b", DTYPE_F32, shape_1d(0), &src));
    assert_ok(scratch_copy_to(&scratch, &dst, &src));
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(copy_to_an_outer_scope_survives_the_end),
        unit_test_clean(copy_within_a_scope_is_allowed),
        unit_test_clean(copy_over_several_scopes_is_allowed),
        unit_test_clean(copy_into_an_inner_scope_is_misuse),
        unit_test_clean(copy_of_another_dtype_is_misuse),
        unit_test_clean(copy_of_another_shape_is_misuse),
        unit_test_clean(copy_onto_itself_is_misuse),
        unit_test_clean(copy_that_overlaps_is_misuse),
        unit_test_clean(copy_with_an_ended_source_is_stale),
        unit_test_clean(copy_to_an_ended_destination_is_stale),
        unit_test_clean(copy_with_a_handle_of_another_scratch_is_misuse),
        unit_test_clean(copy_with_a_forged_handle_is_misuse),
        unit_test_clean(copy_in_accounting_only_checks_the_same),
        unit_test_clean(copy_of_no_bytes_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
