/* Arenas of the PEs on a real device: what two painted runs of a kernel that writes chosen bytes
 * show, against a model on the host.
 *
 *     stride of a PE:   | shift | pool ........ last byte | first guard byte ... |
 *     lines of 128:     |-------|-------|---|---|-------|-------|
 */
#include "host/device/build.h"
#include "host/device/launch.h"
#include "host/device/pe_arenas.h"
#include "tests/device/device_case.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 1000, SHIFT = 256, GUARD = 512, LINE = PE_ARENAS_LINE_BYTES, MAX_POKES = 24 };
enum { PAINT_FIRST = 0xA5, PAINT_SECOND = 0x5A, RANDOM_CASES = 40, MAX_ARENAS = 128 };

static const char poke_source[] =
    "__kernel void poke(__global uchar *arena, ulong at, uint value) { arena[at] = value; }";

/* A byte that a run writes, `at` bytes from the start of a PE's stride. */
struct poke {
    size_t pe;
    size_t at;
    unsigned char value;
};

/* Arenas that tests are done with. They live until the end: Oclgrind gives a new buffer the number
 * of a released one and takes what it knew of that one's bytes for the new one's. */
static struct pe_arenas *done[MAX_ARENAS];
static size_t done_count;

static void keep(struct pe_arenas *arenas)
{
    assert_true(done_count < MAX_ARENAS);
    done[done_count++] = arenas;
}

static int close_all(void **state)
{
    for (size_t i = 0; i < done_count; ++i) {
        pe_arenas_destroy(done[i]);
    }
    return device_case_close(state);
}

static struct pe_arenas *created(struct device *device, size_t pes, size_t pool, size_t shift)
{
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = {
        .pes = pes, .pool_bytes = pool, .guard_bytes = GUARD, .shift_bytes = shift};
    DEVICE_OK(pe_arenas_create(device, shape, &arenas));
    return arenas;
}

static void write_bytes(struct pe_arenas *arenas, const struct poke *pokes, size_t count)
{
    struct event_time time;
    cl_kernel kernel = NULL;
    DEVICE_OK(build_kernel(arenas->device, poke_source, "", "poke", &kernel));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof arenas->buffer, &arenas->buffer), CL_SUCCESS);
    for (size_t i = 0; i < count; ++i) {
        cl_ulong at = pokes[i].pe * arenas->shape.stride_bytes + pokes[i].at;
        cl_uint value = pokes[i].value;
        assert_int_equal(clSetKernelArg(kernel, 1, sizeof at, &at), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 2, sizeof value, &value), CL_SUCCESS);
        DEVICE_OK(launch_kernel(arenas->device, kernel, 1, 1, 1, &time));
    }
    (void)clReleaseKernel(kernel);
}

static void painted_run(struct pe_arenas *arenas, unsigned char paint, const struct poke *pokes,
                        size_t count)
{
    DEVICE_OK(pe_arenas_paint(arenas, paint));
    write_bytes(arenas, pokes, count);
    DEVICE_OK(pe_arenas_scan(arenas, paint));
}

static struct pe_arenas_touch measured(struct pe_arenas *arenas)
{
    struct pe_arenas_touch touch;
    DEVICE_OK(pe_arenas_measure(arenas, &touch));
    return touch;
}

/* The whole measurement of a run that writes `pokes`. */
static struct pe_arenas_touch touch_of(struct pe_arenas *arenas, const struct poke *pokes,
                                       size_t count)
{
    DEVICE_OK(pe_arenas_reset(arenas));
    painted_run(arenas, PAINT_FIRST, pokes, count);
    painted_run(arenas, PAINT_SECOND, pokes, count);
    return measured(arenas);
}

static void expect_touch(struct pe_arenas_touch touch, size_t peak, size_t lines)
{
    assert_int_equal(touch.peak_bytes, peak);
    assert_int_equal(touch.touched_lines, lines);
    assert_true(touch.guards_intact);
}

static void expect_damage(struct pe_arenas_touch touch, size_t pe, size_t at)
{
    assert_false(touch.guards_intact);
    assert_int_equal(touch.damaged_pe, pe);
    assert_int_equal(touch.damaged_at, at);
}

/* One byte, in arenas of three PEs. */
static struct pe_arenas_touch touch_of_one(struct device *device, size_t pool, struct poke poke)
{
    struct pe_arenas *arenas = created(device, 3, pool, SHIFT);
    struct pe_arenas_touch touch = touch_of(arenas, &poke, 1);
    keep(arenas);
    return touch;
}

static void arenas_untouched_have_no_peak(void **state)
{
    for (size_t pes = 1; pes <= 5; ++pes) {
        struct pe_arenas *arenas = created(*state, pes, POOL, 0);
        expect_touch(touch_of(arenas, NULL, 0), 0, 0);
        keep(arenas);
    }
}

static void first_byte_of_a_pool_counts_from_the_shift(void **state)
{
    expect_touch(touch_of_one(*state, POOL, (struct poke){1, SHIFT, 7}), 1, 1);
}

static void last_byte_of_a_pool_within_a_line_is_the_pools(void **state)
{
    expect_touch(touch_of_one(*state, POOL, (struct poke){1, SHIFT + POOL - 1, 7}), POOL, 1);
}

static void first_guard_byte_within_the_pools_last_line_is_damage(void **state)
{
    struct pe_arenas_touch touch = touch_of_one(*state, POOL, (struct poke){1, SHIFT + POOL, 7});
    expect_damage(touch, 1, (SHIFT + POOL) / LINE * LINE);
    assert_int_equal(touch.peak_bytes, 0);
    assert_int_equal(touch.touched_lines, 0);
}

static void last_byte_of_a_pool_of_whole_lines_is_the_pools(void **state)
{
    expect_touch(touch_of_one(*state, 1024, (struct poke){2, SHIFT + 1023, 7}), 1024, 1);
}

static void first_guard_byte_after_a_pool_of_whole_lines_is_damage(void **state)
{
    expect_damage(touch_of_one(*state, 1024, (struct poke){2, SHIFT + 1024, 7}), 2, SHIFT + 1024);
}

static void last_byte_before_the_pool_is_damage(void **state)
{
    expect_damage(touch_of_one(*state, POOL, (struct poke){1, SHIFT - 1, 7}), 1, SHIFT - LINE);
}

static void first_byte_of_the_buffer_is_damage_under_a_shift(void **state)
{
    expect_damage(touch_of_one(*state, POOL, (struct poke){0, 0, 7}), 0, 0);
}

static void last_byte_of_the_buffer_is_damage(void **state)
{
    size_t stride = (POOL + GUARD + LINE - 1) / LINE * LINE;
    struct pe_arenas *arenas = created(*state, 3, POOL, SHIFT);
    struct poke poke = {2, arenas->shape.stride_bytes - 1, 7};
    assert_true(arenas->shape.stride_bytes >= stride);
    expect_damage(touch_of(arenas, &poke, 1), 2, arenas->shape.stride_bytes - LINE);
    keep(arenas);
}

static void byte_equal_to_the_first_paint_is_found_by_the_second(void **state)
{
    expect_touch(touch_of_one(*state, POOL, (struct poke){0, SHIFT + 300, PAINT_FIRST}), 301, 1);
}

static void byte_equal_to_the_second_paint_is_found_by_the_first(void **state)
{
    expect_touch(touch_of_one(*state, POOL, (struct poke){0, SHIFT + 300, PAINT_SECOND}), 301, 1);
}

static void guard_byte_equal_to_a_paint_is_damage(void **state)
{
    expect_damage(touch_of_one(*state, POOL, (struct poke){0, SHIFT + POOL, PAINT_SECOND}), 0,
                  (SHIFT + POOL) / LINE * LINE);
}

static void byte_equal_to_the_only_paint_is_not_seen(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, 0);
    struct poke poke = {1, 40, PAINT_FIRST};
    DEVICE_OK(pe_arenas_reset(arenas));
    painted_run(arenas, PAINT_FIRST, &poke, 1);
    expect_touch(measured(arenas), 0, 0);
    keep(arenas);
}

static void bytes_of_one_line_count_it_once_up_to_the_last(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, 0);
    const struct poke pokes[] = {{1, 130, 1}, {1, 200, 2}, {1, 131, 3}};
    expect_touch(touch_of(arenas, pokes, 3), 201, 1);
    keep(arenas);
}

static void scan_of_a_lower_byte_keeps_the_higher_one(void **state)
{
    struct pe_arenas *arenas = created(*state, 1, POOL, 0);
    const struct poke high = {0, 100, 1};
    const struct poke low = {0, 3, 1};
    DEVICE_OK(pe_arenas_reset(arenas));
    painted_run(arenas, PAINT_FIRST, &high, 1);
    painted_run(arenas, PAINT_SECOND, &low, 1);
    expect_touch(measured(arenas), 101, 1);
    keep(arenas);
}

static void peak_and_lines_are_each_the_largest_of_any_pe(void **state)
{
    struct pe_arenas *arenas = created(*state, 3, POOL, SHIFT);
    const struct poke pokes[] = {
        {0, SHIFT, 1}, {0, SHIFT + 128, 1}, {0, SHIFT + 256, 1}, {2, SHIFT + 899, 1}};
    expect_touch(touch_of(arenas, pokes, 4), 900, 3);
    keep(arenas);
}

static void damage_of_two_pes_names_the_first(void **state)
{
    struct pe_arenas *arenas = created(*state, 4, POOL, SHIFT);
    const struct poke pokes[] = {{3, 5, 1}, {1, SHIFT + POOL + 200, 1}, {1, SHIFT + POOL + 50, 1}};
    expect_damage(touch_of(arenas, pokes, 3), 1, (SHIFT + POOL + 50) / LINE * LINE);
    keep(arenas);
}

static void pool_and_guard_bytes_of_one_line_are_told_apart(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, 0);
    const struct poke pokes[] = {{0, POOL - 5, 1}, {0, POOL + 2, 1}};
    struct pe_arenas_touch touch = touch_of(arenas, pokes, 2);
    assert_int_equal(touch.peak_bytes, POOL - 4);
    assert_int_equal(touch.touched_lines, 1);
    expect_damage(touch, 0, POOL / LINE * LINE);
    keep(arenas);
}

static void pool_of_one_byte_is_measured(void **state)
{
    expect_touch(touch_of_one(*state, 1, (struct poke){2, SHIFT, 0}), 1, 1);
    expect_damage(touch_of_one(*state, 1, (struct poke){2, SHIFT + 1, 0}), 2, SHIFT);
}

static void reset_forgets_what_was_touched(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, SHIFT);
    const struct poke pokes[] = {{0, SHIFT + 500, 1}, {1, 0, 1}};
    (void)touch_of(arenas, pokes, 2);
    expect_touch(touch_of(arenas, NULL, 0), 0, 0);
    keep(arenas);
}

static void dump_shows_one_pool(void **state)
{
    struct pe_arenas *arenas = created(*state, 3, POOL, SHIFT);
    const struct poke pokes[] = {{0, SHIFT + 10, 1}, {1, SHIFT + 10, 2}, {2, SHIFT + 999, 3}};
    unsigned char bytes[POOL];
    painted_run(arenas, PAINT_FIRST, pokes, 3);
    DEVICE_OK(pe_arenas_dump(arenas, 1, 0, POOL, bytes));
    for (size_t i = 0; i < POOL; ++i) {
        assert_int_equal(bytes[i], i == 10 ? 2 : PAINT_FIRST);
    }
    DEVICE_OK(pe_arenas_dump(arenas, 2, 997, 3, bytes));
    assert_memory_equal(bytes, "\xA5\xA5\x03", 3);
    keep(arenas);
}

static void dump_leaves_the_arenas_usable(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, 0);
    const struct poke poke = {1, 700, 1};
    unsigned char byte = 0;
    painted_run(arenas, PAINT_FIRST, &poke, 1);
    DEVICE_OK(pe_arenas_dump(arenas, 1, 700, 1, &byte));
    assert_int_equal(byte, 1);
    expect_touch(touch_of(arenas, &poke, 1), 701, 1);
    keep(arenas);
}

static void dump_out_of_the_pool_is_refused(void **state)
{
    struct pe_arenas *arenas = created(*state, 2, POOL, 0);
    unsigned char bytes[2] = {9, 9};
    assert_int_equal(pe_arenas_dump(arenas, 2, 0, 1, bytes), STATUS_BAD_INPUT);
    assert_int_equal(pe_arenas_dump(arenas, 0, POOL - 1, 2, bytes), STATUS_BAD_INPUT);
    assert_int_equal(pe_arenas_dump(arenas, 0, POOL + 1, 0, bytes), STATUS_BAD_INPUT);
    assert_int_equal(pe_arenas_dump(arenas, 0, 1, SIZE_MAX, bytes), STATUS_BAD_INPUT);
    assert_int_equal(bytes[0], 9);
    keep(arenas);
}

static void arenas_above_the_largest_allocation_are_refused(void **state)
{
    struct device *device = *state;
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = {
        .pes = 2, .pool_bytes = device->info.max_alloc_bytes / 2, .guard_bytes = GUARD};
    assert_int_equal(pe_arenas_create(device, shape, &arenas), STATUS_NO_SPACE);
    assert_null(arenas);
    assert_non_null(strstr(status_last()->why, "limit"));
}

static uint64_t random_state;

/* A number in [least, most]. */
static size_t random_in(size_t least, size_t most)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (size_t)(random_state >> 33) % (most - least + 1);
}

/* What the pokes touch, byte by byte. */
static struct pe_arenas_touch model_of(const struct pe_arenas_shape *shape,
                                       const struct poke *pokes, size_t count)
{
    struct pe_arenas_touch touch = {.guards_intact = true};
    for (size_t pe = 0; pe < shape->pes; ++pe) {
        size_t lines = 0;
        size_t last_line = SIZE_MAX;
        for (size_t at = 0; at < shape->stride_bytes; ++at) {
            bool hit = false;
            for (size_t i = 0; i < count; ++i) {
                hit = hit || (pokes[i].pe == pe && pokes[i].at == at);
            }
            bool in_pool = at >= shape->shift_bytes && at < shape->shift_bytes + shape->pool_bytes;
            if (hit && in_pool) {
                size_t end = at - shape->shift_bytes + 1;
                touch.peak_bytes = end > touch.peak_bytes ? end : touch.peak_bytes;
                lines += at / LINE != last_line;
                last_line = at / LINE;
            } else if (hit && touch.guards_intact) {
                touch.guards_intact = false;
                touch.damaged_pe = pe;
                touch.damaged_at = at / LINE * LINE;
            }
        }
        touch.touched_lines = lines > touch.touched_lines ? lines : touch.touched_lines;
    }
    return touch;
}

/* Bytes anywhere, or in every other case in the pools alone. */
static size_t random_pokes(const struct pe_arenas_shape *shape, bool anywhere,
                           struct poke pokes[MAX_POKES])
{
    size_t count = random_in(0, MAX_POKES);
    for (size_t i = 0; i < count; ++i) {
        size_t first = anywhere ? 0 : shape->shift_bytes;
        size_t end = anywhere ? shape->stride_bytes : first + shape->pool_bytes;
        pokes[i] = (struct poke){random_in(0, shape->pes - 1), random_in(first, end - 1),
                                 (unsigned char)random_in(0, 255)};
    }
    return count;
}

static void random_bytes_are_measured_as_the_model_says(void **state)
{
    const char *seed = getenv("SCRATCHSCOPE_TEST_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    print_message("seed %llu\n", (unsigned long long)random_state);
    for (size_t i = 0; i < RANDOM_CASES; ++i) {
        struct poke pokes[MAX_POKES];
        struct pe_arenas *arenas =
            created(*state, random_in(1, 5), random_in(1, 700), random_in(0, 3) * LINE);
        size_t count = random_pokes(&arenas->shape, i % 2 == 0, pokes);
        struct pe_arenas_touch expected = model_of(&arenas->shape, pokes, count);
        struct pe_arenas_touch touch = touch_of(arenas, pokes, count);
        assert_int_equal(touch.peak_bytes, expected.peak_bytes);
        assert_int_equal(touch.touched_lines, expected.touched_lines);
        assert_int_equal(touch.guards_intact, expected.guards_intact);
        assert_int_equal(touch.damaged_pe, expected.damaged_pe);
        assert_int_equal(touch.damaged_at, expected.damaged_at);
        keep(arenas);
    }
}

#define TEST(name_) cmocka_unit_test_setup(name_, device_case_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(arenas_untouched_have_no_peak),
        TEST(first_byte_of_a_pool_counts_from_the_shift),
        TEST(last_byte_of_a_pool_within_a_line_is_the_pools),
        TEST(first_guard_byte_within_the_pools_last_line_is_damage),
        TEST(last_byte_of_a_pool_of_whole_lines_is_the_pools),
        TEST(first_guard_byte_after_a_pool_of_whole_lines_is_damage),
        TEST(last_byte_before_the_pool_is_damage),
        TEST(first_byte_of_the_buffer_is_damage_under_a_shift),
        TEST(last_byte_of_the_buffer_is_damage),
        TEST(byte_equal_to_the_first_paint_is_found_by_the_second),
        TEST(byte_equal_to_the_second_paint_is_found_by_the_first),
        TEST(guard_byte_equal_to_a_paint_is_damage),
        TEST(byte_equal_to_the_only_paint_is_not_seen),
        TEST(bytes_of_one_line_count_it_once_up_to_the_last),
        TEST(scan_of_a_lower_byte_keeps_the_higher_one),
        TEST(peak_and_lines_are_each_the_largest_of_any_pe),
        TEST(damage_of_two_pes_names_the_first),
        TEST(pool_and_guard_bytes_of_one_line_are_told_apart),
        TEST(pool_of_one_byte_is_measured),
        TEST(reset_forgets_what_was_touched),
        TEST(dump_shows_one_pool),
        TEST(dump_leaves_the_arenas_usable),
        TEST(dump_out_of_the_pool_is_refused),
        TEST(arenas_above_the_largest_allocation_are_refused),
        TEST(random_bytes_are_measured_as_the_model_says),
    };
    return cmocka_run_group_tests(tests, device_case_open, close_all);
}
