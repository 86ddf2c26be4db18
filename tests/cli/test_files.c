/* A sweep's files: written as rows finish, kept when interrupted, taken up again, and whole when
 * the disk is full. */
#include "tests/cli/cli_case.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void nap(void)
{
    const struct timespec span = {.tv_nsec = 20 * 1000 * 1000};

    (void)nanosleep(&span, NULL);
}

static size_t cells_in(const json_t *file)
{
    const json_t *rows = json_object_get(file, "benchmarks");
    const char *last = "";
    size_t cells = 0;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(rows, i), "run_name"));
        cells += strcmp(name, last) != 0 ? 1 : 0;
        last = name;
    }
    return cells;
}

/* Waits until the file has rows; false if the program ended before. */
static bool wait_for_rows(const char *folder, const char *name, size_t wanted)
{
    for (size_t i = 0; i < 3000; i++) {
        char *text = cli_file(folder, name);
        if (text != NULL && strcmp(text, "old") != 0) {
            json_t *file = cli_json(text); /* never torn */
            size_t cells = cells_in(file);
            json_decref(file);
            free(text);
            if (cells >= wanted) {
                return true;
            }
        } else {
            free(text);
        }
        nap();
    }
    return false;
}

/* Starts a sweep that lasts, and sends a signal once some rows are there. */
static void interrupt_sweep(const char *folder, int signal_number, int code)
{
    struct cli_run run;
    char line[512];

    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --tiles 1:400 --output %s/a.json",
                   folder);
    const struct cli_start start = {.line = line};
    pid_t child = cli_spawn(&run, &start);
    bool there = wait_for_rows(folder, "a.json", 4);
    assert_int_equal(kill(child, signal_number), 0);
    cli_wait(&run, child);
    assert_true(there);
    assert_int_equal(run.code, code);
    cli_says(run.out, "peak, bytes");
    cli_says(run.out, "rows are missing");
    cli_says(run.err, "scratchscope: interrupted: ");
    cli_says(run.err, " of 1200 rows are kept in ");
    cli_says(run.err, "a.json; the same command with --resume goes on");
    cli_fini(&run);
}

static void interrupted_sweep_keeps_its_rows(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    char folder[CLI_PATH_BYTES];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        cli_folder(folder);
        cli_write_file(folder, "a.json", "old");
        interrupt_sweep(folder, signals[i], 128 + signals[i]);
        char *text = cli_file(folder, "a.json");
        json_t *file = cli_json(text);
        assert_true(cells_in(file) >= 4);
        assert_true(cells_in(file) < 1200);
        json_decref(file);
        free(text);
        cli_remove_folder(folder);
    }
}

/* Until the device is open, a minute at most, and a second longer: then it is at work. */
static void wait_for_work(const struct cli_run *run)
{
    bool there = false;

    for (size_t i = 0; i < 3000 && !there; i++) {
        nap();
        char *text = cli_file(run->folder, "err");
        there = text != NULL && strstr(text, " kernel\n") != NULL;
        free(text);
    }
    assert_true(there);
    for (size_t i = 0; i < 50; i++) {
        nap();
    }
}

static void interrupted_command_without_a_file_says_so(void **state)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"sweep " CLI_SMALL " --tiles 1:400", " of 1200 rows are done\n"},
        {"profile --rounds 10000 --device cpu", "scratchscope: interrupted"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct cli_start start = {.line = cases[i].line};
        struct cli_run run;
        pid_t child = cli_spawn(&run, &start);
        wait_for_work(&run);
        assert_int_equal(kill(child, SIGINT), 0);
        cli_wait(&run, child);
        assert_int_equal(run.code, 130);
        cli_says(run.err, "scratchscope: interrupted");
        cli_says(run.err, cases[i].says);
        cli_fini(&run);
    }
}

/* Row `i` of both files is the same. */
static void check_same_row(const json_t *before, const json_t *after, size_t i)
{
    const json_t *a = json_array_get(json_object_get(before, "benchmarks"), i);
    const json_t *b = json_array_get(json_object_get(after, "benchmarks"), i);

    assert_true(json_equal(a, b));
}

static void resumed_sweep_keeps_rows_and_measures_the_rest(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --tiles 1,2 --output %s/a.json --resume",
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_fini(&run);
    char *before_text = cli_file(folder, "a.json");
    json_t *before = cli_json(before_text);

    (void)snprintf(line, sizeof line,
                   "sweep " CLI_SMALL
                   " --tiles 1,2,3 --output %s/a.json --output %s/a.csv --resume",
                   folder, folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_says(run.err, "6 of 9 rows");
    char *after_text = cli_file(folder, "a.json");
    char *csv = cli_file(folder, "a.csv");
    json_t *after = cli_json(after_text);
    assert_int_equal(cells_in(after), 9);
    for (size_t i = 0; i < 36; i++) {
        check_same_row(before, after, i);
    }
    assert_int_equal(json_array_size(json_object_get(after, "benchmarks")), 54);
    assert_int_equal(json_array_size(json_object_get(json_object_get(after, "context"), "ratios")),
                     12);
    assert_int_equal(cli_count_lines(csv), 55);
    json_decref(before);
    json_decref(after);
    free(before_text);
    free(after_text);
    free(csv);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void resume_of_another_setting_refused_unless_forced(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line,
                   "sweep " CLI_SMALL " --tiles 1 --policy nested --output %s/a.json", folder);
    cli(&run, line);
    cli_fini(&run);
    (void)snprintf(line, sizeof line,
                   "sweep " CLI_SMALL
                   " --tiles 1 --policy nested --output %s/a.json --resume --seed 2",
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "seed");
    cli_says(run.err, "--force");
    cli_fini(&run);
    (void)snprintf(line, sizeof line,
                   "sweep " CLI_SMALL
                   " --tiles 1 --policy nested --output %s/a.json --resume --seed 2 --force",
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_says(run.err, "1 of 1 rows");
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void resume_of_a_damaged_file_is_one_error_and_leaves_it(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    cli_write_file(folder, "a.json", "{\"context\": {");
    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --tiles 1 --output %s/a.json --resume",
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "not a results file");
    char *text = cli_file(folder, "a.json");
    assert_string_equal(text, "{\"context\": {");
    free(text);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void full_device_is_one_error_and_the_table_is_printed(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "sweep " CLI_SMALL " --tiles 1 --policy nested --output /dev/full --format json");
    assert_int_equal(run.code, 2);
    cli_says(run.err, "scratchscope: error: /dev/full: ");
    cli_says(run.err, "No space left");
    cli_says(run.out, "62,080");
    assert_int_equal(cli_count_lines(run.err), 2); /* the device, the error */
    cli_fini(&run);
}

/* A plan, because PoCL writes files of its own in a sweep: a file that may not grow stands for the
 * full disk. */
static void full_disk_keeps_the_old_file_and_prints_the_table(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    cli_write_file(folder, "a.json", "old");
    (void)snprintf(line, sizeof line, "plan --tiles 1,2 --policy nested --output %s/a.json",
                   folder);
    const struct cli_start start = {.line = line, .file_limit = 3000};
    cli_start(&run, &start);
    assert_int_equal(run.code, 2);
    assert_int_equal(cli_count_lines(run.err), 1);
    cli_says(run.err, "a.json: could not be written");
    cli_says(run.out, "62,080");
    char *text = cli_file(folder, "a.json");
    assert_string_equal(text, "old");
    free(text);
    (void)snprintf(line, sizeof line, "%s/a.json", folder);
    assert_int_equal(unlink(line), 0);
    assert_int_equal(rmdir(folder), 0); /* no temporary file was left */
    cli_fini(&run);
}

static void full_stdout_is_an_error(void **state)
{
    struct cli_run run;
    const struct cli_start start = {.line = "plan --tiles 1", .stdout_to = "/dev/full"};

    (void)state;
    cli_start(&run, &start);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "scratchscope: error: stdout: ");
    cli_fini(&run);
}

static void stdout_without_a_reader_is_quiet(void **state)
{
    struct cli_run run;
    const struct cli_start start = {.line = "plan --tiles 1", .stdout_is_closing = true};

    (void)state;
    cli_start(&run, &start);
    assert_int_equal(run.code, 0);
    assert_string_equal(run.err, "");
    cli_fini(&run);
}

static void refused_sweep_leaves_its_old_file(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    cli_write_file(folder, "a.json", "old");
    (void)snprintf(line, sizeof line, "sweep --device no_such_device --output %s/a.json", folder);
    cli(&run, line);
    assert_int_equal(run.code, 2);
    char *text = cli_file(folder, "a.json");
    assert_string_equal(text, "old");
    free(text);
    cli_fini(&run);
    cli_remove_folder(folder);
}

/* Good rows come before the bad one. */
static void resume_of_a_file_with_one_bad_row_leaves_it_as_it_is(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, "sweep " CLI_SMALL " --tiles 1,2 --output %s/a.json --resume",
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_fini(&run);
    char *text = cli_file(folder, "a.json");
    json_t *file = cli_json(text);
    json_t *rows = json_object_get(file, "benchmarks");
    json_t *last = json_array_get(rows, json_array_size(rows) - 1);
    assert_int_equal(json_object_set_new(last, "name", json_integer(7)), 0);
    char *bad = json_dumps(file, 0);
    cli_write_file(folder, "a.json", bad);
    cli(&run, line);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "a row's name has a value of another type");
    assert_string_equal(run.out, "");
    free(text);
    text = cli_file(folder, "a.json");
    assert_string_equal(text, bad);
    free(text);
    free(bad);
    json_decref(file);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void pipe_without_a_reader_is_one_error(void **state)
{
    static const char *const commands[] = {"plan --tiles 1", "sweep --tiles 1 --resume"};
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, "%s/a.json", folder);
    assert_int_equal(mkfifo(line, 0600), 0);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(line, sizeof line, "%s --output %s/a.json", commands[i], folder);
        cli(&run, line);
        assert_int_equal(run.code, 2);
        cli_says(run.err, "no reader");
        assert_int_equal(cli_count_lines(run.err), 1);
        cli_fini(&run);
    }
    cli_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_sweep_keeps_its_rows),
        cmocka_unit_test(interrupted_command_without_a_file_says_so),
        cmocka_unit_test(resumed_sweep_keeps_rows_and_measures_the_rest),
        cmocka_unit_test(resume_of_another_setting_refused_unless_forced),
        cmocka_unit_test(resume_of_a_damaged_file_is_one_error_and_leaves_it),
        cmocka_unit_test(full_device_is_one_error_and_the_table_is_printed),
        cmocka_unit_test(full_disk_keeps_the_old_file_and_prints_the_table),
        cmocka_unit_test(full_stdout_is_an_error),
        cmocka_unit_test(stdout_without_a_reader_is_quiet),
        cmocka_unit_test(refused_sweep_leaves_its_old_file),
        cmocka_unit_test(resume_of_a_file_with_one_bad_row_leaves_it_as_it_is),
        cmocka_unit_test(pipe_without_a_reader_is_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
