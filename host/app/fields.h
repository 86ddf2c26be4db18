/* The fields of a result row: one table of (key, kind, where its value comes from) feeds the JSON
 * keys, the CSV columns and their order, and what --resume reads back.
 *
 * Every row has every field; a field that says nothing of its row is VALUE_NONE: null in JSON,
 * empty in CSV. Times are milliseconds. There is never a NaN or an infinity.
 */
#ifndef HOST_APP_FIELDS_H
#define HOST_APP_FIELDS_H

#include "bench/cells.h"
#include "bench/roofline.h"

enum value_kind { VALUE_NONE, VALUE_TEXT, VALUE_COUNT, VALUE_REAL, VALUE_TRUTH };

struct value {
    enum value_kind kind;
    union {
        char *text;   /* owned by the row */
        size_t count; /* */
        double real;  /* finite */
        bool truth;   /* */
    } as;
};

/* In the order of JSON keys and CSV columns. */
enum field_id {
    FIELD_NAME,
    FIELD_RUN_NAME,
    FIELD_RUN_TYPE,
    FIELD_REPETITIONS,
    FIELD_REPETITION_INDEX,
    FIELD_THREADS,
    FIELD_AGGREGATE_NAME,
    FIELD_AGGREGATE_UNIT,
    FIELD_ITERATIONS,
    FIELD_REAL_TIME,
    FIELD_CPU_TIME,
    FIELD_TIME_UNIT,
    FIELD_ERROR_OCCURRED,
    FIELD_ERROR_MESSAGE,
    FIELD_TIME_SOURCE,
    FIELD_EVENT_TIME,
    FIELD_HOST_TIME,
    FIELD_EVENT_HOST_RATIO,
    FIELD_CLOCKS_AGREE,
    FIELD_SPREAD_WIDE,
    FIELD_GFLOPS,
    FIELD_FMA_PEAK_FRACTION,
    FIELD_BANDWIDTH_FRACTION,
    FIELD_ROOFLINE_FRACTION,
    FIELD_PEAK_GFLOPS,
    FIELD_PEAK_GB_PER_S,
    FIELD_PRESET,
    FIELD_POLICY,
    FIELD_DTYPE,
    FIELD_KERNEL,
    FIELD_ARENA,
    FIELD_TILES,
    FIELD_BATCH,
    FIELD_Q_HEADS,
    FIELD_KV_HEADS,
    FIELD_SEQ_Q,
    FIELD_SEQ_KV,
    FIELD_HEAD_DIM,
    FIELD_HEAD_DIM_V,
    FIELD_BLOCK_M,
    FIELD_BLOCK_N,
    FIELD_PARTS,
    FIELD_CAUSAL,
    FIELD_WINDOW_LEFT,
    FIELD_WINDOW_RIGHT,
    FIELD_SOFTCAP,
    FIELD_ALIBI,
    FIELD_SINKS,
    FIELD_MASK,
    FIELD_SCALE,
    FIELD_PES,
    FIELD_POOL_BYTES,
    FIELD_ALIGNMENT_BYTES,
    FIELD_PERSISTENT_BYTES,
    FIELD_TILE_BYTES,
    FIELD_REQUESTED_BYTES,
    FIELD_PADDED_BYTES,
    FIELD_PLANNED_PEAK_BYTES,
    FIELD_MEASURED_PEAK_BYTES,
    FIELD_PLANNED_TOUCHED_LINES,
    FIELD_MEASURED_TOUCHED_LINES,
    FIELD_LOWER_BOUND_BYTES,
    FIELD_PARTS_BYTES,
    FIELD_MEASURED_PARTS_BYTES,
    FIELD_DRAM_READ_BYTES,
    FIELD_DRAM_WRITE_BYTES,
    FIELD_SCRATCH_READ_BYTES,
    FIELD_SCRATCH_WRITE_BYTES,
    FIELD_COPY_BYTES,
    FIELD_CACHE_LEVEL,
    FIELD_GUARDS_INTACT,
    FIELD_OVERFLOW,
    FIELD_OVERFLOW_TILE,
    FIELD_OVERFLOW_NAME,
    FIELD_OVERFLOW_REQUEST_BYTES,
    FIELD_OVERFLOW_FREE_BYTES,
    FIELD_VERIFIED,
    FIELD_MAX_ABS_ERR,
    FIELD_TOLERANCE,
    FIELD_LSE_MAX_ABS_ERR,
    FIELD_LSE_TOLERANCE,
    FIELD_ROWS_CHECKED,
    FIELD_REPEATABLE,
    FIELD_SAME_BITS,
    FIELD_POISON,
    FIELD_POISON_NEUTRAL,
    FIELD_FLOPS,
    FIELD_ITEMS,
    FIELD_TIMED_ITEMS,
};

enum { FIELD_COUNT = FIELD_TIMED_ITEMS + 1 };

/* What a row is made from. */
struct field_source {
    const struct cell *cell;
    const struct cell_result *result;
    const struct cell_run *run;      /* NULL: nothing was timed */
    const struct roofline *roofline; /* NULL: not measured, so no fractions of it */
    double spread;                   /* cv of the cell's repetitions; NaN = none */
};

const char *field_key(enum field_id id);

/* The kind of the field's values that are not VALUE_NONE. */
enum value_kind field_kind(enum field_id id);

/* The id of a key; false (and *out = 0) if there is none. */
bool field_find(const char *key, enum field_id *out) __attribute__((warn_unused_result));

/* The field's value; a text is on the heap, for the caller to free. STATUS_NO_MEMORY. */
enum status field_value(enum field_id id, const struct field_source *source,
                        struct value *out) STATUS_MUST_USE;

#endif
