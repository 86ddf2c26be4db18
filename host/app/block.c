#include "host/app/block.h"

#include "host/app/interrupt.h"
#include "host/attention/tile_program.h"
#include "host/base/size.h"

#include <stdio.h>
#include <string.h>

/* Watching a search ------------------------------------------------------------------------- */

static void on_progress(void *user, const struct tune_progress *at)
{
    const struct block_watch *watch = user;
    char name[64];
    const struct progress_line line = {.index = at->done < at->count ? at->done : at->count - 1,
                                       .count = at->count,
                                       .share = at->share,
                                       .name = name,
                                       .stage = at->stage};

    (void)snprintf(name, sizeof name, "%zu x %zu", at->block_m, at->block_n);
    progress_show(&watch->progress, &line);
}

static bool on_poll(void *user)
{
    (void)user;
    return interrupt_signal() != 0;
}

void block_watch_begin(struct block_watch *watch, struct tune_sink *sink)
{
    interrupt_catch();
    progress_begin(&watch->progress);
    *sink = (struct tune_sink){.user = watch, .progress = on_progress, .interrupted = on_poll};
}

void block_watch_end(struct block_watch *watch)
{
    progress_end(&watch->progress);
}

/* One problem ------------------------------------------------------------------------------- */

static void set_tile(struct cell *cell, const struct tune_block *tile)
{
    cell->problem.block_m = tile->block_m;
    cell->problem.block_n = tile->block_n;
}

/* A device may have less local memory than the pool that the tile is stored for. */
static bool still_fits(const struct cell *cell, const struct tune_block *tile)
{
    struct cell tried = *cell;
    struct cell_result result;

    set_tile(&tried, tile);
    const bool fits = cell_plan(&tried, 0, 0, NULL, &result) == STATUS_OK && !result.overflow;
    status_clear();
    return fits;
}

static void tell(const struct cell *cell, const char *how)
{
    const struct problem *problem = &cell->problem;

    (void)fprintf(stderr, "scratchscope: --block auto: %zux%zu %s (%s, %s, %zu keys)\n",
                  problem->block_m, problem->block_n, how, policy_name(cell->policy),
                  dtype_name(problem->dtype), problem->seq_kv);
}

static enum status tune_now(const struct place *place, const struct cell *cell,
                            struct tune_result *result)
{
    struct block_watch watch;
    struct tune_sink sink;
    struct tune_request request = {
        .cell = *cell,
        .limit_s = SETTINGS_TUNE_S,
        .seed = 1,
        .check_work = REFERENCE_DEFAULT_WORK,
    };

    request.policies[cell->policy] = true;
    (void)fprintf(
        stderr,
        "scratchscope: --block auto: nothing is stored for this problem, pool and device: "
        "tuning, for %d s at most\n",
        SETTINGS_TUNE_S);
    block_watch_begin(&watch, &sink);
    enum status status = tune_run(place->device, &place->topology, &request, &sink, result);
    block_watch_end(&watch);
    return status;
}

static enum status take_winner(struct tune_store *store, const struct tune_store_key *key,
                               const struct tune_result *result, struct cell *cell)
{
    const struct tune_winner *winner = &result->winners[cell->policy];

    if (winner->found) {
        tune_store_keep(store, key, result->winners);
        set_tile(cell, &(struct tune_block){winner->tile.block_m, winner->tile.block_n});
        tell(cell, "is the fastest that was found");
        return STATUS_OK;
    }
    if (result->wrong > 0) {
        return STATUS_FAIL(STATUS_WRONG, "--block auto", "%zu tiles were tried, and all are wrong",
                           result->wrong);
    }
    tell(cell, "stays: no tile fits the pool");
    return STATUS_OK;
}

enum status block_tune(const struct place *place, struct cell *cell)
{
    enum status status = STATUS_OK;
    struct tune_store store;
    struct tune_block tile;
    struct tune_result result = {.wrong = 0};
    const struct cell asked = *cell;
    const struct tune_store_key key = {.device = &place->device->info, .cell = &asked};
    struct cell placed = *cell;

    placed.local_bytes = place->device->info.local_bytes;
    tune_store_init(&store);
    if (tune_store_find(&store, &key, cell->policy, &tile) && still_fits(&placed, &tile)) {
        set_tile(cell, &tile);
        tell(cell, "is stored");
        return STATUS_OK;
    }
    STATUS_TRY(tune_now(place, &placed, &result));
    STATUS_TRY(take_winner(&store, &key, &result, cell));
out:
    tune_result_fini(&result);
    return status;
}

enum status block_recall(struct cell *cell)
{
    struct tune_store store;
    struct tune_block tile;
    const struct tune_store_key key = {.cell = cell};

    tune_store_init(&store);
    const size_t count = tune_store_search(&store, &key, cell->policy, &tile);
    if (count == 1) {
        set_tile(cell, &tile);
        return STATUS_OK;
    }
    enum status status =
        count == 0
            ? STATUS_FAIL(STATUS_BAD_INPUT, "--block auto",
                          "no tile is stored for this problem and pool under %s, and a plan has no "
                          "device to look for one",
                          policy_name(cell->policy))
            : STATUS_FAIL(STATUS_BAD_INPUT, "--block auto",
                          "%zu different tiles are stored for this problem and pool under %s, of "
                          "other devices, PEs or kernel styles",
                          count, policy_name(cell->policy));
    status_hint(count == 0 ? "run scratchscope tune with the same problem, or say --block MxN"
                           : "say --block MxN, or which one by --pes or --kernel");
    return status;
}

/* A list ------------------------------------------------------------------------------------ */

/* The problem that is tuned for cells [first, end) of one configuration. */
static struct cell tuned_cell(const struct settings *settings, const struct cell_list *list,
                              size_t first, size_t end)
{
    struct cell cell = list->cells[first];
    const struct preset *preset = preset_at(settings->preset);

    for (size_t i = first; i < end; i++) {
        if (policy_depth(list->cells[i].policy) > policy_depth(cell.policy)) {
            cell.policy = list->cells[i].policy;
        }
    }
    if (preset->tiles != NULL && settings->tiles.count != 1) {
        cell.problem.seq_kv = SETTINGS_TUNE_TILES * cell.problem.block_n;
    }
    return cell;
}

static enum status resolve_config(const struct settings *settings, const struct place *place,
                                  struct cell_list *list, size_t first, size_t end)
{
    enum status status = STATUS_OK;
    struct cell cell = tuned_cell(settings, list, first, end);

    STATUS_TRY(place != NULL ? block_tune(place, &cell) : block_recall(&cell));
    for (size_t i = first; i < end; i++) {
        STATUS_TRY(cell_list_set_block(settings, &list->cells[i], cell.problem.block_m,
                                       cell.problem.block_n));
    }
out:
    return status;
}

/* Where the configuration that begins with cell `first` ends. */
static size_t config_end(const struct cell_list *list, size_t first)
{
    size_t end = first + 1;

    while (end < list->count && cell_list_same_config(&list->cells[first], &list->cells[end])) {
        end++;
    }
    return end;
}

/* Of several problems, which one the next line is about; by a name that tells them apart. */
static void tell_problem(const struct cell_list *list, size_t first, size_t index, size_t count)
{
    if (count > 1) {
        (void)fprintf(stderr, "scratchscope: --block auto: problem %zu of %zu: %s\n", index, count,
                      list->cells[first].name);
    }
}

enum status block_resolve(const struct settings *settings, const struct place *place,
                          struct cell_list *list)
{
    enum status status = STATUS_OK;
    size_t index = 0;
    size_t count = 0;

    for (size_t first = 0; first < list->count; first = config_end(list, first)) {
        count++;
    }
    for (size_t first = 0; settings->block.automatic && first < list->count;) {
        const size_t end = config_end(list, first);
        tell_problem(list, first, ++index, count);
        STATUS_TRY(resolve_config(settings, place, list, first, end));
        first = end;
    }
out:
    return status;
}
