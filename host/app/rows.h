/* Result rows: each is one run of a cell (a repetition or an aggregate), or a cell of which nothing
 * was timed. All formats are written from these, and --resume reads them back. */
#ifndef HOST_APP_ROWS_H
#define HOST_APP_ROWS_H

#include "host/app/fields.h"

struct row {
    struct value values[FIELD_COUNT]; /* texts owned */
};

/* The rows of one cell, in the order of its runs. */
struct rows {
    struct row *items; /* owned */
    size_t count;
    size_t room;
};

/* What is known of a cell, for rows_add_cell. */
struct rows_source {
    const struct cell *cell;
    const struct cell_result *result;
    const struct cell_run *runs; /* NULL with count 0 */
    size_t count;
    const struct roofline *roofline; /* these two as in field_source */
};

/* Adds a row a run; one row without a time where there is none. STATUS_NO_MEMORY: nothing added. */
enum status rows_add_cell(struct rows *rows, const struct rows_source *source) STATUS_MUST_USE;

/* Adds an empty row (every value VALUE_NONE) to be filled in; STATUS_NO_MEMORY. */
enum status rows_add(struct rows *rows, struct row **out) STATUS_MUST_USE;
void rows_fini(struct rows *rows);

/* Value of a field, or what stands for none: 0, NaN, "". */
size_t row_count(const struct row *row, enum field_id id);
double row_real(const struct row *row, enum field_id id); /* counts too */
const char *row_text(const struct row *row, enum field_id id);
bool row_has(const struct row *row, enum field_id id);

/* Whether measured equals planned, in bytes and lines and in bytes of parts, and the guards are
 * intact. */
bool row_agrees(const struct row *row);

/* Whether the row was checked and found wrong in any respect. */
bool row_is_wrong(const struct row *row);

/* Whether it is a repetition's row with a time (not an aggregate, an overflow or a failure). */
bool row_is_repetition(const struct row *row);

/* The row of an aggregate of that name; NULL if there is none. */
const struct row *rows_aggregate(const struct rows *rows, const char *name);

/* The row that tells the cell's time: the median, else the only repetition, else NULL. */
const struct row *rows_typical(const struct rows *rows);

#endif
