#include "host/app/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the bytes at a field's place are read. */
enum reading {
    READ_SIZE,         /* size_t; SIZE_MAX = saturated, so not known */
    READ_SIZE_ABOVE_0, /* size_t; 0 = none */
    READ_REACH,        /* int64_t; -1 = none */
    READ_REAL,         /* double; NaN and infinity = none */
    READ_FLAG,         /* bool -> 0 or 1 */
    READ_TEXT,         /* char[], "" = none */
    READ_NS,           /* double: ns -> ms, but a ratio in a cv row; as READ_REAL else */
    READ_BY,           /* the field's own function */
};

enum from { FROM_CELL, FROM_RESULT, FROM_RUN, FROM_NOWHERE };

/* When the field says anything. */
enum when { ALWAYS, WHEN_CHECKED, WHEN_OVERFLOW };

struct field {
    const char *key;
    enum value_kind kind;
    enum reading reading;
    enum from from;
    enum when when;
    size_t offset;
    enum status (*get)(const struct field_source *source, struct value *out);
};

/* Values ------------------------------------------------------------------------------------ */

static enum status set_text(struct value *out, const char *text)
{
    if (text == NULL || text[0] == '\0') {
        return STATUS_OK;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "a result row", "no memory left");
    }
    *out = (struct value){.kind = VALUE_TEXT, .as.text = copy};
    return STATUS_OK;
}

static void set_count(struct value *out, size_t count)
{
    *out = (struct value){.kind = VALUE_COUNT, .as.count = count};
}

static void set_real(struct value *out, double real)
{
    if (isfinite(real)) {
        *out = (struct value){.kind = VALUE_REAL, .as.real = real};
    }
}

static bool is_aggregate(const struct cell_run *run)
{
    return run != NULL && run->type == GBENCH_AGGREGATE;
}

static bool is_cv(const struct cell_run *run)
{
    return is_aggregate(run) && strcmp(run->aggregate_name, "cv") == 0;
}

/* Fields with a function of their own ------------------------------------------------------- */

static enum status get_name(const struct field_source *source, struct value *out)
{
    char name[CELL_NAME_BYTES + 20];
    bool aggregate = is_aggregate(source->run);

    (void)snprintf(name, sizeof name, "%s%s%s", source->cell->name, aggregate ? "_" : "",
                   aggregate ? source->run->aggregate_name : "");
    return set_text(out, name);
}

static enum status get_run_type(const struct field_source *source, struct value *out)
{
    return set_text(out, is_aggregate(source->run) ? "aggregate" : "iteration");
}

static enum status get_repetitions(const struct field_source *source, struct value *out)
{
    set_count(out, source->run != NULL ? source->run->repetitions : 1);
    return STATUS_OK;
}

/* 0 on an aggregate: Google Benchmark's own tools sort rows by this key. */
static enum status get_repetition_index(const struct field_source *source, struct value *out)
{
    set_count(out, source->run != NULL ? source->run->repetition_index : 0);
    return STATUS_OK;
}

static enum status get_threads(const struct field_source *source, struct value *out)
{
    set_count(out, source->run != NULL ? source->run->threads : 1);
    return STATUS_OK;
}

static enum status get_aggregate_unit(const struct field_source *source, struct value *out)
{
    if (!is_aggregate(source->run)) {
        return STATUS_OK;
    }
    return set_text(out, is_cv(source->run) ? "percentage" : "time");
}

static enum status get_iterations(const struct field_source *source, struct value *out)
{
    set_count(out, source->run != NULL ? (size_t)source->run->iterations : 0);
    return STATUS_OK;
}

static bool has_time(const struct field_source *source)
{
    return source->run != NULL && !source->run->failed && isfinite(source->run->real_time_ns);
}

static enum status get_time_unit(const struct field_source *source, struct value *out)
{
    return has_time(source) ? set_text(out, "ms") : STATUS_OK;
}

static enum status get_time_source(const struct field_source *source, struct value *out)
{
    if (!has_time(source)) {
        return STATUS_OK;
    }
    return set_text(out, source->run->time_is_event ? "event" : "host");
}

static enum status get_event_host_ratio(const struct field_source *source, struct value *out)
{
    if (source->result->event_host_ratio > 0.0) {
        set_real(out, source->result->event_host_ratio);
    }
    return STATUS_OK;
}

static enum status get_clocks_agree(const struct field_source *source, struct value *out)
{
    if (source->result->clocks_known) {
        set_count(out, source->result->clocks_agree ? 1 : 0);
    }
    return STATUS_OK;
}

static enum status get_spread_wide(const struct field_source *source, struct value *out)
{
    if (isfinite(source->spread)) {
        set_count(out, cell_spread_is_wide(source->spread) ? 1 : 0);
    }
    return STATUS_OK;
}

static bool is_wrong(const struct cell_result *result)
{
    return result->checked && !result->ok;
}

static enum status get_error_occurred(const struct field_source *source, struct value *out)
{
    const struct cell_run *run = source->run;
    bool failed =
        source->result->overflow || is_wrong(source->result) || (run != NULL && run->failed);

    *out = (struct value){.kind = VALUE_TRUTH, .as.truth = failed};
    return STATUS_OK;
}

/* Why a checked row is wrong: the first of its faults. */
static const char *wrong_text(const struct cell_result *result, char *text, size_t size)
{
    const struct attention_check *check = &result->check;

    if (!check->verdict.verified) {
        (void)snprintf(text, size,
                       "wrong result: error %.3g (tolerance %.3g) at row %zu column %zu, "
                       "LSE error %.3g (tolerance %.3g)",
                       check->verdict.max_abs_err, check->verdict.tolerance,
                       check->verdict.worst_row, check->verdict.worst_column,
                       check->verdict.lse_max_abs_err, check->verdict.lse_tolerance);
    } else if (!check->touch.guards_intact) {
        (void)snprintf(text, size, "the guard of PE %zu was written, at byte %zu",
                       check->touch.damaged_pe, check->touch.damaged_at);
    } else if (!result->agrees && check->parts_touched_bytes != result->parts_bytes) {
        (void)snprintf(text, size, "parts left %zu bytes for the merge, planned %zu bytes",
                       check->parts_touched_bytes, result->parts_bytes);
    } else if (!result->agrees) {
        (void)snprintf(text, size,
                       "measured peak %zu bytes in %zu lines, planned %zu bytes in %zu lines",
                       check->touch.peak_bytes, check->touch.touched_lines,
                       result->footprint.peak_bytes, result->footprint.touched_lines);
    } else if (!check->repeatable) {
        (void)snprintf(text, size, "two runs gave different bits");
    } else if (!result->same_bits) {
        (void)snprintf(text, size, "the output differs from another policy's");
    } else {
        (void)snprintf(text, size, "poison in freed memory changed the result");
    }
    return text;
}

static enum status get_error_message(const struct field_source *source, struct value *out)
{
    char text[CELL_TEXT_BYTES];

    if (source->result->overflow) {
        return set_text(out, source->result->overflow_text);
    }
    if (is_wrong(source->result)) {
        return set_text(out, wrong_text(source->result, text, sizeof text));
    }
    return source->run != NULL && source->run->failed ? set_text(out, source->run->message)
                                                      : STATUS_OK;
}

static enum status get_preset(const struct field_source *source, struct value *out)
{
    return set_text(out, source->cell->preset);
}

static enum status get_policy(const struct field_source *source, struct value *out)
{
    return set_text(out, policy_name(source->cell->policy));
}

static enum status get_dtype(const struct field_source *source, struct value *out)
{
    return set_text(out, dtype_name(source->cell->problem.dtype));
}

static enum status get_kernel(const struct field_source *source, struct value *out)
{
    if (source->cell->any_style) {
        return STATUS_OK;
    }
    return set_text(out, kernel_style_name(source->cell->style));
}

static enum status get_arena(const struct field_source *source, struct value *out)
{
    return set_text(out, pe_arenas_space_name(source->cell->arena));
}

static enum status get_scale(const struct field_source *source, struct value *out)
{
    set_real(out, problem_scale(&source->cell->problem));
    return STATUS_OK;
}

static enum status get_parts(const struct field_source *source, struct value *out)
{
    set_count(out, problem_parts(&source->cell->problem));
    return STATUS_OK;
}

static enum status get_softcap(const struct field_source *source, struct value *out)
{
    if (source->cell->problem.softcap != 0.0) {
        set_real(out, source->cell->problem.softcap);
    }
    return STATUS_OK;
}

/* GFLOP/s over what the machine could do at most. Every fraction is GFLOP/s times a constant of
 * the row, so its aggregates are those of GFLOP/s times the same; a cv has no unit. */
static void set_fraction(const struct field_source *source, double bound_gflops, struct value *out)
{
    double gflops = source->run->gflops;

    if (bound_gflops > 0.0 && isfinite(bound_gflops)) {
        set_real(out, is_cv(source->run) ? gflops : gflops / bound_gflops);
    }
}

/* FLOPs and bytes read of a timed launch are known, and so is what to compare them with. */
static bool has_fractions(const struct field_source *source)
{
    const struct cell_result *result = source->result;

    return source->roofline != NULL && has_time(source) && result->timed_flops > 0.0 &&
           result->timed_read_bytes > 0 && result->timed_read_bytes != SIZE_MAX;
}

static enum status get_fma_peak_fraction(const struct field_source *source, struct value *out)
{
    if (source->roofline != NULL && has_time(source)) {
        set_fraction(source, source->roofline->fma_gflops, out);
    }
    return STATUS_OK;
}

static enum status get_bandwidth_fraction(const struct field_source *source, struct value *out)
{
    if (has_fractions(source)) {
        double flops_per_byte =
            source->result->timed_flops / (double)source->result->timed_read_bytes;
        set_fraction(source, roofline_memory_gb_per_s(source->roofline) * flops_per_byte, out);
    }
    return STATUS_OK;
}

static enum status get_roofline_fraction(const struct field_source *source, struct value *out)
{
    if (has_fractions(source)) {
        set_fraction(source,
                     roofline_bound_gflops(source->roofline, source->result->timed_flops,
                                           (double)source->result->timed_read_bytes),
                     out);
    }
    return STATUS_OK;
}

static enum status get_poison_neutral(const struct field_source *source, struct value *out)
{
    if (source->result->checked && source->cell->poison) {
        set_count(out, source->result->check.poison_neutral ? 1 : 0);
    }
    return STATUS_OK;
}

static enum status get_flops(const struct field_source *source, struct value *out)
{
    double flops = source->result->flops;

    if (flops >= 0.0 && flops < 9007199254740992.0 && flops == floor(flops)) {
        set_count(out, (size_t)flops);
    } else {
        set_real(out, flops);
    }
    return STATUS_OK;
}

/* The table --------------------------------------------------------------------------------- */

#define CELL(key_, kind_, reading_, member_)                                                       \
    {                                                                                              \
        (key_), (kind_), (reading_), FROM_CELL, ALWAYS, offsetof(struct cell, member_), NULL       \
    }
#define RESULT(key_, kind_, reading_, when_, member_)                                              \
    {                                                                                              \
        (key_), (kind_), (reading_), FROM_RESULT, (when_), offsetof(struct cell_result, member_),  \
            NULL                                                                                   \
    }
#define RUN(key_, kind_, reading_, member_)                                                        \
    {                                                                                              \
        (key_), (kind_), (reading_), FROM_RUN, ALWAYS, offsetof(struct cell_run, member_), NULL    \
    }
#define BY(key_, kind_, get_)                                                                      \
    {                                                                                              \
        (key_), (kind_), READ_BY, FROM_NOWHERE, ALWAYS, 0, (get_)                                  \
    }

#define COUNT_OF(key_, member_) CELL(key_, VALUE_COUNT, READ_SIZE, member_)
#define PLANNED(key_, member_) RESULT(key_, VALUE_COUNT, READ_SIZE, ALWAYS, member_)
#define CHECKED(key_, member_) RESULT(key_, VALUE_COUNT, READ_SIZE, WHEN_CHECKED, member_)
#define CHECKED_FLAG(key_, member_) RESULT(key_, VALUE_COUNT, READ_FLAG, WHEN_CHECKED, member_)
#define CHECKED_REAL(key_, member_) RESULT(key_, VALUE_REAL, READ_REAL, WHEN_CHECKED, member_)
#define OVERFLOW_SIZE(key_, member_) RESULT(key_, VALUE_COUNT, READ_SIZE, WHEN_OVERFLOW, member_)

static const struct field fields[FIELD_COUNT] = {
    [FIELD_NAME] = BY("name", VALUE_TEXT, get_name),
    [FIELD_RUN_NAME] = CELL("run_name", VALUE_TEXT, READ_TEXT, name),
    [FIELD_RUN_TYPE] = BY("run_type", VALUE_TEXT, get_run_type),
    [FIELD_REPETITIONS] = BY("repetitions", VALUE_COUNT, get_repetitions),
    [FIELD_REPETITION_INDEX] = BY("repetition_index", VALUE_COUNT, get_repetition_index),
    [FIELD_THREADS] = BY("threads", VALUE_COUNT, get_threads),
    [FIELD_AGGREGATE_NAME] = RUN("aggregate_name", VALUE_TEXT, READ_TEXT, aggregate_name),
    [FIELD_AGGREGATE_UNIT] = BY("aggregate_unit", VALUE_TEXT, get_aggregate_unit),
    [FIELD_ITERATIONS] = BY("iterations", VALUE_COUNT, get_iterations),
    [FIELD_REAL_TIME] = RUN("real_time", VALUE_REAL, READ_NS, real_time_ns),
    [FIELD_CPU_TIME] = RUN("cpu_time", VALUE_REAL, READ_NS, cpu_time_ns),
    [FIELD_TIME_UNIT] = BY("time_unit", VALUE_TEXT, get_time_unit),
    [FIELD_ERROR_OCCURRED] = BY("error_occurred", VALUE_TRUTH, get_error_occurred),
    [FIELD_ERROR_MESSAGE] = BY("error_message", VALUE_TEXT, get_error_message),
    [FIELD_TIME_SOURCE] = BY("time_source", VALUE_TEXT, get_time_source),
    [FIELD_EVENT_TIME] = RUN("event_time", VALUE_REAL, READ_NS, event_time_ns),
    [FIELD_HOST_TIME] = RUN("host_time", VALUE_REAL, READ_NS, host_time_ns),
    [FIELD_EVENT_HOST_RATIO] = BY("event_host_ratio", VALUE_REAL, get_event_host_ratio),
    [FIELD_CLOCKS_AGREE] = BY("clocks_agree", VALUE_COUNT, get_clocks_agree),
    [FIELD_SPREAD_WIDE] = BY("spread_wide", VALUE_COUNT, get_spread_wide),
    [FIELD_GFLOPS] = RUN("gflops", VALUE_REAL, READ_REAL, gflops),
    [FIELD_FMA_PEAK_FRACTION] = BY("fma_peak_fraction", VALUE_REAL, get_fma_peak_fraction),
    [FIELD_BANDWIDTH_FRACTION] = BY("bandwidth_fraction", VALUE_REAL, get_bandwidth_fraction),
    [FIELD_ROOFLINE_FRACTION] = BY("roofline_fraction", VALUE_REAL, get_roofline_fraction),
    [FIELD_PEAK_GFLOPS] = RESULT("peak_gflops", VALUE_REAL, READ_REAL, ALWAYS, peaks.fma_gflops),
    [FIELD_PEAK_GB_PER_S] =
        RESULT("peak_gb_per_s", VALUE_REAL, READ_REAL, ALWAYS, peaks.memory_gb_per_s),
    [FIELD_PRESET] = BY("preset", VALUE_TEXT, get_preset),
    [FIELD_POLICY] = BY("policy", VALUE_TEXT, get_policy),
    [FIELD_DTYPE] = BY("dtype", VALUE_TEXT, get_dtype),
    [FIELD_KERNEL] = BY("kernel", VALUE_TEXT, get_kernel),
    [FIELD_ARENA] = BY("arena", VALUE_TEXT, get_arena),
    [FIELD_TILES] = PLANNED("tiles", tiles),
    [FIELD_BATCH] = COUNT_OF("batch", problem.batch),
    [FIELD_Q_HEADS] = COUNT_OF("q_heads", problem.q_heads),
    [FIELD_KV_HEADS] = COUNT_OF("kv_heads", problem.kv_heads),
    [FIELD_SEQ_Q] = COUNT_OF("seq_q", problem.seq_q),
    [FIELD_SEQ_KV] = COUNT_OF("seq_kv", problem.seq_kv),
    [FIELD_HEAD_DIM] = COUNT_OF("head_dim", problem.head_dim),
    [FIELD_HEAD_DIM_V] = COUNT_OF("head_dim_v", problem.head_dim_v),
    [FIELD_BLOCK_M] = COUNT_OF("block_m", problem.block_m),
    [FIELD_BLOCK_N] = COUNT_OF("block_n", problem.block_n),
    [FIELD_PARTS] = BY("parts", VALUE_COUNT, get_parts),
    [FIELD_CAUSAL] = CELL("causal", VALUE_COUNT, READ_FLAG, problem.causal),
    [FIELD_WINDOW_LEFT] = CELL("window_left", VALUE_COUNT, READ_REACH, problem.window_left),
    [FIELD_WINDOW_RIGHT] = CELL("window_right", VALUE_COUNT, READ_REACH, problem.window_right),
    [FIELD_SOFTCAP] = BY("softcap", VALUE_REAL, get_softcap),
    [FIELD_ALIBI] = CELL("alibi", VALUE_COUNT, READ_FLAG, problem.alibi),
    [FIELD_SINKS] = CELL("sinks", VALUE_COUNT, READ_FLAG, problem.sinks),
    [FIELD_MASK] = CELL("mask", VALUE_COUNT, READ_FLAG, problem.mask),
    [FIELD_SCALE] = BY("scale", VALUE_REAL, get_scale),
    [FIELD_PES] = CELL("pes", VALUE_COUNT, READ_SIZE_ABOVE_0, pes),
    [FIELD_POOL_BYTES] = COUNT_OF("pool_bytes", pool_bytes),
    [FIELD_ALIGNMENT_BYTES] = COUNT_OF("alignment_bytes", alignment),
    [FIELD_PERSISTENT_BYTES] = PLANNED("persistent_bytes", footprint.persistent_bytes),
    [FIELD_TILE_BYTES] = PLANNED("tile_bytes", footprint.tile_bytes),
    [FIELD_REQUESTED_BYTES] = PLANNED("requested_bytes", footprint.requested_bytes),
    [FIELD_PADDED_BYTES] = PLANNED("padded_bytes", footprint.padded_bytes),
    [FIELD_PLANNED_PEAK_BYTES] = PLANNED("planned_peak_bytes", footprint.peak_bytes),
    [FIELD_MEASURED_PEAK_BYTES] = CHECKED("measured_peak_bytes", check.touch.peak_bytes),
    [FIELD_PLANNED_TOUCHED_LINES] = PLANNED("planned_touched_lines", footprint.touched_lines),
    [FIELD_MEASURED_TOUCHED_LINES] = CHECKED("measured_touched_lines", check.touch.touched_lines),
    [FIELD_LOWER_BOUND_BYTES] = PLANNED("lower_bound_bytes", footprint.lower_bound_bytes),
    [FIELD_PARTS_BYTES] = PLANNED("parts_bytes", parts_bytes),
    [FIELD_MEASURED_PARTS_BYTES] = CHECKED("measured_parts_bytes", check.parts_touched_bytes),
    [FIELD_DRAM_READ_BYTES] = PLANNED("dram_read_bytes", traffic.dram_read_bytes),
    [FIELD_DRAM_WRITE_BYTES] = PLANNED("dram_write_bytes", traffic.dram_write_bytes),
    [FIELD_SCRATCH_READ_BYTES] = PLANNED("scratch_read_bytes", traffic.scratch_read_bytes),
    [FIELD_SCRATCH_WRITE_BYTES] = PLANNED("scratch_write_bytes", traffic.scratch_write_bytes),
    [FIELD_COPY_BYTES] = PLANNED("copy_bytes", traffic.copy_bytes),
    [FIELD_CACHE_LEVEL] =
        RESULT("cache_level", VALUE_COUNT, READ_SIZE_ABOVE_0, ALWAYS, cache_level),
    [FIELD_GUARDS_INTACT] = CHECKED_FLAG("guards_intact", check.touch.guards_intact),
    [FIELD_OVERFLOW] = RESULT("overflow", VALUE_COUNT, READ_FLAG, ALWAYS, overflow),
    [FIELD_OVERFLOW_TILE] = OVERFLOW_SIZE("overflow_tile", overflow_tile),
    [FIELD_OVERFLOW_NAME] =
        RESULT("overflow_name", VALUE_TEXT, READ_TEXT, WHEN_OVERFLOW, overflow_name),
    [FIELD_OVERFLOW_REQUEST_BYTES] =
        OVERFLOW_SIZE("overflow_request_bytes", overflow_request_bytes),
    [FIELD_OVERFLOW_FREE_BYTES] = OVERFLOW_SIZE("overflow_free_bytes", overflow_free_bytes),
    [FIELD_VERIFIED] = CHECKED_FLAG("verified", check.verdict.verified),
    [FIELD_MAX_ABS_ERR] = CHECKED_REAL("max_abs_err", check.verdict.max_abs_err),
    [FIELD_TOLERANCE] = CHECKED_REAL("tolerance", check.verdict.tolerance),
    [FIELD_LSE_MAX_ABS_ERR] = CHECKED_REAL("lse_max_abs_err", check.verdict.lse_max_abs_err),
    [FIELD_LSE_TOLERANCE] = CHECKED_REAL("lse_tolerance", check.verdict.lse_tolerance),
    [FIELD_ROWS_CHECKED] = CHECKED("rows_checked", check.verdict.rows_checked),
    [FIELD_REPEATABLE] = CHECKED_FLAG("repeatable", check.repeatable),
    [FIELD_SAME_BITS] = CHECKED_FLAG("same_bits", same_bits),
    [FIELD_POISON] = CELL("poison", VALUE_COUNT, READ_FLAG, poison),
    [FIELD_POISON_NEUTRAL] = BY("poison_neutral", VALUE_COUNT, get_poison_neutral),
    [FIELD_FLOPS] = BY("flops", VALUE_COUNT, get_flops),
    [FIELD_ITEMS] = PLANNED("items", items),
    [FIELD_TIMED_ITEMS] =
        RESULT("timed_items", VALUE_COUNT, READ_SIZE_ABOVE_0, ALWAYS, timed_items),
};

static bool says_something(enum when when, const struct field_source *source)
{
    switch (when) {
    case ALWAYS:
        return true;
    case WHEN_CHECKED:
        return source->result->checked;
    case WHEN_OVERFLOW:
        return source->result->overflow;
    }
    return false;
}

/* The object that holds the field; NULL where the row has none. */
static const char *object_of(enum from from, const struct field_source *source)
{
    switch (from) {
    case FROM_CELL:
        return (const char *)source->cell;
    case FROM_RESULT:
        return (const char *)source->result;
    case FROM_RUN:
        return (const char *)source->run;
    case FROM_NOWHERE:
        return NULL;
    }
    return NULL;
}

static void read_size(const char *at, bool zero_is_none, struct value *out)
{
    size_t size = 0;

    memcpy(&size, at, sizeof size);
    if (size != SIZE_MAX && !(zero_is_none && size == 0)) {
        set_count(out, size);
    }
}

static void read_reach(const char *at, struct value *out)
{
    int64_t reach = 0;

    memcpy(&reach, at, sizeof reach);
    if (reach >= 0) {
        set_count(out, (size_t)reach);
    }
}

static double read_double(const char *at)
{
    double real = 0.0;

    memcpy(&real, at, sizeof real);
    return real;
}

static enum status read_at(const struct field *field, const struct field_source *source,
                           const char *at, struct value *out)
{
    switch (field->reading) {
    case READ_SIZE:
    case READ_SIZE_ABOVE_0:
        read_size(at, field->reading == READ_SIZE_ABOVE_0, out);
        break;
    case READ_REACH:
        read_reach(at, out);
        break;
    case READ_REAL:
        set_real(out, read_double(at));
        break;
    case READ_NS:
        set_real(out, is_cv(source->run) ? read_double(at) : read_double(at) / 1e6);
        break;
    case READ_FLAG:
        set_count(out, *(const bool *)at ? 1 : 0);
        break;
    case READ_TEXT:
        return set_text(out, at);
    case READ_BY:
        break;
    }
    return STATUS_OK;
}

enum status field_value(enum field_id id, const struct field_source *source, struct value *out)
{
    const struct field *field = &fields[id];

    *out = (struct value){.kind = VALUE_NONE};
    if (!says_something(field->when, source)) {
        return STATUS_OK;
    }
    if (field->get != NULL) {
        return field->get(source, out);
    }
    const char *object = object_of(field->from, source);
    bool failed = field->from == FROM_RUN && source->run != NULL && source->run->failed;
    if (object == NULL || failed) {
        return STATUS_OK;
    }
    return read_at(field, source, object + field->offset, out);
}

const char *field_key(enum field_id id)
{
    return fields[id].key;
}

enum value_kind field_kind(enum field_id id)
{
    return fields[id].kind;
}

bool field_find(const char *key, enum field_id *out)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            *out = (enum field_id)i;
            return true;
        }
    }
    *out = FIELD_NAME;
    return false;
}
