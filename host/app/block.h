/* --block auto: the tile that was tuned for a problem, or that is tuned now. */
#ifndef HOST_APP_BLOCK_H
#define HOST_APP_BLOCK_H

#include "host/app/cell_list.h"
#include "host/app/place.h"
#include "host/app/progress.h"
#include "host/app/tune_store.h"

/* What a search reports to: the line on stderr, and the signals. */
struct block_watch {
    struct progress progress;
};
void block_watch_begin(struct block_watch *watch, struct tune_sink *sink);
void block_watch_end(struct block_watch *watch);

/* Sets the tile of a cell's problem that is stored for its policy, else tunes for a minute at most
 * and keeps the result; says on stderr which. Where no tile fits, the cell's stays, and that is
 * said, too. STATUS_INTERRUPTED, STATUS_WRONG: only wrong tiles; else as tune_run. */
enum status block_tune(const struct place *place, struct cell *cell) STATUS_MUST_USE;

/* The same without a device: STATUS_BAD_INPUT unless the store has one answer. */
enum status block_recall(struct cell *cell) STATUS_MUST_USE;

/* Gives every cell of a list its tile: one for all S and policies of a configuration, that of the
 * most recycling policy among them. Where S comes from --tiles, S counts tiles of the new size; the
 * tile is the one for S = SETTINGS_TUNE_TILES of the preset's, or for the only S of the list.
 * `place` NULL: a plan. Nothing is done unless the settings say auto. */
enum status block_resolve(const struct settings *settings, const struct place *place,
                          struct cell_list *list) STATUS_MUST_USE;

#endif
