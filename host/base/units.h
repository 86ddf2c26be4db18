/* Numbers as people type and read them. Parsing takes the whole string or refuses it; it never
 * wraps, never takes a sign where none belongs and never depends on the locale. On refusal *out is
 * 0.
 *
 *     size_t pool;
 *     if (!units_parse_bytes("1.5MiB", &pool)) { ... }              pool = 1572864
 *     char text[UNITS_TEXT_BYTES];
 *     printf("%s", units_format_bytes(pool, text));                 1.5 MiB
 */
#ifndef HOST_BASE_UNITS_H
#define HOST_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_MUST_CHECK __attribute__((warn_unused_result))

/* A count in decimal digits: "4096". */
bool units_parse_size(const char *text, size_t *out) UNITS_MUST_CHECK;

/* Bytes: "65536", "48KiB", "1MiB", "1.5MiB" (a whole number of bytes), "64k", "1m", "2g"
 * (binary multiples), "100kB", "1MB" (decimal). Units in any case; no space before them. */
bool units_parse_bytes(const char *text, size_t *out) UNITS_MUST_CHECK;

/* A minus sign is allowed in both. A double has digits before and behind its point: "-0.5", "1e-3";
 * no hexadecimal, no infinity, no NaN. */
bool units_parse_int64(const char *text, int64_t *out) UNITS_MUST_CHECK;
bool units_parse_double(const char *text, double *out) UNITS_MUST_CHECK; /* finite only */

/* "0.02", "0.02s" or "20ms" -> seconds, finite, >= 0. */
bool units_parse_seconds(const char *text, double *out) UNITS_MUST_CHECK;

enum { UNITS_TEXT_BYTES = 40 };

/* 1048576 -> "1 MiB", 62080 -> "60.6 KiB", 999 -> "999 B": rounded to a tenth of the unit. Writes
 * into text and returns it. */
const char *units_format_bytes(size_t bytes, char text[UNITS_TEXT_BYTES]);

/* 63332608 -> "63,332,608". */
const char *units_format_count(size_t count, char text[UNITS_TEXT_BYTES]);

/* Nanoseconds -> "1.23 ms", "12.3 ms", "123 ms"; NaN, infinite or negative -> "-". */
const char *units_format_ns(double ns, char text[UNITS_TEXT_BYTES]);

#endif
