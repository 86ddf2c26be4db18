/* Formats of results. */
#ifndef HOST_APP_FORMAT_H
#define HOST_APP_FORMAT_H

#include <stdbool.h>

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_MD };

enum { FORMAT_COUNT = 4 };

#define FORMAT_WORDS "table|json|csv|md"

/* The format that a file's name asks for: .txt, .json, .csv, .md; false (and *out = FORMAT_TABLE)
 * for any other. */
bool format_of_path(const char *path, enum format *out) __attribute__((warn_unused_result));

#endif
