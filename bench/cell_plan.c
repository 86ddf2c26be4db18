/* Plans one cell without running anything: the program is recorded and replayed under the cell's
 * policy, and what the device could not hold is told apart from what the pool could not. */
#include "bench/cells.h"
#include "host/attention/tile_program.h"
#include "host/base/units.h"
#include "host/device/pe_arenas.h"

#include <math.h>
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

struct pe_arenas_shape cell_arenas(const struct cell *cell)
{
    return (struct pe_arenas_shape){
        .space = cell->arena,
        .pes = cell->pes,
        .pool_bytes = cell->pool_bytes,
        .guard_bytes =
            cell->arena == PE_ARENAS_LOCAL ? PE_ARENAS_LOCAL_GUARD_BYTES : PE_ARENAS_GUARD_BYTES,
    };
}

bool cell_take_local(struct cell *cell, size_t device_bytes, size_t own_bytes)
{
    const size_t left = device_bytes > own_bytes ? device_bytes - own_bytes : 0;
    if (cell->arena != PE_ARENAS_LOCAL || left >= cell->local_bytes) {
        return false;
    }
    cell->local_bytes = left;
    return true;
}

static void tell_pool_overflow(const struct cell *cell, const struct program *program,
                               const struct footprint_request *request, struct cell_result *out)
{
    const size_t most_bytes = cell->arena == PE_ARENAS_LOCAL
                                  ? pe_arenas_local_pool(cell->local_bytes)
                                  : FOOTPRINT_NO_LIMIT;
    struct footprint_overflow *overflow = &out->footprint.overflow;
    out->overflow = true;
    out->overflow_tile = overflow->tile;
    out->overflow_request_bytes = overflow->request_bytes;
    out->overflow_free_bytes = overflow->free_bytes;
    snprintf(out->overflow_name, sizeof out->overflow_name, "%s", overflow->name);
    footprint_overflow_text(program, request, &out->footprint, most_bytes, out->overflow_text,
                            sizeof out->overflow_text);
}

/* What the device can't hold, and how it says so. */
struct device_overflow {
    const char *what;     /* "tensor q" */
    const char *limit;    /* what limit_bytes is */
    size_t request_bytes; /* */
    size_t limit_bytes;   /* less than that */
    const char *way_out;  /* */
};

static const char largest_allocation[] = "its largest allocation is";

static void tell_device_overflow(const struct device_overflow *overflow, struct cell_result *out)
{
    char request[UNITS_TEXT_BYTES];
    char limit[UNITS_TEXT_BYTES];
    char missing[UNITS_TEXT_BYTES];
    out->overflow = true;
    out->overflow_tile = 0;
    out->overflow_request_bytes = overflow->request_bytes;
    out->overflow_free_bytes = overflow->limit_bytes;
    snprintf(out->overflow_name, sizeof out->overflow_name, "device");
    snprintf(out->overflow_text, sizeof out->overflow_text,
             "the device can't hold %s: requested %s bytes, %s %s bytes, missing %s; %s",
             overflow->what, units_format_count(overflow->request_bytes, request), overflow->limit,
             units_format_count(overflow->limit_bytes, limit),
             units_format_count(overflow->request_bytes - overflow->limit_bytes, missing),
             overflow->way_out);
}

static enum status plan_arenas(const struct cell *cell, size_t max_alloc_bytes,
                               size_t base_align_bytes, struct cell_result *out)
{
    enum status status = STATUS_OK;
    struct pe_arenas_shape shape = cell_arenas(cell);
    STATUS_TRY(pe_arenas_layout(base_align_bytes, SIZE_MAX, &shape));
    if (shape.total_bytes > max_alloc_bytes) {
        char what[128];
        snprintf(what, sizeof what, "the arenas of %zu PEs (%zu bytes each, guard included)",
                 cell->pes, shape.stride_bytes);
        tell_device_overflow(
            &(struct device_overflow){what, largest_allocation, shape.total_bytes, max_alloc_bytes,
                                      "use fewer --pes, a smaller --pool, or --policy nested"},
            out);
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
            tell_device_overflow(&(struct device_overflow){what, largest_allocation, bytes,
                                                           max_alloc_bytes,
                                                           "use fewer tiles, heads or sequences"},
                                 out);
        }
    }
}

static void plan_parts(size_t parts_bytes, size_t max_alloc_bytes, struct cell_result *out)
{
    if (parts_bytes > max_alloc_bytes && !out->overflow) {
        tell_device_overflow(&(struct device_overflow){"the states of all parts",
                                                       largest_allocation, parts_bytes,
                                                       max_alloc_bytes, "use fewer --parts"},
                             out);
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

bool cell_exceeds_local(const struct cell *cell)
{
    return cell->arena == PE_ARENAS_LOCAL &&
           cell->pool_bytes > pe_arenas_local_pool(cell->local_bytes);
}

/* Not under pool_grow, where a row that needs more is refused by the device; nor where nothing is
 * left at all. */
void cell_limit_pool(struct cell *cell)
{
    const size_t left = pe_arenas_local_pool(cell->local_bytes);
    if (!cell->pool_grow && cell_exceeds_local(cell) && left >= cell->alignment) {
        cell->pool_bytes = left;
    }
}

static void plan_local(const struct cell *cell, struct cell_result *out)
{
    char what[128];
    size_t request_bytes = 0;
    if (!cell_exceeds_local(cell)) {
        return;
    }
    if (!size_add(cell->pool_bytes, PE_ARENAS_LOCAL_GUARD_BYTES, &request_bytes)) {
        request_bytes = SIZE_MAX;
    }
    snprintf(what, sizeof what, "an arena in local memory (pool %zu bytes, guard %d)",
             cell->pool_bytes, PE_ARENAS_LOCAL_GUARD_BYTES);
    tell_device_overflow(
        &(struct device_overflow){what, "a work-group has", request_bytes, cell->local_bytes,
                                  "use --policy nested, smaller blocks, or --arena global"},
        out);
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
        tell_pool_overflow(cell, &program, &request, out);
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
    *out = (struct cell_result){.peaks = {.fma_gflops = NAN, .memory_gb_per_s = NAN}};
    STATUS_TRY(problem_validate(&cell->problem));
    cell_limit_pool(cell);
    STATUS_TRY(plan_footprint(cell, out));
    out->items = problem_item_count(&cell->problem);
    out->flops = problem_flops(&cell->problem, out->items);
    out->parts_bytes = problem_parts_bytes(&cell->problem);
    out->cache_level = cache_level(cell, topology, out);
    if (!out->overflow) {
        plan_local(cell, out);
    }
    if (max_alloc_bytes > 0 && cell->pes > 0 && !out->overflow) {
        if (cell->arena == PE_ARENAS_GLOBAL) {
            STATUS_TRY(plan_arenas(cell, max_alloc_bytes, base_align_bytes, out));
        }
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
