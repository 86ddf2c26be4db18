#include "host/scratch/line_set.h"

#include "host/base/size.h"

#include <stdlib.h>
#include <string.h>

void line_set_init(struct line_set *set)
{
    *set = (struct line_set){0};
}

void line_set_fini(struct line_set *set)
{
    free(set->ranges);
    line_set_init(set);
}

static bool reserve(struct line_set *set)
{
    if (set->count < set->capacity) {
        return true;
    }
    size_t capacity = set->capacity > 0 ? 2 * set->capacity : 8;
    struct line_range *ranges = realloc(set->ranges, capacity * sizeof *ranges);
    if (ranges == NULL) {
        return false;
    }
    set->ranges = ranges;
    set->capacity = capacity;
    return true;
}

/* The first range that ends at or above `line`, so that touches it or lies behind it. */
static size_t find(const struct line_set *set, size_t line)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->ranges[middle].end < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Puts one range in the place of the ranges [at, at + replaced). */
static void splice(struct line_set *set, size_t at, size_t replaced, struct line_range range)
{
    size_t behind = set->count - (at + replaced);
    memmove(set->ranges + at + 1, set->ranges + at + replaced, behind * sizeof range);
    set->ranges[at] = range;
    set->count = at + 1 + behind;
}

enum status line_set_add(struct line_set *set, size_t first, size_t end)
{
    if (end <= first) {
        return STATUS_OK;
    }
    /* A bump allocator mostly goes on where it was: the last range grows. */
    if (set->count > 0) {
        struct line_range *last = &set->ranges[set->count - 1];
        if (first >= last->first && first <= last->end) {
            last->end = end > last->end ? end : last->end;
            return STATUS_OK;
        }
    }
    if (!reserve(set)) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "line_set_add", "no memory for %zu ranges",
                           set->count + 1);
    }
    struct line_range range = {first, end};
    size_t at = find(set, first);
    size_t replaced = 0;
    while (at + replaced < set->count && set->ranges[at + replaced].first <= end) {
        range.first = size_min(range.first, set->ranges[at + replaced].first);
        range.end = size_max(range.end, set->ranges[at + replaced].end);
        replaced++;
    }
    splice(set, at, replaced, range);
    return STATUS_OK;
}

void line_set_settle(struct line_set *set, size_t line)
{
    size_t done = 0;
    while (done < set->count && set->ranges[done].end <= line) {
        set->settled += set->ranges[done].end - set->ranges[done].first;
        done++;
    }
    if (done < set->count && set->ranges[done].first < line) {
        set->settled += line - set->ranges[done].first;
        set->ranges[done].first = line;
    }
    if (done > 0) {
        set->count -= done;
        memmove(set->ranges, set->ranges + done, set->count * sizeof *set->ranges);
    }
}

void line_set_shift(struct line_set *set, size_t distance, size_t more)
{
    for (size_t i = 0; i < set->count; i++) {
        set->ranges[i].first += distance;
        set->ranges[i].end += distance;
    }
    set->settled += more;
}

size_t line_set_count(const struct line_set *set)
{
    size_t lines = set->settled;
    for (size_t i = 0; i < set->count; i++) {
        lines += set->ranges[i].end - set->ranges[i].first;
    }
    return lines;
}

bool line_set_is_valid(const struct line_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->ranges[i].end <= set->ranges[i].first ||
            (i > 0 && set->ranges[i].first <= set->ranges[i - 1].end)) {
            return false;
        }
    }
    return set->count <= set->capacity;
}
