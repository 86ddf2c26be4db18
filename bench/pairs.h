/* Ratios from pairs: numbers alone, no clock and no device.
 *
 * Two variants run back to back in each round; rounds are grouped into blocks, and what changes
 * between blocks (the arenas' place, the warm-up) shifts all ratios of a block together. So a
 * block counts once: its ratio is the median over its rounds of a / b, and the result is the median
 * over the blocks. The interval comes from a bootstrap over blocks (Efron and Tibshirani 1993,
 * percentile interval, ch. 13), with a generator of its own, so that equal input gives an equal
 * interval on every machine; the order of blocks, and of rounds in a block, does not matter.
 *
 *     struct pairs pairs = {.blocks = 5, .rounds = 8, .a = scoped_ns, .b = unscoped_ns};
 *     struct pairs_ratio ratio;
 *     STATUS_TRY(pairs_ratio(&pairs, seed, &ratio));
 *     bool fine = pairs_not_slower(ratio.upper, pairs_noise_floor(&control));
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIRS_RESAMPLES = 4000 };

/* Samples of block i, round r stand at [i * rounds + r] in a and b, in any unit of time that is the
 * same for both. A pair counts if both its times are finite and > 0; NaN marks a sample that could
 * not be taken. */
struct pairs {
    size_t blocks;
    size_t rounds;   /* of each block */
    const double *a; /* blocks x rounds times of the numerator; may be the same array as b */
    const double *b; /* blocks x rounds times of the denominator */
};

struct pairs_ratio {
    double ratio;  /* median of the blocks' medians of a / b; NaN if no pair counts */
    double lower;  /* 2.5 % end of its interval; NaN with fewer than 2 blocks */
    double upper;  /* 97.5 % end */
    size_t blocks; /* blocks that have a pair that counts */
    size_t pairs;  /* pairs that count */
};

/* STATUS_NO_MEMORY; *out is then all 0. */
enum status pairs_ratio(const struct pairs *pairs, uint64_t seed,
                        struct pairs_ratio *out) STATUS_MUST_USE;

/* How far from 1 the interval of a control reaches, a thing paired with itself: the larger of
 * |lower - 1| and |upper - 1|; NaN if it has no interval. */
double pairs_noise_floor(const struct pairs_ratio *control);

/* Whether a noise floor is above 5 %, which a quiet machine stays below. NaN is not. */
bool pairs_noise_is_wide(double noise_floor);

/* Whether the upper end of an interval says "not slower": upper < 1 + the larger of 1 % and the
 * noise floor. A NaN upper end says no; a NaN noise floor leaves the 1 %. */
bool pairs_not_slower(double upper, double noise_floor);

/* Whether a ratio's interval says anything on a machine of that noise. Up to a noise floor of 10 %
 * it does; above, or with an unknown floor, only where the whole interval lies outside what a
 * control shows: below 1 - floor or above 1 + floor. Never with a NaN end. */
bool pairs_conclusive(const struct pairs_ratio *ratio, double noise_floor);

/* The median of the values that are not NaN, NaN if there are none; of an even number, the mean of
 * the two in the middle. Puts the values in another order. */
double pairs_median(double *values, size_t count);

#endif
