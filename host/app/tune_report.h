/* What tune has found out, as a table, JSON, CSV or Markdown. */
#ifndef HOST_APP_TUNE_REPORT_H
#define HOST_APP_TUNE_REPORT_H

#include "bench/tune.h"
#include "host/app/context.h"
#include "host/app/settings.h"

#include <stdio.h>

struct tune_report {
    const struct settings *settings;
    const struct cell *cell; /* the problem, pool, PEs and style; its block does not count */
    const struct tune_result *result;
    const struct context *context;
    bool policies[POLICY_COUNT]; /* asked for */
    bool stopped;                /* by a signal: what is missing was not reached */
    bool utf8;
};

/* STATUS_NO_MEMORY. */
enum status tune_report_write(const struct tune_report *report, enum format format,
                              FILE *file) STATUS_MUST_USE;

/* A timed tile under a policy that it fits. */
struct tune_row {
    char name[CELL_NAME_BYTES];
    const struct tune_tile *tile;
    enum policy policy;
    bool winner;                      /* the fastest, verified */
    bool front;                       /* on the front of bytes and speed */
    const struct cell_result *result; /* of a winner; NULL */
    double gflops;                    /* of the search: the same under every policy */
    double pairs_gflops;              /* a winner's, under its policy; NaN = none */
    double flops;                     /* of the problem */
};

/* All of them, by policy and then by bytes. */
struct tune_rows {
    struct tune_row *rows; /* owned */
    size_t count;
};
enum status tune_rows_init(const struct tune_report *report, struct tune_rows *out) STATUS_MUST_USE;
void tune_rows_fini(struct tune_rows *rows);

/* JSON and CSV: a row an object or a line of the same keys (tune_data.c). */
enum status tune_data_json(const struct tune_report *report, const struct tune_rows *rows,
                           FILE *file) STATUS_MUST_USE;
enum status tune_data_csv(const struct tune_report *report, const struct tune_rows *rows,
                          FILE *file) STATUS_MUST_USE;

#endif
