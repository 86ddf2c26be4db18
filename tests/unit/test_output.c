/* Files of results: format by name, never torn, untouched until the first row, one error when they
 * cannot be written. */
#include "host/app/output.h"
#include "tests/unit/app_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char folder[32];
    char line[256];
    struct settings settings;
    struct outputs outputs;
    struct cell_list list;
    struct results results;
    struct app_machine machine;
    struct report report;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.folder = "output-XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    app_cells("--tiles 1 --policy scoped", &f->list);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
    app_measure(&f->results, 0);
    app_machine_init(&f->machine);
    f->report = (struct report){.results = &f->results, .context = &f->machine.context};
}

static void remove_file(const struct fixture *f, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name);
    (void)unlink(path);
}

/* The folder must be empty but for these files: no temporary file was left. */
static void fixture_fini(struct fixture *f)
{
    static const char *const names[] = {"a.json", "b.json", "c.csv", "d.md", "e.txt", "link.json"};

    outputs_close(&f->outputs);
    settings_fini(&f->settings);
    results_fini(&f->results);
    cell_list_fini(&f->list);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        remove_file(f, names[i]);
    }
    assert_int_equal(rmdir(f->folder), 0);
    status_clear();
}

/* Opens "--output FOLDER/NAME" for each name, and then the rest of a command line. */
static enum status open_named(struct fixture *f, const char *names, const char *rest)
{
    char words[128];
    size_t used = 0;

    (void)snprintf(words, sizeof words, "%s", names);
    for (char *name = strtok(words, " "); name != NULL; name = strtok(NULL, " ")) {
        used += (size_t)snprintf(f->line + used, sizeof f->line - used, "--output %s/%s ",
                                 f->folder, name);
    }
    (void)snprintf(f->line + used, sizeof f->line - used, "%s", rest);
    outputs_close(&f->outputs);
    settings_fini(&f->settings);
    assert_int_equal(app_parse(COMMAND_SWEEP, f->line, &f->settings), STATUS_OK);
    status_clear();
    return outputs_open(&f->settings, &f->outputs);
}

static void put_file(const struct fixture *f, const char *name, const char *text)
{
    char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static char *file_text(const struct fixture *f, const char *name)
{
    char path[128];
    static char text[1 << 16];

    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

static void open_leaves_files_as_they_are(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    put_file(&f, "a.json", "old");
    assert_int_equal(open_named(&f, "a.json b.json", ""), STATUS_OK);
    assert_string_equal(file_text(&f, "a.json"), "old");
    assert_null(file_text(&f, "b.json"));
    fixture_fini(&f);
}

static void update_writes_each_format_by_its_name(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "a.json c.csv d.md e.txt", ""), STATUS_OK);
    assert_int_equal(outputs_update(&f.outputs, &f.report), STATUS_OK);
    json_t *json = json_loads(file_text(&f, "a.json"), 0, NULL);
    assert_non_null(json);
    json_decref(json);
    assert_memory_equal(file_text(&f, "c.csv"), "name,run_name,", 14);
    assert_non_null(strstr(file_text(&f, "d.md"), "### cap16"));
    assert_non_null(strstr(file_text(&f, "e.txt"), "  S  policy"));
    fixture_fini(&f);
}

static void format_decides_with_one_output_alone(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "a.json", "--format csv"), STATUS_OK);
    assert_int_equal(f.outputs.items[0].format, FORMAT_CSV);
    assert_int_equal(outputs_stdout_format(&f.settings), FORMAT_TABLE);
    assert_int_equal(open_named(&f, "a.json b.json", "--format csv"), STATUS_OK);
    assert_int_equal(f.outputs.items[0].format, FORMAT_JSON);
    assert_int_equal(outputs_stdout_format(&f.settings), FORMAT_CSV);
    assert_int_equal(open_named(&f, "", "--format md"), STATUS_OK);
    assert_int_equal(outputs_stdout_format(&f.settings), FORMAT_MD);
    fixture_fini(&f);
}

static void open_refuses_names_without_a_format(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "results", ""), STATUS_BAD_INPUT);
    assert_int_equal(open_named(&f, "results.xml", ""), STATUS_BAD_INPUT);
    assert_int_equal(open_named(&f, "a.json results", "--format json"), STATUS_BAD_INPUT);
    assert_int_equal(open_named(&f, "results", "--format json"), STATUS_OK);
    fixture_fini(&f);
}

static void open_refuses_the_same_file_twice(void **state)
{
    struct fixture f;
    char path[128];

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "a.json a.json", ""), STATUS_BAD_INPUT);
    put_file(&f, "a.json", "old");
    (void)snprintf(path, sizeof path, "%s/link.json", f.folder);
    assert_int_equal(symlink("a.json", path), 0);
    assert_int_equal(open_named(&f, "a.json link.json", ""), STATUS_BAD_INPUT);
    fixture_fini(&f);
}

static void open_refuses_a_new_file_under_two_names(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "a.json ./a.json", ""), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_last()->why, "twice"));
    assert_int_equal(chdir(f.folder), 0);
    (void)snprintf(f.line, sizeof f.line, "--output a.json --output ../%s/a.json", f.folder);
    assert_int_equal(app_parse(COMMAND_SWEEP, f.line, &f.settings), STATUS_OK);
    assert_int_equal(outputs_open(&f.settings, &f.outputs), STATUS_BAD_INPUT);
    assert_int_equal(chdir(".."), 0);
    status_clear();
    assert_int_equal(open_named(&f, "a.json b.json", ""), STATUS_OK);
    fixture_fini(&f);
}

static void open_refuses_a_link_to_nothing(void **state)
{
    struct fixture f;
    char path[128];

    (void)state;
    fixture_init(&f);
    (void)snprintf(path, sizeof path, "%s/link.json", f.folder);
    assert_int_equal(symlink("a.json", path), 0);
    assert_int_equal(open_named(&f, "link.json", ""), STATUS_IO);
    assert_non_null(strstr(status_last()->why, "link"));
    fixture_fini(&f);
}

static void open_of_a_pipe_without_a_reader_fails_at_once(void **state)
{
    struct fixture f;
    char path[128];

    (void)state;
    fixture_init(&f);
    (void)snprintf(path, sizeof path, "%s/a.json", f.folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(open_named(&f, "a.json", ""), STATUS_IO);
    assert_non_null(strstr(status_last()->why, "no reader"));
    fixture_fini(&f);
}

static void open_of_a_pipe_with_a_reader_waits_in_writing_as_usual(void **state)
{
    struct fixture f;
    char path[128];

    (void)state;
    fixture_init(&f);
    (void)snprintf(path, sizeof path, "%s/a.json", f.folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(open_named(&f, "a.json", ""), STATUS_OK);
    assert_int_equal(fcntl(f.outputs.items[0].stream, F_GETFL) & O_NONBLOCK, 0);
    assert_null(outputs_json_path(&f.outputs));
    (void)close(reader);
    fixture_fini(&f);
}

/* Root may write anything. */
static void open_refuses_a_file_that_may_not_be_written(void **state)
{
    struct fixture f;
    char path[128];

    (void)state;
    if (geteuid() == 0) {
        skip();
    }
    fixture_init(&f);
    put_file(&f, "a.json", "old");
    (void)snprintf(path, sizeof path, "%s/a.json", f.folder);
    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(open_named(&f, "a.json", ""), STATUS_IO);
    fixture_fini(&f);
}

static void open_refuses_what_cannot_be_written(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(open_named(&f, "nowhere/a.json", ""), STATUS_IO);
    assert_non_null(strstr(status_last()->why, "nowhere' does not exist"));
    assert_int_equal(open_named(&f, ".", "--format json"), STATUS_IO);
    assert_true(strlen(status_last()->why) > 0);
    fixture_fini(&f);
}

static void update_follows_a_link_and_keeps_the_mode(void **state)
{
    struct fixture f;
    char path[128];
    struct stat info;

    (void)state;
    fixture_init(&f);
    put_file(&f, "a.json", "old");
    (void)snprintf(path, sizeof path, "%s/a.json", f.folder);
    assert_int_equal(chmod(path, 0640), 0);
    (void)snprintf(path, sizeof path, "%s/link.json", f.folder);
    assert_int_equal(symlink("a.json", path), 0);
    assert_int_equal(open_named(&f, "link.json", ""), STATUS_OK);
    assert_int_equal(outputs_update(&f.outputs, &f.report), STATUS_OK);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(file_text(&f, "a.json")[0], '{');
    fixture_fini(&f);
}

/* A file that may not grow stands for a full disk. */
static void update_on_a_full_disk_keeps_the_old_file(void **state)
{
    struct fixture f;
    struct rlimit old;

    (void)state;
    fixture_init(&f);
    put_file(&f, "a.json", "old");
    assert_int_equal(open_named(&f, "a.json", ""), STATUS_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status = outputs_update(&f.outputs, &f.report);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, STATUS_IO);
    assert_non_null(strstr(status_last()->what, "a.json"));
    assert_string_equal(file_text(&f, "a.json"), "old");
    fixture_fini(&f);
}

static void update_leaves_streams_for_the_end(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(app_parse(COMMAND_SWEEP, "--output /dev/full --format json", &f.settings),
                     STATUS_OK);
    assert_int_equal(outputs_open(&f.settings, &f.outputs), STATUS_OK);
    assert_int_equal(outputs_update(&f.outputs, &f.report), STATUS_OK);
    assert_false(f.outputs.takes_stdout);
    assert_null(outputs_json_path(&f.outputs));
    fixture_fini(&f);
}

static void write_to_a_full_device_fails_with_its_reason(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    status_clear();
    assert_int_equal(output_write(fileno(full), "x", "abc", 3), STATUS_IO);
    assert_non_null(strstr(status_last()->why, "No space left"));
    (void)fclose(full);
    status_clear();
}

static void write_to_a_closed_pipe_is_no_failure(void **state)
{
    int ends[2];

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    assert_int_equal(output_write(ends[1], "x", "abc", 3), STATUS_OK);
    (void)close(ends[1]);
}

static void format_of_a_path_is_its_last_suffix(void **state)
{
    enum format format;

    (void)state;
    assert_true(format_of_path("a.b/c.json", &format));
    assert_int_equal(format, FORMAT_JSON);
    assert_true(format_of_path("x.json.csv", &format));
    assert_int_equal(format, FORMAT_CSV);
    assert_false(format_of_path("json", &format));
    assert_false(format_of_path("a.JSON", &format));
    assert_false(format_of_path("a.json/b", &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_leaves_files_as_they_are),
        cmocka_unit_test(update_writes_each_format_by_its_name),
        cmocka_unit_test(format_decides_with_one_output_alone),
        cmocka_unit_test(open_refuses_names_without_a_format),
        cmocka_unit_test(open_refuses_the_same_file_twice),
        cmocka_unit_test(open_refuses_what_cannot_be_written),
        cmocka_unit_test(update_follows_a_link_and_keeps_the_mode),
        cmocka_unit_test(update_on_a_full_disk_keeps_the_old_file),
        cmocka_unit_test(update_leaves_streams_for_the_end),
        cmocka_unit_test(write_to_a_full_device_fails_with_its_reason),
        cmocka_unit_test(write_to_a_closed_pipe_is_no_failure),
        cmocka_unit_test(format_of_a_path_is_its_last_suffix),
        cmocka_unit_test(open_refuses_a_new_file_under_two_names),
        cmocka_unit_test(open_refuses_a_link_to_nothing),
        cmocka_unit_test(open_of_a_pipe_without_a_reader_fails_at_once),
        cmocka_unit_test(open_of_a_pipe_with_a_reader_waits_in_writing_as_usual),
        cmocka_unit_test(open_refuses_a_file_that_may_not_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
