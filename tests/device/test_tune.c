/* The search for the fastest tile, on a device: tiny problems and short limits. */
#include "bench/tune.h"
#include "tests/device/sweep_case.h"

static struct topology machine;

struct watch {
    size_t polls;
    size_t stop_at;        /* interrupted from this poll on; NEVER */
    const char *stop_when; /* or in this stage; NULL = never */
    char stage[16];        /* the last one */
    bool one_entered;      /* 1 x 1 was in the rounds */
};

static bool on_poll(void *user)
{
    struct watch *watch = user;

    return ++watch->polls > watch->stop_at ||
           (watch->stop_when != NULL && strcmp(watch->stage, watch->stop_when) == 0);
}

static void on_progress(void *user, const struct tune_progress *progress)
{
    struct watch *watch = user;

    assert_true(progress->done <= progress->count);
    assert_true(progress->share >= 0.0 && progress->share <= 1.0);
    snprintf(watch->stage, sizeof watch->stage, "%s", progress->stage);
    watch->one_entered = watch->one_entered || (strcmp(progress->stage, "rounds") == 0 &&
                                                progress->block_m == 1 && progress->block_n == 1);
}

/* One head, 16 queries, 64 keys, in a pool that holds 8 x 8 tiles without scopes. */
static struct tune_request request_for(size_t pool_bytes)
{
    struct tune_request request = {
        .cell = tiny(POLICY_NESTED, 8, pool_bytes),
        .policies = {true, true, true},
        .limit_s = 0.5,
        .seed = 1,
        .check_work = REFERENCE_DEFAULT_WORK,
    };
    return request;
}

static enum status tune_with(const struct tune_request *request, struct watch *watch,
                             struct tune_result *result)
{
    const struct tune_sink sink = {.user = watch, .progress = on_progress, .interrupted = on_poll};

    return tune_run(device, &machine, request, &sink, result);
}

static void tune_fine(const struct tune_request *request, struct tune_result *result)
{
    struct watch watch = {.stop_at = NEVER};

    DEVICE_OK(tune_with(request, &watch, result));
}

static void winners_are_verified_and_fit(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    tune_fine(&request, &result);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        const struct tune_winner *winner = &result.winners[policy];
        assert_true(winner->found);
        assert_true(winner->result.ok);
        assert_true(winner->tile.fits[policy]);
        assert_true(winner->tile.peak_bytes[policy] <= request.cell.pool_bytes);
        assert_int_equal(winner->result.check.touch.peak_bytes, winner->tile.peak_bytes[policy]);
        assert_true(winner->gflops > 0.0 && winner->time_ns > 0.0);
    }
    assert_int_equal(result.wrong, 0);
    tune_result_fini(&result);
}

static void winners_are_compared_in_pairs_with_a_control(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    tune_fine(&request, &result);
    assert_int_equal(result.ratio_count, TUNE_MAX_RATIOS);
    for (size_t i = 0; i < result.ratio_count; i++) {
        const struct pairs_ratio *ratio = &result.ratios[i].ratio;
        assert_true(ratio->lower <= ratio->ratio && ratio->ratio <= ratio->upper);
        assert_int_equal(ratio->blocks, 5);
        assert_int_equal(ratio->pairs, 20);
    }
    assert_true(result.noise_floor >= 0.0);
    tune_result_fini(&result);
}

/* Each is the fastest of what was timed: the rounds come after the looks, and correct them. */
static void winner_is_the_fastest_timed_tile(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    tune_fine(&request, &result);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        const struct tune_tile *winner = &result.winners[policy].tile;
        for (size_t i = 0; i < result.space.count; i++) {
            const struct tune_tile *tile = &result.space.tiles[i];
            assert_false(tile->fits[policy] && tile->gflops > winner->gflops);
        }
    }
    tune_result_fini(&result);
}

/* The slowest of all, and no time: what is promising would be looked at before it, and would be
 * all. */
static void earlier_winner_takes_part_however_short_the_limit(void **state)
{
    (void)state;
    struct tune_result result;
    struct watch watch = {.stop_at = NEVER};
    struct tune_request request = request_for(pool_for(8));
    request.limit_s = 1e-6;
    request.known[POLICY_NESTED] = (struct tune_block){1, 1};
    DEVICE_OK(tune_with(&request, &watch, &result));
    assert_true(watch.one_entered);
    assert_true(result.space.tiles[tune_space_find(&result.space, 1, 1)].gflops > 0.0);
    assert_true(result.winners[POLICY_NESTED].found);
    tune_result_fini(&result);
}

static void earlier_winner_that_is_no_tile_is_passed_over(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = request_for(pool_for(8));
    request.limit_s = 1e-6;
    request.known[POLICY_NESTED] = (struct tune_block){100000, 7};
    tune_fine(&request, &result);
    assert_true(result.winners[POLICY_NESTED].found);
    tune_result_fini(&result);
}

/* A single tile fits: 1 x 1. */
static void search_of_one_tile_is_complete(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = request_for(0);
    request.cell.problem.seq_q = 1;
    request.cell.problem.seq_kv = 1;
    request.cell.pool_bytes = (size_t)1 << 20;
    tune_fine(&request, &result);
    assert_int_equal(result.space.count, 1);
    assert_true(result.complete);
    assert_int_equal(result.winners[POLICY_UNSCOPED].tile.block_m, 1);
    tune_result_fini(&result);
}

static void policy_that_fits_nothing_has_no_winner(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = request_for(0);
    struct tune_space space;
    const struct tune_space_request all = {.cell = tiny(POLICY_NESTED, 8, (size_t)1 << 20),
                                           .policies = {true, true, true}};
    DEVICE_OK(tune_space_init(&all, &space));
    request.cell.pool_bytes = SIZE_MAX;
    for (size_t i = 0; i < space.count; i++) { /* a byte too few for unscoped's smallest */
        request.cell.pool_bytes =
            size_min(request.cell.pool_bytes, space.tiles[i].peak_bytes[POLICY_UNSCOPED] - 1);
    }
    tune_space_fini(&space);
    tune_fine(&request, &result);
    assert_false(result.winners[POLICY_UNSCOPED].found);
    assert_true(result.winners[POLICY_NESTED].found);
    assert_int_equal(result.ratio_count, 1);
    tune_result_fini(&result);
}

static void pool_that_fits_nothing_is_no_failure(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(256);
    tune_fine(&request, &result);
    assert_int_equal(result.space.count, 0);
    assert_false(result.winners[POLICY_NESTED].found);
    assert_int_equal(result.ratio_count, 0);
    tune_result_fini(&result);
}

static void wrong_tile_is_told_and_the_next_one_wins(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    spoiled.check = SPOIL_VERDICT;
    spoiled.at = 0; /* nested's first */
    tune_fine(&request, &result);
    assert_int_equal(result.wrong, 1);
    assert_true(result.winners[POLICY_NESTED].found);
    size_t wrong = 0;
    for (size_t i = 0; i < result.space.count; i++) {
        const struct tune_tile *tile = &result.space.tiles[i];
        wrong += tile->wrong ? 1 : 0;
        for (size_t policy = 0; tile->wrong && policy < POLICY_COUNT; policy++) {
            const struct tune_tile *winner = &result.winners[policy].tile;
            assert_false(winner->block_m == tile->block_m && winner->block_n == tile->block_n);
        }
    }
    assert_int_equal(wrong, 1);
    tune_result_fini(&result);
}

static void other_footprint_is_a_wrong_tile(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    spoiled.check = SPOIL_PEAK;
    spoiled.at = 0;
    tune_fine(&request, &result);
    assert_int_equal(result.wrong, 1);
    tune_result_fini(&result);
}

static void interrupted_look_keeps_what_was_timed(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    struct watch watch = {.stop_at = 12};
    assert_int_equal(tune_with(&request, &watch, &result), STATUS_INTERRUPTED);
    assert_string_equal(watch.stage, "look");
    assert_true(tune_space_timed(&result.space) >= 1);
    assert_true(tune_space_best(&result.space, POLICY_NESTED) < result.space.count);
    assert_false(result.winners[POLICY_NESTED].found);
    assert_false(result.complete);
    tune_result_fini(&result);
}

static void interrupted_pairs_keep_the_verified_winners(void **state)
{
    (void)state;
    struct tune_result result;
    const struct tune_request request = request_for(pool_for(8));
    struct watch watch = {.stop_at = NEVER, .stop_when = "pairs"};
    assert_int_equal(tune_with(&request, &watch, &result), STATUS_INTERRUPTED);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        assert_true(result.winners[policy].found);
        assert_true(isnan(result.winners[policy].gflops));
    }
    assert_int_equal(result.ratio_count, 0);
    tune_result_fini(&result);
}

static void split_causal_problem_with_a_sink_is_tuned(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = request_for((size_t)1 << 20);
    request.cell.problem.parts = 3;
    request.cell.problem.causal = true;
    request.cell.problem.sinks = true;
    request.policies[POLICY_UNSCOPED] = false;
    tune_fine(&request, &result);
    assert_true(result.winners[POLICY_NESTED].found);
    assert_false(result.winners[POLICY_UNSCOPED].found);
    assert_int_equal(result.wrong, 0);
    tune_result_fini(&result);
}

/* A pool of 1 MiB of local memory, of which the device has `local_bytes`. */
static struct tune_request local_request(size_t local_bytes)
{
    struct tune_request request = request_for((size_t)1 << 20);

    request.cell.arena = PE_ARENAS_LOCAL;
    request.cell.local_bytes = local_bytes;
    return request;
}

static void assert_local_winners(const struct tune_result *result, size_t pool_bytes)
{
    assert_int_equal(result->wrong, 0);
    assert_int_equal(result->ratio_count, TUNE_MAX_RATIOS);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        const struct tune_winner *winner = &result->winners[policy];
        assert_true(winner->found && winner->result.ok);
        assert_true(winner->tile.peak_bytes[policy] <= pool_bytes);
        assert_int_equal(winner->result.check.touch.peak_bytes, winner->tile.peak_bytes[policy]);
    }
    for (size_t i = 0; i < result->space.count; i++) {
        assert_true(result->space.tiles[i].peak_bytes[POLICY_NESTED] <= pool_bytes);
    }
}

static void local_arenas_are_tuned_in_what_local_memory_holds(void **state)
{
    static const enum kernel_style styles[] = {KERNEL_SIMD, KERNEL_SIMT};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tune_result result;
        struct tune_request request =
            local_request(pool_for(8) + (size_t)PE_ARENAS_LOCAL_GUARD_BYTES);
        request.cell.style = styles[i];
        spoiled.launches = 0;
        spoiled.local_launches = 0;
        tune_fine(&request, &result);
        assert_local_winners(&result, pool_for(8));
        assert_true(spoiled.launches > 0);
        assert_int_equal(spoiled.local_launches, spoiled.launches);
        tune_result_fini(&result);
    }
}

static void local_arenas_that_grow_are_tuned(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = local_request(pool_for(8) + (size_t)PE_ARENAS_LOCAL_GUARD_BYTES);
    request.cell.pool_grow = true;
    tune_fine(&request, &result);
    assert_local_winners(&result, pool_for(8));
    tune_result_fini(&result);
}

/* Known once a kernel is built: tiles that were not looked at are still planned with all of it. */
static void local_memory_that_kernels_take_is_left_to_them(void **state)
{
    (void)state;
    struct tune_result result;
    const size_t local_bytes = device->info.local_bytes;
    const struct tune_request request = local_request(local_bytes);
    spoiled.own_local_bytes = local_bytes - PE_ARENAS_LOCAL_GUARD_BYTES - pool_for(8);
    tune_fine(&request, &result);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        assert_true(result.winners[policy].found && result.winners[policy].result.ok);
        assert_true(result.winners[policy].tile.peak_bytes[policy] <= pool_for(8));
    }
    tune_result_fini(&result);
}

static void kernels_that_take_all_local_memory_are_no_failure(void **state)
{
    (void)state;
    struct tune_result result;
    struct tune_request request = local_request(device->info.local_bytes);
    request.cell.problem.seq_q = 2;
    request.cell.problem.seq_kv = 2;
    request.limit_s = 600.0; /* it ends when all four are looked at */
    spoiled.own_local_bytes = device->info.local_bytes;
    tune_fine(&request, &result);
    assert_int_equal(result.space.count, 0);
    assert_false(result.winners[POLICY_NESTED].found);
    tune_result_fini(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP_TEST(winners_are_verified_and_fit),
        SWEEP_TEST(winners_are_compared_in_pairs_with_a_control),
        SWEEP_TEST(winner_is_the_fastest_timed_tile),
        SWEEP_TEST(earlier_winner_takes_part_however_short_the_limit),
        SWEEP_TEST(earlier_winner_that_is_no_tile_is_passed_over),
        SWEEP_TEST(search_of_one_tile_is_complete),
        SWEEP_TEST(policy_that_fits_nothing_has_no_winner),
        SWEEP_TEST(pool_that_fits_nothing_is_no_failure),
        SWEEP_TEST(wrong_tile_is_told_and_the_next_one_wins),
        SWEEP_TEST(other_footprint_is_a_wrong_tile),
        SWEEP_TEST(interrupted_look_keeps_what_was_timed),
        SWEEP_TEST(interrupted_pairs_keep_the_verified_winners),
        SWEEP_TEST(split_causal_problem_with_a_sink_is_tuned),
        SWEEP_TEST(local_arenas_are_tuned_in_what_local_memory_holds),
        SWEEP_TEST(local_arenas_that_grow_are_tuned),
        SWEEP_TEST(local_memory_that_kernels_take_is_left_to_them),
        SWEEP_TEST(kernels_that_take_all_local_memory_are_no_failure),
    };
    return cmocka_run_group_tests_name("device.tune", tests, open_device, close_device);
}
