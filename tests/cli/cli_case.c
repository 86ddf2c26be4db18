#include "tests/cli/cli_case.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGS = 64, LINE_BYTES = 2048 };

static void open_as(int target, const char *path, int flags)
{
    int fd = open(path, flags, 0600);

    if (fd < 0 || dup2(fd, target) < 0) {
        _exit(126);
    }
    (void)close(fd);
}

static void close_reader(int target)
{
    int ends[2];

    if (pipe(ends) != 0 || dup2(ends[1], target) < 0) {
        _exit(126);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void limit_files(size_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};

    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(126);
    }
}

static void split(char *line, char **argv)
{
    size_t count = 1;

    for (char *word = strtok(line, " "); word != NULL && count + 1 < MAX_ARGS;
         word = strtok(NULL, " ")) {
        argv[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    argv[count] = NULL;
}

static void become_program(const struct cli_run *run, const struct cli_start *start)
{
    char path[CLI_PATH_BYTES];
    char line[LINE_BYTES];
    static char program[] = SCRATCHSCOPE_PROGRAM;
    char *argv[MAX_ARGS] = {program};

    (void)snprintf(line, sizeof line, "%s", start->line);
    split(line, argv);
    open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
    (void)snprintf(path, sizeof path, "%s/err", run->folder);
    open_as(STDERR_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC);
    (void)snprintf(path, sizeof path, "%s/out", run->folder);
    open_as(STDOUT_FILENO, start->stdout_to != NULL ? start->stdout_to : path,
            O_WRONLY | O_CREAT | O_TRUNC);
    if (start->stdout_is_closing) {
        close_reader(STDOUT_FILENO);
    }
    if (start->variable != NULL && setenv(start->variable, start->value, 1) != 0) {
        _exit(126);
    }
    if (start->file_limit > 0) {
        limit_files(start->file_limit);
    }
    (void)execv(program, argv);
    _exit(127);
}

pid_t cli_spawn(struct cli_run *run, const struct cli_start *start)
{
    *run = (struct cli_run){.folder = "cli-run-XXXXXX"};
    assert_non_null(mkdtemp(run->folder));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        become_program(run, start);
    }
    return child;
}

void cli_wait(struct cli_run *run, pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    run->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run->out = cli_file(run->folder, "out");
    run->err = cli_file(run->folder, "err");
    assert_non_null(run->err);
    cli_remove_folder(run->folder);
    if (run->code >= 126 && run->code != 130 && run->code != 143) {
        fail_msg("exit code %d: %s", run->code, run->err);
    }
}

void cli_start(struct cli_run *run, const struct cli_start *start)
{
    cli_wait(run, cli_spawn(run, start));
}

void cli(struct cli_run *run, const char *line)
{
    const struct cli_start start = {.line = line};

    cli_start(run, &start);
}

void cli_fini(struct cli_run *run)
{
    free(run->out);
    free(run->err);
}

void cli_folder(char folder[CLI_PATH_BYTES])
{
    (void)snprintf(folder, CLI_PATH_BYTES, "cli-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

void cli_remove_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry = NULL;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        char path[CLI_PATH_BYTES + 256];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(directory);
    assert_int_equal(rmdir(folder), 0);
}

char *cli_file(const char *folder, const char *name)
{
    char path[CLI_PATH_BYTES + 64];
    char *text = NULL;
    size_t length = 0;
    int byte = 0;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    FILE *memory = open_memstream(&text, &length);
    assert_non_null(memory);
    while ((byte = fgetc(file)) != EOF) {
        (void)fputc(byte, memory);
    }
    (void)fclose(file);
    assert_int_equal(fclose(memory), 0);
    return text;
}

void cli_write_file(const char *folder, const char *name, const char *text)
{
    char path[CLI_PATH_BYTES + 64];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void cli_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text);
    }
}

size_t cli_count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++) {
        lines += *text == '\n' ? 1 : 0;
    }
    return lines;
}

json_t *cli_json(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    if (json == NULL) {
        fail_msg("line %d: %s\n%.300s", error.line, error.text, text);
    }
    return json;
}

const json_t *cli_row(const json_t *file, const char *policy, size_t tiles)
{
    const json_t *rows = json_object_get(file, "benchmarks");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *own = json_string_value(json_object_get(row, "policy"));
        if (own != NULL && strcmp(own, policy) == 0 &&
            json_integer_value(json_object_get(row, "tiles")) == (json_int_t)tiles) {
            return row;
        }
    }
    fail_msg("no row %s S:%zu", policy, tiles);
    return NULL;
}

long long cli_integer(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);

    if (!json_is_integer(value)) {
        fail_msg("%s is no integer", key);
    }
    return json_integer_value(value);
}

bool cli_is_null(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);

    if (value == NULL) {
        fail_msg("%s is missing", key);
    }
    return json_is_null(value);
}
