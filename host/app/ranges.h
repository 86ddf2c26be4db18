/* Lists of counts as people type them: "1,2,4:64:x2,17".
 *
 *     N             one value
 *     A:B           A, A + 1, ... up to B
 *     A:B:+STEP     A, A + STEP, ... up to B
 *     A:B:xFACTOR   A, A x FACTOR, ... up to B
 *
 * Order is kept, a value that stands in the list already is left out. Nothing wraps, and a list
 * holds at most RANGES_MAX values. */
#ifndef HOST_APP_RANGES_H
#define HOST_APP_RANGES_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { RANGES_MAX = 10000 };

struct ranges {
    size_t *values; /* in the order given, no two alike, owned; NULL when count = 0 */
    size_t count;   /* 0..RANGES_MAX */
    size_t room;    /* values that fit before the next growth */
};

/* Replaces *out by the values of `text`, each >= minimum. `what` names the option in errors.
 * STATUS_BAD_INPUT: an empty list or part, no number, a value below the minimum or that no size_t
 * holds, a range that runs backwards or does not move, too many values. *out is empty on failure.
 */
enum status ranges_parse(const char *what, const char *text, size_t minimum,
                         struct ranges *out) STATUS_MUST_USE;

/* Whether `text` is digits alone, so that what does not parse is too large. */
bool ranges_is_digits(const char *text);

/* Adds a value at the end unless it is there. STATUS_BAD_INPUT: RANGES_MAX are there. */
enum status ranges_add(const char *what, struct ranges *ranges, size_t value) STATUS_MUST_USE;

bool ranges_has(const struct ranges *ranges, size_t value);
void ranges_fini(struct ranges *ranges);

#endif
