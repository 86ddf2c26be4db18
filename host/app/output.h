/* Files that results go to.
 *
 * A regular or new file is written as rows finish, and is never torn: the whole results go to a
 * temporary file beside it, which then takes its name. Anything else (a terminal, a pipe,
 * /dev/full) is opened at the start and written once, at the end.
 */
#ifndef HOST_APP_OUTPUT_H
#define HOST_APP_OUTPUT_H

#include "host/app/settings.h"
#include "host/app/writers.h"

struct output {
    char *path;         /* what the user gave, owned */
    char *target;       /* the regular file's own path, links followed, owned; NULL = a stream */
    int stream;         /* descriptor, open for the one write at the end; -1 for a file */
    enum format format; /* */
    unsigned mode;      /* permissions of the file */
    double wrote_at_s;  /* when the last write ended, monotonic; 0 = never written */
    double write_s;     /* what it took */
};

struct outputs {
    struct output items[OPTIONS_MAX_TEXTS];
    size_t count;
    bool takes_stdout; /* one of them is stdout itself */
};

/* Opens every --output of the settings and shows that it can be written, without changing any
 * regular file. STATUS_BAD_INPUT: no format, the same file twice; STATUS_IO: it cannot be written.
 * On failure *out is empty. */
enum status outputs_open(const struct settings *settings, struct outputs *out) STATUS_MUST_USE;

/* Writes what is there so far to the regular files. A file whose last write took a while waits
 * until twenty times that has passed. STATUS_IO: the first that failed; its file is as it was. */
enum status outputs_update(struct outputs *outputs, const struct report *report) STATUS_MUST_USE;

/* The end: writes everything to all of them, and prints it to stdout in `format` unless one of them
 * is stdout. Goes on after a failure, and returns the first. */
enum status outputs_finish(struct outputs *outputs, const struct report *report,
                           enum format format) STATUS_MUST_USE;

void outputs_close(struct outputs *outputs);

/* The first file in JSON, for --resume; NULL if there is none. */
const char *outputs_json_path(const struct outputs *outputs);

/* The steps of one file, for results that are no report. Open: the path is shown to be writable,
 * and nothing is changed; *out is to be closed in any case. Stage: the bytes go to a new file
 * beside a regular one, whose name goes to `name`; a stream waits for the commit. Commit: that file
 * takes the name of the old one, or the stream gets the bytes. Discard: the new file goes.
 * STATUS_IO. */
enum { OUTPUT_NAME_BYTES = 4096 + 16 };
enum status output_open(const char *path, struct output *out) STATUS_MUST_USE;
enum status output_stage(const struct output *output, const char *bytes, size_t length,
                         char name[OUTPUT_NAME_BYTES]) STATUS_MUST_USE;
enum status output_commit(const struct output *output, const char *bytes, size_t length,
                          const char *name) STATUS_MUST_USE;
void output_discard(const struct output *output, const char *name);
void output_close(struct output *output);

/* A text that is written into a stream, in a form. */
struct output_text {
    enum status (*write)(const void *what, enum format format, FILE *file);
    const void *what;
};

/* The whole text first, so that one write tells whether all of it arrived; then to the output, a
 * regular file whole or not at all, or to stdout. STATUS_IO, STATUS_NO_MEMORY. */
enum status output_put(const struct output *output, struct output_text text) STATUS_MUST_USE;
enum status output_print(enum format format, struct output_text text) STATUS_MUST_USE;

/* The text to every output, and to stdout unless one of them is stdout. Goes on after a failure,
 * and returns the first. */
enum status outputs_put(const struct outputs *outputs, enum format format,
                        struct output_text text) STATUS_MUST_USE;

/* Whether the path is "-" or names what stdout is. */
bool output_is_stdout(const char *path);

/* Writes bytes to a descriptor; `name` is what errors call it. A reader that has gone away (EPIPE,
 * with SIGPIPE ignored) is no failure. STATUS_IO. */
enum status output_write(int fd, const char *name, const char *bytes,
                         size_t length) STATUS_MUST_USE;

/* The format of stdout: the table, unless --format is there for it. */
enum format outputs_stdout_format(const struct settings *settings);

#endif
