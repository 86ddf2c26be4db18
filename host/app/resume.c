#include "host/app/resume.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Settings are the same if their decimals are: reals are written with 15 digits. */
#define SAME_REAL 1e-12

static enum status damaged(const char *path, const char *why)
{
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, path, "it is not a results file to resume: %s", why);
    status_hint("give --output another name, or leave --resume out to replace the file");
    return status;
}

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

static enum status compare_context(const char *path, const json_t *there, const json_t *here)
{
    static const char *const keys[] = {"schema_version", "tool_version", "commit", "device",
                                       "driver",         "platform",     "pes"};
    static const char *const settings[] = {"repetitions", "min_time_s", "seed", "poison"};
    enum status status = STATUS_OK;

    STATUS_TRY(compare_keys(path, there, here, keys, sizeof keys / sizeof keys[0]));
    STATUS_TRY(compare_keys(path, json_object_get(there, "settings"),
                            json_object_get(here, "settings"), settings,
                            sizeof settings / sizeof settings[0]));
out:
    return status;
}

/* Rows -------------------------------------------------------------------------------------- */

static bool is_number_kind(enum value_kind kind)
{
    return kind == VALUE_COUNT || kind == VALUE_REAL;
}

/* False: the value's type is not the field's. */
static bool read_value(const json_t *json, enum value_kind kind, struct value *out)
{
    *out = (struct value){.kind = VALUE_NONE};
    if (json == NULL || json_is_null(json)) {
        return true;
    }
    if (json_is_string(json) && kind == VALUE_TEXT) {
        out->as.text = strdup(json_string_value(json));
        out->kind = out->as.text != NULL ? VALUE_TEXT : VALUE_NONE;
    } else if (json_is_integer(json) && json_integer_value(json) >= 0 && is_number_kind(kind)) {
        *out = (struct value){VALUE_COUNT, {.count = (size_t)json_integer_value(json)}};
    } else if (json_is_real(json) && is_number_kind(kind)) {
        *out = (struct value){VALUE_REAL, {.real = json_number_value(json)}};
    } else if (json_is_boolean(json) && kind == VALUE_TRUTH) {
        *out = (struct value){VALUE_TRUTH, {.truth = json_is_true(json)}};
    }
    return out->kind != VALUE_NONE;
}

static enum status read_row(const char *path, const json_t *json, struct rows *rows)
{
    enum status status = STATUS_OK;
    struct row *row = NULL;

    if (json_string_value(json_object_get(json, "run_name")) == NULL) {
        return damaged(path, "a row has no run_name");
    }
    STATUS_TRY(rows_add(rows, &row));
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const char *key = field_key((enum field_id)i);
        if (!read_value(json_object_get(json, key), field_kind((enum field_id)i),
                        &row->values[i])) {
            char why[128];
            (void)snprintf(why, sizeof why, "a row's %s has a value of another type", key);
            return damaged(path, why);
        }
    }
out:
    return status;
}

/* As results_find; `last` is where the row before belongs, as rows of a cell are neighbours. */
static size_t find_near(const struct results *results, const char *name, size_t last)
{
    for (size_t i = last; i < results->list->count && i < last + 2; i++) {
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
        return damaged(path, "it has no list of benchmarks");
    }
    for (size_t i = 0; i < json_array_size(benchmarks); i++) {
        const json_t *json = json_array_get(benchmarks, i);
        const char *name = json_string_value(json_object_get(json, "run_name"));
        size_t cell = name != NULL ? find_near(results, name, last) : results->list->count;
        bool known = cell < results->list->count;
        STATUS_TRY(read_row(path, json, known ? &results->of_cell[cell] : &results->extra));
        last = known ? cell : last;
    }
out:
    return status;
}

static double real_or_nan(const json_t *json)
{
    return json_is_number(json) ? json_number_value(json) : (double)NAN;
}

static size_t size_or_0(const json_t *json)
{
    return json_is_integer(json) && json_integer_value(json) > 0 ? (size_t)json_integer_value(json)
                                                                 : 0;
}

/* "scoped/unscoped" */
static bool parse_policies(const char *text, enum policy *numerator, enum policy *denominator)
{
    char first[32];
    const char *slash = text != NULL ? strchr(text, '/') : NULL;

    if (slash == NULL || (size_t)(slash - text) >= sizeof first) {
        return false;
    }
    memcpy(first, text, (size_t)(slash - text));
    first[slash - text] = '\0';
    return policy_parse(first, numerator) && policy_parse(slash + 1, denominator);
}

static enum status read_ratio(const char *path, const json_t *json, struct results *results)
{
    const char *group = json_string_value(json_object_get(json, "group"));
    const char *preset = json_string_value(json_object_get(json, "preset"));
    const json_t *interval = json_object_get(json, "interval");
    struct cell_ratio ratio = {
        .preset = preset_intern(preset != NULL ? preset : ""),
        .tiles = size_or_0(json_object_get(json, "tiles")),
        .ratio = real_or_nan(json_object_get(json, "ratio")),
        .lower = real_or_nan(json_array_get(interval, 0)),
        .upper = real_or_nan(json_array_get(interval, 1)),
        .blocks = size_or_0(json_object_get(json, "blocks")),
        .rounds = size_or_0(json_object_get(json, "rounds")),
        .noise_floor = real_or_nan(json_object_get(json, "noise_floor")),
        .not_slower = json_is_true(json_object_get(json, "not_slower")),
    };

    if (group == NULL || strlen(group) >= sizeof ratio.group ||
        !parse_policies(json_string_value(json_object_get(json, "policies")), &ratio.numerator,
                        &ratio.denominator)) {
        return damaged(path, "a ratio names no group or policies");
    }
    memcpy(ratio.group, group, strlen(group) + 1);
    return results_add_ratio(results, &ratio);
}

static enum status read_ratios(const char *path, const json_t *context, struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *ratios = json_object_get(context, "ratios");

    for (size_t i = 0; i < json_array_size(ratios); i++) {
        STATUS_TRY(read_ratio(path, json_array_get(ratios, i), results));
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

static void drop_incomplete(struct results *results, struct resume *out)
{
    for (size_t i = 0; i < results->list->count; i++) {
        if (is_complete(&results->of_cell[i])) {
            out->kept++;
        } else {
            rows_fini(&results->of_cell[i]);
        }
    }
    out->extra = results->extra.count;
}

static enum status read_file(const char *path, const json_t *file, const struct context *context,
                             bool force, struct results *results)
{
    enum status status = STATUS_OK;
    const json_t *there = json_object_get(file, "context");
    json_t *here = NULL;

    if (!json_is_object(there)) {
        return damaged(path, "it has no context");
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

enum status resume_read(const char *path, const struct context *context, bool force,
                        struct results *results, struct resume *out)
{
    enum status status = STATUS_OK;
    json_error_t error;
    json_t *file = NULL;

    *out = (struct resume){0};
    FILE *stream = fopen(path, "re");
    if (stream == NULL && errno == ENOENT) {
        return STATUS_OK;
    }
    if (stream == NULL) {
        int code = errno;
        return status_record(STATUS_IO, code, NULL, __FILE__, __LINE__, path, "cannot be read: %s",
                             strerror(code));
    }
    file = json_loadf(stream, 0, &error);
    (void)fclose(stream);
    if (file == NULL) {
        char why[JSON_ERROR_TEXT_LENGTH + 64];
        (void)snprintf(why, sizeof why, "line %d: %s", error.line, error.text);
        return damaged(path, why);
    }
    STATUS_TRY(read_file(path, file, context, force, results));
    drop_incomplete(results, out);
out:
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
