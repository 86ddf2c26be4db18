#include "tests/unit/unit.h"

#include "host/scratch/arena.h"

static struct arena make(size_t base, size_t capacity)
{
    struct arena arena;
    assert_ok(arena_init(&arena, base, capacity));
    assert_true(arena_is_valid(&arena));
    return arena;
}

static size_t push(struct arena *arena, size_t size, size_t alignment)
{
    size_t address;
    assert_ok(arena_push(arena, size, alignment, &address));
    assert_true(arena_is_valid(arena));
    return address;
}

/* That a request is refused and nothing moves. */
static void assert_refused(struct arena *arena, enum status expected, size_t size, size_t alignment)
{
    struct arena before = *arena;
    size_t address = 7;
    assert_status(expected, arena_push(arena, size, alignment, &address));
    assert_int_equal(0, address);
    assert_memory_equal(&before, arena, sizeof before);
}

static void init_starts_empty(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1 << 20);
    assert_int_equal(1 << 24, arena.base);
    assert_int_equal(1 << 20, arena.capacity);
    assert_int_equal(0, arena.cursor);
    assert_int_equal(0, arena.peak);
}

static void init_with_base_0_is_refused(void **state)
{
    (void)state;
    struct arena arena = {1, 2, 3, 4};
    assert_status(STATUS_BAD_INPUT, arena_init(&arena, 0, 1024));
    assert_int_equal(0, arena.capacity);
    assert_false(arena_is_valid(&arena));
}

static void init_with_a_pool_that_wraps_is_refused(void **state)
{
    (void)state;
    struct arena arena;
    assert_status(STATUS_BAD_INPUT, arena_init(&arena, 128, SIZE_MAX - 127));
    assert_int_equal(0, arena.base);
    assert_ok(arena_init(&arena, 128, SIZE_MAX - 128));
}

static void push_without_scopes_grows(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1 << 20);
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(ARENA_DEFAULT_BASE + 128 * i, push(&arena, 128, 128));
    }
    assert_int_equal(30 * 128, arena.cursor);
    assert_int_equal(30 * 128, arena.peak);
}

static void push_aligns_the_start_alone(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1 << 20);
    push(&arena, 1, 128);
    assert_int_equal(1, arena.cursor);
    assert_int_equal(ARENA_DEFAULT_BASE + 128, push(&arena, 1, 128));
    assert_int_equal(129, arena.cursor);
    assert_int_equal(ARENA_DEFAULT_BASE + 130, push(&arena, 2, 2));
}

static void push_aligns_the_address_not_the_offset(void **state)
{
    (void)state;
    struct arena arena = make(100, 1024);
    assert_int_equal(128, push(&arena, 64, 128));
    assert_int_equal(28 + 64, arena.cursor);
}

static void push_of_the_whole_pool_fits(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1000);
    push(&arena, 1000, 128);
    assert_refused(&arena, STATUS_NO_SPACE, 1, 1);
    assert_int_equal(1000, arena.peak);
}

static void push_one_byte_too_many_is_refused(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1000);
    push(&arena, 100, 128);
    assert_refused(&arena, STATUS_NO_SPACE, 873, 128);
    push(&arena, 872, 128);
}

static void push_after_a_refusal_goes_on(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1024);
    push(&arena, 512, 128);
    assert_refused(&arena, STATUS_NO_SPACE, 513, 128);
    assert_int_equal(STATUS_OK, status_last()->status);
    push(&arena, 512, 128);
}

static void push_whose_start_lies_past_the_pool_is_refused(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 130);
    push(&arena, 129, 128);
    assert_refused(&arena, STATUS_NO_SPACE, 0, 128);
    assert_refused(&arena, STATUS_NO_SPACE, SIZE_MAX, 128);
}

static void push_at_the_end_of_the_address_space_never_wraps(void **state)
{
    (void)state;
    struct arena arena = make(SIZE_MAX - 1000, 1000);
    push(&arena, 900, 1);
    assert_refused(&arena, STATUS_NO_SPACE, 1, 1024);
    assert_refused(&arena, STATUS_NO_SPACE, SIZE_MAX, 1);
    assert_refused(&arena, STATUS_NO_SPACE, SIZE_MAX - 15, 1);
}

static void push_of_no_bytes_has_an_address(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1024);
    push(&arena, 10, 128);
    assert_int_equal(ARENA_DEFAULT_BASE + 128, push(&arena, 0, 128));
    assert_int_equal(128, arena.cursor);
}

static void push_with_a_bad_alignment_is_misuse(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1024);
    push(&arena, 10, 128);
    assert_refused(&arena, STATUS_MISUSE, 1, 0);
    assert_refused(&arena, STATUS_MISUSE, 1, 96);
}

static void free_bytes_count_from_the_aligned_start(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 160);
    assert_int_equal(160, arena_free_bytes(&arena, 128));
    push(&arena, 65, 1);
    assert_int_equal(95, arena_free_bytes(&arena, 1));
    assert_int_equal(32, arena_free_bytes(&arena, 64));
    assert_int_equal(0, arena_free_bytes(&arena, 256));
    assert_int_equal(0, arena_free_bytes(&arena, 0));
}

/*  bytes
 *   384 |        ###
 *   256 |    ### ###     ###       peak 384
 *   128 |### ### ### ### ### ###
 *        a   b   c   end d   end
 */
static void rewind_gives_back_what_came_after_the_mark(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1024);
    size_t a = push(&arena, 128, 128);
    size_t mark = arena_mark(&arena);
    size_t b = push(&arena, 128, 128);
    push(&arena, 128, 128);
    assert_ok(arena_rewind(&arena, mark));
    assert_int_equal(128, arena.cursor);
    assert_int_equal(384, arena.peak);
    assert_int_equal(b, push(&arena, 128, 128));
    assert_int_equal(ARENA_DEFAULT_BASE, a);
    assert_ok(arena_rewind(&arena, mark));
    assert_int_equal(384, arena.peak);
}

static void rewind_above_the_cursor_is_misuse(void **state)
{
    (void)state;
    struct arena arena = make(ARENA_DEFAULT_BASE, 1024);
    push(&arena, 128, 128);
    struct arena before = arena;
    assert_status(STATUS_MISUSE, arena_rewind(&arena, 129));
    assert_memory_equal(&before, &arena, sizeof before);
    assert_ok(arena_rewind(&arena, 128));
}

static void is_valid_sees_each_broken_invariant(void **state)
{
    (void)state;
    const struct arena good = {.base = 128, .capacity = 1024, .cursor = 10, .peak = 20};
    struct arena bad = good;
    assert_true(arena_is_valid(&good));
    bad.base = 0;
    assert_false(arena_is_valid(&bad));
    bad = good;
    bad.cursor = 21;
    assert_false(arena_is_valid(&bad));
    bad = good;
    bad.peak = 1025;
    assert_false(arena_is_valid(&bad));
    bad = good;
    bad.base = SIZE_MAX - 1023;
    assert_false(arena_is_valid(&bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(init_starts_empty),
        unit_test_clean(init_with_base_0_is_refused),
        unit_test_clean(init_with_a_pool_that_wraps_is_refused),
        unit_test_clean(push_without_scopes_grows),
        unit_test_clean(push_aligns_the_start_alone),
        unit_test_clean(push_aligns_the_address_not_the_offset),
        unit_test_clean(push_of_the_whole_pool_fits),
        unit_test_clean(push_one_byte_too_many_is_refused),
        unit_test_clean(push_after_a_refusal_goes_on),
        unit_test_clean(push_whose_start_lies_past_the_pool_is_refused),
        unit_test_clean(push_at_the_end_of_the_address_space_never_wraps),
        unit_test_clean(push_of_no_bytes_has_an_address),
        unit_test_clean(push_with_a_bad_alignment_is_misuse),
        unit_test_clean(free_bytes_count_from_the_aligned_start),
        unit_test_clean(rewind_gives_back_what_came_after_the_mark),
        unit_test_clean(rewind_above_the_cursor_is_misuse),
        unit_test_clean(is_valid_sees_each_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
