#include "host/scratch/footprint.h"

#include "host/scratch/arena.h"
#include "host/scratch/line_set.h"
#include "host/scratch/lower_bound.h"

#include <stdlib.h>
#include <string.h>

static const char *const policy_names[POLICY_COUNT] = {
    [POLICY_UNSCOPED] = "unscoped",
    [POLICY_SCOPED] = "scoped",
    [POLICY_NESTED] = "nested",
};

const char *policy_name(enum policy policy)
{
    return (unsigned)policy < POLICY_COUNT ? policy_names[policy] : "unknown";
}

bool policy_parse(const char *name, enum policy *out)
{
    *out = POLICY_UNSCOPED;
    for (unsigned i = 0; i < POLICY_COUNT; i++) {
        if (strcmp(name, policy_names[i]) == 0) {
            *out = (enum policy)i;
            return true;
        }
    }
    return false;
}

size_t policy_depth(enum policy policy)
{
    switch (policy) {
    case POLICY_UNSCOPED:
        return 0;
    case POLICY_SCOPED:
        return 1;
    case POLICY_NESTED:
        return SIZE_MAX;
    }
    return 0;
}

/* A step that matters to the arena under the policy: an allocation, or an end of a scope that
 * counts. */
struct replay_step {
    enum program_step_kind kind;
    size_t index; /* handle or scope */
    size_t bytes; /* of an allocation */
};

struct replay {
    const struct program *program;
    struct footprint_request request;
    struct replay_step *steps;          /* owned: persistent allocations, then the tile */
    size_t persistent_count;            /* steps before the tile */
    size_t step_count;                  /* */
    size_t *marks;                      /* owned: by scope, the cursor at its begin */
    struct arena arena;                 /* */
    struct line_set lines;              /* that an allocation has covered */
    bool track_lines;                   /* add to them */
    size_t persistent_bytes;            /* cursor before the first tile */
    size_t tile;                        /* running now, from 1; 0 = none yet */
    size_t tile_start;                  /* cursor at its first step */
    struct footprint_overflow overflow; /* */
};

static enum status check_request(const struct program *program,
                                 const struct footprint_request *request)
{
    if (!size_is_power_of_two(request->alignment)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "footprint", "alignment %zu is not a power of two",
                           request->alignment);
    }
    if (request->pool_bytes < request->alignment) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "footprint",
                           "a pool of %zu bytes is smaller than the alignment, %zu",
                           request->pool_bytes, request->alignment);
    }
    if (program->section == 1) {
        return STATUS_FAIL(STATUS_MISUSE, "footprint", "the tile of the program is not closed");
    }
    return STATUS_OK;
}

static bool step_counts(const struct program *program, const struct program_step *step,
                        size_t depth)
{
    switch (step->kind) {
    case PROGRAM_ALLOC:
        return true;
    case PROGRAM_BEGIN:
    case PROGRAM_END:
        return program->scopes[step->index].level < depth;
    case PROGRAM_OPERATION:
        return false;
    }
    return false;
}

static void compile(struct replay *replay)
{
    const struct program *program = replay->program;
    size_t depth = policy_depth(replay->request.policy);
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_step *step = &program->steps[i];
        if (!step_counts(program, step, depth)) {
            continue;
        }
        struct replay_step *added = &replay->steps[replay->step_count++];
        *added = (struct replay_step){.kind = step->kind, .index = step->index};
        if (step->kind == PROGRAM_ALLOC) {
            added->bytes = program->handles[step->index].size_bytes;
            replay->persistent_count += program->handles[step->index].persistent ? 1 : 0;
        }
    }
}

/* Offset 0 must be aligned for every alignment, as the start of a PE's pool is. */
static size_t base_of(const struct footprint_request *request)
{
    return size_max(ARENA_DEFAULT_BASE, request->alignment);
}

static enum status no_memory(const struct program *program)
{
    (void)STATUS_FAIL(STATUS_NO_MEMORY, "footprint", "no memory to replay %zu steps",
                      program->step_count);
    return STATUS_NO_MEMORY;
}

static enum status replay_init(struct replay *replay, const struct program *program,
                               const struct footprint_request *request)
{
    enum status status = STATUS_OK;
    size_t base = base_of(request);
    *replay = (struct replay){.program = program, .request = *request, .track_lines = true};
    line_set_init(&replay->lines);
    STATUS_TRY(check_request(program, request));
    STATUS_TRY(arena_init(&replay->arena, base, size_min(request->pool_bytes, SIZE_MAX - base)));
    replay->steps = calloc(size_max(program->step_count, 1), sizeof *replay->steps);
    replay->marks = calloc(size_max(program->scope_count, 1), sizeof *replay->marks);
    if (replay->steps == NULL || replay->marks == NULL) {
        status = no_memory(program);
        goto out;
    }
    compile(replay);
out:
    return status;
}

static void replay_fini(struct replay *replay)
{
    free(replay->steps);
    free(replay->marks);
    line_set_fini(&replay->lines);
}

static void note_overflow(struct replay *replay, const struct replay_step *step)
{
    const struct arena *arena = &replay->arena;
    size_t free_bytes = arena_free_bytes(arena, replay->request.alignment);
    bool in_tile = replay->tile > 0;
    replay->overflow = (struct footprint_overflow){
        .happened = true,
        .tile = replay->tile,
        .handle = step->index,
        .name = replay->program->handles[step->index].name,
        .request_bytes = step->bytes,
        .free_bytes = free_bytes,
        .used_bytes = arena->cursor,
        .missing_bytes = step->bytes > free_bytes ? step->bytes - free_bytes : 0,
        .live_tile_bytes = in_tile ? arena->cursor - replay->persistent_bytes : 0,
        .this_tile_bytes = in_tile ? arena->cursor - replay->tile_start : 0,
    };
}

/* The first request that does not fit is noted; then the limit is lifted and the replay goes on, so
 * that the peak is what the program would need. */
static enum status push_lifted(struct replay *replay, const struct replay_step *step,
                               size_t *address)
{
    note_overflow(replay, step);
    replay->arena.capacity = SIZE_MAX - replay->arena.base;
    enum status status =
        arena_push(&replay->arena, step->bytes, replay->request.alignment, address);
    if (status == STATUS_NO_SPACE) {
        return STATUS_FAIL(STATUS_RANGE, "footprint",
                           "%s in tile %zu: the need does not fit size_t",
                           replay->program->handles[step->index].name, replay->tile);
    }
    return status;
}

static enum status run_alloc(struct replay *replay, const struct replay_step *step, uint64_t *row)
{
    enum status status = STATUS_OK;
    size_t address;
    status = arena_push(&replay->arena, step->bytes, replay->request.alignment, &address);
    if (status == STATUS_NO_SPACE) {
        status = push_lifted(replay, step, &address);
    }
    STATUS_TRY(status);
    size_t offset = address - replay->arena.base;
    if (row != NULL) {
        row[step->index] = offset;
    }
    if (replay->track_lines && step->bytes > 0) {
        size_t last = offset + step->bytes - 1;
        STATUS_TRY(line_set_add(&replay->lines, offset / FOOTPRINT_LINE_BYTES,
                                last / FOOTPRINT_LINE_BYTES + 1));
    }
out:
    return status;
}

static enum status run_end(struct replay *replay, const struct replay_step *step, uint64_t *row)
{
    size_t mark = replay->marks[step->index];
    if (row != NULL) {
        uint64_t *range = row + replay->program->handle_count + 2 * step->index;
        range[0] = mark;
        range[1] = replay->arena.cursor;
    }
    return arena_rewind(&replay->arena, mark);
}

/* Runs steps [first, end); row: where the offsets go, NULL = nowhere. */
static enum status run_steps(struct replay *replay, size_t first, size_t end, uint64_t *row)
{
    enum status status = STATUS_OK;
    for (size_t i = first; i < end; i++) {
        const struct replay_step step = replay->steps[i];
        if (step.kind == PROGRAM_ALLOC) {
            STATUS_TRY(run_alloc(replay, &step, row));
        } else if (step.kind == PROGRAM_BEGIN) {
            replay->marks[step.index] = arena_mark(&replay->arena);
        } else {
            STATUS_TRY(run_end(replay, &step, row));
        }
    }
out:
    return status;
}

static enum status run_persistent(struct replay *replay, uint64_t *row)
{
    enum status status = run_steps(replay, 0, replay->persistent_count, row);
    replay->persistent_bytes = arena_mark(&replay->arena);
    return status;
}

/* A tile that ends where it started covers the same lines when it runs again. One that does not
 * leaves what is below the cursor for good. */
static enum status run_tile(struct replay *replay, uint64_t *row)
{
    enum status status = STATUS_OK;
    replay->tile++;
    replay->tile_start = arena_mark(&replay->arena);
    STATUS_TRY(run_steps(replay, replay->persistent_count, replay->step_count, row));
    size_t cursor = arena_mark(&replay->arena);
    if (cursor == replay->tile_start) {
        replay->track_lines = false;
    } else if (replay->track_lines) {
        line_set_settle(&replay->lines, cursor / FOOTPRINT_LINE_BYTES);
    }
out:
    return status;
}

/* Growth of the cursor over the first tile when no scope counts. */
static enum status plan_tile_bytes(const struct program *program, size_t alignment, size_t *bytes)
{
    enum status status = STATUS_OK;
    struct replay replay;
    const struct footprint_request request = {
        .policy = POLICY_UNSCOPED,
        .tiles = 1,
        .pool_bytes = FOOTPRINT_NO_LIMIT,
        .alignment = alignment,
    };
    STATUS_TRY(replay_init(&replay, program, &request));
    STATUS_TRY(run_persistent(&replay, NULL));
    STATUS_TRY(run_tile(&replay, NULL));
    *bytes = replay.arena.cursor - replay.persistent_bytes;
out:
    replay_fini(&replay);
    return status;
}

/* Adds count x bytes. */
static bool add_times(size_t bytes, size_t count, size_t *sum)
{
    size_t product;
    return size_mul(bytes, count, &product) && size_add(*sum, product, sum);
}

static enum status plan_totals(const struct program *program,
                               const struct footprint_request *request, struct footprint *plan)
{
    for (size_t i = 0; i < program->handle_count; i++) {
        const struct program_handle *handle = &program->handles[i];
        size_t count = handle->persistent ? 1 : request->tiles;
        size_t padded;
        if (!size_align_up(handle->size_bytes, request->alignment, &padded) ||
            !add_times(handle->requested_bytes, count, &plan->requested_bytes) ||
            !add_times(padded, count, &plan->padded_bytes)) {
            return STATUS_FAIL(STATUS_RANGE, "footprint",
                               "the bytes of all %zu tiles together do not fit size_t",
                               request->tiles);
        }
    }
    return STATUS_OK;
}

/* Tiles that are replayed one by one, whatever S; past them a plan goes by whole periods. */
enum { REPLAY_TILES = 1 << 21 };

/* 2 to this power tiles, and the lines that a tile covers repeat: their growth is whole lines. */
static unsigned period_shift(size_t growth)
{
    unsigned shift = 0;
    while (((growth << shift) & (FOOTPRINT_LINE_BYTES - 1)) != 0) {
        shift++;
    }
    return shift;
}

/* Goes `periods` periods further without running them: cursor, peak and lines move as one. */
static enum status skip(struct replay *replay, size_t periods, size_t period_bytes,
                        size_t period_lines)
{
    size_t bytes, lines;
    struct arena *arena = &replay->arena;
    if (!size_mul(periods, period_bytes, &bytes) || !size_mul(periods, period_lines, &lines) ||
        bytes > SIZE_MAX - arena->base - arena->peak) {
        return STATUS_FAIL(STATUS_RANGE, "footprint", "the need of %zu tiles does not fit size_t",
                           replay->request.tiles);
    }
    arena->cursor += bytes;
    arena->peak += bytes;
    line_set_shift(&replay->lines, bytes / FOOTPRINT_LINE_BYTES, lines);
    return STATUS_OK;
}

/* From the second tile on a tile starts at the same distance from an aligned address, so that each
 * grows the cursor by as much. One period is run, then as many are skipped as certainly fit, and
 * leave a tile to run. */
static enum status skip_tiles(struct replay *replay)
{
    enum status status = STATUS_OK;
    size_t cursor = replay->arena.cursor, lines = line_set_count(&replay->lines);
    unsigned shift = period_shift(cursor - replay->tile_start);
    for (size_t i = 0; i < (size_t)1 << shift; i++) {
        STATUS_TRY(run_tile(replay, NULL));
    }
    size_t period_bytes = replay->arena.cursor - cursor;
    size_t periods = (replay->request.tiles - replay->tile - 1) >> shift;
    if (!replay->overflow.happened && period_bytes > 0) {
        size_t fitting = (replay->arena.capacity - replay->arena.peak) / period_bytes;
        periods = size_min(periods, fitting > 0 ? fitting - 1 : 0);
    }
    if (periods > 0) {
        STATUS_TRY(skip(replay, periods, period_bytes, line_set_count(&replay->lines) - lines));
        replay->tile += periods << shift;
    }
out:
    return status;
}

static enum status plan_replay(struct replay *replay, struct footprint *plan)
{
    enum status status = STATUS_OK;
    STATUS_TRY(run_persistent(replay, NULL));
    while (replay->tile < replay->request.tiles) {
        STATUS_TRY(run_tile(replay, NULL));
        if (replay->tile > 1 && replay->request.tiles - replay->tile > REPLAY_TILES) {
            STATUS_TRY(skip_tiles(replay));
        }
    }
    plan->persistent_bytes = replay->persistent_bytes;
    plan->peak_bytes = replay->arena.peak;
    plan->current_bytes = replay->arena.cursor;
    plan->touched_lines = line_set_count(&replay->lines);
    plan->overflow = replay->overflow;
out:
    return status;
}

enum status footprint_plan(const struct program *program, const struct footprint_request *request,
                           struct footprint *out)
{
    enum status status = STATUS_OK;
    struct footprint plan = {0};
    struct replay replay;

    *out = (struct footprint){0};
    STATUS_TRY(replay_init(&replay, program, request));
    STATUS_TRY(plan_totals(program, request, &plan));
    STATUS_TRY(plan_tile_bytes(program, request->alignment, &plan.tile_bytes));
    STATUS_TRY(lower_bound_bytes(program, request->tiles > 0, request->alignment,
                                 &plan.lower_bound_bytes));
    STATUS_TRY(plan_replay(&replay, &plan));
    *out = plan;
out:
    replay_fini(&replay);
    return status;
}

static enum status refuse_overflow(const struct program *program,
                                   const struct footprint_request *request,
                                   const struct footprint *plan)
{
    char text[1024];
    footprint_overflow_text(program, request, plan, FOOTPRINT_NO_LIMIT, text, sizeof text);
    return STATUS_FAIL(STATUS_NO_SPACE, "scratch of one PE", "%s", text);
}

static enum status table_create(const struct program *program,
                                const struct footprint_request *request,
                                const struct footprint *plan, struct offset_table *table)
{
    bool rises = request->policy == POLICY_UNSCOPED || plan->current_bytes > plan->persistent_bytes;
    size_t cells;
    table->rows = rises ? size_max(request->tiles, 1) : 1;
    table->columns = program->handle_count + 2 * program->scope_count + 2;
    table->row_stride = rises ? table->columns : 0;
    if (size_mul(table->rows, table->columns, &cells)) {
        table->cells = calloc(cells, sizeof *table->cells);
    }
    if (table->cells == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "footprint_table", "no memory for %zu rows of offsets",
                           table->rows);
    }
    return STATUS_OK;
}

static enum status table_fill(struct replay *replay, const struct footprint *plan,
                              const struct offset_table *table)
{
    enum status status = STATUS_OK;
    STATUS_TRY(run_persistent(replay, table->cells));
    for (size_t i = 0; i < table->rows; i++) {
        uint64_t *row = table->cells + i * table->columns;
        if (i > 0) {
            memcpy(row, table->cells, replay->persistent_count * sizeof *row);
        }
        if (replay->request.tiles > 0) {
            STATUS_TRY(run_tile(replay, row));
        }
        row[table->columns - 1] = plan->current_bytes;
    }
out:
    return status;
}

enum status footprint_table(const struct program *program, const struct footprint_request *request,
                            struct offset_table *out)
{
    enum status status = STATUS_OK;
    struct footprint plan;
    struct replay replay = {0};

    *out = (struct offset_table){0};
    STATUS_TRY(footprint_plan(program, request, &plan));
    if (plan.overflow.happened) {
        STATUS_TRY(refuse_overflow(program, request, &plan));
    }
    STATUS_TRY(replay_init(&replay, program, request));
    replay.track_lines = false;
    STATUS_TRY(table_create(program, request, &plan, out));
    STATUS_TRY(table_fill(&replay, &plan, out));
out:
    replay_fini(&replay);
    if (status != STATUS_OK) {
        offset_table_fini(out);
    }
    return status;
}

void offset_table_fini(struct offset_table *table)
{
    free(table->cells);
    *table = (struct offset_table){0};
}
