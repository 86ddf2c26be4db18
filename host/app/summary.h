/* The lines below a configuration's rows: what each policy needs as a function of S, where
 * unscoped ends, the gap to the lower bound, ratios of time, and whether all was right. */
#ifndef HOST_APP_SUMMARY_H
#define HOST_APP_SUMMARY_H

#include "host/app/writers.h"

/* Of the cells [first, end), which are of one configuration. */
enum status summary_write(const struct report *report, size_t first, size_t end, bool markdown,
                          FILE *file) STATUS_MUST_USE;

/* Whether seq_kv must be told beside S: of some row of the cells [first, end) it does not follow
 * from the S tiles that are walked, because a mask or parts leave some out. */
bool summary_needs_keys(const struct results *results, size_t first, size_t end);

/* Whether it is the device that can not hold a row's buffers, whatever its pool. */
bool summary_is_refused(const struct row *row);

/* What a policy needs for S >= 1 tiles: base + slope x S bytes, exactly, because every tile begins
 * at an aligned cursor. */
struct summary_need {
    size_t base_bytes;
    size_t slope_bytes; /* 0 = the same for every S */
    size_t lower_bound_bytes;
};

/* `cell` gives problem and alignment; its S and pool do not count. */
enum status summary_need_of(const struct cell *cell, enum policy policy,
                            struct summary_need *out) STATUS_MUST_USE;

/* The least S >= 1 that needs more than `pool_bytes`, found by planning it and its neighbour;
 * 0 = none. */
enum status summary_cap(const struct cell *cell, enum policy policy, size_t pool_bytes,
                        size_t *out) STATUS_MUST_USE;

#endif
