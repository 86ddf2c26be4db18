/* A set of line numbers, kept as ranges: which lines of a pool some allocation has covered.
 *
 *     struct line_set set;
 *     line_set_init(&set);
 *     STATUS_TRY(line_set_add(&set, first, end));
 *     line_set_settle(&set, line);       nothing below `line` will be added any more
 *     count = line_set_count(&set);
 * out:
 *     line_set_fini(&set);
 *
 * Settled ranges are counted and forgotten, so a set that is settled as it grows stays small.
 */
#ifndef HOST_SCRATCH_LINE_SET_H
#define HOST_SCRATCH_LINE_SET_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct line_range {
    size_t first; /* */
    size_t end;   /* one past the last, > first */
};

struct line_set {
    struct line_range *ranges; /* owned; ascending, with a gap between any two */
    size_t count;              /* ranges in use */
    size_t capacity;           /* ranges allocated */
    size_t settled;            /* lines in forgotten ranges */
};

void line_set_init(struct line_set *set);
void line_set_fini(struct line_set *set);

/* Adds the lines [first, end); end <= first adds none. STATUS_NO_MEMORY: the set is unchanged. */
enum status line_set_add(struct line_set *set, size_t first, size_t end) STATUS_MUST_USE;

/* Promises that no line below `line` will be added any more. */
void line_set_settle(struct line_set *set, size_t line);

/* Goes on as if the same additions had been made again and again, `distance` lines further in all,
 * `more` new lines among them: the ranges not settled yet move there. */
void line_set_shift(struct line_set *set, size_t distance, size_t more);

/* Number of different lines added so far. */
size_t line_set_count(const struct line_set *set);

/* The order of the ranges. */
bool line_set_is_valid(const struct line_set *set);

#endif
