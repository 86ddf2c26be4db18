/* The order is made by sorting each head's stretch of items; shares are cut from it in a second
 * pass, which keeps the order within each of them. */
#include "host/attention/schedule.h"

#include "kernels/layout.h"

#include <stdlib.h>

/* An item and how long it takes. */
struct entry {
    size_t tiles; /* that it walks */
    uint32_t item;
    uint32_t pe; /* whose share it is in */
};

/* Longest first; equal ones by their number. */
static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->tiles != b->tiles) {
        return a->tiles > b->tiles ? -1 : 1;
    }
    return a->item < b->item ? -1 : a->item > b->item;
}

static void order_items(const struct problem *problem, struct entry *entries, size_t count)
{
    const size_t heads = problem->batch * problem->kv_heads;
    const size_t per_head = problem_item_count(problem) / heads;
    for (size_t i = 0; i < count; ++i) {
        entries[i] =
            (struct entry){.tiles = problem_item(problem, i).tile_count, .item = (uint32_t)i};
    }
    for (size_t first = 0; first < count; first += per_head) {
        const size_t left = count - first;
        qsort(entries + first, left < per_head ? left : per_head, sizeof entries[0], compare);
    }
}

/* Each item to the PE with the fewest tiles so far, the first of them. `loads`: a cell a PE. */
static void share_out(struct entry *entries, size_t count, size_t *loads, size_t pes)
{
    for (size_t i = 0; i < count; ++i) {
        size_t least = 0;
        for (size_t pe = 1; pe < pes; ++pe) {
            least = loads[pe] < loads[least] ? pe : least;
        }
        /* An item without tiles costs a little, too: q and the result. */
        loads[least] += entries[i].tiles + 1;
        entries[i].pe = (uint32_t)least;
    }
}

/* Starts of the shares, by counting, and the items at their places. */
static void write_cells(const struct entry *entries, size_t count, size_t pes, uint32_t *cells)
{
    uint32_t *starts = cells + SCHEDULE_STARTS, *order = cells + SCHEDULE_ORDER(pes);
    for (size_t i = 0; i < count; ++i) {
        ++starts[entries[i].pe + 1];
    }
    for (size_t pe = 0; pe < pes; ++pe) {
        starts[pe + 1] += starts[pe];
    }
    for (size_t i = 0; i < count; ++i) {
        order[starts[entries[i].pe]++] = entries[i].item;
    }
    for (size_t pe = pes; pe > 0; --pe) {
        starts[pe] = starts[pe - 1];
    }
    starts[0] = 0;
}

enum status schedule_create(const struct problem *problem, size_t item_end, size_t pes, bool shared,
                            struct schedule *out)
{
    enum status status = STATUS_OK;
    struct entry *entries = NULL;
    size_t *loads = NULL;
    *out = (struct schedule){0};
    if (item_end > UINT32_MAX - SCHEDULE_ORDER(pes)) {
        return STATUS_FAIL(STATUS_RANGE, "items", "%zu are more than a launch can number",
                           item_end);
    }
    entries = calloc(item_end + 1, sizeof entries[0]);
    loads = calloc(pes, sizeof loads[0]);
    out->count = SCHEDULE_ORDER(pes) + item_end;
    out->cells = calloc(out->count, sizeof out->cells[0]);
    if (entries == NULL || loads == NULL || out->cells == NULL) {
        schedule_fini(out);
        status = STATUS_FAIL(STATUS_NO_MEMORY, "schedule", "no memory for %zu items", item_end);
        goto out;
    }
    order_items(problem, entries, item_end);
    share_out(entries, item_end, loads, shared ? 1 : pes);
    write_cells(entries, item_end, pes, out->cells);
out:
    free(entries);
    free(loads);
    return status;
}

void schedule_fini(struct schedule *schedule)
{
    free(schedule->cells);
    *schedule = (struct schedule){0};
}
