#include "tests/unit/unit.h"

#include "host/base/dtype.h"
#include "tests/unit/random.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static const enum dtype all[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F8, DTYPE_I8};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* binary16 by its definition, in double. */
static double decode(uint16_t bits)
{
    double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    int exponent = (bits >> 10) & 0x1F;
    double fraction = bits & 0x3FF;
    if (exponent == 31) {
        return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    }
    return exponent == 0 ? sign * ldexp(fraction, -24)
                         : sign * ldexp(1024 + fraction, exponent - 25);
}

/* The nearest binary16 value to a finite one, in double: round to a multiple of the spacing there,
 * ties to even; from 65520 on, infinity. */
static double nearest(double value)
{
    int exponent;
    if (fabs(value) >= 65520) {
        return copysign((double)INFINITY, value);
    }
    frexp(value, &exponent);
    int spacing = exponent - 11 > -24 ? exponent - 11 : -24;
    return ldexp(nearbyint(ldexp(value, -spacing)), spacing);
}

static void assert_nearest(float value)
{
    double expected = nearest((double)value);
    double got = decode(dtype_f16_from_f32(value));
    if (memcmp(&expected, &got, sizeof got) != 0) {
        fail_msg("%a (0x%08x): got %a, nearest is %a", (double)value, bits_of(value), got,
                 expected);
    }
}

static void bytes_and_names_are_the_storage_types(void **state)
{
    (void)state;
    static const size_t bytes[] = {4, 2, 2, 1, 1};
    static const char *const names[] = {"f32", "f16", "bf16", "f8", "i8"};
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        assert_int_equal(bytes[i], dtype_bytes(all[i]));
        assert_string_equal(names[i], dtype_name(all[i]));
        assert_int_equal(i < 2, dtype_has_kernel(all[i]));
    }
}

static void unknown_dtype_has_no_bytes(void **state)
{
    (void)state;
    assert_int_equal(0, dtype_bytes((enum dtype)DTYPE_COUNT));
    assert_string_equal("unknown", dtype_name((enum dtype)DTYPE_COUNT));
    assert_false(dtype_has_kernel((enum dtype)DTYPE_COUNT));
}

static void parse_finds_exact_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        enum dtype out;
        assert_true(dtype_parse(dtype_name(all[i]), &out));
        assert_int_equal(all[i], out);
    }
}

static void parse_refuses_other_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "F16", "f16 ", " f16", "f64", "half", "f"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum dtype out = DTYPE_I8;
        assert_false(dtype_parse(names[i], &out));
        assert_int_equal(DTYPE_F32, out);
    }
}

static void f16_every_pattern_has_its_value(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xFFFF; bits++) {
        double expected = decode((uint16_t)bits);
        double got = (double)dtype_f32_from_f16((uint16_t)bits);
        if (isnan(expected)) {
            assert_true(isnan(got));
        } else {
            assert_memory_equal(&expected, &got, sizeof got);
        }
    }
}

static void f16_every_pattern_comes_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xFFFF; bits++) {
        assert_int_equal(bits, dtype_f16_from_f32(dtype_f32_from_f16((uint16_t)bits)));
    }
}

/* The value half way between two neighbours is a float; it goes to the even one, and the floats
 * beside it go to the nearer one. */
static void f16_ties_go_to_even(void **state)
{
    (void)state;
    for (uint16_t low = 0; low < 0x7BFF; low++) {
        uint16_t high = (uint16_t)(low + 1);
        float tie = (float)((decode(low) + decode(high)) / 2);
        uint16_t even = (low & 1U) == 0 ? low : high;
        assert_int_equal(even, dtype_f16_from_f32(tie));
        assert_int_equal(even | 0x8000U, dtype_f16_from_f32(-tie));
        assert_int_equal(low, dtype_f16_from_f32(nextafterf(tie, 0)));
        assert_int_equal(high, dtype_f16_from_f32(nextafterf(tie, INFINITY)));
    }
}

static void f16_past_the_largest_is_infinite(void **state)
{
    (void)state;
    assert_int_equal(0x7BFF, dtype_f16_from_f32(65504.0F));
    assert_int_equal(0x7BFF, dtype_f16_from_f32(nextafterf(65520.0F, 0)));
    assert_int_equal(0x7C00, dtype_f16_from_f32(65520.0F));
    assert_int_equal(0x7C00, dtype_f16_from_f32(65536.0F));
    assert_int_equal(0x7C00, dtype_f16_from_f32(3.4e38F));
    assert_int_equal(0x7C00, dtype_f16_from_f32(INFINITY));
    assert_int_equal(0xFC00, dtype_f16_from_f32(-65520.0F));
    assert_int_equal(0xFC00, dtype_f16_from_f32(-INFINITY));
}

static void f16_below_the_smallest_is_a_signed_zero(void **state)
{
    (void)state;
    assert_int_equal(0x0000, dtype_f16_from_f32(0.0F));
    assert_int_equal(0x8000, dtype_f16_from_f32(-0.0F));
    assert_int_equal(0x0000, dtype_f16_from_f32(0x1p-25F));
    assert_int_equal(0x8000, dtype_f16_from_f32(-0x1p-25F));
    assert_int_equal(0x0001, dtype_f16_from_f32(nextafterf(0x1p-25F, 1)));
    assert_int_equal(0x8001, dtype_f16_from_f32(nextafterf(-0x1p-25F, -1)));
    assert_int_equal(0x0000, dtype_f16_from_f32(float_of(1)));
    assert_int_equal(0x0400, dtype_f16_from_f32(0x1p-14F));
    assert_int_equal(0x03FF, dtype_f16_from_f32(0x1.ff8p-15F));
}

static void f16_of_nan_is_nan(void **state)
{
    (void)state;
    static const uint32_t patterns[] = {0x7F800001, 0x7FC00000, 0x7FFFFFFF,
                                        0x7F801FFF, 0xFFC00000, 0xFF800001};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        uint16_t bits = dtype_f16_from_f32(float_of(patterns[i]));
        assert_int_equal(0x7C00, bits & 0x7C00);
        assert_int_not_equal(0, bits & 0x03FF);
        assert_int_equal(patterns[i] >> 31, bits >> 15);
    }
}

/* A prime stride through all floats visits every exponent and every kind of dropped bits. */
static void f16_of_any_float_is_the_nearest(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 2003) {
        float value = float_of((uint32_t)bits);
        if (isfinite(value)) {
            assert_nearest(value);
        }
    }
}

/* Floats whose values binary16 can hold are rare in the whole; here all are near its range. */
static void f16_of_floats_in_range_is_the_nearest(void **state)
{
    (void)state;
    struct random random = {1};
    for (int i = 0; i < 1000000; i++) {
        uint32_t exponent = 100 + (uint32_t)random_below(&random, 46);
        uint32_t fraction = (uint32_t)random_next(&random) & 0x007FFFFFU;
        uint32_t sign = (uint32_t)random_below(&random, 2) << 31;
        assert_nearest(float_of(sign | exponent << 23 | fraction));
    }
}

static void f16_does_not_depend_on_the_rounding_mode(void **state)
{
    (void)state;
    int before = fegetround();
    assert_int_equal(0, fesetround(FE_UPWARD));
    uint16_t up = dtype_f16_from_f32(1.0F + 0x1p-11F);
    float subnormal = dtype_f32_from_f16(0x0001);
    fesetround(before);
    assert_int_equal(0x3C00, up);
    assert_int_equal(bits_of(0x1p-24F), bits_of(subnormal));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_names_are_the_storage_types),
        cmocka_unit_test(unknown_dtype_has_no_bytes),
        cmocka_unit_test(parse_finds_exact_names),
        cmocka_unit_test(parse_refuses_other_names),
        cmocka_unit_test(f16_every_pattern_has_its_value),
        cmocka_unit_test(f16_every_pattern_comes_back),
        cmocka_unit_test(f16_ties_go_to_even),
        cmocka_unit_test(f16_past_the_largest_is_infinite),
        cmocka_unit_test(f16_below_the_smallest_is_a_signed_zero),
        cmocka_unit_test(f16_of_nan_is_nan),
        cmocka_unit_test(f16_of_any_float_is_the_nearest),
        cmocka_unit_test(f16_of_floats_in_range_is_the_nearest),
        cmocka_unit_test(f16_does_not_depend_on_the_rounding_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
