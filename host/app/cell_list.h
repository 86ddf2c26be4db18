/* The cells that a command line asks for: every list crossed with every other.
 *
 * Order: batch, heads, shapes, blocks, parts and type outside, then S, then the policy innermost,
 * so that the cells of one group (bench/cells.h) are neighbours.
 *
 * A cell's name is attention/PRESET/POLICY/DTYPE/S:n, then "/setting:value" for each setting and
 * mask option that is not the preset's, in a fixed order. n is the number of tiles in seq_kv; what
 * is walked under a mask or in parts may be less. No two cells of a list share a name.
 */
#ifndef HOST_APP_CELL_LIST_H
#define HOST_APP_CELL_LIST_H

#include "bench/cells.h"
#include "host/app/settings.h"

enum { CELL_LIST_MAX = 10000 };

struct cell_list {
    struct cell *cells; /* owned; pes and style as asked for until cell_list_place */
    size_t count;       /* 1..CELL_LIST_MAX */
};

/* The largest number of blocks of query rows of one key/value head: each is walked to plan it. */
#define CELL_LIST_MAX_BLOCKS ((size_t)1 << 28)

/* STATUS_BAD_INPUT: too many cells or blocks, or a problem that is refused (problem_validate);
 * STATUS_RANGE: seq_kv wraps. Errors name the option. Every cell is checked before any is run. */
enum status cell_list_init(const struct settings *settings, struct cell_list *out) STATUS_MUST_USE;
void cell_list_fini(struct cell_list *list);

/* Leaves only the cells for which `keep` says yes, in order. */
void cell_list_filter(struct cell_list *list, bool (*keep)(const char *name));

/* Leaves those that --benchmark_filter takes. STATUS_BAD_INPUT, with a name to go by: none. */
enum status cell_list_choose(struct cell_list *list) STATUS_MUST_USE;

/* Sets kernel style and PEs of every cell. */
void cell_list_place(struct cell_list *list, enum kernel_style style, size_t pes);

/* Sets what a work-group of the device has of local memory, and limits the pools to it; names keep
 * what was asked for. */
void cell_list_local(struct cell_list *list, size_t local_bytes);

/* Gives a cell another block, and the name that goes with it. Where the preset takes S from
 * --tiles, S stays and seq_kv follows. STATUS_BAD_INPUT, STATUS_RANGE as above. */
enum status cell_list_set_block(const struct settings *settings, struct cell *cell, size_t block_m,
                                size_t block_n) STATUS_MUST_USE;

/* Names a cell by what it is. */
void cell_list_name(const struct settings *settings, struct cell *cell);

/* The part of a name that the cells of one group share: without its policy. */
void cell_list_group(const struct cell *cell, char group[CELL_NAME_BYTES]);

/* Whether two cells are of one configuration: all but S and policy equal. */
bool cell_list_same_config(const struct cell *a, const struct cell *b);

#endif
