#include "host/app/resume_rows.h"

#include "host/app/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reals are written with 15 digits. */
#define SAME_REAL 1e-12

/* 2^64: no size is larger. */
#define MAX_SIZE 18446744073709551616.0

enum { WHY_BYTES = 128, MAX_CACHE_LEVEL = 8 };

enum status resume_damaged(const char *path, const char *why)
{
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, path, "it is not a results file to resume: %s", why);
    status_hint("give --output another name, or leave --resume out to replace the file");
    return status;
}

/* Values ------------------------------------------------------------------------------------ */

/* A size above the largest JSON integer is written as a real; a number of FLOPs may be larger. */
static bool read_size(const json_t *json, enum field_id id, struct value *out)
{
    double real = json_number_value(json);

    if (json_is_integer(json) && json_integer_value(json) >= 0) {
        *out = (struct value){VALUE_COUNT, {.count = (size_t)json_integer_value(json)}};
        return true;
    }
    if (!json_is_real(json) || !(real >= 0.0) || (id != FIELD_FLOPS && real > MAX_SIZE)) {
        return false;
    }
    *out = (struct value){VALUE_REAL, {.real = real}};
    return true;
}

static bool read_real(const json_t *json, enum field_id id, struct value *out)
{
    double real = json_number_value(json);

    *out = (struct value){VALUE_REAL, {.real = real}};
    return json_is_number(json) && (real >= 0.0 || id == FIELD_SCALE);
}

static bool read_text(const json_t *json, struct value *out)
{
    char *text = json_is_string(json) ? strdup(json_string_value(json)) : NULL;

    *out = (struct value){text != NULL ? VALUE_TEXT : VALUE_NONE, {.text = text}};
    return text != NULL;
}

/* False: it is no value of the field. */
static bool read_value(const json_t *json, enum field_id id, struct value *out)
{
    bool taken = true;

    if (json != NULL && !json_is_null(json)) {
        switch (field_kind(id)) {
        case VALUE_TEXT:
            taken = read_text(json, out);
            break;
        case VALUE_COUNT:
            taken = read_size(json, id, out);
            break;
        case VALUE_REAL:
            taken = read_real(json, id, out);
            break;
        case VALUE_TRUTH:
            *out = (struct value){VALUE_TRUTH, {.truth = json_is_true(json)}};
            taken = json_is_boolean(json);
            break;
        case VALUE_NONE:
            break;
        }
    }
    if (!taken) {
        *out = (struct value){.kind = VALUE_NONE};
    }
    return taken;
}

/* Nonsense ---------------------------------------------------------------------------------- */

/* A text field that holds one of a few words, or nothing. */
static bool is_word(const struct row *row, enum field_id id, const char *words)
{
    size_t index = 0;

    return !row_has(row, id) || options_word(words, row_text(row, id), &index);
}

static const char *find_bad_word(const struct row *row)
{
    static const struct {
        enum field_id id;
        const char *words;
    } fields[] = {
        {FIELD_RUN_TYPE, "iteration|aggregate"},
        {FIELD_AGGREGATE_NAME, "mean|median|stddev|cv"},
        {FIELD_TIME_UNIT, "ms"},
        {FIELD_TIME_SOURCE, "event|host"},
        {FIELD_POLICY, "unscoped|scoped|nested"},
        {FIELD_DTYPE, "f32|f16|bf16|f8|i8"},
    };

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!is_word(row, fields[i].id, fields[i].words)) {
            return field_key(fields[i].id);
        }
    }
    return NULL;
}

static const char *find_bad_number(const struct row *row)
{
    static const enum field_id flags[] = {
        FIELD_CAUSAL,         FIELD_ALIBI,      FIELD_SINKS,     FIELD_MASK,
        FIELD_GUARDS_INTACT,  FIELD_OVERFLOW,   FIELD_VERIFIED,  FIELD_POISON,
        FIELD_POISON_NEUTRAL, FIELD_REPEATABLE, FIELD_SAME_BITS, FIELD_CLOCKS_AGREE,
        FIELD_SPREAD_WIDE,
    };
    const bool spread = strcmp(row_text(row, FIELD_RUN_TYPE), "aggregate") == 0;

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (row_has(row, flags[i]) && row_real(row, flags[i]) > 1.0) {
            return field_key(flags[i]);
        }
    }
    if (row_real(row, FIELD_CACHE_LEVEL) > MAX_CACHE_LEVEL) {
        return field_key(FIELD_CACHE_LEVEL);
    }
    /* Only the spread of equal times is 0. */
    if (row_has(row, FIELD_REAL_TIME) && !spread && !(row_real(row, FIELD_REAL_TIME) > 0.0)) {
        return field_key(FIELD_REAL_TIME);
    }
    return NULL;
}

/* The row's name is its run_name, and that of its aggregate. */
static bool is_named_well(const struct row *row)
{
    const char *name = row_text(row, FIELD_NAME);
    const char *run_name = row_text(row, FIELD_RUN_NAME);
    const char *aggregate = row_text(row, FIELD_AGGREGATE_NAME);
    size_t length = strlen(run_name);

    if (!row_has(row, FIELD_NAME) || strncmp(name, run_name, length) != 0) {
        return false;
    }
    name += length;
    return aggregate[0] == '\0' ? name[0] == '\0'
                                : name[0] == '_' && strcmp(name + 1, aggregate) == 0;
}

/* Refuses what no run writes, whatever it was a run of. */
static enum status check_row(const char *path, const struct row *row)
{
    const char *key = find_bad_word(row);

    key = key != NULL ? key : find_bad_number(row);
    if (key != NULL) {
        char why[WHY_BYTES];
        (void)snprintf(why, sizeof why, "a row's %s has a value that it cannot have", key);
        return resume_damaged(path, why);
    }
    return is_named_well(row) ? STATUS_OK
                              : resume_damaged(path, "a row's name is not that of its run");
}

/* A row ------------------------------------------------------------------------------------- */

enum status resume_read_row(const char *path, const json_t *json, struct rows *rows)
{
    enum status status = STATUS_OK;
    struct row *row = NULL;

    if (json_string_value(json_object_get(json, "run_name")) == NULL) {
        return resume_damaged(path, "a row has no run_name");
    }
    STATUS_TRY(rows_add(rows, &row));
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const char *key = field_key((enum field_id)i);
        if (!read_value(json_object_get(json, key), (enum field_id)i, &row->values[i])) {
            char why[WHY_BYTES];
            (void)snprintf(why, sizeof why, "a row's %s has a value of another type", key);
            return resume_damaged(path, why);
        }
    }
    STATUS_TRY(check_row(path, row));
out:
    return status;
}

/* Rows against the plan --------------------------------------------------------------------- */

/* What a row's name says of it, whatever measured it. */
static const enum field_id identity_fields[] = {
    FIELD_PRESET,      FIELD_POLICY,  FIELD_DTYPE,      FIELD_ARENA,        FIELD_TILES,
    FIELD_BATCH,       FIELD_Q_HEADS, FIELD_KV_HEADS,   FIELD_SEQ_Q,        FIELD_SEQ_KV,
    FIELD_HEAD_DIM,    FIELD_BLOCK_M, FIELD_BLOCK_N,    FIELD_HEAD_DIM_V,   FIELD_PARTS,
    FIELD_CAUSAL,      FIELD_ALIBI,   FIELD_SINKS,      FIELD_MASK,         FIELD_SOFTCAP,
    FIELD_WINDOW_LEFT, FIELD_SCALE,   FIELD_POOL_BYTES, FIELD_WINDOW_RIGHT,
};

/* What this version plans for this device. */
static const enum field_id planned_fields[] = {
    FIELD_KERNEL,
    FIELD_PES,
    FIELD_ALIGNMENT_BYTES,
    FIELD_PERSISTENT_BYTES,
    FIELD_TILE_BYTES,
    FIELD_REQUESTED_BYTES,
    FIELD_PADDED_BYTES,
    FIELD_PLANNED_PEAK_BYTES,
    FIELD_PLANNED_TOUCHED_LINES,
    FIELD_LOWER_BOUND_BYTES,
    FIELD_PARTS_BYTES,
    FIELD_DRAM_READ_BYTES,
    FIELD_DRAM_WRITE_BYTES,
    FIELD_SCRATCH_READ_BYTES,
    FIELD_SCRATCH_WRITE_BYTES,
    FIELD_COPY_BYTES,
    FIELD_CACHE_LEVEL,
    FIELD_OVERFLOW,
    FIELD_OVERFLOW_TILE,
    FIELD_OVERFLOW_NAME,
    FIELD_OVERFLOW_REQUEST_BYTES,
    FIELD_OVERFLOW_FREE_BYTES,
    FIELD_POISON,
    FIELD_FLOPS,
    FIELD_ITEMS,
};

static bool same_real(double x, double y)
{
    return fabs(x - y) <= SAME_REAL * fmax(fabs(x), fabs(y));
}

static bool same_fields(const struct row *a, const struct row *b, const enum field_id *ids,
                        size_t count)
{
    bool same = true;

    for (size_t i = 0; i < count && same; i++) {
        same =
            row_has(a, ids[i]) == row_has(b, ids[i]) &&
            strcmp(row_text(a, ids[i]), row_text(b, ids[i])) == 0 &&
            (!isfinite(row_real(a, ids[i])) || same_real(row_real(a, ids[i]), row_real(b, ids[i])));
    }
    return same;
}

static bool same_cell(const struct row *row, const struct row *plan, bool force)
{
    return same_fields(row, plan, identity_fields,
                       sizeof identity_fields / sizeof identity_fields[0]) &&
           (force || same_fields(row, plan, planned_fields,
                                 sizeof planned_fields / sizeof planned_fields[0]));
}

enum status resume_agrees(const struct context *context, const struct cell *planned,
                          const struct rows *rows, bool force, bool *out)
{
    enum status status = STATUS_OK;
    const struct device_info *device = context->device;
    struct cell cell = *planned;
    struct cell_result result;
    struct rows plan = {0};
    const struct rows_source source = {.cell = &cell, .result = &result};

    *out = false;
    STATUS_TRY(cell_plan(&cell, device->max_alloc_bytes, device->base_align_bytes,
                         context->topology, &result));
    STATUS_TRY(rows_add_cell(&plan, &source));
    *out = true;
    for (size_t i = 0; i < rows->count && *out; i++) {
        *out = same_cell(&rows->items[i], &plan.items[0], force);
    }
out:
    rows_fini(&plan);
    return status;
}
