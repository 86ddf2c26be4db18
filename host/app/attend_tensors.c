/* From .npy files to a problem and its inputs: shapes are checked against each other first, then
 * the values go to the storage type. */
#include "host/app/attend.h"

#include "host/app/npy.h"
#include "host/base/dtype.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file, with the axes that were left out filled in. */
struct tensor {
    const char *path;
    unsigned char *bytes; /* owned */
    struct npy npy;       /* of the bytes */
    size_t batch;
    size_t heads;
    size_t seq;
    size_t dim;
};

/* All files. Those that are not given have no path. */
struct files {
    struct tensor q;
    struct tensor k;
    struct tensor v;
    struct tensor sinks;
    struct tensor mask;
};

/* Files ------------------------------------------------------------------------------------- */

static enum status tensor_read(const char *path, struct tensor *out)
{
    enum status status = STATUS_OK;
    size_t size = 0;

    if (path == NULL) {
        return STATUS_OK;
    }
    out->path = path;
    STATUS_TRY(npy_read(path, &out->bytes, &size));
    STATUS_TRY(npy_parse(path, out->bytes, size, &out->npy));
out:
    return status;
}

/* The values are not needed any more; the shape is. */
static void tensor_free(struct tensor *tensor)
{
    free(tensor->bytes);
    tensor->bytes = NULL;
}

static void files_fini(struct files *files)
{
    tensor_free(&files->q);
    tensor_free(&files->k);
    tensor_free(&files->v);
    tensor_free(&files->sinks);
    tensor_free(&files->mask);
}

static enum status files_read(const struct attend_settings *settings, struct files *out)
{
    enum status status = STATUS_OK;

    STATUS_TRY(tensor_read(settings->q, &out->q));
    STATUS_TRY(tensor_read(settings->k, &out->k));
    STATUS_TRY(tensor_read(settings->v, &out->v));
    STATUS_TRY(tensor_read(settings->sinks, &out->sinks));
    STATUS_TRY(tensor_read(settings->mask, &out->mask));
out:
    return status;
}

/* Shapes ------------------------------------------------------------------------------------ */

/* Sets the axes of q, k or v. Only the keys may be none. */
static enum status set_axes(struct tensor *tensor, bool may_be_empty)
{
    const struct shape shape = tensor->npy.shape;
    char text[NPY_SHAPE_BYTES];

    if (shape.rank < 2) {
        return STATUS_FAIL(STATUS_BAD_INPUT, tensor->path,
                           "its shape %s has 1 dimension: [seq, dim], [heads, seq, dim] or "
                           "[batch, heads, seq, dim] is needed",
                           npy_shape_text(shape, text));
    }
    for (size_t axis = 0; axis < shape.rank; axis++) {
        if (shape.extent[axis] == 0 && !(may_be_empty && axis + 2 == shape.rank)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, tensor->path, "its shape %s has an extent of 0%s",
                               npy_shape_text(shape, text),
                               may_be_empty ? "; only the number of keys may be 0" : "");
        }
    }
    tensor->dim = shape.extent[shape.rank - 1];
    tensor->seq = shape.extent[shape.rank - 2];
    tensor->heads = shape.rank > 2 ? shape.extent[shape.rank - 3] : 1;
    tensor->batch = shape.rank > 3 ? shape.extent[0] : 1;
    return STATUS_OK;
}

/* "K.npy: its shape [2, 8, 64] and [4, 8, 32] of Q.npy differ in head_dim: 64 and 32". */
static enum status expect(const struct tensor *tensor, const struct tensor *other, const char *axis,
                          size_t own, size_t wanted)
{
    char text[NPY_SHAPE_BYTES];
    char other_text[NPY_SHAPE_BYTES];

    if (own == wanted) {
        return STATUS_OK;
    }
    return STATUS_FAIL(
        STATUS_BAD_INPUT, tensor->path, "its shape %s and %s of %s differ in %s: %zu and %zu",
        npy_shape_text(tensor->npy.shape, text), npy_shape_text(other->npy.shape, other_text),
        other->path, axis, own, wanted);
}

static enum status check_heads(const struct files *files)
{
    if (files->q.heads % files->k.heads == 0) {
        return STATUS_OK;
    }
    return STATUS_FAIL(STATUS_BAD_INPUT, files->q.path,
                       "its %zu query heads are no multiple of the %zu key and value heads of %s",
                       files->q.heads, files->k.heads, files->k.path);
}

static enum status check_shapes(struct files *files)
{
    enum status status = STATUS_OK;
    struct tensor *q = &files->q;
    struct tensor *k = &files->k;
    struct tensor *v = &files->v;

    STATUS_TRY(set_axes(q, false));
    STATUS_TRY(set_axes(k, true));
    STATUS_TRY(set_axes(v, true));
    STATUS_TRY(expect(k, q, "number of dimensions", k->npy.shape.rank, q->npy.shape.rank));
    STATUS_TRY(expect(v, q, "number of dimensions", v->npy.shape.rank, q->npy.shape.rank));
    STATUS_TRY(expect(k, q, "batch", k->batch, q->batch));
    STATUS_TRY(expect(k, q, "head_dim", k->dim, q->dim));
    STATUS_TRY(expect(v, k, "batch", v->batch, k->batch));
    STATUS_TRY(expect(v, k, "heads", v->heads, k->heads));
    STATUS_TRY(expect(v, k, "seq_kv", v->seq, k->seq));
    STATUS_TRY(check_heads(files));
out:
    return status;
}

/* Whether sinks or mask, if given, have just this shape. */
static enum status check_extra(const struct tensor *tensor, struct shape wanted, const char *axes)
{
    char text[NPY_SHAPE_BYTES];
    char wanted_text[NPY_SHAPE_BYTES];

    if (tensor->path == NULL || shape_equal(tensor->npy.shape, wanted)) {
        return STATUS_OK;
    }
    return STATUS_FAIL(STATUS_BAD_INPUT, tensor->path, "its shape is %s; %s is %s here",
                       npy_shape_text(tensor->npy.shape, text), axes,
                       npy_shape_text(wanted, wanted_text));
}

static enum dtype storage_of(const struct attend_settings *settings, const struct files *files)
{
    bool halves = files->q.npy.type == NPY_F16 && files->k.npy.type == NPY_F16 &&
                  files->v.npy.type == NPY_F16;

    if (settings->dtype != DTYPE_COUNT) {
        return (enum dtype)settings->dtype;
    }
    return halves ? DTYPE_F16 : DTYPE_F32;
}

static struct problem problem_of(const struct attend_settings *settings, const struct files *files)
{
    return (struct problem){
        .batch = files->q.batch,
        .q_heads = files->q.heads,
        .kv_heads = files->k.heads,
        .seq_q = files->q.seq,
        .seq_kv = files->k.seq,
        .head_dim = files->q.dim,
        .head_dim_v = files->v.dim,
        .block_m = settings->block_m,
        .block_n = settings->block_n,
        .dtype = storage_of(settings, files),
        .scale = settings->scale,
        .causal = settings->causal,
        .window_left = settings->window.left,
        .window_right = settings->window.right,
        .softcap = settings->softcap,
        .alibi = settings->alibi,
        .sinks = settings->sinks != NULL,
        .mask = settings->mask != NULL,
        .parts = settings->parts,
    };
}

static enum status describe(const struct attend_settings *settings, struct files *files,
                            struct attend_tensors *out)
{
    enum status status = STATUS_OK;

    STATUS_TRY(check_shapes(files));
    STATUS_TRY(check_extra(&files->sinks, shape_1d(files->q.heads), "[q_heads]"));
    STATUS_TRY(check_extra(&files->mask, shape_2d(files->q.seq, files->k.seq), "[seq_q, seq_kv]"));
    out->problem = problem_of(settings, files);
    out->rank = files->q.npy.shape.rank;
    STATUS_TRY(problem_validate(&out->problem));
out:
    return status;
}

/* Values ------------------------------------------------------------------------------------ */

/* Rounded to odd: a second rounding, to f16, then gives what one from the double would. */
static float to_odd(double value)
{
    float near = (float)value;
    uint32_t bits;

    if (!isfinite(value) || isinf(near) || (double)near == value) {
        return near;
    }
    memcpy(&bits, &near, sizeof bits);
    if (fabs((double)near) > fabs(value)) {
        bits--;
    }
    bits |= 1U;
    memcpy(&near, &bits, sizeof near);
    return near;
}

/* Finite values that became infinite. */
struct lost {
    size_t count;
    size_t first;
    double value; /* of the first */
};

static void note_lost(struct lost *lost, size_t i, double value)
{
    if (lost->count++ == 0) {
        lost->first = i;
        lost->value = value;
    }
}

static enum status refuse_lost(const struct tensor *tensor, enum dtype dtype,
                               const struct lost *lost)
{
    char text[NPY_SHAPE_BYTES];
    struct shape index = npy_index(tensor->npy.shape, lost->first);
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, tensor->path,
                    "%zu finite value%s beyond the range of %s, first %g at index %s", lost->count,
                    lost->count == 1 ? " is" : "s are", dtype_name(dtype), lost->value,
                    npy_shape_text(index, text));

    if (dtype == DTYPE_F16) {
        status_hint("--dtype f32 holds more; an infinity is taken as it is");
    } else {
        status_hint("an infinity is taken as it is: -inf hides a key");
    }
    return status;
}

static void fill_f16(const struct npy *npy, uint16_t *out, struct lost *lost)
{
    for (size_t i = 0; i < npy->elems; i++) {
        double value = npy_value(npy, i);
        out[i] = dtype_f16_from_f32(to_odd(value));
        if (isfinite(value) && isinf(dtype_f32_from_f16(out[i]))) {
            note_lost(lost, i, value);
        }
    }
}

static void fill_f32(const struct npy *npy, float *out, struct lost *lost)
{
    for (size_t i = 0; i < npy->elems; i++) {
        double value = npy_value(npy, i);
        out[i] = (float)value;
        if (isfinite(value) && isinf(out[i])) {
            note_lost(lost, i, value);
        }
    }
}

/* A tensor's values in a storage type, on the heap; its bytes are freed. */
static enum status convert(struct tensor *tensor, enum dtype dtype, void **out)
{
    struct lost lost = {.count = 0};
    size_t bytes = 0;

    if (!size_mul(tensor->npy.elems, dtype_bytes(dtype), &bytes)) {
        return STATUS_FAIL(STATUS_RANGE, tensor->path, "it is too large in %s", dtype_name(dtype));
    }
    *out = malloc(size_max(bytes, 1));
    if (*out == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, tensor->path, "no memory for %zu bytes", bytes);
    }
    if (dtype == DTYPE_F16) {
        fill_f16(&tensor->npy, *out, &lost);
    } else {
        fill_f32(&tensor->npy, *out, &lost);
    }
    tensor_free(tensor);
    return lost.count == 0 ? STATUS_OK : refuse_lost(tensor, dtype, &lost);
}

static enum status convert_extra(struct tensor *tensor, float **out)
{
    void *values = NULL;
    enum status status = tensor->path != NULL ? convert(tensor, DTYPE_F32, &values) : STATUS_OK;

    *out = values;
    return status;
}

static enum status convert_all(struct files *files, struct attend_tensors *out)
{
    enum status status = STATUS_OK;
    enum dtype dtype = out->problem.dtype;

    out->inputs = calloc(1, sizeof *out->inputs);
    if (out->inputs == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attend", "no memory");
    }
    out->inputs->dtype = dtype;
    STATUS_TRY(convert(&files->q, dtype, &out->inputs->q));
    STATUS_TRY(convert(&files->k, dtype, &out->inputs->k));
    STATUS_TRY(convert(&files->v, dtype, &out->inputs->v));
    STATUS_TRY(convert_extra(&files->sinks, &out->inputs->sinks));
    STATUS_TRY(convert_extra(&files->mask, &out->inputs->mask));
out:
    return status;
}

enum status attend_tensors_read(const struct attend_settings *settings, struct attend_tensors *out)
{
    enum status status = STATUS_OK;
    struct files files = {.q = {.path = NULL}};

    *out = (struct attend_tensors){.inputs = NULL};
    STATUS_TRY(files_read(settings, &files));
    STATUS_TRY(describe(settings, &files, out));
    STATUS_TRY(convert_all(&files, out));
out:
    files_fini(&files);
    if (status != STATUS_OK) {
        attend_tensors_fini(out);
    }
    return status;
}

void attend_tensors_fini(struct attend_tensors *tensors)
{
    inputs_destroy(tensors->inputs);
    tensors->inputs = NULL;
}
