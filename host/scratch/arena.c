#include "host/scratch/arena.h"

#include <stdint.h>

enum status arena_init(struct arena *arena, size_t base, size_t capacity)
{
    *arena = (struct arena){0};
    if (base == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "arena_init", "base 0: no address may be 0");
    }
    if (capacity > SIZE_MAX - base) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "arena_init", "base %zu + capacity %zu wraps", base,
                           capacity);
    }
    arena->base = base;
    arena->capacity = capacity;
    return STATUS_OK;
}

/* The offset of the next allocation; false if it lies past the pool. A mask, not a division: this
 * is the inner loop of every replay. */
static bool aligned_start(const struct arena *arena, size_t alignment, size_t *start)
{
    size_t address = arena->base + arena->cursor;
    size_t gap = (0 - address) & (alignment - 1);
    if (gap > arena->capacity - arena->cursor) {
        return false;
    }
    *start = arena->cursor + gap;
    return true;
}

/* Not the function of size.h: no call in the inner loop. */
static bool is_power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

enum status arena_push(struct arena *arena, size_t size, size_t alignment, size_t *address)
{
    size_t start;
    *address = 0;
    if (!is_power_of_two(alignment)) {
        return STATUS_FAIL(STATUS_MISUSE, "arena_push", "alignment %zu is not a power of two",
                           alignment);
    }
    if (!aligned_start(arena, alignment, &start) || size > arena->capacity - start) {
        return STATUS_NO_SPACE;
    }
    arena->cursor = start + size;
    if (arena->cursor > arena->peak) {
        arena->peak = arena->cursor;
    }
    *address = arena->base + start;
    return STATUS_OK;
}

size_t arena_free_bytes(const struct arena *arena, size_t alignment)
{
    size_t start;
    if (!is_power_of_two(alignment) || !aligned_start(arena, alignment, &start)) {
        return 0;
    }
    return arena->capacity - start;
}

size_t arena_mark(const struct arena *arena)
{
    return arena->cursor;
}

enum status arena_rewind(struct arena *arena, size_t mark)
{
    if (mark > arena->cursor) {
        return STATUS_FAIL(STATUS_MISUSE, "arena_rewind", "mark %zu lies above the cursor %zu",
                           mark, arena->cursor);
    }
    arena->cursor = mark;
    return STATUS_OK;
}

bool arena_is_valid(const struct arena *arena)
{
    return arena->base >= 1 && arena->cursor <= arena->peak && arena->peak <= arena->capacity &&
           arena->capacity <= SIZE_MAX - arena->base;
}
