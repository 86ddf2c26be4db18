/* The tiles of a search: the lattice, which of them fit, and the order in which they come. */
#include "bench/tune_search.h"
#include "tests/cmocka.h"

#include <math.h>
#include <string.h>

/* 128 queries of 4 heads, 1024 keys, head_dim 128: cap16 at S = 16. */
static struct tune_space_request request_for(size_t pool_bytes)
{
    return (struct tune_space_request){
        .cell = {.preset = "cap16",
                 .problem = {.batch = 1,
                             .q_heads = 4,
                             .kv_heads = 4,
                             .seq_q = 128,
                             .seq_kv = 1024,
                             .head_dim = 128,
                             .head_dim_v = 128,
                             .block_m = 32,
                             .block_n = 64,
                             .dtype = DTYPE_F16,
                             .window_left = -1,
                             .window_right = -1},
                 .pes = 2,
                 .pool_bytes = pool_bytes,
                 .alignment = 128},
        .policies = {true, true, true},
    };
}

static struct tune_space space_for(const struct tune_space_request *request)
{
    struct tune_space space;

    if (tune_space_init(request, &space) != STATUS_OK) {
        fail_msg("%s: %s", status_last()->what, status_last()->why);
    }
    return space;
}

static const struct tune_tile *find(const struct tune_space *space, size_t block_m, size_t block_n)
{
    for (size_t i = 0; i < space->count; i++) {
        if (space->tiles[i].block_m == block_m && space->tiles[i].block_n == block_n) {
            return &space->tiles[i];
        }
    }
    return NULL;
}

static void expect_sides(size_t extent, const size_t *expected, size_t count)
{
    size_t sides[TUNE_MAX_SIDES];

    assert_int_equal(tune_sides(extent, sides), count);
    assert_memory_equal(sides, expected, count * sizeof *expected);
}

static void sides_are_powers_of_two_halves_between_and_the_extent(void **state)
{
    static const size_t of_1[] = {1};
    static const size_t of_4[] = {1, 2, 3, 4};
    static const size_t of_197[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 197};

    (void)state;
    expect_sides(1, of_1, 1);
    expect_sides(4, of_4, 4);
    expect_sides(197, of_197, 16);
}

static void sides_of_a_large_extent_end_at_the_largest_block(void **state)
{
    size_t sides[TUNE_MAX_SIDES];

    (void)state;
    const size_t count = tune_sides(100000, sides);
    assert_int_equal(sides[count - 1], TUNE_MAX_BLOCK);
    assert_int_equal(sides[count - 2], 384);
}

/* The tile's plan by cell_plan, which a sweep goes by. */
static bool cell_fits(const struct tune_space_request *request, size_t block_m, size_t block_n,
                      enum policy policy)
{
    const struct tune_tile tile = {.block_m = block_m, .block_n = block_n};
    struct cell cell = tune_cell(&request->cell, &tile, policy);
    struct cell_result result;

    assert_int_equal(
        cell_plan(&cell, request->max_alloc_bytes, request->base_align_bytes, NULL, &result),
        STATUS_OK);
    return !result.overflow;
}

static void assert_exact(const struct tune_space_request *request)
{
    struct tune_space space = space_for(request);
    size_t rows[TUNE_MAX_SIDES];
    size_t keys[TUNE_MAX_SIDES];
    const size_t row_count = tune_sides(128, rows);
    const size_t key_count = tune_sides(1024, keys);

    for (size_t i = 0; i < row_count * key_count; i++) {
        const size_t block_m = rows[i / key_count];
        const size_t block_n = keys[i % key_count];
        const struct tune_tile *tile = find(&space, block_m, block_n);
        for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
            const bool fits = cell_fits(request, block_m, block_n, (enum policy)policy);
            assert_int_equal(tile != NULL && tile->fits[policy], fits);
        }
    }
    tune_space_fini(&space);
}

static void space_has_every_tile_that_fits_and_no_other(void **state)
{
    (void)state;
    for (size_t pool_bytes = 4096; pool_bytes <= (size_t)1 << 20; pool_bytes *= 4) {
        struct tune_space_request request = request_for(pool_bytes);
        assert_exact(&request);
    }
}

/* Local arenas in 30,000 bytes: as a sweep plans them, whatever the pool that is asked for. */
static void space_of_local_arenas_is_what_local_memory_holds(void **state)
{
    static const struct {
        size_t pool_bytes;
        bool pool_grow;
    } pools[] = {{8192, false}, {(size_t)1 << 20, false}, {0, true}};

    (void)state;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        struct tune_space_request request = request_for(pools[i].pool_bytes);
        request.cell.pool_grow = pools[i].pool_grow;
        request.cell.arena = PE_ARENAS_LOCAL;
        request.cell.local_bytes = 30000;
        request.max_alloc_bytes = (size_t)1 << 30;
        request.base_align_bytes = 128;
        assert_exact(&request);
        struct tune_space space = space_for(&request);
        assert_true(tune_space_fitting(&space, POLICY_NESTED) > 0);
        for (size_t j = 0; j < space.count; j++) {
            assert_true(space.tiles[j].peak_bytes[POLICY_NESTED] <= 30000 - 1024);
        }
        tune_space_fini(&space);
    }
}

/* The buffer of all arenas is what the device's largest allocation bounds; local ones have none. */
static void largest_allocation_does_not_bound_local_arenas(void **state)
{
    struct tune_space_request request = request_for(16384);

    (void)state;
    request.cell.arena = PE_ARENAS_LOCAL;
    request.cell.local_bytes = 32768;
    request.cell.pes = 1000;
    request.max_alloc_bytes = (size_t)1 << 20;
    request.base_align_bytes = 128;
    struct tune_space space = space_for(&request);
    assert_true(tune_space_fitting(&space, POLICY_NESTED) > 0);
    tune_space_fini(&space);
}

static void space_leaves_out_what_the_device_cannot_hold(void **state)
{
    struct tune_space_request request = request_for(0);

    (void)state;
    request.cell.pool_grow = true;
    request.max_alloc_bytes = 500000;
    request.base_align_bytes = 128;
    struct tune_space space = space_for(&request);
    assert_true(space.count > 0);
    for (size_t i = 0; i < space.count; i++) {
        for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
            assert_true(!space.tiles[i].fits[policy] ||
                        2 * (space.tiles[i].peak_bytes[policy] + PE_ARENAS_GUARD_BYTES) <= 500000);
        }
    }
    tune_space_fini(&space);
}

static void peaks_of_the_reference_tile_are_the_known_ones(void **state)
{
    const struct tune_space_request request = request_for((size_t)1 << 20);
    struct tune_space space = space_for(&request);
    const struct tune_tile *tile = find(&space, 32, 64);

    (void)state;
    assert_non_null(tile);
    assert_int_equal(tile->tiles, 16);
    assert_int_equal(tile->peak_bytes[POLICY_UNSCOPED], 1014016);
    assert_int_equal(tile->peak_bytes[POLICY_SCOPED], 86656);
    assert_int_equal(tile->peak_bytes[POLICY_NESTED], 62080);
    tune_space_fini(&space);
}

static void space_of_one_policy_knows_no_other(void **state)
{
    struct tune_space_request request = request_for((size_t)1 << 20);

    (void)state;
    request.policies[POLICY_SCOPED] = false;
    request.policies[POLICY_NESTED] = false;
    struct tune_space space = space_for(&request);
    assert_int_equal(tune_space_fitting(&space, POLICY_NESTED), 0);
    assert_int_equal(tune_space_fitting(&space, POLICY_UNSCOPED), space.count);
    assert_null(find(&space, 128, 512)); /* 1.4 MB without scopes */
    tune_space_fini(&space);
}

static void unscoped_has_no_tile_where_nothing_fits(void **state)
{
    struct tune_space_request request = request_for((size_t)1 << 20);

    (void)state;
    request.cell.problem.seq_kv = 65536;
    struct tune_space space = space_for(&request);
    assert_int_equal(tune_space_fitting(&space, POLICY_UNSCOPED), 0);
    assert_true(tune_space_fitting(&space, POLICY_SCOPED) > 0);
    tune_space_fini(&space);
}

static void pool_of_a_few_bytes_has_an_empty_space(void **state)
{
    const struct tune_space_request request = request_for(256);
    struct tune_space space = space_for(&request);
    size_t index = 0;

    (void)state;
    assert_int_equal(space.count, 0);
    assert_false(tune_space_next(&space, POLICY_NESTED, TUNE_FASTEST, &index));
    tune_space_fini(&space);
}

static void problem_that_is_refused_leaves_an_empty_space(void **state)
{
    struct tune_space_request request = request_for((size_t)1 << 20);
    struct tune_space space;

    (void)state;
    request.cell.problem.kv_heads = 3;
    assert_int_equal(tune_space_init(&request, &space), STATUS_BAD_INPUT);
    assert_null(space.tiles);
    status_clear();
}

/* Five tiles by hand: bytes and speeds that are easy to see.
 *
 *     GFLOP/s   a 10 at 100, b 20 at 200, c 15 at 300, d 30 at 400, e not timed at 50
 */
static struct tune_space by_hand(struct tune_tile tiles[5])
{
    static const double gflops[5] = {10.0, 20.0, 15.0, 30.0, (double)NAN};
    static const size_t bytes[5] = {100, 200, 300, 400, 50};

    for (size_t i = 0; i < 5; i++) {
        tiles[i] = (struct tune_tile){.block_m = (size_t)1 << i,
                                      .block_n = 16,
                                      .fits = {false, true, true},
                                      .peak_bytes = {0, bytes[i], bytes[i]},
                                      .prior = 1.0,
                                      .gflops = gflops[i]};
    }
    return (struct tune_space){.tiles = tiles, .count = 5};
}

static void limit_takes_the_policies_that_need_more(void **state)
{
    struct tune_tile tiles[5];
    struct tune_space space = by_hand(tiles);

    (void)state;
    tiles[1].peak_bytes[POLICY_SCOPED] = 201;
    assert_true(tune_space_limit(&space, 1, 200));
    assert_false(tiles[1].fits[POLICY_SCOPED]);
    assert_true(tiles[1].fits[POLICY_NESTED]);
    assert_int_equal(space.count, 5);
}

static void limit_below_every_peak_of_a_tile_drops_it(void **state)
{
    struct tune_tile tiles[5];
    struct tune_space space = by_hand(tiles);

    (void)state;
    assert_false(tune_space_limit(&space, 1, 199));
    assert_int_equal(space.count, 4);
    assert_int_equal(space.tiles[1].peak_bytes[POLICY_NESTED], 300);
    assert_int_equal(space.tiles[3].peak_bytes[POLICY_NESTED], 50);
}

static void front_is_what_nothing_smaller_outruns(void **state)
{
    static const bool expected[5] = {true, true, false, true, false};
    struct tune_tile tiles[5];
    const struct tune_space space = by_hand(tiles);

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tune_space_on_front(&space, POLICY_NESTED, i), expected[i]);
        assert_false(tune_space_on_front(&space, POLICY_UNSCOPED, i));
    }
}

static void of_equal_bytes_the_faster_is_on_the_front(void **state)
{
    struct tune_tile tiles[5];
    const struct tune_space space = by_hand(tiles);

    (void)state;
    tiles[2].peak_bytes[POLICY_NESTED] = 200;
    assert_true(tune_space_on_front(&space, POLICY_NESTED, 1));
    assert_false(tune_space_on_front(&space, POLICY_NESTED, 2));
}

static void best_is_the_fastest_that_is_right_and_fits(void **state)
{
    struct tune_tile tiles[5];
    const struct tune_space space = by_hand(tiles);

    (void)state;
    assert_int_equal(tune_space_best(&space, POLICY_SCOPED), 3);
    tiles[3].wrong = true;
    assert_int_equal(tune_space_best(&space, POLICY_SCOPED), 1);
    tiles[1].fits[POLICY_SCOPED] = false;
    assert_int_equal(tune_space_best(&space, POLICY_SCOPED), 2);
    assert_int_equal(tune_space_best(&space, POLICY_UNSCOPED), space.count);
}

static void next_goes_through_all_that_fit_once(void **state)
{
    const struct tune_space_request request = request_for((size_t)1 << 18);
    struct tune_space space = space_for(&request);
    const size_t fitting = tune_space_fitting(&space, POLICY_SCOPED);
    size_t count = 0;
    size_t index = 0;

    (void)state;
    for (enum tune_rule rule = TUNE_FASTEST; tune_space_next(&space, POLICY_SCOPED, rule, &index);
         count++) {
        assert_true(isnan(space.tiles[index].gflops));
        assert_true(space.tiles[index].fits[POLICY_SCOPED]);
        space.tiles[index].gflops = 1.0 + (double)(count % 7);
        rule = count % 2 == 0 ? TUNE_FRONT : TUNE_FASTEST;
    }
    assert_int_equal(count, fitting);
    tune_space_fini(&space);
}

static void next_leaves_out_what_failed(void **state)
{
    struct tune_tile tiles[5];
    const struct tune_space space = by_hand(tiles);
    size_t index = 0;

    (void)state;
    assert_true(tune_space_next(&space, POLICY_NESTED, TUNE_FASTEST, &index));
    assert_int_equal(index, 4);
    tiles[4].failed = true;
    assert_false(tune_space_next(&space, POLICY_NESTED, TUNE_FASTEST, &index));
}

/* A device on which tiles of 32 x 64 and its neighbours are the fastest: few looks find them. */
static double made_up_speed(const struct tune_tile *tile)
{
    const double rows = log2((double)tile->block_m / 32.0);
    const double keys = log2((double)tile->block_n / 64.0);

    return 100.0 / (1.0 + 0.3 * rows * rows + 0.2 * keys * keys);
}

static void next_finds_a_maximum_with_few_looks(void **state)
{
    const struct tune_space_request request = request_for((size_t)1 << 20);
    struct tune_space space = space_for(&request);
    size_t index = 0;

    (void)state;
    assert_true(space.count > 200);
    for (size_t look = 0; look < 24; look++) {
        assert_true(tune_space_next(&space, POLICY_NESTED, TUNE_FASTEST, &index));
        space.tiles[index].gflops = made_up_speed(&space.tiles[index]);
    }
    index = tune_space_best(&space, POLICY_NESTED);
    assert_true(space.tiles[index].gflops > 90.0);
    tune_space_fini(&space);
}

/* A PE has 100 bytes at least: what is faster there counts, not what is faster with more. */
static void front_rule_prefers_the_gain_in_bytes(void **state)
{
    struct tune_tile tiles[5];
    const struct tune_space space = by_hand(tiles);
    size_t index = 0;

    (void)state;
    tiles[0].gflops = (double)NAN; /* 100 bytes, near the slow e of 50 */
    tiles[4].gflops = 1.0;
    tiles[2].gflops = (double)NAN; /* 300 bytes, dominated by b of 200 */
    assert_true(tune_space_next(&space, POLICY_NESTED, TUNE_FRONT, &index));
    assert_int_equal(index, 0);
}

/* 16 items of 32 rows: 4 a head, each of 32 x 1024 pairs. */
static void items_reach_the_flops_in_whole_rounds_of_the_pes(void **state)
{
    const struct problem problem = request_for(0).cell.problem;
    const double item = 2.0 * 32.0 * 1024.0 * 256.0;

    (void)state;
    assert_int_equal(problem_item_count(&problem), 16);
    assert_int_equal(tune_items(&problem, 2, 0.0), 2);
    assert_int_equal(tune_items(&problem, 2, 2.0 * item), 2);
    assert_int_equal(tune_items(&problem, 2, 2.5 * item), 4);
    assert_int_equal(tune_items(&problem, 3, 4.0 * item), 6);
    assert_int_equal(tune_items(&problem, 3, 15.5 * item), 16);
    assert_int_equal(tune_items(&problem, 100, 0.0), 16);
    assert_int_equal(tune_items(&problem, 2, 1e30), 16);
}

static void items_of_a_split_problem_are_all(void **state)
{
    struct problem problem = request_for(0).cell.problem;

    (void)state;
    problem.parts = 4;
    assert_int_equal(tune_items(&problem, 2, 0.0), 64);
}

/* Tile 0 has won under unscoped, tile 1 under the others, of which scoped takes `ratio` of the time
 * of unscoped, within 1 %. */
static struct tune_result result_of_pairs(struct tune_tile tiles[2], double ratio)
{
    struct tune_result result = {.space = {.tiles = tiles, .count = 2}, .noise_floor = 0.02};

    tiles[0] = (struct tune_tile){.block_m = 16, .block_n = 32, .gflops = 90.0};
    tiles[1] = (struct tune_tile){.block_m = 32, .block_n = 64, .gflops = 100.0};
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        result.winners[policy] =
            (struct tune_winner){.found = true, .tile = tiles[policy == POLICY_UNSCOPED ? 0 : 1]};
    }
    result.ratios[0] = (struct tune_ratio){
        .numerator = POLICY_SCOPED,
        .denominator = POLICY_UNSCOPED,
        .ratio = {.ratio = ratio, .lower = 0.99 * ratio, .upper = 1.01 * ratio}};
    result.ratio_count = 1;
    return result;
}

static void winner_that_loses_its_pairs_is_to_be_found_anew(void **state)
{
    struct tune_tile tiles[2];
    struct tune_result result = result_of_pairs(tiles, 1.2);

    (void)state;
    assert_true(tune_demote(&result));
    assert_true(fabs(tiles[1].gflops - 75.0) < 1e-9);
    assert_true(result.winners[POLICY_UNSCOPED].found);
    assert_false(result.winners[POLICY_SCOPED].found);
    assert_false(result.winners[POLICY_NESTED].found);
    assert_int_equal(result.ratio_count, 0);
}

static void winner_within_the_noise_of_its_pairs_stays(void **state)
{
    struct tune_tile tiles[2];
    struct tune_result result = result_of_pairs(tiles, 1.025);

    (void)state;
    assert_false(tune_demote(&result));
    assert_true(result.winners[POLICY_SCOPED].found);
    assert_int_equal(result.ratio_count, 1);
    result.winners[POLICY_SCOPED].tile = tiles[0]; /* the same one under both: no better is known */
    result.ratios[0].ratio.lower = 1.2;
    assert_false(tune_demote(&result));
}

/* 1 MiB a PE of 2, guards beside them, in an allocation of 1 MiB at most. */
static void arenas_that_the_device_cannot_hold_are_refused(void **state)
{
    struct tune_space_request request = request_for((size_t)1 << 20);

    (void)state;
    request.max_alloc_bytes = (size_t)1 << 20;
    request.base_align_bytes = 128;
    struct tune_space space = space_for(&request);
    assert_int_equal(space.count, 0);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        assert_true(space.refused[policy].request_bytes >= (size_t)2 << 20);
        assert_int_equal(space.refused[policy].limit_bytes, (size_t)1 << 20);
    }
    tune_space_fini(&space);
}

static void pool_that_is_too_small_is_not_the_device_s(void **state)
{
    struct tune_space_request request = request_for(256);

    (void)state;
    request.max_alloc_bytes = (size_t)1 << 20;
    request.base_align_bytes = 128;
    struct tune_space space = space_for(&request);
    assert_int_equal(space.count, 0);
    assert_int_equal(space.refused[POLICY_NESTED].request_bytes, 0);
    tune_space_fini(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_powers_of_two_halves_between_and_the_extent),
        cmocka_unit_test(sides_of_a_large_extent_end_at_the_largest_block),
        cmocka_unit_test(space_has_every_tile_that_fits_and_no_other),
        cmocka_unit_test(space_of_local_arenas_is_what_local_memory_holds),
        cmocka_unit_test(largest_allocation_does_not_bound_local_arenas),
        cmocka_unit_test(space_leaves_out_what_the_device_cannot_hold),
        cmocka_unit_test(peaks_of_the_reference_tile_are_the_known_ones),
        cmocka_unit_test(space_of_one_policy_knows_no_other),
        cmocka_unit_test(unscoped_has_no_tile_where_nothing_fits),
        cmocka_unit_test(pool_of_a_few_bytes_has_an_empty_space),
        cmocka_unit_test(problem_that_is_refused_leaves_an_empty_space),
        cmocka_unit_test(limit_takes_the_policies_that_need_more),
        cmocka_unit_test(limit_below_every_peak_of_a_tile_drops_it),
        cmocka_unit_test(front_is_what_nothing_smaller_outruns),
        cmocka_unit_test(of_equal_bytes_the_faster_is_on_the_front),
        cmocka_unit_test(best_is_the_fastest_that_is_right_and_fits),
        cmocka_unit_test(next_goes_through_all_that_fit_once),
        cmocka_unit_test(next_leaves_out_what_failed),
        cmocka_unit_test(next_finds_a_maximum_with_few_looks),
        cmocka_unit_test(front_rule_prefers_the_gain_in_bytes),
        cmocka_unit_test(items_reach_the_flops_in_whole_rounds_of_the_pes),
        cmocka_unit_test(items_of_a_split_problem_are_all),
        cmocka_unit_test(winner_that_loses_its_pairs_is_to_be_found_anew),
        cmocka_unit_test(winner_within_the_noise_of_its_pairs_stays),
        cmocka_unit_test(arenas_that_the_device_cannot_hold_are_refused),
        cmocka_unit_test(pool_that_is_too_small_is_not_the_device_s),
    };
    return cmocka_run_group_tests_name("unit.tune_space", tests, NULL, NULL);
}
