/* --resume: which rows of an earlier file are kept, which cells are measured again, which files
 * are refused. */
#include "host/app/resume.h"
#include "host/app/writers.h"
#include "tests/unit/app_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char path[64];
    struct cell_list list;
    struct results results;
    struct app_machine machine;
    struct resume found;
    size_t pending[64];
};

static void fixture_init(struct fixture *f, const char *line)
{
    (void)snprintf(f->path, sizeof f->path, "resume-XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0);
    (void)close(fd);
    app_cells(line, &f->list);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
    app_machine_init(&f->machine);
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
    (void)unlink(f->path);
    status_clear();
}

/* Writes the results so far to the file, and begins anew with the cells of `line`. */
static void write_and_restart(struct fixture *f, const char *line)
{
    const struct report report = {.results = &f->results, .context = &f->machine.context};
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_int_equal(write_json(&report, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    results_fini(&f->results);
    cell_list_fini(&f->list);
    app_cells(line, &f->list);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
}

static enum status take_up(struct fixture *f, bool force)
{
    status_clear();
    return resume_read(f->path, &f->machine.context, force, &f->results, &f->found);
}

static size_t pending_of(struct fixture *f)
{
    assert_true(f->list.count <= sizeof f->pending / sizeof f->pending[0]);
    return resume_pending(&f->results, f->pending);
}

static void add_control(struct fixture *f, size_t index)
{
    app_add_ratio(&f->results, index, POLICY_SCOPED, POLICY_SCOPED);
}

static void resume_without_a_file_starts_afresh(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1,2");
    (void)unlink(f.path);
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 0);
    assert_int_equal(pending_of(&f), 6);
    fixture_fini(&f);
}

static void resume_of_a_complete_file_leaves_nothing(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    for (size_t i = 0; i < 6; i++) {
        app_measure(&f.results, i);
    }
    add_control(&f, 0);
    add_control(&f, 3);
    write_and_restart(&f, "--tiles 16,17");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 6);
    assert_int_equal(f.found.extra, 0);
    assert_int_equal(pending_of(&f), 0);
    assert_int_equal(f.results.ratio_count, 2);
    fixture_fini(&f);
}

static void resume_reads_rows_as_they_were_written(void **state)
{
    struct fixture f;
    const struct report report = {.results = &f.results, .context = &f.machine.context};
    char *before = NULL;
    char *after = NULL;
    size_t length = 0;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    for (size_t i = 0; i < 6; i++) {
        app_measure(&f.results, i);
    }
    FILE *file = open_memstream(&before, &length);
    assert_int_equal(write_csv(&report, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    write_and_restart(&f, "--tiles 16,17");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    file = open_memstream(&after, &length);
    assert_int_equal(write_csv(&report, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(before, after);
    free(before);
    free(after);
    fixture_fini(&f);
}

static void resume_of_a_cut_sweep_asks_for_the_rest(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1,2,4");
    for (size_t i = 0; i < 4; i++) {
        app_measure(&f.results, i);
    }
    add_control(&f, 0);
    write_and_restart(&f, "--tiles 1,2,4");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 4);
    /* S = 2 has one of three rows: its group runs as a whole, for its ratios. */
    assert_int_equal(pending_of(&f), 6);
    assert_int_equal(f.pending[0], 3);
    app_measure(&f.results, 3);
    assert_int_equal(f.results.of_cell[3].count, APP_RUNS);
    fixture_fini(&f);
}

static void resume_of_a_group_without_ratios_runs_it_again(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1");
    for (size_t i = 0; i < 3; i++) {
        app_measure(&f.results, i);
    }
    write_and_restart(&f, "--tiles 1");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 3);
    assert_int_equal(pending_of(&f), 3);
    fixture_fini(&f);
}

static void resume_of_overflows_alone_needs_no_ratios(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 17,32 --policy unscoped");
    app_measure(&f.results, 0);
    app_measure(&f.results, 1);
    write_and_restart(&f, "--tiles 17,32 --policy unscoped");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(pending_of(&f), 0);
    fixture_fini(&f);
}

static void drop_run(struct fixture *f, size_t cell, size_t run)
{
    struct rows *rows = &f->results.of_cell[cell];

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (rows->items[run].values[i].kind == VALUE_TEXT) {
            free(rows->items[run].values[i].as.text);
        }
    }
    memmove(&rows->items[run], &rows->items[run + 1],
            (rows->count - run - 1) * sizeof rows->items[0]);
    rows->count--;
}

static void resume_measures_a_partly_done_cell_again(void **state)
{
    static const size_t runs[] = {0, 1, 3}; /* a repetition, the other one, the median */

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct fixture f;
        fixture_init(&f, "--tiles 1 --policy scoped");
        app_measure(&f.results, 0);
        add_control(&f, 0);
        drop_run(&f, 0, runs[i]);
        write_and_restart(&f, "--tiles 1 --policy scoped");
        assert_int_equal(take_up(&f, false), STATUS_OK);
        assert_int_equal(f.found.kept, 0);
        assert_int_equal(f.results.of_cell[0].count, 0);
        assert_int_equal(pending_of(&f), 1);
        fixture_fini(&f);
    }
}

static void resume_keeps_rows_that_are_not_asked_for(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1,2 --policy scoped");
    app_measure(&f.results, 0);
    app_measure(&f.results, 1);
    write_and_restart(&f, "--tiles 2,4 --policy scoped");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 1);
    assert_int_equal(f.found.extra, APP_RUNS);
    assert_string_equal(row_text(&f.results.extra.items[0], FIELD_RUN_NAME),
                        "attention/cap16/scoped/f16/S:1");
    fixture_fini(&f);
}

static void resume_of_other_measurements_refused_unless_forced(void **state)
{
    enum {
        DEVICE,
        DRIVER,
        PLATFORM,
        PES,
        SEED,
        REPETITIONS,
        MIN_TIME,
        POISON,
        ARENA,
        WHOLE,
        BOUND,
        CPUS,
        CHANGES
    };
    static const char *const names[CHANGES] = {"device", "driver",      "platform",   "pes",
                                               "seed",   "repetitions", "min_time_s", "poison",
                                               "arena",  "whole",       "pes_bound",  "cpus"};

    (void)state;
    for (size_t change = 0; change < CHANGES; change++) {
        struct fixture f;
        struct binding binding = {.known = true, .bound = 2, .cpus = "0-1"};
        fixture_init(&f, "--tiles 1 --policy scoped");
        f.machine.context.binding = &binding;
        app_measure(&f.results, 0);
        write_and_restart(&f, "--tiles 1 --policy scoped");
        binding.bound = change == BOUND ? 0 : 2;
        binding.cpus[2] = change == CPUS ? '3' : '1';
        f.machine.device.name[0] ^= change == DEVICE ? 1 : 0;
        f.machine.device.driver[0] ^= change == DRIVER ? 1 : 0;
        f.machine.device.platform_name[0] ^= change == PLATFORM ? 1 : 0;
        f.machine.context.pes += change == PES ? 1 : 0;
        f.machine.sweep.seed += change == SEED ? 1 : 0;
        f.machine.sweep.repetitions += change == REPETITIONS ? 1 : 0;
        f.machine.sweep.min_time_s *= change == MIN_TIME ? 2.0 : 1.0;
        f.machine.context.poison = change == POISON;
        f.machine.sweep.cut_s = change == WHOLE ? (double)INFINITY : f.machine.sweep.cut_s;
        f.machine.context.arena = change == ARENA ? PE_ARENAS_LOCAL : PE_ARENAS_GLOBAL;
        assert_int_equal(take_up(&f, false), STATUS_BAD_INPUT);
        char says[64];
        (void)snprintf(says, sizeof says, "its %s is", names[change]);
        assert_non_null(strstr(status_last()->why, says));
        assert_non_null(strstr(status_last()->hint, "--force"));
        assert_int_equal(results_done(&f.results), 0);
        assert_int_equal(take_up(&f, true), STATUS_OK);
        assert_int_equal(f.found.kept, 1);
        fixture_fini(&f);
    }
}

static void write_text(const struct fixture *f, const char *text)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void resume_of_a_damaged_file_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "not json",
        "[]",
        "{}",
        "{\"context\": 3, \"benchmarks\": []}",
        "{\"context\": {}}",
        "{\"context\": {}, \"benchmarks\": {}}",
        "{\"context\": {}, \"benchmarks\": [3]}",
        "{\"context\": {}, \"benchmarks\": [{\"name\": \"x\"}]}",
        "{\"context\": {}, \"benchmarks\": [{\"run_name\": \"x\", \"tiles\": \"many\"}]}",
        "{\"context\": {}, \"benchmarks\": [{\"run_name\": \"x\", \"policy\": 3}]}",
        "{\"context\": {}, \"benchmarks\": [{\"run_name\": \"x\", \"tiles\": -3}]}",
        "{\"context\": {\"ratios\": [{}]}, \"benchmarks\": []}",
        "{\"benchmarks\": [], \"context\": {\"ratios\": [{\"group\": \"g\"}]}}",
        "{\"benchmarks\": [], \"context\": {\"ratios\": {}}}",
        "{\"benchmarks\": [], \"context\": {}, \"context\": {}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct fixture f;
        fixture_init(&f, "--tiles 1 --policy scoped");
        write_text(&f, texts[i]);
        if (take_up(&f, true) != STATUS_BAD_INPUT) {
            fail_msg("taken: %s", texts[i]);
        }
        assert_string_equal(status_last()->what, f.path);
        assert_non_null(strstr(status_last()->why, "not a results file"));
        fixture_fini(&f);
    }
}

static void resume_of_a_file_cut_anywhere_refused(void **state)
{
    struct fixture f;
    char *text = NULL;
    size_t length = 0;
    const struct report report = {.results = &f.results, .context = &f.machine.context};

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped");
    app_measure(&f.results, 0);
    FILE *memory = open_memstream(&text, &length);
    assert_int_equal(write_json(&report, memory), STATUS_OK);
    assert_int_equal(fclose(memory), 0);
    for (size_t cut = 1; cut + 2 < length; cut += 97) {
        char kept = text[cut];
        text[cut] = '\0';
        write_text(&f, text);
        text[cut] = kept;
        results_fini(&f.results);
        assert_int_equal(results_init(&f.results, &f.list, false), STATUS_OK);
        assert_int_equal(take_up(&f, false), STATUS_BAD_INPUT);
    }
    free(text);
    fixture_fini(&f);
}

/* The text of the file, owned. */
static char *read_text(const struct fixture *f)
{
    static char text[1 << 16];
    FILE *file = fopen(f->path, "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

/* Puts `to` in the place of the last `from` of the file. */
static void change_text(const struct fixture *f, const char *from, const char *to)
{
    char *text = read_text(f);
    char *at = NULL;

    for (char *next = strstr(text, from); next != NULL; next = strstr(next + 1, from)) {
        at = next;
    }
    if (at == NULL) {
        fail_msg("%s is not in the file", from);
        return;
    }
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    assert_int_equal(fclose(file), 0);
}

/* A file of two measured cells and a ratio of each, and the run that takes it up. */
static void begin_two(struct fixture *f)
{
    fixture_init(f, "--tiles 1,2 --policy scoped");
    app_measure(&f->results, 0);
    app_measure(&f->results, 1);
    add_control(f, 0);
    add_control(f, 1);
    write_and_restart(f, "--tiles 1,2 --policy scoped");
}

/* The last row of the file, which is S = 2's, gets what no run writes. */
static void resume_of_one_nonsense_value_refuses_the_file_and_takes_nothing(void **state)
{
    static const char *const changes[][2] = {
        {"\"name\": \"attention/cap16/scoped/f16/S:2_cv\"", "\"name\": 7"},
        {"\"name\": \"attention/cap16/scoped/f16/S:2_cv\"", "\"name\": \"x\""},
        {"\"tiles\": 2,", "\"tiles\": -5,"},
        {"\"tiles\": 2,", "\"tiles\": \"2\","},
        {"\"tiles\": 2,", "\"tiles\": true,"},
        {"\"policy\": \"scoped\"", "\"policy\": \"zz\""},
        {"\"dtype\": \"f16\"", "\"dtype\": \"zz\""},
        {"\"time_unit\": \"ms\"", "\"time_unit\": \"zz\""},
        {"\"run_type\": \"aggregate\"", "\"run_type\": \"zz\""},
        {"\"real_time\": 0.7071", "\"real_time\": -1"},
        {"\"real_time\": 3.0", "\"real_time\": 0.0"},
        {"\"cpu_time\": 0.7071", "\"cpu_time\": -0.5"},
        {"\"overflow\": 0", "\"overflow\": 2"},
        {"\"verified\": 1", "\"verified\": 2"},
        {"\"cache_level\": null", "\"cache_level\": 1e18"},
        {"\"planned_peak_bytes\": 86656", "\"planned_peak_bytes\": 1e300"},
        {"\"error_occurred\": false", "\"error_occurred\": 0"},
        {"\"policies\": \"scoped/scoped\"", "\"policies\": \"scoped/zz\""},
        {"\"blocks\": 5", "\"blocks\": -5"},
        {"\"noise_floor\": 0.004", "\"noise_floor\": \"small\""},
        {"\"not_slower\": true", "\"not_slower\": 1"},
        {"\"ratio\": 0.875", "\"ratio\": -1.0"},
        {"\"preset\": \"cap16\",\n      \"group\"", "\"preset\": \"zz\",\n      \"group\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct fixture f;
        begin_two(&f);
        change_text(&f, changes[i][0], changes[i][1]);
        char *before = strdup(read_text(&f));
        if (take_up(&f, false) != STATUS_BAD_INPUT) {
            fail_msg("taken: %s", changes[i][1]);
        }
        assert_non_null(strstr(status_last()->why, "not a results file"));
        assert_int_equal(results_done(&f.results), 0);
        assert_int_equal(f.results.ratio_count, 0);
        assert_int_equal(f.results.extra.count, 0);
        assert_string_equal(read_text(&f), before);
        free(before);
        fixture_fini(&f);
    }
}

static void resume_of_a_row_that_contradicts_its_plan_measures_it_again(void **state)
{
    static const char *const changes[][2] = {
        {"\"tiles\": 2, \"batch\"", "\"tiles\": 99, \"batch\""},
        {"\"policy\": \"scoped\", \"dtype\"", "\"policy\": \"nested\", \"dtype\""},
        {"\"block_n\": 64", "\"block_n\": 0"},
        {"\"seq_kv\": 128", "\"seq_kv\": 64"},
        {"\"causal\": 0", "\"causal\": 1"},
        {"\"overflow\": 0", "\"overflow\": 1"},
        {"\"planned_peak_bytes\": 86656", "\"planned_peak_bytes\": 86784"},
        {"\"planned_peak_bytes\": 86656", "\"planned_peak_bytes\": null"},
        {"\"lower_bound_bytes\": 62080", "\"lower_bound_bytes\": 62081"},
        {"\"cache_level\": null", "\"cache_level\": 3"},
        {"\"pes\": 2", "\"pes\": 1"},
        {"\"kernel\": \"simd\"", "\"kernel\": \"simt\""},
        {"\"items\": 16", "\"items\": 15"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct fixture f;
        begin_two(&f);
        change_text(&f, changes[i][0], changes[i][1]);
        assert_int_equal(take_up(&f, false), STATUS_OK);
        if (f.found.kept != 1 || f.found.differ != 1) {
            fail_msg("%s: %zu kept", changes[i][1], f.found.kept);
        }
        assert_int_equal(pending_of(&f), 1);
        assert_int_equal(f.pending[0], 1);
        fixture_fini(&f);
    }
}

static void resume_of_a_ratio_of_other_tiles_measures_its_group_again(void **state)
{
    struct fixture f;

    (void)state;
    begin_two(&f);
    change_text(&f, "\"tiles\": 2,\n", "\"tiles\": 3,\n");
    assert_int_equal(take_up(&f, false), STATUS_OK);
    assert_int_equal(f.found.kept, 2);
    assert_int_equal(f.results.ratio_count, 1);
    assert_int_equal(pending_of(&f), 1);
    fixture_fini(&f);
}

/* Another version may plan otherwise: a forced file is held to its rows' names alone. */
static void resume_by_force_compares_rows_with_their_names_alone(void **state)
{
    struct fixture f;

    (void)state;
    begin_two(&f);
    change_text(&f, "\"planned_peak_bytes\": 86656", "\"planned_peak_bytes\": 86784");
    assert_int_equal(take_up(&f, true), STATUS_OK);
    assert_int_equal(f.found.kept, 2);
    fixture_fini(&f);
    begin_two(&f);
    change_text(&f, "\"block_n\": 64", "\"block_n\": 32");
    assert_int_equal(take_up(&f, true), STATUS_OK);
    assert_int_equal(f.found.kept, 1);
    fixture_fini(&f);
}

static void resume_of_a_pipe_without_a_writer_refused_at_once(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1 --policy scoped");
    assert_int_equal(unlink(f.path), 0);
    assert_int_equal(mkfifo(f.path, 0600), 0);
    assert_int_equal(take_up(&f, false), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "not a regular file"));
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_without_a_file_starts_afresh),
        cmocka_unit_test(resume_of_a_complete_file_leaves_nothing),
        cmocka_unit_test(resume_reads_rows_as_they_were_written),
        cmocka_unit_test(resume_of_a_cut_sweep_asks_for_the_rest),
        cmocka_unit_test(resume_of_a_group_without_ratios_runs_it_again),
        cmocka_unit_test(resume_of_overflows_alone_needs_no_ratios),
        cmocka_unit_test(resume_measures_a_partly_done_cell_again),
        cmocka_unit_test(resume_keeps_rows_that_are_not_asked_for),
        cmocka_unit_test(resume_of_other_measurements_refused_unless_forced),
        cmocka_unit_test(resume_of_a_damaged_file_refused),
        cmocka_unit_test(resume_of_a_file_cut_anywhere_refused),
        cmocka_unit_test(resume_of_one_nonsense_value_refuses_the_file_and_takes_nothing),
        cmocka_unit_test(resume_of_a_row_that_contradicts_its_plan_measures_it_again),
        cmocka_unit_test(resume_of_a_ratio_of_other_tiles_measures_its_group_again),
        cmocka_unit_test(resume_by_force_compares_rows_with_their_names_alone),
        cmocka_unit_test(resume_of_a_pipe_without_a_writer_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
