/* cell_plan without a device: the numbers of the reference program, and what a device's limits
 * make of a row. */
#include "bench/cells.h"
#include "host/device/pe_arenas.h"
#include "tests/cmocka.h"

#include <stdio.h>
#include <string.h>

/* Preset cap16: 4 heads, 128 queries, S tiles of 64 keys, a pool of 1 MiB. */
static struct cell cap16(enum policy policy, size_t tiles)
{
    struct cell cell = {
        .preset = "cap16",
        .policy = policy,
        .problem = {.batch = 1,
                    .q_heads = 4,
                    .kv_heads = 4,
                    .seq_q = 128,
                    .seq_kv = tiles * 64,
                    .head_dim = 128,
                    .head_dim_v = 128,
                    .block_m = 32,
                    .block_n = 64,
                    .dtype = DTYPE_F16,
                    .window_left = -1,
                    .window_right = -1},
        .style = KERNEL_SIMD,
        .pool_bytes = 1048576,
        .alignment = 128,
    };
    snprintf(cell.name, sizeof cell.name, "attention/cap16/%s/f16/S:%zu", policy_name(policy),
             tiles);
    return cell;
}

static struct cell_result planned(struct cell *cell)
{
    struct cell_result result;
    assert_int_equal(cell_plan(cell, 0, 0, NULL, &result), STATUS_OK);
    return result;
}

static struct cell_result planned_on(struct cell *cell, size_t max_alloc_bytes)
{
    struct cell_result result;
    assert_int_equal(cell_plan(cell, max_alloc_bytes, 128, NULL, &result), STATUS_OK);
    return result;
}

static int clear_status(void **state)
{
    (void)state;
    status_clear();
    return 0;
}

static void cap16_unscoped_16_fits(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 16);
    struct cell_result result = planned(&cell);
    assert_false(result.overflow);
    assert_int_equal(result.tiles, 16);
    assert_int_equal(result.footprint.peak_bytes, 1014016);
    assert_int_equal(result.footprint.persistent_bytes, 24832);
    assert_int_equal(result.footprint.tile_bytes, 61824);
    assert_int_equal(result.footprint.lower_bound_bytes, 62080);
}

static void cap16_unscoped_17_overflows_at_v(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 17);
    struct cell_result result = planned(&cell);
    assert_true(result.overflow);
    assert_int_equal(result.overflow_tile, 17);
    assert_string_equal(result.overflow_name, "v");
    assert_int_equal(result.overflow_request_bytes, 16384);
    assert_int_equal(result.overflow_free_bytes, 5504);
    assert_int_equal(result.footprint.peak_bytes, 1075840);
    assert_null(result.footprint.overflow.name);
}

static void cap16_overflow_text_names_request(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 17);
    struct cell_result result = planned(&cell);
    assert_true(strlen(result.overflow_text) < sizeof result.overflow_text - 1);
    assert_non_null(strstr(result.overflow_text, "v"));
    assert_non_null(strstr(result.overflow_text, "17"));
}

static void cap16_scoped_and_nested_1024_stay_constant(void **state)
{
    (void)state;
    struct cell scoped = cap16(POLICY_SCOPED, 1024);
    struct cell nested = cap16(POLICY_NESTED, 1024);
    assert_int_equal(planned(&scoped).footprint.peak_bytes, 86656);
    assert_int_equal(planned(&nested).footprint.peak_bytes, 62080);
    assert_false(planned(&scoped).overflow);
    assert_false(planned(&nested).overflow);
}

static void cap16_items_and_flops_are_exact(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    struct cell_result result = planned(&cell);
    assert_int_equal(result.items, 16);
    assert_int_equal(result.timed_items, 0);
    /* 2 x (128 x 1024 pairs) x (128 + 128) x 4 heads, exact in a double. */
    assert_true(result.flops == 2.0 * 128.0 * 1024.0 * 256.0 * 4.0);
}

static void cap16_copies_are_state_of_every_tile(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    struct cell_result result = planned(&cell);
    /* 16 items x 16 tiles x (m 128 + l 128 + acc 16384). */
    assert_int_equal(result.traffic.copy_bytes, 16 * 16 * 16640);
    assert_true(result.traffic.scratch_read_bytes > 0);
    assert_true(result.traffic.dram_read_bytes > 0);
}

static void grow_unscoped_1024_fits_its_need(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 1024);
    cell.pool_grow = true;
    cell.pool_bytes = 0;
    struct cell_result result = planned(&cell);
    assert_false(result.overflow);
    assert_int_equal(result.footprint.peak_bytes, 63332608);
    assert_int_equal(cell.pool_bytes, 63332608);
}

/* One f32 query, one key, head_dim 1, alignment 4: the peak is no multiple of 128. */
static void grow_rounds_pool_up_to_whole_lines(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 1);
    cell.problem.block_m = 3;
    cell.problem.block_n = 1;
    cell.problem.head_dim = 1;
    cell.problem.head_dim_v = 1;
    cell.alignment = 4;
    cell.pool_grow = true;
    struct cell_result result = planned(&cell);
    assert_true(result.footprint.peak_bytes % 128 != 0);
    assert_int_equal(cell.pool_bytes % 128, 0);
    assert_true(cell.pool_bytes >= result.footprint.peak_bytes);
    assert_true(cell.pool_bytes - result.footprint.peak_bytes < 128);
}

static void bf16_plans_although_no_kernel_has_it(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.problem.dtype = DTYPE_BF16;
    struct cell_result result = planned(&cell);
    assert_int_equal(result.footprint.peak_bytes, 62080);
    assert_false(result.overflow);
}

static void f8_tile_is_smaller_than_f16(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_SCOPED, 16);
    cell.problem.dtype = DTYPE_F8;
    struct cell_result result = planned(&cell);
    /* q, p, k and v at one byte: 4096 + 2048 + 8192 + 8192 less than f16. */
    assert_int_equal(result.footprint.peak_bytes, 86656 - 22528);
}

static void device_too_small_for_arenas_is_device_overflow(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.pes = 8;
    size_t stride = 1048576 + PE_ARENAS_GUARD_BYTES;
    struct cell_result result = planned_on(&cell, 8 * stride - 1);
    assert_true(result.overflow);
    assert_string_equal(result.overflow_name, "device");
    assert_int_equal(result.overflow_tile, 0);
    assert_int_equal(result.overflow_request_bytes, 8 * stride);
    assert_int_equal(result.overflow_free_bytes, 8 * stride - 1);
    assert_non_null(strstr(result.overflow_text, "--pes"));
    assert_int_equal(result.footprint.peak_bytes, 62080);
    assert_int_equal(status_last()->status, STATUS_OK);
}

static void device_that_just_holds_arenas_is_no_overflow(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.pes = 8;
    size_t stride = 1048576 + PE_ARENAS_GUARD_BYTES;
    assert_false(planned_on(&cell, 8 * stride).overflow);
}

static void device_too_small_for_tensor_names_it(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 1024);
    cell.pes = 1;
    struct cell_result result = planned_on(&cell, 2000000);
    assert_true(result.overflow);
    assert_string_equal(result.overflow_name, "device");
    assert_int_equal(result.overflow_request_bytes, 4 * 65536 * 128 * 2);
    assert_int_equal(result.overflow_free_bytes, 2000000);
    assert_non_null(strstr(result.overflow_text, "tensor k"));
}

static void device_overflow_yields_to_pool_overflow(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 17);
    cell.pes = 8;
    assert_string_equal(planned_on(&cell, 4096).overflow_name, "v");
}

/* Two cores share 100,000 bytes of L1, which hold one PE's 62,080 bytes but not two. */
static void cache_level_counts_busy_pes_only(void **state)
{
    (void)state;
    struct topology topology = {
        .cores = 2,
        .processing_units = 2,
        .numa_nodes = 1,
        .packages = 1,
        .caches = {{.level = 1, .bytes = 100000, .count = 1, .cores_per = 2},
                   {.level = 2, .bytes = 1048576, .count = 1, .cores_per = 2}},
        .cache_count = 2,
    };
    struct cell_result result;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.pes = 2;
    assert_int_equal(cell_plan(&cell, 0, 0, &topology, &result), STATUS_OK);
    assert_int_equal(result.cache_level, 2);
    cell.problem.q_heads = 1;
    cell.problem.kv_heads = 1;
    cell.problem.seq_q = 32; /* one item: the other PE has nothing to do */
    assert_int_equal(cell_plan(&cell, 0, 0, &topology, &result), STATUS_OK);
    assert_int_equal(result.cache_level, 1);
    cell.pes = 0; /* not known */
    assert_int_equal(cell_plan(&cell, 0, 0, &topology, &result), STATUS_OK);
    assert_int_equal(result.cache_level, 0);
}

static void bad_heads_are_refused_and_result_is_zero(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.problem.q_heads = 3;
    cell.problem.kv_heads = 2;
    struct cell_result result;
    struct cell_result zero = {0};
    memset(&result, 0xA5, sizeof result);
    assert_int_equal(cell_plan(&cell, 0, 0, NULL, &result), STATUS_BAD_INPUT);
    assert_int_equal(result.items, zero.items);
    assert_int_equal(result.footprint.peak_bytes, 0);
}

static void pool_below_alignment_is_refused(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.pool_bytes = 127;
    struct cell_result result;
    assert_int_equal(cell_plan(&cell, 0, 0, NULL, &result), STATUS_BAD_INPUT);
    status_clear();
    cell.pool_bytes = 128;
    assert_int_equal(cell_plan(&cell, 0, 0, NULL, &result), STATUS_OK);
    assert_true(result.overflow);
    assert_int_equal(result.overflow_tile, 0);
    assert_string_equal(result.overflow_name, "q");
}

/* 16 tiles in 3 parts: the longest walks 6. A part leaves m, l and acc of 32 rows. */
static void parts_shorten_walks_and_leave_states(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_UNSCOPED, 16);
    cell.problem.parts = 3;
    struct cell_result result = planned(&cell);
    assert_int_equal(result.tiles, 6);
    assert_int_equal(result.items, 48);
    assert_int_equal(result.parts_bytes, 48 * (2 * 32 * 4 + 32 * 128 * 4));
    assert_int_equal(result.footprint.peak_bytes, 24832 + 6 * 61824);
    assert_true(result.flops == 2.0 * 128.0 * 1024.0 * 256.0 * 4.0);
}

/* Preset chip48: 4 heads, 64 queries, S tiles of 32 keys, 48 KiB of local memory. */
static struct cell chip48(enum policy policy, size_t tiles)
{
    struct cell cell = cap16(policy, tiles);
    cell.preset = "chip48";
    cell.problem.seq_q = 64;
    cell.problem.seq_kv = tiles * 32;
    cell.problem.head_dim = 64;
    cell.problem.head_dim_v = 64;
    cell.problem.block_m = 16;
    cell.problem.block_n = 32;
    cell.pool_bytes = 49152;
    cell.arena = PE_ARENAS_LOCAL;
    cell.local_bytes = SIZE_MAX;
    return cell;
}

static void chip48_plans_to_the_byte(void **state)
{
    (void)state;
    for (size_t tiles = 1; tiles <= 1024; tiles = tiles < 4 ? tiles + 1 : tiles * 4) {
        struct cell unscoped = chip48(POLICY_UNSCOPED, tiles);
        struct cell scoped = chip48(POLICY_SCOPED, tiles);
        struct cell nested = chip48(POLICY_NESTED, tiles);
        struct cell_result result = planned(&unscoped);
        assert_int_equal(result.footprint.persistent_bytes, 6400);
        assert_int_equal(result.footprint.tile_bytes, 15744);
        assert_int_equal(result.footprint.peak_bytes, 6400 + 15744 * tiles);
        assert_int_equal(result.overflow, tiles > 2);
        assert_int_equal(result.items, 16);
        assert_int_equal(planned(&scoped).footprint.peak_bytes, 22144);
        assert_int_equal(planned(&nested).footprint.peak_bytes, 16000);
    }
}

static void chip48_unscoped_3_overflows_at_v(void **state)
{
    (void)state;
    struct cell cell = chip48(POLICY_UNSCOPED, 3);
    struct cell_result result = planned(&cell);
    assert_int_equal(result.overflow_tile, 3);
    assert_string_equal(result.overflow_name, "v");
    assert_int_equal(result.overflow_request_bytes, 4096);
    assert_int_equal(result.overflow_free_bytes, 3712);
}

/* 48 KiB of local memory less the guard of 1 KiB. */
static void local_pool_is_the_smaller_of_two(void **state)
{
    (void)state;
    struct cell cell = chip48(POLICY_NESTED, 2);
    cell.local_bytes = 49152;
    assert_false(planned(&cell).overflow);
    assert_int_equal(cell.pool_bytes, 48128);
    assert_false(planned(&cell).overflow);
    assert_int_equal(cell.pool_bytes, 48128);
    cell = chip48(POLICY_NESTED, 2);
    cell.local_bytes = 49152 + 1024;
    assert_false(planned(&cell).overflow);
    assert_int_equal(cell.pool_bytes, 49152);
    cell = chip48(POLICY_NESTED, 2);
    cell.local_bytes = 17179; /* in whole lines */
    assert_false(planned(&cell).overflow);
    assert_int_equal(cell.pool_bytes, 16128);
}

static void local_pool_that_binds_names_the_temporary(void **state)
{
    (void)state;
    struct cell cell = chip48(POLICY_NESTED, 2);
    cell.local_bytes = 1024 + 15872; /* 128 less than nested needs */
    struct cell_result result = planned_on(&cell, SIZE_MAX);
    assert_true(result.overflow);
    assert_string_equal(result.overflow_name, "acc_new");
    assert_int_equal(result.overflow_tile, 1);
    assert_int_equal(result.footprint.peak_bytes, 16000);
    cell = chip48(POLICY_NESTED, 2);
    cell.local_bytes = 1024 + 6272; /* 128 less than the persistent part */
    result = planned_on(&cell, SIZE_MAX);
    assert_string_equal(result.overflow_name, "acc");
    assert_int_equal(result.overflow_tile, 0);
}

static void local_memory_without_room_for_a_pool_is_the_devices(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= 1024 + 127; bytes += 1024 + 127) {
        struct cell cell = chip48(POLICY_NESTED, 2);
        cell.local_bytes = bytes;
        struct cell_result result = planned_on(&cell, SIZE_MAX);
        assert_string_equal(result.overflow_name, "device");
        assert_int_equal(result.overflow_request_bytes, 49152 + 1024);
        assert_int_equal(result.overflow_free_bytes, bytes);
        assert_non_null(strstr(result.overflow_text, "local memory"));
    }
}

static void local_pool_that_grows_is_limited_by_the_device(void **state)
{
    (void)state;
    struct cell cell = chip48(POLICY_UNSCOPED, 2);
    cell.pool_grow = true;
    cell.local_bytes = 37888 + 1024;
    assert_false(planned(&cell).overflow);
    assert_int_equal(cell.pool_bytes, 37888);
    cell.local_bytes -= 1;
    struct cell_result result = planned_on(&cell, SIZE_MAX);
    assert_true(result.overflow);
    assert_string_equal(result.overflow_name, "device");
    assert_int_equal(result.overflow_request_bytes, 37888 + 1024);
    assert_int_equal(result.overflow_free_bytes, 37888 + 1023);
    assert_int_equal(result.footprint.peak_bytes, 37888);
}

/* Nothing of a local arena is allocated, whatever the number of PEs; and a global one asks nothing
 * of local memory. */
static void arenas_count_where_they_are(void **state)
{
    (void)state;
    struct cell cell = chip48(POLICY_NESTED, 2);
    cell.pes = 1000;
    assert_false(planned_on(&cell, 1 << 20).overflow);
    cell.arena = PE_ARENAS_GLOBAL;
    assert_string_equal(planned_on(&cell, 1 << 20).overflow_name, "device");
    cell.pes = 1;
    cell.local_bytes = 0;
    assert_false(planned_on(&cell, 1 << 20).overflow);
    assert_int_equal(cell.pool_bytes, 49152);
}

static void one_part_is_unsplit(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    cell.problem.parts = 1;
    struct cell_result result = planned(&cell);
    assert_int_equal(result.parts_bytes, 0);
    assert_int_equal(result.items, 16);
}

/* 65536 parts of 16 blocks leave far more than the arena and every tensor take. */
static void device_too_small_for_parts_names_them(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 16);
    const size_t need = (size_t)65536 * 16 * 16640;
    cell.pes = 1;
    cell.problem.parts = 65536;
    struct cell_result result = planned_on(&cell, need - 1);
    assert_true(result.overflow);
    assert_string_equal(result.overflow_name, "device");
    assert_int_equal(result.overflow_request_bytes, need);
    assert_int_equal(result.overflow_free_bytes, need - 1);
    assert_non_null(strstr(result.overflow_text, "--parts"));
    assert_false(planned_on(&cell, need).overflow);
}

static void device_too_small_for_mask_names_it(void **state)
{
    (void)state;
    struct cell cell = cap16(POLICY_NESTED, 4096); /* k: 4 heads x 262144 x 128 x 2 = 256 MiB */
    cell.pes = 1;
    cell.problem.seq_q = 1024; /* the mask: 1024 x 262144 x 4 = 1 GiB */
    assert_false(planned_on(&cell, (size_t)1 << 29).overflow);
    cell.problem.mask = true;
    struct cell_result result = planned_on(&cell, (size_t)1 << 29);
    assert_true(result.overflow);
    assert_int_equal(result.overflow_request_bytes, (size_t)1 << 30);
    assert_non_null(strstr(result.overflow_text, "tensor mask"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cap16_unscoped_16_fits, clear_status),
        cmocka_unit_test_setup(cap16_unscoped_17_overflows_at_v, clear_status),
        cmocka_unit_test_setup(cap16_overflow_text_names_request, clear_status),
        cmocka_unit_test_setup(cap16_scoped_and_nested_1024_stay_constant, clear_status),
        cmocka_unit_test_setup(cap16_items_and_flops_are_exact, clear_status),
        cmocka_unit_test_setup(cap16_copies_are_state_of_every_tile, clear_status),
        cmocka_unit_test_setup(grow_unscoped_1024_fits_its_need, clear_status),
        cmocka_unit_test_setup(grow_rounds_pool_up_to_whole_lines, clear_status),
        cmocka_unit_test_setup(bf16_plans_although_no_kernel_has_it, clear_status),
        cmocka_unit_test_setup(f8_tile_is_smaller_than_f16, clear_status),
        cmocka_unit_test_setup(device_too_small_for_arenas_is_device_overflow, clear_status),
        cmocka_unit_test_setup(device_that_just_holds_arenas_is_no_overflow, clear_status),
        cmocka_unit_test_setup(device_too_small_for_tensor_names_it, clear_status),
        cmocka_unit_test_setup(device_overflow_yields_to_pool_overflow, clear_status),
        cmocka_unit_test_setup(cache_level_counts_busy_pes_only, clear_status),
        cmocka_unit_test_setup(bad_heads_are_refused_and_result_is_zero, clear_status),
        cmocka_unit_test_setup(pool_below_alignment_is_refused, clear_status),
        cmocka_unit_test_setup(parts_shorten_walks_and_leave_states, clear_status),
        cmocka_unit_test_setup(one_part_is_unsplit, clear_status),
        cmocka_unit_test_setup(device_too_small_for_parts_names_them, clear_status),
        cmocka_unit_test_setup(device_too_small_for_mask_names_it, clear_status),
        cmocka_unit_test_setup(chip48_plans_to_the_byte, clear_status),
        cmocka_unit_test_setup(chip48_unscoped_3_overflows_at_v, clear_status),
        cmocka_unit_test_setup(local_pool_is_the_smaller_of_two, clear_status),
        cmocka_unit_test_setup(local_pool_that_binds_names_the_temporary, clear_status),
        cmocka_unit_test_setup(local_memory_without_room_for_a_pool_is_the_devices, clear_status),
        cmocka_unit_test_setup(local_pool_that_grows_is_limited_by_the_device, clear_status),
        cmocka_unit_test_setup(arenas_count_where_they_are, clear_status),
    };
    return cmocka_run_group_tests_name("bench.cells", tests, NULL, NULL);
}
