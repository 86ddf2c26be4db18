/* Shapes, masks and counts of a problem, against naive loops over every pair of random problems. */
#include "host/attention/problem.h"

#include "tests/unit/attention_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_PROBLEMS = 3000 };

static size_t count_pairs(const struct problem *problem, size_t position)
{
    size_t pairs = 0;

    for (size_t key = 0; key < problem->seq_kv; key++) {
        pairs += is_visible(problem, position, key);
    }
    return pairs;
}

static void assert_refused(const struct problem *problem, enum status status, const char *what)
{
    status_clear();
    assert_int_equal(problem_validate(problem), status);
    assert_string_equal(status_last()->what, what);
    assert_true(strlen(status_last()->why) > 0);
    status_clear();
}

static void validate_usual_problem_accepted(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    assert_int_equal(problem_validate(&problem), STATUS_OK);
}

static void validate_no_keys_accepted(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.seq_kv = 0;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
}

static void validate_zero_extent_refused_by_name(void **state)
{
    static const struct {
        size_t offset;
        const char *name;
    } fields[] = {
        {offsetof(struct problem, batch), "batch"},
        {offsetof(struct problem, q_heads), "q_heads"},
        {offsetof(struct problem, kv_heads), "kv_heads"},
        {offsetof(struct problem, seq_q), "seq_q"},
        {offsetof(struct problem, head_dim), "head_dim"},
        {offsetof(struct problem, head_dim_v), "head_dim_v"},
        {offsetof(struct problem, block_m), "block_m"},
        {offsetof(struct problem, block_n), "block_n"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct problem problem = cap16_problem(16);
        *(size_t *)(void *)((char *)&problem + fields[i].offset) = 0;
        assert_refused(&problem, STATUS_BAD_INPUT, fields[i].name);
    }
}

/* Case 6. */
static void validate_uneven_heads_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.q_heads = 3;
    problem.kv_heads = 2;
    assert_refused(&problem, STATUS_BAD_INPUT, "q_heads");
    problem.q_heads = 33;
    assert_refused(&problem, STATUS_BAD_INPUT, "q_heads");
    problem.q_heads = 2;
    problem.kv_heads = 4;
    assert_refused(&problem, STATUS_BAD_INPUT, "q_heads");
}

static void validate_window_below_minus_one_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.window_left = -2;
    assert_refused(&problem, STATUS_BAD_INPUT, "window_left");
    problem.window_left = 0;
    problem.window_right = INT64_MIN;
    assert_refused(&problem, STATUS_BAD_INPUT, "window_right");
}

static void validate_infinite_scale_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.scale = (double)INFINITY;
    assert_refused(&problem, STATUS_BAD_INPUT, "scale");
    problem.scale = (double)NAN;
    assert_refused(&problem, STATUS_BAD_INPUT, "scale");
    problem.scale = -1e39; /* infinite in f32 */
    assert_refused(&problem, STATUS_BAD_INPUT, "scale");
}

static void validate_tensor_that_wraps_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.seq_kv = SIZE_MAX / 256;
    assert_refused(&problem, STATUS_RANGE, "k");
    problem = cap16_problem(16);
    problem.head_dim = SIZE_MAX / 2;
    assert_refused(&problem, STATUS_RANGE, "q");
    problem = cap16_problem(16);
    problem.head_dim_v = (size_t)PTRDIFF_MAX / 1024 / 4 / 2 + 1;
    assert_refused(&problem, STATUS_RANGE, "v");
    problem = cap16_problem(16);
    problem.seq_kv = 0;
    problem.head_dim_v = (size_t)PTRDIFF_MAX / 128 / 4 / 4 + 1;
    assert_refused(&problem, STATUS_RANGE, "out");
}

static void scale_zero_is_inverse_root_of_head_dim(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.head_dim = 64;
    assert_true(problem_scale(&problem) == 0.125);
    problem.scale = -3.0;
    assert_true(problem_scale(&problem) == -3.0);
}

static void item_count_of_reference_preset_is_16(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    assert_int_equal(problem_item_count(&problem), 16);
    assert_int_equal(problem_tiles(&problem), 16);
}

static void causal_overrides_right_window(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.window_right = 7;
    assert_int_equal(problem_reach_right(&problem), 7);
    problem.causal = true;
    assert_int_equal(problem_reach_right(&problem), 0);
    assert_int_equal(problem_reach_left(&problem), -1);
}

/* Case 4: the last query sees all keys, whichever sequence is longer. */
static void visible_causal_is_bottom_right_aligned(void **state)
{
    static const size_t expected_end[] = {0, 0, 0, 1, 2};
    struct problem problem = cap16_problem(16);
    size_t first, end;
    (void)state;

    problem.causal = true;
    problem.seq_q = 5;
    problem.seq_kv = 2;
    for (size_t position = 0; position < 5; position++) {
        problem_visible(&problem, position, &first, &end);
        assert_int_equal(first, 0);
        assert_int_equal(end, expected_end[position]);
    }
    problem.seq_q = 2;
    problem.seq_kv = 5;
    problem_visible(&problem, 0, &first, &end);
    assert_int_equal(end, 4);
    problem_visible(&problem, 1, &first, &end);
    assert_int_equal(end, 5);
}

static void visible_of_random_problems_is_the_definition(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        for (size_t position = 0; position < problem.seq_q; position++) {
            size_t first, end;
            problem_visible(&problem, position, &first, &end);
            assert_true(first <= end && end <= problem.seq_kv);
            for (size_t key = 0; key < problem.seq_kv; key++) {
                bool inside = first <= key && key < end;
                assert_int_equal(inside, is_visible(&problem, position, key));
            }
        }
    }
}

static void visible_pairs_of_random_problems_equal_a_count(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        size_t pairs = 0;
        for (size_t position = 0; position < problem.seq_q; position++) {
            pairs += count_pairs(&problem, position);
        }
        assert_true(problem_visible_pairs(&problem) == (double)pairs);
    }
}

/* Walks an item's rows one by one; adds its pairs, and checks its tiles against the union of what
 * its rows see. */
static size_t check_item(const struct problem *problem, size_t index, size_t *seen)
{
    struct problem_item item = problem_item(problem, index);
    size_t group = problem_group(problem);
    size_t first = SIZE_MAX, end = 0, pairs = 0;

    assert_in_range(item.rows, 1, problem->block_m);
    for (size_t r = item.first_row; r < item.first_row + item.rows; r++) {
        size_t position = r / group;
        size_t q_head = item.kv_head * group + r % group;
        assert_true(position < problem->seq_q);
        seen[(item.batch * problem->q_heads + q_head) * problem->seq_q + position]++;
        for (size_t key = 0; key < problem->seq_kv; key++) {
            if (is_visible(problem, position, key)) {
                first = key < first ? key : first;
                end = key + 1;
                pairs++;
            }
        }
    }
    if (pairs == 0) {
        assert_int_equal(item.tile_count, 0);
        return 0;
    }
    assert_int_equal(item.tile_first, first / problem->block_n);
    assert_int_equal(item.tile_first + item.tile_count - 1, (end - 1) / problem->block_n);
    return pairs;
}

/* Every row belongs to one item, S is the longest item, FLOPs of a prefix are those of its rows. */
static void items_of_random_problems_partition_the_rows(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        size_t rows = problem_lse_elems(&problem);
        size_t *seen = calloc(rows, sizeof(*seen));
        size_t pairs = 0, longest = 0;
        assert_non_null(seen);
        for (size_t i = 0; i < problem_item_count(&problem); i++) {
            double dims = (double)(problem.head_dim + problem.head_dim_v);
            assert_true(problem_flops(&problem, i) == 2.0 * dims * (double)pairs);
            pairs += check_item(&problem, i, seen);
            size_t tiles = problem_item(&problem, i).tile_count;
            longest = tiles > longest ? tiles : longest;
        }
        for (size_t row = 0; row < rows; row++) {
            assert_int_equal(seen[row], 1);
        }
        assert_int_equal(problem_tiles(&problem), longest);
        free(seen);
    }
}

static void flops_of_all_items_are_the_formula(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem problem = random_problem(&random);
        double expected = 2.0 * problem_visible_pairs(&problem) *
                          (double)(problem.head_dim + problem.head_dim_v) *
                          (double)problem.q_heads * (double)problem.batch;
        size_t items = problem_item_count(&problem);
        assert_true(problem_flops(&problem, items) == expected);
        assert_true(problem_flops(&problem, items + 5) == expected);
    }
}

/* 2^40 keys: sums are exact in double, and nothing wraps. */
static void counts_of_a_huge_sequence_are_exact(void **state)
{
    struct problem problem = cap16_problem(16);
    size_t keys = (size_t)1 << 40;
    (void)state;

    problem.q_heads = problem.kv_heads = 1;
    problem.seq_kv = keys;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
    assert_int_equal(problem_tiles(&problem), keys / 64);
    problem.causal = true;
    problem.window_left = 99;
    assert_true(problem_visible_pairs(&problem) == 128.0 * 100.0);
    assert_int_equal(problem_item(&problem, 3).tile_first, (keys - 32 - 99) / 64);
    assert_int_equal(problem_item(&problem, 3).tile_count, 3);
}

static void blocks_larger_than_the_problem_give_one_item_and_tile(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.block_m = SIZE_MAX;
    problem.block_n = SIZE_MAX;
    assert_int_equal(problem_item_count(&problem), 4);
    assert_int_equal(problem_item(&problem, 3).rows, 128);
    assert_int_equal(problem_tiles(&problem), 1);
}

static void tensors_have_their_elements(void **state)
{
    struct problem problem = {.batch = 2,
                              .q_heads = 6,
                              .kv_heads = 3,
                              .seq_q = 5,
                              .seq_kv = 7,
                              .head_dim = 11,
                              .head_dim_v = 13,
                              .block_m = 1,
                              .block_n = 1};
    (void)state;

    assert_int_equal(problem_q_elems(&problem), 2 * 6 * 5 * 11);
    assert_int_equal(problem_k_elems(&problem), 2 * 3 * 7 * 11);
    assert_int_equal(problem_v_elems(&problem), 2 * 3 * 7 * 13);
    assert_int_equal(problem_out_elems(&problem), 2 * 6 * 5 * 13);
    assert_int_equal(problem_lse_elems(&problem), 2 * 6 * 5);
}

static void validate_softcap_that_f32_can_not_hold_refused(void **state)
{
    static const double bad[] = {-1.0, -1e-300, 1e-60, 1e39, (double)INFINITY, (double)NAN};
    struct problem problem = cap16_problem(16);
    (void)state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        problem.softcap = bad[i];
        assert_refused(&problem, STATUS_BAD_INPUT, "softcap");
    }
    problem.softcap = 50.0;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
}

static void validate_mask_that_wraps_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.seq_q = problem.seq_kv = (size_t)1 << 31;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
    problem.mask = true;
    assert_refused(&problem, STATUS_RANGE, "mask");
    problem.seq_q = (size_t)1 << 29;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
}

static void validate_too_many_parts_refused(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.parts = 65536;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
    problem.parts = 65537;
    assert_refused(&problem, STATUS_BAD_INPUT, "parts");
    problem.parts = SIZE_MAX;
    assert_refused(&problem, STATUS_BAD_INPUT, "parts");
}

static void validate_parts_that_wrap_refused(void **state)
{
    static const size_t block_m[] = {SIZE_MAX, SIZE_MAX / 130 / 4 + 1, (size_t)1 << 52};
    struct problem problem = cap16_problem(16);
    (void)state;

    for (size_t i = 0; i < sizeof(block_m) / sizeof(block_m[0]); i++) {
        problem.block_m = block_m[i];
        problem.parts = 1;
        assert_int_equal(problem_validate(&problem), STATUS_OK);
        problem.parts = 4;
        assert_refused(&problem, STATUS_RANGE, "parts");
    }
}

/* 8 heads: halves from 1/2 on. 16: from 2^-0.5 on by 2^-0.5. 12: those of 8, then the 1st, 3rd, 5th
 * and 7th of 16. */
static void slopes_of_8_12_and_16_heads_are_the_papers(void **state)
{
    struct problem problem = cap16_problem(1);
    (void)state;

    problem.alibi = true;
    problem.q_heads = 8;
    for (size_t head = 0; head < 8; head++) {
        assert_true(problem_alibi_slope(&problem, head) == 1.0 / (double)(2 << head));
    }
    problem.q_heads = 12;
    assert_true(problem_alibi_slope(&problem, 0) == 0.5);
    assert_true(problem_alibi_slope(&problem, 7) == 0.00390625);
    assert_true(fabs(problem_alibi_slope(&problem, 8) - 0.7071067811865476) < 1e-15);
    assert_true(fabs(problem_alibi_slope(&problem, 9) - 0.3535533905932738) < 1e-15);
    assert_true(fabs(problem_alibi_slope(&problem, 11) - 0.0883883476483184) < 1e-15);
    problem.q_heads = 16;
    assert_true(fabs(problem_alibi_slope(&problem, 0) - 0.7071067811865476) < 1e-15);
    assert_true(problem_alibi_slope(&problem, 1) == 0.5);
    assert_true(problem_alibi_slope(&problem, 15) == 0.00390625);
    problem.q_heads = 1;
    assert_true(problem_alibi_slope(&problem, 0) == 0.00390625);
}

static void slopes_of_any_head_count_are_the_definition(void **state)
{
    struct problem problem = cap16_problem(1);
    (void)state;

    for (problem.q_heads = 1; problem.q_heads < 140; problem.q_heads++) {
        for (size_t head = 0; head < problem.q_heads; head++) {
            double expected = definition_of_slope(problem.q_heads, head);
            assert_true(fabs(problem_alibi_slope(&problem, head) / expected - 1.0) < 1e-13);
        }
    }
}

/* The parts of every block follow one another over what the block walks unsplit. */
static void parts_of_random_problems_partition_the_tiles(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem whole = random_problem(&random);
        struct problem split = whole;
        size_t most = 0, index = 0;
        split.parts = random_in(&random, 1, 12);
        assert_int_equal(problem_item_count(&split), problem_item_count(&whole) * split.parts);
        for (size_t block = 0; block < problem_item_count(&whole); block++) {
            struct problem_item expected = problem_item(&whole, block);
            size_t next = expected.tile_first;
            for (size_t part = 0; part < split.parts; part++) {
                struct problem_item item = problem_item(&split, index++);
                assert_int_equal(item.part, part);
                assert_int_equal(item.batch, expected.batch);
                assert_int_equal(item.kv_head, expected.kv_head);
                assert_int_equal(item.first_row, expected.first_row);
                assert_int_equal(item.rows, expected.rows);
                assert_int_equal(item.tile_first, next);
                next += item.tile_count;
                assert_int_equal(next - expected.tile_first,
                                 expected.tile_count * (part + 1) / split.parts);
                most = item.tile_count > most ? item.tile_count : most;
            }
            assert_int_equal(next, expected.tile_first + expected.tile_count);
        }
        assert_int_equal(problem_tiles(&split), most);
    }
}

static void parts_more_than_tiles_leave_some_empty(void **state)
{
    static const size_t expected[] = {0, 0, 1, 0, 1, 0, 1};
    struct problem problem = cap16_problem(3);
    (void)state;

    problem.parts = 7;
    assert_int_equal(problem_item_count(&problem), 16 * 7);
    assert_int_equal(problem_tiles(&problem), 1);
    for (size_t i = 0; i < 14; i++) {
        assert_int_equal(problem_item(&problem, i).tile_count, expected[i % 7]);
    }
    assert_int_equal(problem_item(&problem, 6).tile_first, 2);
}

static void parts_of_a_huge_sequence_do_not_wrap(void **state)
{
    struct problem problem = cap16_problem(1);
    size_t tiles = ((size_t)1 << 53) - 1;
    (void)state;

    problem.q_heads = problem.kv_heads = problem.seq_q = 1;
    problem.head_dim = problem.head_dim_v = 1;
    problem.block_n = 1;
    problem.seq_kv = tiles;
    problem.parts = 65536;
    assert_int_equal(problem_validate(&problem), STATUS_OK);
    assert_int_equal(problem_tiles(&problem), (size_t)1 << 37);
    assert_int_equal(problem_item(&problem, 65535).tile_first, tiles - ((size_t)1 << 37));
    assert_int_equal(problem_item(&problem, 65535).tile_count, (size_t)1 << 37);
    assert_int_equal(problem_item(&problem, 0).tile_count, ((size_t)1 << 37) - 1);
}

static void parts_zero_is_unsplit(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    assert_int_equal(problem_parts(&problem), 1);
    assert_int_equal(problem_parts_bytes(&problem), 0);
    problem.parts = 1;
    assert_int_equal(problem_parts(&problem), 1);
    assert_int_equal(problem_item_count(&problem), 16);
    assert_int_equal(problem_parts_bytes(&problem), 0);
}

/* cap16: m and l of 32 rows and acc of 32 x 128, f32; 40 columns are padded to 48. */
static void parts_bytes_are_those_of_all_states(void **state)
{
    struct problem problem = cap16_problem(16);
    (void)state;

    problem.parts = 3;
    assert_int_equal(problem_part_bytes(&problem), 128 + 128 + 16384);
    assert_int_equal(problem_parts_bytes(&problem), 16 * 3 * 16640);
    problem.head_dim_v = 40;
    assert_int_equal(problem_part_bytes(&problem), (2 * 32 + 32 * 48) * 4);
    problem.block_m = SIZE_MAX;
    assert_true(problem_part_bytes(&problem) == SIZE_MAX);
    assert_true(problem_parts_bytes(&problem) == SIZE_MAX);
}

static void flops_of_parts_count_whole_blocks_alone(void **state)
{
    struct random random = random_start();
    (void)state;

    for (size_t n = 0; n < RANDOM_PROBLEMS; n++) {
        struct problem whole = random_problem(&random);
        struct problem split = whole;
        split.parts = random_in(&random, 2, 9);
        for (size_t end = 0; end <= problem_item_count(&split) + 3; end++) {
            assert_true(problem_flops(&split, end) == problem_flops(&whole, end / split.parts));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_usual_problem_accepted),
        cmocka_unit_test(validate_no_keys_accepted),
        cmocka_unit_test(validate_zero_extent_refused_by_name),
        cmocka_unit_test(validate_uneven_heads_refused),
        cmocka_unit_test(validate_window_below_minus_one_refused),
        cmocka_unit_test(validate_infinite_scale_refused),
        cmocka_unit_test(validate_tensor_that_wraps_refused),
        cmocka_unit_test(scale_zero_is_inverse_root_of_head_dim),
        cmocka_unit_test(item_count_of_reference_preset_is_16),
        cmocka_unit_test(causal_overrides_right_window),
        cmocka_unit_test(visible_causal_is_bottom_right_aligned),
        cmocka_unit_test(visible_of_random_problems_is_the_definition),
        cmocka_unit_test(visible_pairs_of_random_problems_equal_a_count),
        cmocka_unit_test(items_of_random_problems_partition_the_rows),
        cmocka_unit_test(flops_of_all_items_are_the_formula),
        cmocka_unit_test(counts_of_a_huge_sequence_are_exact),
        cmocka_unit_test(blocks_larger_than_the_problem_give_one_item_and_tile),
        cmocka_unit_test(tensors_have_their_elements),
        cmocka_unit_test(validate_softcap_that_f32_can_not_hold_refused),
        cmocka_unit_test(validate_mask_that_wraps_refused),
        cmocka_unit_test(validate_too_many_parts_refused),
        cmocka_unit_test(validate_parts_that_wrap_refused),
        cmocka_unit_test(slopes_of_8_12_and_16_heads_are_the_papers),
        cmocka_unit_test(slopes_of_any_head_count_are_the_definition),
        cmocka_unit_test(parts_of_random_problems_partition_the_tiles),
        cmocka_unit_test(parts_more_than_tiles_leave_some_empty),
        cmocka_unit_test(parts_of_a_huge_sequence_do_not_wrap),
        cmocka_unit_test(parts_zero_is_unsplit),
        cmocka_unit_test(parts_bytes_are_those_of_all_states),
        cmocka_unit_test(flops_of_parts_count_whole_blocks_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
