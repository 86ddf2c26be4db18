/* The scratch of one PE: handles, scopes and copy_to over an arena (R1, R2, R5-R9).
 *
 *     struct scratch scratch = {0};
 *     STATUS_TRY(scratch_init(&scratch, &(struct scratch_options){.capacity = 1 << 20}));
 *     STATUS_TRY(scratch_alloc(&scratch, "acc", DTYPE_F32, shape_2d(32, 128), &acc));
 *     for (size_t tile = 1; tile <= tiles; tile++) {
 *         scratch_set_tile(&scratch, tile);
 *         STATUS_TRY(scratch_begin(&scratch, &scope));
 *         STATUS_TRY(scratch_alloc(&scratch, "acc_new", DTYPE_F32, shape_2d(32, 128), &acc_new));
 *         ...
 *         STATUS_TRY(scratch_copy_to(&scratch, &acc, &acc_new));      survives the end
 *         STATUS_TRY(scratch_end(&scratch, scope));                   acc_new is gone
 *     }
 * out:
 *     scratch_fini(&scratch);
 *
 * Handles and scopes are plain values: copy them, drop them, never free them. A handle is alive
 * until the scope that it was allocated in ends; a serial that no other scope gets tells, in
 * constant time. A handle or scope of another scratch, or one whose fields were changed by hand,
 * is refused. Whatever is refused changes nothing, and the program can go on.
 *
 * All heap memory is taken by scratch_init. A scratch belongs to one thread at a time.
 */
#ifndef HOST_SCRATCH_SCRATCH_H
#define HOST_SCRATCH_SCRATCH_H

#include "host/base/dtype.h"
#include "host/base/size.h"
#include "host/base/status.h"
#include "host/scratch/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRATCH_DEFAULT_MAX_DEPTH = 32, SCRATCH_NAME_BYTES = 64 };

struct scratch_options {
    size_t base;      /* address of offset 0; 0 = ARENA_DEFAULT_BASE */
    size_t capacity;  /* bytes in the pool, >= alignment */
    size_t alignment; /* of every allocation, a power of two; 0 = ARENA_DEFAULT_ALIGNMENT */
    void *memory;     /* capacity bytes, borrowed; NULL = accounting only */
    bool poison;      /* fill memory that holds no allocation with 0xFF */
    size_t max_depth; /* scopes open at once; 0 = SCRATCH_DEFAULT_MAX_DEPTH */
};

/* What an allocation returns. All 0 is the handle of nothing. */
struct scratch_handle {
    const char *name;   /* borrowed from the caller of scratch_alloc */
    size_t address;     /* never 0 (R9) */
    size_t bytes;       /* elements x bytes of the dtype */
    enum dtype dtype;   /* */
    struct shape shape; /* */
    size_t depth;       /* scopes open around it; 0 = persistent */
    uint64_t scope;     /* serial of the scope that it belongs to */
    uint64_t owner;     /* id of its scratch */
};

/* An open scope, for scratch_end. All 0 is no scope. */
struct scratch_scope {
    size_t depth;    /* from 1 */
    uint64_t serial; /* */
    uint64_t owner;  /* id of its scratch */
};

/* One quantity over time, in bytes. */
struct scratch_count {
    size_t current; /* now */
    size_t peak;    /* the most at any time */
    size_t total;   /* ever allocated; stays at SIZE_MAX once there */
};

struct scratch_stats {
    struct scratch_count requested; /* sizes as asked for */
    struct scratch_count padded;    /* with alignment gaps: current is the cursor */
    size_t allocations;             /* that succeeded */
};

/* The last request that did not fit (R5). */
struct scratch_overflow {
    bool happened;
    char name[SCRATCH_NAME_BYTES]; /* of the allocation, cut if longer */
    size_t requested_bytes;        /* */
    size_t free_bytes;             /* capacity - aligned start, or 0 */
    size_t used_bytes;             /* the cursor */
    size_t capacity_bytes;         /* */
    size_t missing_bytes;          /* requested - free */
    size_t alignment_bytes;        /* */
    size_t tile;                   /* as set by scratch_set_tile */
};

/* What scratch_begin keeps of an open scope; level 0 stands for "outside every scope". */
struct scratch_level {
    uint64_t serial;        /* */
    size_t mark;            /* cursor at its begin */
    size_t requested_bytes; /* requested and current at its begin */
};

/* Private: read it through the functions below. */
struct scratch {
    struct arena arena;
    size_t alignment;                 /* bytes, a power of two */
    unsigned char *memory;            /* borrowed; NULL = accounting only */
    bool poison;                      /* */
    struct scratch_level *levels;     /* owned, max_depth + 1 */
    size_t max_depth;                 /* scopes */
    size_t depth;                     /* open scopes, 0..max_depth */
    uint64_t id;                      /* of this scratch, unique in the process; 0 = none */
    uint64_t last_serial;             /* of the youngest scope */
    size_t tile;                      /* from 1; 0 = outside the tiles */
    struct scratch_stats stats;       /* */
    struct scratch_overflow overflow; /* */
};

/* STATUS_BAD_INPUT: alignment, a capacity below it, a base whose pool wraps; STATUS_NO_MEMORY.
 * *scratch is then all 0, which scratch_fini accepts. */
enum status scratch_init(struct scratch *scratch,
                         const struct scratch_options *options) STATUS_MUST_USE;
void scratch_fini(struct scratch *scratch);

/* Allocates at the next aligned address (R3, R4). STATUS_NO_SPACE: it does not fit; the overflow
 * record tells (R5). STATUS_RANGE: its size does not fit size_t. STATUS_MISUSE: no name, no such
 * dtype. On failure cursor and peak stay and *handle is all 0. */
enum status scratch_alloc(struct scratch *scratch, const char *name, enum dtype dtype,
                          struct shape shape, struct scratch_handle *handle) STATUS_MUST_USE;

/* R1, R2. STATUS_MISUSE for begin: max_depth scopes are open; *scope is then all 0. STATUS_MISUSE
 * for end: not the innermost open scope (closed already, out of order, none open, not of this
 * scratch). */
enum status scratch_begin(struct scratch *scratch, struct scratch_scope *scope) STATUS_MUST_USE;
enum status scratch_end(struct scratch *scratch, struct scratch_scope scope) STATUS_MUST_USE;

/* Gives everything back, persistent allocations too, as between two items: all handles are stale
 * afterwards, the statistics go on. STATUS_MISUSE: a scope is open. */
enum status scratch_reset(struct scratch *scratch) STATUS_MUST_USE;

/* STATUS_STALE: its scope has ended (R7). STATUS_MISUSE: not a handle of this scratch, or its
 * fields were changed. */
enum status scratch_check(const struct scratch *scratch,
                          const struct scratch_handle *handle) STATUS_MUST_USE;

/* Copies the bytes of src to dst, which outlives it (R6). STATUS_MISUSE: another shape or dtype,
 * overlap, or dst's scope ends before src's; as scratch_check for either handle. Accounting only:
 * the same checks. */
enum status scratch_copy_to(struct scratch *scratch, const struct scratch_handle *dst,
                            const struct scratch_handle *src) STATUS_MUST_USE;

/* Where the bytes are on the host, valid until the handle's scope ends. As scratch_check, and
 * STATUS_MISUSE: accounting only. *data is then NULL. */
enum status scratch_data(const struct scratch *scratch, const struct scratch_handle *handle,
                         void **data) STATUS_MUST_USE;

/* The number that an overflow reports: from 1; 0 = outside the tiles. */
void scratch_set_tile(struct scratch *scratch, size_t tile);

/* Bytes above the base where the next allocation would start, before alignment. */
size_t scratch_cursor(const struct scratch *scratch);

struct scratch_stats scratch_stats(const struct scratch *scratch);

/* happened is false if there was none yet. Valid until scratch_fini. */
const struct scratch_overflow *scratch_last_overflow(const struct scratch *scratch);

/* The arena's invariant; marks and serials rise with the depth; current <= peak <= total, and
 * requested <= padded. */
bool scratch_is_valid(const struct scratch *scratch);

#endif
