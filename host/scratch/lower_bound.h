/* The least peak that any allocator could reach for a program (design: lower bound).
 *
 * The maximum over all operations of
 *     sum of the live sizes, each rounded up to the alignment - the largest tail padding among them
 * A temporary is live from its first write to its last read or write, both included; a persistent
 * handle always, also in a program without operations. The padding of one of them may lie past the
 * peak, hence the last term.
 *
 *     STATUS_TRY(lower_bound_bytes(&program, true, 128, &bytes));
 */
#ifndef HOST_SCRATCH_LOWER_BOUND_H
#define HOST_SCRATCH_LOWER_BOUND_H

#include "host/base/status.h"
#include "host/scratch/program.h"

#include <stdbool.h>
#include <stddef.h>

/* with_tile: whether the tile is walked at all; if not, its handles do not exist. alignment: a
 * power of two. STATUS_RANGE: the bound does not fit size_t; STATUS_NO_MEMORY. *bytes is then 0. */
enum status lower_bound_bytes(const struct program *program, bool with_tile, size_t alignment,
                              size_t *bytes) STATUS_MUST_USE;

#endif
