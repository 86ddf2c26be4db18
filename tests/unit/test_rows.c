/* Result rows: the field table, what each field says of planned, measured, overflowing and wrong
 * cells, and the JSON and CSV that are written from it. */
#include "host/app/writers.h"
#include "tests/unit/app_fixture.h"

struct fixture {
    struct cell_list list;
    struct results results;
    struct app_machine machine;
    struct report report;
};

static void fixture_init(struct fixture *f, const char *line, bool planned)
{
    app_cells(line, &f->list);
    assert_int_equal(results_init(&f->results, &f->list, planned), STATUS_OK);
    app_machine_init(&f->machine);
    f->report = (struct report){.results = &f->results, .context = &f->machine.context};
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
}

static char *written(const struct report *report, enum format format)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(write_report(report, format, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static json_t *written_json(const struct report *report)
{
    json_error_t error;
    char *text = written(report, FORMAT_JSON);
    json_t *json = json_loads(text, 0, &error);

    if (json == NULL) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    free(text);
    return json;
}

static void set_cell(struct fixture *f, struct cell_result *result, const struct cell_run *runs,
                     size_t count)
{
    struct cell cell = f->list.cells[0];
    const struct rows_source source = {
        .cell = &cell, .result = result, .runs = runs, .count = count};

    assert_int_equal(results_set(&f->results, 0, &source), STATUS_OK);
}

/* The field table --------------------------------------------------------------------------- */

static void fields_have_different_keys_that_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        enum field_id found;
        assert_non_null(field_key((enum field_id)i));
        assert_true(field_find(field_key((enum field_id)i), &found));
        assert_int_equal(found, i);
    }
}

static void field_of_unknown_key_not_found(void **state)
{
    enum field_id found;

    (void)state;
    assert_false(field_find("no_such_key", &found));
}

static void fields_hold_every_key_of_the_results(void **state)
{
    static const char keys[] =
        "name run_name run_type repetitions repetition_index threads iterations real_time cpu_time "
        "time_unit aggregate_name error_occurred error_message time_source event_time host_time "
        "event_host_ratio clocks_agree spread_wide "
        "gflops fma_peak_fraction bandwidth_fraction roofline_fraction peak_gflops peak_gb_per_s "
        "preset policy dtype kernel "
        "arena tiles batch q_heads kv_heads seq_q seq_kv head_dim head_dim_v block_m block_n "
        "causal "
        "pes pool_bytes persistent_bytes tile_bytes requested_bytes padded_bytes "
        "planned_peak_bytes "
        "measured_peak_bytes planned_touched_lines measured_touched_lines lower_bound_bytes "
        "parts parts_bytes measured_parts_bytes softcap alibi sinks mask dram_read_bytes "
        "dram_write_bytes scratch_read_bytes scratch_write_bytes "
        "copy_bytes cache_level guards_intact overflow overflow_tile overflow_name "
        "overflow_request_bytes overflow_free_bytes verified max_abs_err tolerance lse_max_abs_err "
        "rows_checked flops";
    char words[sizeof keys];

    (void)state;
    memcpy(words, keys, sizeof keys);
    for (char *key = strtok(words, " "); key != NULL; key = strtok(NULL, " ")) {
        enum field_id found;
        if (!field_find(key, &found)) {
            fail_msg("no field %s", key);
        }
    }
}

/* Rows -------------------------------------------------------------------------------------- */

static void rows_of_a_measured_cell_one_a_run(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested", false);
    app_measure(&f.results, 0);
    const struct rows *rows = &f.results.of_cell[0];
    assert_int_equal(rows->count, APP_RUNS);
    assert_string_equal(row_text(&rows->items[0], FIELD_NAME), "attention/cap16/nested/f16/S:16");
    assert_string_equal(row_text(&rows->items[3], FIELD_NAME),
                        "attention/cap16/nested/f16/S:16_median");
    assert_string_equal(row_text(&rows->items[3], FIELD_RUN_NAME),
                        "attention/cap16/nested/f16/S:16");
    assert_string_equal(row_text(&rows->items[0], FIELD_RUN_TYPE), "iteration");
    assert_string_equal(row_text(&rows->items[3], FIELD_RUN_TYPE), "aggregate");
    assert_string_equal(row_text(&rows->items[3], FIELD_AGGREGATE_NAME), "median");
    assert_false(row_has(&rows->items[0], FIELD_AGGREGATE_NAME));
    assert_int_equal(row_count(&rows->items[1], FIELD_REPETITION_INDEX), 1);
    assert_int_equal(row_count(&rows->items[1], FIELD_REPETITIONS), APP_REPETITIONS);
    fixture_fini(&f);
}

static void row_times_are_milliseconds_but_a_cv_a_ratio(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy nested", false);
    app_measure(&f.results, 0);
    const struct row *items = f.results.of_cell[0].items;
    assert_true(row_real(&items[1], FIELD_REAL_TIME) == 3.0);
    assert_true(row_real(&items[1], FIELD_HOST_TIME) == 4.5);
    assert_string_equal(row_text(&items[1], FIELD_TIME_UNIT), "ms");
    assert_string_equal(row_text(&items[1], FIELD_TIME_SOURCE), "event");
    assert_true(row_real(&items[5], FIELD_REAL_TIME) == 0.7071);
    assert_string_equal(row_text(&items[5], FIELD_AGGREGATE_UNIT), "percentage");
    assert_ptr_equal(rows_typical(&f.results.of_cell[0]), &items[3]);
    fixture_fini(&f);
}

static void row_cell_keys_the_same_in_every_row(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy unscoped", false);
    app_measure(&f.results, 0);
    for (size_t i = 0; i < APP_RUNS; i++) {
        const struct row *row = &f.results.of_cell[0].items[i];
        assert_int_equal(row_count(row, FIELD_PLANNED_PEAK_BYTES), 1014016);
        assert_int_equal(row_count(row, FIELD_MEASURED_PEAK_BYTES), 1014016);
        assert_int_equal(row_count(row, FIELD_LOWER_BOUND_BYTES), 62080);
        assert_int_equal(row_count(row, FIELD_PERSISTENT_BYTES), 24832);
        assert_int_equal(row_count(row, FIELD_TILE_BYTES), 61824);
        assert_int_equal(row_count(row, FIELD_TILES), 16);
        assert_int_equal(row_count(row, FIELD_SEQ_KV), 1024);
        assert_int_equal(row_count(row, FIELD_PES), 2);
        assert_int_equal(row_count(row, FIELD_VERIFIED), 1);
        assert_int_equal(row_count(row, FIELD_ROWS_CHECKED), 512);
        assert_int_equal(row_count(row, FIELD_FLOPS), 268435456);
        assert_true(row_real(row, FIELD_TOLERANCE) == 2e-3);
        assert_string_equal(row_text(row, FIELD_KERNEL), "simd");
        assert_true(row_agrees(row));
        assert_false(row_is_wrong(row));
    }
    fixture_fini(&f);
}

static void row_of_an_overflow_is_one_without_times(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1024 --policy unscoped", false);
    app_measure(&f.results, 0);
    assert_int_equal(f.results.of_cell[0].count, 1);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_int_equal(row_count(row, FIELD_OVERFLOW), 1);
    assert_int_equal(row_count(row, FIELD_OVERFLOW_TILE), 17);
    assert_string_equal(row_text(row, FIELD_OVERFLOW_NAME), "v");
    assert_int_equal(row_count(row, FIELD_OVERFLOW_REQUEST_BYTES), 16384);
    assert_int_equal(row_count(row, FIELD_OVERFLOW_FREE_BYTES), 5504);
    assert_int_equal(row_count(row, FIELD_PLANNED_PEAK_BYTES), 63332608);
    assert_true(row->values[FIELD_ERROR_OCCURRED].as.truth);
    assert_true(strlen(row_text(row, FIELD_ERROR_MESSAGE)) > 0);
    assert_false(row_has(row, FIELD_REAL_TIME));
    assert_false(row_has(row, FIELD_CPU_TIME));
    assert_false(row_has(row, FIELD_TIME_UNIT));
    assert_false(row_has(row, FIELD_VERIFIED));
    assert_false(row_has(row, FIELD_MEASURED_PEAK_BYTES));
    assert_false(row_is_wrong(row));
    fixture_fini(&f);
}

static void row_of_a_fitting_cell_says_nothing_of_overflow(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    app_measure(&f.results, 0);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_true(row_has(row, FIELD_OVERFLOW));
    assert_int_equal(row_count(row, FIELD_OVERFLOW), 0);
    assert_false(row_has(row, FIELD_OVERFLOW_TILE));
    assert_false(row_has(row, FIELD_OVERFLOW_NAME));
    assert_false(row_has(row, FIELD_ERROR_MESSAGE));
    assert_false(row->values[FIELD_ERROR_OCCURRED].as.truth);
    fixture_fini(&f);
}

static void row_of_bad_stamps_has_no_event_time(void **state)
{
    struct fixture f;
    struct cell_run run = app_run(2.0, "", 0);

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    struct cell_result result = app_result(&f.list.cells[0]);
    run.event_time_ns = (double)NAN;
    run.time_is_event = false;
    run.real_time_ns = run.host_time_ns;
    set_cell(&f, &result, &run, 1);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_false(row_has(row, FIELD_EVENT_TIME));
    assert_string_equal(row_text(row, FIELD_TIME_SOURCE), "host");
    assert_true(row_real(row, FIELD_REAL_TIME) == 3.0);
    fixture_fini(&f);
}

static void row_of_infinite_error_is_wrong_and_has_no_number(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    struct cell_result result = app_result(&f.list.cells[0]);
    result.check.verdict.verified = false;
    result.check.verdict.max_abs_err = (double)INFINITY;
    result.ok = false;
    set_cell(&f, &result, NULL, 0);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_true(row_is_wrong(row));
    assert_int_equal(row_count(row, FIELD_VERIFIED), 0);
    assert_false(row_has(row, FIELD_MAX_ABS_ERR));
    assert_true(row->values[FIELD_ERROR_OCCURRED].as.truth);
    assert_non_null(strstr(row_text(row, FIELD_ERROR_MESSAGE), "wrong result"));
    fixture_fini(&f);
}

/* Each fault alone makes a row wrong and is named. */
static void row_of_each_fault_is_wrong_and_names_it(void **state)
{
    enum { VERDICT, PEAK, LINES, GUARD, PARTS, REPEAT, BITS, POISON, FAULTS };
    static const char *const texts[FAULTS] = {"wrong result",   "measured peak",  "measured peak",
                                              "guard of PE",    "parts left 132", "different bits",
                                              "another policy", "poison"};

    (void)state;
    for (size_t fault = 0; fault < FAULTS; fault++) {
        struct fixture f;
        fixture_init(&f, "--tiles 1 --policy scoped --poison", false);
        struct cell_result result = app_result(&f.list.cells[0]);
        result.ok = false;
        result.agrees = fault != PEAK && fault != LINES && fault != GUARD && fault != PARTS;
        result.check.parts_touched_bytes = fault == PARTS ? 132 : 0;
        result.same_bits = fault != BITS;
        result.check.verdict.verified = fault != VERDICT;
        result.check.touch.peak_bytes += fault == PEAK ? 1 : 0;
        result.check.touch.touched_lines -= fault == LINES ? 1 : 0;
        result.check.touch.guards_intact = fault != GUARD;
        result.check.repeatable = fault != REPEAT;
        result.check.poison_neutral = fault != POISON;
        set_cell(&f, &result, NULL, 0);
        const struct row *row = &f.results.of_cell[0].items[0];
        assert_true(row_is_wrong(row));
        assert_int_equal(results_wrong(&f.results), 1);
        if (strstr(row_text(row, FIELD_ERROR_MESSAGE), texts[fault]) == NULL) {
            fail_msg("fault %zu: %s", fault, row_text(row, FIELD_ERROR_MESSAGE));
        }
        fixture_fini(&f);
    }
}

static void row_of_a_failed_run_has_no_time_but_its_message(void **state)
{
    struct fixture f;
    struct cell_run run = app_run(2.0, "", 0);

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    struct cell_result result = app_result(&f.list.cells[0]);
    run.failed = true;
    (void)snprintf(run.message, sizeof run.message, "broken");
    set_cell(&f, &result, &run, 1);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_false(row_has(row, FIELD_REAL_TIME));
    assert_false(row_has(row, FIELD_TIME_UNIT));
    assert_string_equal(row_text(row, FIELD_ERROR_MESSAGE), "broken");
    assert_null(rows_typical(&f.results.of_cell[0]));
    fixture_fini(&f);
}

static void row_of_saturated_traffic_has_none(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    struct cell_result result = app_result(&f.list.cells[0]);
    result.traffic.scratch_read_bytes = SIZE_MAX;
    set_cell(&f, &result, NULL, 0);
    assert_false(row_has(&f.results.of_cell[0].items[0], FIELD_SCRATCH_READ_BYTES));
    assert_true(row_has(&f.results.of_cell[0].items[0], FIELD_SCRATCH_WRITE_BYTES));
    fixture_fini(&f);
}

static void results_keep_rows_that_are_there(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    app_measure(&f.results, 0);
    app_measure(&f.results, 0);
    assert_int_equal(f.results.of_cell[0].count, APP_RUNS);
    fixture_fini(&f);
}

/* Formats ----------------------------------------------------------------------------------- */

static void json_has_context_and_a_row_a_run(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17 --policy unscoped,nested", false);
    for (size_t i = 0; i < 4; i++) {
        app_measure(&f.results, i);
    }
    app_add_ratio(&f.results, 0, POLICY_NESTED, POLICY_UNSCOPED);
    json_t *json = written_json(&f.report);
    const json_t *context = json_object_get(json, "context");
    static const char *const keys[] = {"date",
                                       "host_name",
                                       "executable",
                                       "num_cpus",
                                       "mhz_per_cpu",
                                       "caches",
                                       "load_avg",
                                       "commit",
                                       "library_build_type",
                                       "driver",
                                       "schema_version",
                                       "platform",
                                       "tool_version",
                                       "cpu_scaling_enabled",
                                       "topology",
                                       "roofline",
                                       "device",
                                       "pes",
                                       "ratios"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (json_object_get(context, keys[i]) == NULL) {
            fail_msg("no %s in the context", keys[i]);
        }
    }
    const json_t *ratio = json_array_get(json_object_get(context, "ratios"), 0);
    assert_string_equal(json_string_value(json_object_get(ratio, "policies")), "nested/unscoped");
    assert_string_equal(json_string_value(json_object_get(ratio, "group")),
                        "attention/cap16/f16/S:16");
    assert_true(json_real_value(json_object_get(ratio, "ratio")) == 0.875);
    assert_int_equal(json_array_size(json_object_get(json, "benchmarks")), 3 * APP_RUNS + 1);
    json_decref(json);
    fixture_fini(&f);
}

static void json_rows_have_every_key_and_null_where_there_is_none(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17 --policy unscoped", false);
    app_measure(&f.results, 0);
    app_measure(&f.results, 1);
    json_t *json = written_json(&f.report);
    const json_t *rows = json_object_get(json, "benchmarks");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(json_object_size(row), FIELD_COUNT);
        for (size_t j = 0; j < FIELD_COUNT; j++) {
            assert_non_null(json_object_get(row, field_key((enum field_id)j)));
        }
    }
    const json_t *overflow = json_array_get(rows, APP_RUNS);
    assert_true(json_is_null(json_object_get(overflow, "real_time")));
    assert_true(json_is_true(json_object_get(overflow, "error_occurred")));
    assert_int_equal(json_integer_value(json_object_get(overflow, "planned_peak_bytes")), 1075840);
    json_decref(json);
    fixture_fini(&f);
}

static void json_of_a_plan_leaves_the_device_open(void **state)
{
    struct fixture f;
    struct cell_result result;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy nested", true);
    struct cell cell = f.list.cells[0];
    cell.pes = 0;
    cell.any_style = true;
    assert_int_equal(cell_plan(&cell, 0, 0, NULL, &result), STATUS_OK);
    const struct rows_source source = {.cell = &cell, .result = &result};
    assert_int_equal(results_set(&f.results, 0, &source), STATUS_OK);
    f.machine.context = (struct context){.executable = "x"};
    json_t *json = written_json(&f.report);
    const json_t *row = json_array_get(json_object_get(json, "benchmarks"), 0);
    assert_true(json_is_null(json_object_get(row, "kernel")));
    assert_true(json_is_null(json_object_get(row, "pes")));
    assert_true(json_is_null(json_object_get(row, "verified")));
    assert_true(json_is_null(json_object_get(json_object_get(json, "context"), "device")));
    json_decref(json);
    fixture_fini(&f);
}

static void json_of_text_that_is_not_utf8_parses(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy nested", false);
    (void)snprintf(f.machine.device.name, sizeof f.machine.device.name, "GPU\xAE \"x\"");
    json_t *json = written_json(&f.report);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(json, "context"), "device")),
        "GPU? \"x\"");
    json_decref(json);
    fixture_fini(&f);
}

/* Splits one CSV line in place, quotes taken off; the number of its cells. */
static size_t split_csv(char *line, char **cells, size_t room)
{
    size_t count = 0;
    char *at = line;

    while (at != NULL && count < room) {
        cells[count++] = at;
        bool quoted = *at == '"';
        char *out = at;
        at += quoted ? 1 : 0;
        while (*at != '\0' && (quoted || *at != ',')) {
            if (quoted && *at == '"' && at[1] != '"') {
                quoted = false;
                at++;
                continue;
            }
            at += quoted && *at == '"' ? 1 : 0;
            *out++ = *at++;
        }
        char *next = *at == ',' ? at + 1 : NULL;
        *out = '\0';
        at = next;
    }
    return count;
}

static void csv_columns_are_the_json_keys(void **state)
{
    struct fixture f;
    char *cells[FIELD_COUNT + 1];
    char *save = NULL;

    (void)state;
    fixture_init(&f, "--tiles 16,17 --policy unscoped", false);
    app_measure(&f.results, 0);
    app_measure(&f.results, 1);
    json_t *json = written_json(&f.report);
    char *text = written(&f.report, FORMAT_CSV);
    char *line = strtok_r(text, "\n", &save);
    assert_int_equal(split_csv(line, cells, FIELD_COUNT + 1), FIELD_COUNT);
    const json_t *first = json_array_get(json_object_get(json, "benchmarks"), 0);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        assert_non_null(json_object_get(first, cells[i]));
        assert_string_equal(cells[i], field_key((enum field_id)i));
    }
    size_t rows = 0;
    while ((line = strtok_r(NULL, "\n", &save)) != NULL) {
        assert_int_equal(split_csv(line, cells, FIELD_COUNT + 1), FIELD_COUNT);
        rows++;
    }
    assert_int_equal(rows, APP_RUNS + 1);
    assert_string_equal(cells[FIELD_REAL_TIME], "");
    assert_string_equal(cells[FIELD_OVERFLOW_NAME], "v");
    assert_string_equal(cells[FIELD_ERROR_MESSAGE],
                        row_text(&f.results.of_cell[1].items[0], FIELD_ERROR_MESSAGE));
    free(text);
    json_decref(json);
    fixture_fini(&f);
}

static void csv_text_with_commas_and_quotes_is_quoted(void **state)
{
    struct fixture f;
    struct cell_run run = app_run(2.0, "", 0);

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped", false);
    struct cell_result result = app_result(&f.list.cells[0]);
    run.failed = true;
    (void)snprintf(run.message, sizeof run.message, "a, \"b\"");
    set_cell(&f, &result, &run, 1);
    char *text = written(&f.report, FORMAT_CSV);
    assert_non_null(strstr(text, ",\"a, \"\"b\"\"\","));
    free(text);
    fixture_fini(&f);
}

/* 16 blocks of 32 rows in 3 parts; a part leaves m, l and acc: 2 x 32 x 4 + 32 x 128 x 4 bytes. */
static void row_of_parts_and_mask_options_tells_them(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested --parts 3 --softcap 30 --alibi --mask", false);
    app_measure(&f.results, 0);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_int_equal(row_count(row, FIELD_PARTS), 3);
    assert_int_equal(row_count(row, FIELD_PARTS_BYTES), 16 * 3 * 16640);
    assert_int_equal(row_count(row, FIELD_MEASURED_PARTS_BYTES), 16 * 3 * 16640);
    assert_int_equal(row_count(row, FIELD_TILES), 6);
    assert_true(row_real(row, FIELD_SOFTCAP) == 30.0);
    assert_int_equal(row_count(row, FIELD_ALIBI), 1);
    assert_int_equal(row_count(row, FIELD_SINKS), 0);
    assert_true(row_has(row, FIELD_SINKS));
    assert_int_equal(row_count(row, FIELD_MASK), 1);
    assert_true(row_agrees(row));
    fixture_fini(&f);
}

static void row_without_parts_and_mask_options_says_so(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested", true);
    app_measure(&f.results, 0);
    const struct row *row = &f.results.of_cell[0].items[0];
    assert_int_equal(row_count(row, FIELD_PARTS), 1);
    assert_true(row_has(row, FIELD_PARTS_BYTES));
    assert_int_equal(row_count(row, FIELD_PARTS_BYTES), 0);
    assert_false(row_has(row, FIELD_SOFTCAP));
    assert_int_equal(row_count(row, FIELD_ALIBI) + row_count(row, FIELD_MASK), 0);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_different_keys_that_are_found),
        cmocka_unit_test(field_of_unknown_key_not_found),
        cmocka_unit_test(fields_hold_every_key_of_the_results),
        cmocka_unit_test(rows_of_a_measured_cell_one_a_run),
        cmocka_unit_test(row_times_are_milliseconds_but_a_cv_a_ratio),
        cmocka_unit_test(row_cell_keys_the_same_in_every_row),
        cmocka_unit_test(row_of_an_overflow_is_one_without_times),
        cmocka_unit_test(row_of_a_fitting_cell_says_nothing_of_overflow),
        cmocka_unit_test(row_of_bad_stamps_has_no_event_time),
        cmocka_unit_test(row_of_infinite_error_is_wrong_and_has_no_number),
        cmocka_unit_test(row_of_each_fault_is_wrong_and_names_it),
        cmocka_unit_test(row_of_a_failed_run_has_no_time_but_its_message),
        cmocka_unit_test(row_of_saturated_traffic_has_none),
        cmocka_unit_test(results_keep_rows_that_are_there),
        cmocka_unit_test(json_has_context_and_a_row_a_run),
        cmocka_unit_test(json_rows_have_every_key_and_null_where_there_is_none),
        cmocka_unit_test(json_of_a_plan_leaves_the_device_open),
        cmocka_unit_test(json_of_text_that_is_not_utf8_parses),
        cmocka_unit_test(csv_columns_are_the_json_keys),
        cmocka_unit_test(csv_text_with_commas_and_quotes_is_quoted),
        cmocka_unit_test(row_of_parts_and_mask_options_tells_them),
        cmocka_unit_test(row_without_parts_and_mask_options_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
