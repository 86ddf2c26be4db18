/* Comparisons that are interleaved: the rounds among the best tiles, and the pairs of the winners.
 */
#include "bench/tune_search.h"

#include "host/base/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* When the rounds end, a share of the time limit; how long a launch and a sample of theirs are. */
#define ROUNDS_UNTIL 0.9
#define ROUND_LAUNCH_S 0.15
#define ROUND_SAMPLE_S 0.005

/* Which tiles enter: the best of each policy, none slower than this share of its best. */
#define ENTER_ABOVE 0.8
enum { ENTRANTS_OF_POLICY = 4, MAX_ROUNDS = 6, LEAST_ROUNDS = 2, HALVE_EVERY = 2 };

/* Just below. */
#define BELOW 0.9999

/* The share of the device's memory that the entrants together may take. */
enum { MEMORY_SHARE = 4 };

/* Pairs: their share of the time limit, and the bounds of a sample, s. */
#define PAIRS_SHARE 0.2
#define PAIR_LEAST_S 0.002
#define PAIR_MOST_S 0.2

/* A ratio closer to 1 than this is none, however small the noise. */
#define PAIR_LEAST_MARGIN 0.01

/* The guard leaves room for this many shifts, as in a sweep's pairs. */
enum { SHIFTS = PE_ARENAS_GUARD_BYTES / PE_ARENAS_LINE_BYTES - 1, SHIFT_STEP = 13 };

double tune_rounds_s(const struct tune_search *search, double launch_s)
{
    const double round_s = fmax(fmin(launch_s, ROUND_LAUNCH_S), ROUND_SAMPLE_S);
    const double pair_s = fmin(fmax(launch_s, PAIR_LEAST_S), PAIR_MOST_S);
    const double pairs_s = pair_s * TUNE_PAIR_BLOCKS * (TUNE_PAIR_ROUNDS + 1);

    return ENTRANTS_OF_POLICY * MAX_ROUNDS * round_s +
           fmin(pairs_s, PAIRS_SHARE / POLICY_COUNT * search->request->limit_s);
}

/* Rounds ------------------------------------------------------------------------------------ */

struct rounds {
    struct tune_search *search;
    struct tune_entrant entrants[TUNE_MAX_ENTRANTS]; /* the first is what others are compared to */
    double samples[TUNE_MAX_ENTRANTS][MAX_ROUNDS];   /* nanoseconds a FLOP */
    bool out[TUNE_MAX_ENTRANTS];                     /* dropped */
    size_t count;
    size_t round;
};

/* Tiles that a policy would send, best first; returns how many. */
static size_t best_tiles(const struct tune_space *space, enum policy policy,
                         size_t tiles[ENTRANTS_OF_POLICY])
{
    const size_t best = tune_space_best(space, policy);
    size_t count = 0;

    for (size_t i = 0; i < space->count && best < space->count; i++) {
        const struct tune_tile *tile = &space->tiles[i];
        if (!tile->fits[policy] || tile->wrong ||
            !(tile->gflops >= ENTER_ABOVE * space->tiles[best].gflops)) {
            continue;
        }
        size_t at = count < ENTRANTS_OF_POLICY ? count++ : ENTRANTS_OF_POLICY;
        while (at > 0 && tile->gflops > space->tiles[tiles[at - 1]].gflops) {
            if (at < ENTRANTS_OF_POLICY) {
                tiles[at] = tiles[at - 1];
            }
            at--;
        }
        if (at < ENTRANTS_OF_POLICY) {
            tiles[at] = i;
        }
    }
    return count;
}

static bool has_tile(const size_t *tiles, size_t count, size_t tile)
{
    for (size_t i = 0; i < count; i++) {
        if (tiles[i] == tile) {
            return true;
        }
    }
    return false;
}

static void add_tile(size_t *tiles, size_t *count, size_t room, size_t tile)
{
    if (*count < room && !has_tile(tiles, *count, tile)) {
        tiles[(*count)++] = tile;
    }
}

/* How many entrants the device has memory for: each has tensors of its own. */
static size_t room_for_entrants(const struct tune_search *search)
{
    const struct problem *p = &search->request->cell.problem;
    const double storage = (double)dtype_bytes(p->dtype);
    const double bytes =
        storage *
            ((double)problem_q_elems(p) + (double)problem_k_elems(p) + (double)problem_v_elems(p)) +
        (double)sizeof(float) * ((double)problem_out_elems(p) + (double)problem_lse_elems(p));
    const double room = (double)search->device->info.global_bytes / MEMORY_SHARE / fmax(bytes, 1.0);

    return room >= TUNE_MAX_ENTRANTS ? TUNE_MAX_ENTRANTS : size_max((size_t)room, POLICY_COUNT);
}

/* The earlier winner of a policy if it was timed; count if there is none. */
static size_t known_tile(const struct tune_search *search, enum policy policy)
{
    const struct tune_space *space = &search->result->space;
    const struct tune_block *known = &search->request->known[policy];
    const size_t tile = tune_space_find(space, known->block_m, known->block_n);

    return tile < space->count && space->tiles[tile].fits[policy] && space->tiles[tile].gflops > 0.0
               ? tile
               : space->count;
}

/* The first of each policy and what won earlier, before the second of any. */
static size_t choose_entrants(const struct tune_search *search, size_t tiles[TUNE_MAX_ENTRANTS])
{
    const struct tune_space *space = &search->result->space;
    const size_t room = room_for_entrants(search);
    size_t sent[POLICY_COUNT][ENTRANTS_OF_POLICY];
    size_t sent_count[POLICY_COUNT];
    size_t count = 0;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        sent_count[policy] = best_tiles(space, (enum policy)policy, sent[policy]);
    }
    for (size_t i = 0; i < ENTRANTS_OF_POLICY; i++) {
        for (size_t policy = POLICY_COUNT; policy-- > 0;) {
            if (i < sent_count[policy]) {
                add_tile(tiles, &count, room, sent[policy][i]);
            }
            if (i == 0 && known_tile(search, (enum policy)policy) < space->count) {
                add_tile(tiles, &count, room, known_tile(search, (enum policy)policy));
            }
        }
    }
    return count;
}

static enum status enter_rounds(struct rounds *rounds)
{
    enum status status = STATUS_OK;
    struct tune_search *search = rounds->search;
    struct tune_space *space = &search->result->space;
    size_t tiles[TUNE_MAX_ENTRANTS];
    const size_t count = choose_entrants(search, tiles);

    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &rounds->entrants[rounds->count];
        tune_tell(search, "rounds", tiles[i]);
        rounds->count++;
        STATUS_TRY(
            tune_enter(search, tiles[i], tune_tile_policy(&space->tiles[tiles[i]]), entrant));
        STATUS_TRY(tune_settle(search, entrant, false));
        tune_cut(search, entrant, ROUND_LAUNCH_S * 1e9 * space->tiles[tiles[0]].gflops);
        STATUS_TRY(tune_calibrate(search, entrant, ROUND_SAMPLE_S));
    }
out:
    return status;
}

static enum status run_round(struct rounds *rounds)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < rounds->count; i++) {
        const size_t turn = rounds->round % 2 == 0 ? i : rounds->count - 1 - i;
        if (!rounds->out[turn]) {
            tune_tell(rounds->search, "rounds", rounds->entrants[turn].tile);
            STATUS_TRY(tune_sample(rounds->search, &rounds->entrants[turn],
                                   &rounds->samples[turn][rounds->round]));
        }
    }
    rounds->round++;
out:
    return status;
}

/* The median over the rounds of its time to the first one's; it has taken part in all so far. */
static double ratio_of(const struct rounds *rounds, size_t entrant, size_t round_count)
{
    double ratios[MAX_ROUNDS];

    for (size_t round = 0; round < round_count; round++) {
        ratios[round] = rounds->samples[entrant][round] / rounds->samples[0][round];
    }
    return pairs_median(ratios, round_count);
}

/* How many that are still in, and fit a policy, are faster. */
static size_t rank_of(const struct rounds *rounds, const double *ratios, size_t entrant,
                      enum policy policy)
{
    const struct tune_space *space = &rounds->search->result->space;
    size_t faster = 0;

    for (size_t i = 0; i < rounds->count; i++) {
        faster += !rounds->out[i] && space->tiles[rounds->entrants[i].tile].fits[policy] &&
                          ratios[i] < ratios[entrant]
                      ? 1
                      : 0;
    }
    return faster;
}

/* Keeps the faster half of each policy, and the first one, which all are compared to. A dropped
 * one's speed is what it has shown so far. */
static void halve(struct rounds *rounds, double speeds[TUNE_MAX_ENTRANTS])
{
    const struct tune_space *space = &rounds->search->result->space;
    double ratios[TUNE_MAX_ENTRANTS];
    bool kept[TUNE_MAX_ENTRANTS] = {true};

    for (size_t i = 0; i < rounds->count; i++) {
        ratios[i] = rounds->out[i] ? (double)NAN : ratio_of(rounds, i, rounds->round);
        speeds[i] = rounds->out[i] ? speeds[i] : ratios[i];
    }
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        size_t alive = 0;
        for (size_t i = 0; i < rounds->count; i++) {
            alive += !rounds->out[i] && space->tiles[rounds->entrants[i].tile].fits[policy] ? 1 : 0;
        }
        for (size_t i = 0; i < rounds->count; i++) {
            kept[i] = kept[i] ||
                      (!rounds->out[i] && space->tiles[rounds->entrants[i].tile].fits[policy] &&
                       rank_of(rounds, ratios, i, (enum policy)policy) < (alive + 1) / 2);
        }
    }
    for (size_t i = 0; i < rounds->count; i++) {
        rounds->out[i] = rounds->out[i] || !kept[i];
    }
}

/* In its look a tile that did not enter was slower than those of its policy that did. So it is not
 * said to be faster than the best of them, whatever became of that one. */
static void cap_speed(const struct rounds *rounds, struct tune_tile *tile)
{
    const struct tune_space *space = &rounds->search->result->space;
    const enum policy policy = tune_tile_tightest(tile);
    double most = 0.0;

    for (size_t i = 0; i < rounds->count; i++) {
        const struct tune_tile *entrant = &space->tiles[rounds->entrants[i].tile];
        if (entrant == tile) {
            return;
        }
        most = entrant->fits[policy] ? fmax(most, entrant->gflops) : most;
    }
    if (most > 0.0 && tile->gflops >= most) {
        tile->gflops = most * BELOW;
    }
}

/* Looks took another share of the problem than the rounds: the first entrant, which was in both,
 * says by how much all looks are to be corrected. */
static void set_speeds(const struct rounds *rounds, const double speeds[TUNE_MAX_ENTRANTS])
{
    struct tune_space *space = &rounds->search->result->space;
    double first[MAX_ROUNDS];

    for (size_t round = 0; round < rounds->round; round++) {
        first[round] = rounds->samples[0][round];
    }
    const double gflops = 1.0 / pairs_median(first, rounds->round);
    const double correction = gflops / space->tiles[rounds->entrants[0].tile].gflops;
    for (size_t i = 0; i < space->count; i++) {
        space->tiles[i].gflops *= correction;
    }
    for (size_t i = 0; i < rounds->count; i++) {
        space->tiles[rounds->entrants[i].tile].gflops = gflops / speeds[i];
    }
    for (size_t i = 0; i < space->count; i++) {
        cap_speed(rounds, &space->tiles[i]);
    }
}

enum status tune_rounds(struct tune_search *search)
{
    enum status status = STATUS_OK;
    struct rounds rounds = {.search = search};
    double speeds[TUNE_MAX_ENTRANTS] = {0.0};

    STATUS_TRY(enter_rounds(&rounds));
    while (rounds.count > 0 && rounds.round < MAX_ROUNDS &&
           (rounds.round < LEAST_ROUNDS ||
            tune_elapsed_s(search) < ROUNDS_UNTIL * search->request->limit_s)) {
        STATUS_TRY(run_round(&rounds));
        if (rounds.round % HALVE_EVERY == 0) {
            halve(&rounds, speeds);
        }
    }
    if (rounds.count > 0) {
        halve(&rounds, speeds);
        set_speeds(&rounds, speeds);
    }
out:
    for (size_t i = 0; i < rounds.count; i++) {
        tune_leave(&rounds.entrants[i]);
    }
    return status;
}

/* Pairs ------------------------------------------------------------------------------------- */

enum { MAX_CONTESTANTS = POLICY_COUNT + 1, SAMPLES = TUNE_PAIR_BLOCKS * TUNE_PAIR_ROUNDS };

/* The winners, and as the last one the control: the first winner once more, with a kernel, tensors
 * and a binding of its own, as the others have. */
struct race {
    struct tune_search *search;
    struct tune_entrant contestants[MAX_CONTESTANTS];
    double samples[MAX_CONTESTANTS][SAMPLES]; /* nanoseconds a FLOP */
    size_t count;
    double sample_s;
    size_t pool_bytes; /* the largest that one needs; global */
};

static size_t tile_of(const struct tune_space *space, const struct tune_tile *tile)
{
    return tune_space_find(space, tile->block_m, tile->block_n);
}

static enum status enter_race(struct race *race, enum policy policy)
{
    enum status status = STATUS_OK;
    struct tune_search *search = race->search;
    const struct tune_winner *winner = &search->result->winners[policy];
    struct tune_entrant *contestant = &race->contestants[race->count];
    size_t pool_bytes = 0;

    race->count++;
    STATUS_TRY(
        tune_enter(search, tile_of(&search->result->space, &winner->tile), policy, contestant));
    tune_cut(search, contestant, race->sample_s * 1e9 * winner->tile.gflops);
    if (!size_align_up(winner->result.footprint.peak_bytes, PE_ARENAS_LINE_BYTES, &pool_bytes)) {
        status = STATUS_FAIL(STATUS_RANGE, "tune", "the pool that a tile needs is too large");
        goto out;
    }
    race->pool_bytes =
        size_max(race->pool_bytes, contestant->cell.pool_grow ? size_max(pool_bytes, 128)
                                                              : contestant->cell.pool_bytes);
out:
    return status;
}

static enum status enter_all(struct race *race)
{
    enum status status = STATUS_OK;
    const struct tune_winner *winners = race->search->result->winners;
    size_t count = 1;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        count += winners[policy].found ? 1 : 0;
    }
    race->sample_s = PAIRS_SHARE * race->search->request->limit_s /
                     (double)(count * TUNE_PAIR_BLOCKS * (TUNE_PAIR_ROUNDS + 1));
    race->sample_s = fmin(fmax(race->sample_s, PAIR_LEAST_S), PAIR_MOST_S);
    for (size_t policy = POLICY_COUNT; policy-- > 0;) {
        if (winners[policy].found) {
            STATUS_TRY(enter_race(race, (enum policy)policy));
        }
    }
    if (race->count > 0) {
        STATUS_TRY(enter_race(race, race->contestants[0].policy));
    }
out:
    return status;
}

/* The same arenas for all: what their place does to the time, it does to all. */
static enum status share_arenas(struct race *race, size_t block, struct pe_arenas **arenas)
{
    enum status status = STATUS_OK;
    struct pe_arenas_shape shape = cell_arenas(&race->contestants[0].cell);

    shape.pool_bytes = race->pool_bytes;
    shape.shift_bytes = block * SHIFT_STEP % SHIFTS * PE_ARENAS_LINE_BYTES;
    STATUS_TRY(pe_arenas_create(race->search->device, shape, arenas));
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *contestant = &race->contestants[i];
        struct footprint_request request = cell_request(&contestant->cell);
        request.pool_bytes = race->pool_bytes;
        STATUS_TRY(attention_bind(contestant->attention, &request, *arenas, &contestant->bound));
    }
out:
    return status;
}

/* Local arenas have no place that a block could choose. Each contestant has the pool that its
 * kernel leaves. */
static enum status settle_all(struct race *race)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < race->count; i++) {
        STATUS_TRY(tune_settle(race->search, &race->contestants[i], true));
    }
out:
    return status;
}

static enum status run_samples(struct race *race, size_t block)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < race->count; i++) { /* to warm up, too */
        STATUS_TRY(tune_calibrate(race->search, &race->contestants[i], PAIR_LEAST_S));
    }
    for (size_t round = 0; round < TUNE_PAIR_ROUNDS; round++) {
        const size_t sample = block * TUNE_PAIR_ROUNDS + round;
        for (size_t i = 0; i < race->count; i++) {
            const size_t turn = sample % 2 == 0 ? i : race->count - 1 - i;
            STATUS_TRY(
                tune_sample(race->search, &race->contestants[turn], &race->samples[turn][sample]));
        }
    }
out:
    return status;
}

static enum status run_block(struct race *race, size_t block)
{
    enum status status = STATUS_OK;
    struct pe_arenas *arenas = NULL;

    tune_tell(race->search, "pairs", race->contestants[0].tile);
    STATUS_TRY(race->search->request->cell.arena == PE_ARENAS_LOCAL
                   ? settle_all(race)
                   : share_arenas(race, block, &arenas));
    STATUS_TRY(run_samples(race, block));
out:
    for (size_t i = 0; i < race->count; i++) {
        tune_unsettle(&race->contestants[i]);
    }
    pe_arenas_destroy(arenas);
    return status;
}

static enum status pair_ratio(const struct race *race, size_t a, size_t b, struct pairs_ratio *out)
{
    const struct pairs pairs = {.blocks = TUNE_PAIR_BLOCKS,
                                .rounds = TUNE_PAIR_ROUNDS,
                                .a = race->samples[a],
                                .b = race->samples[b]};

    return pairs_ratio(&pairs, race->search->request->seed, out);
}

/* The contestant of a policy, the control left out; race->count if there is none. */
static size_t find_contestant(const struct race *race, enum policy policy)
{
    for (size_t i = 0; i + 1 < race->count; i++) {
        if (race->contestants[i].policy == policy) {
            return i;
        }
    }
    return race->count;
}

static enum status set_ratios(const struct race *race)
{
    static const struct {
        enum policy numerator;
        enum policy denominator;
    } wanted[TUNE_MAX_RATIOS] = {
        {POLICY_SCOPED, POLICY_UNSCOPED},
        {POLICY_NESTED, POLICY_UNSCOPED},
        {POLICY_NESTED, POLICY_SCOPED},
    };
    enum status status = STATUS_OK;
    struct tune_result *result = race->search->result;
    struct pairs_ratio control;

    STATUS_TRY(pair_ratio(race, race->count - 1, 0, &control));
    result->noise_floor = pairs_noise_floor(&control);
    for (size_t i = 0; i < TUNE_MAX_RATIOS; i++) {
        const size_t a = find_contestant(race, wanted[i].numerator);
        const size_t b = find_contestant(race, wanted[i].denominator);
        if (a < race->count && b < race->count) {
            struct tune_ratio *ratio = &result->ratios[result->ratio_count];
            *ratio = (struct tune_ratio){.numerator = wanted[i].numerator,
                                         .denominator = wanted[i].denominator};
            STATUS_TRY(pair_ratio(race, a, b, &ratio->ratio));
            result->ratio_count++;
        }
    }
out:
    return status;
}

static void set_times(const struct race *race)
{
    for (size_t i = 0; i + 1 < race->count; i++) {
        struct tune_winner *winner = &race->search->result->winners[race->contestants[i].policy];
        double samples[SAMPLES];
        for (size_t sample = 0; sample < SAMPLES; sample++) {
            samples[sample] = race->samples[i][sample];
        }
        winner->gflops = 1.0 / pairs_median(samples, SAMPLES);
        winner->time_ns = winner->result.flops / winner->gflops;
    }
}

static bool same_tile(const struct tune_tile *a, const struct tune_tile *b)
{
    return a->block_m == b->block_m && a->block_n == b->block_n;
}

static bool demote_tile(struct tune_result *result, const struct tune_ratio *ratio)
{
    struct tune_space *space = &result->space;
    const struct tune_tile slow = result->winners[ratio->numerator].tile;
    const struct tune_tile fast = result->winners[ratio->denominator].tile;

    if (!result->winners[ratio->numerator].found || !result->winners[ratio->denominator].found ||
        same_tile(&slow, &fast)) {
        return false;
    }
    space->tiles[tile_of(space, &slow)].gflops =
        space->tiles[tile_of(space, &fast)].gflops / ratio->ratio.ratio;
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        if (same_tile(&result->winners[policy].tile, &slow)) {
            result->winners[policy] = (struct tune_winner){.found = false};
        }
    }
    return true;
}

/* A tile that fits a policy fits those that recycle more. */
bool tune_demote(struct tune_result *result)
{
    const double margin = 1.0 + fmax(result->noise_floor, PAIR_LEAST_MARGIN);
    bool demoted = false;

    for (size_t i = 0; i < result->ratio_count; i++) {
        const struct tune_ratio *ratio = &result->ratios[i];
        demoted = (ratio->ratio.lower > margin && demote_tile(result, ratio)) || demoted;
    }
    result->ratio_count = demoted ? 0 : result->ratio_count;
    return demoted;
}

enum status tune_pairs(struct tune_search *search)
{
    enum status status = STATUS_OK;
    struct race race = {.search = search};

    STATUS_TRY(enter_all(&race));
    for (size_t block = 0; block < TUNE_PAIR_BLOCKS && race.count > 0; block++) {
        STATUS_TRY(run_block(&race, block));
    }
    if (race.count > 0) {
        STATUS_TRY(set_ratios(&race));
        set_times(&race);
    }
out:
    for (size_t i = 0; i < race.count; i++) {
        tune_leave(&race.contestants[i]);
    }
    return status;
}
