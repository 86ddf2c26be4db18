/* A text table: cells under headers, with labelled rules between rows; plain, or Markdown, which
 * has no rules.
 *
 *     grid_init(&grid, columns, count);
 *     grid_row(&grid, cells);
 *     grid_rule(&grid, "the pool ends here");
 *     grid_write(&grid, GRID_UTF8, file);
 */
#ifndef HOST_APP_GRID_H
#define HOST_APP_GRID_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { GRID_MAX_COLUMNS = 12, GRID_CELL_BYTES = 256 };

enum grid_style { GRID_ASCII, GRID_UTF8, GRID_MARKDOWN };

struct grid_column {
    const char *header;
    bool right; /* aligned to the right */
};

struct grid_line {
    char *cells[GRID_MAX_COLUMNS]; /* owned; a rule has its label in cells[0] alone */
    bool rule;
};

struct grid {
    const struct grid_column *columns; /* borrowed */
    size_t column_count;               /* 1..GRID_MAX_COLUMNS */
    struct grid_line *lines;           /* owned */
    size_t count;
    size_t room;
};

/* Leaves out the column of index `skip`; `out` has room for count - 1 of them. */
void grid_without(const struct grid_column *columns, size_t count, size_t skip,
                  struct grid_column *out);

void grid_init(struct grid *grid, const struct grid_column *columns, size_t column_count);
void grid_fini(struct grid *grid);

/* Adds a row of column_count cells, copied. */
enum status grid_row(struct grid *grid, char (*cells)[GRID_CELL_BYTES]) STATUS_MUST_USE;

/* Adds a rule with a label. */
enum status grid_rule(struct grid *grid, const char *label) STATUS_MUST_USE;

void grid_write(const struct grid *grid, enum grid_style style, FILE *file);

/* Columns that a UTF-8 text takes on a terminal: its code points (no wide ones are used here). */
size_t grid_width(const char *text);

#endif
