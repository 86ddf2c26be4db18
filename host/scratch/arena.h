/* The bump allocator over one pool: R1, R3, R4, R5, R9.
 *
 * An arena is numbers alone; it owns no memory. Offsets count from the base; an address is
 * base + offset and is never 0 (R9).
 *
 *     invariant: 0 <= cursor <= peak <= capacity, base >= 1, base + capacity does not wrap
 *
 *     size_t mark = arena_mark(&arena);        scope begin (R1)
 *     arena_push(&arena, 4096, 128, &address);
 *     arena_rewind(&arena, mark);              scope end (R1)
 */
#ifndef HOST_SCRATCH_ARENA_H
#define HOST_SCRATCH_ARENA_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The base and the alignment of the specification (bytes). */
#define ARENA_DEFAULT_BASE ((size_t)1 << 24)
enum { ARENA_DEFAULT_ALIGNMENT = 128 };

struct arena {
    size_t base;     /* address of offset 0; >= 1 */
    size_t capacity; /* bytes in the pool */
    size_t cursor;   /* bytes above base; the next allocation starts here, aligned up */
    size_t peak;     /* bytes above base; the highest cursor ever */
};

/* STATUS_BAD_INPUT: base 0, or base + capacity wraps; *arena is then all 0. */
enum status arena_init(struct arena *arena, size_t base, size_t capacity) STATUS_MUST_USE;

/* Allocates size bytes at the next address that is a multiple of alignment (a power of two).
 * The bound is checked after alignment, against what is left (R4): size > capacity - start.
 * STATUS_NO_SPACE: it does not fit (nothing recorded: the caller knows the name); STATUS_MISUSE:
 * bad alignment. On failure cursor and peak stay and *address is 0. Size 0 is allowed. */
enum status arena_push(struct arena *arena, size_t size, size_t alignment,
                       size_t *address) STATUS_MUST_USE;

/* Bytes that a request of this alignment could get now: capacity - aligned start, or 0. */
size_t arena_free_bytes(const struct arena *arena, size_t alignment);

/* The cursor now, for arena_rewind. */
size_t arena_mark(const struct arena *arena);

/* Back to a mark <= cursor; STATUS_MISUSE otherwise, and nothing changes. */
enum status arena_rewind(struct arena *arena, size_t mark) STATUS_MUST_USE;

/* The invariant above. */
bool arena_is_valid(const struct arena *arena);

#endif
