/* Storage types of tensors, and conversion between float and IEEE 754 binary16 on the host.
 *
 *     enum dtype dtype;
 *     if (dtype_parse("f16", &dtype)) {
 *         bytes = elems * dtype_bytes(dtype);
 *     }
 *     uint16_t half = dtype_f16_from_f32(1.5F);      0x3E00
 */
#ifndef HOST_BASE_DTYPE_H
#define HOST_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16, /* plan only: no kernel stores it yet */
    DTYPE_F8,   /* plan only */
    DTYPE_I8,   /* plan only */
};

enum { DTYPE_COUNT = 5 };

size_t dtype_bytes(enum dtype dtype);     /* 4, 2, 2, 1, 1 */
const char *dtype_name(enum dtype dtype); /* "f32", "f16", "bf16", "f8", "i8" */

/* Whether a kernel can store it (f32 and f16). */
bool dtype_has_kernel(enum dtype dtype);

/* Finds a type by its exact name; false (and *out = DTYPE_F32) if there is none. */
bool dtype_parse(const char *name, enum dtype *out) __attribute__((warn_unused_result));

/* Round to nearest even; overflow gives infinity, NaN stays NaN (its payload cut),
 * subnormals are kept. Every binary16 comes back from a float as it was. */
uint16_t dtype_f16_from_f32(float value);
float dtype_f32_from_f16(uint16_t bits);

#endif
