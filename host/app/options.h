/* Options of the command line, from one table: it feeds parsing, --help and the error texts.
 *
 * Long options alone, `--name value` or `--name=value`; a name cannot be abbreviated. A value is
 * taken whole or refused. Given twice, the last one counts, except OPTION_TEXTS, which adds up.
 */
#ifndef HOST_APP_OPTIONS_H
#define HOST_APP_OPTIONS_H

#include "host/app/ranges.h"
#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Type of an option, and of the field that it fills. */
enum option_type {
    OPTION_FLAG,    /* bool */
    OPTION_COUNT,   /* size_t, minimum..maximum; a word of `words` stands for 0 */
    OPTION_COUNTS,  /* struct ranges, each in minimum..maximum */
    OPTION_POOL,    /* struct options_pool: bytes >= minimum, or "grow" */
    OPTION_SECONDS, /* double, > 0, up to the maximum */
    OPTION_FACTOR,  /* double, not 0, at most the maximum in size */
    OPTION_LIMIT,   /* double, finite and > 0 */
    OPTION_WINDOW,  /* struct options_window: L,R, each >= -1 */
    OPTION_BLOCK,   /* struct options_block: MxN, each >= 1, or "auto" */
    OPTION_WORD,    /* size_t: index into words */
    OPTION_WORDS,   /* struct ranges of such indices */
    OPTION_TEXT,    /* const char *, not empty: the argument itself */
    OPTION_TEXTS,   /* struct options_texts, of such */
};

struct options_pool {
    bool grow;    /* what a row needs */
    size_t bytes; /* 0 with grow, or when not given */
};

struct options_window {
    int64_t left;  /* keys before the diagonal; -1 = all */
    int64_t right; /* keys after it; -1 = all */
    bool given;    /* the option was there */
};

struct options_block {
    bool automatic; /* what was tuned */
    size_t rows;    /* 0 = not given, or automatic */
    size_t keys;    /* likewise */
};

enum { OPTIONS_MAX_TEXTS = 16 };

struct options_texts {
    const char *values[OPTIONS_MAX_TEXTS]; /* borrowed from argv */
    size_t count;
};

struct option {
    const char *name; /* without its dashes */
    enum option_type type;
    unsigned commands;    /* bits of the commands that take it */
    size_t offset;        /* of its field in the target */
    const char *words;    /* "auto|simd|simt": OPTION_WORD, OPTION_WORDS, OPTION_COUNT; or NULL */
    size_t minimum;       /* of a count or bytes */
    size_t maximum;       /* of a count, seconds or a factor; 0 = none */
    const char *because;  /* the reason for the maximum, for its error; NULL = none */
    const char *section;  /* heading in --help */
    const char *argument; /* as --help shows it; NULL for a flag */
    const char *standard; /* the default, for --help; NULL = none */
    const char *help;     /* one or more lines' worth of text */
};

struct option_table {
    const struct option *options;
    size_t count;
    const char *const *commands; /* their names, by bit */
};

/* Parses argv[1..argc) for the command of that bit. Fields of options that were not given stay as
 * they are. *help is set, and parsing ends there, at --help. STATUS_BAD_INPUT with the option, the
 * reason and a hint. Lists in *target are the caller's to free in any case. */
enum status options_parse(const struct option_table *table, size_t command, int argc, char **argv,
                          void *target, bool *help) STATUS_MUST_USE;

/* The options that a command takes, by sections, wrapped at 80 columns. */
void options_help(const struct option_table *table, size_t command, FILE *file);

/* Index of `text` among "a|b|c"; false (and *out = 0) if it is not there. */
bool options_word(const char *words, const char *text, size_t *out) STATUS_MUST_USE;

/* The one of `count` names that is nearest to `text` by edits; NULL when nothing is near. */
const char *options_nearest(const char *text, const char *const *names, size_t count);

#endif
