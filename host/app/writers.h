/* Writes results in one of the formats. Nothing is printed but to the given file; whether its
 * bytes arrived is the caller's to see (ferror, fclose). */
#ifndef HOST_APP_WRITERS_H
#define HOST_APP_WRITERS_H

#include "host/app/context.h"
#include "host/app/format.h"

#include <stdio.h>

struct report {
    struct results *results;
    const struct context *context;
    bool utf8; /* of a table: marks beyond ASCII may be used */
};

enum status write_report(const struct report *report, enum format format,
                         FILE *file) STATUS_MUST_USE;

/* The single formats. */
enum status write_json(const struct report *report, FILE *file) STATUS_MUST_USE;
enum status write_csv(const struct report *report, FILE *file) STATUS_MUST_USE;
enum status write_table(const struct report *report, bool markdown, FILE *file) STATUS_MUST_USE;

/* A row as an object of every field's key; a new reference. STATUS_NO_MEMORY. */
enum status write_row_json(const struct row *row, json_t **out) STATUS_MUST_USE;

/* A real as JSON and CSV show it: 15 digits, no locale. */
enum { WRITE_REAL_DIGITS = 15 };

#endif
