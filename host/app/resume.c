#include "host/app/resume.h"

#include "host/app/resume_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Settings are the same if their decimals are: reals are written with 15 digits. */
#define SAME_REAL 1e-12

enum { NEAR_CELLS = 8 }; /* where the next row or ratio of a file is looked for first */

/* Compatibility ----------------------------------------------------------------------------- */

static enum status differs(const char *path, const char *key, const json_t *there,
                           const json_t *here)
{
    char *a = json_dumps(there, JSON_ENCODE_ANY);
    char *b = json_dumps(here, JSON_ENCODE_ANY);
    enum status status = STATUS_FAIL(STATUS_BAD_INPUT, path, "its %s is %s, this run's is %s", key,
                                     a != NULL ? a : "missing", b != NULL ? b : "missing");

    status_hint("--force resumes it all the same; another --output starts afresh");
    free(a);
    free(b);
    return status;
}

static bool same_json(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a);
        double y = json_number_value(b);
        return fabs(x - y) <= SAME_REAL * fmax(fabs(x), fabs(y));
    }
    return a != NULL && b != NULL && json_equal(a, b) != 0;
}

static enum status compare_keys(const char *path, const json_t *there, const json_t *here,
                                const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *a = json_object_get(there, keys[i]);
        const json_t *b = json_object_get(here, keys[i]);
        if (!same_json(a, b)) {
            return differs(path, keys[i], a, b);
        }
    }
    return STATUS_OK;
}

/* Whether threads stay on CPUs, and on which: what was asked for does not tell what came of it. */
static enum status compare_binding(const char *path, const json_t *there, const json_t *here)
{
    static const char *const keys[] = {"pes_bound", "cpus"};
    const json_t *a = json_object_get(there, "binding");
    const json_t *b = json_object_get(here, "binding");

    if (json_is_object(a) || json_is_object(b)) {
        return compare_keys(path, a, b, keys, sizeof keys / sizeof keys[0]);
    }
    return STATUS_OK;
}

static enum status compare_context(const char *path, const json_t *there, const json_t *here)
{
    static const char *const keys[] = {"schema_version", "tool_version", "commit", "device",
                                       "driver",         "platform",     "pes"};
    static const char *const settings[] = {"repetitions", "min_time_s", "seed",
                                           "poison",      "arena",      "whole"};
    enum status status = STATUS_OK;

    STATUS_TRY(compare_keys(path, there, here, keys, sizeof keys / sizeof keys[0]));
    STATUS_TRY(compare_keys(path, json_object_get(there, "settings"),
                            json_object_get(here, "settings"), settings,
                            sizeof settings / sizeof settings[0]));
    STATUS_TRY(compare_binding(path, there, here));
out:
    return status;
}

/* Rows -------------------------------------------------------------------------------------- */

/* As results_find; `last` is where the row before belongs, as rows of a cell are neighbours. */
static size_t find_near(const struct results *results, const char *name, size_t last)
{
    for (size_t i = last; i < results->list->count && i < last + NEAR_CELLS; i++) {
        if (strcmp(results->list->cells[i].name, name) == 0) {
            return i;
        }
    }
    return results_find(results, name);
}

static enum status read_rows(const char *path, const json_t *file, struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *benchmarks = json_object_get(file, "benchmarks");
    size_t last = 0;

    if (!json_is_array(benchmarks)) {
        return resume_damaged(path, "it has no list of benchmarks");
    }
    for (size_t i = 0; i < json_array_size(benchmarks); i++) {
        const json_t *json = json_array_get(benchmarks, i);
        const char *name = json_string_value(json_object_get(json, "run_name"));
        size_t cell = name != NULL ? find_near(results, name, last) : results->list->count;
        bool known = cell < results->list->count;
        STATUS_TRY(resume_read_row(path, json, known ? &results->of_cell[cell] : &results->extra));
        last = known ? cell : last;
    }
out:
    return status;
}

/* Ratios ------------------------------------------------------------------------------------ */

/* A number of 0 or more, or null where there is none (NaN). */
static bool take_real(const json_t *json, double *out)
{
    *out = json_is_number(json) ? json_number_value(json) : (double)NAN;
    return json_is_null(json) || *out >= 0.0;
}

static bool take_size(const json_t *json, size_t *out)
{
    bool taken = json_is_integer(json) && json_integer_value(json) >= 0;

    *out = taken ? (size_t)json_integer_value(json) : 0;
    return taken;
}

/* "scoped/unscoped" */
static bool take_policies(const json_t *json, enum policy *numerator, enum policy *denominator)
{
    char first[32];
    const char *text = json_string_value(json);
    const char *slash = text != NULL ? strchr(text, '/') : NULL;

    if (slash == NULL || (size_t)(slash - text) >= sizeof first) {
        return false;
    }
    memcpy(first, text, (size_t)(slash - text));
    first[slash - text] = '\0';
    return policy_parse(first, numerator) && policy_parse(slash + 1, denominator);
}

static bool take_names(const json_t *json, struct cell_ratio *out)
{
    const char *group = json_string_value(json_object_get(json, "group"));
    const char *preset = json_string_value(json_object_get(json, "preset"));

    if (group == NULL || preset == NULL || strlen(group) >= sizeof out->group) {
        return false;
    }
    out->preset = preset_intern(preset);
    memcpy(out->group, group, strlen(group) + 1);
    return out->preset[0] != '\0' &&
           take_policies(json_object_get(json, "policies"), &out->numerator, &out->denominator);
}

static bool take_numbers(const json_t *json, struct cell_ratio *out)
{
    const json_t *interval = json_object_get(json, "interval");
    const json_t *not_slower = json_object_get(json, "not_slower");
    const json_t *conclusive = json_object_get(json, "conclusive");

    out->not_slower = json_is_true(not_slower);
    out->conclusive = json_is_true(conclusive);
    return json_is_boolean(not_slower) && json_is_boolean(conclusive) &&
           json_array_size(interval) == 2 && take_real(json_array_get(interval, 0), &out->lower) &&
           take_real(json_array_get(interval, 1), &out->upper) && !(out->lower > out->upper) &&
           take_real(json_object_get(json, "ratio"), &out->ratio) &&
           take_real(json_object_get(json, "noise_floor"), &out->noise_floor) &&
           take_size(json_object_get(json, "tiles"), &out->tiles) &&
           take_size(json_object_get(json, "blocks"), &out->blocks) &&
           take_size(json_object_get(json, "rounds"), &out->rounds);
}

/* Whether the ratio tells of as many tiles as the group walks, where this run has the group. */
static bool ratio_agrees(const struct results *results, const struct cell_ratio *ratio,
                         size_t *last)
{
    char name[CELL_NAME_BYTES + sizeof "attention/unscoped/"];
    size_t head = strlen("attention/") + strlen(ratio->preset);

    if (strncmp(ratio->group, "attention/", strlen("attention/")) != 0 ||
        strlen(ratio->group) <= head) {
        return false;
    }
    (void)snprintf(name, sizeof name, "%.*s/%s%s", (int)head, ratio->group,
                   policy_name(ratio->denominator), ratio->group + head);
    size_t cell = find_near(results, name, *last);
    if (cell == results->list->count) {
        return true;
    }
    *last = cell;
    return problem_tiles(&results->list->cells[cell].problem) == ratio->tiles;
}

/* One that contradicts its group is left out, so that the group is measured again. */
static enum status read_ratios(const char *path, const json_t *context, struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *ratios = json_object_get(context, "ratios");
    size_t last = 0;

    if (ratios != NULL && !json_is_array(ratios)) {
        return resume_damaged(path, "its ratios are no list");
    }
    for (size_t i = 0; i < json_array_size(ratios); i++) {
        const json_t *json = json_array_get(ratios, i);
        struct cell_ratio ratio = {.preset = ""};
        if (!take_names(json, &ratio)) {
            return resume_damaged(path, "a ratio names no group, preset or policies");
        }
        if (!take_numbers(json, &ratio)) {
            return resume_damaged(path, "a ratio has a number that it cannot have");
        }
        if (ratio_agrees(results, &ratio, &last)) {
            STATUS_TRY(results_add_ratio(results, &ratio));
        }
    }
out:
    return status;
}

/* What is done ------------------------------------------------------------------------------ */

/* Whether the rows are all that a run of so many repetitions writes for a cell. */
static bool is_complete(const struct rows *rows)
{
    size_t repetitions = 0;

    if (rows->count == 0) {
        return false;
    }
    if (row_count(&rows->items[0], FIELD_OVERFLOW) != 0 || row_is_wrong(&rows->items[0])) {
        return true;
    }
    for (size_t i = 0; i < rows->count; i++) {
        repetitions += row_is_repetition(&rows->items[i]) ? 1 : 0;
    }
    size_t wanted = row_count(&rows->items[0], FIELD_REPETITIONS);
    bool aggregated = rows_aggregate(rows, "median") != NULL;
    return repetitions == wanted ? wanted == 1 || aggregated : repetitions == 0 && aggregated;
}

/* Rows that are not all there, or contradict the plan of their cell, are forgotten. */
static enum status drop_unusable(const struct context *context, bool force, struct results *results,
                                 struct resume *out)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < results->list->count; i++) {
        struct rows *rows = &results->of_cell[i];
        bool keep = is_complete(rows);
        if (keep) {
            STATUS_TRY(resume_agrees(context, &results->list->cells[i], rows, force, &keep));
            out->differ += keep ? 0 : 1;
        }
        out->kept += keep ? 1 : 0;
        if (!keep) {
            rows_fini(rows);
        }
    }
    out->extra = results->extra.count;
out:
    return status;
}

static enum status read_file(const char *path, const json_t *file, const struct context *context,
                             bool force, struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *there = json_object_get(file, "context");
    json_t *here = NULL;

    if (!json_is_object(there)) {
        return resume_damaged(path, "it has no context");
    }
    STATUS_TRY(context_json(context, results, &here));
    if (!force) {
        STATUS_TRY(compare_context(path, there, here));
    }
    STATUS_TRY(read_rows(path, file, results));
    STATUS_TRY(read_ratios(path, there, results));
out:
    json_decref(here);
    return status;
}

static void forget(struct results *results)
{
    for (size_t i = 0; i < results->list->count; i++) {
        rows_fini(&results->of_cell[i]);
    }
    rows_fini(&results->extra);
    results->ratio_count = 0;
}

static enum status cannot_read(const char *path, int code)
{
    return status_record(STATUS_IO, code, NULL, __FILE__, __LINE__, path, "cannot be read: %s",
                         strerror(code));
}

/* *out stays NULL where there is no such file. A pipe without a writer does not hold it up. */
static enum status open_file(const char *path, FILE **out)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        return errno == ENOENT ? STATUS_OK : cannot_read(path, errno);
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return resume_damaged(path, "it is not a regular file");
    }
    *out = fdopen(fd, "r");
    if (*out == NULL) {
        int code = errno;
        (void)close(fd);
        return cannot_read(path, code);
    }
    return STATUS_OK;
}

static enum status parse_file(const char *path, FILE *stream, json_t **out)
{
    json_error_t error;

    *out = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    if (*out == NULL) {
        char why[JSON_ERROR_TEXT_LENGTH + 64];
        (void)snprintf(why, sizeof why, "line %d: %s", error.line, error.text);
        return resume_damaged(path, why);
    }
    return STATUS_OK;
}

enum status resume_read(const char *path, const struct context *context, bool force,
                        struct results *results, struct resume *out)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    json_t *file = NULL;

    *out = (struct resume){0};
    STATUS_TRY(open_file(path, &stream));
    if (stream == NULL) {
        goto out;
    }
    STATUS_TRY(parse_file(path, stream, &file));
    STATUS_TRY(read_file(path, file, context, force, results));
    (void)context_roofline_read(json_object_get(json_object_get(file, "context"), "roofline"),
                                &out->roofline);
    STATUS_TRY(drop_unusable(context, force, results, out));
out:
    if (status != STATUS_OK) {
        forget(results);
        *out = (struct resume){0};
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    json_decref(file);
    return status;
}

/* One past the last cell of the group that begins at `first`. */
static size_t group_end(const struct cell_list *list, size_t first)
{
    size_t end = first + 1;

    while (end < list->count && list->cells[end].policy != list->cells[first].policy &&
           list->cells[end].problem.seq_kv == list->cells[first].problem.seq_kv &&
           cell_list_same_config(&list->cells[end], &list->cells[first])) {
        end++;
    }
    return end;
}

static bool was_timed(const struct rows *rows)
{
    return rows->count > 0 && rows_typical(rows) != NULL;
}

/* Whether the group has nothing left to do: all rows, and its ratios if any of it was timed. */
static bool group_is_done(const struct results *results, size_t first, size_t end)
{
    char group[CELL_NAME_BYTES];
    bool timed = false;
    bool has_ratio = false;

    cell_list_group(&results->list->cells[first], group);
    for (size_t i = first; i < end; i++) {
        if (results->of_cell[i].count == 0) {
            return false;
        }
        timed = timed || was_timed(&results->of_cell[i]);
    }
    for (size_t i = 0; i < results->ratio_count; i++) {
        has_ratio = has_ratio || strcmp(results->ratios[i].group, group) == 0;
    }
    return !timed || has_ratio;
}

size_t resume_pending(const struct results *results, size_t *pending)
{
    size_t count = 0;

    for (size_t first = 0; first < results->list->count;) {
        size_t end = group_end(results->list, first);
        bool done = group_is_done(results, first, end);
        for (size_t i = first; i < end && !done; i++) {
            pending[count++] = i;
        }
        first = end;
    }
    return count;
}
