/* What the files of tune share: the search's state, and a tile that is ready to be timed. */
#ifndef BENCH_TUNE_SEARCH_H
#define BENCH_TUNE_SEARCH_H

#include "bench/tune.h"

enum { TUNE_MAX_ENTRANTS = 8, TUNE_PAIR_BLOCKS = 5, TUNE_PAIR_ROUNDS = 4 };

/* A tile on the device under a policy. */
struct tune_entrant {
    size_t tile;                   /* index in the space */
    enum policy policy;            /* */
    struct cell cell;              /* of both; local: its pool is what the kernel leaves */
    struct attention *attention;   /* owned */
    struct pe_arenas *arenas;      /* owned, or NULL where they are shared */
    struct attention_bound *bound; /* owned */
    size_t items;                  /* of a launch */
    size_t launches;               /* of a sample */
    double flops;                  /* of a launch */
};

struct tune_search {
    struct device *device;              /* */
    const struct topology *topology;    /* */
    const struct tune_request *request; /* */
    const struct tune_sink *sink;       /* */
    struct tune_result *result;         /* */
    struct inputs *inputs;              /* owned; the same for every tile */
    double start_s;                     /* monotonic */
    double look_flops;                  /* of one look; 0 = not known yet */
};

double tune_elapsed_s(const struct tune_search *search);

/* STATUS_INTERRUPTED if the sink says so. */
enum status tune_poll(const struct tune_search *search) STATUS_MUST_USE;
void tune_tell(const struct tune_search *search, const char *stage, size_t tile);

/* Builds the tile's kernel; binds nothing yet. */
enum status tune_enter(struct tune_search *search, size_t tile, enum policy policy,
                       struct tune_entrant *out) STATUS_MUST_USE;

/* Gives it arenas of its own, as small as its policy allows, or of the whole pool that it has. */
enum status tune_settle(struct tune_search *search, struct tune_entrant *entrant,
                        bool whole_pool) STATUS_MUST_USE;
void tune_unsettle(struct tune_entrant *entrant);
void tune_leave(struct tune_entrant *entrant);

/* Sets the items of its launches to those that reach so many FLOPs. */
void tune_cut(const struct tune_search *search, struct tune_entrant *entrant, double flops);

/* One sample: nanoseconds a FLOP. */
enum status tune_sample(struct tune_search *search, const struct tune_entrant *entrant,
                        double *out) STATUS_MUST_USE;

/* Sets the launches of a sample so that it takes about this long. */
enum status tune_calibrate(struct tune_search *search, struct tune_entrant *entrant,
                           double least_s) STATUS_MUST_USE;

/* What rounds and pairs take at most for one policy, guessed from a launch over all items. */
double tune_rounds_s(const struct tune_search *search, double launch_s);

/* The steps (tune.h). Verdicts are those of policies that have no winner yet. */
enum status tune_looks(struct tune_search *search) STATUS_MUST_USE;
enum status tune_rounds(struct tune_search *search) STATUS_MUST_USE;
enum status tune_verdicts(struct tune_search *search) STATUS_MUST_USE;
enum status tune_pairs(struct tune_search *search) STATUS_MUST_USE;

/* After pairs: where a policy's winner is slower, beyond the noise, than the tile that has won
 * under a less recycling policy, which it could have as well, the space takes that tile for as much
 * slower, and those that won with it have no winner any more. False: nothing has changed. */
bool tune_demote(struct tune_result *result);

#endif
