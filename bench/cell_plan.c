/* Plans one cell without running anything: the program is recorded and replayed under the cell's
 * policy, and what the device could not hold is told apart from what the pool could not. */
#include "bench/cells.h"
#include "host/attention/tile_program.h"
#include "host/base/units.h"
#include "host/device/pe_arenas.h"

#include <stdio.h>
#include <string.h>

/* Of the repetitions' times. */
#define WIDE_CV 0.05

/* One buffer that a row needs on the device. */
struct tensor_need {
    const char *name;
    size_t elems;
    size_t elem_bytes;
};

struct footprint_request cell_request(const struct cell *cell)
{
    return (struct footprint_request){
        .policy = cell->policy,
        .tiles = problem_tiles(&cell->problem),
        .pool_bytes = cell->pool_bytes,
        .alignment = cell->alignment,
    };
}

static void tell_pool_overflow(const struct program *program,
                               const struct footprint_request *request, struct cell_result *out)
{
    struct footprint_overflow *overflow = &out->footprint.overflow;
    out->overflow = true;
    out->overflow_tile = overflow->tile;
    out->overflow_request_bytes = overflow->request_bytes;
    out->overflow_free_bytes = overflow->free_bytes;
    snprintf(out->overflow_name, sizeof out->overflow_name, "%s", overflow->name);
    footprint_overflow_text(program, request, &out->footprint, out->overflow_text,
                            sizeof out->overflow_text);
}

static void tell_device_overflow(size_t request_bytes, size_t limit_bytes, const char *what,
                                 const char *way_out, struct cell_result *out)
{
    char request[UNITS_TEXT_BYTES];
    char limit[UNITS_TEXT_BYTES];
    char missing[UNITS_TEXT_BYTES];
    out->overflow = true;
    out->overflow_tile = 0;
    out->overflow_request_bytes = request_bytes;
    out->overflow_free_bytes = limit_bytes;
    snprintf(out->overflow_name, sizeof out->overflow_name, "device");
    snprintf(out->overflow_text, sizeof out->overflow_text,
             "the device can't hold %s: requested %s bytes, its largest allocation is %s bytes, "
             "missing %s; %s",
             what, units_format_count(request_bytes, request),
             units_format_count(limit_bytes, limit),
             units_format_count(request_bytes - limit_bytes, missing), way_out);
}

static enum status plan_arenas(const struct cell *cell, size_t max_alloc_bytes,
                               size_t base_align_bytes, struct cell_result *out)
{
    enum status status = STATUS_OK;
    struct pe_arenas_shape shape = {
        .pes = cell->pes,
        .pool_bytes = cell->pool_bytes,
        .guard_bytes = PE_ARENAS_GUARD_BYTES,
    };
    STATUS_TRY(pe_arenas_layout(base_align_bytes, SIZE_MAX, &shape));
    if (shape.total_bytes > max_alloc_bytes) {
        char what[128];
        snprintf(what, sizeof what, "the arenas of %zu PEs (%zu bytes each, guard included)",
                 cell->pes, shape.stride_bytes);
        tell_device_overflow(shape.total_bytes, max_alloc_bytes, what,
                             "use fewer --pes, a smaller --pool, or --policy nested", out);
    }
out:
    return status;
}

/* problem_validate has shown that the products fit. */
static void plan_tensors(const struct problem *problem, size_t max_alloc_bytes,
                         struct cell_result *out)
{
    const size_t storage = dtype_bytes(problem->dtype);
    const struct tensor_need needs[] = {
        {"q", problem_q_elems(problem), storage},
        {"k", problem_k_elems(problem), storage},
        {"v", problem_v_elems(problem), storage},
        {"out", problem_out_elems(problem), sizeof(float)},
        {"lse", problem_lse_elems(problem), sizeof(float)},
        {"mask", problem->mask ? problem->seq_q * problem->seq_kv : 0, sizeof(float)},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0] && !out->overflow; i++) {
        size_t bytes = needs[i].elems * needs[i].elem_bytes;
        if (bytes > max_alloc_bytes) {
            char what[64];
            snprintf(what, sizeof what, "tensor %s", needs[i].name);
            tell_device_overflow(bytes, max_alloc_bytes, what,
                                 "use fewer tiles, heads or sequences", out);
        }
    }
}

static void plan_parts(size_t parts_bytes, size_t max_alloc_bytes, struct cell_result *out)
{
    if (parts_bytes > max_alloc_bytes && !out->overflow) {
        tell_device_overflow(parts_bytes, max_alloc_bytes, "the states of all parts",
                             "use fewer --parts", out);
    }
}

static size_t cache_level(const struct cell *cell, const struct topology *topology,
                          const struct cell_result *result)
{
    size_t busy_pes = size_min(cell->pes, result->items);
    if (topology == NULL || busy_pes == 0) {
        return 0;
    }
    return topology_cache_level(topology, result->footprint.peak_bytes, busy_pes);
}

static enum status plan_footprint(struct cell *cell, struct cell_result *out)
{
    enum status status = STATUS_OK;
    struct program program;
    program_init(&program);
    struct footprint_request request = cell_request(cell);
    if (cell->pool_grow) {
        request.pool_bytes = FOOTPRINT_NO_LIMIT;
    }

    STATUS_TRY(tile_program_record(&cell->problem, &program));
    STATUS_TRY(footprint_plan(&program, &request, &out->footprint));
    if (cell->pool_grow) {
        size_t least = size_max(out->footprint.peak_bytes, cell->alignment);
        if (!size_align_up(size_max(least, 1), PE_ARENAS_LINE_BYTES, &cell->pool_bytes)) {
            status = STATUS_FAIL(STATUS_RANGE, cell->name, "the pool that it needs is too large");
            goto out;
        }
    }
    out->tiles = request.tiles;
    out->traffic = tile_program_traffic(&cell->problem, &program);
    if (out->footprint.overflow.happened) {
        tell_pool_overflow(&program, &request, out);
        out->footprint.overflow.name = NULL; /* it lives in the program, which ends here */
    }
out:
    program_fini(&program);
    return status;
}

enum status cell_plan(struct cell *cell, size_t max_alloc_bytes, size_t base_align_bytes,
                      const struct topology *topology, struct cell_result *out)
{
    enum status status = STATUS_OK;
    *out = (struct cell_result){0};
    STATUS_TRY(problem_validate(&cell->problem));
    STATUS_TRY(plan_footprint(cell, out));
    out->items = problem_item_count(&cell->problem);
    out->flops = problem_flops(&cell->problem, out->items);
    out->parts_bytes = problem_parts_bytes(&cell->problem);
    out->cache_level = cache_level(cell, topology, out);
    if (max_alloc_bytes > 0 && cell->pes > 0 && !out->overflow) {
        STATUS_TRY(plan_arenas(cell, max_alloc_bytes, base_align_bytes, out));
        plan_tensors(&cell->problem, max_alloc_bytes, out);
        plan_parts(out->parts_bytes, max_alloc_bytes, out);
    }
    if (out->overflow) {
        out->cache_level = 0; /* nothing runs */
    }
out:
    if (status != STATUS_OK) {
        *out = (struct cell_result){0};
    }
    return status;
}

void cell_judge(struct cell_result *result, bool same_bits)
{
    const struct attention_check *check = &result->check;

    result->checked = true;
    result->agrees = check->touch.peak_bytes == result->footprint.peak_bytes &&
                     check->touch.touched_lines == result->footprint.touched_lines &&
                     check->parts_touched_bytes == result->parts_bytes &&
                     check->touch.guards_intact;
    result->same_bits = same_bits;
    result->ok = check->verdict.verified && result->agrees && check->repeatable &&
                 result->same_bits && check->poison_neutral;
}

bool cell_spread_is_wide(double cv)
{
    return cv > WIDE_CV;
}
