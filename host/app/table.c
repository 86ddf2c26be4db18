/* The table that a person reads: for each configuration its rows, with a rule where the pool ends
 * for unscoped allocation, and a summary (summary.c). */
#include "host/app/grid.h"
#include "host/app/summary.h"
#include "host/app/title.h"
#include "host/app/writers.h"

#include "host/base/text.h"
#include "host/base/units.h"

#include <math.h>
#include <string.h>

enum { TEXT_BYTES = GRID_CELL_BYTES };

/* Columns of a sweep's table, and of a plan's. */
enum sweep_column {
    SWEEP_S,
    SWEEP_KEYS,
    SWEEP_POLICY,
    SWEEP_PEAK,
    SWEEP_MEASURED,
    SWEEP_FREE,
    SWEEP_CACHE,
    SWEEP_TIME,
    SWEEP_SPREAD,
    SWEEP_GFLOPS,
    SWEEP_PEAK_SHARE,
    SWEEP_VERDICT,
    SWEEP_COLUMNS,
};

static const struct grid_column sweep_columns[SWEEP_COLUMNS] = {
    [SWEEP_S] = {"S", true},
    [SWEEP_KEYS] = {"keys", true},
    [SWEEP_POLICY] = {"policy", false},
    [SWEEP_PEAK] = {"peak, bytes", true},
    [SWEEP_MEASURED] = {"measured", false},
    [SWEEP_FREE] = {"free", true},
    [SWEEP_CACHE] = {"cache", false},
    [SWEEP_TIME] = {"time", true},
    [SWEEP_SPREAD] = {"spread", true},
    [SWEEP_GFLOPS] = {"GFLOP/s", true},
    [SWEEP_PEAK_SHARE] = {"of peak", true},
    [SWEEP_VERDICT] = {"verdict", false},
};

enum plan_column {
    PLAN_S,
    PLAN_KEYS,
    PLAN_POLICY,
    PLAN_PEAK,
    PLAN_FREE,
    PLAN_BOUND,
    PLAN_TRAFFIC,
    PLAN_COPIED,
    PLAN_NOTE,
    PLAN_COLUMNS,
};

static const struct grid_column plan_columns[PLAN_COLUMNS] = {
    [PLAN_S] = {"S", true},
    [PLAN_KEYS] = {"keys", true},
    [PLAN_POLICY] = {"policy", false},
    [PLAN_PEAK] = {"peak, bytes", true},
    [PLAN_FREE] = {"free", true},
    [PLAN_BOUND] = {"x bound", true},
    [PLAN_TRAFFIC] = {"scratch traffic", true},
    [PLAN_COPIED] = {"copied", true},
    [PLAN_NOTE] = {"fits", false},
};

typedef char cell_text[TEXT_BYTES];

/* How the rows of one configuration are shown. */
struct look {
    bool keys; /* the column of keys is there */
    bool grow; /* the pool is what a row needs */
    bool utf8;
};

/* Cells of a row --------------------------------------------------------------------------- */

static void put(cell_text cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(cell_text cell, const char *format, ...)
{
    va_list args;
    struct text text = text_begin(cell, TEXT_BYTES);

    va_start(args, format);
    text_add_args(&text, format, args);
    va_end(args);
}

static bool overflows(const struct row *row)
{
    return row_count(row, FIELD_OVERFLOW) != 0;
}

/* Under --pool grow the pool is what the row needs, so that nothing is free by definition. */
static void put_free(cell_text cell, const struct row *row, bool grow)
{
    double pool = row_real(row, FIELD_POOL_BYTES);
    double peak = row_real(row, FIELD_PLANNED_PEAK_BYTES);

    if (overflows(row) || grow || !(pool > 0.0)) {
        put(cell, "-");
    } else {
        put(cell, "%.1f %%", 100.0 * (pool - peak) / pool);
    }
}

static void put_bytes(cell_text cell, const struct row *row, enum field_id id)
{
    char text[UNITS_TEXT_BYTES];

    put(cell, "%s", row_has(row, id) ? units_format_bytes(row_count(row, id), text) : "-");
}

static void put_peak(cell_text cell, const struct row *row)
{
    char text[UNITS_TEXT_BYTES];

    put(cell, "%s", units_format_count(row_count(row, FIELD_PLANNED_PEAK_BYTES), text));
}

static void put_measured(cell_text cell, const struct row *row, bool utf8)
{
    char text[UNITS_TEXT_BYTES];
    size_t measured = row_count(row, FIELD_MEASURED_PEAK_BYTES);

    if (!row_has(row, FIELD_MEASURED_PEAK_BYTES)) {
        put(cell, "-");
    } else if (row_agrees(row)) {
        put(cell, "%s", utf8 ? "\xE2\x9C\x93 same" : "same");
    } else if (measured != row_count(row, FIELD_PLANNED_PEAK_BYTES)) {
        put(cell, "%s %s", utf8 ? "\xE2\x9C\x97" : "!", units_format_count(measured, text));
    } else if (row_count(row, FIELD_GUARDS_INTACT) == 0) {
        put(cell, "%s guard hit", utf8 ? "\xE2\x9C\x97" : "!");
    } else if (row_count(row, FIELD_MEASURED_PARTS_BYTES) != row_count(row, FIELD_PARTS_BYTES)) {
        put(cell, "%s parts %s", utf8 ? "\xE2\x9C\x97" : "!",
            units_format_count(row_count(row, FIELD_MEASURED_PARTS_BYTES), text));
    } else {
        put(cell, "%s %zu of %zu lines", utf8 ? "\xE2\x9C\x97" : "!",
            row_count(row, FIELD_MEASURED_TOUCHED_LINES),
            row_count(row, FIELD_PLANNED_TOUCHED_LINES));
    }
}

static void put_cache(cell_text cell, const struct row *row)
{
    if (row_has(row, FIELD_CACHE_LEVEL) && !overflows(row)) {
        put(cell, "L%zu", row_count(row, FIELD_CACHE_LEVEL));
    } else {
        put(cell, "-");
    }
}

static void put_times(cell_text *cells, const struct rows *rows)
{
    char text[UNITS_TEXT_BYTES];
    const struct row *typical = rows_typical(rows);
    const struct row *cv = rows_aggregate(rows, "cv");

    put(cells[SWEEP_TIME], "-");
    put(cells[SWEEP_SPREAD], "-");
    put(cells[SWEEP_GFLOPS], "-");
    put(cells[SWEEP_PEAK_SHARE], "-");
    if (typical == NULL) {
        return;
    }
    put(cells[SWEEP_TIME], "%s", units_format_ns(row_real(typical, FIELD_REAL_TIME) * 1e6, text));
    if (row_has(typical, FIELD_GFLOPS)) {
        put(cells[SWEEP_GFLOPS], "%.1f", row_real(typical, FIELD_GFLOPS));
    }
    if (row_has(typical, FIELD_ROOFLINE_FRACTION)) {
        put(cells[SWEEP_PEAK_SHARE], "%.1f %%", 100.0 * row_real(typical, FIELD_ROOFLINE_FRACTION));
    }
    if (cv != NULL && row_has(cv, FIELD_REAL_TIME)) {
        put(cells[SWEEP_SPREAD], "%s%.1f %%", row_count(cv, FIELD_SPREAD_WIDE) != 0 ? "wide " : "",
            100.0 * row_real(cv, FIELD_REAL_TIME));
    }
}

/* "v of tile 17 asks 16,384 B, 5,504 free". */
static void put_overflow(cell_text cell, const struct row *row)
{
    char request[UNITS_TEXT_BYTES];
    char left[UNITS_TEXT_BYTES];
    size_t tile = row_count(row, FIELD_OVERFLOW_TILE);
    const char *name = row_text(row, FIELD_OVERFLOW_NAME);

    (void)units_format_count(row_count(row, FIELD_OVERFLOW_REQUEST_BYTES), request);
    (void)units_format_count(row_count(row, FIELD_OVERFLOW_FREE_BYTES), left);
    if (summary_is_refused(row)) {
        bool local = strcmp(row_text(row, FIELD_ARENA), "local") == 0;
        put(cell, "OVERFLOW: the device %s %s bytes%s, %s are needed", local ? "has" : "allocates",
            left, local ? " of local memory" : " at most", request);
        return;
    }
    if (tile > 0) {
        put(cell, "OVERFLOW: %s of tile %zu asks %s, %s free", name, tile, request, left);
    } else {
        put(cell, "OVERFLOW: %s, persistent, asks %s, %s free", name, request, left);
    }
}

static void put_verdict(cell_text cell, const struct row *row)
{
    struct text text = text_begin(cell, TEXT_BYTES);
    size_t items = row_count(row, FIELD_ITEMS);
    size_t timed = row_count(row, FIELD_TIMED_ITEMS);

    if (overflows(row)) {
        put_overflow(cell, row);
        return;
    }
    if (!row_has(row, FIELD_VERIFIED)) {
        text_add(&text, "not checked");
        return;
    }
    if (row_is_wrong(row)) {
        text_add(&text, "WRONG: %s", row_text(row, FIELD_ERROR_MESSAGE));
        return;
    }
    text_add(&text, "ok, error %.1e < %.1e in %zu rows", row_real(row, FIELD_MAX_ABS_ERR),
             row_real(row, FIELD_TOLERANCE), row_count(row, FIELD_ROWS_CHECKED));
    if (row_text(row, FIELD_ERROR_MESSAGE)[0] != '\0') {
        text_add(&text, "; not timed: %s", row_text(row, FIELD_ERROR_MESSAGE));
    } else if (timed > 0 && timed < items) {
        text_add(&text, "; timed %zu of %zu items", timed, items);
    }
}

/* Adds the cells, without those of the column of keys where it is left out. */
static enum status add_cells(struct grid *grid, cell_text *cells, size_t count, size_t keys_column,
                             const struct look *look)
{
    if (!look->keys) {
        memmove(cells[keys_column], cells[keys_column + 1],
                (count - keys_column - 1) * sizeof *cells);
    }
    return grid_row(grid, cells);
}

static enum status add_sweep_row(struct grid *grid, const struct rows *rows,
                                 const struct look *look)
{
    cell_text cells[SWEEP_COLUMNS];
    const struct row *row = &rows->items[0];

    put(cells[SWEEP_S], "%zu", row_count(row, FIELD_TILES));
    put(cells[SWEEP_KEYS], "%zu", row_count(row, FIELD_SEQ_KV));
    put(cells[SWEEP_POLICY], "%s", row_text(row, FIELD_POLICY));
    put_peak(cells[SWEEP_PEAK], row);
    put_measured(cells[SWEEP_MEASURED], row, look->utf8);
    put_free(cells[SWEEP_FREE], row, look->grow);
    put_cache(cells[SWEEP_CACHE], row);
    put_times(cells, rows);
    put_verdict(cells[SWEEP_VERDICT], row);
    return add_cells(grid, cells, SWEEP_COLUMNS, SWEEP_KEYS, look);
}

static enum status add_plan_row(struct grid *grid, const struct rows *rows, const struct look *look)
{
    cell_text cells[PLAN_COLUMNS];
    const struct row *row = &rows->items[0];
    double bound = row_real(row, FIELD_LOWER_BOUND_BYTES);
    double traffic =
        row_real(row, FIELD_SCRATCH_READ_BYTES) + row_real(row, FIELD_SCRATCH_WRITE_BYTES);
    char text[UNITS_TEXT_BYTES];

    put(cells[PLAN_S], "%zu", row_count(row, FIELD_TILES));
    put(cells[PLAN_KEYS], "%zu", row_count(row, FIELD_SEQ_KV));
    put(cells[PLAN_POLICY], "%s", row_text(row, FIELD_POLICY));
    put_peak(cells[PLAN_PEAK], row);
    put_free(cells[PLAN_FREE], row, look->grow);
    put(cells[PLAN_BOUND], "%.2f", row_real(row, FIELD_PLANNED_PEAK_BYTES) / bound);
    put(cells[PLAN_TRAFFIC], "%s",
        traffic < 9e18 ? units_format_bytes((size_t)traffic, text) : "-");
    put_bytes(cells[PLAN_COPIED], row, FIELD_COPY_BYTES);
    if (overflows(row)) {
        put_overflow(cells[PLAN_NOTE], row);
    } else {
        put(cells[PLAN_NOTE], "yes");
    }
    return add_cells(grid, cells, PLAN_COLUMNS, PLAN_KEYS, look);
}

/* Configurations ---------------------------------------------------------------------------- */

/* One past the last cell of the configuration that begins at `first`. */
static size_t config_end(const struct cell_list *list, size_t first)
{
    size_t end = first;

    while (end < list->count && cell_list_same_config(&list->cells[first], &list->cells[end])) {
        end++;
    }
    return end;
}

static void write_split(const struct cell *cell, const struct row *row, FILE *file)
{
    char bytes[UNITS_TEXT_BYTES];
    size_t parts = problem_parts(&cell->problem);

    if (parts > 1) {
        title_count(", parts ", parts, file);
        (void)fprintf(file, " (their states take %s beside the arenas)",
                      units_format_bytes(row_count(row, FIELD_PARTS_BYTES), bytes));
    }
}

static void write_title(const struct cell *cell, const struct row *row, bool markdown, FILE *file)
{
    char pool[UNITS_TEXT_BYTES];

    (void)fputs(markdown ? "### " : "", file);
    title_shape(cell, true, file);
    title_mask(&cell->problem, file);
    write_split(cell, row, file);
    (void)fprintf(file, ", pool %s",
                  cell->pool_grow ? "as needed" : units_format_bytes(cell->pool_bytes, pool));
    if (row_has(row, FIELD_PES)) {
        size_t pes = row_count(row, FIELD_PES);
        title_count(" x ", pes, file);
        (void)fprintf(file, " PE%s", pes == 1 ? "" : "s");
    }
    if (cell->arena == PE_ARENAS_LOCAL) {
        (void)fputs(" in local memory", file);
    }
    if (row_has(row, FIELD_KERNEL)) {
        (void)fprintf(file, ", %s kernel", row_text(row, FIELD_KERNEL));
    }
    (void)fputs(markdown ? "\n\n" : "\n", file);
}

/* Whether the rule belongs before row i: unscoped fitted before and does not fit here. */
struct cap {
    bool fitted; /* an unscoped row that fits was seen */
    bool drawn;  /* the rule stands */
};

static bool cap_is_here(struct cap *cap, const struct row *row)
{
    if (cap->drawn || strcmp(row_text(row, FIELD_POLICY), "unscoped") != 0) {
        return false;
    }
    if (!overflows(row)) {
        cap->fitted = true;
        return false;
    }
    if (summary_is_refused(row)) { /* by the device, whatever the pool */
        return false;
    }
    cap->drawn = cap->fitted;
    return cap->fitted;
}

/* Whether an unscoped row of the same S as cell i, or of i itself, is where the cap is. The rule
 * stands before the whole group, whatever policy comes first in it. */
static bool group_hits_cap(const struct results *results, size_t i, size_t end, struct cap *cap)
{
    const struct cell *cell = &results->list->cells[i];
    bool hit = false;

    for (size_t j = i; j < end; j++) {
        const struct cell *other = &results->list->cells[j];
        if (other->problem.seq_kv != cell->problem.seq_kv) {
            break;
        }
        if (results->of_cell[j].count > 0) {
            hit = cap_is_here(cap, &results->of_cell[j].items[0]) || hit;
        }
    }
    return hit;
}

static enum status add_cap_rule(struct grid *grid, const struct results *results, size_t first)
{
    char label[TEXT_BYTES];
    char pool[UNITS_TEXT_BYTES];

    put(label, "the cap: unscoped needs more than the pool of %s from here on",
        units_format_bytes(results->list->cells[first].pool_bytes, pool));
    return grid_rule(grid, label);
}

static enum status fill_grid(struct grid *grid, const struct report *report, size_t first,
                             size_t end, const struct look *look)
{
    enum status status = STATUS_OK;
    const struct results *results = report->results;
    const struct cell *cells = results->list->cells;
    struct cap cap = {0};

    for (size_t i = first; i < end; i++) {
        bool new_group = i == first || cells[i].problem.seq_kv != cells[i - 1].problem.seq_kv;
        if (new_group && group_hits_cap(results, i, end, &cap)) {
            STATUS_TRY(add_cap_rule(grid, results, first));
        }
        const struct rows *rows = &results->of_cell[i];
        if (rows->count > 0 && results->planned) {
            STATUS_TRY(add_plan_row(grid, rows, look));
        } else if (rows->count > 0) {
            STATUS_TRY(add_sweep_row(grid, rows, look));
        }
    }
out:
    return status;
}

static const struct row *first_row(const struct results *results, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (results->of_cell[i].count > 0) {
            return &results->of_cell[i].items[0];
        }
    }
    return NULL;
}

/* The columns of a table, without that of keys where it is not needed; gives their number. */
static size_t choose_columns(bool planned, bool keys, struct grid_column *out)
{
    const struct grid_column *all = planned ? plan_columns : sweep_columns;
    const size_t count = planned ? (size_t)PLAN_COLUMNS : (size_t)SWEEP_COLUMNS;
    const size_t skip = planned ? (size_t)PLAN_KEYS : (size_t)SWEEP_KEYS;

    grid_without(all, count, keys ? count : skip, out);
    return keys ? count : count - 1;
}

static enum status write_config(const struct report *report, size_t first, size_t end,
                                bool markdown, FILE *file)
{
    enum status status = STATUS_OK;
    const struct results *results = report->results;
    const struct row *row = first_row(results, first, end);
    const struct look look = {
        .keys = summary_needs_keys(results, first, end),
        .grow = results->list->cells[first].pool_grow,
        .utf8 = report->utf8,
    };
    struct grid_column columns[GRID_MAX_COLUMNS];
    struct grid grid;
    enum grid_style style = report->utf8 ? GRID_UTF8 : GRID_ASCII;

    if (row == NULL) {
        return STATUS_OK;
    }
    grid_init(&grid, columns, choose_columns(results->planned, look.keys, columns));
    STATUS_TRY(fill_grid(&grid, report, first, end, &look));
    (void)fputc('\n', file);
    write_title(&results->list->cells[first], row, markdown, file);
    grid_write(&grid, markdown ? GRID_MARKDOWN : style, file);
    (void)fputc('\n', file);
    STATUS_TRY(summary_write(report, first, end, markdown, file));
out:
    grid_fini(&grid);
    return status;
}

static void write_roofline(const struct context *context, const char *line, FILE *file)
{
    if (context->roofline != NULL) {
        (void)fprintf(file,
                      "%sof peak: of min(FMA peak %.1f GFLOP/s, memory %.1f GB/s x FLOP per byte "
                      "that items read).\n",
                      line, context->roofline->fma_gflops,
                      roofline_memory_gb_per_s(context->roofline));
    }
}

static void write_legend(const struct report *report, bool markdown, FILE *file)
{
    const char *line = markdown ? "" : "  ";

    if (report->results->planned) {
        (void)fprintf(file,
                      "%speak: scratch of one PE. x bound: peak over the least possible. "
                      "Traffic and copies: one launch.\n",
                      line);
        return;
    }
    (void)fprintf(
        file,
        "%speak: scratch of one PE, as planned. measured: bytes and 128-byte lines that the "
        "device touched.\n",
        line);
    (void)fprintf(
        file,
        "%stime: median of one launch. spread: standard deviation / mean. verdict: largest "
        "error, its tolerance.\n",
        line);
    write_roofline(report->context, line, file);
}

static void write_head(const struct report *report, bool markdown, FILE *file)
{
    const struct context *context = report->context;

    if (context->device == NULL) {
        return;
    }
    (void)fprintf(file, "%s%s (%s, driver %s)\n", markdown ? "## " : "", context->device->name,
                  context->device->platform_name, context->device->driver);
}

enum status write_table(const struct report *report, bool markdown, FILE *file)
{
    enum status status = STATUS_OK;
    const struct cell_list *list = report->results->list;

    write_head(report, markdown, file);
    for (size_t first = 0; first < list->count;) {
        size_t end = config_end(list, first);
        STATUS_TRY(write_config(report, first, end, markdown, file));
        first = end;
    }
    if (results_done(report->results) > 0) {
        (void)fputc('\n', file);
        write_legend(report, markdown, file);
    }
out:
    return status;
}
