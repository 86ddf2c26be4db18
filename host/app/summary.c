#include "host/app/summary.h"

#include "host/app/grid.h"
#include "host/attention/tile_program.h"
#include "host/base/size.h"
#include "host/base/text.h"
#include "host/base/units.h"

#include <math.h>
#include <string.h>

enum { TEXT_BYTES = GRID_CELL_BYTES, LABEL_WIDTH = 13 };

/* Needs ------------------------------------------------------------------------------------- */

static enum status plan_at(const struct cell *cell, enum policy policy, size_t tiles,
                           struct footprint *out)
{
    enum status status = STATUS_OK;
    struct program program;
    const struct footprint_request request = {
        .policy = policy,
        .tiles = tiles,
        .pool_bytes = FOOTPRINT_NO_LIMIT,
        .alignment = cell->alignment,
    };

    program_init(&program);
    STATUS_TRY(tile_program_record(&cell->problem, &program));
    STATUS_TRY(footprint_plan(&program, &request, out));
    out->overflow.name = NULL; /* it would point into the program */
out:
    program_fini(&program);
    return status;
}

enum status summary_need_of(const struct cell *cell, enum policy policy, struct summary_need *out)
{
    enum status status = STATUS_OK;
    struct footprint one;
    struct footprint two;

    *out = (struct summary_need){0};
    STATUS_TRY(plan_at(cell, policy, 1, &one));
    STATUS_TRY(plan_at(cell, policy, 2, &two));
    *out = (struct summary_need){
        .base_bytes = one.peak_bytes - (two.peak_bytes - one.peak_bytes),
        .slope_bytes = two.peak_bytes - one.peak_bytes,
        .lower_bound_bytes = one.lower_bound_bytes,
    };
out:
    return status;
}

enum status summary_cap(const struct cell *cell, enum policy policy, size_t pool_bytes, size_t *out)
{
    enum status status = STATUS_OK;
    struct summary_need need;
    struct footprint plan;

    *out = 0;
    STATUS_TRY(summary_need_of(cell, policy, &need));
    if (need.base_bytes + need.slope_bytes > pool_bytes) {
        *out = 1;
        goto out;
    }
    if (need.slope_bytes == 0) {
        goto out;
    }
    size_t tiles = (pool_bytes - need.base_bytes) / need.slope_bytes;
    do {
        STATUS_TRY(plan_at(cell, policy, tiles, &plan));
        tiles++;
    } while (plan.peak_bytes <= pool_bytes);
    *out = tiles - 1;
out:
    return status;
}

static double need_at(const struct summary_need *need, size_t tiles)
{
    return (double)need->base_bytes + (double)need->slope_bytes * (double)tiles;
}

/* Lines ------------------------------------------------------------------------------------- */

/* What the lines of one configuration are made from. */
struct view {
    const struct report *report;
    size_t first;
    size_t end;
    bool markdown;
    FILE *file;
    bool asked[POLICY_COUNT];   /* the policy is among the cells */
    bool refused[POLICY_COUNT]; /* a row of it needs more than the device can hold */
    struct summary_need need[POLICY_COUNT];
    size_t largest; /* S */
};

static void line(const struct view *view, const char *label, const char *text)
{
    if (view->markdown) {
        (void)fprintf(view->file, "- **%s** %s\n", label, text);
    } else {
        (void)fprintf(view->file, "  %-*s%s\n", LABEL_WIDTH, label, text);
    }
}

bool summary_needs_keys(const struct results *results, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct problem *problem = &results->list->cells[i].problem;
        const struct rows *rows = &results->of_cell[i];
        if (rows->count > 0 && row_count(&rows->items[0], FIELD_TILES) !=
                                   size_div_up(problem->seq_kv, problem->block_n)) {
            return true;
        }
    }
    return false;
}

bool summary_is_refused(const struct row *row)
{
    return row_count(row, FIELD_OVERFLOW) != 0 &&
           strcmp(row_text(row, FIELD_OVERFLOW_NAME), "device") == 0;
}

static enum status view_init(struct view *view)
{
    enum status status = STATUS_OK;
    const struct results *results = view->report->results;

    for (size_t i = view->first; i < view->end; i++) {
        const struct rows *rows = &results->of_cell[i];
        view->asked[results->list->cells[i].policy] = true;
        if (rows->count > 0) {
            enum policy policy = results->list->cells[i].policy;
            view->refused[policy] = view->refused[policy] || summary_is_refused(&rows->items[0]);
            view->largest = size_max(view->largest, row_count(&rows->items[0], FIELD_TILES));
        }
    }
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        STATUS_TRY(
            summary_need_of(&results->list->cells[view->first], (enum policy)i, &view->need[i]));
    }
out:
    return status;
}

static enum status add_cap(const struct view *view, enum policy policy, struct text *text)
{
    enum status status = STATUS_OK;
    const struct cell *cell = &view->report->results->list->cells[view->first];
    char pool[UNITS_TEXT_BYTES];
    char count[UNITS_TEXT_BYTES];
    size_t cap = 0;

    if (cell->pool_grow) {
        return STATUS_OK;
    }
    STATUS_TRY(summary_cap(cell, policy, cell->pool_bytes, &cap));
    (void)units_format_bytes(cell->pool_bytes, pool);
    if (cap == 0) {
        text_add(text, "; fits %s at any S", pool);
    } else if (cap == 1) {
        text_add(text, "; does not fit %s at any S", pool);
    } else {
        text_add(text, "; fits %s up to S = %s", pool, units_format_count(cap - 1, count));
        text_add(text, ", overflows from S = %s", units_format_count(cap, count));
    }
out:
    return status;
}

/* "; unscoped takes 11.7 x that at S = 16, 730.9 x at S = 1,024": at its last S that fits the pool,
 * if it has one, and at the largest. */
static enum status add_savings(const struct view *view, enum policy policy, struct text *text)
{
    enum status status = STATUS_OK;
    const struct cell *cell = &view->report->results->list->cells[view->first];
    const struct summary_need *unscoped = &view->need[POLICY_UNSCOPED];
    const char *before = "; unscoped takes ", *that = " that";
    size_t at[2] = {0, view->largest};

    if (policy == POLICY_UNSCOPED || !view->asked[POLICY_UNSCOPED] || view->largest == 0) {
        return STATUS_OK;
    }
    if (!cell->pool_grow) {
        STATUS_TRY(summary_cap(cell, POLICY_UNSCOPED, cell->pool_bytes, &at[0]));
        at[0] = at[0] > 0 ? at[0] - 1 : 0;
    }
    for (size_t i = at[0] == 0 || at[0] == at[1] ? 1 : 0; i < 2; i++) {
        char count[UNITS_TEXT_BYTES];
        text_add(text, "%s%.1f x%s at S = %s", before,
                 need_at(unscoped, at[i]) / need_at(&view->need[policy], at[i]), that,
                 units_format_count(at[i], count));
        before = ", ";
        that = "";
    }
out:
    return status;
}

static enum status write_need(const struct view *view, enum policy policy)
{
    enum status status = STATUS_OK;
    const struct summary_need *need = &view->need[policy];
    char bytes[TEXT_BYTES];
    char count[UNITS_TEXT_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);

    text_add(&text, "%s", units_format_count(need->base_bytes, count));
    if (need->slope_bytes > 0) {
        text_add(&text, " + %s S", units_format_count(need->slope_bytes, count));
    }
    text_add(&text, " bytes%s", need->slope_bytes > 0 ? "" : " for every S");
    STATUS_TRY(add_cap(view, policy, &text));
    if (view->refused[policy]) {
        text_add(&text, ", but overflows where the device can not hold the buffers");
    }
    STATUS_TRY(add_savings(view, policy, &text));
    line(view, policy_name(policy), bytes);
out:
    return status;
}

static void write_bound(const struct view *view)
{
    char bytes[TEXT_BYTES];
    char count[UNITS_TEXT_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);

    text_add(&text, "%s bytes for every S",
             units_format_count(view->need[POLICY_NESTED].lower_bound_bytes, count));
    const char *before = ":";
    for (size_t i = POLICY_SCOPED; i < POLICY_COUNT; i++) {
        double gap = need_at(&view->need[i], 1) / (double)view->need[i].lower_bound_bytes;
        if (!view->asked[i]) {
            continue;
        }
        text_add(&text, "%s %s ", before, policy_name((enum policy)i));
        before = ",";
        if (gap > 1.0) {
            text_add(&text, "takes %.*f x it", gap < 1.01 ? 4 : 2, gap);
        } else {
            text_add(&text, "reaches it");
        }
    }
    line(view, "lower bound", bytes);
}

/* Ratios of time ---------------------------------------------------------------------------- */

static void put_ratio(char cell[GRID_CELL_BYTES], const struct cell_ratio *ratio)
{
    struct text text = text_begin(cell, GRID_CELL_BYTES);

    if (ratio == NULL || !isfinite(ratio->ratio)) {
        text_add(&text, "-");
        return;
    }
    text_add(&text, "%.3f", ratio->ratio);
    if (isfinite(ratio->lower) && isfinite(ratio->upper)) {
        text_add(&text, " [%.3f, %.3f]", ratio->lower, ratio->upper);
    }
    if (!ratio->conclusive) {
        text_add(&text, " noisy");
    } else if (!ratio->not_slower) {
        text_add(&text, " slower?");
    }
}

enum ratio_column {
    RATIO_S,
    RATIO_KEYS,
    RATIO_SCOPED,
    RATIO_NESTED,
    RATIO_INNER,
    RATIO_NOISE,
    RATIO_COLUMNS,
};

static const struct grid_column ratio_columns[RATIO_COLUMNS] = {
    [RATIO_S] = {"S", true},
    [RATIO_KEYS] = {"keys", true},
    [RATIO_SCOPED] = {"scoped/unscoped", false},
    [RATIO_NESTED] = {"nested/unscoped", false},
    [RATIO_INNER] = {"nested/scoped", false},
    [RATIO_NOISE] = {"noise floor", true},
};

static enum status add_ratios(const struct view *view, const struct cell *cell, struct grid *grid)
{
    const struct results *results = view->report->results;
    char cells[RATIO_COLUMNS][GRID_CELL_BYTES];
    char group[CELL_NAME_BYTES];

    cell_list_group(cell, group);
    const struct cell_ratio *scoped = results_ratio(results, group, POLICY_SCOPED, POLICY_UNSCOPED);
    const struct cell_ratio *nested = results_ratio(results, group, POLICY_NESTED, POLICY_UNSCOPED);
    const struct cell_ratio *inner = results_ratio(results, group, POLICY_NESTED, POLICY_SCOPED);
    const struct cell_ratio *any = scoped != NULL ? scoped : nested != NULL ? nested : inner;
    if (any == NULL) {
        return STATUS_OK;
    }
    (void)snprintf(cells[RATIO_S], GRID_CELL_BYTES, "%zu", any->tiles);
    (void)snprintf(cells[RATIO_KEYS], GRID_CELL_BYTES, "%zu", cell->problem.seq_kv);
    put_ratio(cells[RATIO_SCOPED], scoped);
    put_ratio(cells[RATIO_NESTED], nested);
    put_ratio(cells[RATIO_INNER], inner);
    (void)snprintf(cells[RATIO_NOISE], GRID_CELL_BYTES, "-");
    if (isfinite(any->noise_floor)) {
        (void)snprintf(cells[RATIO_NOISE], GRID_CELL_BYTES, "%.1f %%", 100.0 * any->noise_floor);
    }
    if (grid->column_count < RATIO_COLUMNS) {
        memmove(cells[RATIO_KEYS], cells[RATIO_KEYS + 1],
                (RATIO_COLUMNS - RATIO_KEYS - 1) * sizeof cells[0]);
    }
    return grid_row(grid, cells);
}

static enum status fill_ratios(const struct view *view, struct grid *grid)
{
    enum status status = STATUS_OK;
    const struct cell *cells = view->report->results->list->cells;

    for (size_t i = view->first; i < view->end; i++) {
        if (i == view->first || cells[i].problem.seq_kv != cells[i - 1].problem.seq_kv) {
            STATUS_TRY(add_ratios(view, &cells[i], grid));
        }
    }
out:
    return status;
}

static enum status write_ratios(const struct view *view)
{
    enum status status = STATUS_OK;
    const bool keys = summary_needs_keys(view->report->results, view->first, view->end);
    struct grid_column columns[RATIO_COLUMNS];
    struct grid grid;
    enum grid_style style = view->report->utf8 ? GRID_UTF8 : GRID_ASCII;

    grid_without(ratio_columns, RATIO_COLUMNS, keys ? RATIO_COLUMNS : RATIO_KEYS, columns);
    grid_init(&grid, columns, keys ? RATIO_COLUMNS : RATIO_COLUMNS - 1);
    STATUS_TRY(fill_ratios(view, &grid));
    if (grid.count > 0) {
        (void)fprintf(
            view->file,
            "\n%sTime ratios from pairs, with 95 %% interval. \"slower?\" marks one whose "
            "upper end is not below 1 + the larger of 1 %% and the noise floor, \"noisy\" one that "
            "a noise floor above 10 %% hides.\n\n",
            view->markdown ? "" : "  ");
        grid_write(&grid, view->markdown ? GRID_MARKDOWN : style, view->file);
    }
out:
    grid_fini(&grid);
    return status;
}

/* The verdict ------------------------------------------------------------------------------- */

struct tally {
    size_t asked;
    size_t done;
    size_t overflows;
    size_t checked;
    bool compared; /* outputs of two policies of one S */
    size_t wrong;
    size_t disagree;
    size_t different; /* outputs that differ from another policy's */
};

static struct tally count_rows(const struct view *view)
{
    const struct results *results = view->report->results;
    struct tally tally = {.asked = view->end - view->first};
    const struct cell *last = NULL; /* that was checked */

    for (size_t i = view->first; i < view->end; i++) {
        if (results->of_cell[i].count == 0) {
            continue;
        }
        const struct cell *cell = &results->list->cells[i];
        const struct row *row = &results->of_cell[i].items[0];
        bool checked = row_has(row, FIELD_VERIFIED);
        tally.done++;
        tally.overflows += row_count(row, FIELD_OVERFLOW);
        tally.checked += checked ? 1 : 0;
        tally.compared = tally.compared ||
                         (checked && last != NULL && last->problem.seq_kv == cell->problem.seq_kv);
        last = checked ? cell : last;
        tally.wrong += row_is_wrong(row) ? 1 : 0;
        tally.disagree += checked && !row_agrees(row) ? 1 : 0;
        tally.different += checked && row_count(row, FIELD_SAME_BITS) == 0 ? 1 : 0;
    }
    return tally;
}

/* What the ratios of two policies say, one a group. */
struct standing {
    size_t count;      /* groups that have one */
    size_t not_slower; /* that are told to be so */
    size_t noisy;      /* that tell nothing */
    size_t noisy_at;   /* S of the first of those */
};

static struct standing count_not_slower(const struct view *view, enum policy numerator,
                                        enum policy denominator)
{
    const struct results *results = view->report->results;
    const struct cell *cells = results->list->cells;
    struct standing standing = {0};

    for (size_t i = view->first; i < view->end; i++) {
        char group[CELL_NAME_BYTES];
        if (i > view->first && cells[i].problem.seq_kv == cells[i - 1].problem.seq_kv) {
            continue;
        }
        cell_list_group(&cells[i], group);
        const struct cell_ratio *ratio = results_ratio(results, group, numerator, denominator);
        if (ratio == NULL) {
            continue;
        }
        standing.count++;
        standing.not_slower += ratio->conclusive && ratio->not_slower ? 1 : 0;
        standing.noisy_at =
            standing.noisy == 0 && !ratio->conclusive ? ratio->tiles : standing.noisy_at;
        standing.noisy += ratio->conclusive ? 0 : 1;
    }
    return standing;
}

/* "scoped/unscoped at 4 of 5 S (too noisy to tell at S = 16)" */
static void add_standing(const struct standing *standing, const char *numerator,
                         const char *denominator, struct text *text)
{
    text_add(text, "%s%s/%s at %zu of %zu S", text->used > 0 ? ", " : "", numerator, denominator,
             standing->not_slower, standing->count);
    if (standing->noisy == 1) {
        text_add(text, " (too noisy to tell at S = %zu)", standing->noisy_at);
    } else if (standing->noisy > 1) {
        text_add(text, " (too noisy to tell at %zu)", standing->noisy);
    }
}

/* "scoped/unscoped at 5 of 5 S, ...": where the interval says "not slower". */
static void write_not_slower(const struct view *view)
{
    static const enum policy pairs[][2] = {{POLICY_SCOPED, POLICY_UNSCOPED},
                                           {POLICY_NESTED, POLICY_UNSCOPED},
                                           {POLICY_NESTED, POLICY_SCOPED}};
    char bytes[TEXT_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct standing standing = count_not_slower(view, pairs[i][0], pairs[i][1]);
        if (standing.count > 0) {
            add_standing(&standing, policy_name(pairs[i][0]), policy_name(pairs[i][1]), &text);
        }
    }
    if (text.used > 0) {
        line(view, "not slower", bytes);
    }
}

/* How far the times can be trusted: nothing where they can. */
static void write_trust(const struct view *view)
{
    const struct results *results = view->report->results;
    size_t timed = 0;
    size_t wide = 0;
    size_t apart = 0;
    char bytes[TEXT_BYTES];
    struct text text = text_begin(bytes, sizeof bytes);

    for (size_t i = view->first; i < view->end; i++) {
        const struct row *row = rows_typical(&results->of_cell[i]);
        if (row != NULL) {
            timed++;
            wide += row_count(row, FIELD_SPREAD_WIDE);
            apart += row_has(row, FIELD_CLOCKS_AGREE) && row_count(row, FIELD_CLOCKS_AGREE) == 0;
        }
    }
    if (wide > 0) {
        text_add(&text,
                 "%zu of %zu timed rows spread by more than 5 %%: close what else runs, or "
                 "raise --repetitions and --min-time",
                 wide, timed);
        line(view, "spread", bytes);
    }
    if (apart > 0) {
        text = text_begin(bytes, sizeof bytes);
        text_add(&text,
                 "event time and host time differ by more than 10 %% on %zu of %zu timed "
                 "rows: see event_host_ratio",
                 apart, timed);
        line(view, "clocks", bytes);
    }
}

static void add_all_right(const struct tally *tally, struct text *text)
{
    char count[UNITS_TEXT_BYTES];

    if (tally->checked == 1) {
        text_add(text, "the one row that ran is verified, measured = planned");
    } else {
        text_add(text, "all %s rows that ran are verified, measured = planned%s",
                 units_format_count(tally->checked, count),
                 tally->compared ? ", outputs of all policies equal bit for bit" : "");
    }
}

static void write_verdict(const struct view *view)
{
    const struct tally tally = count_rows(view);
    char verdict[TEXT_BYTES];
    struct text text = text_begin(verdict, sizeof verdict);

    if (tally.checked == 0) {
        text_add(&text, "no row ran");
    } else if (tally.wrong == 0) {
        add_all_right(&tally, &text);
    } else {
        text_add(&text, "%zu of %zu rows that ran are WRONG", tally.wrong, tally.checked);
        text_add(&text, "; measured differs from planned on %zu, outputs differ on %zu",
                 tally.disagree, tally.different);
    }
    if (tally.overflows > 0) {
        text_add(&text, "; %zu row%s", tally.overflows,
                 tally.overflows == 1 ? " overflows" : "s overflow");
    }
    if (tally.done < tally.asked) {
        text_add(&text, "; %zu of %zu rows are missing", tally.asked - tally.done, tally.asked);
    }
    line(view, "verdict", verdict);
}

enum status summary_write(const struct report *report, size_t first, size_t end, bool markdown,
                          FILE *file)
{
    enum status status = STATUS_OK;
    struct view view = {
        .report = report, .first = first, .end = end, .markdown = markdown, .file = file};

    STATUS_TRY(view_init(&view));
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        if (view.asked[i]) {
            STATUS_TRY(write_need(&view, (enum policy)i));
        }
    }
    write_bound(&view);
    if (!report->results->planned) {
        write_not_slower(&view);
        write_trust(&view);
        write_verdict(&view);
        STATUS_TRY(write_ratios(&view));
    }
out:
    return status;
}
