/* Which PE takes which items of a launch, and in what order.
 *
 * The order goes through the (batch, key/value head) pairs one after another, since their items
 * share K and V, and within one from the item that walks most tiles to the one that walks fewest.
 * Shared: PEs take the next item of the order when they have finished one (simd). Otherwise each PE
 * has a share of its own: an item goes to the PE with the fewest tiles so far (simt, whose barriers
 * allow no loop that ends by a counter). Source: Graham 1969, list scheduling.
 */
#ifndef HOST_ATTENTION_SCHEDULE_H
#define HOST_ATTENTION_SCHEDULE_H

#include "host/attention/problem.h"

#include <stdint.h>

/* Cells as layout.h has them. */
struct schedule {
    uint32_t *cells; /* owned */
    size_t count;    /* of cells; the same for all launches of as many items */
};

/* The schedule of items [0, item_end). item_end <= problem_item_count, pes >= 1. STATUS_RANGE: more
 * items than 32 bits number; STATUS_NO_MEMORY. */
enum status schedule_create(const struct problem *problem, size_t item_end, size_t pes, bool shared,
                            struct schedule *out) STATUS_MUST_USE;
void schedule_fini(struct schedule *schedule);

#endif
