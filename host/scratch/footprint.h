/* Replays a recorded program under a policy: offsets, peak, lower bound, first overflow.
 *
 * One item is replayed: the persistent allocations, then the tile S times. The arena goes back to
 * its base between items under every policy, so one item is the whole footprint of a PE.
 * Replaying scoped or nested takes memory that does not grow with S; so does unscoped unless a
 * table is asked for. Every tile is replayed through an arena, so time grows with S.
 *
 *     struct footprint_request request = {POLICY_NESTED, tiles, pool_bytes, 128};
 *     STATUS_TRY(footprint_plan(&program, &request, &footprint));
 *     if (footprint.overflow.happened) {
 *         footprint_overflow_text(&program, &request, &footprint, FOOTPRINT_NO_LIMIT, text,
 *                                 sizeof text);
 *     } else {
 *         STATUS_TRY(footprint_table(&program, &request, &table));     hand table.cells to a kernel
 *         offset_table_fini(&table);
 *     }
 */
#ifndef HOST_SCRATCH_FOOTPRINT_H
#define HOST_SCRATCH_FOOTPRINT_H

#include "host/base/status.h"
#include "host/scratch/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum policy {
    POLICY_UNSCOPED, /* no scope counts: nothing is ever freed (R3) */
    POLICY_SCOPED,   /* the tile's scope counts */
    POLICY_NESTED,   /* all scopes count */
};

enum { POLICY_COUNT = 3 };

const char *policy_name(enum policy policy); /* "unscoped", "scoped", "nested" */
bool policy_parse(const char *name, enum policy *out) __attribute__((warn_unused_result));

/* How many levels of scopes count: 0, 1, all (SIZE_MAX). */
size_t policy_depth(enum policy policy);

/* A pool without a limit but that of size_t, for footprint_request.pool_bytes. */
#define FOOTPRINT_NO_LIMIT ((size_t)-1)

/* Bytes in a line of touched_lines. */
enum { FOOTPRINT_LINE_BYTES = 128 };

struct footprint_request {
    enum policy policy;
    size_t tiles;      /* S >= 0 */
    size_t pool_bytes; /* capacity of the arena, >= alignment; FOOTPRINT_NO_LIMIT = none */
    size_t alignment;  /* bytes, a power of two; 128 by default */
};

/* The first request that does not fit (R5). */
struct footprint_overflow {
    bool happened;
    size_t tile;            /* from 1; 0 = a persistent allocation */
    size_t handle;          /* its id in the program */
    const char *name;       /* the program's; NULL = no overflow */
    size_t request_bytes;   /* stored size */
    size_t free_bytes;      /* pool - aligned start, or 0 */
    size_t used_bytes;      /* cursor at that moment */
    size_t missing_bytes;   /* request - free */
    size_t live_tile_bytes; /* used - persistent: held by tiles */
    size_t this_tile_bytes; /* of these, held by the tile itself; the rest by earlier tiles */
};

struct footprint {
    size_t persistent_bytes;  /* cursor before the first tile */
    size_t tile_bytes;        /* growth of the cursor over tile 1 when no scope counts */
    size_t requested_bytes;   /* sum of logical sizes, all allocations of one item (R8) */
    size_t padded_bytes;      /* stored sizes (pitch), each rounded up to the alignment (R8) */
    size_t peak_bytes;        /* highest cursor, as if the pool had no limit */
    size_t current_bytes;     /* cursor after the last tile */
    size_t touched_lines;     /* distinct 128-byte lines that hold a byte of any allocation */
    size_t lower_bound_bytes; /* largest sum of live sizes (lower_bound.h) */
    struct footprint_overflow overflow;
};

/* Plans one item. The lower bound is the maximum over all operations of the sum of the live
 * sizes, each rounded up to the alignment, minus the largest tail padding among them; a temporary
 * lives from its first write to its last read or write, both included, a persistent handle always.
 * An overflow is a result, not a failure. STATUS_RANGE: the need, the totals or the tile
 * without scopes do not fit size_t; STATUS_BAD_INPUT: alignment or pool; STATUS_MISUSE: the tile of
 * the program is not closed; STATUS_NO_MEMORY. *out is 0 on failure. A program whose tile was never
 * begun has an empty one. */
enum status footprint_plan(const struct program *program, const struct footprint_request *request,
                           struct footprint *out) STATUS_MUST_USE;

/* Text of R5 for a row that overflows: allocation, tile, requested, free, used, capacity, missing,
 * alignment, who holds the rest, and what to change; one line of some sentences, in the words of
 * the command line. most_bytes is the largest pool that a device has local memory for; a larger one
 * is not advised; FOOTPRINT_NO_LIMIT in global memory. Cut to `size` bytes; "" if there was no
 * overflow. */
void footprint_overflow_text(const struct program *program, const struct footprint_request *request,
                             const struct footprint *footprint, size_t most_bytes, char *text,
                             size_t size);

/* Offsets as data: what the kernel reads. Row t holds, for walked tile t (from 0), the byte
 * offset into the PE's arena of each handle (persistent ones too, column = id), then for each
 * scope of the program the range [begin, end) that its end gives back: column
 * handle_count + 2 x scope. An ignored scope has begin = end = 0. The last two columns are the
 * range that the rewind between items gives back: [0, cursor after the last tile), the same in
 * every row. Scoped and nested have one row and row stride 0, unless the tile allocates outside
 * of every scope: then the cursor rises from tile to tile, and the rows are those of unscoped. The
 * columns of a tile that is not walked (S = 0) are 0. */
struct offset_table {
    uint64_t *cells;   /* rows x columns, owned */
    size_t rows;       /* 1, or max(tiles, 1) where the cursor rises */
    size_t columns;    /* handle_count + 2 x scope_count + 2 */
    size_t row_stride; /* in cells: 0 or columns */
};

/* STATUS_NO_SPACE: the program overflows the pool, with the text above as the reason; else as
 * footprint_plan. *out is 0 on failure, which offset_table_fini accepts. */
enum status footprint_table(const struct program *program, const struct footprint_request *request,
                            struct offset_table *out) STATUS_MUST_USE;
void offset_table_fini(struct offset_table *table);

#endif
