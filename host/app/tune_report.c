/* The rows of tune, and the table that a person reads. */
#include "host/app/tune_report.h"

#include "host/app/cell_list.h"
#include "host/app/grid.h"
#include "host/app/title.h"
#include "host/app/writers.h"
#include "host/base/text.h"
#include "host/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef char cell_text[GRID_CELL_BYTES];

/* Rows -------------------------------------------------------------------------------------- */

static bool same_tile(const struct tune_tile *a, const struct tune_tile *b)
{
    return a->block_m == b->block_m && a->block_n == b->block_n;
}

static void fill_row(const struct tune_report *report, size_t index, enum policy policy,
                     struct tune_row *row)
{
    const struct tune_space *space = &report->result->space;
    const struct tune_tile *tile = &space->tiles[index];
    const struct tune_winner *winner = &report->result->winners[policy];
    struct cell cell = tune_cell(report->cell, tile, policy);

    *row = (struct tune_row){
        .tile = tile,
        .policy = policy,
        .winner = winner->found && same_tile(&winner->tile, tile),
        .front = tune_space_on_front(space, policy, index),
        .gflops = tile->gflops,
        .pairs_gflops = (double)NAN,
        .flops = problem_flops(&cell.problem, problem_item_count(&cell.problem)),
    };
    if (row->winner) {
        row->result = &winner->result;
        row->pairs_gflops = winner->gflops;
    }
    cell_list_name(report->settings, &cell);
    (void)snprintf(row->name, sizeof row->name, "%s", cell.name);
}

static int compare_rows(const void *left, const void *right)
{
    const struct tune_row *a = left;
    const struct tune_row *b = right;
    const size_t a_bytes = a->tile->peak_bytes[a->policy];
    const size_t b_bytes = b->tile->peak_bytes[b->policy];

    if (a->policy != b->policy) {
        return a->policy > b->policy ? 1 : -1;
    }
    if (a_bytes != b_bytes) {
        return a_bytes > b_bytes ? 1 : -1;
    }
    return (a->gflops < b->gflops) - (a->gflops > b->gflops);
}

enum status tune_rows_init(const struct tune_report *report, struct tune_rows *out)
{
    const struct tune_space *space = &report->result->space;

    *out = (struct tune_rows){NULL, 0};
    out->rows = calloc(POLICY_COUNT * space->count + 1, sizeof *out->rows);
    if (out->rows == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "tune", "no memory for its rows");
    }
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        for (size_t i = 0; i < space->count; i++) {
            const struct tune_tile *tile = &space->tiles[i];
            if (tile->fits[policy] && !isnan(tile->gflops) && !tile->wrong) {
                fill_row(report, i, (enum policy)policy, &out->rows[out->count]);
                out->count++;
            }
        }
    }
    qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    return STATUS_OK;
}

void tune_rows_fini(struct tune_rows *rows)
{
    free(rows->rows);
    *rows = (struct tune_rows){NULL, 0};
}

/* The table --------------------------------------------------------------------------------- */

enum column {
    COLUMN_POLICY,
    COLUMN_TILE,
    COLUMN_S,
    COLUMN_PEAK,
    COLUMN_POOL,
    COLUMN_TIME,
    COLUMN_GFLOPS,
    COLUMN_NOTE,
    COLUMNS,
};

static const struct grid_column columns[COLUMNS] = {
    [COLUMN_POLICY] = {"policy", false},
    [COLUMN_TILE] = {"tile", true},
    [COLUMN_S] = {"S", true},
    [COLUMN_PEAK] = {"peak, bytes", true},
    [COLUMN_POOL] = {"of pool", true},
    [COLUMN_TIME] = {"time", true},
    [COLUMN_GFLOPS] = {"GFLOP/s", true},
    [COLUMN_NOTE] = {"", false},
};

static void put(cell_text cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(cell_text cell, const char *format, ...)
{
    va_list args;
    struct text text = text_begin(cell, GRID_CELL_BYTES);

    va_start(args, format);
    text_add_args(&text, format, args);
    va_end(args);
}

static void put_tile(const struct tune_report *report, const struct tune_row *row, double gflops,
                     cell_text *cells)
{
    char text[UNITS_TEXT_BYTES];
    const size_t peak_bytes = row->tile->peak_bytes[row->policy];

    put(cells[COLUMN_POLICY], "%s", policy_name(row->policy));
    put(cells[COLUMN_TILE], "%zu x %zu", row->tile->block_m, row->tile->block_n);
    put(cells[COLUMN_S], "%s", units_format_count(row->tile->tiles, text));
    put(cells[COLUMN_PEAK], "%s", units_format_count(peak_bytes, text));
    if (report->cell->pool_grow) {
        put(cells[COLUMN_POOL], "-");
    } else {
        put(cells[COLUMN_POOL], "%.1f %%",
            100.0 * (double)peak_bytes / (double)report->cell->pool_bytes);
    }
    put(cells[COLUMN_TIME], "%s", units_format_ns(row->flops / gflops, text));
    put(cells[COLUMN_GFLOPS], "%.1f", gflops);
}

static enum status add_row(struct grid *grid, const struct tune_report *report,
                           const struct tune_row *row, double gflops, const char *note)
{
    cell_text cells[COLUMNS];

    put_tile(report, row, gflops, cells);
    put(cells[COLUMN_NOTE], "%s", note);
    return grid_row(grid, cells);
}

static enum status add_none(struct grid *grid, enum policy policy, const char *note)
{
    cell_text cells[COLUMNS];

    for (size_t i = 0; i < COLUMNS; i++) {
        put(cells[i], "-");
    }
    put(cells[COLUMN_POLICY], "%s", policy_name(policy));
    put(cells[COLUMN_NOTE], "%s", note);
    return grid_row(grid, cells);
}

/* Why no tile fits a policy: "no tile fits", and what the device lacks where the pool would do. */
static void put_no_fit(const struct tune_report *report, enum policy policy, cell_text out)
{
    const struct tune_refusal *refused = &report->result->space.refused[policy];
    const bool local = report->cell->arena == PE_ARENAS_LOCAL;
    char request[UNITS_TEXT_BYTES];
    char limit[UNITS_TEXT_BYTES];

    if (refused->request_bytes == 0) {
        put(out, "no tile fits");
        return;
    }
    put(out, "no tile fits: the device %s %s bytes%s, %s are needed", local ? "has" : "allocates",
        units_format_count(refused->limit_bytes, limit), local ? " of local memory" : " at most",
        units_format_count(refused->request_bytes, request));
}

/* The fastest ------------------------------------------------------------------------------- */

/* The row that leads a policy: its winner, or what is the fastest so far. NULL: nothing was timed.
 */
static const struct tune_row *leader(const struct tune_rows *rows, enum policy policy)
{
    const struct tune_row *best = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const struct tune_row *row = &rows->rows[i];
        if (row->policy == policy &&
            (best == NULL || row->winner || (!best->winner && row->gflops > best->gflops))) {
            best = row;
        }
    }
    return best;
}

static enum status add_leader(struct grid *grid, const struct tune_report *report,
                              const struct tune_rows *rows, enum policy policy)
{
    const struct tune_row *row = leader(rows, policy);
    cell_text note;

    if (row == NULL) {
        put_no_fit(report, policy, note);
        if (tune_space_fitting(&report->result->space, policy) > 0) {
            put(note, "%s", report->stopped ? "none was timed" : "every tile was wrong");
        }
        return add_none(grid, policy, note);
    }
    if (!row->winner) {
        return add_row(grid, report, row, row->gflops, "so far; not verified");
    }
    put(note, "ok, error %.1e < %.1e in %zu rows, measured = planned",
        row->result->check.verdict.max_abs_err, row->result->check.verdict.tolerance,
        row->result->check.verdict.rows_checked);
    return add_row(grid, report, row, row->pairs_gflops > 0.0 ? row->pairs_gflops : row->gflops,
                   note);
}

/* The columns, the last of them under a header of its own. */
static void name_columns(const char *note, struct grid_column out[COLUMNS])
{
    memcpy(out, columns, sizeof columns);
    out[COLUMN_NOTE].header = note;
}

static enum grid_style style_of(const struct tune_report *report, bool markdown)
{
    return markdown ? GRID_MARKDOWN : (report->utf8 ? GRID_UTF8 : GRID_ASCII);
}

static enum status write_leaders(const struct tune_report *report, const struct tune_rows *rows,
                                 bool markdown, FILE *file)
{
    enum status status = STATUS_OK;
    struct grid grid;
    struct grid_column named[COLUMNS];

    name_columns("verdict", named);
    grid_init(&grid, named, COLUMNS);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        if (report->policies[policy]) {
            STATUS_TRY(add_leader(&grid, report, rows, (enum policy)policy));
        }
    }
    grid_write(&grid, style_of(report, markdown), file);
out:
    grid_fini(&grid);
    return status;
}

/* The front --------------------------------------------------------------------------------- */

static enum status add_front(struct grid *grid, const struct tune_report *report,
                             const struct tune_rows *rows, enum policy policy)
{
    enum status status = STATUS_OK;
    const struct tune_row *best = leader(rows, policy);

    for (size_t i = 0; i < rows->count; i++) {
        const struct tune_row *row = &rows->rows[i];
        cell_text note;
        if (row->policy != policy || !(row->front || row == best)) {
            continue;
        }
        put(note, "%.0f %%", 100.0 * row->gflops / best->gflops);
        STATUS_TRY(add_row(grid, report, row, row->gflops, row == best ? "the fastest" : note));
    }
out:
    return status;
}

static enum status write_front(const struct tune_report *report, const struct tune_rows *rows,
                               bool markdown, FILE *file)
{
    enum status status = STATUS_OK;
    struct grid grid;
    struct grid_column named[COLUMNS];

    (void)fprintf(file,
                  "\n%sBytes against speed, as the search timed them: each tile is faster than all "
                  "that take less\n\n",
                  markdown ? "### " : "");
    name_columns("speed", named);
    grid_init(&grid, named, COLUMNS);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        if (grid.count > 0 && leader(rows, (enum policy)policy) != NULL) {
            STATUS_TRY(grid_rule(&grid, ""));
        }
        STATUS_TRY(add_front(&grid, report, rows, (enum policy)policy));
    }
    grid_write(&grid, style_of(report, markdown), file);
out:
    grid_fini(&grid);
    return status;
}

/* What scoping buys ------------------------------------------------------------------------- */

static const char *pool_text(const struct tune_report *report, char text[UNITS_TEXT_BYTES])
{
    if (report->cell->pool_grow) {
        (void)snprintf(text, UNITS_TEXT_BYTES, "a pool without limit");
        return text;
    }
    return units_format_bytes(report->cell->pool_bytes, text);
}

static void write_ratio(const struct tune_report *report, const struct tune_ratio *ratio,
                        const char *mark, FILE *file)
{
    const struct tune_result *result = report->result;
    const struct tune_tile *a = &result->winners[ratio->numerator].tile;
    const struct tune_tile *b = &result->winners[ratio->denominator].tile;
    const struct pairs_ratio *pairs = &ratio->ratio;
    const double margin = fmax(result->noise_floor, 0.01);
    const char *verdict = pairs->upper < 1.0 - margin   ? "faster"
                          : pairs->lower > 1.0 + margin ? "slower"
                                                        : "no difference beyond the noise";

    (void)fprintf(file, "%s%s %zu x %zu takes %.3f of the time of %s %zu x %zu [%.3f, %.3f]: %s\n",
                  mark, policy_name(ratio->numerator), a->block_m, a->block_n, pairs->ratio,
                  policy_name(ratio->denominator), b->block_m, b->block_n, pairs->lower,
                  pairs->upper, verdict);
}

/* Whether anything is known of it: not where a search was stopped before its pairs. */
static bool has_answer(const struct tune_report *report)
{
    bool answers = report->result->ratio_count > 0;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        answers = answers || (report->policies[policy] &&
                              tune_space_fitting(&report->result->space, (enum policy)policy) == 0);
    }
    return answers;
}

static void write_answer(const struct tune_report *report, bool markdown, FILE *file)
{
    const struct tune_result *result = report->result;
    const char *mark = markdown ? "- " : "  ";
    char pool[UNITS_TEXT_BYTES];
    char keys[UNITS_TEXT_BYTES];
    cell_text why;

    (void)fprintf(file, "\n%sWhat scoping buys in %s at %s keys\n\n", markdown ? "### " : "",
                  pool_text(report, pool), units_format_count(report->cell->problem.seq_kv, keys));
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        if (report->policies[policy] &&
            tune_space_fitting(&result->space, (enum policy)policy) == 0) {
            put_no_fit(report, (enum policy)policy, why);
            (void)fprintf(file, "%s%s: %s, so it cannot run at all\n", mark,
                          policy_name((enum policy)policy), why);
        }
    }
    for (size_t i = 0; i < result->ratio_count; i++) {
        write_ratio(report, &result->ratios[i], mark, file);
    }
    if (result->ratio_count > 0) {
        (void)fprintf(file, "%snoise floor %.1f %%, from the most recycling one against itself\n",
                      mark, 100.0 * result->noise_floor);
        if (pairs_noise_is_wide(result->noise_floor)) {
            (void)fprintf(file, "%sabove 5 %%: close what else runs, and tune again\n", mark);
        }
    }
}

/* The whole --------------------------------------------------------------------------------- */

static void write_head(const struct tune_report *report, FILE *file)
{
    const struct cell *cell = report->cell;
    char pool[UNITS_TEXT_BYTES];

    title_shape(cell, false, file);
    title_count(", seq_kv ", cell->problem.seq_kv, file);
    title_mask(&cell->problem, file);
    if (problem_parts(&cell->problem) > 1) {
        title_count(", parts ", problem_parts(&cell->problem), file);
    }
    (void)fprintf(file, ", pool %s x %zu PE%s%s, %s kernel\n",
                  cell->pool_grow ? "as needed" : units_format_bytes(cell->pool_bytes, pool),
                  cell->pes, cell->pes == 1 ? "" : "s",
                  cell->arena == PE_ARENAS_LOCAL ? " in local memory" : "",
                  kernel_style_name(cell->style));
}

static void write_device(const struct tune_report *report, FILE *file)
{
    const struct device_info *device = report->context->device;

    (void)fprintf(file, "%s (%s, driver %s)\n", device->name, device->platform_name,
                  device->driver);
}

static void write_counts(const struct tune_report *report, FILE *file)
{
    const struct tune_result *result = report->result;
    const struct tune_space *space = &result->space;
    const char *between = ":";

    (void)fprintf(file, "%zu tiles fit", space->count);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        if (report->policies[policy]) {
            (void)fprintf(file, "%s %zu %s", between,
                          tune_space_fitting(space, (enum policy)policy),
                          policy_name((enum policy)policy));
            between = ",";
        }
    }
    (void)fprintf(file, "; %zu timed in %.0f s%s\n\n", tune_space_timed(space), result->seconds,
                  report->stopped    ? ", interrupted"
                  : result->complete ? ""
                                     : ", the most promising first");
}

static size_t policies_asked(const struct tune_report *report)
{
    size_t count = 0;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        count += report->policies[policy] ? 1 : 0;
    }
    return count;
}

static enum status write_text(const struct tune_report *report, const struct tune_rows *rows,
                              bool markdown, FILE *file)
{
    enum status status = STATUS_OK;

    (void)fputs(markdown ? "### " : "", file);
    write_head(report, file);
    (void)fputs(markdown ? "\n" : "", file);
    write_device(report, file);
    (void)fputs(markdown ? "\n" : "", file);
    write_counts(report, file);
    STATUS_TRY(write_leaders(report, rows, markdown, file));
    if (rows->count > 0) {
        STATUS_TRY(write_front(report, rows, markdown, file));
    }
    if (policies_asked(report) > 1 && has_answer(report)) {
        write_answer(report, markdown, file);
    }
out:
    return status;
}

enum status tune_report_write(const struct tune_report *report, enum format format, FILE *file)
{
    enum status status = STATUS_OK;
    struct tune_rows rows;

    STATUS_TRY(tune_rows_init(report, &rows));
    switch (format) {
    case FORMAT_JSON:
        STATUS_TRY(tune_data_json(report, &rows, file));
        break;
    case FORMAT_CSV:
        STATUS_TRY(tune_data_csv(report, &rows, file));
        break;
    case FORMAT_TABLE:
    case FORMAT_MD:
        STATUS_TRY(write_text(report, &rows, format == FORMAT_MD, file));
        break;
    }
out:
    tune_rows_fini(&rows);
    return status;
}
