/* One line on stderr, where that is a terminal: which cell of how many, what is done with it, the
 * time so far and about how much is left. Elsewhere nothing is written. */
#ifndef HOST_APP_PROGRESS_H
#define HOST_APP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
    bool shown;     /* stderr is a terminal */
    double start_s; /* monotonic */
    size_t columns; /* of the terminal */
};

void progress_begin(struct progress *progress);

/* What the line says. */
struct progress_line {
    size_t index;      /* of the cell, from 0 */
    size_t count;      /* of all cells */
    double share;      /* of all work that is done, 0..1; what is left is guessed from it */
    const char *name;  /* of the cell */
    const char *stage; /* what is done with it */
};

/* Replaces the line. */
void progress_show(const struct progress *progress, const struct progress_line *line);

/* Clears the line. */
void progress_end(const struct progress *progress);

/* Pure: the text of the line, cut to `size` - 1 bytes. */
void progress_text(char *text, size_t size, const struct progress_line *line, double elapsed_s);

#endif
