#include "host/base/size.h"

#include <stdint.h>

bool size_add(size_t a, size_t b, size_t *out)
{
    bool fits = b <= SIZE_MAX - a;
    *out = fits ? a + b : 0;
    return fits;
}

bool size_mul(size_t a, size_t b, size_t *out)
{
    bool fits = a == 0 || b <= SIZE_MAX / a;
    *out = fits ? a * b : 0;
    return fits;
}

bool size_align_up(size_t value, size_t alignment, size_t *out)
{
    *out = 0;
    if (alignment == 0) {
        return false;
    }
    size_t over = value % alignment;
    return size_add(value, over == 0 ? 0 : alignment - over, out);
}

size_t size_div_up(size_t a, size_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool size_is_power_of_two(size_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

struct shape shape_1d(size_t extent)
{
    return (struct shape){.rank = 1, .extent = {extent}};
}

struct shape shape_2d(size_t rows, size_t columns)
{
    return (struct shape){.rank = 2, .extent = {rows, columns}};
}

bool shape_equal(struct shape a, struct shape b)
{
    if (a.rank != b.rank || a.rank > SHAPE_MAX_RANK) {
        return false;
    }
    for (size_t i = 0; i < a.rank; i++) {
        if (a.extent[i] != b.extent[i]) {
            return false;
        }
    }
    return true;
}

bool shape_elems(struct shape shape, size_t *out)
{
    *out = 0;
    if (shape.rank > SHAPE_MAX_RANK) {
        return false;
    }
    /* An extent of 0 makes the true product 0, however large the others are. */
    for (size_t i = 0; i < shape.rank; i++) {
        if (shape.extent[i] == 0) {
            return true;
        }
    }
    size_t elems = 1;
    for (size_t i = 0; i < shape.rank; i++) {
        if (!size_mul(elems, shape.extent[i], &elems)) {
            return false;
        }
    }
    *out = elems;
    return true;
}
