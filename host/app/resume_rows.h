/* Single rows of a file that --resume takes up: what is a row at all, and whether it is one of a
 * cell as this run plans it. */
#ifndef HOST_APP_RESUME_ROWS_H
#define HOST_APP_RESUME_ROWS_H

#include "host/app/context.h"

/* STATUS_BAD_INPUT: `path` is no results file, with the reason and what to do. */
enum status resume_damaged(const char *path, const char *why) STATUS_MUST_USE;

/* Adds the row to `rows`. STATUS_BAD_INPUT: no run writes such a row. */
enum status resume_read_row(const char *path, const json_t *json,
                            struct rows *rows) STATUS_MUST_USE;

/* *out: whether every row of the cell says what its plan on the context's device does. `force`: of
 * what its name tells alone. */
enum status resume_agrees(const struct context *context, const struct cell *planned,
                          const struct rows *rows, bool force, bool *out) STATUS_MUST_USE;

#endif
