/* What tune prints, from results made by hand: the fastest, the front, the answer; JSON and CSV. */
#include "host/app/tune_report.h"
#include "tests/unit/app_fixture.h"

enum { TILES = 4 };

struct fixture {
    struct settings settings;
    struct cell_list list;
    struct tune_tile tiles[TILES];
    struct tune_result result;
    struct app_machine machine;
    struct tune_report report;
    char *text; /* the last one that was written */
};

/* cap16 with 4 tiles: bytes and speeds under every policy, the third dominated, the last one not
 * timed; unscoped fits none. */
static void fixture_init(struct fixture *f, const char *line)
{
    static const double gflops[TILES] = {10.0, 40.0, 20.0, (double)NAN};

    memset(f, 0, sizeof *f);
    assert_int_equal(app_parse(COMMAND_SWEEP, line, &f->settings), STATUS_OK);
    assert_int_equal(cell_list_init(&f->settings, &f->list), STATUS_OK);
    cell_list_place(&f->list, KERNEL_SIMD, 2);
    app_machine_init(&f->machine);
    for (size_t i = 0; i < TILES; i++) {
        f->tiles[i] = (struct tune_tile){.block_m = 16,
                                         .block_n = 16 * (i + 1),
                                         .tiles = 64 / (i + 1),
                                         .peak_bytes = {9000000, 2000 * (i + 1), 1000 * (i + 1)},
                                         .gflops = gflops[i],
                                         .fits = {false, true, true}};
    }
    f->result = (struct tune_result){
        .space = {.tiles = f->tiles, .count = TILES}, .noise_floor = 0.004, .seconds = 12.0};
    f->report = (struct tune_report){.settings = &f->settings,
                                     .cell = &f->list.cells[0],
                                     .result = &f->result,
                                     .context = &f->machine.context,
                                     .policies = {true, true, true}};
}

static void fixture_fini(struct fixture *f)
{
    free(f->text);
    cell_list_fini(&f->list);
    settings_fini(&f->settings);
    status_clear();
}

/* Tile 1 wins under scoped and nested, in pairs with this ratio. */
static void win(struct fixture *f, double ratio, double lower, double upper)
{
    for (size_t policy = POLICY_SCOPED; policy <= POLICY_NESTED; policy++) {
        struct cell cell = tune_cell(f->report.cell, &f->tiles[1], (enum policy)policy);
        f->result.winners[policy] = (struct tune_winner){.found = true,
                                                         .tile = f->tiles[1],
                                                         .result = app_result(&cell),
                                                         .gflops = 50.0,
                                                         .time_ns = 1e6};
    }
    f->result.ratios[0] = (struct tune_ratio){
        .numerator = POLICY_NESTED,
        .denominator = POLICY_SCOPED,
        .ratio = {.ratio = ratio, .lower = lower, .upper = upper, .blocks = 5, .pairs = 20}};
    f->result.ratio_count = 1;
}

static const char *write_as(struct fixture *f, enum format format)
{
    size_t length = 0;

    free(f->text);
    f->text = NULL;
    FILE *file = open_memstream(&f->text, &length);
    assert_non_null(file);
    assert_int_equal(tune_report_write(&f->report, format, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return f->text;
}

static void says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text);
    }
}

static void table_tells_problem_and_counts(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --causal");
    win(&f, 0.9, 0.88, 0.92);
    const char *text = write_as(&f, FORMAT_TABLE);
    says(text, "cap16: f16, head_dim 128, heads 4, seq_q 128, seq_kv 1,024, causal, pool 1 MiB x "
               "2 PEs, simd kernel\n");
    says(text, "\ntest device (test platform, driver 1.0)\n");
    says(text, "4 tiles fit: 0 unscoped, 4 scoped, 4 nested; 3 timed in 12 s, the most promising");
    f.result.complete = true;
    says(write_as(&f, FORMAT_TABLE), "3 timed in 12 s\n");
    fixture_fini(&f);
}

static void table_marks_winners_and_what_fits_nothing(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    const char *text = write_as(&f, FORMAT_TABLE);
    says(text, "no tile fits\n");
    says(text, "unscoped: no tile fits, so it cannot run at all\n");
    says(text, "ok, error 1.0e-04 < 2.0e-03 in 512 rows, measured = planned");
    says(text, "nested 16 x 32 takes 0.900 of the time of scoped 16 x 32 [0.880, 0.920]: faster\n");
    says(text, "noise floor 0.4 %");
    fixture_fini(&f);
}

static void pool_that_the_device_cannot_hold_is_told(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    f.result.space.refused[POLICY_UNSCOPED] = (struct tune_refusal){2000000, 1000000};
    const char *text = write_as(&f, FORMAT_TABLE);
    says(text,
         " no tile fits: the device allocates 1,000,000 bytes at most, 2,000,000 are needed\n");
    says(text,
         "unscoped: no tile fits: the device allocates 1,000,000 bytes at most, 2,000,000 are "
         "needed, so it cannot run at all\n");
    fixture_fini(&f);
}

static void ratio_within_the_noise_is_no_difference(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.98, 0.97, 0.995);
    says(write_as(&f, FORMAT_TABLE), ": no difference beyond the noise\n"); /* 1 % at least */
    win(&f, 1.2, 1.1, 1.3);
    says(write_as(&f, FORMAT_TABLE), "[1.100, 1.300]: slower\n");
    f.result.noise_floor = 0.15;
    says(write_as(&f, FORMAT_TABLE), "[1.100, 1.300]: no difference beyond the noise\n");
    fixture_fini(&f);
}

static void noise_that_hides_differences_is_told(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    assert_null(strstr(write_as(&f, FORMAT_TABLE), "close what else runs"));
    f.result.noise_floor = 0.06;
    says(write_as(&f, FORMAT_TABLE), "above 5 %: close what else runs, and tune again\n");
    fixture_fini(&f);
}

static void one_policy_has_nothing_to_compare(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --pool grow");
    f.report.policies[POLICY_UNSCOPED] = false;
    f.report.policies[POLICY_SCOPED] = false;
    const char *text = write_as(&f, FORMAT_TABLE);
    says(text, "pool as needed x 2 PEs");
    assert_null(strstr(text, "What scoping buys"));
    fixture_fini(&f);
}

static void markdown_has_headings_and_lists(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    const char *text = write_as(&f, FORMAT_MD);
    says(text, "### cap16: f16");
    says(text, "\n### What scoping buys in 1 MiB at 1,024 keys\n\n- unscoped: no tile fits");
    says(text, "\n- nested 16 x 32 takes 0.900");
    fixture_fini(&f);
}

/* The third tile takes more than the second and is slower. */
static void front_leaves_out_what_is_dominated(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    const char *front = strstr(write_as(&f, FORMAT_TABLE), "Bytes against speed");
    assert_non_null(front);
    says(front, "16 x 16");
    says(front, "25 %");
    says(front, "the fastest");
    assert_null(strstr(front, "16 x 48"));
    assert_null(strstr(front, "16 x 64"));
    fixture_fini(&f);
}

/* In its pairs the winner was slower than the first tile in the search. */
static void front_is_of_the_search_s_times_alone(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    f.result.winners[POLICY_NESTED].gflops = 5.0;
    const char *text = write_as(&f, FORMAT_TABLE);
    const char *front = strstr(text, "Bytes against speed");
    says(text, "  5.0  ok, error");
    says(front, " 40.0  the fastest");
    says(front, " 10.0  25 %");
    assert_null(strstr(front, " 5.0 "));
    fixture_fini(&f);
}

static void interrupted_search_says_what_is_not_verified(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    f.report.stopped = true;
    const char *text = write_as(&f, FORMAT_TABLE);
    says(text, "3 timed in 12 s, interrupted");
    says(text, "so far; not verified");
    assert_null(strstr(text, "takes"));
    says(text, "What scoping buys"); /* unscoped fits nothing */
    f.tiles[0].fits[POLICY_UNSCOPED] = true;
    assert_null(strstr(write_as(&f, FORMAT_TABLE), "What scoping buys"));
    for (size_t i = 0; i < TILES; i++) {
        f.tiles[i].gflops = (double)NAN;
    }
    text = write_as(&f, FORMAT_TABLE);
    says(text, "none was timed");
    assert_null(strstr(text, "Bytes against speed"));
    fixture_fini(&f);
}

static void json_has_a_row_for_each_timed_tile_and_policy(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    json_t *file = json_loads(write_as(&f, FORMAT_JSON), 0, NULL);
    const json_t *rows = json_object_get(file, "benchmarks");
    size_t winners = 0;
    assert_int_equal(json_array_size(rows), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *row = json_array_get(rows, i);
        const bool wins = json_integer_value(json_object_get(row, "winner")) == 1;
        winners += wins ? 1 : 0;
        assert_int_equal(json_is_integer(json_object_get(row, "verified")), wins);
        assert_int_equal(json_integer_value(json_object_get(row, "front")),
                         json_integer_value(json_object_get(row, "block_n")) != 48);
    }
    assert_int_equal(winners, 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 4), "name")),
                        "attention/cap16/nested/f16/S:32/block_m:16/block_n:32");
    const json_t *tune = json_object_get(json_object_get(file, "context"), "tune");
    assert_int_equal(json_integer_value(json_object_get(tune, "tiles_timed")), 3);
    assert_true(json_is_false(json_object_get(tune, "interrupted")));
    const json_t *asked = json_object_get(json_object_get(file, "context"), "settings");
    assert_true(json_number_value(json_object_get(asked, "time_limit_s")) == 60.0);
    assert_string_equal(json_string_value(json_object_get(asked, "bind")), "auto");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "arena")),
                        "global");
    json_decref(file);
    fixture_fini(&f);
}

/* 2 x 128 x 1024 pairs x 256 x 4 heads at 40 GFLOP/s in the search, 50 in the pairs. */
static void time_is_that_of_the_whole_problem(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    win(&f, 0.9, 0.88, 0.92);
    json_t *file = json_loads(write_as(&f, FORMAT_JSON), 0, NULL);
    const json_t *row = json_array_get(json_object_get(file, "benchmarks"), 4);
    const double ms = json_number_value(json_object_get(row, "real_time"));
    const double pairs_ms = json_number_value(json_object_get(row, "pairs_time"));
    assert_true(fabs(ms - 2.0 * 128 * 1024 * 256 * 4 / 40.0 * 1e-6) < 1e-9);
    assert_true(fabs(pairs_ms - 2.0 * 128 * 1024 * 256 * 4 / 50.0 * 1e-6) < 1e-9);
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(file, "benchmarks"), 3), "pairs_time")));
    json_decref(file);
    fixture_fini(&f);
}

static size_t count_of(const char *text, const char *end, char letter)
{
    size_t count = 0;
    bool quoted = false;

    for (; text < end; text++) {
        quoted = *text == '"' ? !quoted : quoted;
        count += *text == letter && !quoted ? 1 : 0;
    }
    return count;
}

static void csv_has_as_many_columns_in_every_line(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --window 300,0");
    win(&f, 0.9, 0.88, 0.92);
    const char *text = write_as(&f, FORMAT_CSV);
    const size_t commas = count_of(text, strchr(text, '\n'), ',');
    size_t lines = 0;
    says(text, "\"attention/cap16/nested/f16/S:32/block_m:16/block_n:32/window:300,0\"");
    for (const char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
        assert_int_equal(count_of(text, end, ','), commas);
        lines++;
        text = end + 1;
    }
    assert_int_equal(lines, 7);
    fixture_fini(&f);
}

static void csv_without_rows_is_its_header(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    f.result.space.count = 0;
    const char *text = write_as(&f, FORMAT_CSV);
    assert_memory_equal(text, "name,run_name,", strlen("name,run_name,"));
    assert_string_equal(strchr(text, '\n'), "\n");
    fixture_fini(&f);
}

/* A device leaves 500 KiB of the preset's 1 MiB: the title and the rows tell it, their names do
 * not. */
static void local_arenas_are_told_with_the_pool_that_there_was(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --arena local");
    cell_list_local(&f.list, 513024);
    win(&f, 0.98, 0.97, 0.99);
    assert_non_null(
        strstr(write_as(&f, FORMAT_TABLE), "pool 500 KiB x 2 PEs in local memory, simd kernel\n"));
    const char *json = write_as(&f, FORMAT_JSON);
    assert_non_null(strstr(json, "\"arena\": \"local\""));
    assert_non_null(strstr(json, "\"pool_bytes\": 512000"));
    assert_null(strstr(json, "/pool:"));
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_tells_problem_and_counts),
        cmocka_unit_test(table_marks_winners_and_what_fits_nothing),
        cmocka_unit_test(pool_that_the_device_cannot_hold_is_told),
        cmocka_unit_test(ratio_within_the_noise_is_no_difference),
        cmocka_unit_test(noise_that_hides_differences_is_told),
        cmocka_unit_test(one_policy_has_nothing_to_compare),
        cmocka_unit_test(markdown_has_headings_and_lists),
        cmocka_unit_test(front_leaves_out_what_is_dominated),
        cmocka_unit_test(front_is_of_the_search_s_times_alone),
        cmocka_unit_test(interrupted_search_says_what_is_not_verified),
        cmocka_unit_test(json_has_a_row_for_each_timed_tile_and_policy),
        cmocka_unit_test(time_is_that_of_the_whole_problem),
        cmocka_unit_test(csv_has_as_many_columns_in_every_line),
        cmocka_unit_test(csv_without_rows_is_its_header),
        cmocka_unit_test(local_arenas_are_told_with_the_pool_that_there_was),
    };
    return cmocka_run_group_tests_name("unit.tune_report", tests, NULL, NULL);
}
