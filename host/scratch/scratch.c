#include "host/scratch/scratch.h"

#include "host/base/text.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xFF };

/* Ids make handles of two scratches differ even when all their other fields agree. */
static uint64_t next_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static void poison_range(struct scratch *scratch, size_t begin, size_t end)
{
    if (scratch->memory != NULL && scratch->poison) {
        memset(scratch->memory + begin, POISON, end - begin);
    }
}

static enum status check_options(const struct scratch_options *options, size_t alignment)
{
    if (!size_is_power_of_two(alignment)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "scratch_init", "alignment %zu is not a power of two",
                           alignment);
    }
    if (options->capacity < alignment) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "scratch_init",
                           "a pool of %zu bytes is smaller than the alignment, %zu",
                           options->capacity, alignment);
    }
    return STATUS_OK;
}

static enum status init_levels(struct scratch *scratch, size_t max_depth)
{
    scratch->max_depth = max_depth != 0 ? max_depth : SCRATCH_DEFAULT_MAX_DEPTH;
    if (scratch->max_depth < SIZE_MAX) {
        scratch->levels = calloc(scratch->max_depth + 1, sizeof *scratch->levels);
    }
    if (scratch->levels == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "scratch_init", "no memory for %zu scopes",
                           scratch->max_depth);
    }
    scratch->last_serial = 1;
    scratch->levels[0].serial = 1;
    return STATUS_OK;
}

enum status scratch_init(struct scratch *scratch, const struct scratch_options *options)
{
    enum status status = STATUS_OK;
    size_t alignment = options->alignment != 0 ? options->alignment : ARENA_DEFAULT_ALIGNMENT;
    size_t base = options->base != 0 ? options->base : ARENA_DEFAULT_BASE;

    *scratch = (struct scratch){.alignment = alignment};
    STATUS_TRY(check_options(options, alignment));
    STATUS_TRY(arena_init(&scratch->arena, base, options->capacity));
    STATUS_TRY(init_levels(scratch, options->max_depth));
    scratch->memory = options->memory;
    scratch->poison = options->poison;
    scratch->id = next_id();
    poison_range(scratch, 0, options->capacity);
out:
    if (status != STATUS_OK) {
        *scratch = (struct scratch){0};
    }
    return status;
}

void scratch_fini(struct scratch *scratch)
{
    free(scratch->levels);
    *scratch = (struct scratch){0};
}

static void count_add(struct scratch_count *count, size_t bytes)
{
    count->current += bytes;
    count->peak = size_max(count->peak, count->current);
    if (!size_add(count->total, bytes, &count->total)) {
        count->total = SIZE_MAX;
    }
}

static enum status note_overflow(struct scratch *scratch, const char *name, size_t bytes)
{
    struct scratch_overflow *overflow = &scratch->overflow;
    size_t free_bytes = arena_free_bytes(&scratch->arena, scratch->alignment);
    *overflow = (struct scratch_overflow){
        .happened = true,
        .requested_bytes = bytes,
        .free_bytes = free_bytes,
        .used_bytes = scratch->arena.cursor,
        .capacity_bytes = scratch->arena.capacity,
        .missing_bytes = bytes > free_bytes ? bytes - free_bytes : 0,
        .alignment_bytes = scratch->alignment,
        .tile = scratch->tile,
    };
    struct text text = text_begin(overflow->name, sizeof overflow->name);
    text_add(&text, "%s", name);
    char place[40] = "outside the tiles";
    if (overflow->tile > 0) {
        text = text_begin(place, sizeof place);
        text_add(&text, "in tile %zu", overflow->tile);
    }
    return STATUS_FAIL(STATUS_NO_SPACE, overflow->name,
                       "%zu bytes requested %s, %zu free (%zu missing): "
                       "%zu of %zu used, alignment %zu",
                       bytes, place, free_bytes, overflow->missing_bytes, overflow->used_bytes,
                       overflow->capacity_bytes, overflow->alignment_bytes);
}

static enum status allocation_bytes(const char *name, enum dtype dtype, struct shape shape,
                                    size_t *bytes)
{
    *bytes = 0;
    if (name == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_alloc", "an allocation needs a name");
    }
    if (dtype_bytes(dtype) == 0) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_alloc", "%s: no such dtype", name);
    }
    if (!shape_elems(shape, bytes) || !size_mul(*bytes, dtype_bytes(dtype), bytes)) {
        return STATUS_FAIL(STATUS_RANGE, "scratch_alloc", "%s: its size does not fit size_t", name);
    }
    return STATUS_OK;
}

enum status scratch_alloc(struct scratch *scratch, const char *name, enum dtype dtype,
                          struct shape shape, struct scratch_handle *handle)
{
    enum status status = STATUS_OK;
    size_t before = scratch->arena.cursor;
    size_t bytes;
    size_t address;

    *handle = (struct scratch_handle){0};
    STATUS_TRY(allocation_bytes(name, dtype, shape, &bytes));
    status = arena_push(&scratch->arena, bytes, scratch->alignment, &address);
    if (status == STATUS_NO_SPACE) {
        return note_overflow(scratch, name, bytes);
    }
    STATUS_TRY(status);
    count_add(&scratch->stats.requested, bytes);
    count_add(&scratch->stats.padded, scratch->arena.cursor - before);
    scratch->stats.allocations++;
    *handle = (struct scratch_handle){
        .name = name,
        .address = address,
        .bytes = bytes,
        .dtype = dtype,
        .shape = shape,
        .depth = scratch->depth,
        .scope = scratch->levels[scratch->depth].serial,
        .owner = scratch->id,
    };
out:
    return status;
}

enum status scratch_begin(struct scratch *scratch, struct scratch_scope *scope)
{
    *scope = (struct scratch_scope){0};
    if (scratch->depth == scratch->max_depth) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_begin", "%zu scopes are open, the most allowed",
                           scratch->depth);
    }
    scratch->depth++;
    scratch->last_serial++;
    scratch->levels[scratch->depth] = (struct scratch_level){
        .serial = scratch->last_serial,
        .mark = arena_mark(&scratch->arena),
        .requested_bytes = scratch->stats.requested.current,
    };
    *scope = (struct scratch_scope){
        .depth = scratch->depth, .serial = scratch->last_serial, .owner = scratch->id};
    return STATUS_OK;
}

static bool is_open(const struct scratch *scratch, size_t depth, uint64_t serial)
{
    return depth <= scratch->depth && scratch->levels[depth].serial == serial;
}

static enum status check_innermost(const struct scratch *scratch, struct scratch_scope scope)
{
    if (scope.owner != scratch->id) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_end", "the scope is not one of this scratch");
    }
    if (scratch->depth == 0) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_end", "no scope is open");
    }
    if (scope.depth == 0 || !is_open(scratch, scope.depth, scope.serial)) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_end", "the scope is closed already");
    }
    if (scope.depth != scratch->depth) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_end", "%zu inner scopes are still open",
                           scratch->depth - scope.depth);
    }
    return STATUS_OK;
}

/* Back to the state that a level keeps. */
static enum status rewind_to(struct scratch *scratch, const struct scratch_level *level)
{
    enum status status = STATUS_OK;
    size_t end = scratch->arena.cursor;
    STATUS_TRY(arena_rewind(&scratch->arena, level->mark));
    poison_range(scratch, level->mark, end);
    scratch->stats.padded.current = level->mark;
    scratch->stats.requested.current = level->requested_bytes;
out:
    return status;
}

enum status scratch_end(struct scratch *scratch, struct scratch_scope scope)
{
    enum status status = STATUS_OK;
    STATUS_TRY(check_innermost(scratch, scope));
    STATUS_TRY(rewind_to(scratch, &scratch->levels[scratch->depth]));
    scratch->depth--;
out:
    return status;
}

enum status scratch_reset(struct scratch *scratch)
{
    enum status status = STATUS_OK;
    if (scratch->levels == NULL || scratch->depth != 0) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_reset", "%zu scopes are open", scratch->depth);
    }
    STATUS_TRY(rewind_to(scratch, &scratch->levels[0]));
    scratch->last_serial++;
    scratch->levels[0].serial = scratch->last_serial;
out:
    return status;
}

/* Whether the bytes lie in what the handle's own scope holds, and are as many as its shape says. A
 * scope holds what is above its mark and below the mark of the next inner one. */
static bool is_intact(const struct scratch *scratch, const struct scratch_handle *handle)
{
    size_t begin = scratch->levels[handle->depth].mark;
    size_t end = handle->depth < scratch->depth ? scratch->levels[handle->depth + 1].mark
                                                : scratch->arena.cursor;
    size_t bytes;
    if (!shape_elems(handle->shape, &bytes) ||
        !size_mul(bytes, dtype_bytes(handle->dtype), &bytes) || bytes != handle->bytes) {
        return false;
    }
    if (handle->address < scratch->arena.base || handle->address % scratch->alignment != 0) {
        return false;
    }
    size_t offset = handle->address - scratch->arena.base;
    return offset >= begin && offset <= end && bytes <= end - offset;
}

enum status scratch_check(const struct scratch *scratch, const struct scratch_handle *handle)
{
    if (handle->owner == 0 || handle->owner != scratch->id) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch handle", "it is not one of this scratch");
    }
    if (!is_open(scratch, handle->depth, handle->scope)) {
        return STATUS_FAIL(STATUS_STALE, handle->name, "used after its scope ended");
    }
    if (!is_intact(scratch, handle)) {
        return STATUS_FAIL(STATUS_MISUSE, handle->name, "the fields of its handle were changed");
    }
    return STATUS_OK;
}

static size_t handle_offset(const struct scratch *scratch, const struct scratch_handle *handle)
{
    return handle->address - scratch->arena.base;
}

/* R6, for two handles that are alive. Open scopes enclose each other, so the depth tells which. */
static enum status check_copy(const struct scratch_handle *dst, const struct scratch_handle *src)
{
    if (dst->dtype != src->dtype) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_copy_to", "%s is %s, %s is %s", dst->name,
                           dtype_name(dst->dtype), src->name, dtype_name(src->dtype));
    }
    if (!shape_equal(dst->shape, src->shape)) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_copy_to", "%s and %s differ in shape", dst->name,
                           src->name);
    }
    if (dst->depth > src->depth) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_copy_to", "%s does not outlive %s", dst->name,
                           src->name);
    }
    size_t low = size_min(dst->address, src->address);
    size_t high = size_max(dst->address, src->address);
    if (high - low < dst->bytes) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_copy_to", "%s and %s overlap", dst->name,
                           src->name);
    }
    return STATUS_OK;
}

enum status scratch_copy_to(struct scratch *scratch, const struct scratch_handle *dst,
                            const struct scratch_handle *src)
{
    enum status status = STATUS_OK;
    STATUS_TRY(scratch_check(scratch, dst));
    STATUS_TRY(scratch_check(scratch, src));
    STATUS_TRY(check_copy(dst, src));
    if (scratch->memory != NULL) {
        memcpy(scratch->memory + handle_offset(scratch, dst),
               scratch->memory + handle_offset(scratch, src), src->bytes);
    }
out:
    return status;
}

enum status scratch_data(const struct scratch *scratch, const struct scratch_handle *handle,
                         void **data)
{
    enum status status = STATUS_OK;
    *data = NULL;
    STATUS_TRY(scratch_check(scratch, handle));
    if (scratch->memory == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "scratch_data", "the scratch has no memory");
    }
    *data = scratch->memory + handle_offset(scratch, handle);
out:
    return status;
}

void scratch_set_tile(struct scratch *scratch, size_t tile)
{
    scratch->tile = tile;
}

size_t scratch_cursor(const struct scratch *scratch)
{
    return scratch->arena.cursor;
}

struct scratch_stats scratch_stats(const struct scratch *scratch)
{
    return scratch->stats;
}

const struct scratch_overflow *scratch_last_overflow(const struct scratch *scratch)
{
    return &scratch->overflow;
}

static bool count_is_valid(struct scratch_count count)
{
    return count.current <= count.peak && count.peak <= count.total;
}

static bool levels_are_valid(const struct scratch *scratch)
{
    for (size_t i = 1; i <= scratch->depth; i++) {
        const struct scratch_level *outer = &scratch->levels[i - 1];
        const struct scratch_level *inner = &scratch->levels[i];
        if (inner->serial <= outer->serial || inner->mark < outer->mark ||
            inner->requested_bytes < outer->requested_bytes) {
            return false;
        }
    }
    const struct scratch_level *last = &scratch->levels[scratch->depth];
    return last->mark <= scratch->arena.cursor && last->serial <= scratch->last_serial &&
           last->requested_bytes <= scratch->stats.requested.current;
}

bool scratch_is_valid(const struct scratch *scratch)
{
    const struct scratch_stats *stats = &scratch->stats;
    return scratch->id != 0 && arena_is_valid(&scratch->arena) &&
           scratch->depth <= scratch->max_depth && levels_are_valid(scratch) &&
           count_is_valid(stats->requested) && count_is_valid(stats->padded) &&
           stats->padded.current == scratch->arena.cursor &&
           stats->padded.peak == scratch->arena.peak &&
           stats->requested.current <= stats->padded.current &&
           stats->requested.peak <= stats->padded.peak &&
           stats->requested.total <= stats->padded.total;
}
