#include "host/base/units.h"

#include "host/base/size.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t digits_length(const char *text)
{
    size_t length = 0;
    while (is_digit(text[length])) {
        length++;
    }
    return length;
}

/* The value of `length` digits; false if it does not fit. */
static bool digits_value(const char *text, size_t length, size_t *out)
{
    size_t value = 0;
    for (size_t i = 0; i < length; i++) {
        size_t digit = (size_t)(text[i] - '0');
        if (!size_mul(value, 10, &value) || !size_add(value, digit, &value)) {
            *out = 0;
            return false;
        }
    }
    *out = value;
    return true;
}

bool units_parse_size(const char *text, size_t *out)
{
    size_t length = digits_length(text);
    *out = 0;
    return length > 0 && text[length] == '\0' && digits_value(text, length, out);
}

bool units_parse_int64(const char *text, int64_t *out)
{
    bool negative = text[0] == '-';
    size_t magnitude;
    *out = 0;
    if (!units_parse_size(text + (negative ? 1 : 0), &magnitude)) {
        return false;
    }
    if (magnitude > (size_t)INT64_MAX + (negative ? 1U : 0U)) {
        return false;
    }
    if (negative && magnitude > 0) {
        *out = -(int64_t)(magnitude - 1) - 1; /* INT64_MIN has no positive twin */
    } else {
        *out = (int64_t)magnitude;
    }
    return true;
}

/* Bytes of a unit by its lower-case name; 0 = no such unit. */
static size_t unit_bytes(const char *name)
{
    static const struct {
        const char *name;
        size_t bytes;
    } units[] = {
        {"", 1},         {"b", 1},          {"k", 1U << 10},    {"kib", 1U << 10},
        {"kb", 1000},    {"m", 1U << 20},   {"mib", 1U << 20},  {"mb", 1000000},
        {"g", 1U << 30}, {"gib", 1U << 30}, {"gb", 1000000000},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t at = 0;
        while (name[at] != '\0' && to_lower(name[at]) == units[i].name[at]) {
            at++;
        }
        if (name[at] == '\0' && units[i].name[at] == '\0') {
            return units[i].bytes;
        }
    }
    return 0;
}

/* 0.digits x unit, exactly; false if that is no whole number. This is long multiplication from the
 * last digit on: each digit of the product's fraction must come out as 0. */
static bool fraction_bytes(const char *digits, size_t length, size_t unit, size_t *out)
{
    size_t carry = 0;
    for (size_t i = length; i > 0; i--) {
        carry += (size_t)(digits[i - 1] - '0') * unit; /* unit < 2^31: cannot wrap */
        if (carry % 10 != 0) {
            *out = 0;
            return false;
        }
        carry /= 10;
    }
    *out = carry;
    return true;
}

bool units_parse_bytes(const char *text, size_t *out)
{
    size_t whole_length = digits_length(text);
    const char *fraction = text + whole_length;
    size_t fraction_length = 0;
    *out = 0;
    if (fraction[0] == '.') {
        fraction++;
        fraction_length = digits_length(fraction);
        if (fraction_length == 0) {
            return false;
        }
    }
    size_t unit = unit_bytes(fraction + fraction_length);
    size_t whole;
    size_t part;
    return whole_length > 0 && unit > 0 && digits_value(text, whole_length, &whole) &&
           size_mul(whole, unit, &whole) &&
           fraction_bytes(fraction, fraction_length, unit, &part) && size_add(whole, part, out);
}

/* The length of the number that text starts with, digits[.digits][e[+-]digits]; 0 = none. */
static size_t number_length(const char *text)
{
    size_t length = digits_length(text);
    if (length == 0) {
        return 0;
    }
    if (text[length] == '.') {
        size_t fraction = digits_length(text + length + 1);
        if (fraction == 0) {
            return 0;
        }
        length += 1 + fraction;
    }
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 1 : 0;
        size_t exponent = digits_length(text + length + 1 + sign);
        length += exponent == 0 ? 0 : 1 + sign + exponent;
    }
    return length;
}

/* strtod with the point of the C locale. text holds a number that number_length took. */
static bool number_value(const char *text, double *out)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return false;
    }
    locale_t before = uselocale(plain);
    double value = strtod(text, NULL);
    uselocale(before);
    freelocale(plain);
    if (!isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool units_parse_double(const char *text, double *out)
{
    const char *number = text + (text[0] == '-' ? 1 : 0);
    size_t length = number_length(number);
    *out = 0;
    return length > 0 && number[length] == '\0' && number_value(text, out);
}

bool units_parse_seconds(const char *text, double *out)
{
    size_t length = number_length(text);
    const char *unit = text + length;
    bool milli = strcmp(unit, "ms") == 0;
    *out = 0;
    if (length == 0 || !(milli || unit[0] == '\0' || strcmp(unit, "s") == 0)) {
        return false;
    }
    if (!number_value(text, out)) {
        return false;
    }
    *out = milli ? *out / 1000 : *out;
    return true;
}

const char *units_format_bytes(size_t bytes, char text[UNITS_TEXT_BYTES])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { LAST = sizeof names / sizeof names[0] - 1 };
    unsigned unit = 0;
    while (unit < LAST && (bytes >> (10 * unit)) >= 1024) {
        unit++;
    }
    size_t scale = (size_t)1 << (10 * unit);
    size_t whole = bytes / scale;
    size_t tenths = ((bytes % scale) * 10 + scale / 2) / scale;
    if (tenths == 10) {
        whole++;
        tenths = 0;
    }
    if (whole == 1024 && unit < LAST) {
        whole = 1;
        unit++;
    }
    if (tenths == 0) {
        snprintf(text, UNITS_TEXT_BYTES, "%zu %s", whole, names[unit]);
    } else {
        snprintf(text, UNITS_TEXT_BYTES, "%zu.%zu %s", whole, tenths, names[unit]);
    }
    return text;
}

const char *units_format_count(size_t count, char text[UNITS_TEXT_BYTES])
{
    char digits[UNITS_TEXT_BYTES];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", count);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

/* Three digits or more, without printf's %f, whose point depends on the locale. */
const char *units_format_ns(double ns, char text[UNITS_TEXT_BYTES])
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    unsigned unit = 0;
    double value = ns;
    if (!isfinite(ns) || ns < 0) {
        snprintf(text, UNITS_TEXT_BYTES, "-");
        return text;
    }
    while (unit < 3 && value >= 999.5) {
        value /= 1000;
        unit++;
    }
    if (value >= 1e15) {
        snprintf(text, UNITS_TEXT_BYTES, "%.0e %s", value, names[unit]);
    } else if (value >= 99.95 || value <= 0) {
        snprintf(text, UNITS_TEXT_BYTES, "%lld %s", llround(value), names[unit]);
    } else if (value >= 9.995) {
        long long tenths = llround(value * 10);
        snprintf(text, UNITS_TEXT_BYTES, "%lld.%lld %s", tenths / 10, tenths % 10, names[unit]);
    } else {
        long long hundredths = llround(value * 100);
        snprintf(text, UNITS_TEXT_BYTES, "%lld.%02lld %s", hundredths / 100, hundredths % 100,
                 names[unit]);
    }
    return text;
}
