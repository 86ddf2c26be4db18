#include "host/scratch/lower_bound.h"

#include <stdlib.h>

/* The sweep goes through the operations once; `live` holds the handles that are alive now. */
struct sweep {
    const struct program *program;
    bool with_tile;
    size_t alignment;
    size_t *last;      /* by handle: the step that reads or writes it last */
    bool *is_live;     /* by handle */
    size_t *live;      /* ids */
    size_t live_count; /* */
    size_t bound;      /* the largest sum so far */
};

static enum status sweep_init(struct sweep *sweep)
{
    const struct program *program = sweep->program;
    size_t count = size_max(program->handle_count, 1);
    sweep->last = calloc(count, sizeof *sweep->last);
    sweep->is_live = calloc(count, sizeof *sweep->is_live);
    sweep->live = calloc(count, sizeof *sweep->live);
    if (sweep->last == NULL || sweep->is_live == NULL || sweep->live == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "lower_bound_bytes", "no memory for %zu handles",
                           program->handle_count);
    }
    return STATUS_OK;
}

static void sweep_fini(struct sweep *sweep)
{
    free(sweep->last);
    free(sweep->is_live);
    free(sweep->live);
}

static void set_last(struct sweep *sweep, const size_t *operands, size_t count, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        sweep->last[operands[i]] = step;
    }
}

/* A handle of a tile that is not walked does not exist, though an operation after the tile may name
 * it. */
static void start(struct sweep *sweep, size_t handle)
{
    bool exists = sweep->with_tile || sweep->program->handles[handle].persistent;
    if (exists && !sweep->is_live[handle]) {
        sweep->is_live[handle] = true;
        sweep->live[sweep->live_count++] = handle;
    }
}

static enum status measure(struct sweep *sweep)
{
    size_t sum = 0;
    size_t largest_tail = 0;
    for (size_t i = 0; i < sweep->live_count; i++) {
        size_t size = sweep->program->handles[sweep->live[i]].size_bytes;
        size_t padded;
        if (!size_align_up(size, sweep->alignment, &padded) || !size_add(sum, padded, &sum)) {
            return STATUS_FAIL(STATUS_RANGE, "lower_bound_bytes",
                               "the sum of the live sizes does not fit size_t");
        }
        largest_tail = size_max(largest_tail, padded - size);
    }
    sweep->bound = size_max(sweep->bound, sum - largest_tail);
    return STATUS_OK;
}

static void drop_ended(struct sweep *sweep, size_t step)
{
    size_t kept = 0;
    for (size_t i = 0; i < sweep->live_count; i++) {
        size_t handle = sweep->live[i];
        if (sweep->program->handles[handle].persistent || sweep->last[handle] > step) {
            sweep->live[kept++] = handle;
        }
    }
    sweep->live_count = kept;
}

/* The operation that a step is; NULL = none, or one of a tile that is not walked. */
static const struct program_operation *operation_at(const struct sweep *sweep, size_t step)
{
    const struct program *program = sweep->program;
    bool in_tile = step >= program->tile_first && step < program->tile_end;
    if (program->steps[step].kind != PROGRAM_OPERATION || (in_tile && !sweep->with_tile)) {
        return NULL;
    }
    return &program->operations[program->steps[step].index];
}

static enum status walk(struct sweep *sweep)
{
    enum status status = STATUS_OK;
    const struct program *program = sweep->program;
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_operation *operation = operation_at(sweep, i);
        if (operation != NULL) {
            set_last(sweep, operation->reads, operation->read_count, i);
            set_last(sweep, operation->writes, operation->write_count, i);
        }
    }
    for (size_t i = 0; i < program->handle_count; i++) {
        if (program->handles[i].persistent) {
            start(sweep, i);
        }
    }
    STATUS_TRY(measure(sweep));
    for (size_t i = 0; i < program->step_count; i++) {
        const struct program_operation *operation = operation_at(sweep, i);
        if (operation != NULL) {
            for (size_t w = 0; w < operation->write_count; w++) {
                start(sweep, operation->writes[w]);
            }
            STATUS_TRY(measure(sweep));
            drop_ended(sweep, i);
        }
    }
out:
    return status;
}

enum status lower_bound_bytes(const struct program *program, bool with_tile, size_t alignment,
                              size_t *bytes)
{
    enum status status = STATUS_OK;
    struct sweep sweep = {.program = program, .with_tile = with_tile, .alignment = alignment};
    *bytes = 0;
    STATUS_TRY(sweep_init(&sweep));
    STATUS_TRY(walk(&sweep));
    *bytes = sweep.bound;
out:
    sweep_fini(&sweep);
    return status;
}
