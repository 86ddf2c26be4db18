#include "host/app/ranges.h"

#include "host/base/size.h"
#include "host/base/units.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 128 };

void ranges_fini(struct ranges *ranges)
{
    free(ranges->values);
    *ranges = (struct ranges){0};
}

bool ranges_has(const struct ranges *ranges, size_t value)
{
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->values[i] == value) {
            return true;
        }
    }
    return false;
}

enum status ranges_add(const char *what, struct ranges *ranges, size_t value)
{
    if (ranges_has(ranges, value)) {
        return STATUS_OK;
    }
    if (ranges->count == RANGES_MAX) {
        return STATUS_FAIL(
            STATUS_BAD_INPUT, what,
            "the list has more than %d values; give a shorter one, or make several runs",
            RANGES_MAX);
    }
    if (ranges->count == ranges->room) {
        size_t room = ranges->room == 0 ? 16 : ranges->room * 2;
        size_t *values = realloc(ranges->values, room * sizeof *values);
        if (values == NULL) {
            return STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory for %zu values", room);
        }
        ranges->values = values;
        ranges->room = room;
    }
    ranges->values[ranges->count++] = value;
    return STATUS_OK;
}

bool ranges_is_digits(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static enum status parse_value(const char *what, const char *text, size_t minimum, size_t *out)
{
    if (!units_parse_size(text, out)) {
        if (ranges_is_digits(text)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is too large (at most %zu)", text,
                               SIZE_MAX);
        }
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not a whole number", text);
    }
    if (*out < minimum) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is below the least value, %zu", text,
                           minimum);
    }
    return STATUS_OK;
}

struct step {
    bool factor;   /* multiply, else add */
    size_t amount; /* >= 2 for a factor, >= 1 else */
};

static enum status parse_step(const char *what, const char *text, struct step *out)
{
    *out = (struct step){.factor = text[0] == 'x'};
    if ((text[0] != 'x' && text[0] != '+') || !units_parse_size(text + 1, &out->amount)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not a step: write +N or xN", text);
    }
    if (out->amount < (out->factor ? 2U : 1U)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "the step '%s' never ends", text);
    }
    return STATUS_OK;
}

/* The value after `value`; false where it would wrap, which is past every end. A factor needs a
 * start above 0, or it would stay there. */
static bool step_next(struct step step, size_t value, size_t *out)
{
    return step.factor ? size_mul(value, step.amount, out) : size_add(value, step.amount, out);
}

static enum status add_range(const char *what, struct ranges *ranges, size_t first, size_t last,
                             struct step step)
{
    if (last < first) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "the range %zu:%zu runs backwards", first, last);
    }
    if (step.factor && first == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "a range from 0 cannot go by a factor");
    }
    for (size_t value = first; value <= last;) {
        enum status status = ranges_add(what, ranges, value);
        if (status != STATUS_OK) {
            return status;
        }
        if (!step_next(step, value, &value)) {
            break;
        }
    }
    return STATUS_OK;
}

/* One part between commas: N, A:B or A:B:STEP. It is cut up in place. */
static enum status add_part(const char *what, char *part, size_t minimum, struct ranges *ranges)
{
    enum status status = STATUS_OK;
    size_t first = 0;
    size_t last = 0;
    struct step step = {.amount = 1};
    char *end = strchr(part, ':');
    char *by = NULL;

    if (end != NULL) {
        *end++ = '\0';
        by = strchr(end, ':');
    }
    if (by != NULL) {
        *by++ = '\0';
        STATUS_TRY(parse_step(what, by, &step));
    }
    STATUS_TRY(parse_value(what, part, minimum, &first));
    last = first;
    if (end != NULL) {
        STATUS_TRY(parse_value(what, end, minimum, &last));
    }
    STATUS_TRY(add_range(what, ranges, first, last, step));
out:
    return status;
}

enum status ranges_parse(const char *what, const char *text, size_t minimum, struct ranges *out)
{
    enum status status = STATUS_OK;
    char part[PART_BYTES];

    ranges_fini(out);
    if (text[0] == '\0') {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "the list is empty");
    }
    for (const char *at = text; at != NULL;) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof part) {
            status = STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' has %s between its commas", text,
                                 length == 0 ? "nothing" : "too much");
            goto out;
        }
        memcpy(part, at, length);
        part[length] = '\0';
        STATUS_TRY(add_part(what, part, minimum, out));
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
out:
    if (status != STATUS_OK) {
        ranges_fini(out);
    }
    return status;
}
