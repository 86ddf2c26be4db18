/* Byte and element arithmetic that cannot wrap, and shapes (R4).
 *
 * Every function returns false, and leaves *out 0, where the true result does not fit size_t.
 *
 *     size_t bytes;
 *     if (!shape_elems(shape_2d(32, 128), &bytes) || !size_mul(bytes, 4, &bytes)) { ... }
 */
#ifndef HOST_BASE_SIZE_H
#define HOST_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#define SIZE_MUST_CHECK __attribute__((warn_unused_result))

bool size_add(size_t a, size_t b, size_t *out) SIZE_MUST_CHECK;
bool size_mul(size_t a, size_t b, size_t *out) SIZE_MUST_CHECK;

/* The least multiple of `alignment` that is >= value. alignment: any number >= 1
 * (0 is refused). */
bool size_align_up(size_t value, size_t alignment, size_t *out) SIZE_MUST_CHECK;

/* ceil(a / b) and the smaller / larger; b >= 1. Cannot wrap. */
size_t size_div_up(size_t a, size_t b);
size_t size_min(size_t a, size_t b);
size_t size_max(size_t a, size_t b);
bool size_is_power_of_two(size_t value);

enum { SHAPE_MAX_RANK = 4 };

/* Extents of a tensor, outermost first, row-major. Rank 0 is a scalar (one element). */
struct shape {
    size_t rank;                   /* 0..SHAPE_MAX_RANK */
    size_t extent[SHAPE_MAX_RANK]; /* elements, each >= 0; unused ones are 0 */
};

struct shape shape_1d(size_t extent);
struct shape shape_2d(size_t rows, size_t columns);
bool shape_equal(struct shape a, struct shape b);

/* Number of elements; an extent of 0 makes it 0. A rank above SHAPE_MAX_RANK is refused. */
bool shape_elems(struct shape shape, size_t *out) SIZE_MUST_CHECK;

#endif
