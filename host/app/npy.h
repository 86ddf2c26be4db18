/* NumPy's .npy files: a bounded reader over memory, and a writer.
 *
 *     "\x93NUMPY" major minor | length (2 bytes in version 1, else 4) | header | values
 *
 * The header is a Python dictionary of the keys descr, fortran_order and shape, in any order.
 * Taken: versions 1.0, 2.0 and 3.0; little-endian f16, f32 and f64; C order; 1 to 4 dimensions.
 * Everything else is refused with a reason that names the file. Source: numpy.lib.format.
 *
 *     struct npy npy;
 *     STATUS_TRY(npy_parse("Q.npy", bytes, size, &npy));
 *     double first = npy_value(&npy, 0);
 */
#ifndef HOST_APP_NPY_H
#define HOST_APP_NPY_H

#include "host/base/size.h"
#include "host/base/status.h"

#include <stddef.h>

enum npy_type { NPY_F16, NPY_F32, NPY_F64 };

const char *npy_type_name(enum npy_type type); /* "f16", "f32", "f64" */

struct npy {
    enum npy_type type;
    struct shape shape;        /* rank 1..4; an extent may be 0 */
    size_t elems;              /* their product */
    const unsigned char *data; /* the values, within the bytes given; not aligned */
};

/* Longest header that is read; NumPy's own limit is 10,000. */
enum { NPY_MAX_HEADER_BYTES = 65536 };

/* Reads the header of `size` bytes and finds the values. Nothing past the bytes is looked at, and
 * *out borrows them. `name` is what errors call the file. STATUS_BAD_INPUT with the reason; *out is
 * 0 then. */
enum status npy_parse(const char *name, const unsigned char *bytes, size_t size,
                      struct npy *out) STATUS_MUST_USE;

/* Value i < elems; exact. */
double npy_value(const struct npy *npy, size_t i);

/* "[2, 8, 128]" of extents or indices; returns `text`. */
enum { NPY_SHAPE_BYTES = 96 };
const char *npy_shape_text(struct shape shape, char text[NPY_SHAPE_BYTES]);

/* Index i of a shape's elements, as the indices of each dimension. */
struct shape npy_index(struct shape shape, size_t i);

/* A whole file in memory: reads until the end, so that a pipe will do. STATUS_IO: it cannot be
 * read; STATUS_NO_MEMORY. The bytes are the caller's to free; never NULL on success. */
enum status npy_read(const char *path, unsigned char **bytes, size_t *size) STATUS_MUST_USE;

/* A whole f32 file in memory, version 1.0, values at a multiple of 64 bytes; the caller frees it.
 * STATUS_RANGE, STATUS_NO_MEMORY. */
enum status npy_render(struct shape shape, const float *values, char **bytes,
                       size_t *size) STATUS_MUST_USE;

#endif
