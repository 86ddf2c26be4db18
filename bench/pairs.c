#include "bench/pairs.h"

#include <math.h>
#include <stdlib.h>

#define LOWER_QUANTILE 0.025
#define UPPER_QUANTILE 0.975
#define LEAST_MARGIN 0.01
#define NOISY_FLOOR 0.10
#define WIDE_FLOOR 0.05

/* Room for count numbers, at least one: NULL then means nothing but "no memory". */
static double *doubles_create(size_t count)
{
    if (count > SIZE_MAX / sizeof(double)) {
        return NULL;
    }
    return calloc(count > 0 ? count : 1, sizeof(double));
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Moves the NaN behind the rest, since they have no place in an order; returns how many are left.
 */
static size_t drop_nan(double *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const double value = values[i];
        if (!isnan(value)) {
            values[i] = values[kept];
            values[kept++] = value;
        }
    }
    return kept;
}

/* Halves first, so that two large values do not overflow. */
static double sorted_median(const double *sorted, size_t count)
{
    const size_t middle = count / 2;
    if (count == 0) {
        return (double)NAN;
    }
    return count % 2 == 1 ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2;
}

double pairs_median(double *values, size_t count)
{
    const size_t kept = drop_nan(values, count);
    if (kept == 0) {
        return (double)NAN;
    }
    qsort(values, kept, sizeof *values, compare_doubles);
    return sorted_median(values, kept);
}

/* Linear between the two nearest ranks; count >= 1. */
static double sorted_quantile(const double *sorted, size_t count, double quantile)
{
    const double rank = quantile * (double)(count - 1);
    const size_t below = (size_t)rank;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (rank - (double)below) * (sorted[above] - sorted[below]);
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* 0..bound - 1, all equally likely: draws from the incomplete last run of residues are repeated. */
static size_t random_below(uint64_t *state, size_t bound)
{
    const uint64_t usable = UINT64_MAX - UINT64_MAX % bound;
    uint64_t draw = next_random(state);
    while (draw >= usable) {
        draw = next_random(state);
    }
    return (size_t)(draw % bound);
}

static bool is_time(double value)
{
    return isfinite(value) && value > 0;
}

/* The median ratio of one block; NaN if no pair of it counts. ratios has room for its rounds. */
static double block_ratio(const struct pairs *pairs, size_t block, double *ratios, size_t *counted)
{
    size_t count = 0;
    for (size_t round = 0; round < pairs->rounds; round++) {
        const double a = pairs->a[block * pairs->rounds + round];
        const double b = pairs->b[block * pairs->rounds + round];
        if (is_time(a) && is_time(b)) {
            ratios[count++] = a / b;
        }
    }
    *counted += count;
    return pairs_median(ratios, count);
}

/* medians: sorted, count >= 2. Sorted input makes the interval independent of the blocks' order. */
static enum status bootstrap(const double *medians, size_t count, uint64_t seed,
                             struct pairs_ratio *out)
{
    double *resample = doubles_create(count);
    double *results = doubles_create(PAIRS_RESAMPLES);
    enum status status = STATUS_OK;
    uint64_t state = seed;
    if (resample == NULL || results == NULL) {
        status =
            STATUS_FAIL(STATUS_NO_MEMORY, "interval of a ratio", "no memory for %zu blocks", count);
        goto out;
    }
    for (size_t i = 0; i < PAIRS_RESAMPLES; i++) {
        for (size_t j = 0; j < count; j++) {
            resample[j] = medians[random_below(&state, count)];
        }
        results[i] = pairs_median(resample, count);
    }
    qsort(results, PAIRS_RESAMPLES, sizeof *results, compare_doubles);
    out->lower = sorted_quantile(results, PAIRS_RESAMPLES, LOWER_QUANTILE);
    out->upper = sorted_quantile(results, PAIRS_RESAMPLES, UPPER_QUANTILE);
out:
    free(results);
    free(resample);
    return status;
}

/* medians has room for a value a block, ratios for one a round. */
static enum status summarize(const struct pairs *pairs, uint64_t seed, double *medians,
                             double *ratios, struct pairs_ratio *out)
{
    for (size_t block = 0; block < pairs->blocks; block++) {
        const double median = block_ratio(pairs, block, ratios, &out->pairs);
        if (!isnan(median)) {
            medians[out->blocks++] = median;
        }
    }
    out->ratio = pairs_median(medians, out->blocks);
    out->lower = (double)NAN;
    out->upper = (double)NAN;
    return out->blocks >= 2 ? bootstrap(medians, out->blocks, seed, out) : STATUS_OK;
}

enum status pairs_ratio(const struct pairs *pairs, uint64_t seed, struct pairs_ratio *out)
{
    double *medians = doubles_create(pairs->blocks);
    double *ratios = doubles_create(pairs->rounds);
    enum status status = STATUS_OK;
    *out = (struct pairs_ratio){0};
    if (medians == NULL || ratios == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "ratio of pairs", "no memory for %zu x %zu pairs",
                             pairs->blocks, pairs->rounds);
    } else {
        status = summarize(pairs, seed, medians, ratios, out);
    }
    if (status != STATUS_OK) {
        *out = (struct pairs_ratio){0};
    }
    free(ratios);
    free(medians);
    return status;
}

double pairs_noise_floor(const struct pairs_ratio *control)
{
    if (isnan(control->lower) || isnan(control->upper)) {
        return (double)NAN;
    }
    return fmax(fabs(control->lower - 1), fabs(control->upper - 1));
}

bool pairs_noise_is_wide(double noise_floor)
{
    return noise_floor > WIDE_FLOOR;
}

bool pairs_not_slower(double upper, double noise_floor)
{
    return upper < 1 + fmax(LEAST_MARGIN, noise_floor);
}

bool pairs_conclusive(const struct pairs_ratio *ratio, double noise_floor)
{
    if (isnan(ratio->lower) || isnan(ratio->upper)) {
        return false;
    }
    return noise_floor <= NOISY_FLOOR || ratio->upper < 1 - noise_floor ||
           ratio->lower > 1 + noise_floor;
}
