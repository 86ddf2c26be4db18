/* The search for the fastest tile: its steps up to the verdicts, and a tile on the device.
 * tune_space.c knows the tiles, tune_rounds.c compares those that are left. */
#include "bench/tune_search.h"

#include "host/base/size.h"
#include "host/device/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The looks end when no more time is left than the other steps take, within these shares of the
 * limit. */
#define LOOKS_LEAST 0.4
#define LOOKS_MOST 0.85

/* For the guess of that: what the reference and a check's transfers take, s, for each policy. */
#define GUESSED_VERDICT_S 0.5

/* A look: its length, the length of one of its samples, s, and how many there are at most. */
#define LOOK_S 0.015
#define LOOK_SAMPLE_S 0.004
enum { COLD_SAMPLES = 2, LOOK_SAMPLES = 3 };

/* How much slower than the best of its policy a tile is left: after its first launches, of which
 * one is cold, and after a sample. The shortest of its samples counts: what else runs on the
 * machine only ever adds to one. */
#define SLOW_COLD 2.5
#define SLOW 1.3

/* Of how many looks one goes to the front rather than to the fastest. */
enum { FRONT_EVERY = 3, MAX_LAUNCHES = 1 << 12 };

double tune_elapsed_s(const struct tune_search *search)
{
    return (double)event_clock_ns() * 1e-9 - search->start_s;
}

enum status tune_poll(const struct tune_search *search)
{
    const struct tune_sink *sink = search->sink;

    if (sink->interrupted != NULL && sink->interrupted(sink->user)) {
        return STATUS_FAIL(STATUS_INTERRUPTED, "tune", "interrupted after %zu tiles",
                           tune_space_timed(&search->result->space));
    }
    return STATUS_OK;
}

void tune_tell(const struct tune_search *search, const char *stage, size_t tile)
{
    const struct tune_space *space = &search->result->space;
    const struct tune_progress progress = {
        .stage = stage,
        .done = tune_space_timed(space),
        .count = space->count,
        .block_m = space->tiles[tile].block_m,
        .block_n = space->tiles[tile].block_n,
        .share = fmin(tune_elapsed_s(search) / search->request->limit_s, 1.0),
    };

    if (search->sink->progress != NULL) {
        search->sink->progress(search->sink->user, &progress);
    }
}

/* A tile on the device ---------------------------------------------------------------------- */

size_t tune_items(const struct problem *problem, size_t pes, double flops)
{
    const size_t items = problem_item_count(problem);
    size_t low = 1;
    size_t high = items;

    if (problem_parts(problem) > 1) {
        return items;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (problem_flops(problem, middle) >= flops) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    size_t whole = 0;
    return size_align_up(size_max(low, 1), pes, &whole) ? size_min(whole, items) : items;
}

enum status tune_enter(struct tune_search *search, size_t tile, enum policy policy,
                       struct tune_entrant *out)
{
    enum status status = STATUS_OK;
    struct cell cell =
        tune_cell(&search->request->cell, &search->result->space.tiles[tile], policy);
    const struct attention_options options = {
        .style = cell.style, .pes = cell.pes, .arena = cell.arena};

    *out = (struct tune_entrant){.tile = tile, .policy = policy, .cell = cell, .launches = 1};
    STATUS_TRY(tune_poll(search));
    STATUS_TRY(
        attention_create(search->device, &cell.problem, search->inputs, &options, &out->attention));
    if (cell_take_local(&cell, search->device->info.local_bytes,
                        attention_own_local_bytes(out->attention))) {
        cell_limit_pool(&cell);
        out->cell = cell;
    }
out:
    return status;
}

enum status tune_settle(struct tune_search *search, struct tune_entrant *entrant, bool whole_pool)
{
    enum status status = STATUS_OK;
    const struct tune_tile *tile = &search->result->space.tiles[entrant->tile];
    struct cell cell = entrant->cell;
    size_t peak_bytes = 0;

    if (!size_align_up(size_max(tile->peak_bytes[entrant->policy], cell.alignment),
                       PE_ARENAS_LINE_BYTES, &peak_bytes)) {
        return STATUS_FAIL(STATUS_RANGE, "tune", "the pool that a tile needs is too large");
    }
    if (cell.pool_grow || !whole_pool) {
        cell.pool_bytes = peak_bytes;
    }
    const struct footprint_request request = cell_request(&cell);
    STATUS_TRY(pe_arenas_create(search->device, cell_arenas(&cell), &entrant->arenas));
    STATUS_TRY(attention_bind(entrant->attention, &request, entrant->arenas, &entrant->bound));
out:
    return status;
}

void tune_unsettle(struct tune_entrant *entrant)
{
    attention_unbind(entrant->bound);
    pe_arenas_destroy(entrant->arenas);
    entrant->bound = NULL;
    entrant->arenas = NULL;
}

void tune_leave(struct tune_entrant *entrant)
{
    tune_unsettle(entrant);
    attention_destroy(entrant->attention);
    entrant->attention = NULL;
}

enum status tune_sample(struct tune_search *search, const struct tune_entrant *entrant, double *out)
{
    enum status status = STATUS_OK;
    struct event_time time;

    *out = (double)NAN;
    STATUS_TRY(tune_poll(search));
    STATUS_TRY(attention_launch(entrant->attention, entrant->bound, entrant->items, false,
                                entrant->launches, &time));
    *out = (time.sane ? time.event_ns : time.host_ns) / (double)entrant->launches / entrant->flops;
out:
    return status;
}

enum status tune_calibrate(struct tune_search *search, struct tune_entrant *entrant, double least_s)
{
    enum status status = STATUS_OK;
    double ns_per_flop = 0.0;

    entrant->launches = 1;
    STATUS_TRY(tune_sample(search, entrant, &ns_per_flop));
    const double need = least_s * 1e9 / (ns_per_flop * entrant->flops);
    entrant->launches = need < MAX_LAUNCHES ? size_max((size_t)ceil(need), 1) : MAX_LAUNCHES;
out:
    return status;
}

static const struct problem *problem_of(const struct tune_search *search, size_t tile,
                                        struct cell *cell)
{
    *cell = tune_cell(&search->request->cell, &search->result->space.tiles[tile], POLICY_NESTED);
    return &cell->problem;
}

void tune_cut(const struct tune_search *search, struct tune_entrant *entrant, double flops)
{
    struct cell cell;
    const struct problem *problem = problem_of(search, entrant->tile, &cell);

    entrant->items = tune_items(problem, cell.pes, flops);
    entrant->flops = fmax(problem_flops(problem, entrant->items), 1.0);
}

/* Looks ------------------------------------------------------------------------------------- */

/* The time a FLOP of the best tile that this one has to beat: of the least recycling policy that it
 * fits, where it has the fewest rivals. Infinite if there is none yet. */
static double time_to_beat(const struct tune_search *search, const struct tune_tile *tile)
{
    const struct tune_space *space = &search->result->space;
    const size_t best = tune_space_best(space, tune_tile_tightest(tile));

    return best < space->count ? 1.0 / space->tiles[best].gflops : (double)INFINITY;
}

/* The share of the problem that every look takes: what the first tile does in LOOK_S. */
static enum status decide_look(struct tune_search *search, struct tune_entrant *entrant)
{
    enum status status = STATUS_OK;
    double cold = 0.0;
    double warm = 0.0;

    if (search->look_flops == 0.0) {
        tune_cut(search, entrant, 0.0);
        STATUS_TRY(tune_sample(search, entrant, &cold));
        STATUS_TRY(tune_sample(search, entrant, &warm));
        search->look_flops = LOOK_S * 1e9 / warm;
    }
out:
    return status;
}

/* GFLOP/s are FLOPs a nanosecond. */
static enum status time_look(struct tune_search *search, struct tune_entrant *entrant)
{
    enum status status = STATUS_OK;
    struct tune_tile *tile = &search->result->space.tiles[entrant->tile];
    const double best = time_to_beat(search, tile);
    double least = (double)INFINITY;
    double sample = 0.0;

    STATUS_TRY(decide_look(search, entrant));
    tune_cut(search, entrant, search->look_flops);
    for (size_t i = 0; i < COLD_SAMPLES && !(least <= SLOW_COLD * best); i++) {
        STATUS_TRY(tune_sample(search, entrant, &sample));
        least = fmin(least, sample);
    }
    if (least <= SLOW_COLD * best) {
        STATUS_TRY(tune_calibrate(search, entrant, LOOK_SAMPLE_S));
    }
    for (size_t i = 0; i < LOOK_SAMPLES && least <= (i == 0 ? SLOW_COLD : SLOW) * best; i++) {
        STATUS_TRY(tune_sample(search, entrant, &sample));
        least = fmin(least, sample);
    }
    tile->gflops = 1.0 / least;
out:
    return status;
}

static bool is_of_the_tile(enum status status)
{
    return status == STATUS_OPENCL || status == STATUS_NO_SPACE || status == STATUS_BAD_INPUT;
}

/* Whether the tile still fits where its kernel, which is built now, takes local memory itself. */
static bool fits_beside_kernel(struct tune_space *space, const struct tune_entrant *entrant)
{
    const struct cell *cell = &entrant->cell;

    return cell->arena != PE_ARENAS_LOCAL ||
           tune_space_limit(space, entrant->tile, pe_arenas_local_pool(cell->local_bytes));
}

/* A tile that the device cannot build or run is passed over, as long as another one could be. */
static enum status look(struct tune_search *search, size_t tile, enum policy policy)
{
    enum status status = STATUS_OK;
    struct tune_space *space = &search->result->space;
    struct tune_entrant entrant = {.attention = NULL};

    tune_tell(search, "look", tile);
    STATUS_TRY(tune_enter(search, tile, policy, &entrant));
    if (fits_beside_kernel(space, &entrant)) {
        STATUS_TRY(tune_settle(search, &entrant, false));
        STATUS_TRY(time_look(search, &entrant));
    }
out:
    tune_leave(&entrant);
    if (is_of_the_tile(status) && tune_space_timed(space) > 0) {
        space->tiles[tile].failed = true;
        status_clear();
        status = STATUS_OK;
    }
    return status;
}

/* When the looks are to end, s. The verdict launches the whole problem twice. */
static double looks_end_s(const struct tune_search *search)
{
    const struct tune_space *space = &search->result->space;
    const double limit_s = search->request->limit_s;
    double rest_s = 0.0;
    struct cell cell;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        const size_t best = tune_space_best(space, (enum policy)policy);
        if (best < space->count) {
            const struct problem *problem = problem_of(search, best, &cell);
            const double launch_s = problem_flops(problem, problem_item_count(problem)) /
                                    space->tiles[best].gflops * 1e-9;
            rest_s += 2.0 * launch_s + GUESSED_VERDICT_S + tune_rounds_s(search, launch_s);
        }
    }
    return fmin(fmax(limit_s - rest_s, LOOKS_LEAST * limit_s), LOOKS_MOST * limit_s);
}

/* The earlier winners. */
static enum status look_at_known(struct tune_search *search)
{
    enum status status = STATUS_OK;
    struct tune_space *space = &search->result->space;

    for (size_t policy = POLICY_COUNT; policy-- > 0;) {
        const struct tune_block *known = &search->request->known[policy];
        const size_t tile = tune_space_find(space, known->block_m, known->block_n);
        if (tile < space->count && space->tiles[tile].fits[policy] &&
            isnan(space->tiles[tile].gflops) && !space->tiles[tile].failed) {
            STATUS_TRY(look(search, tile, tune_tile_policy(&space->tiles[tile])));
        }
    }
out:
    return status;
}

enum status tune_looks(struct tune_search *search)
{
    enum status status = STATUS_OK;
    struct tune_space *space = &search->result->space;
    size_t idle = 0; /* policies in a row that have nothing left */

    STATUS_TRY(look_at_known(search));
    for (size_t step = 0; idle < POLICY_COUNT; step++) {
        const enum policy policy = (enum policy)(POLICY_COUNT - 1 - step % POLICY_COUNT);
        const size_t turn = step / POLICY_COUNT;
        size_t tile = 0;
        if (!tune_space_next(space, policy,
                             turn % FRONT_EVERY + 1 == FRONT_EVERY ? TUNE_FRONT : TUNE_FASTEST,
                             &tile)) {
            idle++;
            continue;
        }
        idle = 0;
        if (turn > 0 && tune_elapsed_s(search) > looks_end_s(search)) {
            return STATUS_OK;
        }
        STATUS_TRY(look(search, tile, tune_tile_policy(&space->tiles[tile])));
    }
    search->result->complete = true;
out:
    return status;
}

/* Verdicts ---------------------------------------------------------------------------------- */

static enum status check_cell(struct tune_search *search, size_t tile, enum policy policy,
                              struct cell_result *result)
{
    enum status status = STATUS_OK;
    const struct device_info *info = &search->device->info;
    struct tune_entrant entrant = {.attention = NULL};
    struct cell *cell = &entrant.cell;
    struct reference *reference = NULL;

    tune_tell(search, "verdict", tile);
    STATUS_TRY(tune_enter(search, tile, policy, &entrant));
    STATUS_TRY(cell_plan(cell, info->max_alloc_bytes, info->base_align_bytes,
                         info->type == DEVICE_CPU ? search->topology : NULL, result));
    STATUS_TRY(tune_settle(search, &entrant, true));
    STATUS_TRY(
        reference_create(&cell->problem, search->inputs, search->request->check_work, &reference));
    STATUS_TRY(tune_poll(search));
    STATUS_TRY(
        attention_check(entrant.attention, entrant.bound, reference, cell->poison, &result->check));
    cell_judge(result, true);
out:
    tune_leave(&entrant);
    reference_destroy(reference);
    return status;
}

static enum status find_winner(struct tune_search *search, enum policy policy)
{
    enum status status = STATUS_OK;
    struct tune_space *space = &search->result->space;
    struct tune_winner *winner = &search->result->winners[policy];

    for (;;) {
        struct cell_result result = {0};
        const size_t best = tune_space_best(space, policy);
        if (best == space->count) {
            return STATUS_OK;
        }
        STATUS_TRY(check_cell(search, best, policy, &result));
        if (result.ok) {
            *winner = (struct tune_winner){.found = true,
                                           .tile = space->tiles[best],
                                           .result = result,
                                           .gflops = (double)NAN,
                                           .time_ns = (double)NAN};
            return STATUS_OK;
        }
        space->tiles[best].wrong = true;
        search->result->wrong++;
    }
out:
    return status;
}

enum status tune_verdicts(struct tune_search *search)
{
    enum status status = STATUS_OK;

    for (size_t policy = POLICY_COUNT; policy-- > 0;) {
        if (!search->result->winners[policy].found) {
            STATUS_TRY(find_winner(search, (enum policy)policy));
        }
    }
out:
    return status;
}

/* The search -------------------------------------------------------------------------------- */

static enum status open_search(struct tune_search *search)
{
    enum status status = STATUS_OK;
    const struct tune_request *request = search->request;
    const struct device_info *info = &search->device->info;
    struct tune_space_request wanted = {.cell = request->cell,
                                        .max_alloc_bytes = info->max_alloc_bytes,
                                        .base_align_bytes = info->base_align_bytes};

    if (!(request->limit_s > 0.0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "time limit", "%g s is not above 0", request->limit_s);
    }
    memcpy(wanted.policies, request->policies, sizeof wanted.policies);
    STATUS_TRY(tune_space_init(&wanted, &search->result->space));
    if (search->result->space.count > 0) {
        STATUS_TRY(inputs_create(&request->cell.problem, request->seed, &search->inputs));
    }
out:
    return status;
}

enum status tune_run(struct device *device, const struct topology *topology,
                     const struct tune_request *request, const struct tune_sink *sink,
                     struct tune_result *out)
{
    enum status status = STATUS_OK;
    struct tune_search search = {
        .device = device,
        .topology = topology,
        .request = request,
        .sink = sink,
        .result = out,
        .start_s = (double)event_clock_ns() * 1e-9,
    };

    *out = (struct tune_result){.noise_floor = (double)NAN};
    STATUS_TRY(open_search(&search));
    if (out->space.count > 0) {
        STATUS_TRY(tune_looks(&search));
        STATUS_TRY(tune_rounds(&search));
        STATUS_TRY(tune_verdicts(&search));
        STATUS_TRY(tune_pairs(&search));
        if (tune_demote(out)) { /* once: what is still slower, its ratio tells */
            STATUS_TRY(tune_verdicts(&search));
            STATUS_TRY(tune_pairs(&search));
        }
    }
out:
    inputs_destroy(search.inputs);
    out->seconds = tune_elapsed_s(&search);
    return status;
}

void tune_result_fini(struct tune_result *result)
{
    tune_space_fini(&result->space);
}
