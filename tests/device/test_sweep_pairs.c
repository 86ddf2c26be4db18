/* Whole sweeps of tiny problems on the test device: which ratios a group gives, and how a sweep
 * ends early. Rows: test_sweep.c. */
#include "tests/device/sweep_case.h"

/* ---- Ratios ---- */

static void three_policies_give_three_ratios_and_control(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    assert_int_equal(record.ratio_count, 4);
    assert_non_null(find_ratio(POLICY_SCOPED, POLICY_UNSCOPED));
    assert_non_null(find_ratio(POLICY_NESTED, POLICY_UNSCOPED));
    assert_non_null(find_ratio(POLICY_NESTED, POLICY_SCOPED));
    assert_non_null(find_ratio(POLICY_SCOPED, POLICY_SCOPED));
    for (size_t i = 0; i < record.ratio_count; i++) {
        const struct cell_ratio *ratio = &record.ratios[i];
        assert_string_equal(ratio->group, "attention/tiny/f32/S:2");
        assert_int_equal(ratio->tiles, 2);
        assert_int_equal(ratio->blocks, 5);
        assert_int_equal(ratio->rounds, 2);
        assert_true(ratio->ratio > 0.0 && isfinite(ratio->ratio));
        assert_true(ratio->lower <= ratio->ratio && ratio->ratio <= ratio->upper);
        assert_true(ratio->noise_floor == record.ratios[0].noise_floor);
    }
}

static void two_policies_give_one_ratio_and_control(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    run_fine(cells, tiny_group(cells, 3, 2), &options); /* unscoped overflows */
    assert_int_equal(record.ratio_count, 2);
    assert_non_null(find_ratio(POLICY_NESTED, POLICY_SCOPED));
    assert_non_null(find_ratio(POLICY_SCOPED, POLICY_SCOPED));
}

static void control_without_scoped_is_the_first_policy(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_NESTED, 2, pool_for(2));
    struct sweep_options options = quick();
    run_fine(&cell, 1, &options);
    assert_int_equal(record.ratio_count, 1);
    assert_non_null(find_ratio(POLICY_NESTED, POLICY_NESTED));
}

static void each_group_has_ratios_of_its_own(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    size_t count = tiny_group(cells, 2, 2);
    count += tiny_group(cells + count, 1, 2);
    run_fine(cells, count, &options);
    assert_int_equal(record.ratio_count, 8);
    assert_int_equal(record.ratios[3].tiles, 2);
    assert_int_equal(record.ratios[4].tiles, 1);
}

static void policy_that_comes_again_starts_a_group(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    for (size_t i = 0; i < 6; i++) {
        cells[i] = tiny(POLICY_NESTED, 2, pool_for(2));
    }
    run_fine(cells, 6, &options);
    assert_int_equal(record.row_count, 6);
    assert_int_equal(record.ratio_count, 6);
}

static void no_blocks_give_no_ratios(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    options.pair_blocks = 0;
    run_fine(cells, tiny_group(cells, 2, 2), &options);
    assert_int_equal(record.ratio_count, 0);
    assert_int_equal(record.row_count, 3);
}

/* ---- Endings ---- */

static void interruption_after_two_rows_keeps_two(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    record.interrupt_rows = 2;
    assert_int_equal(run(cells, tiny_group(cells, 2, 2), &options, &outcome), STATUS_INTERRUPTED);
    assert_int_equal(record.row_count, 2);
    assert_int_equal(outcome.rows, 2);
    assert_int_equal(record.ratio_count, 0);
}

static void interruption_while_timing_drops_that_row(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    options.min_time_s = 1e3; /* only an interruption ends it */
    record.interrupt_at = "time";
    record.interrupt_polls = 8;
    assert_int_equal(run(cells, tiny_group(cells, 2, 2), &options, &outcome), STATUS_INTERRUPTED);
    assert_int_equal(record.row_count, 0);
}

static void interruption_in_pairs_keeps_rows_without_ratios(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    record.interrupt_at = "pairs";
    record.interrupt_polls = 8;
    assert_int_equal(run(cells, tiny_group(cells, 2, 2), &options, &outcome), STATUS_INTERRUPTED);
    assert_int_equal(outcome.rows, 3);
    assert_int_equal(record.ratio_count, 0);
}

static void row_that_cant_be_written_ends_the_sweep(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    record.fail_row = 1;
    assert_int_equal(run(cells, tiny_group(cells, 2, 2), &options, &outcome), STATUS_IO);
    assert_int_equal(outcome.rows, 1);
}

static void bad_cell_is_refused_before_anything_runs(void **state)
{
    (void)state;
    struct cell cells[MAX_CELLS];
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    size_t count = tiny_group(cells, 2, 2);
    cells[2].problem.block_n = 0;
    assert_int_equal(run(cells, count, &options, &outcome), STATUS_BAD_INPUT);
    assert_int_equal(record.row_count, 0);
    assert_int_equal(spoiled.launches, 0);
}

static void too_few_blocks_are_refused(void **state)
{
    (void)state;
    struct cell cell = tiny(POLICY_NESTED, 2, pool_for(2));
    struct sweep_options options = quick();
    struct sweep_outcome outcome = {0};
    options.pair_blocks = 4;
    assert_int_equal(run(&cell, 1, &options, &outcome), STATUS_BAD_INPUT);
    status_clear();
    options = quick();
    options.repetitions = 0;
    assert_int_equal(run(&cell, 1, &options, &outcome), STATUS_BAD_INPUT);
    status_clear();
    options = quick();
    options.min_time_s = (double)NAN;
    assert_int_equal(run(&cell, 1, &options, &outcome), STATUS_BAD_INPUT);
}

static void default_options_are_accepted(void **state)
{
    (void)state;
    struct sweep_options options;
    sweep_options_default(&options);
    assert_int_equal(run_fine(NULL, 0, &options).rows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(three_policies_give_three_ratios_and_control),
        SWEEP_TEST(two_policies_give_one_ratio_and_control),
        SWEEP_TEST(control_without_scoped_is_the_first_policy),
        SWEEP_TEST(each_group_has_ratios_of_its_own),
        SWEEP_TEST(policy_that_comes_again_starts_a_group),
        SWEEP_TEST(no_blocks_give_no_ratios),
        SWEEP_TEST(interruption_after_two_rows_keeps_two),
        SWEEP_TEST(interruption_while_timing_drops_that_row),
        SWEEP_TEST(interruption_in_pairs_keeps_rows_without_ratios),
        SWEEP_TEST(row_that_cant_be_written_ends_the_sweep),
        SWEEP_TEST(bad_cell_is_refused_before_anything_runs),
        SWEEP_TEST(too_few_blocks_are_refused),
        SWEEP_TEST(default_options_are_accepted),
    };
    return cmocka_run_group_tests_name("device.sweep_pairs", tests, open_device, close_device);
}
