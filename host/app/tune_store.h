/* What was tuned, kept between runs: the fastest tile of each policy for a device and a problem.
 *
 * One file an answer, tune-HASH.json, in $SCRATCHSCOPE_CACHE_DIR, else
 * $XDG_CACHE_HOME/scratchscope, else ~/.cache/scratchscope. The hash is of the answer's key:
 * device, driver, PEs, kernel style, a hash of the kernels' text, where the arena is, alignment,
 * pool, and the problem but for its blocks. So a kernel that has changed asks anew. A file is
 * written whole or not at all; two runs write different files, or one replaces the other's. What
 * cannot be read or written is told on stderr, once, and nothing stops for it.
 */
#ifndef HOST_APP_TUNE_STORE_H
#define HOST_APP_TUNE_STORE_H

#include "bench/tune.h"

enum { TUNE_STORE_FOLDER_BYTES = 4096 };

/* Of the files that this version writes; those of others are passed over. */
enum { TUNE_STORE_SCHEMA = 1 };

struct tune_store {
    char folder[TUNE_STORE_FOLDER_BYTES]; /* "" = there is none */
    bool told;                            /* what does not work was told */
};

/* Where an answer holds. Of the cell, the block, S and the policy do not count. Its pool is the one
 * that was asked for, which a plan knows as well; what a device has for local ones, its name tells.
 */
struct tune_store_key {
    const struct device_info *device; /* NULL in a plan: any */
    const struct cell *cell;          /* with style and pes; in a plan pes 0 = any, and any_style */
};

/* Chooses the folder by the environment; does not touch it. */
void tune_store_init(struct tune_store *store);

/* The stored tile of a policy for a device. False: none, or none that can be read and fits the
 * key's pool under the policy; the latter is told. */
bool tune_store_find(struct tune_store *store, const struct tune_store_key *key, enum policy policy,
                     struct tune_block *out) STATUS_MUST_USE;

/* The same with no device: how many different tiles are stored for it, counted up to 64; *out is
 * one of them. */
size_t tune_store_search(struct tune_store *store, const struct tune_store_key *key,
                         enum policy policy, struct tune_block *out);

/* Keeps the winners that were found and timed, beside those of other policies of the same key. */
void tune_store_keep(struct tune_store *store, const struct tune_store_key *key,
                     const struct tune_winner winners[POLICY_COUNT]);

#endif
