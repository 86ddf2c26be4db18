/* Kernels that run in turn: a few builds of one problem, each with an offset table, timed in rounds
 * that pairs.h makes ratios of.
 *
 * Each round runs every entrant once, in reversed order every other round; a sample is enough
 * back-to-back launches to be long. Rounds are grouped into blocks; each makes its arenas anew, at
 * a shift of their own, and runs every entrant once before it counts. All entrants of a block share
 * one arena buffer.
 *
 *     STATUS_TRY(race_run(&request, &times));
 *     STATUS_TRY(race_ratio(&times, 1, 0, seed, &ratio));   entrant 1 over entrant 0
 *     race_times_fini(&times);
 */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "bench/pairs.h"
#include "host/attention/run.h"

enum { RACE_MAX_ENTRANTS = 4 };

struct race_entrant {
    struct attention *attention;      /* borrowed, as is the table */
    const struct offset_table *table; /* */
};

struct race_request {
    struct device *device;                           /* */
    struct race_entrant entrants[RACE_MAX_ENTRANTS]; /* the same one may come twice: a control */
    size_t count;                                    /* */
    struct pe_arenas_shape shape;    /* of the arenas; the race shifts global ones */
    size_t items;                    /* of a launch: [0, items) */
    size_t blocks;                   /* >= 1 */
    size_t rounds;                   /* of a block, >= 1 */
    double sample_s;                 /* least length of a sample, > 0 */
    enum status (*poll)(void *user); /* before each sample; a failure ends it */
    void *user;                      /* */
};

/* Sample i of entrant e stands at [e * blocks * rounds + i]; block b has the samples from
 * b * rounds on. */
struct race_times {
    double *event_ns; /* owned, with host_ns; NaN where the stamps were not sane */
    double *host_ns;
    size_t count; /* entrants */
    size_t blocks;
    size_t rounds;
    size_t launches; /* of a sample */
};

/* STATUS_NO_MEMORY, STATUS_RANGE, and as attention_bind_table, attention_launch, pe_arenas_create
 * and `poll`. *out is empty on failure. */
enum status race_run(const struct race_request *request, struct race_times *out) STATUS_MUST_USE;
void race_times_fini(struct race_times *times);

/* The ratio of entrant a's time to b's. A pair is two times of one kind: one bad stamp puts both
 * of its samples on the host's clock. STATUS_NO_MEMORY. */
enum status race_ratio(const struct race_times *times, size_t a, size_t b, uint64_t seed,
                       struct pairs_ratio *out) STATUS_MUST_USE;

/* Median time of one launch of an entrant, ns. STATUS_NO_MEMORY. */
enum status race_launch_ns(const struct race_times *times, size_t entrant,
                           double *out) STATUS_MUST_USE;

#endif
