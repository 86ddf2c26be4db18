#include "tests/cli/attend_case.h"

#include "host/base/dtype.h"

#include <dirent.h>
#include <math.h>

enum { HEAD_BYTES = 256 };

/* Files ------------------------------------------------------------------------------------- */

void attend_put_bytes(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[CLI_PATH_BYTES + 64];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_value(FILE *file, const char *type, double value)
{
    float single = (float)value;
    uint16_t half = dtype_f16_from_f32(single);

    if (type[1] == '2') {
        assert_int_equal(fwrite(&half, sizeof half, 1, file), 1);
    } else if (type[1] == '4') {
        assert_int_equal(fwrite(&single, sizeof single, 1, file), 1);
    } else {
        assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    }
}

/* An array of `count` values, value i at i % period; type "f2", "f4" or "f8", shape "2, 3". */
struct array {
    const char *type;
    const char *shape;
    size_t count;
    const double *values;
    size_t period;
};

static void write_array(const char *folder, const char *name, const struct array *array)
{
    char path[CLI_PATH_BYTES + 64];
    char head[HEAD_BYTES];
    int length =
        snprintf(head, sizeof head, "{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }\n",
                 array->type, array->shape);

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\x01\x00", 1, 8, file), 8);
    (void)fputc(length & 0xFF, file);
    (void)fputc(length >> 8, file);
    assert_true(fputs(head, file) >= 0);
    for (size_t i = 0; i < array->count; i++) {
        write_value(file, array->type, array->values[i % array->period]);
    }
    assert_int_equal(fclose(file), 0);
}

void attend_put(const char *folder, const char *name, const char *type, const char *shape,
                size_t count, const double *values)
{
    const struct array array = {type, shape, count, values, count > 0 ? count : 1};

    write_array(folder, name, &array);
}

/* The same value everywhere. */
void attend_put_all(const char *folder, const char *name, const char *type, const char *shape,
                    size_t count, double value)
{
    const struct array array = {type, shape, count, &value, 1};

    write_array(folder, name, &array);
}

/* Reads an f32 file that the program wrote; its shape must be "(5, 1)" or the like. */
size_t attend_get(const char *folder, const char *name, const char *shape, float *values)
{
    char path[CLI_PATH_BYTES + 64];
    unsigned char start[10];
    char head[HEAD_BYTES] = "";
    char wanted[HEAD_BYTES];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(start, 1, sizeof start, file), sizeof start);
    assert_memory_equal(start, "\x93NUMPY\x01\x00", 8);
    size_t length = start[8] + 256U * start[9];
    assert_int_equal((sizeof start + length) % 64, 0);
    assert_true(length < sizeof head);
    assert_int_equal(fread(head, 1, length, file), length);
    (void)snprintf(wanted, sizeof wanted, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
                   shape);
    assert_memory_equal(head, wanted, strlen(wanted));
    size_t count = fread(values, sizeof *values, ATTEND_MAX_VALUES, file);
    assert_true(feof(file) != 0 && ferror(file) == 0);
    (void)fclose(file);
    return count;
}

/* Files in a folder. */
size_t attend_count_files(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry = NULL;
    size_t count = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        count += entry->d_name[0] != '.' ? 1 : 0;
    }
    (void)closedir(directory);
    return count;
}

/* Commands ---------------------------------------------------------------------------------- */

/* The command line on the usual names within the folder, and then the rest. */
void attend_line(char line[ATTEND_LINE_BYTES], const char *folder, const char *rest)
{
    (void)snprintf(line, ATTEND_LINE_BYTES,
                   "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out %s/o.npy --lse %s/l.npy "
                   "--device cpu%s%s",
                   folder, folder, folder, folder, folder, rest[0] != '\0' ? " " : "", rest);
}

void attend_run(struct cli_run *run, const char *folder, const char *rest)
{
    char line[ATTEND_LINE_BYTES];

    attend_line(line, folder, rest);
    cli(run, line);
}

/* It must be done, and checked to be right. */
void attend_ok(const char *folder, const char *rest)
{
    struct cli_run run;

    attend_run(&run, folder, rest);
    if (run.code != 0) {
        fail_msg("%s: exit code %d: %s", rest, run.code, run.err);
    }
    cli_says(run.out, "verdict    ok");
    cli_fini(&run);
}

/* Exit 2 with one error that begins with `what`, nothing on stdout, and no file more than before.
 */
void attend_refused_line(const char *folder, const char *line, const char *what, const char *why)
{
    struct cli_run run;
    char start[CLI_PATH_BYTES + 64];
    size_t files = attend_count_files(folder);

    cli(&run, line);
    if (run.code != 2) {
        fail_msg("%s: exit code %d: %s", line, run.code, run.err);
    }
    assert_string_equal(run.out, "");
    (void)snprintf(start, sizeof start, "scratchscope: error: %s: ", what);
    cli_says(run.err, start);
    cli_says(run.err, why);
    assert_true(cli_count_lines(run.err) <= 2);
    assert_int_equal(attend_count_files(folder), files);
    cli_fini(&run);
}

void attend_refused(const char *folder, const char *rest, const char *what, const char *why)
{
    char line[ATTEND_LINE_BYTES];

    attend_line(line, folder, rest);
    attend_refused_line(folder, line, what, why);
}

/* The file `name` of the folder is what the error names. */
void attend_refused_file(const char *folder, const char *rest, const char *name, const char *why)
{
    char what[CLI_PATH_BYTES + 64];

    (void)snprintf(what, sizeof what, "%s/%s", folder, name);
    attend_refused(folder, rest, what, why);
}

void attend_has(const float *actual, const double *wanted, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        bool same = (double)actual[i] == wanted[i];
        if (!same && !(fabs((double)actual[i] - wanted[i]) <= tolerance)) {
            fail_msg("value %zu is %g, not %g", i, (double)actual[i], wanted[i]);
        }
    }
}

/* Values that differ, in [-1, 1): position i of a tensor with another factor each. */
void attend_put_wave(const char *folder, const char *name, const char *type, const char *shape,
                     size_t count)
{
    enum { PERIOD = 997 };
    static double values[PERIOD];
    const struct array array = {type, shape, count, values, PERIOD};

    for (size_t i = 0; i < PERIOD; i++) {
        values[i] = (double)((i * 577 + (size_t)name[0] * 131) % 512) / 256.0 - 1.0;
    }
    write_array(folder, name, &array);
}

/* The shape of preset cap16 with S tiles of 64 keys, one head. */
void attend_put_cap16(const char *folder, size_t tiles)
{
    char shape[64];

    attend_put_wave(folder, "q.npy", "f2", "128, 128", (size_t)128 * 128);
    (void)snprintf(shape, sizeof shape, "%zu, 128", tiles * 64);
    attend_put_wave(folder, "k.npy", "f2", shape, tiles * 64 * 128);
    attend_put_wave(folder, "v.npy", "f2", shape, tiles * 64 * 128);
}

/* Small tensors of 2 heads, 3 queries, 4 keys. */
void attend_put_small(const char *folder, const char *type)
{
    attend_put_wave(folder, "q.npy", type, "2, 3, 8", 48);
    attend_put_wave(folder, "k.npy", type, "2, 4, 8", 64);
    attend_put_wave(folder, "v.npy", type, "2, 4, 5", 40);
}
