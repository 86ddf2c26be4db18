#include "host/attention/reference.h"

#include "host/base/size.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    MIN_ROWS = 4,      /* computed whatever the bound on the work */
    MIN_ROW_KEYS = 16, /* a row's load, finish and comparison cost about as much as these keys */
    EXP_WORK = 16      /* multiply-adds that take about as long as the exp of a score */
};

/* -------------------------------------------------------------------------------------------------
 * Rows to compute: all of them, or a sample.
 */

/* Point i of a low-discrepancy sequence (multiples of an irrational step, modulo 1) in [0, n):
 * even over the whole range however many points are taken. */
static size_t spread(size_t i, size_t n, uint64_t step)
{
    double fraction = (double)((((uint64_t)i + 1) * step) >> 11) * 0x1p-53;
    size_t point = (size_t)(fraction * (double)n);

    return size_min(point, n - 1);
}

#define STEP_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 x (sqrt(5) - 1) / 2 */
#define STEP_ROOT_2 UINT64_C(0x6a09e667f3bcc909) /* 2^64 x (sqrt(2) - 1) */

/* Row number of a packed row of a key/value head; `head` counts over [batch, kv_heads]. */
static size_t row_number(const struct problem *problem, size_t head, size_t packed)
{
    size_t group = problem_group(problem);

    return (head * group + packed % group) * problem->seq_q + packed / group;
}

/* A position near one from the sequence whose visible keys end (or else start) at a tile's edge;
 * `past` = 1 for the position after it, which sees one key of the next tile (or one key less). */
static size_t tile_edge_position(const struct problem *problem, size_t i, size_t past)
{
    size_t position = spread(i, problem->seq_q, STEP_GOLDEN);
    size_t first, end, key, back;

    problem_visible(problem, position, &first, &end);
    key = problem_reach_right(problem) >= 0 ? end : first;
    back = key % problem->block_n;
    position = position >= back ? position - back : position;
    return size_min(position + past, problem->seq_q - 1);
}

/* Packed row of sample i: the ends of the sequence, edges of blocks, edges of tiles, others. */
static size_t sample_packed_row(const struct problem *problem, size_t i)
{
    size_t group = problem_group(problem);
    size_t rows = problem->seq_q * group;
    size_t block = spread(i, size_div_up(rows, problem->block_m), STEP_GOLDEN);
    size_t first = block * problem->block_m;
    size_t in_group = spread(i, group, STEP_ROOT_2);

    switch (i % 7) {
    case 0:
        return 0;
    case 1: /* the last row of a block */
        return first + size_min(problem->block_m, rows - first) - 1;
    case 2: /* the first row of a block */
        return first;
    case 3:
        return rows - 1;
    case 4:
        return tile_edge_position(problem, i, 0) * group + in_group;
    case 5:
        return tile_edge_position(problem, i, 1) * group + in_group;
    default:
        return spread(i, rows, STEP_ROOT_2);
    }
}

static int compare_rows(const void *a, const void *b)
{
    size_t row_a = *(const size_t *)a;
    size_t row_b = *(const size_t *)b;

    return (row_a > row_b) - (row_a < row_b);
}

/* Sorts, and takes out what is there twice. */
static size_t make_distinct(size_t *rows, size_t count)
{
    size_t distinct = 0;

    qsort(rows, count, sizeof(rows[0]), compare_rows);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i] != rows[i - 1]) {
            rows[distinct++] = rows[i];
        }
    }
    return distinct;
}

/* Fills rows[0 .. count), 4 <= count < all rows, and returns how many are distinct: at least 4.
 * Heads are taken in order, from the first to the last, so that every one has its share. */
static size_t sample_rows(const struct problem *problem, size_t *rows, size_t count)
{
    size_t heads = problem->batch * problem->kv_heads;
    size_t last_packed = problem->seq_q * problem_group(problem) - 1;
    size_t distinct;

    for (size_t i = 0; i < count; i++) {
        double along = (double)i / (double)(count - 1) * (double)(heads - 1);
        size_t head = size_min((size_t)(along + 0.5), heads - 1);
        size_t packed = i == count - 1 ? last_packed : sample_packed_row(problem, i);
        rows[i] = row_number(problem, head, packed);
    }
    distinct = make_distinct(rows, count);
    for (size_t row = 0; distinct < MIN_ROWS; row++) {
        rows[distinct] = row;
        distinct = make_distinct(rows, distinct + 1);
    }
    return distinct;
}

static size_t rows_allowed(const struct problem *problem, double work)
{
    size_t total = problem_lse_elems(problem);
    double keys = (double)size_max(problem->seq_kv, MIN_ROW_KEYS);
    double dims = (double)problem->head_dim + (double)problem->head_dim_v;
    double allowed = floor(work / (keys * (dims + EXP_WORK)));

    if (!(allowed < (double)total)) {
        return total;
    }
    return size_min(total, allowed > (double)MIN_ROWS ? (size_t)allowed : (size_t)MIN_ROWS);
}

static enum status choose_rows(const struct problem *problem, double work,
                               struct reference *reference)
{
    size_t count = rows_allowed(problem, work);

    reference->rows = calloc(count, sizeof(reference->rows[0]));
    if (reference->rows == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "reference", "no memory for %zu rows", count);
    }
    if (count < problem_lse_elems(problem)) {
        reference->row_count = sample_rows(problem, reference->rows, count);
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        reference->rows[i] = i;
    }
    reference->row_count = count;
    return STATUS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * The rows' attention. Keys are the outer loop and the rows of one key/value head the inner one,
 * so that a row of K or V is converted once for all of them; the softmax is the online one.
 */

enum {
    CHUNK_KEYS = 32,
    CHUNK_PITCH = CHUNK_KEYS + 4 /* no power of two, lest a column of k fall into few cache sets */
};

struct work {
    const struct problem *problem;
    const struct inputs *inputs;
    struct reference *reference; /* out: sum of p v so far, until a row is finished */
    double *q;                   /* [row_count, head_dim] */
    double *k;                   /* [head_dim, CHUNK_PITCH]: a product runs along the keys, which
                                    vectorises without reordering any sum */
    double *v;                   /* [CHUNK_KEYS, head_dim_v] */
    double *max;                 /* [row_count] largest score so far, sinks apart */
    double *sum;                 /* [row_count] sum of exp(score - max) so far */
    double *sizes;               /* [row_count] sum of exp(score - max) x size so far */
};

/* Zeroed; never of 0 bytes, for which calloc may return NULL. */
static double *allocate(size_t rows, size_t columns)
{
    return calloc(size_max(rows, 1), columns * sizeof(double));
}

static void work_fini(struct work *work)
{
    free(work->q);
    free(work->k);
    free(work->v);
    free(work->max);
    free(work->sum);
    free(work->sizes);
}

static enum status work_init(struct work *work)
{
    const struct problem *problem = work->problem;
    size_t rows = work->reference->row_count;

    work->q = allocate(rows, problem->head_dim);
    work->k = allocate(problem->head_dim, CHUNK_PITCH);
    work->v = allocate(problem->head_dim_v, CHUNK_KEYS);
    work->max = allocate(rows, 1);
    work->sum = allocate(rows, 1);
    work->sizes = allocate(rows, 1);
    if (work->q == NULL || work->k == NULL || work->v == NULL || work->max == NULL ||
        work->sum == NULL || work->sizes == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "reference", "no memory for %zu rows", rows);
    }
    return STATUS_OK;
}

/* Elements [start, start + count) of a tensor, `stride` doubles apart. */
static void convert(const struct inputs *inputs, const void *array, size_t start, size_t count,
                    double *out, size_t stride)
{
    if (inputs->dtype == DTYPE_F16) {
        const uint16_t *bits = (const uint16_t *)array + start;
        for (size_t i = 0; i < count; i++) {
            out[i * stride] = (double)dtype_f32_from_f16(bits[i]);
        }
    } else {
        const float *values = (const float *)array + start;
        for (size_t i = 0; i < count; i++) {
            out[i * stride] = (double)values[i];
        }
    }
}

static void load_row(struct work *work, size_t r)
{
    size_t dim = work->problem->head_dim;

    convert(work->inputs, work->inputs->q, work->reference->rows[r] * dim, dim, work->q + r * dim,
            1);
    work->max[r] = -(double)INFINITY;
}

/* Keys and values [key, key + count) of a head. Lanes of k past the count keep what they have;
 * their scores are not used. */
static void load_chunk(struct work *work, size_t head, size_t key, size_t count)
{
    size_t dim = work->problem->head_dim, dim_v = work->problem->head_dim_v;
    size_t row = head * work->problem->seq_kv + key;

    for (size_t j = 0; j < count; j++) {
        convert(work->inputs, work->inputs->k, (row + j) * dim, dim, work->k + j, CHUNK_PITCH);
    }
    convert(work->inputs, work->inputs->v, row * dim_v, count * dim_v, work->v, 1);
}

/* scores[j] = scale x q . k_j and sizes[j] = |scale| x sum |q_i k_ij| over the whole chunk. */
static void chunk_products(const struct work *work, size_t r, double *restrict scores,
                           double *restrict sizes)
{
    size_t dim = work->problem->head_dim;
    double scale = problem_scale(work->problem);

    for (size_t j = 0; j < CHUNK_KEYS; j++) {
        scores[j] = 0.0;
        sizes[j] = 0.0;
    }
    for (size_t i = 0; i < dim; i++) {
        double q = work->q[r * dim + i];
        const double *k = work->k + i * CHUNK_PITCH;
        for (size_t j = 0; j < CHUNK_KEYS; j++) {
            scores[j] += q * k[j];
            sizes[j] += fabs(q * k[j]);
        }
    }
    for (size_t j = 0; j < CHUNK_KEYS; j++) {
        scores[j] *= scale;
        sizes[j] *= fabs(scale);
    }
}

/* Lanes [from, to) of a row's chunk, and what a lane's score is and is made of. */
struct lanes {
    size_t r;    /* index of the row */
    size_t key;  /* of lane 0 */
    size_t from; /* first lane that the row sees */
    size_t to;   /* one past the last */
    double scores[CHUNK_KEYS];
    double sizes[CHUNK_KEYS]; /* sum of the magnitudes of the score's terms */
};

/* A tanh passes on the less of its argument's error the flatter it is there: 1 - tanh^2, taken
 * where it is steepest within that error, so that nothing hangs on a score that is not known. */
static void cap_scores(const struct work *work, struct lanes *lanes)
{
    double cap = work->problem->softcap;

    for (size_t j = lanes->from; j < lanes->to; j++) {
        double size = lanes->sizes[j];
        double surely = fmax(fabs(lanes->scores[j]) - REFERENCE_SCORE_ROUNDING * size, 0.0);
        double flat = tanh(surely / cap);
        lanes->scores[j] = cap * tanh(lanes->scores[j] / cap);
        lanes->sizes[j] = size * (1.0 - flat * flat) + fabs(lanes->scores[j]);
    }
}

static size_t position_of(const struct work *work, size_t r)
{
    return work->reference->rows[r] % work->problem->seq_q;
}

static size_t q_head_of(const struct work *work, size_t r)
{
    return work->reference->rows[r] / work->problem->seq_q % work->problem->q_heads;
}

static void bias_scores(const struct work *work, struct lanes *lanes)
{
    const struct problem *problem = work->problem;
    double slope = problem_alibi_slope(problem, q_head_of(work, lanes->r));
    double diagonal =
        (double)position_of(work, lanes->r) + (double)problem->seq_kv - (double)problem->seq_q;

    for (size_t j = lanes->from; j < lanes->to; j++) {
        double distance = fabs(diagonal - (double)(lanes->key + j));
        lanes->scores[j] -= slope * distance;
        lanes->sizes[j] += slope * distance;
    }
}

static void mask_scores(const struct work *work, struct lanes *lanes)
{
    const float *row = work->inputs->mask + position_of(work, lanes->r) * work->problem->seq_kv;

    for (size_t j = lanes->from; j < lanes->to; j++) {
        double mask = (double)row[lanes->key + j];
        lanes->scores[j] += mask;
        lanes->sizes[j] += isfinite(mask) ? fabs(mask) : 0.0;
    }
}

static void chunk_scores(const struct work *work, struct lanes *lanes)
{
    chunk_products(work, lanes->r, lanes->scores, lanes->sizes);
    if (work->problem->softcap > 0.0) {
        cap_scores(work, lanes);
    }
    if (work->problem->alibi) {
        bias_scores(work, lanes);
    }
    if (work->problem->mask) {
        mask_scores(work, lanes);
    }
}

static void grow_magnitude(double *magnitude, double value)
{
    double size = fabs(value);

    if (isfinite(size) && size > *magnitude) {
        *magnitude = size;
    }
}

/* A new maximum scales down what was summed under the old one. */
static void raise_max(struct work *work, size_t r, double max)
{
    size_t dim_v = work->problem->head_dim_v;
    double *out = work->reference->out + r * dim_v;
    double alpha = exp(work->max[r] - max);

    work->max[r] = max;
    work->sum[r] *= alpha;
    work->sizes[r] *= alpha;
    for (size_t c = 0; c < dim_v; c++) {
        out[c] *= alpha;
    }
}

/* What a score's size weighs: its exp, p, unless its error may make it much larger than that; at
 * most as much as the maximum's, 1. */
static double weighted_size(double score, double p, double size)
{
    double error = REFERENCE_SCORE_ROUNDING * size;

    if (!isfinite(size)) {
        return 0.0;
    }
    return size * (error < 0x1p-6 ? p : exp(fmin(score + error, 0.0)));
}

/* A NaN score never becomes the maximum, but its exp is NaN; with a maximum of -inf the subtraction
 * is guarded, so that exp gives 0 for -inf. */
static void add_chunk(struct work *work, struct lanes *lanes)
{
    size_t dim_v = work->problem->head_dim_v, r = lanes->r;
    double *out = work->reference->out + r * dim_v;
    double max = work->max[r];
    double shift;

    chunk_scores(work, lanes);
    for (size_t j = lanes->from; j < lanes->to; j++) {
        max = lanes->scores[j] > max ? lanes->scores[j] : max;
    }
    if (max > work->max[r]) {
        raise_max(work, r, max);
    }
    shift = max == -(double)INFINITY ? 0.0 : max;
    for (size_t j = lanes->from; j < lanes->to; j++) {
        double score = lanes->scores[j] - shift;
        double p = exp(score);
        const double *v = work->v + j * dim_v;
        work->sum[r] += p;
        work->sizes[r] += weighted_size(score, p, lanes->sizes[j]);
        for (size_t c = 0; c < dim_v; c++) {
            out[c] += p * v[c];
        }
    }
}

/* The sink joins last, and only a row that has a key: one key more, without a value. */
static void add_sink(struct work *work, size_t r)
{
    double sink = (double)work->inputs->sinks[q_head_of(work, r)];
    double p;

    if (sink > work->max[r]) {
        raise_max(work, r, sink);
    }
    p = exp(sink - work->max[r]);
    work->sum[r] += p;
    work->sizes[r] += weighted_size(sink - work->max[r], p, fabs(sink));
}

static void set_row(struct work *work, size_t r, bool empty)
{
    struct reference *reference = work->reference;
    size_t dim_v = work->problem->head_dim_v;
    double *out = reference->out + r * dim_v;
    double size = empty ? 0.0 : work->sizes[r] / work->sum[r];

    for (size_t c = 0; c < dim_v; c++) {
        out[c] = empty ? 0.0 : out[c] / work->sum[r];
        grow_magnitude(&reference->out_magnitude, out[c]);
    }
    reference->lse[r] = empty ? -(double)INFINITY : work->max[r] + log(work->sum[r]);
    grow_magnitude(&reference->lse_magnitude, reference->lse[r]);
    reference->score_sizes[r] = isfinite(size) ? size : 0.0;
    grow_magnitude(&reference->score_magnitude, reference->score_sizes[r]);
}

/* A sum of 0 means that no key is visible, or that all scores are -inf: the largest finite score
 * adds 1. */
static void finish_row(struct work *work, size_t r)
{
    bool empty = work->sum[r] == 0.0;

    if (!empty && work->problem->sinks) {
        add_sink(work, r);
    }
    set_row(work, r, empty);
}

/* Lanes of the chunk at `key` that row r sees; false if it sees none. */
static bool row_lanes(const struct work *work, size_t r, size_t key, struct lanes *lanes)
{
    size_t first, end;

    problem_visible(work->problem, position_of(work, r), &first, &end);
    first = size_max(first, key);
    end = size_min(end, key + CHUNK_KEYS);
    if (first >= end) {
        return false;
    }
    lanes->r = r;
    lanes->key = key;
    lanes->from = first - key;
    lanes->to = end - key;
    return true;
}

/* The chosen rows [start, end), all of one key/value head. */
static void attend_head(struct work *work, size_t head, size_t start, size_t end)
{
    size_t seq_kv = work->problem->seq_kv;

    for (size_t r = start; r < end; r++) {
        load_row(work, r);
    }
    for (size_t key = 0; key < seq_kv; key += CHUNK_KEYS) {
        bool loaded = false;
        for (size_t r = start; r < end; r++) {
            struct lanes lanes;
            if (!row_lanes(work, r, key, &lanes)) {
                continue;
            }
            if (!loaded) {
                load_chunk(work, head, key, size_min(CHUNK_KEYS, seq_kv - key));
                loaded = true;
            }
            add_chunk(work, &lanes);
        }
    }
    for (size_t r = start; r < end; r++) {
        finish_row(work, r);
    }
}

static void attend_rows(struct work *work)
{
    size_t head_rows = problem_group(work->problem) * work->problem->seq_q;
    const size_t *rows = work->reference->rows;
    size_t count = work->reference->row_count;

    for (size_t start = 0, end; start < count; start = end) {
        size_t head = rows[start] / head_rows;
        for (end = start + 1; end < count && rows[end] / head_rows == head; end++) {
        }
        attend_head(work, head, start, end);
    }
}

enum status reference_create(const struct problem *problem, const struct inputs *inputs,
                             double work, struct reference **out)
{
    struct reference *reference = calloc(1, sizeof(*reference));
    struct work state = {.problem = problem, .inputs = inputs, .reference = reference};
    enum status status = STATUS_OK;

    *out = NULL;
    if (reference == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "reference", "no memory");
    }
    STATUS_TRY(choose_rows(problem, work, reference));
    reference->out = allocate(reference->row_count, problem->head_dim_v);
    reference->lse = allocate(reference->row_count, 1);
    reference->score_sizes = allocate(reference->row_count, 1);
    if (reference->out == NULL || reference->lse == NULL || reference->score_sizes == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "reference", "no memory for %zu rows",
                             reference->row_count);
        goto out;
    }
    STATUS_TRY(work_init(&state));
    attend_rows(&state);
    *out = reference;
    reference = NULL;
out:
    work_fini(&state);
    reference_destroy(reference);
    return status;
}

void reference_destroy(struct reference *reference)
{
    if (reference == NULL) {
        return;
    }
    free(reference->rows);
    free(reference->out);
    free(reference->lse);
    free(reference->score_sizes);
    free(reference);
}
