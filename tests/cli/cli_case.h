/* Runs the real program and collects what it says. */
#ifndef TESTS_CLI_CLI_CASE_H
#define TESTS_CLI_CLI_CASE_H

#include "tests/cmocka.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* A sweep of the smallest kind that still has all parts. */
#define CLI_SMALL "--seq-q 32 --q-heads 1 --min-time 0.001 --repetitions 2 --device cpu"

/* How to start it. All but `line` may be left out. */
struct cli_start {
    const char *line;       /* arguments, split at single spaces; '' stands for an empty one */
    const char *variable;   /* of the environment, to be set to value */
    const char *value;      /* */
    const char *stdout_to;  /* a path in place of the collected stdout */
    size_t file_limit;      /* bytes that a file may have; 0 = none */
    bool stdout_is_closing; /* a pipe that nobody reads */
};

struct cli_run {
    int code;  /* exit code; 128 + signal if it was killed */
    char *out; /* stdout, owned */
    char *err; /* stderr, owned */
    char folder[32];
};

/* Starts the program; cli_wait collects it. */
pid_t cli_spawn(struct cli_run *run, const struct cli_start *start);
void cli_wait(struct cli_run *run, pid_t child);

/* Both, and the usual forms. */
void cli_start(struct cli_run *run, const struct cli_start *start);
void cli(struct cli_run *run, const char *line);
void cli_fini(struct cli_run *run);

/* A fresh folder of this test, and "FOLDER/NAME" in it (in a buffer of the caller's). */
enum { CLI_PATH_BYTES = 128 };
void cli_folder(char folder[CLI_PATH_BYTES]);
void cli_remove_folder(const char *folder);

/* The whole file as text, owned by the caller; NULL if there is none. */
char *cli_file(const char *folder, const char *name);
void cli_write_file(const char *folder, const char *name, const char *text);

/* Fails the test unless `text` holds `part`. */
void cli_says(const char *text, const char *part);
size_t cli_count_lines(const char *text);

/* The JSON of a text, which must be nothing else. */
json_t *cli_json(const char *text);

/* The first row of a cell by the start of its run_name's settings; NULL if there is none. */
const json_t *cli_row(const json_t *file, const char *policy, size_t tiles);

/* An integer of a row; fails the test unless it is one. */
long long cli_integer(const json_t *row, const char *key);
bool cli_is_null(const json_t *row, const char *key);

#endif
