/* Whole sweeps of tiny problems on the test device: rows and their order, overflow, wrong rows, bad
 * stamps, filter and cutting. Ratios and endings: test_sweep_pairs.c. */
#include "bench/gbench.h"
#include "host/attention/tile_program.h"
#include "host/device/build.h"
#include "tests/device/sweep_case.h"

/* ---- Rows ---- */

static void rows_come_in_cell_order_past_overflow(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    size_t count = tiny_group(cells, 2, 2);
    count += tiny_group(cells + count, 3, 2); /* its unscoped overflows, in the middle */
    count += tiny_group(cells + count, 1, 2);
    struct sweep_outcome outcome = run_fine(cells, count, &options);
    assert_int_equal(record.row_count, 9);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(record.rows[i].name, cells[i].name);
        assert_int_equal(record.rows[i].result.overflow, i == 3);
        assert_int_equal(record.rows[i].result.ok, i != 3);
        assert_int_equal(record.rows[i].run_count, i == 3 ? 0 : 2 + 4);
    }
    assert_int_equal(outcome.rows, 9);
    assert_int_equal(outcome.overflows, 1);
    assert_int_equal(outcome.wrong, 0);
}

static void overflow_row_names_its_request(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    run_fine(cells, tiny_group(cells, 3, 2), &options);
    const struct cell_result *result = &record.rows[0].result;
    assert_true(result->overflow);
    assert_false(result->checked);
    assert_int_equal(result->overflow_tile, 3);
    assert_true(result->overflow_text[0] != '\0');
}

static void group_that_overflows_whole_builds_nothing(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_UNSCOPED, 3, pool_for(2));
    struct sweep_options options = quick();
    size_t builds = build_count(device);
    run_fine(&cell, 1, &options);
    assert_int_equal(record.row_count, 1);
    assert_int_equal(spoiled.launches, 0);
    assert_int_equal(build_count(device), builds);
    assert_string_equal(record.stage, "");
}

static void device_overflow_row_lets_later_rows_run(void **state)
{
    (void)state;
    struct cell cells[] = {tiny(POLICY_NESTED, 2, pool_for(2)),
                           tiny(POLICY_NESTED, 2, pool_for(2))};
    struct sweep_options options = quick();
    cells[0].pes = device->info.max_alloc_bytes / 8192;
    struct sweep_outcome outcome = run_fine(cells, 2, &options);
    assert_string_equal(record.rows[0].result.overflow_name, "device");
    assert_int_equal(record.rows[0].result.overflow_free_bytes, device->info.max_alloc_bytes);
    assert_true(record.rows[1].result.ok);
    assert_int_equal(outcome.overflows, 1);
}

static void checked_row_measures_what_was_planned(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    for (size_t i = 0; i < record.row_count; i++) {
        const struct cell_result *result = &record.rows[i].result;
        assert_true(result->checked && result->agrees && result->same_bits);
        assert_int_equal(result->check.touch.peak_bytes, result->footprint.peak_bytes);
        assert_int_equal(result->check.touch.touched_lines, result->footprint.touched_lines);
        assert_true(result->check.verdict.verified);
    }
}

static void timed_row_has_times_and_gflops(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_SCOPED, 2, pool_for(2));
    struct sweep_options options = quick();
    run_fine(&cell, 1, &options);
    const struct row *row = &record.rows[0];
    assert_int_equal(row->result.timed_items, 4);
    for (size_t i = 0; i < 2; i++) {
        const struct cell_run *one = &row->runs[i];
        assert_int_equal(one->type, GBENCH_ITERATION);
        assert_int_equal(one->repetitions, 2);
        assert_int_equal(one->repetition_index, i);
        assert_true(one->iterations > 0 && one->real_time_ns > 0.0 && one->host_time_ns > 0.0);
        double flops = one->gflops * one->real_time_ns;
        assert_true(fabs(flops / problem_flops(&cell.problem, 4) - 1.0) < 1e-9);
    }
}

static void aggregates_follow_the_repetitions(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_SCOPED, 2, pool_for(2));
    struct sweep_options options = quick();
    run_fine(&cell, 1, &options);
    const struct cell_run *runs = record.rows[0].runs;
    const char *const names[] = {"mean", "median", "stddev", "cv"};
    assert_int_equal(record.rows[0].run_count, 6);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(runs[2 + i].type, GBENCH_AGGREGATE);
        assert_string_equal(runs[2 + i].aggregate_name, names[i]);
        assert_true(isfinite(runs[2 + i].real_time_ns));
    }
    double mean = 0.5 * (runs[0].real_time_ns + runs[1].real_time_ns);
    assert_true(fabs(runs[2].real_time_ns / mean - 1.0) < 1e-9);
    assert_true(runs[5].real_time_ns < 10.0); /* cv is a ratio, not ns */
}

static void growing_pool_times_unscoped_with_the_others(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    size_t count = tiny_group(cells, 12, 1);
    for (size_t i = 0; i < count; i++) {
        cells[i].pool_grow = true;
        cells[i].pool_bytes = 0;
        cells[i].poison = true;
    }
    struct sweep_outcome outcome = run_fine(cells, count, &options);
    assert_int_equal(outcome.overflows, 0);
    assert_int_equal(outcome.wrong, 0);
    assert_true(cells[0].pool_bytes > cells[1].pool_bytes);
    assert_non_null(find_ratio(POLICY_SCOPED, POLICY_UNSCOPED));
}

/* ---- Wrong rows ---- */

static void expect_wrong_second_row(enum spoil spoil)
{
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    spoiled.check = spoil;
    spoiled.at = 1;
    struct sweep_outcome outcome = run_fine(cells, tiny_group(cells, 2, 2), &options);
    assert_int_equal(outcome.wrong, 1);
    assert_int_equal(outcome.rows, 3);
    assert_true(record.rows[0].result.ok);
    assert_true(record.rows[1].result.checked);
    assert_false(record.rows[1].result.ok);
    assert_int_equal(record.rows[1].run_count, 0);
    assert_int_equal(record.rows[1].result.timed_items, 0);
    assert_true(record.rows[2].result.ok);
    assert_int_equal(record.rows[2].run_count, 6);
    assert_null(find_ratio(POLICY_SCOPED, POLICY_UNSCOPED));
    assert_non_null(find_ratio(POLICY_NESTED, POLICY_UNSCOPED));
}

static void other_bits_are_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_HASH);
    assert_false(record.rows[1].result.same_bits);
}

static void other_peak_is_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_PEAK);
    assert_false(record.rows[1].result.agrees);
}

static void missing_line_is_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_LINES);
    assert_false(record.rows[1].result.agrees);
}

static void damaged_guard_is_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_GUARD);
    assert_false(record.rows[1].result.agrees);
}

static void other_parts_are_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_PARTS);
    assert_false(record.rows[1].result.agrees);
}

static void failed_verdict_is_a_wrong_row(void **state)
{
    (void)state;
    expect_wrong_second_row(SPOIL_VERDICT);
}

/* ---- Bad stamps ---- */

static void expect_host_time(const struct cell_run *one)
{
    assert_false(one->time_is_event);
    assert_true(isnan(one->event_time_ns));
    assert_true(isfinite(one->host_time_ns) && isfinite(one->real_time_ns));
    assert_true(one->real_time_ns == one->host_time_ns);
    assert_true(isfinite(one->gflops));
}

static void bad_stamps_leave_host_time_and_no_nan(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    spoiled.insane_every = 1;
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    for (size_t i = 0; i < record.rows[0].run_count; i++) {
        expect_host_time(&record.rows[0].runs[i]);
    }
    assert_int_equal(record.ratio_count, 4);
    for (size_t i = 0; i < record.ratio_count; i++) {
        assert_true(isfinite(record.ratios[i].ratio));
    }
}

/* Every other launch: no run of two launches or more has only sane stamps. */
static void some_bad_stamps_put_whole_row_on_host_time(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    spoiled.insane_every = 2;
    options.min_time_s = 2e-3;
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    for (size_t i = 0; i < record.rows[0].run_count; i++) {
        const struct cell_run *one = &record.rows[0].runs[i];
        assert_true(one->type == GBENCH_AGGREGATE || one->iterations > 1);
        expect_host_time(one);
    }
    assert_int_equal(record.ratio_count, 4);
    for (size_t i = 0; i < record.ratio_count; i++) {
        assert_true(isfinite(record.ratios[i].ratio));
    }
}

/* ---- Clocks and warm-up ---- */

static void clocks_that_agree_say_so_in_the_row(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_NESTED, 2, pool_for(2));
    struct sweep_options options = quick();
    spoiled.host_ns = 2e6;
    run_fine(&cell, 1, &options);
    assert_true(record.rows[0].result.clocks_known && record.rows[0].result.clocks_agree);
    assert_true(record.rows[0].result.event_host_ratio == 1.0);
}

static void clocks_that_differ_say_so_in_the_row(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_NESTED, 2, pool_for(2));
    struct sweep_options options = quick();
    spoiled.host_ns = 2e6;
    spoiled.event_factor = 0.5;
    run_fine(&cell, 1, &options);
    assert_true(record.rows[0].result.clocks_known);
    assert_false(record.rows[0].result.clocks_agree);
    assert_true(record.rows[0].result.event_host_ratio == 0.5);
}

/* The first launch on fresh arenas, or with a kernel that the driver finishes then, may take any
 * time: here it takes ten seconds, and no row has any of it. */
static void first_launch_of_a_cell_is_in_none_of_its_times(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    spoiled.host_ns = 1e4;
    spoiled.first_ns = 1e10;
    options.cut_s = 100.0;
    options.pair_blocks = 0;
    size_t count = tiny_group(cells, 2, 2);
    run_fine(cells, count, &options);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < record.rows[i].run_count; j++) {
            assert_true(record.rows[i].runs[j].real_time_ns < 2e4);
        }
    }
}

/* ---- Filter and cut ---- */

static void filter(const char *expression)
{
    char flag[128];
    char program[] = "test";
    char *argv[] = {program, flag, NULL};
    int argc = 2;
    snprintf(flag, sizeof flag, "--benchmark_filter=%s", expression);
    DEVICE_OK(gbench_init(&argc, argv));
}

static int no_filter(void **state)
{
    (void)state;
    filter(".");
    return 0;
}

static void filtered_cells_are_no_rows(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    size_t count = tiny_group(cells, 2, 2);
    count += tiny_group(cells + count, 1, 2);
    cells[0].problem.block_n = 0; /* not even planned */
    filter("(scoped|nested)/f32/S:1$");
    struct sweep_outcome outcome = run_fine(cells, count, &options);
    assert_int_equal(outcome.rows, 3); /* "unscoped" holds "scoped" */
    assert_string_equal(record.rows[0].name, "attention/tiny/unscoped/f32/S:1");
    assert_int_equal(record.progress_count, 3);
}

static void slow_launch_is_cut_to_one_item_a_pe(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    options.cut_s = 1e-12;
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    for (size_t i = 0; i < record.row_count; i++) {
        const struct row *row = &record.rows[i];
        assert_int_equal(row->result.items, 4);
        assert_int_equal(row->result.timed_items, PES);
        assert_true(row->result.timed_flops == problem_flops(&cells[i].problem, PES));
        assert_int_equal(row->result.timed_read_bytes,
                         tile_program_read_bytes(&cells[i].problem, PES));
        double flops = row->runs[0].gflops * row->runs[0].real_time_ns;
        assert_true(fabs(flops / problem_flops(&cells[i].problem, PES) - 1.0) < 1e-9);
    }
}

/* Causal, 16 queries on 16 keys: the first two blocks of 4 rows see one tile of 8, the next two
 * see both. Two PEs alone would time none of those. */
static void cut_under_a_mask_still_walks_the_longest(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_NESTED, 2, pool_for(2));
    struct sweep_options options = quick();
    cell.problem.causal = true;
    options.cut_s = 1e-12;
    run_fine(&cell, 1, &options);
    assert_int_equal(record.rows[0].result.tiles, 2);
    assert_int_equal(record.rows[0].result.items, 4);
    assert_int_equal(record.rows[0].result.timed_items, 3);
}

/* 5 tiles in 3 parts for each of 4 blocks; m and l of 4 rows, acc of 4 x 16, f32. */
static void parts_are_measured_and_never_cut(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    size_t count = tiny_group(cells, 5, 5);
    for (size_t i = 0; i < count; i++) {
        cells[i].problem.parts = 3;
    }
    options.cut_s = 1e-12;
    struct sweep_outcome outcome = run_fine(cells, count, &options);
    assert_int_equal(outcome.wrong, 0);
    for (size_t i = 0; i < count; i++) {
        const struct cell_result *result = &record.rows[i].result;
        assert_int_equal(result->tiles, 2);
        assert_int_equal(result->parts_bytes, 12 * (2 * 4 * 4 + 4 * 16 * 4));
        assert_int_equal(result->check.parts_touched_bytes, result->parts_bytes);
        assert_int_equal(result->timed_items, 12);
    }
    assert_non_null(find_ratio(POLICY_SCOPED, POLICY_UNSCOPED));
}

/* Neighbours with the same tensors but other options: what is shared must follow. */
static void masks_and_sinks_come_and_go_between_groups(void **state)
{
    (void)state;
    struct cell cells[6];
    struct sweep_options options = quick();
    for (size_t i = 0; i < 6; i++) {
        cells[i] = tiny(POLICY_NESTED, 2, pool_for(2));
        cells[i].problem.sinks = i == 1 || i == 2;
        cells[i].problem.mask = i == 2 || i == 3;
        cells[i].problem.softcap = i == 4 ? 0.5 : 0.0;
        cells[i].problem.alibi = i == 5;
    }
    options.pair_blocks = 0;
    struct sweep_outcome outcome = run_fine(cells, 6, &options);
    assert_int_equal(outcome.wrong, 0);
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = i + 1; j < 6; j++) {
            assert_true(record.rows[i].result.check.output_hash !=
                        record.rows[j].result.check.output_hash);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(rows_come_in_cell_order_past_overflow),
        SWEEP_TEST(overflow_row_names_its_request),
        SWEEP_TEST(group_that_overflows_whole_builds_nothing),
        SWEEP_TEST(device_overflow_row_lets_later_rows_run),
        SWEEP_TEST(checked_row_measures_what_was_planned),
        SWEEP_TEST(timed_row_has_times_and_gflops),
        SWEEP_TEST(aggregates_follow_the_repetitions),
        SWEEP_TEST(growing_pool_times_unscoped_with_the_others),
        SWEEP_TEST(other_bits_are_a_wrong_row),
        SWEEP_TEST(other_peak_is_a_wrong_row),
        SWEEP_TEST(missing_line_is_a_wrong_row),
        SWEEP_TEST(damaged_guard_is_a_wrong_row),
        SWEEP_TEST(other_parts_are_a_wrong_row),
        SWEEP_TEST(failed_verdict_is_a_wrong_row),
        SWEEP_TEST(bad_stamps_leave_host_time_and_no_nan),
        SWEEP_TEST(some_bad_stamps_put_whole_row_on_host_time),
        SWEEP_TEST(clocks_that_agree_say_so_in_the_row),
        SWEEP_TEST(clocks_that_differ_say_so_in_the_row),
        SWEEP_TEST(first_launch_of_a_cell_is_in_none_of_its_times),
        cmocka_unit_test_setup_teardown(filtered_cells_are_no_rows, fresh, no_filter),
        SWEEP_TEST(slow_launch_is_cut_to_one_item_a_pe),
        SWEEP_TEST(cut_under_a_mask_still_walks_the_longest),
        SWEEP_TEST(parts_are_measured_and_never_cut),
        SWEEP_TEST(masks_and_sinks_come_and_go_between_groups),
    };
    return cmocka_run_group_tests_name("device.sweep", tests, open_device, close_device);
}
