#include "host/app/output.h"

#include "host/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Share of a sweep's time that rewriting a large file may take: 1 / 20. */
#define REWRITE_PAUSE 20.0

static double clock_s(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static enum status fail_io(const char *path, const char *what)
{
    int code = errno;

    return status_record(STATUS_IO, code, NULL, __FILE__, __LINE__, path, "%s: %s", what,
                         strerror(code));
}

/* Formats ----------------------------------------------------------------------------------- */

enum format outputs_stdout_format(const struct settings *settings)
{
    return settings->format == FORMAT_COUNT || settings->outputs.count == 1
               ? FORMAT_TABLE
               : (enum format)settings->format;
}

/* "-" and a file that is stdout already get the format of --format, as stdout would. */
static enum status choose_format(const struct settings *settings, const char *path, bool is_stdout,
                                 enum format *out)
{
    bool given = settings->format != FORMAT_COUNT;

    *out = given ? (enum format)settings->format : FORMAT_TABLE;
    if ((given && settings->outputs.count == 1) || is_stdout || format_of_path(path, out)) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--output", "the name '%s' does not tell a format", path);
    status_hint("use a name in .json, .csv, .md or .txt, or with one --output say --format");
    return status;
}

/* Opening ----------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_is_stdout(const char *path)
{
    struct stat own;
    struct stat other;

    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           (fstat(STDOUT_FILENO, &own) == 0 && stat(path, &other) == 0 && same_file(&own, &other));
}

/* Creates the temporary file beside the target; its name goes to `name`. -1 on failure. */
static int open_temporary(const struct output *output, char name[OUTPUT_NAME_BYTES])
{
    struct text text = text_begin(name, OUTPUT_NAME_BYTES);

    text_add(&text, "%s.XXXXXX", output->target);
    if (text.cut) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(name);
    if (fd >= 0) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)fchmod(fd, (mode_t)output->mode);
    }
    return fd;
}

static unsigned new_file_mode(void)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    return 0666U & ~(unsigned)mask;
}

/* Shows that the file could be written, and leaves it as it is. */
static enum status probe(const struct output *output, bool exists)
{
    char name[OUTPUT_NAME_BYTES];

    if (exists && access(output->target, W_OK) != 0) {
        return fail_io(output->path, "cannot be written");
    }
    int fd = open_temporary(output, name);
    if (fd < 0) {
        return fail_io(output->path, "cannot be written: no file can be made beside it");
    }
    (void)close(fd);
    (void)unlink(name);
    return STATUS_OK;
}

/* A pipe that nobody reads must not hold the program up: it is opened without waiting, and waits
 * in writing as usual. */
static enum status open_stream(struct output *output, bool is_stdout)
{
    int fd = is_stdout ? dup(STDOUT_FILENO)
                       : open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return fail_io(output->path,
                       errno == ENXIO ? "cannot be opened: it has no reader" : "cannot be opened");
    }
    int flags = is_stdout ? 0 : fcntl(fd, F_GETFL);
    if (flags < 0 || (!is_stdout && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)) {
        (void)close(fd);
        return fail_io(output->path, "cannot be opened");
    }
    output->stream = fd;
    return STATUS_OK;
}

/* The own path of a file that is not there yet: its folder's, and its name. NULL: a failure is
 * recorded. */
static char *resolve_new(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    char *own = folder != NULL ? realpath(folder, NULL) : NULL;
    size_t size = own != NULL ? strlen(own) + strlen(name) + 2 : 0;
    char *target = own != NULL ? malloc(size) : NULL;

    if (folder != NULL && own == NULL && errno == ENOENT) {
        (void)STATUS_FAIL(STATUS_IO, path, "cannot be written: the folder '%s' does not exist",
                          folder);
    } else if (target == NULL) {
        (void)fail_io(path, "cannot be resolved");
    } else {
        (void)snprintf(target, size, "%s%s%s", own, own[1] == '\0' ? "" : "/", name);
    }
    free(folder);
    free(own);
    return target;
}

static enum status open_new(struct output *output)
{
    struct stat info;

    if (lstat(output->path, &info) == 0 && S_ISLNK(info.st_mode)) {
        enum status status = STATUS_FAIL(STATUS_IO, output->path,
                                         "cannot be written: it is a link to a file that does not "
                                         "exist");
        status_hint("make that file, or remove the link");
        return status;
    }
    output->mode = new_file_mode();
    output->target = resolve_new(output->path);
    return output->target != NULL ? probe(output, false) : STATUS_IO;
}

static enum status open_regular(struct output *output, const struct stat *info)
{
    output->mode = (unsigned)info->st_mode & 07777U;
    output->target = realpath(output->path, NULL);
    if (output->target == NULL) {
        return fail_io(output->path, "cannot be resolved");
    }
    return probe(output, true);
}

static enum status open_path(struct output *output, bool is_stdout)
{
    struct stat info;

    if (is_stdout) {
        return open_stream(output, true);
    }
    if (stat(output->path, &info) != 0) {
        return errno == ENOENT ? open_new(output) : fail_io(output->path, "cannot be written");
    }
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fail_io(output->path, "cannot be written");
    }
    return S_ISREG(info.st_mode) ? open_regular(output, &info) : open_stream(output, false);
}

static enum status open_output(const char *path, bool is_stdout, struct output *out)
{
    *out = (struct output){.path = strdup(path), .stream = -1};
    if (out->path == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, path, "no memory left");
    }
    return open_path(out, is_stdout);
}

enum status output_open(const char *path, struct output *out)
{
    return open_output(path, output_is_stdout(path), out);
}

void output_close(struct output *output)
{
    if (output->stream >= 0) {
        (void)close(output->stream);
    }
    free(output->path);
    free(output->target);
    *output = (struct output){.stream = -1};
}

/* Whether both go to one place: the same name for a file that is yet to be, the same file under
 * two names, or the same device. */
static bool same_place(const struct output *a, const struct output *b)
{
    struct stat one;
    struct stat other;

    if (a->target != NULL && b->target != NULL) {
        return strcmp(a->target, b->target) == 0 ||
               (stat(a->target, &one) == 0 && stat(b->target, &other) == 0 &&
                same_file(&one, &other));
    }
    return a->stream >= 0 && b->stream >= 0 && fstat(a->stream, &one) == 0 &&
           fstat(b->stream, &other) == 0 && same_file(&one, &other);
}

static enum status refuse_twice(const struct outputs *outputs)
{
    const struct output *last = &outputs->items[outputs->count - 1];

    for (size_t i = 0; i + 1 < outputs->count; i++) {
        if (same_place(&outputs->items[i], last)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, "--output", "'%s' and '%s' are one: given twice",
                               outputs->items[i].path, last->path);
        }
    }
    return STATUS_OK;
}

static enum status add_output(const struct settings *settings, const char *path,
                              struct outputs *out)
{
    enum status status = STATUS_OK;
    bool is_stdout = output_is_stdout(path);
    enum format format = FORMAT_TABLE;

    STATUS_TRY(choose_format(settings, path, is_stdout, &format));
    struct output *output = &out->items[out->count++];
    out->takes_stdout = out->takes_stdout || is_stdout;
    STATUS_TRY(open_output(path, is_stdout, output));
    output->format = format;
    STATUS_TRY(refuse_twice(out));
out:
    return status;
}

enum status outputs_open(const struct settings *settings, struct outputs *out)
{
    enum status status = STATUS_OK;

    *out = (struct outputs){.count = 0};
    for (size_t i = 0; i < settings->outputs.count; i++) {
        STATUS_TRY(add_output(settings, settings->outputs.values[i], out));
    }
out:
    if (status != STATUS_OK) {
        outputs_close(out);
    }
    return status;
}

void outputs_close(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        output_close(&outputs->items[i]);
    }
    *outputs = (struct outputs){.count = 0};
}

const char *outputs_json_path(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        if (outputs->items[i].format == FORMAT_JSON && outputs->items[i].target != NULL) {
            return outputs->items[i].target;
        }
    }
    return NULL;
}

/* Writing ----------------------------------------------------------------------------------- */

enum status output_write(int fd, const char *name, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            return errno == EPIPE ? STATUS_OK : fail_io(name, "could not be written");
        }
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return STATUS_OK;
}

static enum status render(struct output_text text, enum format format, char **bytes, size_t *length)
{
    *bytes = NULL;
    *length = 0;
    FILE *file = open_memstream(bytes, length);
    if (file == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory to write them");
    }
    enum status status = text.write(text.what, format, file);
    bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && status == STATUS_OK) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory to write them");
    }
    return status;
}

enum status output_stage(const struct output *output, const char *bytes, size_t length,
                         char name[OUTPUT_NAME_BYTES])
{
    name[0] = '\0';
    if (output->target == NULL) {
        return STATUS_OK;
    }
    int fd = open_temporary(output, name);
    if (fd < 0) {
        name[0] = '\0';
        return fail_io(output->path, "could not be written");
    }
    enum status status = output_write(fd, output->path, bytes, length);
    if (close(fd) != 0 && status == STATUS_OK) {
        status = fail_io(output->path, "could not be written");
    }
    if (status != STATUS_OK) {
        output_discard(output, name);
        name[0] = '\0';
    }
    return status;
}

enum status output_commit(const struct output *output, const char *bytes, size_t length,
                          const char *name)
{
    if (output->target == NULL) {
        return output_write(output->stream, output->path, bytes, length);
    }
    if (rename(name, output->target) != 0) {
        enum status status = fail_io(output->path, "could not be replaced");
        output_discard(output, name);
        return status;
    }
    return STATUS_OK;
}

void output_discard(const struct output *output, const char *name)
{
    if (output->target != NULL && name[0] != '\0') {
        (void)unlink(name);
    }
}

enum status output_put(const struct output *output, struct output_text text)
{
    enum status status = STATUS_OK;
    char name[OUTPUT_NAME_BYTES];
    char *bytes = NULL;
    size_t length = 0;

    STATUS_TRY(render(text, output->format, &bytes, &length));
    STATUS_TRY(output_stage(output, bytes, length, name));
    STATUS_TRY(output_commit(output, bytes, length, name));
out:
    free(bytes);
    return status;
}

enum status output_print(enum format format, struct output_text text)
{
    enum status status = STATUS_OK;
    char *bytes = NULL;
    size_t length = 0;

    STATUS_TRY(render(text, format, &bytes, &length));
    STATUS_TRY(output_write(STDOUT_FILENO, "stdout", bytes, length));
out:
    free(bytes);
    return status;
}

enum status outputs_put(const struct outputs *outputs, enum format format, struct output_text text)
{
    enum status first = STATUS_OK;

    for (size_t i = 0; i < outputs->count; i++) {
        enum status status = output_put(&outputs->items[i], text);
        first = first == STATUS_OK ? status : first;
    }
    if (!outputs->takes_stdout) {
        enum status status = output_print(format, text);
        first = first == STATUS_OK ? status : first;
    }
    return first;
}

static enum status write_rows(const void *what, enum format format, FILE *file)
{
    return write_report(what, format, file);
}

static struct output_text rows_text(const struct report *report)
{
    return (struct output_text){.write = write_rows, .what = report};
}

static enum status write_file(struct output *output, const struct report *report)
{
    double start = clock_s();
    enum status status = output_put(output, rows_text(report));

    output->wrote_at_s = clock_s();
    output->write_s = output->wrote_at_s - start;
    return status;
}

static bool waits(const struct output *output)
{
    return output->wrote_at_s > 0.0 &&
           clock_s() - output->wrote_at_s < REWRITE_PAUSE * output->write_s;
}

enum status outputs_update(struct outputs *outputs, const struct report *report)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < outputs->count; i++) {
        struct output *output = &outputs->items[i];
        if (output->target != NULL && !waits(output)) {
            STATUS_TRY(write_file(output, report));
        }
    }
out:
    return status;
}

enum status outputs_finish(struct outputs *outputs, const struct report *report, enum format format)
{
    return outputs_put(outputs, format, rows_text(report));
}
