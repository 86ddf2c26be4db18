/* --resume: takes up the rows and ratios of an earlier JSON file.
 *
 * A file counts only if it was measured as this run would: same device, driver, platform, version,
 * PEs and settings; else it is refused unless forced. Rows match by run_name. A cell is done if it
 * overflowed, was found wrong, or has all its repetitions; a partly done one is measured again.
 */
#ifndef HOST_APP_RESUME_H
#define HOST_APP_RESUME_H

#include "host/app/context.h"

struct resume {
    size_t kept;  /* cells of this run that the file has */
    size_t extra; /* rows of other cells, which stay in the file */
};

/* Reads `path` into the results, which are empty. No such file: nothing is kept. STATUS_IO: it
 * cannot be read; STATUS_BAD_INPUT: it is no results file, or of another device, version or
 * setting (unless `force`). */
enum status resume_read(const char *path, const struct context *context, bool force,
                        struct results *results, struct resume *out) STATUS_MUST_USE;

/* The cells still to be measured: those without rows, and every cell of a group that has such a
 * one or lacks its ratios, because ratios come from the whole group. The rows that are there stay
 * (results_set). `pending` has room for list->count indices. */
size_t resume_pending(const struct results *results, size_t *pending);

#endif
