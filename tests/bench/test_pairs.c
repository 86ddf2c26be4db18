/* Ratios from pairs, against numbers worked out by hand.
 *
 * Where an end of an interval is named, it is where the bootstrap's distribution has it: of n
 * distinct block medians, the median of a resample is at most the k-th smallest with probability
 * P(Bin(n, k/n) >= (n + 1) / 2), n odd. n = 5: k = 1 gives 5.8 %, so the ends are the extremes.
 * n = 11: k = 2 gives 0.7 % and k = 3 gives 5.1 %, so the ends are third from either side. Each
 * is at least seven standard errors of 4000 resamples away from 2.5 %. */
#include "bench/pairs.h"
#include "tests/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A quotient and a mean of two: a few units in the last place. */
#define TOLERANCE 1e-14

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const double ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static struct pairs_ratio ratio_of(size_t blocks, size_t rounds, const double *a, const double *b)
{
    const struct pairs pairs = {.blocks = blocks, .rounds = rounds, .a = a, .b = b};
    struct pairs_ratio ratio;
    assert_int_equal(pairs_ratio(&pairs, 1, &ratio), STATUS_OK);
    return ratio;
}

/* Values in [1, 2), the same on every machine. */
static void fill_scattered(double *values, size_t count)
{
    uint64_t bits = 7;
    for (size_t i = 0; i < count; i++) {
        bits = bits * UINT64_C(6364136223846793005) + 1;
        values[i] = 1 + (double)(bits >> 40) * 0x1p-24;
    }
}

static void assert_near(double actual, double expected)
{
    assert_true(fabs(actual - expected) <= TOLERANCE * fabs(expected));
}

static void median_odd_count_is_middle(void **state)
{
    (void)state;
    double values[] = {5, 1, 3};
    assert_true(pairs_median(values, LENGTH(values)) == 3);
}

static void median_even_count_is_mean_of_middle_two(void **state)
{
    (void)state;
    double values[] = {10, 1, 4, 2};
    assert_true(pairs_median(values, LENGTH(values)) == 3);
}

static void median_nan_is_left_out(void **state)
{
    (void)state;
    double values[] = {(double)NAN, 7, (double)NAN, 1, 4};
    assert_true(pairs_median(values, LENGTH(values)) == 4);
}

static void median_of_nothing_is_nan(void **state)
{
    (void)state;
    double values[] = {(double)NAN};
    assert_true(isnan(pairs_median(values, 0)));
    assert_true(isnan(pairs_median(values, 1)));
}

/* Block 0: ratios 2, 4, 3 -> 3. Block 1: 1, 1.5, 8 -> 1.5. Block 2: 2, 2, 2 -> 2. */
static void ratio_is_median_of_block_medians(void **state)
{
    (void)state;
    const double a[] = {20, 8, 3, 5, 3, 16, 4, 6, 2};
    const double b[] = {10, 2, 1, 5, 2, 2, 2, 3, 1};
    const struct pairs_ratio ratio = ratio_of(3, 3, a, b);
    assert_true(ratio.ratio == 2);
    assert_int_equal(ratio.blocks, 3);
    assert_int_equal(ratio.pairs, 9);
}

/* Medians of the blocks 9, 9, 1; over all nine rounds it would be 1. */
static void ratio_blocks_count_once(void **state)
{
    (void)state;
    const double a[] = {9, 9, 1, 9, 9, 1, 1, 1, 1};
    assert_true(ratio_of(3, 3, a, ones).ratio == 9);
}

static void ratio_of_pairs_is_not_ratio_of_medians(void **state)
{
    (void)state;
    /* Pair ratios 3, 0.5, 3; medians of the times 6 / 4. */
    const double a[] = {3, 6, 12};
    const double b[] = {1, 12, 4};
    assert_true(ratio_of(1, 3, a, b).ratio == 3);
}

static void ratio_numerator_is_a(void **state)
{
    (void)state;
    const double a[] = {6, 6};
    const double b[] = {3, 3};
    assert_true(ratio_of(2, 1, a, b).ratio == 2);
    assert_true(ratio_of(2, 1, b, a).ratio == 0.5);
}

static void ratio_unusable_samples_are_left_out(void **state)
{
    (void)state;
    /* Block 0 keeps 2; block 1 keeps nothing; block 2 keeps 4 and 6. */
    const double a[] = {2, (double)NAN, 9, 1, 0, -1, 4, 6, (double)INFINITY};
    const double b[] = {1, 1, (double)NAN, 0, 1, 1, 1, 1, 1};
    const struct pairs_ratio ratio = ratio_of(3, 3, a, b);
    assert_int_equal(ratio.blocks, 2);
    assert_int_equal(ratio.pairs, 3);
    assert_true(ratio.ratio == 3.5);
    assert_true(ratio.lower == 2);
    assert_true(ratio.upper == 5);
}

static void ratio_without_pairs_is_nan(void **state)
{
    (void)state;
    const double a[] = {(double)NAN, (double)NAN};
    const struct pairs_ratio none = ratio_of(2, 1, a, ones);
    const struct pairs_ratio empty = ratio_of(0, 0, NULL, NULL);
    assert_true(isnan(none.ratio) && isnan(none.lower) && isnan(none.upper));
    assert_int_equal(none.blocks, 0);
    assert_int_equal(none.pairs, 0);
    assert_true(isnan(empty.ratio) && isnan(empty.lower) && isnan(empty.upper));
}

static void interval_of_one_block_is_nan(void **state)
{
    (void)state;
    const double a[] = {2, 3, 4, 5};
    const struct pairs_ratio ratio = ratio_of(1, 4, a, ones);
    assert_true(ratio.ratio == 3.5);
    assert_true(isnan(ratio.lower) && isnan(ratio.upper));
}

static void interval_of_equal_blocks_is_a_point(void **state)
{
    (void)state;
    const struct pairs_ratio ratio = ratio_of(5, 8, ones, ones);
    assert_true(ratio.ratio == 1 && ratio.lower == 1 && ratio.upper == 1);
}

static void interval_of_five_blocks_is_their_extremes(void **state)
{
    (void)state;
    const double a[] = {1.03, 0.98, 1.10, 1.01, 0.95};
    const struct pairs_ratio ratio = ratio_of(5, 1, a, ones);
    assert_near(ratio.ratio, 1.01);
    assert_near(ratio.lower, 0.95);
    assert_near(ratio.upper, 1.10);
}

static void interval_of_eleven_blocks_is_third_from_the_ends(void **state)
{
    (void)state;
    const double a[] = {7, 3, 11, 1, 9, 5, 2, 10, 6, 8, 4};
    const struct pairs_ratio ratio = ratio_of(11, 1, a, ones);
    assert_true(ratio.ratio == 6);
    assert_true(ratio.lower == 3);
    assert_true(ratio.upper == 9);
}

static void interval_covers_the_ratio(void **state)
{
    (void)state;
    double a[60];
    fill_scattered(a, LENGTH(a));
    for (size_t blocks = 2; blocks <= 20; blocks++) {
        const struct pairs_ratio ratio = ratio_of(blocks, 3, a, ones);
        assert_true(ratio.lower <= ratio.ratio && ratio.ratio <= ratio.upper);
        assert_true(ratio.lower < ratio.upper);
    }
}

/* Of sixteen blocks, a resample's median is the mean of its 8th and 9th smallest. Summed exactly,
 * its distribution passes 2.5 % within its step at 1.102 (1.8 % to 3.4 %) and 97.5 % within its
 * step at 1.667 (96.6 % to 98.2 %). */
static const double sixteen[] = {1.000, 1.013, 1.031, 1.064, 1.102, 1.157, 1.219, 1.283,
                                 1.368, 1.459, 1.552, 1.667, 1.781, 1.906, 2.033, 2.171};

static void interval_of_sixteen_blocks_is_the_exact_one(void **state)
{
    (void)state;
    const struct pairs_ratio ratio = ratio_of(16, 1, sixteen, ones);
    assert_near(ratio.ratio, (1.283 + 1.368) / 2);
    assert_near(ratio.lower, 1.102);
    assert_near(ratio.upper, 1.667);
}

static void interval_same_seed_is_the_same(void **state)
{
    (void)state;
    double a[40];
    fill_scattered(a, LENGTH(a));
    const struct pairs_ratio first = ratio_of(LENGTH(a), 1, a, ones);
    const struct pairs_ratio second = ratio_of(LENGTH(a), 1, a, ones);
    assert_memory_equal(&first, &second, sizeof first);
}

/* With 40 scattered blocks, the ends lie between many possible medians. */
static void interval_other_seed_changes_little(void **state)
{
    (void)state;
    double a[40];
    fill_scattered(a, LENGTH(a));
    const struct pairs pairs = {.blocks = LENGTH(a), .rounds = 1, .a = a, .b = ones};
    const struct pairs_ratio first = ratio_of(LENGTH(a), 1, a, ones);
    const double width = first.upper - first.lower;
    bool differs = false;
    for (uint64_t seed = 2; seed < 20; seed++) {
        struct pairs_ratio other;
        assert_int_equal(pairs_ratio(&pairs, seed, &other), STATUS_OK);
        assert_true(other.ratio == first.ratio);
        assert_true(fabs(other.lower - first.lower) < width / 4);
        assert_true(fabs(other.upper - first.upper) < width / 4);
        differs = differs || other.lower != first.lower || other.upper != first.upper;
    }
    assert_true(differs);
}

static void interval_order_of_blocks_is_irrelevant(void **state)
{
    (void)state;
    double reversed[LENGTH(sixteen)];
    for (size_t i = 0; i < LENGTH(sixteen); i++) {
        reversed[i] = sixteen[LENGTH(sixteen) - 1 - i];
    }
    const struct pairs_ratio first = ratio_of(16, 1, sixteen, ones);
    const struct pairs_ratio second = ratio_of(16, 1, reversed, ones);
    assert_memory_equal(&first, &second, sizeof first);
}

static void interval_order_of_rounds_is_irrelevant(void **state)
{
    (void)state;
    const double a[] = {1, 2, 9, 4, 6, 5};
    const double b[] = {9, 1, 2, 5, 4, 6};
    const struct pairs_ratio first = ratio_of(2, 3, a, ones);
    const struct pairs_ratio second = ratio_of(2, 3, b, ones);
    assert_memory_equal(&first, &second, sizeof first);
}

static void ratio_scale_of_time_is_irrelevant(void **state)
{
    (void)state;
    double a[LENGTH(sixteen)];
    double b[LENGTH(sixteen)];
    for (size_t i = 0; i < LENGTH(sixteen); i++) {
        a[i] = sixteen[i] * 1024;
        b[i] = 1024;
    }
    const struct pairs_ratio first = ratio_of(16, 1, sixteen, ones);
    const struct pairs_ratio second = ratio_of(16, 1, a, b);
    assert_memory_equal(&first, &second, sizeof first);
}

static void ratio_samples_stay_as_they_are(void **state)
{
    (void)state;
    double a[LENGTH(sixteen)];
    double b[LENGTH(sixteen)];
    memcpy(a, sixteen, sizeof a);
    memcpy(b, ones, sizeof b);
    (void)ratio_of(4, 3, a, b);
    assert_memory_equal(a, sixteen, sizeof a);
    assert_memory_equal(b, ones, sizeof b);
}

static void ratio_too_many_blocks_fails_with_nothing(void **state)
{
    (void)state;
    const struct pairs pairs = {.blocks = SIZE_MAX / 2, .rounds = 1, .a = ones, .b = ones};
    const struct pairs_ratio zero = {0};
    struct pairs_ratio ratio;
    memset(&ratio, 0xff, sizeof ratio);
    assert_int_equal(pairs_ratio(&pairs, 1, &ratio), STATUS_NO_MEMORY);
    assert_memory_equal(&ratio, &zero, sizeof ratio);
    status_clear();
}

static void noise_floor_is_the_farther_end(void **state)
{
    (void)state;
    const struct pairs_ratio below = {.ratio = 1, .lower = 0.97, .upper = 1.01};
    const struct pairs_ratio above = {.ratio = 1, .lower = 0.999, .upper = 1.004};
    assert_near(pairs_noise_floor(&below), 1 - 0.97);
    assert_near(pairs_noise_floor(&above), 1.004 - 1);
}

static void noise_floor_without_interval_is_nan(void **state)
{
    (void)state;
    const struct pairs_ratio none = {.ratio = 1, .lower = (double)NAN, .upper = (double)NAN};
    assert_true(isnan(pairs_noise_floor(&none)));
}

static void not_slower_quiet_machine_allows_one_percent(void **state)
{
    (void)state;
    assert_true(pairs_not_slower(1.0099, 0.002));
    assert_false(pairs_not_slower(1.0101, 0.002));
}

static void not_slower_noisy_machine_allows_its_noise(void **state)
{
    (void)state;
    assert_true(pairs_not_slower(1.0399, 0.04));
    assert_false(pairs_not_slower(1.0401, 0.04));
}

static void not_slower_edge_itself_is_slower(void **state)
{
    (void)state;
    assert_false(pairs_not_slower(1 + 0.01, 0));
    assert_false(pairs_not_slower(1 + 0.25, 0.25));
}

static bool conclusive(double lower, double upper, double noise_floor)
{
    const struct pairs_ratio ratio = {.ratio = 1, .lower = lower, .upper = upper};
    return pairs_conclusive(&ratio, noise_floor);
}

static void conclusive_up_to_ten_percent_of_noise(void **state)
{
    (void)state;
    assert_true(conclusive(0.98, 1.02, 0.004));
    assert_true(conclusive(0.98, 1.02, 0.10));
    assert_false(conclusive(0.98, 1.02, 0.11));
}

static void conclusive_noisy_only_outside_the_noise(void **state)
{
    (void)state;
    assert_true(conclusive(0.5, 0.79, 0.20));
    assert_false(conclusive(0.5, 0.81, 0.20));
    assert_true(conclusive(1.21, 1.5, 0.20));
    assert_false(conclusive(1.19, 1.5, 0.20));
}

static void conclusive_unknown_noise_or_interval_says_no(void **state)
{
    (void)state;
    assert_false(conclusive(0.98, 1.02, (double)NAN));
    assert_false(conclusive((double)NAN, (double)NAN, 0.004));
}

static void not_slower_unknown_says_no(void **state)
{
    (void)state;
    assert_false(pairs_not_slower((double)NAN, 0.04));
    assert_true(pairs_not_slower(1.005, (double)NAN));
    assert_false(pairs_not_slower(1.02, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_odd_count_is_middle),
        cmocka_unit_test(median_even_count_is_mean_of_middle_two),
        cmocka_unit_test(median_nan_is_left_out),
        cmocka_unit_test(median_of_nothing_is_nan),
        cmocka_unit_test(ratio_is_median_of_block_medians),
        cmocka_unit_test(ratio_blocks_count_once),
        cmocka_unit_test(ratio_of_pairs_is_not_ratio_of_medians),
        cmocka_unit_test(ratio_numerator_is_a),
        cmocka_unit_test(ratio_unusable_samples_are_left_out),
        cmocka_unit_test(ratio_without_pairs_is_nan),
        cmocka_unit_test(interval_of_one_block_is_nan),
        cmocka_unit_test(interval_of_equal_blocks_is_a_point),
        cmocka_unit_test(interval_of_five_blocks_is_their_extremes),
        cmocka_unit_test(interval_of_eleven_blocks_is_third_from_the_ends),
        cmocka_unit_test(interval_of_sixteen_blocks_is_the_exact_one),
        cmocka_unit_test(interval_covers_the_ratio),
        cmocka_unit_test(interval_same_seed_is_the_same),
        cmocka_unit_test(interval_other_seed_changes_little),
        cmocka_unit_test(interval_order_of_blocks_is_irrelevant),
        cmocka_unit_test(interval_order_of_rounds_is_irrelevant),
        cmocka_unit_test(ratio_scale_of_time_is_irrelevant),
        cmocka_unit_test(ratio_samples_stay_as_they_are),
        cmocka_unit_test(ratio_too_many_blocks_fails_with_nothing),
        cmocka_unit_test(noise_floor_is_the_farther_end),
        cmocka_unit_test(noise_floor_without_interval_is_nan),
        cmocka_unit_test(not_slower_quiet_machine_allows_one_percent),
        cmocka_unit_test(not_slower_noisy_machine_allows_its_noise),
        cmocka_unit_test(not_slower_edge_itself_is_slower),
        cmocka_unit_test(not_slower_unknown_says_no),
        cmocka_unit_test(conclusive_up_to_ten_percent_of_noise),
        cmocka_unit_test(conclusive_noisy_only_outside_the_noise),
        cmocka_unit_test(conclusive_unknown_noise_or_interval_says_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
