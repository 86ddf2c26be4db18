/* --arena local on the CPU device: rows and names of arenas in local memory, what the device's size
 * does to their pools, and the user's own tensors there. */
#include "tests/cli/attend_case.h"

static json_t *run_json(const char *options)
{
    struct cli_run run;
    char line[512];

    (void)snprintf(line, sizeof line, "%s --format json", options);
    cli(&run, line);
    if (run.code != 0) {
        fail_msg("exit code %d: %s", run.code, run.err);
    }
    json_t *file = cli_json(run.out);
    cli_fini(&run);
    return file;
}

static json_t *sweep_json(const char *options)
{
    char line[512];

    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --repetitions 1 %s", options);
    return run_json(line);
}

static void assert_text(const json_t *row, const char *key, const char *expected)
{
    const char *text = json_string_value(json_object_get(row, key));

    assert_non_null(text);
    assert_string_equal(text, expected);
}

/* Right, in local memory, measured as planned. */
static void assert_ran(const json_t *row)
{
    assert_text(row, "arena", "local");
    assert_int_equal(cli_integer(row, "overflow"), 0);
    assert_int_equal(cli_integer(row, "verified"), 1);
    assert_int_equal(cli_integer(row, "same_bits"), 1);
    assert_int_equal(cli_integer(row, "repeatable"), 1);
    assert_int_equal(cli_integer(row, "guards_intact"), 1);
    assert_int_equal(cli_integer(row, "measured_peak_bytes"),
                     cli_integer(row, "planned_peak_bytes"));
    assert_int_equal(cli_integer(row, "measured_touched_lines"),
                     cli_integer(row, "planned_touched_lines"));
    assert_true(json_real_value(json_object_get(row, "real_time")) > 0.0);
}

static void sweep_of_chip48_is_local_and_overflows_at_3(void **state)
{
    (void)state;
    json_t *file = sweep_json("--preset chip48 --tiles 2,3");
    const json_t *settings = json_object_get(json_object_get(file, "context"), "settings");
    const json_t *row = cli_row(file, "unscoped", 3);
    assert_text(settings, "arena", "local");
    assert_ran(cli_row(file, "unscoped", 2));
    assert_ran(cli_row(file, "scoped", 3));
    assert_ran(cli_row(file, "nested", 3));
    assert_int_equal(cli_integer(cli_row(file, "unscoped", 2), "measured_peak_bytes"), 37888);
    assert_int_equal(cli_integer(cli_row(file, "scoped", 3), "measured_peak_bytes"), 22144);
    assert_int_equal(cli_integer(cli_row(file, "nested", 3), "measured_peak_bytes"), 16000);
    assert_text(row, "run_name", "attention/chip48/unscoped/f16/S:3/seq_q:32/q_heads:1");
    assert_text(row, "overflow_name", "v");
    assert_int_equal(cli_integer(row, "overflow_tile"), 3);
    assert_int_equal(cli_integer(row, "planned_peak_bytes"), 53632);
    assert_int_equal(json_array_size(json_object_get(json_object_get(file, "context"), "ratios")),
                     4 + 2);
    json_decref(file);
}

static void sweep_of_chip48_runs_in_global_memory_too(void **state)
{
    (void)state;
    json_t *file = sweep_json("--preset chip48 --tiles 2 --policy nested --arena global");
    const json_t *row = cli_row(file, "nested", 2);
    assert_text(row, "arena", "global");
    assert_text(row, "run_name", "attention/chip48/nested/f16/S:2/seq_q:32/q_heads:1/arena:global");
    assert_int_equal(cli_integer(row, "verified"), 1);
    assert_int_equal(cli_integer(row, "measured_peak_bytes"), 16000);
    json_decref(file);
}

static void sweep_of_local_arenas_in_both_styles_types_and_with_poison(void **state)
{
    static const char *const lines[] = {
        "--preset chip48 --tiles 2 --kernel simt --poison",
        "--preset chip48 --tiles 2 --dtype f32 --pool 128KiB --poison",
        "--tiles 3 --arena local --causal --head-dim 40 --head-dim-v 24 --pes 3",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        json_t *file = sweep_json(lines[i]);
        const json_t *rows = json_object_get(file, "benchmarks");
        assert_int_equal(json_array_size(rows), 3);
        for (size_t j = 0; j < 3; j++) {
            assert_ran(json_array_get(rows, j));
        }
        json_decref(file);
    }
}

/* 64 tiles unscoped need 4 MB of local memory, which no device here has. */
static void sweep_of_local_pools_that_grow_ends_at_the_device(void **state)
{
    (void)state;
    json_t *file = sweep_json("--tiles 64 --policy unscoped,nested --arena local --pool grow");
    const json_t *row = cli_row(file, "unscoped", 64);
    const long long need = 24832 + 61824 * 64;
    assert_text(row, "overflow_name", "device");
    assert_text(row, "run_name",
                "attention/cap16/unscoped/f16/S:64/seq_q:32/q_heads:1/pool:grow/arena:local");
    assert_int_equal(cli_integer(row, "overflow_request_bytes"), need + 1024);
    assert_ran(cli_row(file, "nested", 64));
    assert_int_equal(cli_integer(cli_row(file, "nested", 64), "pool_bytes"), 62080);
    const long long local = cli_integer(row, "overflow_free_bytes");
    json_decref(file);

    file = sweep_json("--tiles 64 --policy unscoped,nested --arena local --pool 1GiB");
    row = cli_row(file, "unscoped", 64);
    assert_int_equal(cli_integer(row, "pool_bytes"), (local - 1024) / 128 * 128);
    assert_true(cli_integer(row, "overflow_tile") > 0);
    assert_int_equal(cli_integer(row, "planned_peak_bytes"), need);
    assert_ran(cli_row(file, "nested", 64));
    json_decref(file);
}

static void plan_names_local_arenas_as_a_sweep_does(void **state)
{
    (void)state;
    json_t *file = run_json("plan --tiles 4 --arena local");
    const json_t *row = cli_row(file, "nested", 4);
    assert_text(row, "arena", "local");
    assert_text(row, "run_name", "attention/cap16/nested/f16/S:4/arena:local");
    assert_int_equal(cli_integer(row, "pool_bytes"), 1048576);
    json_decref(file);
}

/* The same numbers from either memory, within what two builds may differ by. */
static void attend_in_local_memory_agrees(void **state)
{
    enum { VALUES = 128 * 128 };
    static float global[VALUES], local[VALUES];
    static double wanted[VALUES];
    char folder[CLI_PATH_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 2);
    attend_ok(folder, "--verify");
    const size_t count = attend_get(folder, "o.npy", "(128, 128)", global);
    attend_ok(folder, "--verify --arena local");
    assert_int_equal(attend_get(folder, "o.npy", "(128, 128)", local), count);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = (double)global[i];
    }
    attend_has(local, wanted, count, 1e-5);
    attend_run(&run, folder, "--arena local --format json");
    json_t *json = cli_json(run.out);
    assert_text(json, "arena", "local");
    assert_int_equal(cli_integer(json, "measured_peak_bytes"), 62080);
    json_decref(json);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void attend_that_local_memory_does_not_hold_is_refused(void **state)
{
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 64);
    attend_refused(folder, "--arena local --policy unscoped --pool 1GiB", "--arena local",
                   "--policy nested, which peaks at 62,080, or --arena global");
    attend_refused(folder, "--arena local --policy nested --pool 60000", "--pool",
                   "--pool grow (or --pool 62080)");
    cli_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_of_chip48_is_local_and_overflows_at_3),
        cmocka_unit_test(sweep_of_chip48_runs_in_global_memory_too),
        cmocka_unit_test(sweep_of_local_arenas_in_both_styles_types_and_with_poison),
        cmocka_unit_test(sweep_of_local_pools_that_grow_ends_at_the_device),
        cmocka_unit_test(plan_names_local_arenas_as_a_sweep_does),
        cmocka_unit_test(attend_in_local_memory_agrees),
        cmocka_unit_test(attend_that_local_memory_does_not_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
