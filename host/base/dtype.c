#include "host/base/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    bool has_kernel;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 4, true},    [DTYPE_F16] = {"f16", 2, true},
    [DTYPE_BF16] = {"bf16", 2, false}, [DTYPE_F8] = {"f8", 1, false},
    [DTYPE_I8] = {"i8", 1, false},
};

static bool is_known(enum dtype dtype)
{
    return (unsigned)dtype < DTYPE_COUNT;
}

size_t dtype_bytes(enum dtype dtype)
{
    return is_known(dtype) ? dtypes[dtype].bytes : 0;
}

const char *dtype_name(enum dtype dtype)
{
    return is_known(dtype) ? dtypes[dtype].name : "unknown";
}

bool dtype_has_kernel(enum dtype dtype)
{
    return is_known(dtype) && dtypes[dtype].has_kernel;
}

bool dtype_parse(const char *name, enum dtype *out)
{
    *out = DTYPE_F32;
    for (unsigned i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *out = (enum dtype)i;
            return true;
        }
    }
    return false;
}

/* binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits; binary32: 1, 8 (bias 127), 23. */
enum {
    F16_INFINITY = 0x7C00,
    F16_QUIET = 0x0200,
    F32_INFINITY = 0x7F800000,
    F32_HIDDEN = 0x00800000,    /* the leading 1 that a normal number does not store */
    F32_F16_NORMAL = 113 << 23, /* 2^-14, the smallest normal binary16 */
    F32_F16_LIMIT = 143 << 23,  /* 2^16, above which everything is infinite */
    F32_F16_ZERO = 102 << 23,   /* 2^-25, half the smallest subnormal: rounds to 0 up to here */
    REBIAS = 112 << 23,         /* between the two exponent biases, in place */
    FRACTION_SHIFT = 13,
};

/* Drops `shift` bits (1..31), rounding to nearest, ties to the even result. */
static uint32_t shift_right_even(uint32_t value, unsigned shift)
{
    uint32_t kept = value >> shift;
    uint32_t dropped = value & ((UINT32_C(1) << shift) - 1);
    uint32_t half = UINT32_C(1) << (shift - 1);
    bool up = dropped > half || (dropped == half && (kept & 1U) != 0);
    return kept + (up ? 1U : 0U);
}

/* magnitude: the bits of a float without its sign. A fraction that rounds up to 2 carries into the
 * exponent by itself, up to infinity. */
static uint32_t f16_magnitude(uint32_t magnitude)
{
    if (magnitude > F32_INFINITY) {
        uint32_t payload = (magnitude >> FRACTION_SHIFT) & 0x3FFU;
        return F16_INFINITY | (payload != 0 ? payload : F16_QUIET);
    }
    if (magnitude >= F32_F16_LIMIT) {
        return F16_INFINITY;
    }
    if (magnitude >= F32_F16_NORMAL) {
        return shift_right_even(magnitude - REBIAS, FRACTION_SHIFT);
    }
    if (magnitude <= F32_F16_ZERO) {
        return 0;
    }
    /* Subnormal: count in units of 2^-24. The exponent is 102..112 here, the shift 24..14. */
    uint32_t fraction = (magnitude & (F32_HIDDEN - 1)) | F32_HIDDEN;
    return shift_right_even(fraction, 126U - (magnitude >> 23));
}

uint16_t dtype_f16_from_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (bits >> 16) & 0x8000U;
    return (uint16_t)(sign | f16_magnitude(bits & 0x7FFFFFFFU));
}

float dtype_f32_from_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000U) << 16;
    uint32_t magnitude = bits & 0x7FFFU;
    uint32_t result;
    if (magnitude >= F16_INFINITY) {
        result = F32_INFINITY | ((magnitude & 0x3FFU) << FRACTION_SHIFT);
    } else if (magnitude >= 0x0400U) {
        result = (magnitude << FRACTION_SHIFT) + REBIAS;
    } else {
        float subnormal = (float)magnitude * 0x1p-24F; /* exact */
        memcpy(&result, &subnormal, sizeof result);
    }
    result |= sign;
    float value;
    memcpy(&value, &result, sizeof value);
    return value;
}
