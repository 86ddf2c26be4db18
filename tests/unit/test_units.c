#include "tests/unit/unit.h"

#include "host/base/units.h"

#include <locale.h>
#include <math.h>
#include <string.h>

/* Refused wherever a whole number is needed. */
static const char *const no_counts[] = {
    "",    "-1", "+1", " 1",  "1 ",  "0x10", "1e3",      "1e999", "nan", "inf",
    "1.5", "1.", ".5", "1,0", "1_0", "--1",  "\xD9\xA1", "1\n",   "-",   "ten",
};

enum { NO_COUNTS = sizeof no_counts / sizeof no_counts[0] };

static void parse_size_takes_decimal_digits(void **state)
{
    (void)state;
    size_t out;
    assert_true(units_parse_size("0", &out));
    assert_int_equal(0, out);
    assert_true(units_parse_size("4096", &out));
    assert_int_equal(4096, out);
    assert_true(units_parse_size("007", &out));
    assert_int_equal(7, out);
    assert_true(units_parse_size("18446744073709551615", &out));
    assert_int_equal(SIZE_MAX, out);
}

static void parse_size_refuses_what_is_no_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < NO_COUNTS; i++) {
        size_t out = 7;
        assert_false(units_parse_size(no_counts[i], &out));
        assert_int_equal(0, out);
    }
}

static void parse_size_refuses_what_wraps(void **state)
{
    (void)state;
    size_t out;
    assert_false(units_parse_size("18446744073709551616", &out));
    assert_false(units_parse_size("18446744073709551620", &out));
    assert_false(units_parse_size("99999999999999999999999999", &out));
}

static void parse_bytes_knows_the_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"65536", 65536},       {"0", 0},
        {"48KiB", 49152},       {"1MiB", 1048576},
        {"1.5MiB", 1572864},    {"64k", 65536},
        {"64K", 65536},         {"1m", 1048576},
        {"2g", 2147483648U},    {"2G", 2147483648U},
        {"2GiB", 2147483648U},  {"100kB", 100000},
        {"1MB", 1000000},       {"1GB", 1000000000},
        {"128B", 128},          {"1.0", 1},
        {"0.5k", 512},          {"0.001kB", 1},
        {"1.50kB", 1500},       {"1mib", 1048576},
        {"0.0009765625KiB", 1}, {"0.00000095367431640625MiB", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t out;
        assert_true(units_parse_bytes(cases[i].text, &out));
        assert_int_equal(cases[i].bytes, out);
    }
}

static void parse_bytes_refuses_parts_of_a_byte(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.3B", "1.5", "0.3k", "0.0001kB", "1.00000000001MiB", "0.00000095367431640624MiB"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t out = 7;
        assert_false(units_parse_bytes(texts[i], &out));
        assert_int_equal(0, out);
    }
}

static void parse_bytes_refuses_what_is_no_size(void **state)
{
    (void)state;
    static const char *const texts[] = {"KiB", "1 KiB", "1KiB ",  "-1k",  "+1k",
                                        "1Ki", "1kk",   "1.k",    ".5k",  "1e3k",
                                        "1x",  "0x10k", "1.5.5k", "1,5k", "1T"};
    size_t out;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_false(units_parse_bytes(texts[i], &out));
    }
    for (size_t i = 0; i < NO_COUNTS; i++) {
        assert_false(units_parse_bytes(no_counts[i], &out));
    }
}

static void parse_bytes_refuses_what_wraps(void **state)
{
    (void)state;
    size_t out;
    assert_true(units_parse_bytes("17179869183GiB", &out));
    assert_int_equal(SIZE_MAX - 0x3FFFFFFF, out);
    assert_true(units_parse_bytes("17179869183.5GiB", &out));
    assert_false(units_parse_bytes("17179869184GiB", &out));
    assert_false(units_parse_bytes("18446744073709551615k", &out));
    assert_false(units_parse_bytes("18446744073709551616", &out));
}

static void parse_int64_takes_the_whole_range(void **state)
{
    (void)state;
    int64_t out;
    assert_true(units_parse_int64("-1", &out));
    assert_true(out == -1);
    assert_true(units_parse_int64("-0", &out));
    assert_true(out == 0);
    assert_true(units_parse_int64("9223372036854775807", &out));
    assert_true(out == INT64_MAX);
    assert_true(units_parse_int64("-9223372036854775808", &out));
    assert_true(out == INT64_MIN);
}

static void parse_int64_refuses_the_rest(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_false(units_parse_int64("9223372036854775808", &out));
    assert_false(units_parse_int64("-9223372036854775809", &out));
    assert_true(out == 0);
    for (size_t i = 0; i < NO_COUNTS; i++) {
        if (strcmp(no_counts[i], "-1") != 0) {
            assert_false(units_parse_int64(no_counts[i], &out));
        }
    }
}

static void parse_double_takes_finite_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},         {"-1", -1},
        {"0.125", 0.125}, {"1e3", 1000},
        {"1E-3", 1e-3},   {"-2.5e+2", -250},
        {"1e308", 1e308}, {"0.08838834764831845", 0.08838834764831845},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double out;
        assert_true(units_parse_double(cases[i].text, &out));
        assert_true(out >= cases[i].value && out <= cases[i].value);
    }
}

static void parse_double_refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "+1",  " 1",   "1 ", "0x10", "1e999",   "-1e999",
                                        "nan", "inf", "-inf", "1.", ".5",   "1e",      "1e+",
                                        "-",   "--1", "1,5",  "1f", "1d3",  "infinity"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double out = 7;
        assert_false(units_parse_double(texts[i], &out));
        assert_true(out >= 0 && out <= 0);
    }
}

static void assert_seconds(const char *text, double expected)
{
    double out;
    assert_true(units_parse_seconds(text, &out));
    assert_true(out >= expected && out <= expected);
}

static void parse_seconds_takes_s_and_ms(void **state)
{
    (void)state;
    assert_seconds("0.02", 0.02);
    assert_seconds("0.02s", 0.02);
    assert_seconds("20ms", 0.02);
    assert_seconds("1.5ms", 0.0015);
    assert_seconds("0", 0);
    assert_seconds("1e-3", 0.001);
}

static void parse_seconds_refuses_the_rest(void **state)
{
    (void)state;
    static const char *const texts[] = {"",     "s",   "ms", "-1",  "-0",   "+1",    "1 s",
                                        "1m",   "1us", "1S", "nan", "inf",  "1e999", "1e999ms",
                                        "0x1s", "1ss", "1x", "1.s", "20msx"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double out = 7;
        assert_false(units_parse_seconds(texts[i], &out));
        assert_true(out >= 0 && out <= 0);
    }
}

static void format_bytes_takes_the_largest_unit(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {999, "999 B"},
        {1023, "1023 B"},
        {1024, "1 KiB"},
        {62080, "60.6 KiB"},
        {86656, "84.6 KiB"},
        {1048575, "1 MiB"}, /* 1023.999 KiB */
        {1048576, "1 MiB"},
        {1014016, "990.3 KiB"},
        {63332608, "60.4 MiB"},
        {1610612736, "1.5 GiB"},
        {(size_t)1 << 40, "1 TiB"},
        {SIZE_MAX, "16 EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[UNITS_TEXT_BYTES];
        assert_ptr_equal(text, units_format_bytes(cases[i].bytes, text));
        assert_string_equal(cases[i].text, text);
    }
}

static void format_count_groups_by_three(void **state)
{
    (void)state;
    char text[UNITS_TEXT_BYTES];
    assert_string_equal("0", units_format_count(0, text));
    assert_string_equal("999", units_format_count(999, text));
    assert_string_equal("1,000", units_format_count(1000, text));
    assert_string_equal("63,332,608", units_format_count(63332608, text));
    assert_string_equal("18,446,744,073,709,551,615", units_format_count(SIZE_MAX, text));
}

static void format_ns_shows_three_digits(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0 ns"},           {0.25, "0.25 ns"},  {1, "1.00 ns"},       {123.4, "123 ns"},
        {999.4, "999 ns"},     {999.6, "1.00 us"}, {1234567, "1.23 ms"}, {12345678, "12.3 ms"},
        {123456789, "123 ms"}, {9.996, "10.0 ns"}, {99.96, "100 ns"},    {1.5e9, "1.50 s"},
        {1e12, "1000 s"},      {1e30, "1e+21 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[UNITS_TEXT_BYTES];
        assert_string_equal(cases[i].text, units_format_ns(cases[i].ns, text));
    }
}

static void format_ns_of_no_time_is_a_dash(void **state)
{
    (void)state;
    char text[UNITS_TEXT_BYTES];
    assert_string_equal("-", units_format_ns((double)NAN, text));
    assert_string_equal("-", units_format_ns(-1, text));
    assert_string_equal("-", units_format_ns((double)INFINITY, text));
}

/* Only where a locale with a decimal comma is installed does this show anything. */
static void no_function_depends_on_the_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && set == NULL; i++) {
        set = setlocale(LC_ALL, names[i]);
    }
    if (set == NULL) {
        skip();
    }
    char text[UNITS_TEXT_BYTES];
    double out;
    bool parsed = units_parse_double("1.5", &out);
    bool comma = units_parse_double("1,5", &out);
    units_format_bytes(62080, text);
    setlocale(LC_ALL, "C");
    assert_true(parsed);
    assert_false(comma);
    assert_string_equal("60.6 KiB", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_size_takes_decimal_digits),
        cmocka_unit_test(parse_size_refuses_what_is_no_count),
        cmocka_unit_test(parse_size_refuses_what_wraps),
        cmocka_unit_test(parse_bytes_knows_the_units),
        cmocka_unit_test(parse_bytes_refuses_parts_of_a_byte),
        cmocka_unit_test(parse_bytes_refuses_what_is_no_size),
        cmocka_unit_test(parse_bytes_refuses_what_wraps),
        cmocka_unit_test(parse_int64_takes_the_whole_range),
        cmocka_unit_test(parse_int64_refuses_the_rest),
        cmocka_unit_test(parse_double_takes_finite_numbers),
        cmocka_unit_test(parse_double_refuses_what_is_none),
        cmocka_unit_test(parse_seconds_takes_s_and_ms),
        cmocka_unit_test(parse_seconds_refuses_the_rest),
        cmocka_unit_test(format_bytes_takes_the_largest_unit),
        cmocka_unit_test(format_count_groups_by_three),
        cmocka_unit_test(format_ns_shows_three_digits),
        cmocka_unit_test(format_ns_of_no_time_is_a_dash),
        cmocka_unit_test(no_function_depends_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
