/* scratchscope tune, what it keeps, and --block of sweep, plan and attend. Every test has a folder
 * of its own for what is kept. */
#include "tests/cli/attend_case.h"

#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* One problem that is tuned in a second or two, and a limit for it. */
#define PROBLEM "--seq-q 16 --q-heads 1 --head-dim 16"
#define TUNE "tune " PROBLEM " --tiles 1 --time-limit 0.3 --device cpu"
#define SWEEP "sweep " PROBLEM " --device cpu --min-time 0.001 --repetitions 1"

static char store[CLI_PATH_BYTES];

static int make_store(void **state)
{
    (void)state;
    cli_folder(store);
    return setenv("SCRATCHSCOPE_CACHE_DIR", store, 1);
}

static int remove_store(void **state)
{
    (void)state;
    cli_remove_folder(store);
    return 0;
}

static void run_ok(struct cli_run *run, const char *line)
{
    cli(run, line);
    if (run->code != 0) {
        fail_msg("%s: exit %d: %s", line, run->code, run->err);
    }
}

/* The row of a policy's winner. */
static const json_t *winner(const json_t *file, const char *policy)
{
    const json_t *rows = json_object_get(file, "benchmarks");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, "policy")), policy) == 0 &&
            cli_integer(row, "winner") == 1) {
            return row;
        }
    }
    return NULL;
}

static void check_winner(const json_t *file, const char *policy)
{
    const json_t *row = winner(file, policy);

    assert_non_null(row);
    assert_int_equal(cli_integer(row, "verified"), 1);
    assert_int_equal(cli_integer(row, "measured_peak_bytes"),
                     cli_integer(row, "planned_peak_bytes"));
    assert_true(cli_integer(row, "planned_peak_bytes") <= cli_integer(row, "pool_bytes"));
    assert_true(json_number_value(json_object_get(row, "gflops")) > 0.0);
}

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* No tile of a policy is faster than its winner, and none has another speed under another one. */
static void check_speeds(const json_t *file)
{
    const json_t *rows = json_object_get(file, "benchmarks");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *best = winner(file, json_string_value(json_object_get(row, "policy")));
        assert_true(number(row, "gflops") <= number(best, "gflops"));
        for (size_t k = 0; k < i; k++) {
            const json_t *other = json_array_get(rows, k);
            if (cli_integer(other, "block_m") == cli_integer(row, "block_m") &&
                cli_integer(other, "block_n") == cli_integer(row, "block_n")) {
                assert_true(number(other, "gflops") == number(row, "gflops"));
            }
        }
    }
    assert_true(number(winner(file, "nested"), "pairs_gflops") > 0.0);
}

/* The tile of a policy's winner as "MxN", by tune --format json. */
static void tune_tile(const char *line, const char *policy, char tile[32])
{
    struct cli_run run;

    run_ok(&run, line);
    json_t *file = cli_json(run.out);
    const json_t *row = winner(file, policy);
    assert_non_null(row);
    (void)snprintf(tile, 32, "%lldx%lld", cli_integer(row, "block_m"), cli_integer(row, "block_n"));
    json_decref(file);
    cli_fini(&run);
}

/* "MxN" of the first row of a sweep or plan in JSON, and the number of different tiles in it. */
static size_t row_tile(const char *out, char tile[32])
{
    json_t *file = cli_json(out);
    const json_t *rows = json_object_get(file, "benchmarks");
    size_t different = 0;

    tile[0] = '\0';
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char own[32];
        (void)snprintf(own, sizeof own, "%lldx%lld", cli_integer(row, "block_m"),
                       cli_integer(row, "block_n"));
        if (strcmp(own, tile) != 0) {
            different++;
            (void)snprintf(tile, 32, "%s", own);
        }
    }
    json_decref(file);
    return different;
}

static void tune_json_has_verified_winners_and_ratios(void **state)
{
    static const char *const policies[] = {"unscoped", "scoped", "nested"};
    struct cli_run run;

    (void)state;
    run_ok(&run, TUNE " --format json");
    json_t *file = cli_json(run.out);
    for (size_t i = 0; i < 3; i++) {
        check_winner(file, policies[i]);
    }
    check_speeds(file);
    const json_t *tune = json_object_get(json_object_get(file, "context"), "tune");
    assert_int_equal(json_array_size(json_object_get(tune, "ratios")), 3);
    assert_true(cli_integer(tune, "tiles_timed") >= 1);
    assert_true(json_is_number(
        json_object_get(json_array_get(json_object_get(tune, "ratios"), 0), "noise_floor")));
    json_decref(file);
    cli_fini(&run);
}

static void tune_table_answers_what_scoping_buys(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, TUNE);
    cli_says(run.out, "cap16: f16, head_dim 16, heads 1, seq_q 16, seq_kv 64, pool 1 MiB x ");
    cli_says(run.out, "measured = planned");
    cli_says(run.out, "Bytes against speed");
    cli_says(run.out, "What scoping buys in 1 MiB at 64 keys");
    cli_says(run.out, " of the time of unscoped ");
    cli_says(run.out, "noise floor ");
    cli_fini(&run);
}

static void tune_csv_has_a_line_a_tile_and_policy(void **state)
{
    struct cli_run run;
    char line[512];

    (void)state;
    (void)snprintf(line, sizeof line, TUNE " --output %s/a.json --output %s/b.md --format csv",
                   store, store);
    run_ok(&run, line);
    char *text = cli_file(store, "a.json");
    json_t *file = cli_json(text);
    const size_t rows = json_array_size(json_object_get(file, "benchmarks"));
    assert_true(rows >= 3);
    assert_int_equal(cli_count_lines(run.out), rows + 1);
    assert_memory_equal(run.out, "name,run_name,run_type,", strlen("name,run_name,run_type,"));
    json_decref(file);
    free(text);
    text = cli_file(store, "b.md");
    cli_says(text, "| policy ");
    free(text);
    cli_fini(&run);
}

static void policy_without_a_fit_is_said(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, "tune --tiles 1024 --seq-q 1 --q-heads 1 --time-limit 0.3 --device cpu");
    cli_says(run.out, "no tile fits");
    cli_says(run.out, "unscoped: no tile fits, so it cannot run at all");
    cli_says(run.out, "nested ");
    cli_fini(&run);
}

static void pool_that_fits_nothing_is_a_result(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, TUNE " --pool 256");
    cli_says(run.out, "0 tiles fit");
    cli_says(run.out, "nested: no tile fits, so it cannot run at all");
    cli_fini(&run);
    run_ok(&run, TUNE " --pool 1024GiB"); /* more than any machine has */
    cli_says(run.out, "nested: no tile fits: the device allocates ");
    cli_fini(&run);
}

static void refused(const char *line, const char *what)
{
    struct cli_run run;

    cli(&run, line);
    assert_int_equal(run.code, 2);
    assert_string_equal(run.out, "");
    cli_says(run.err, what);
    cli_fini(&run);
}

static void bad_command_lines_are_refused(void **state)
{
    (void)state;
    refused("tune --head-dim 32,64", "error: --head-dim: tune takes one problem, so one value");
    refused("tune --tiles 1:3", "error: --tiles: tune takes one problem, so one value, not 3");
    refused("tune --dtype bf16", "error: --dtype: no kernel stores bf16 yet");
    refused("tune --block 32x64", "error: --block: tune does not take it");
    refused("tune --time-limit 0", "error: --time-limit: ");
    refused("tune --preset vit-b16 --tiles 4", "error: --tiles: preset vit-b16 fixes");
    refused("plan --block 32", "error: --block: '32' is neither auto nor MxN");
    refused("plan --block 0x64", "error: --block: ");
    refused("sweep --block 32x64 --block-m 16", "error: --block: it sets what --block-m sets");
    refused("sweep --block-n 16 --block auto", "error: --block: it sets what --block-n sets");
}

static void help_lists_tune_and_block(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, "--help");
    cli_says(run.out, "  tune       ");
    cli_fini(&run);
    run_ok(&run, "tune --help");
    cli_says(run.out, "--time-limit SECONDS");
    cli_says(run.out, "$SCRATCHSCOPE_CACHE_DIR");
    cli_says(run.out, "Presets:");
    cli_fini(&run);
    run_ok(&run, "attend --help");
    cli_says(run.out, "--block auto|MxN");
    cli_fini(&run);
}

static void block_names_both_sides(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, "plan --tiles 2 --policy nested --block 16x32 --format json");
    cli_says(run.out, "\"attention/cap16/nested/f16/S:2/block_m:16/block_n:32\"");
    cli_fini(&run);
    run_ok(&run, "plan --tiles 2 --policy nested --block 32x64 --format json");
    cli_says(run.out, "\"attention/cap16/nested/f16/S:2\"");
    cli_fini(&run);
}

/* All policies get the tile of nested, so that their ratios stay pairs; S stays, too. */
static void sweep_and_plan_take_the_stored_tile_of_the_most_recycling_policy(void **state)
{
    struct cli_run run;
    char tuned[32];
    char used[32];

    (void)state;
    tune_tile(TUNE " --format json", "nested", tuned);
    run_ok(&run, SWEEP " --tiles 1 --block auto --format json");
    cli_says(run.err, "is stored (nested, f16, 64 keys)");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_says(run.out, "/S:1/");
    cli_fini(&run);
    run_ok(&run, "plan " PROBLEM " --tiles 1 --block auto --format json");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_fini(&run);
}

/* What is stored is of simd, the style of a CPU. */
static void plan_takes_the_stored_tile_of_its_kernel_style_alone(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, TUNE " --policy nested");
    cli_fini(&run);
    run_ok(&run,
           "plan " PROBLEM " --tiles 1 --policy nested --block auto --kernel simd --format json");
    cli_says(run.out, "\"kernel\": \"simd\"");
    cli_fini(&run);
    refused("plan " PROBLEM " --tiles 1 --policy nested --block auto --kernel simt",
            "no tile is stored for this problem");
}

static void sweep_of_one_policy_takes_that_policy_s_tile(void **state)
{
    struct cli_run run;
    char tuned[32];
    char used[32];

    (void)state;
    tune_tile(TUNE " --policy scoped --format json", "scoped", tuned);
    run_ok(&run, SWEEP " --tiles 1 --policy unscoped,scoped --block auto --format json");
    cli_says(run.err, "is stored (scoped, f16, 64 keys)");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_fini(&run);
    refused("plan " PROBLEM " --tiles 1 --policy nested --block auto",
            "error: --block auto: no tile is stored for this problem and pool under nested");
}

/* Where the list has several S, the tile is that of 16. */
static void list_of_tiles_takes_the_tile_of_the_standard_length(void **state)
{
    struct cli_run run;
    char tuned[32];
    char used[32];

    (void)state;
    tune_tile("tune " PROBLEM " --time-limit 0.3 --device cpu --policy nested --format json",
              "nested", tuned);
    run_ok(&run, "plan " PROBLEM " --tiles 2,3 --policy nested --block auto --format json");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_fini(&run);
    refused("plan " PROBLEM " --tiles 3 --policy nested --block auto", "no tile is stored");
}

static void problems_of_a_list_are_told_apart(void **state)
{
    (void)state;
    refused("plan --seq-q 16,32 --policy nested --block auto",
            "problem 1 of 2: attention/cap16/nested/f16/S:1/seq_q:16\n");
}

static void plan_without_an_answer_says_how_to_get_one(void **state)
{
    (void)state;
    refused("plan --block auto", "hint: run scratchscope tune with the same problem");
}

/* The only file of the store. */
static void kept_file(char path[CLI_PATH_BYTES + 64])
{
    DIR *folder = opendir(store);
    size_t count = 0;

    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, CLI_PATH_BYTES + 64, "%s/%.60s", store, entry->d_name);
            count++;
        }
    }
    (void)closedir(folder);
    assert_int_equal(count, 1);
}

static void damaged_store_is_told_and_does_not_stop_tune(void **state)
{
    struct cli_run run;

    (void)state;
    cli_write_file(store, "tune-0000000000000000.json", "{");
    refused("plan " PROBLEM " --block auto", "tune-0000000000000000.json is damaged");
    run_ok(&run, TUNE " --policy nested");
    cli_fini(&run);
}

/* 2 x 3 is no promising tile: it is timed because it is what is kept. */
static void kept_tile_takes_part_in_a_short_search(void **state)
{
    struct cli_run run;
    char path[CLI_PATH_BYTES + 64];

    (void)state;
    run_ok(&run, TUNE " --policy nested");
    cli_fini(&run);
    kept_file(path);
    json_t *kept = json_load_file(path, 0, NULL);
    json_t *tile = json_object_get(json_object_get(kept, "tiles"), "nested");
    assert_int_equal(json_integer_set(json_object_get(tile, "block_m"), 2), 0);
    assert_int_equal(json_integer_set(json_object_get(tile, "block_n"), 3), 0);
    assert_int_equal(json_dump_file(kept, path, JSON_REAL_PRECISION(17)), 0);
    json_decref(kept);
    run_ok(&run, "tune " PROBLEM
                 " --tiles 1 --time-limit 0.01 --device cpu --policy nested --format json");
    cli_says(run.out, "/block_m:2/block_n:3\"");
    cli_fini(&run);
}

static void store_that_cannot_be_written_does_not_stop_tune(void **state)
{
    const struct cli_start start = {.line = TUNE " --policy nested",
                                    .variable = "SCRATCHSCOPE_CACHE_DIR",
                                    .value = "/dev/null/no"};
    struct cli_run run;

    (void)state;
    cli_start(&run, &start);
    assert_int_equal(run.code, 0);
    cli_says(run.out, "measured = planned");
    cli_says(run.err, "scratchscope: tuned tiles: they are not kept: ");
    cli_fini(&run);
}

/* The first one tunes, the second one finds what the first one kept; each kind of arena anew. */
static void attend_tunes_once_an_arena(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_wave(folder, "q.npy", "f4", "1, 8", 8);
    attend_put_wave(folder, "k.npy", "f4", "2, 8", 16);
    attend_put_wave(folder, "v.npy", "f4", "2, 8", 16);
    attend_run(&run, folder, "--block auto --device cpu");
    assert_int_equal(run.code, 0);
    cli_says(run.err, "tuning, for 60 s at most");
    cli_says(run.err, "is the fastest that was found");
    cli_fini(&run);
    attend_run(&run, folder, "--block auto --device cpu");
    assert_int_equal(run.code, 0);
    cli_says(run.err, "is stored (nested, f32, 2 keys)");
    cli_fini(&run);
    attend_run(&run, folder, "--block auto --arena local --device cpu");
    assert_int_equal(run.code, 0);
    cli_says(run.err, "is the fastest that was found");
    cli_says(run.out, " in local memory");
    cli_fini(&run);
    attend_run(&run, folder, "--block auto --arena local --device cpu");
    assert_int_equal(run.code, 0);
    cli_says(run.err, "is stored (nested, f32, 2 keys)");
    cli_fini(&run);
    cli_remove_folder(folder);
}

/* 1 MiB is more than the CPU device has: names and keys are those of the pool that was asked for,
 * and so a plan, which knows no device, finds the tile. */
static void local_tile_is_tuned_kept_and_taken_for_local_arenas_alone(void **state)
{
    struct cli_run run;
    char tuned[32];
    char used[32];

    (void)state;
    run_ok(&run, TUNE " --arena local --format json");
    json_t *file = cli_json(run.out);
    static const char *const policies[] = {"unscoped", "scoped", "nested"};
    for (size_t i = 0; i < 3; i++) {
        check_winner(file, policies[i]);
    }
    const json_t *row = winner(file, "nested");
    assert_string_equal(json_string_value(json_object_get(row, "arena")), "local");
    assert_true(cli_integer(row, "pool_bytes") < 1 << 20);
    (void)snprintf(tuned, sizeof tuned, "%lldx%lld", cli_integer(row, "block_m"),
                   cli_integer(row, "block_n"));
    const char *name = json_string_value(json_object_get(row, "name"));
    cli_says(name, "/arena:local");
    assert_null(strstr(name, "/pool:"));
    json_decref(file);
    cli_fini(&run);

    run_ok(&run, SWEEP " --tiles 1 --arena local --block auto --format json");
    cli_says(run.err, "is stored (nested, f16, 64 keys)");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_says(run.out, "/arena:local");
    assert_null(strstr(run.out, "/pool:"));
    cli_fini(&run);
    run_ok(&run, "plan " PROBLEM " --tiles 1 --arena local --block auto --format json");
    assert_int_equal(row_tile(run.out, used), 1);
    assert_string_equal(used, tuned);
    cli_fini(&run);
    refused("plan " PROBLEM " --tiles 1 --block auto", "no tile is stored");
}

/* chip48 is local unless told otherwise, S of 32 keys. */
static void tune_of_chip48_is_local(void **state)
{
    struct cli_run run;

    (void)state;
    run_ok(&run, "tune --preset chip48 " PROBLEM " --tiles 1 --time-limit 0.3 --device cpu");
    cli_says(run.out, "chip48: f16, head_dim 16, heads 1, seq_q 16, seq_kv 32, pool 48 KiB x ");
    cli_says(run.out, " in local memory, simd kernel");
    cli_fini(&run);
    run_ok(&run, "tune --preset chip48 " PROBLEM
                 " --tiles 1 --time-limit 0.3 --device cpu --policy nested --arena global");
    assert_null(strstr(run.out, "in local memory"));
    cli_fini(&run);
}

static void profile_takes_the_stored_tile(void **state)
{
    struct cli_run run;
    char tuned[32];
    char named[64];

    (void)state;
    tune_tile(TUNE " --policy nested --format json", "nested", tuned);
    run_ok(&run,
           "profile " PROBLEM " --tiles 1 --rounds 1 --device cpu --block auto --format json");
    cli_says(run.err, "is stored (nested, f16, 64 keys)");
    json_t *file = cli_json(run.out);
    const json_t *plain = json_object_get(json_object_get(file, "profile"), "plain");
    (void)snprintf(named, sizeof named, "%lldx%lld", cli_integer(plain, "block_m"),
                   cli_integer(plain, "block_n"));
    assert_string_equal(named, tuned);
    json_decref(file);
    cli_fini(&run);
}

static void wait_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* Until the device is open, a minute at most; the search begins right after it. */
static void wait_for_device(const struct cli_run *run)
{
    bool there = false;

    for (size_t i = 0; i < 600 && !there; i++) {
        wait_ms(100);
        char *text = cli_file(run->folder, "err");
        there = text != NULL && strstr(text, " kernel\n") != NULL;
        free(text);
    }
    assert_true(there);
}

static void interrupted_tune_prints_what_it_has(void **state)
{
    const struct cli_start start = {.line = "tune --time-limit 600 --device cpu"};
    struct cli_run run;

    (void)state;
    pid_t child = cli_spawn(&run, &start);
    wait_for_device(&run);
    wait_ms(4000);
    assert_int_equal(kill(child, SIGINT), 0);
    cli_wait(&run, child);
    assert_int_equal(run.code, 130);
    cli_says(run.out, "interrupted");
    cli_says(run.out, "tiles fit: ");
    cli_fini(&run);
}

#define TUNE_TEST(name_) cmocka_unit_test_setup_teardown(name_, make_store, remove_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TUNE_TEST(tune_json_has_verified_winners_and_ratios),
        TUNE_TEST(tune_table_answers_what_scoping_buys),
        TUNE_TEST(tune_csv_has_a_line_a_tile_and_policy),
        TUNE_TEST(policy_without_a_fit_is_said),
        TUNE_TEST(pool_that_fits_nothing_is_a_result),
        TUNE_TEST(bad_command_lines_are_refused),
        TUNE_TEST(help_lists_tune_and_block),
        TUNE_TEST(block_names_both_sides),
        TUNE_TEST(sweep_and_plan_take_the_stored_tile_of_the_most_recycling_policy),
        TUNE_TEST(plan_takes_the_stored_tile_of_its_kernel_style_alone),
        TUNE_TEST(sweep_of_one_policy_takes_that_policy_s_tile),
        TUNE_TEST(list_of_tiles_takes_the_tile_of_the_standard_length),
        TUNE_TEST(problems_of_a_list_are_told_apart),
        TUNE_TEST(plan_without_an_answer_says_how_to_get_one),
        TUNE_TEST(damaged_store_is_told_and_does_not_stop_tune),
        TUNE_TEST(kept_tile_takes_part_in_a_short_search),
        TUNE_TEST(store_that_cannot_be_written_does_not_stop_tune),
        TUNE_TEST(attend_tunes_once_an_arena),
        TUNE_TEST(local_tile_is_tuned_kept_and_taken_for_local_arenas_alone),
        TUNE_TEST(tune_of_chip48_is_local),
        TUNE_TEST(profile_takes_the_stored_tile),
        TUNE_TEST(interrupted_tune_prints_what_it_has),
    };
    return cmocka_run_group_tests_name("cli.tune", tests, NULL, NULL);
}
