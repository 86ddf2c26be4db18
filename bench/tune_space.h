/* The tiles that a search may choose from, what is known of each, and which one to look at next.
 * Numbers alone: no clock, no device.
 *
 *     tune_space_init(&request, &space);          every tile of the lattice that fits
 *     while (tune_space_next(&space, policy, rule, &index)) {
 *         ... time space.tiles[index], set its gflops ...
 *     }
 *
 * The lattice: powers of two and 1.5 times them, up to the rows of a head and the keys there are
 * (at most TUNE_MAX_BLOCK), and these extents themselves. A tile is in the space if its planned
 * peak fits the pool, and the pool the device, under one of the policies asked for; what fits
 * under a policy fits under those that recycle more.
 */
#ifndef BENCH_TUNE_SPACE_H
#define BENCH_TUNE_SPACE_H

#include "bench/cells.h"

enum { TUNE_MAX_BLOCK = 512 };

struct tune_tile {
    size_t block_m;                  /* */
    size_t block_n;                  /* */
    size_t tiles;                    /* S: walked by the longest item */
    size_t peak_bytes[POLICY_COUNT]; /* planned, whether it fits or not */
    double prior;                    /* guessed speed, in units of its own: for the order alone */
    double gflops;                   /* of the problem's FLOPs; NaN = not timed */
    bool fits[POLICY_COUNT];         /* under a policy that is asked for */
    bool failed;                     /* it could not be built or run: not looked at again */
    bool wrong;                      /* its numbers or its footprint are not as they should be */
};

/* What tiles that fit the pool need of the device, and it does not have: an allocation, or local
 * memory. */
struct tune_refusal {
    size_t request_bytes; /* the least of them; 0 = none was refused */
    size_t limit_bytes;   /* the device's, less than that */
};

struct tune_space {
    struct tune_tile *tiles;                   /* owned */
    size_t count;                              /* */
    struct tune_refusal refused[POLICY_COUNT]; /* */
};

struct tune_space_request {
    struct cell cell;            /* its policy and block do not count; its local_bytes do */
    bool policies[POLICY_COUNT]; /* asked for */
    size_t max_alloc_bytes;      /* of the device; 0 = no device */
    size_t base_align_bytes;     /* likewise */
};

/* Extents of one side of the lattice up to `extent`, ascending; returns how many. */
enum { TUNE_MAX_SIDES = 32 };
size_t tune_sides(size_t extent, size_t sides[TUNE_MAX_SIDES]);

/* Plans every tile of the lattice. None may fit: count = 0. STATUS_BAD_INPUT, STATUS_RANGE as the
 * problem's; STATUS_NO_MEMORY. *out is empty on failure. */
enum status tune_space_init(const struct tune_space_request *request,
                            struct tune_space *out) STATUS_MUST_USE;
void tune_space_fini(struct tune_space *space);

/* Takes from a tile the policies whose peaks are above this many bytes: less than was planned with.
 * False: it fits none any more, and is gone; the next one has its index. */
bool tune_space_limit(struct tune_space *space, size_t index, size_t pool_bytes);

/* The cell of a tile under a policy, its pool limited (cell_limit_pool). */
struct cell tune_cell(const struct cell *base, const struct tune_tile *tile, enum policy policy);

/* The most and the least recycling policy under which it fits. */
enum policy tune_tile_policy(const struct tune_tile *tile);
enum policy tune_tile_tightest(const struct tune_tile *tile);

enum tune_rule {
    TUNE_FASTEST, /* the largest expected speed */
    TUNE_FRONT,   /* the largest expected gain of the front of bytes and speed */
};

/* Which untimed tile of a policy comes next. A tile's expected speed is its prior, corrected by
 * what the nearest timed tile has shown, and more the farther that one is. False if all are
 * timed. */
bool tune_space_next(const struct tune_space *space, enum policy policy, enum tune_rule rule,
                     size_t *index) STATUS_MUST_USE;

/* The fastest timed tile that fits a policy and is not wrong; count if there is none. */
size_t tune_space_best(const struct tune_space *space, enum policy policy);

/* Whether a timed tile is on a policy's front: no other takes as few bytes and is faster, or fewer
 * and is as fast. */
bool tune_space_on_front(const struct tune_space *space, enum policy policy, size_t index);

/* The tile of these sides; count if the space has none. */
size_t tune_space_find(const struct tune_space *space, size_t block_m, size_t block_n);

size_t tune_space_fitting(const struct tune_space *space, enum policy policy);
size_t tune_space_timed(const struct tune_space *space);

#endif
