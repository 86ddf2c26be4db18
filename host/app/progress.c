#include "host/app/progress.h"

#include "host/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 512, DEFAULT_COLUMNS = 80 };

static double clock_s(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t terminal_columns(void)
{
    struct winsize size = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return DEFAULT_COLUMNS;
}

void progress_begin(struct progress *progress)
{
    *progress = (struct progress){
        .shown = isatty(STDERR_FILENO) == 1,
        .start_s = clock_s(),
        .columns = DEFAULT_COLUMNS,
    };
    if (progress->shown) {
        progress->columns = terminal_columns();
    }
}

static void add_duration(struct text *text, double seconds)
{
    size_t whole = seconds > 0.0 ? (size_t)(seconds + 0.5) : 0;

    if (whole >= 60) {
        text_add(text, "%zu min %02zu s", whole / 60, whole % 60);
    } else {
        text_add(text, "%zu s", whole);
    }
}

void progress_text(char *text, size_t size, const struct progress_line *line, double elapsed_s)
{
    struct text out = text_begin(text, size);

    text_add(&out, "[%zu/%zu] ", line->index + 1, line->count);
    add_duration(&out, elapsed_s);
    if (line->share > 0.0) {
        text_add(&out, ", about ");
        add_duration(&out, elapsed_s * (1.0 - line->share) / line->share);
        text_add(&out, " left");
    }
    text_add(&out, ": %s %s", line->stage, line->name);
}

void progress_show(const struct progress *progress, const struct progress_line *line)
{
    char text[LINE_BYTES];

    if (!progress->shown) {
        return;
    }
    size_t size = progress->columns < sizeof text ? progress->columns : sizeof text;
    progress_text(text, size, line, clock_s() - progress->start_s);
    (void)fprintf(stderr, "\r\033[K%s", text);
    (void)fflush(stderr);
}

void progress_end(const struct progress *progress)
{
    if (progress->shown) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
}
