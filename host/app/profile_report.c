/* A profile as a table, JSON or CSV. */
#include "host/app/profile.h"

#include "host/app/grid.h"
#include "host/app/rows.h"
#include "host/app/writers.h"
#include "host/base/text.h"
#include "host/base/units.h"

#include <math.h>
#include <string.h>

/* The table --------------------------------------------------------------------------------- */

enum part_column {
    PART_NAME,
    PART_WHAT,
    PART_SHARE,
    PART_INTERVAL,
    PART_TIME,
    PART_NOISE,
    PART_CHECK,
    PART_COLUMNS,
};

static const struct grid_column columns[PART_COLUMNS] = {
    [PART_NAME] = {"part", false},     [PART_WHAT] = {"what", false},
    [PART_SHARE] = {"share", true},    [PART_INTERVAL] = {"95 % interval", true},
    [PART_TIME] = {"a tile", true},    [PART_NOISE] = {"noise floor", true},
    [PART_CHECK] = {"results", false},
};

typedef char cell_text[GRID_CELL_BYTES];

static void put(cell_text cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(cell_text cell, const char *format, ...)
{
    va_list args;
    struct text text = text_begin(cell, GRID_CELL_BYTES);

    va_start(args, format);
    text_add_args(&text, format, args);
    va_end(args);
}

/* A time that may be negative, as a difference of two is. */
static void put_time(cell_text cell, double ns)
{
    char text[UNITS_TEXT_BYTES];

    put(cell, "%s%s", ns < 0.0 ? "-" : "", units_format_ns(fabs(ns), text));
}

/* Markdown has no rules that would tell the kind. */
static enum status add_part(struct grid *grid, const struct profile *profile,
                            const struct profile_part *part, bool markdown)
{
    cell_text cells[PART_COLUMNS];

    put(cells[PART_NAME], "%s%s%s", markdown ? profile_kind_name(part->kind) : "",
        markdown ? ": " : "", part->name);
    put(cells[PART_WHAT], "%s", part->what);
    for (size_t i = PART_SHARE; i <= PART_NOISE; i++) {
        put(cells[i], "-");
    }
    if (isfinite(part->share)) {
        put(cells[PART_SHARE], "%.1f %%%s", 100.0 * part->share, part->clear ? "" : " ?");
        put_time(cells[PART_TIME], part->share * profile->tile_ns);
    }
    if (isfinite(part->lower) && isfinite(part->upper)) {
        put(cells[PART_INTERVAL], "[%.1f, %.1f]", 100.0 * part->lower, 100.0 * part->upper);
    }
    if (isfinite(part->noise_floor)) {
        put(cells[PART_NOISE], "%.1f %%", 100.0 * part->noise_floor);
    }
    put(cells[PART_CHECK], "%s%s%s", profile_check_name(part->check), part->why != NULL ? ": " : "",
        part->why != NULL ? part->why : "");
    return grid_row(grid, cells);
}

static const char *rule_of(enum profile_kind kind)
{
    switch (kind) {
    case PROFILE_TWICE:
        return "done twice: what another one costs";
    case PROFILE_LEFT_OUT:
        return "left out: what that saves, memory traffic included";
    case PROFILE_TAX:
        return "the arena's tax: what a shortcut past it saves";
    }
    return "";
}

static enum status fill_grid(struct grid *grid, const struct profile *profile, bool markdown)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < profile->count; i++) {
        const struct profile_part *part = &profile->parts[i];
        if (i == 0 || part->kind != profile->parts[i - 1].kind) {
            STATUS_TRY(grid_rule(grid, rule_of(part->kind)));
        }
        STATUS_TRY(add_part(grid, profile, part, markdown));
    }
out:
    return status;
}

static void write_head(const struct profile_report *report, bool markdown, FILE *file)
{
    const struct device_info *device = report->context->device;
    const struct problem *problem = &report->cell->problem;
    const struct cell_result *result = &report->profile->result;
    char pool[UNITS_TEXT_BYTES];

    (void)fprintf(file, "%s%s (%s, driver %s)\n\n", markdown ? "## " : "", device->name,
                  device->platform_name, device->driver);
    (void)fprintf(file, "%s%s: %s, block %zu x %zu, head_dim %zu", markdown ? "### " : "",
                  report->cell->preset, dtype_name(problem->dtype), problem->block_m,
                  problem->block_n, problem->head_dim);
    if (problem->head_dim_v != problem->head_dim) {
        (void)fprintf(file, " / %zu", problem->head_dim_v);
    }
    (void)fprintf(file, ", S = %zu, %s, pool %s x %zu PE%s, %s kernel\n", result->tiles,
                  policy_name(report->cell->policy),
                  units_format_bytes(report->cell->pool_bytes, pool), report->cell->pes,
                  report->cell->pes == 1 ? "" : "s", kernel_style_name(report->cell->style));
    (void)fputs(markdown ? "\n" : "", file);
}

static void write_line(bool markdown, const char *label, const char *text, FILE *file)
{
    if (markdown) {
        (void)fprintf(file, "- **%s** %s\n", label, text);
    } else {
        (void)fprintf(file, "  %-10s%s\n", label, text);
    }
}

/* What the stages leave of the whole: the walk itself, q and the results, waiting. */
static void write_rest(const struct profile *profile, bool markdown, FILE *file)
{
    double sum = 0.0;
    size_t stages = 0;
    cell_text text;

    for (size_t i = 0; i < profile->count; i++) {
        if (profile->parts[i].kind == PROFILE_TWICE && isfinite(profile->parts[i].share)) {
            sum += profile->parts[i].share;
            stages++;
        }
    }
    if (stages > 0) {
        put(text, "%.1f %% of the time by doing them twice, one after the other", 100.0 * sum);
        write_line(markdown, "stages", text, file);
    }
}

/* Shares of a busy machine look as exact as any. */
static void write_noise(const struct profile *profile, bool markdown, FILE *file)
{
    size_t timed = 0;
    size_t noisy = 0;
    cell_text text;

    for (size_t i = 0; i < profile->count; i++) {
        timed += isfinite(profile->parts[i].noise_floor) ? 1 : 0;
        noisy += pairs_noise_is_wide(profile->parts[i].noise_floor) ? 1 : 0;
    }
    if (noisy > 0) {
        put(text,
            "%zu of %zu parts have a noise floor above 5 %%: close what else runs, or raise "
            "--rounds",
            noisy, timed);
        write_line(markdown, "noise", text, file);
    }
}

static void write_summary(const struct profile_report *report, bool markdown, FILE *file)
{
    const struct profile *profile = report->profile;
    const struct cell_result *result = &profile->result;
    char launch[UNITS_TEXT_BYTES];
    char tile[UNITS_TEXT_BYTES];
    cell_text text;

    if (isfinite(profile->launch_ns) && isfinite(profile->tile_ns)) {
        put(text, "%s a tile on one PE; %s a launch of %zu of %zu items",
            units_format_ns(profile->tile_ns, tile), units_format_ns(profile->launch_ns, launch),
            result->timed_items, result->items);
        write_line(markdown, "time", text, file);
    }
    write_rest(profile, markdown, file);
    write_noise(profile, markdown, file);
    put(text, "the plain build %s: error %.1e, tolerance %.1e, in %zu rows%s",
        result->ok ? "is right" : "is WRONG", result->check.verdict.max_abs_err,
        result->check.verdict.tolerance, result->check.verdict.rows_checked,
        result->agrees ? ", measured = planned" : ", measured differs from planned");
    write_line(markdown, "verdict", text, file);
    if (profile->count < PROFILE_PARTS && result->ok) {
        put(text, "%zu of %d parts are there", profile->count, PROFILE_PARTS);
        write_line(markdown, "missing", text, file);
    }
    (void)fprintf(file,
                  "\n%sshare: of the plain build's time; \"?\" where the interval reaches "
                  "into the noise of plain against plain.\n",
                  markdown ? "" : "  ");
}

static enum status write_grid(const struct profile_report *report, bool markdown, FILE *file)
{
    enum status status = STATUS_OK;
    struct grid grid;

    write_head(report, markdown, file);
    grid_init(&grid, columns, PART_COLUMNS);
    STATUS_TRY(fill_grid(&grid, report->profile, markdown));
    if (report->profile->count > 0) {
        grid_write(&grid, markdown ? GRID_MARKDOWN : report->utf8 ? GRID_UTF8 : GRID_ASCII, file);
        (void)fputc('\n', file);
    }
    write_summary(report, markdown, file);
out:
    grid_fini(&grid);
    return status;
}

/* JSON -------------------------------------------------------------------------------------- */

static json_t *part_json(const struct profile *profile, const struct profile_part *part)
{
    const bool timed = isfinite(part->share);

    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:[o,o], s:o, s:o}", "kind",
        profile_kind_name(part->kind), "name", part->name, "what", part->what, "defines",
        part->defines, "results", profile_check_name(part->check), "why",
        part->why != NULL ? json_string(part->why) : json_null(), "share",
        context_real(part->share), "tile_us", context_real(part->share * profile->tile_ns * 1e-3),
        "interval", context_real(part->lower), context_real(part->upper), "noise_floor",
        context_real(part->noise_floor), "clear", timed ? json_boolean(part->clear) : json_null());
}

static json_t *parts_json(const struct profile *profile)
{
    json_t *parts = json_array();

    for (size_t i = 0; parts != NULL && i < profile->count; i++) {
        if (json_array_append_new(parts, part_json(profile, &profile->parts[i])) != 0) {
            json_decref(parts);
            parts = NULL;
        }
    }
    return parts;
}

/* The plain build as a sweep's row, without a time. */
static enum status plain_json(const struct profile_report *report, json_t **out)
{
    enum status status = STATUS_OK;
    struct rows rows = {0};
    const struct rows_source source = {.cell = report->cell, .result = &report->profile->result};

    *out = NULL;
    STATUS_TRY(rows_add_cell(&rows, &source));
    STATUS_TRY(write_row_json(&rows.items[0], out));
out:
    rows_fini(&rows);
    return status;
}

static enum status write_object(const struct profile_report *report, FILE *file)
{
    enum status status = STATUS_OK;
    const struct profile *profile = report->profile;
    const struct results none = {.list = NULL};
    json_t *context = NULL;
    json_t *plain = NULL;
    json_t *json = NULL;

    STATUS_TRY(context_json(report->context, &none, &context));
    STATUS_TRY(plain_json(report, &plain));
    json = json_pack("{s:O, s:{s:O, s:o, s:o, s:o}}", "context", context, "profile", "plain", plain,
                     "launch_ms", context_real(profile->launch_ns * 1e-6), "tile_us",
                     context_real(profile->tile_ns * 1e-3), "parts", parts_json(profile));
    if (json == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "profile", "no memory to write it");
        goto out;
    }
    (void)json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
    (void)fputc('\n', file);
out:
    json_decref(json);
    json_decref(plain);
    json_decref(context);
    return status;
}

/* CSV --------------------------------------------------------------------------------------- */

static void csv_real(double real, FILE *file)
{
    (void)fputc(',', file);
    if (isfinite(real)) {
        (void)fprintf(file, "%.*g", WRITE_REAL_DIGITS, real);
    }
}

/* Names and kinds hold no comma and no quote. */
static void write_lines(const struct profile_report *report, FILE *file)
{
    const struct profile *profile = report->profile;

    (void)fputs("run_name,kind,name,results,share,lower,upper,tile_us,noise_floor,clear\n", file);
    for (size_t i = 0; i < profile->count; i++) {
        const struct profile_part *part = &profile->parts[i];
        (void)fprintf(file, "%s,%s,%s,%s", report->cell->name, profile_kind_name(part->kind),
                      part->name, profile_check_name(part->check));
        csv_real(part->share, file);
        csv_real(part->lower, file);
        csv_real(part->upper, file);
        csv_real(part->share * profile->tile_ns * 1e-3, file);
        csv_real(part->noise_floor, file);
        (void)fprintf(file, ",%s\n", !isfinite(part->share) ? "" : part->clear ? "true" : "false");
    }
}

enum status profile_write(const struct profile_report *report, enum format format, FILE *file)
{
    switch (format) {
    case FORMAT_JSON:
        return write_object(report, file);
    case FORMAT_CSV:
        write_lines(report, file);
        return STATUS_OK;
    case FORMAT_TABLE:
    case FORMAT_MD:
        return write_grid(report, format == FORMAT_MD, file);
    }
    return STATUS_FAIL(STATUS_MISUSE, "profile", "no such format");
}
