/* All that a command has found out: the rows of each cell, in the cells' order whatever order they
 * came in, rows kept from a file that this command line does not ask for, and ratios. */
#ifndef HOST_APP_RESULTS_H
#define HOST_APP_RESULTS_H

#include "host/app/cell_list.h"
#include "host/app/rows.h"

struct results {
    struct cell_list *list;    /* borrowed */
    struct rows *of_cell;      /* owned, one for each cell of the list; empty = not done */
    struct rows extra;         /* kept rows of other cells, in the file's order */
    struct cell_ratio *ratios; /* owned */
    size_t ratio_count;
    size_t ratio_room;
    bool planned; /* no device took part */
};

enum status results_init(struct results *results, struct cell_list *list,
                         bool planned) STATUS_MUST_USE;
void results_fini(struct results *results);

/* Sets the rows of cell `index`; rows that it has already stay instead. `cell` may differ from the
 * list's in its pool, which the list then takes over. */
enum status results_set(struct results *results, size_t index,
                        const struct rows_source *source) STATUS_MUST_USE;

/* Adds a ratio, or puts it in the place of the one of the same group and policies. */
enum status results_add_ratio(struct results *results,
                              const struct cell_ratio *ratio) STATUS_MUST_USE;

/* The ratio of two policies in a group; NULL if there is none. */
const struct cell_ratio *results_ratio(const struct results *results, const char *group,
                                       enum policy numerator, enum policy denominator);

/* Cells that have rows, and those of them that are wrong. */
size_t results_done(const struct results *results);
size_t results_wrong(const struct results *results);

/* Index of the cell of that name; list->count if there is none. */
size_t results_find(const struct results *results, const char *run_name);

#endif
