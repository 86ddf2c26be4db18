/* scratchscope attend on files that the tests write: known answers in every type and rank, options,
 * and the footprint beside the result. */
#include "tests/cli/attend_case.h"

#include <math.h>

/* Known answers ----------------------------------------------------------------------------- */

#define NONE (-(double)INFINITY)

/* With K = 0 every visible key weighs the same: 1e-6 is rounding of f32, 2e-3 that of p in f16. */
static double tolerance_of(const char *type)
{
    return type[1] == '2' ? 2e-3 * 3.0 : 1e-6;
}

/* seq_q 5 on seq_kv 2, in a given rank. */
static void check_more_queries(const char *folder, const char *type, const char *lead)
{
    static const double v[] = {1, 3};
    static const double out[] = {0, 0, 0, 1, 2};
    static const double lse[] = {NONE, NONE, NONE, 0, 0.693147};
    char shape[64];
    float got[8];

    (void)snprintf(shape, sizeof shape, "%s5, 1", lead);
    attend_put_all(folder, "q.npy", type, shape, 5, 1);
    (void)snprintf(shape, sizeof shape, "%s2, 1", lead);
    attend_put_all(folder, "k.npy", type, shape, 2, 0);
    attend_put(folder, "v.npy", type, shape, 2, v);
    attend_ok(folder, "--causal --scale 1 --verify");
    (void)snprintf(shape, sizeof shape, "(%s5, 1)", lead);
    assert_int_equal(attend_get(folder, "o.npy", shape, got), 5);
    attend_has(got, out, 5, tolerance_of(type));
    (void)snprintf(shape, sizeof shape, lead[0] != '\0' ? "(%s5)" : "(%s5,)", lead);
    assert_int_equal(attend_get(folder, "l.npy", shape, got), 5);
    attend_has(got, lse, 5, 1e-6);
}

static void attend_causal_is_bottom_right_aligned_in_every_type_and_rank(void **state)
{
    static const char *const types[] = {"f2", "f4", "f8"};
    static const char *const leads[] = {"", "1, ", "1, 1, "};
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    for (size_t i = 0; i < 3; i++) {
        check_more_queries(folder, types[i], leads[i]);
        check_more_queries(folder, types[i], leads[(i + 1) % 3]);
    }
    cli_remove_folder(folder);
}

static void attend_causal_with_more_keys_sees_the_first_ones(void **state)
{
    static const double v[] = {1, 2, 3, 4, 5};
    static const double out[] = {2.5, 3.0};
    static const double lse[] = {1.386294, 1.609438};
    char folder[CLI_PATH_BYTES];
    float got[8];

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f4", "2, 1", 2, 1);
    attend_put_all(folder, "k.npy", "f4", "5, 1", 5, 0);
    attend_put(folder, "v.npy", "f4", "5, 1", 5, v);
    attend_ok(folder, "--causal");
    assert_int_equal(attend_get(folder, "o.npy", "(2, 1)", got), 2);
    attend_has(got, out, 2, 1e-6);
    assert_int_equal(attend_get(folder, "l.npy", "(2,)", got), 2);
    attend_has(got, lse, 2, 1e-6);
    cli_remove_folder(folder);
}

static void attend_to_no_key_gives_0_and_minus_infinity(void **state)
{
    static const char *const options[] = {"", "--causal", "--parts 2", "--kernel simt"};
    static const double zeros[12] = {0};
    static const double none[4] = {NONE, NONE, NONE, NONE};
    char folder[CLI_PATH_BYTES];
    float got[16];

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f4", "2, 2, 8", 32, 1);
    attend_put_all(folder, "k.npy", "f4", "2, 0, 8", 0, 0);
    attend_put_all(folder, "v.npy", "f4", "2, 0, 3", 0, 0);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        attend_ok(folder, options[i]);
        assert_int_equal(attend_get(folder, "o.npy", "(2, 2, 3)", got), 12);
        attend_has(got, zeros, 12, 0);
        assert_int_equal(attend_get(folder, "l.npy", "(2, 2)", got), 4);
        attend_has(got, none, 4, 0);
    }
    cli_remove_folder(folder);
}

static void attend_of_grouped_heads_shares_keys_by_division(void **state)
{
    static const double v[] = {1, 2};
    static const double out[] = {1, 1, 1, 2, 2, 2};
    char folder[CLI_PATH_BYTES];
    float got[8];

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f4", "6, 1, 4", 24, 1);
    attend_put_all(folder, "k.npy", "f4", "2, 1, 4", 8, 1);
    attend_put(folder, "v.npy", "f4", "2, 1, 1", 2, v);
    attend_ok(folder, "");
    assert_int_equal(attend_get(folder, "o.npy", "(6, 1, 1)", got), 6);
    attend_has(got, out, 6, 1e-6);
    attend_put_all(folder, "q.npy", "f4", "3, 1, 4", 12, 1);
    attend_refused_file(folder, "", "q.npy", "3 query heads are no multiple of the 2");
    attend_put_all(folder, "q.npy", "f4", "33, 1, 4", 132, 1);
    attend_refused_file(folder, "", "q.npy", "33 query heads are no multiple of the 2");
    cli_remove_folder(folder);
}

/* K = 0, so that scores are what the option makes of 0. */
static void attend_options_change_the_weights(void **state)
{
    static const double v[] = {0, 1, 2, 3};
    static const double mask[] = {0, -(double)INFINITY, -(double)INFINITY, 0};
    static const double sinks[] = {0};
    char folder[CLI_PATH_BYTES];
    char rest[256];
    float got[2];

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f4", "1, 2", 2, 1);
    attend_put_all(folder, "k.npy", "f4", "4, 2", 8, 0);
    attend_put(folder, "v.npy", "f4", "4, 1", 4, v);
    attend_put(folder, "m.npy", "f8", "1, 4", 4, mask);
    attend_put(folder, "s.npy", "f2", "1,", 1, sinks);

    attend_ok(folder, "--window 1,0");
    assert_int_equal(attend_get(folder, "o.npy", "(1, 1)", got), 1);
    attend_has(got, (const double[]){2.5}, 1, 1e-6);

    (void)snprintf(rest, sizeof rest, "--mask %s/m.npy", folder);
    attend_ok(folder, rest);
    assert_int_equal(attend_get(folder, "o.npy", "(1, 1)", got), 1);
    attend_has(got, (const double[]){1.5}, 1, 1e-6);
    assert_int_equal(attend_get(folder, "l.npy", "(1,)", got), 1);
    attend_has(got, (const double[]){log(2.0)}, 1, 1e-6);

    (void)snprintf(rest, sizeof rest, "--sinks %s/s.npy", folder);
    attend_ok(folder, rest);
    assert_int_equal(attend_get(folder, "o.npy", "(1, 1)", got), 1);
    attend_has(got, (const double[]){6.0 / 5.0}, 1, 1e-6);
    assert_int_equal(attend_get(folder, "l.npy", "(1,)", got), 1);
    attend_has(got, (const double[]){log(5.0)}, 1, 1e-6);

    /* One head has the slope 2^-8: the scores are -3, -2, -1 and 0 of them. */
    attend_ok(folder, "--alibi");
    double lse = 0.0;
    for (size_t i = 0; i < 4; i++) {
        lse += exp(-(double)i / 256.0);
    }
    assert_int_equal(attend_get(folder, "l.npy", "(1,)", got), 1);
    attend_has(got, (const double[]){log(lse)}, 1, 1e-6);

    /* q . k = 2000 at scale 1, held to 2. */
    attend_put_all(folder, "k.npy", "f4", "4, 2", 8, 1000);
    attend_ok(folder, "--softcap 2 --scale 1");
    assert_int_equal(attend_get(folder, "l.npy", "(1,)", got), 1);
    attend_has(got, (const double[]){2.0 + log(4.0)}, 1, 1e-6);
    cli_remove_folder(folder);
}

/* A NaN goes where arithmetic takes it, and is not wrong. */
static void attend_of_a_nan_query_gives_nan_in_its_row_and_is_verified(void **state)
{
    static const double q[] = {1, (double)NAN, 1};
    static const double v[] = {1, 2, 3};
    char folder[CLI_PATH_BYTES];
    float got[4];

    (void)state;
    cli_folder(folder);
    attend_put(folder, "q.npy", "f4", "3, 1", 3, q);
    attend_put_all(folder, "k.npy", "f4", "3, 1", 3, 0);
    attend_put(folder, "v.npy", "f4", "3, 1", 3, v);
    attend_ok(folder, "--causal --verify");
    assert_int_equal(attend_get(folder, "o.npy", "(3, 1)", got), 3);
    attend_has(&got[0], (const double[]){1}, 1, 1e-6);
    assert_true(isnan(got[1]));
    attend_has(&got[2], (const double[]){2}, 1, 1e-6);
    cli_remove_folder(folder);
}

/* A larger problem: footprint, report --------------------------------------------------------- */

static void attend_reports_the_footprint_as_json(void **state)
{
    char folder[CLI_PATH_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 3);
    attend_run(&run, folder, "--verify --format json");
    assert_int_equal(run.code, 0);
    json_t *json = cli_json(run.out);
    assert_int_equal(cli_integer(json, "planned_peak_bytes"), 62080);
    assert_int_equal(cli_integer(json, "measured_peak_bytes"), 62080);
    assert_int_equal(cli_integer(json, "lower_bound_bytes"), 62080);
    assert_int_equal(cli_integer(json, "pool_bytes"), 1 << 20);
    assert_int_equal(cli_integer(json, "parts_bytes"), 0);
    assert_int_equal(cli_integer(json, "tiles"), 3);
    assert_int_equal(cli_integer(json, "verified"), 1);
    assert_int_equal(cli_integer(json, "rows_checked"), 128);
    assert_string_equal(json_string_value(json_object_get(json, "policy")), "nested");
    assert_string_equal(json_string_value(json_object_get(json, "dtype")), "f16");
    assert_true(json_number_value(json_object_get(json, "real_time")) > 0.0);
    assert_true(json_number_value(json_object_get(json, "max_abs_err")) <=
                json_number_value(json_object_get(json, "tolerance")));
    assert_non_null(json_string_value(json_object_get(json, "device")));
    json_decref(json);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void attend_tells_planned_and_measured_peak_in_lines(void **state)
{
    char folder[CLI_PATH_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 2);
    attend_run(&run, folder, "--policy scoped");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "planned peak 86,656 bytes, measured 86,656, least possible 62,080");
    cli_says(run.out, "of 128 rows; --verify checks more");
    cli_says(run.out, "a launch");
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void attend_in_parts_agrees_and_tells_their_bytes(void **state)
{
    static float whole[128 * 128 + 1];
    static float split[128 * 128 + 1];
    char folder[CLI_PATH_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 5);
    attend_ok(folder, "--dtype f32");
    assert_int_equal(attend_get(folder, "o.npy", "(128, 128)", whole), 128 * 128);
    attend_run(&run, folder, "--dtype f32 --parts 3 --verify --format json");
    assert_int_equal(run.code, 0);
    json_t *json = cli_json(run.out);
    assert_true(cli_integer(json, "parts_bytes") > 0);
    json_decref(json);
    assert_int_equal(attend_get(folder, "o.npy", "(128, 128)", split), 128 * 128);
    for (size_t i = 0; i < (size_t)128 * 128; i++) {
        attend_has(&split[i], (const double[]){(double)whole[i]}, 1, 1e-5);
    }
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void attend_that_overflows_writes_nothing_and_says_the_way_out(void **state)
{
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 17);
    cli_write_file(folder, "o.npy", "old");
    attend_refused(folder, "--policy unscoped", "--pool", "16,384");
    attend_refused(folder, "--policy unscoped", "--pool", "--policy nested");
    attend_refused(folder, "--policy unscoped", "--pool", "--pool grow");
    char *old = cli_file(folder, "o.npy");
    assert_string_equal(old, "old");
    free(old);
    attend_ok(folder, "--policy unscoped --pool grow");
    attend_ok(folder, "");
    cli_remove_folder(folder);
}

static void attend_leaves_threads_alone_where_told_to(void **state)
{
    char folder[CLI_PATH_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 1);
    attend_run(&run, folder, "--bind none");
    assert_int_equal(run.code, 0);
    cli_says(run.err, "not bound: --bind none");
    cli_fini(&run);
    cli_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attend_causal_is_bottom_right_aligned_in_every_type_and_rank),
        cmocka_unit_test(attend_causal_with_more_keys_sees_the_first_ones),
        cmocka_unit_test(attend_to_no_key_gives_0_and_minus_infinity),
        cmocka_unit_test(attend_of_grouped_heads_shares_keys_by_division),
        cmocka_unit_test(attend_options_change_the_weights),
        cmocka_unit_test(attend_of_a_nan_query_gives_nan_in_its_row_and_is_verified),
        cmocka_unit_test(attend_reports_the_footprint_as_json),
        cmocka_unit_test(attend_tells_planned_and_measured_peak_in_lines),
        cmocka_unit_test(attend_in_parts_agrees_and_tells_their_bytes),
        cmocka_unit_test(attend_that_overflows_writes_nothing_and_says_the_way_out),
        cmocka_unit_test(attend_leaves_threads_alone_where_told_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
