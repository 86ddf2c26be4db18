#include "host/attention/problem.h"

#include "host/base/size.h"
#include "kernels/layout.h"

#include <float.h>
#include <math.h>

static enum status check_positive(const char *name, size_t value)
{
    if (value == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name, "must be at least 1, is 0");
    }
    return STATUS_OK;
}

static enum status check_extents(const struct problem *problem)
{
    const struct {
        const char *name;
        size_t value;
    } extents[] = {
        {"batch", problem->batch},       {"q_heads", problem->q_heads},
        {"kv_heads", problem->kv_heads}, {"seq_q", problem->seq_q},
        {"head_dim", problem->head_dim}, {"head_dim_v", problem->head_dim_v},
        {"block_m", problem->block_m},   {"block_n", problem->block_n},
    };
    enum status status = STATUS_OK;

    for (size_t i = 0; i < sizeof(extents) / sizeof(extents[0]); i++) {
        STATUS_TRY(check_positive(extents[i].name, extents[i].value));
    }
    if (problem->q_heads % problem->kv_heads != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "q_heads",
                           "%zu query heads can not share %zu key/value heads evenly: q_heads must "
                           "be a multiple of kv_heads",
                           problem->q_heads, problem->kv_heads);
    }
out:
    return status;
}

static enum status check_window(const char *name, int64_t reach)
{
    if (reach < -1) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name, "must be at least -1 (no bound), is %lld",
                           (long long)reach);
    }
    return STATUS_OK;
}

/* An object of C is at most PTRDIFF_MAX bytes; that also keeps positions within int64_t. */
static enum status check_tensor(const char *name, const size_t extents[4], size_t elem_bytes)
{
    size_t bytes = elem_bytes;
    bool fits = true;

    for (size_t i = 0; i < 4 && fits; i++) {
        fits = size_mul(bytes, extents[i], &bytes);
    }
    if (!fits || bytes > (size_t)PTRDIFF_MAX) {
        return STATUS_FAIL(STATUS_RANGE, name,
                           "[%zu, %zu, %zu, %zu] elements of %zu bytes do not fit in memory",
                           extents[0], extents[1], extents[2], extents[3], elem_bytes);
    }
    return STATUS_OK;
}

static enum status check_tensors(const struct problem *problem)
{
    const size_t q[] = {problem->batch, problem->q_heads, problem->seq_q, problem->head_dim};
    const size_t k[] = {problem->batch, problem->kv_heads, problem->seq_kv, problem->head_dim};
    const size_t v[] = {problem->batch, problem->kv_heads, problem->seq_kv, problem->head_dim_v};
    const size_t out_shape[] = {problem->batch, problem->q_heads, problem->seq_q,
                                problem->head_dim_v};
    const size_t mask[] = {1, 1, problem->seq_q, problem->seq_kv};
    size_t storage_bytes = dtype_bytes(problem->dtype);
    enum status status = STATUS_OK;

    STATUS_TRY(check_tensor("q", q, storage_bytes));
    STATUS_TRY(check_tensor("k", k, storage_bytes));
    STATUS_TRY(check_tensor("v", v, storage_bytes));
    STATUS_TRY(check_tensor("out", out_shape, sizeof(float)));
    if (problem->mask) {
        STATUS_TRY(check_tensor("mask", mask, sizeof(float)));
    }
out:
    return status;
}

/* The kernels hold both numbers in f32. */
static enum status check_score_options(const struct problem *problem)
{
    double cap = problem->softcap;

    if (!(fabs(problem->scale) <= (double)FLT_MAX)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "scale", "must be finite in f32, is %g",
                           problem->scale);
    }
    if (!(cap >= 0.0 && cap <= (double)FLT_MAX) || (cap > 0.0 && cap < (double)FLT_MIN)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "softcap",
                           "must be above 0 and finite in f32, or 0 for none, is %g", cap);
    }
    return STATUS_OK;
}

static enum status check_parts(const struct problem *problem)
{
    if (problem->parts > PROBLEM_MAX_PARTS) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "parts", "must be at most %d, is %zu",
                           PROBLEM_MAX_PARTS, problem->parts);
    }
    if (problem_parts_bytes(problem) > (size_t)PTRDIFF_MAX) {
        return STATUS_FAIL(STATUS_RANGE, "parts",
                           "the states of %zu parts of each block do not fit in memory",
                           problem->parts);
    }
    return STATUS_OK;
}

enum status problem_validate(const struct problem *problem)
{
    enum status status = STATUS_OK;

    STATUS_TRY(check_extents(problem));
    STATUS_TRY(check_window("window_left", problem->window_left));
    STATUS_TRY(check_window("window_right", problem->window_right));
    STATUS_TRY(check_score_options(problem));
    STATUS_TRY(check_tensors(problem));
    STATUS_TRY(check_parts(problem));
out:
    return status;
}

double problem_scale(const struct problem *problem)
{
    return problem->scale != 0.0 ? problem->scale : 1.0 / sqrt((double)problem->head_dim);
}

size_t problem_group(const struct problem *problem)
{
    return problem->q_heads / problem->kv_heads;
}

static size_t packed_rows(const struct problem *problem)
{
    return problem->seq_q * problem_group(problem);
}

static size_t blocks_of_head(const struct problem *problem)
{
    return size_div_up(packed_rows(problem), problem->block_m);
}

static size_t block_count(const struct problem *problem)
{
    return problem->batch * problem->kv_heads * blocks_of_head(problem);
}

size_t problem_parts(const struct problem *problem)
{
    return size_max(problem->parts, 1);
}

size_t problem_item_count(const struct problem *problem)
{
    return block_count(problem) * problem_parts(problem);
}

size_t problem_part_bytes(const struct problem *problem)
{
    size_t row_elems, bytes;
    bool fits = size_align_up(problem->head_dim_v, LAYOUT_PITCH_ELEMS, &row_elems) &&
                size_add(row_elems, 2, &row_elems) && /* m and l */
                size_mul(row_elems, problem->block_m, &bytes) &&
                size_mul(bytes, sizeof(float), &bytes);

    return fits ? bytes : SIZE_MAX;
}

size_t problem_parts_bytes(const struct problem *problem)
{
    size_t parts = problem_parts(problem);
    size_t bytes;

    if (parts == 1) {
        return 0;
    }
    if (!size_mul(problem_part_bytes(problem), block_count(problem), &bytes) ||
        !size_mul(bytes, parts, &bytes)) {
        return SIZE_MAX;
    }
    return bytes;
}

double problem_alibi_slope(const struct problem *problem, size_t head)
{
    size_t power = 1;

    while (power <= problem->q_heads / 2) {
        power *= 2;
    }
    if (head < power) {
        return exp2(-8.0 * ((double)head + 1.0) / (double)power);
    }
    return exp2(-8.0 * (2.0 * (double)(head - power) + 1.0) / (2.0 * (double)power));
}

int64_t problem_reach_left(const struct problem *problem)
{
    return problem->window_left;
}

int64_t problem_reach_right(const struct problem *problem)
{
    return problem->causal ? 0 : problem->window_right;
}

/* The comparisons are turned round so that no sum with a reach of up to INT64_MAX wraps:
 * seq_kv - 1 - right and diagonal - left stay within int64_t for reaches >= 0. */
void problem_visible(const struct problem *problem, size_t position, size_t *first, size_t *end)
{
    int64_t seq_kv = (int64_t)problem->seq_kv;
    int64_t diagonal = (int64_t)position - (int64_t)problem->seq_q + seq_kv;
    int64_t left = problem_reach_left(problem);
    int64_t right = problem_reach_right(problem);

    *first = left < 0 || diagonal <= left ? 0 : (size_t)(diagonal - left);
    if (right < 0 || diagonal >= seq_kv - 1 - right) {
        *end = problem->seq_kv;
    } else {
        *end = diagonal + right < 0 ? 0 : (size_t)(diagonal + right + 1);
    }
}

/* Both ends of the visible interval never fall with the position, and rows without a key come
 * first and have it at [0, 0): so the first row's start and the last row's end span the union. */
static struct problem_item whole_block(const struct problem *problem, size_t block)
{
    size_t blocks = blocks_of_head(problem);
    size_t group = problem_group(problem);
    size_t head = block / blocks;
    struct problem_item item = {
        .batch = head / problem->kv_heads,
        .kv_head = head % problem->kv_heads,
        .first_row = block % blocks * problem->block_m,
    };
    size_t first, end, unused;

    item.rows = size_min(problem->block_m, packed_rows(problem) - item.first_row);
    problem_visible(problem, item.first_row / group, &first, &unused);
    problem_visible(problem, (item.first_row + item.rows - 1) / group, &unused, &end);
    if (first < end) {
        item.tile_first = first / problem->block_n;
        item.tile_count = (end - 1) / problem->block_n - item.tile_first + 1;
    }
    return item;
}

/* tiles x part / parts; the product alone could wrap. */
static size_t part_start(size_t tiles, size_t part, size_t parts)
{
    return tiles / parts * part + tiles % parts * part / parts;
}

struct problem_item problem_item(const struct problem *problem, size_t index)
{
    size_t parts = problem_parts(problem);
    struct problem_item item = whole_block(problem, index / parts);
    size_t start, end;

    item.part = index % parts;
    start = part_start(item.tile_count, item.part, parts);
    end = part_start(item.tile_count, item.part + 1, parts);
    item.tile_first += start;
    item.tile_count = end - start;
    return item;
}

/* From the last block back: unless the left reach is bounded, it walks every tile that any does.
 * Parts differ by a tile at most, so one of them has the rounded-up share. */
size_t problem_tiles(const struct problem *problem)
{
    size_t limit = size_div_up(problem->seq_kv, problem->block_n);
    size_t most = 0;

    for (size_t block = blocks_of_head(problem); block > 0 && most < limit; block--) {
        most = size_max(most, whole_block(problem, block - 1).tile_count);
    }
    return size_div_up(most, problem_parts(problem));
}

/* The sum of min(max(start + i, 0), limit) over i = 0 .. count - 1; limit >= 0. */
static double sum_clamped(double start, double count, double limit)
{
    double rise = fmin(fmax(-start, 0.0), count);
    double flat = fmin(fmax(limit - start, 0.0), count);

    return (flat - rise) * (2.0 * start + rise + flat - 1.0) / 2.0 + (count - flat) * limit;
}

/* Visible pairs of the positions below `positions`. */
static double pairs_before(const struct problem *problem, size_t positions)
{
    double count = (double)positions;
    double seq_kv = (double)problem->seq_kv;
    double diagonal = seq_kv - (double)problem->seq_q;
    double left = (double)problem_reach_left(problem);
    double right = (double)problem_reach_right(problem);
    double ends = right < 0.0 ? count * seq_kv : sum_clamped(diagonal + right + 1.0, count, seq_kv);
    double firsts = left < 0.0 ? 0.0 : sum_clamped(diagonal - left, count, seq_kv);

    return ends - firsts;
}

double problem_visible_pairs(const struct problem *problem)
{
    return pairs_before(problem, problem->seq_q);
}

double problem_flops(const struct problem *problem, size_t item_end)
{
    size_t blocks = blocks_of_head(problem);
    size_t group = problem_group(problem);
    size_t done = size_min(item_end / problem_parts(problem), block_count(problem));
    size_t heads = done / blocks; /* that are whole; `rows` more of the next one */
    size_t rows = done % blocks * problem->block_m;
    double pairs = (double)heads * (double)group * problem_visible_pairs(problem);
    size_t first, end;

    problem_visible(problem, rows / group, &first, &end);
    pairs += (double)group * pairs_before(problem, rows / group);
    pairs += (double)(rows % group) * (double)(end - first);
    return 2.0 * pairs * ((double)problem->head_dim + (double)problem->head_dim_v);
}

size_t problem_q_elems(const struct problem *problem)
{
    return problem->batch * problem->q_heads * problem->seq_q * problem->head_dim;
}

size_t problem_k_elems(const struct problem *problem)
{
    return problem->batch * problem->kv_heads * problem->seq_kv * problem->head_dim;
}

size_t problem_v_elems(const struct problem *problem)
{
    return problem->batch * problem->kv_heads * problem->seq_kv * problem->head_dim_v;
}

size_t problem_out_elems(const struct problem *problem)
{
    return problem->batch * problem->q_heads * problem->seq_q * problem->head_dim_v;
}

size_t problem_lse_elems(const struct problem *problem)
{
    return problem->batch * problem->q_heads * problem->seq_q;
}
