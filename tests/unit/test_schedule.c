/* Schedules: every item once, longest first within a head, and even shares. */
#include "host/attention/schedule.h"

#include "kernels/layout.h"
#include "tests/unit/attention_fixture.h"

#include <stdlib.h>

enum { PES = 3 };

static struct problem causal_problem(void)
{
    struct problem problem = cap16_problem(16);
    problem.seq_q = 1024;
    problem.causal = true;
    return problem;
}

static size_t tiles_of(const struct problem *problem, uint32_t item)
{
    return problem_item(problem, item).tile_count;
}

static void assert_every_item_once(const uint32_t *order, size_t count)
{
    bool *seen = calloc(count, sizeof seen[0]);
    assert_non_null(seen);
    for (size_t i = 0; i < count; ++i) {
        assert_true(order[i] < count);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
    free(seen);
}

static void shared_order_holds_every_item_longest_first_within_a_head(void **state)
{
    const struct problem problem = causal_problem();
    const size_t count = problem_item_count(&problem), per_head = count / problem.kv_heads;
    struct schedule schedule;
    (void)state;

    assert_int_equal(schedule_create(&problem, count, PES, true, &schedule), STATUS_OK);
    const uint32_t *order = schedule.cells + SCHEDULE_ORDER(PES);
    assert_int_equal(schedule.count, SCHEDULE_ORDER(PES) + count);
    assert_int_equal(schedule.cells[SCHEDULE_TAKEN], 0);
    assert_int_equal(schedule.cells[SCHEDULE_LEFT], 0);
    assert_int_equal(schedule.cells[SCHEDULE_STARTS], 0);
    assert_int_equal(schedule.cells[SCHEDULE_STARTS + 1], count);
    assert_every_item_once(order, count);
    for (size_t i = 1; i < count; ++i) {
        assert_true(order[i] / per_head >= order[i - 1] / per_head);
        if (order[i] / per_head == order[i - 1] / per_head) {
            assert_true(tiles_of(&problem, order[i]) <= tiles_of(&problem, order[i - 1]));
        }
    }
    schedule_fini(&schedule);
}

static void shares_hold_every_item_and_differ_by_less_than_the_longest(void **state)
{
    const struct problem problem = causal_problem();
    const size_t count = problem_item_count(&problem), longest = problem_tiles(&problem);
    size_t most = 0, least = SIZE_MAX;
    struct schedule schedule;
    (void)state;

    assert_int_equal(schedule_create(&problem, count, PES, false, &schedule), STATUS_OK);
    const uint32_t *starts = schedule.cells + SCHEDULE_STARTS;
    const uint32_t *order = schedule.cells + SCHEDULE_ORDER(PES);
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[PES], count);
    assert_every_item_once(order, count);
    for (size_t pe = 0; pe < PES; ++pe) {
        size_t tiles = 0;
        for (uint32_t i = starts[pe]; i < starts[pe + 1]; ++i) {
            tiles += tiles_of(&problem, order[i]);
        }
        most = tiles > most ? tiles : most;
        least = tiles < least ? tiles : least;
    }
    assert_true(most - least <= longest);
    schedule_fini(&schedule);
}

static void equal_items_go_round_the_pes(void **state)
{
    struct problem problem = cap16_problem(16);
    struct schedule schedule;
    (void)state;

    assert_int_equal(schedule_create(&problem, 5, 2, false, &schedule), STATUS_OK);
    const uint32_t expected[] = {0, 0, 0, 3, 5, 0, 2, 4, 1, 3};
    assert_int_equal(schedule.count, sizeof expected / sizeof expected[0]);
    assert_memory_equal(schedule.cells, expected, sizeof expected);
    schedule_fini(&schedule);
}

static void no_items_make_empty_shares(void **state)
{
    struct problem problem = cap16_problem(16);
    struct schedule schedule;
    (void)state;

    assert_int_equal(schedule_create(&problem, 0, PES, false, &schedule), STATUS_OK);
    assert_int_equal(schedule.count, SCHEDULE_ORDER(PES));
    assert_int_equal(schedule.cells[SCHEDULE_STARTS + PES], 0);
    schedule_fini(&schedule);
}

static void more_items_than_numbers_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    struct schedule schedule;
    (void)state;

    problem.seq_q = (size_t)1 << 33;
    problem.block_m = 1;
    assert_int_equal(schedule_create(&problem, (size_t)1 << 33, PES, true, &schedule),
                     STATUS_RANGE);
    assert_null(schedule.cells);
    status_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_order_holds_every_item_longest_first_within_a_head),
        cmocka_unit_test(shares_hold_every_item_and_differ_by_less_than_the_longest),
        cmocka_unit_test(equal_items_go_round_the_pes),
        cmocka_unit_test(no_items_make_empty_shares),
        cmocka_unit_test(more_items_than_numbers_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
