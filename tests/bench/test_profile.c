/* The arithmetic of a profile and of rounds, and what its variants are: no device. */
#include "bench/profile.h"
#include "bench/race.h"
#include "host/attention/tile_program.h"
#include "kernels/layout.h"
#include "tests/cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-12

enum { TABLE = 8, STAGING = 9, COPY_TO = 10 }; /* parts, the tax */

static void assert_near(double actual, double expected)
{
    assert_true(fabs(actual - expected) <= TOLERANCE);
}

/* ---- Shares ---- */

static struct profile_part judged(enum profile_kind kind, double lower, double ratio, double upper,
                                  double noise_floor)
{
    const struct pairs_ratio pairs = {.ratio = ratio, .lower = lower, .upper = upper};
    struct profile_part part = {.kind = kind};
    profile_judge(&pairs, noise_floor, &part);
    return part;
}

static void share_of_a_stage_done_twice_is_what_it_adds(void **state)
{
    (void)state;
    struct profile_part part = judged(PROFILE_TWICE, 1.20, 1.25, 1.30, 0.02);
    assert_near(part.share, 0.25);
    assert_near(part.lower, 0.20);
    assert_near(part.upper, 0.30);
    assert_near(part.noise_floor, 0.02);
    assert_true(part.clear);
}

static void share_of_a_stage_left_out_is_what_it_takes_away(void **state)
{
    (void)state;
    static const enum profile_kind kinds[] = {PROFILE_LEFT_OUT, PROFILE_TAX};
    for (size_t i = 0; i < 2; i++) {
        struct profile_part part = judged(kinds[i], 0.90, 0.95, 0.97, 0.02);
        assert_near(part.share, 0.05);
        assert_near(part.lower, 0.03);
        assert_near(part.upper, 0.10);
        assert_true(part.clear);
    }
}

static void share_within_the_noise_is_not_clear(void **state)
{
    (void)state;
    assert_false(judged(PROFILE_TWICE, 1.01, 1.02, 1.03, 0.02).clear);
    assert_false(judged(PROFILE_TAX, 0.99, 1.00, 1.01, 0.02).clear);
    assert_true(judged(PROFILE_TAX, 1.03, 1.04, 1.05, 0.02).clear); /* the shortcut is slower */
}

static void share_without_interval_or_noise_is_not_clear(void **state)
{
    (void)state;
    assert_false(judged(PROFILE_TWICE, (double)NAN, 1.5, (double)NAN, 0.02).clear);
    assert_false(judged(PROFILE_TWICE, 1.4, 1.5, 1.6, (double)NAN).clear);
}

/* ---- Rounds ---- */

enum { BLOCKS = 2, ROUNDS = 3, SAMPLES = BLOCKS * ROUNDS };

/* Entrant 1 takes three times what entrant 0 takes, by events; by the host's clock twice. */
static double event_ns[2 * SAMPLES];
static double host_ns[2 * SAMPLES];

static struct race_times times_of_two(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        event_ns[i] = 1000.0 + (double)i;
        event_ns[SAMPLES + i] = 3.0 * event_ns[i];
        host_ns[i] = 2000.0 + (double)i;
        host_ns[SAMPLES + i] = 2.0 * host_ns[i];
    }
    return (struct race_times){.event_ns = event_ns,
                               .host_ns = host_ns,
                               .count = 2,
                               .blocks = BLOCKS,
                               .rounds = ROUNDS,
                               .launches = 10};
}

static void ratio_goes_by_event_time(void **state)
{
    (void)state;
    const struct race_times times = times_of_two();
    struct pairs_ratio ratio;
    assert_int_equal(race_ratio(&times, 1, 0, 1, &ratio), STATUS_OK);
    assert_near(ratio.ratio, 3.0);
    assert_int_equal(ratio.blocks, BLOCKS);
    assert_int_equal(ratio.pairs, SAMPLES);
}

static void ratio_with_a_bad_stamp_puts_both_on_the_hosts_clock(void **state)
{
    (void)state;
    const struct race_times times = times_of_two();
    struct pairs_ratio ratio;
    for (size_t i = 0; i < SAMPLES; i++) {
        event_ns[i % 2 == 0 ? i : SAMPLES + i] = (double)NAN;
    }
    assert_int_equal(race_ratio(&times, 1, 0, 1, &ratio), STATUS_OK);
    assert_near(ratio.ratio, 2.0);
    assert_int_equal(ratio.pairs, SAMPLES);
}

static void launch_is_the_median_sample_over_its_launches(void **state)
{
    (void)state;
    const struct race_times times = times_of_two();
    double ns = 0.0;
    assert_int_equal(race_launch_ns(&times, 0, &ns), STATUS_OK);
    assert_near(ns, 100.25);
    assert_int_equal(race_launch_ns(&times, 1, &ns), STATUS_OK);
    assert_near(ns, 300.75);
}

/* ---- Variants ---- */

struct variants {
    struct problem problem;
    struct program program;
    struct offset_table plain;
    struct offset_table edited;
};

static void variants_init(struct variants *v, enum policy policy)
{
    v->problem = (struct problem){.batch = 1,
                                  .q_heads = 1,
                                  .kv_heads = 1,
                                  .seq_q = 128,
                                  .seq_kv = 128,
                                  .head_dim = 128,
                                  .head_dim_v = 128,
                                  .block_m = 32,
                                  .block_n = 64,
                                  .dtype = DTYPE_F16,
                                  .window_left = -1,
                                  .window_right = -1};
    const struct footprint_request request = {
        .policy = policy, .tiles = 2, .pool_bytes = 1 << 20, .alignment = 128};
    program_init(&v->program);
    assert_int_equal(tile_program_record(&v->problem, &v->program), STATUS_OK);
    assert_int_equal(footprint_table(&v->program, &request, &v->plain), STATUS_OK);
    v->edited = v->plain;
    v->edited.cells = calloc(v->plain.rows * v->plain.columns, sizeof *v->edited.cells);
    assert_non_null(v->edited.cells);
}

static void variants_fini(struct variants *v)
{
    free(v->edited.cells);
    offset_table_fini(&v->plain);
    program_fini(&v->program);
}

static struct profile_part variant(struct variants *v, size_t index)
{
    struct profile_part part;
    profile_variant(index, &v->problem, &v->plain, &part, &v->edited);
    return part;
}

static void variants_have_different_kinds_and_names(void **state)
{
    struct variants v;
    struct profile_part parts[PROFILE_PARTS];

    (void)state;
    variants_init(&v, POLICY_NESTED);
    for (size_t i = 0; i < PROFILE_PARTS; i++) {
        parts[i] = variant(&v, i);
        assert_null(parts[i].why);
        assert_int_equal(strncmp(parts[i].defines, "-D", 2), 0);
        assert_true(isnan(parts[i].share));
        for (size_t j = 0; j < i; j++) {
            assert_true(parts[i].kind != parts[j].kind ||
                        strcmp(parts[i].name, parts[j].name) != 0);
            assert_true(parts[i].kind >= parts[j].kind);
        }
    }
    variants_fini(&v);
}

static void table_variant_lists_the_plans_offsets(void **state)
{
    struct variants v;

    (void)state;
    variants_init(&v, POLICY_NESTED);
    struct profile_part part = variant(&v, TABLE);
    /* cap16, nested: q, m, l, acc, then m_new, alpha, l_new, p, s, k, v, acc_new */
    static const char expected[] = "-DTABLE_CONSTANTS=0,8192,8320,8448,24832,24960,25088,25216,"
                                   "29312,37504,29312,45696,";
    assert_int_equal(strncmp(part.defines, expected, sizeof expected - 1), 0);
    size_t commas = 0;
    for (const char *at = part.defines; *at != '\0'; at++) {
        commas += *at == ',' ? 1 : 0;
    }
    assert_int_equal(commas, TABLE_COLUMNS - 1);
    variants_fini(&v);
}

static void copy_to_variant_puts_the_new_state_on_the_old(void **state)
{
    struct variants v;

    (void)state;
    variants_init(&v, POLICY_UNSCOPED);
    (void)variant(&v, COPY_TO);
    assert_int_equal(v.plain.rows, 2);
    for (size_t i = 0; i < v.plain.rows * v.plain.columns; i++) {
        const size_t column = i % v.plain.columns;
        const uint64_t *row = v.plain.cells + i - column;
        const uint64_t expected = column == TABLE_L_NEW     ? row[TABLE_L]
                                  : column == TABLE_ACC_NEW ? row[TABLE_ACC]
                                                            : row[column];
        assert_int_equal(v.edited.cells[i], expected);
    }
    variants_fini(&v);
}

static void other_variants_leave_the_table_alone(void **state)
{
    struct variants v;

    (void)state;
    variants_init(&v, POLICY_NESTED);
    for (size_t i = 0; i < COPY_TO; i++) {
        (void)variant(&v, i);
        assert_memory_equal(v.edited.cells, v.plain.cells, v.plain.columns * sizeof *v.plain.cells);
    }
    variants_fini(&v);
}

static void table_variant_needs_one_row_of_offsets(void **state)
{
    struct variants v;

    (void)state;
    variants_init(&v, POLICY_UNSCOPED);
    assert_non_null(variant(&v, TABLE).why);
    assert_int_equal(variant(&v, TABLE).check, PROFILE_NONE);
    assert_null(variant(&v, STAGING).why);
    variants_fini(&v);
}

static void staging_variant_needs_whole_tiles_and_panels(void **state)
{
    struct variants v;

    (void)state;
    variants_init(&v, POLICY_NESTED);
    v.problem.seq_kv = 127;
    assert_non_null(variant(&v, STAGING).why);
    v.problem.seq_kv = 128;
    v.problem.head_dim_v = 120;
    assert_non_null(variant(&v, STAGING).why);
    v.problem.head_dim_v = 112;
    assert_null(variant(&v, STAGING).why);
    variants_fini(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_of_a_stage_done_twice_is_what_it_adds),
        cmocka_unit_test(share_of_a_stage_left_out_is_what_it_takes_away),
        cmocka_unit_test(share_within_the_noise_is_not_clear),
        cmocka_unit_test(share_without_interval_or_noise_is_not_clear),
        cmocka_unit_test(ratio_goes_by_event_time),
        cmocka_unit_test(ratio_with_a_bad_stamp_puts_both_on_the_hosts_clock),
        cmocka_unit_test(launch_is_the_median_sample_over_its_launches),
        cmocka_unit_test(variants_have_different_kinds_and_names),
        cmocka_unit_test(table_variant_lists_the_plans_offsets),
        cmocka_unit_test(copy_to_variant_puts_the_new_state_on_the_old),
        cmocka_unit_test(other_variants_leave_the_table_alone),
        cmocka_unit_test(table_variant_needs_one_row_of_offsets),
        cmocka_unit_test(staging_variant_needs_whole_tiles_and_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
