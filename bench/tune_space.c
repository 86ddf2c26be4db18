/* The lattice of tiles and its plans, and the order in which tiles are looked at. */
#include "bench/tune_space.h"

#include "host/attention/tile_program.h"
#include "host/base/size.h"
#include "host/device/pe_arenas.h"
#include "kernels/layout.h"

#include <math.h>
#include <stdlib.h>

/* What a tile of few rows or keys loses: its keys are packed for few rows, its rows are rescaled
 * for few keys. In rows and keys. */
#define HALF_SPEED_BLOCK 16.0

/* What an unknown tile is expected to be better for each factor of two between it and the nearest
 * that is known: so that a search looks elsewhere before it has tried all that is near. */
#define CURIOSITY 0.12

/* Half of what a block of rows or keys reaches beyond the diagonal of a mask. */
#define MASK_EDGE 0.5

/* The lattice ------------------------------------------------------------------------------- */

size_t tune_sides(size_t extent, size_t sides[TUNE_MAX_SIDES])
{
    const size_t limit = size_min(extent, TUNE_MAX_BLOCK);
    size_t count = 0;

    for (size_t power = 1; power <= limit; power *= 2) {
        sides[count++] = power;
        if (power >= 2 && power + power / 2 <= limit) {
            sides[count++] = power + power / 2;
        }
    }
    if (count > 0 && sides[count - 1] != limit) {
        sides[count++] = limit;
    }
    return count;
}

struct cell tune_cell(const struct cell *base, const struct tune_tile *tile, enum policy policy)
{
    struct cell cell = *base;

    cell.policy = policy;
    cell.problem.block_m = tile->block_m;
    cell.problem.block_n = tile->block_n;
    cell_limit_pool(&cell);
    return cell;
}

/* The share of the work done that is the problem's own: rows and keys past the end, keys that a
 * mask hides inside walked tiles, PEs that wait for the last ones. */
static double useful_share(const struct problem *problem, size_t pes)
{
    const double rows = (double)problem->seq_q * (double)problem_group(problem);
    const double keys = (double)size_max(problem->seq_kv, 1);
    const double block_m = (double)problem->block_m;
    const double block_n = (double)problem->block_n;
    const double items = (double)problem_item_count(problem);
    const double visible = problem_visible_pairs(problem) / (double)problem->seq_q;
    const size_t edges = (problem_reach_left(problem) >= 0 ? 1U : 0U) +
                         (problem_reach_right(problem) >= 0 ? 1U : 0U);
    const double edge =
        (double)edges * MASK_EDGE * (block_m / (double)problem_group(problem) + block_n);
    const double workers = (double)size_max(pes, 1);

    return rows / (ceil(rows / block_m) * block_m) * keys / (ceil(keys / block_n) * block_n) *
           (visible + 1.0) / (visible + edge + 1.0) * items / (ceil(items / workers) * workers);
}

static double guess_speed(const struct problem *problem, size_t pes)
{
    const size_t pitch = LAYOUT_PITCH(problem->block_n);

    return useful_share(problem, pes) * (double)problem->block_n / (double)pitch /
           (1.0 + HALF_SPEED_BLOCK / (double)problem->block_m +
            HALF_SPEED_BLOCK / (double)problem->block_n);
}

/* What the device lacks for the arenas and what parts leave; request 0 = nothing. */
static enum status ask_device(const struct tune_space_request *request, const struct cell *cell,
                              struct tune_refusal *out)
{
    enum status status = STATUS_OK;
    struct pe_arenas_shape shape = cell_arenas(cell);
    const size_t most_bytes = request->max_alloc_bytes;

    *out = (struct tune_refusal){0, 0};
    if (cell_exceeds_local(cell)) {
        out->limit_bytes = cell->local_bytes;
        if (!size_add(cell->pool_bytes, PE_ARENAS_LOCAL_GUARD_BYTES, &out->request_bytes)) {
            out->request_bytes = SIZE_MAX;
        }
    } else if (most_bytes > 0) {
        shape.pes = size_max(shape.pes, 1);
        STATUS_TRY(pe_arenas_layout(request->base_align_bytes, SIZE_MAX, &shape));
        const size_t arenas_bytes = cell->arena == PE_ARENAS_LOCAL ? 0 : shape.total_bytes;
        const size_t need_bytes = size_max(arenas_bytes, problem_parts_bytes(&cell->problem));
        if (need_bytes > most_bytes) {
            *out = (struct tune_refusal){need_bytes, most_bytes};
        }
    }
out:
    return status;
}

static enum status plan_policy(const struct tune_space_request *request,
                               const struct program *program, enum policy policy,
                               struct tune_tile *tile, struct tune_refusal *refused)
{
    enum status status = STATUS_OK;
    struct footprint footprint;
    struct cell cell = tune_cell(&request->cell, tile, policy);
    const struct footprint_request how = {
        .policy = policy,
        .tiles = tile->tiles,
        .pool_bytes = cell.pool_grow ? FOOTPRINT_NO_LIMIT : cell.pool_bytes,
        .alignment = cell.alignment,
    };
    struct tune_refusal refusal = {0, 0};

    STATUS_TRY(footprint_plan(program, &how, &footprint));
    tile->peak_bytes[policy] = footprint.peak_bytes;
    if (cell.pool_grow) {
        cell.pool_bytes = size_max(footprint.peak_bytes, cell.alignment);
    }
    if (!footprint.overflow.happened) {
        STATUS_TRY(ask_device(request, &cell, &refusal));
    }
    if (refusal.request_bytes > 0 &&
        (refused->request_bytes == 0 || refusal.request_bytes < refused->request_bytes)) {
        *refused = refusal;
    }
    tile->fits[policy] =
        !footprint.overflow.happened && refusal.request_bytes == 0 && request->policies[policy];
out:
    return status;
}

static enum status plan_tile(const struct tune_space_request *request, struct tune_tile *tile,
                             struct tune_refusal refused[POLICY_COUNT])
{
    enum status status = STATUS_OK;
    const struct cell cell = tune_cell(&request->cell, tile, POLICY_NESTED);
    struct program program;

    program_init(&program);
    STATUS_TRY(problem_validate(&cell.problem));
    STATUS_TRY(tile_program_record(&cell.problem, &program));
    tile->tiles = problem_tiles(&cell.problem);
    tile->prior = guess_speed(&cell.problem, cell.pes);
    tile->gflops = (double)NAN;
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        STATUS_TRY(plan_policy(request, &program, (enum policy)policy, tile, &refused[policy]));
    }
out:
    program_fini(&program);
    return status;
}

static bool fits_any(const struct tune_tile *tile)
{
    return tile->fits[POLICY_UNSCOPED] || tile->fits[POLICY_SCOPED] || tile->fits[POLICY_NESTED];
}

enum status tune_space_init(const struct tune_space_request *request, struct tune_space *out)
{
    enum status status = STATUS_OK;
    const struct problem *problem = &request->cell.problem;
    size_t rows[TUNE_MAX_SIDES];
    size_t keys[TUNE_MAX_SIDES];

    *out = (struct tune_space){.tiles = NULL};
    STATUS_TRY(problem_validate(problem));
    const size_t row_count = tune_sides(problem->seq_q * problem_group(problem), rows);
    const size_t key_count = tune_sides(size_max(problem->seq_kv, 1), keys);
    out->tiles = calloc(size_max(row_count * key_count, 1), sizeof *out->tiles);
    if (out->tiles == NULL) {
        status =
            STATUS_FAIL(STATUS_NO_MEMORY, "tune", "no memory for %zu tiles", row_count * key_count);
        goto out;
    }
    for (size_t i = 0; i < row_count * key_count; i++) {
        struct tune_tile tile = {.block_m = rows[i / key_count], .block_n = keys[i % key_count]};
        STATUS_TRY(plan_tile(request, &tile, out->refused));
        if (fits_any(&tile)) {
            out->tiles[out->count++] = tile;
        }
    }
out:
    if (status != STATUS_OK) {
        tune_space_fini(out);
    }
    return status;
}

void tune_space_fini(struct tune_space *space)
{
    free(space->tiles);
    *space = (struct tune_space){.tiles = NULL};
}

bool tune_space_limit(struct tune_space *space, size_t index, size_t pool_bytes)
{
    struct tune_tile *tile = &space->tiles[index];

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        tile->fits[policy] = tile->fits[policy] && tile->peak_bytes[policy] <= pool_bytes;
    }
    if (fits_any(tile)) {
        return true;
    }
    space->count--;
    for (size_t i = index; i < space->count; i++) {
        space->tiles[i] = space->tiles[i + 1];
    }
    return false;
}

/* What is known --------------------------------------------------------------------------- */

enum policy tune_tile_policy(const struct tune_tile *tile)
{
    return tile->fits[POLICY_NESTED]   ? POLICY_NESTED
           : tile->fits[POLICY_SCOPED] ? POLICY_SCOPED
                                       : POLICY_UNSCOPED;
}

enum policy tune_tile_tightest(const struct tune_tile *tile)
{
    return tile->fits[POLICY_UNSCOPED] ? POLICY_UNSCOPED
           : tile->fits[POLICY_SCOPED] ? POLICY_SCOPED
                                       : POLICY_NESTED;
}

static bool is_timed(const struct tune_tile *tile)
{
    return !isnan(tile->gflops) && !tile->wrong;
}

size_t tune_space_best(const struct tune_space *space, enum policy policy)
{
    size_t best = space->count;

    for (size_t i = 0; i < space->count; i++) {
        const struct tune_tile *tile = &space->tiles[i];
        if (tile->fits[policy] && is_timed(tile) &&
            (best == space->count || tile->gflops > space->tiles[best].gflops)) {
            best = i;
        }
    }
    return best;
}

bool tune_space_on_front(const struct tune_space *space, enum policy policy, size_t index)
{
    const struct tune_tile *tile = &space->tiles[index];

    if (!tile->fits[policy] || !is_timed(tile)) {
        return false;
    }
    for (size_t i = 0; i < space->count; i++) {
        const struct tune_tile *other = &space->tiles[i];
        const size_t bytes = other->peak_bytes[policy];
        if (i == index || !other->fits[policy] || !is_timed(other)) {
            continue;
        }
        if ((bytes <= tile->peak_bytes[policy] && other->gflops > tile->gflops) ||
            (bytes < tile->peak_bytes[policy] && other->gflops >= tile->gflops)) {
            return false;
        }
    }
    return true;
}

size_t tune_space_find(const struct tune_space *space, size_t block_m, size_t block_n)
{
    size_t i = 0;

    while (i < space->count &&
           (space->tiles[i].block_m != block_m || space->tiles[i].block_n != block_n)) {
        i++;
    }
    return i;
}

size_t tune_space_fitting(const struct tune_space *space, enum policy policy)
{
    size_t count = 0;

    for (size_t i = 0; i < space->count; i++) {
        count += space->tiles[i].fits[policy] ? 1 : 0;
    }
    return count;
}

size_t tune_space_timed(const struct tune_space *space)
{
    size_t count = 0;

    for (size_t i = 0; i < space->count; i++) {
        count += isnan(space->tiles[i].gflops) ? 0 : 1;
    }
    return count;
}

/* The next tile --------------------------------------------------------------------------- */

static double distance(const struct tune_tile *a, const struct tune_tile *b)
{
    return fabs(log2((double)a->block_m / (double)b->block_m)) +
           fabs(log2((double)a->block_n / (double)b->block_n));
}

static double expected_speed(const struct tune_space *space, const struct tune_tile *tile)
{
    const struct tune_tile *nearest = NULL;

    for (size_t i = 0; i < space->count; i++) {
        const struct tune_tile *other = &space->tiles[i];
        if (is_timed(other) &&
            (nearest == NULL || distance(tile, other) < distance(tile, nearest))) {
            nearest = other;
        }
    }
    return nearest == NULL ? tile->prior
                           : tile->prior * nearest->gflops / nearest->prior *
                                 (1.0 + CURIOSITY * distance(tile, nearest));
}

/* The area that a tile of this speed would add under the front, over the logarithm of the bytes
 * that a PE has: from its own bytes up to where a timed tile is as fast. */
static double front_gain(const struct tune_space *space, enum policy policy,
                         const struct tune_tile *tile, double speed)
{
    const double bytes = (double)tile->peak_bytes[policy];
    double below = 0.0; /* the fastest with no more bytes */
    double reach = 2.0; /* bytes up to the next faster one, in factors of two, at most */

    for (size_t i = 0; i < space->count; i++) {
        const struct tune_tile *other = &space->tiles[i];
        if (!other->fits[policy] || !is_timed(other)) {
            continue;
        }
        const double more = log2((double)other->peak_bytes[policy] / bytes);
        if (more <= 0.0) {
            below = fmax(below, other->gflops);
        } else if (other->gflops >= speed) {
            reach = fmin(reach, more);
        }
    }
    return fmax(speed - below, 0.0) * reach;
}

bool tune_space_next(const struct tune_space *space, enum policy policy, enum tune_rule rule,
                     size_t *index)
{
    double most = -1.0;

    *index = space->count;
    for (size_t i = 0; i < space->count; i++) {
        const struct tune_tile *tile = &space->tiles[i];
        if (!tile->fits[policy] || !isnan(tile->gflops) || tile->failed) {
            continue;
        }
        const double speed = expected_speed(space, tile);
        const double worth = rule == TUNE_FASTEST ? speed : front_gain(space, policy, tile, speed);
        if (worth > most) {
            most = worth;
            *index = i;
        }
    }
    return *index < space->count;
}
