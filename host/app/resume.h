/* --resume: takes up the rows and ratios of an earlier JSON file.
 *
 * A file counts only if it was measured as this run would: same device, driver, platform, version,
 * PEs, CPUs of their threads and settings; else it is refused unless forced. Rows match by
 * run_name. A cell is done if it overflowed, was found wrong, or has all its repetitions; a partly
 * done one is measured again. So is one whose rows contradict its name or this run's plan of it.
 * What no run writes (a value of another type, a negative time, a ratio without a group) makes the
 * whole file a damaged one.
 */
#ifndef HOST_APP_RESUME_H
#define HOST_APP_RESUME_H

#include "host/app/context.h"

struct resume {
    size_t kept;   /* cells of this run that the file has */
    size_t differ; /* complete cells that are measured again: their rows contradict the plan */
    size_t extra;  /* rows of other cells, which stay in the file */
    struct roofline roofline; /* of its context; read_count 0 = none */
};

/* Reads `path` into the results, which are empty; on failure they are so again. No such file:
 * nothing is kept. STATUS_IO: it cannot be read; STATUS_BAD_INPUT: it is no regular file, no
 * results file, or of another device, version or setting. `force` takes such a one, and then
 * compares rows with their names alone. */
enum status resume_read(const char *path, const struct context *context, bool force,
                        struct results *results, struct resume *out) STATUS_MUST_USE;

/* The cells still to be measured: those without rows, and every cell of a group that has such a
 * one or lacks its ratios, because ratios come from the whole group. The rows that are there stay
 * (results_set). `pending` has room for list->count indices. */
size_t resume_pending(const struct results *results, size_t *pending);

#endif
