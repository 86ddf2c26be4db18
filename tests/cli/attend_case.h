/* What the tests of attend share: .npy files written and read by hand, and its command line. */
#ifndef TESTS_CLI_ATTEND_CASE_H
#define TESTS_CLI_ATTEND_CASE_H

#include "tests/cli/cli_case.h"

/* Values that attend_get reads at most. */
enum { ATTEND_MAX_VALUES = 1 << 20, ATTEND_LINE_BYTES = 2048 };

/* Writes FOLDER/NAME: `count` values of type "f2", "f4" or "f8" with the shape "2, 3"; the same
 * value everywhere; or values that differ, in [-1, 1), by the first letter of the name. */
void attend_put(const char *folder, const char *name, const char *type, const char *shape,
                size_t count, const double *values);
void attend_put_all(const char *folder, const char *name, const char *type, const char *shape,
                    size_t count, double value);
void attend_put_wave(const char *folder, const char *name, const char *type, const char *shape,
                     size_t count);
void attend_put_bytes(const char *folder, const char *name, const void *bytes, size_t size);

/* q, k and v of the shape of preset cap16 with `tiles` tiles of 64 keys, one head, in f16; and of 2
 * heads, 3 queries, 4 keys, head_dim 8 and 5. */
void attend_put_cap16(const char *folder, size_t tiles);
void attend_put_small(const char *folder, const char *type);

/* Reads an f32 file that the program wrote, whose shape must be "(5, 1)" or the like; the number of
 * values. */
size_t attend_get(const char *folder, const char *name, const char *shape, float *values);

/* Fails the test unless each value is the wanted one, or within the tolerance. */
void attend_has(const float *actual, const double *wanted, size_t count, double tolerance);

size_t attend_count_files(const char *folder);

/* `attend` on q.npy, k.npy, v.npy, o.npy and l.npy of the folder, and then the rest: as a line,
 * run, and run with exit 0 and a right result. */
void attend_line(char line[ATTEND_LINE_BYTES], const char *folder, const char *rest);
void attend_run(struct cli_run *run, const char *folder, const char *rest);
void attend_ok(const char *folder, const char *rest);

/* It must end with exit 2 and one error that names `what` (a file: of the folder) and says `why`,
 * nothing on stdout, and no file more than before. */
void attend_refused(const char *folder, const char *rest, const char *what, const char *why);
void attend_refused_file(const char *folder, const char *rest, const char *name, const char *why);
void attend_refused_line(const char *folder, const char *line, const char *what, const char *why);

#endif
