#include "host/app/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void row_fini(struct row *row)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (row->values[i].kind == VALUE_TEXT) {
            free(row->values[i].as.text);
        }
    }
}

void rows_fini(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        row_fini(&rows->items[i]);
    }
    free(rows->items);
    *rows = (struct rows){0};
}

enum status rows_add(struct rows *rows, struct row **out)
{
    *out = NULL;
    if (rows->count == rows->room) {
        size_t room = rows->room == 0 ? 1 : rows->room * 2;
        struct row *items = realloc(rows->items, room * sizeof *items);
        if (items == NULL) {
            return STATUS_FAIL(STATUS_NO_MEMORY, "a result row", "no memory left");
        }
        rows->items = items;
        rows->room = room;
    }
    *out = &rows->items[rows->count++];
    memset(*out, 0, sizeof **out);
    return STATUS_OK;
}

static enum status fill(struct row *row, const struct field_source *source)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        STATUS_TRY(field_value((enum field_id)i, source, &row->values[i]));
    }
out:
    return status;
}

static void drop_last(struct rows *rows, size_t count)
{
    while (rows->count > count) {
        row_fini(&rows->items[--rows->count]);
    }
}

/* The spread of the repetitions' times; NaN where there is none. */
static double spread_of(const struct rows_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        const struct cell_run *run = &source->runs[i];
        if (strcmp(run->aggregate_name, "cv") == 0 && !run->failed) {
            return run->real_time_ns;
        }
    }
    return (double)NAN;
}

enum status rows_add_cell(struct rows *rows, const struct rows_source *source)
{
    enum status status = STATUS_OK;
    const size_t before = rows->count;
    const size_t count = source->count > 0 ? source->count : 1;

    for (size_t i = 0; i < count; i++) {
        const struct field_source of_run = {
            .cell = source->cell,
            .result = source->result,
            .run = source->count > 0 ? &source->runs[i] : NULL,
            .roofline = source->roofline,
            .spread = spread_of(source),
        };
        struct row *row = NULL;
        STATUS_TRY(rows_add(rows, &row));
        STATUS_TRY(fill(row, &of_run));
    }
out:
    if (status != STATUS_OK) {
        drop_last(rows, before);
    }
    return status;
}

bool row_has(const struct row *row, enum field_id id)
{
    return row->values[id].kind != VALUE_NONE;
}

size_t row_count(const struct row *row, enum field_id id)
{
    return row->values[id].kind == VALUE_COUNT ? row->values[id].as.count : 0;
}

double row_real(const struct row *row, enum field_id id)
{
    const struct value *value = &row->values[id];

    if (value->kind == VALUE_COUNT) {
        return (double)value->as.count;
    }
    return value->kind == VALUE_REAL ? value->as.real : (double)NAN;
}

const char *row_text(const struct row *row, enum field_id id)
{
    return row->values[id].kind == VALUE_TEXT ? row->values[id].as.text : "";
}

static bool row_says_no(const struct row *row, enum field_id id)
{
    return row_has(row, id) && row_count(row, id) == 0;
}

bool row_agrees(const struct row *row)
{
    return row_count(row, FIELD_MEASURED_PEAK_BYTES) == row_count(row, FIELD_PLANNED_PEAK_BYTES) &&
           row_count(row, FIELD_MEASURED_TOUCHED_LINES) ==
               row_count(row, FIELD_PLANNED_TOUCHED_LINES) &&
           row_count(row, FIELD_MEASURED_PARTS_BYTES) == row_count(row, FIELD_PARTS_BYTES) &&
           row_count(row, FIELD_GUARDS_INTACT) == 1;
}

bool row_is_wrong(const struct row *row)
{
    return row_has(row, FIELD_VERIFIED) &&
           (row_says_no(row, FIELD_VERIFIED) || !row_agrees(row) ||
            row_says_no(row, FIELD_REPEATABLE) || row_says_no(row, FIELD_SAME_BITS) ||
            row_says_no(row, FIELD_POISON_NEUTRAL));
}

bool row_is_repetition(const struct row *row)
{
    return strcmp(row_text(row, FIELD_RUN_TYPE), "iteration") == 0 && row_has(row, FIELD_REAL_TIME);
}

const struct row *rows_aggregate(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(row_text(&rows->items[i], FIELD_AGGREGATE_NAME), name) == 0) {
            return &rows->items[i];
        }
    }
    return NULL;
}

const struct row *rows_typical(const struct rows *rows)
{
    const struct row *median = rows_aggregate(rows, "median");

    for (size_t i = 0; median == NULL && i < rows->count; i++) {
        if (row_is_repetition(&rows->items[i])) {
            median = &rows->items[i];
        }
    }
    return median;
}
