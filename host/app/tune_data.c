/* Tune's results for other programs: Google Benchmark's JSON shape, and CSV of the same rows. */
#include "host/app/tune_report.h"

#include "host/app/writers.h"

#include <math.h>
#include <string.h>

/* The keys of a row -------------------------------------------------------------------------- */

static json_t *truth(bool value)
{
    return json_integer(value ? 1 : 0);
}

/* NaN at no speed. */
static double time_ms(const struct tune_row *row, double gflops)
{
    return gflops > 0.0 ? row->flops / gflops * 1e-6 : (double)NAN;
}

static json_t *run_json(const struct tune_row *row)
{

    return json_pack("{s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:o, s:n, s:s, s:o, s:o, s:o}", "name",
                     context_text(row->name), "run_name", context_text(row->name), "run_type",
                     "iteration", "repetitions", 1, "repetition_index", 0, "threads", 1,
                     "iterations", 1, "real_time", context_real(time_ms(row, row->gflops)),
                     "cpu_time", "time_unit", "ms", "gflops", context_real(row->gflops),
                     "pairs_time", context_real(time_ms(row, row->pairs_gflops)), "pairs_gflops",
                     context_real(row->pairs_gflops > 0.0 ? row->pairs_gflops : (double)NAN));
}

static json_t *cell_json(const struct tune_report *report, const struct tune_row *row)
{
    const struct cell *cell = report->cell;
    const struct problem *p = &cell->problem;
    const size_t peak_bytes = row->tile->peak_bytes[row->policy];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o}",
                     "preset", cell->preset, "policy", policy_name(row->policy), "dtype",
                     dtype_name(p->dtype), "kernel", kernel_style_name(cell->style), "arena",
                     pe_arenas_space_name(cell->arena), "pes", context_size(cell->pes), "batch",
                     context_size(p->batch), "q_heads", context_size(p->q_heads), "kv_heads",
                     context_size(p->kv_heads), "seq_q", context_size(p->seq_q), "seq_kv",
                     context_size(p->seq_kv), "head_dim", context_size(p->head_dim), "head_dim_v",
                     context_size(p->head_dim_v), "block_m", context_size(row->tile->block_m),
                     "block_n", context_size(row->tile->block_n), "tiles",
                     context_size(row->tile->tiles), "pool_bytes",
                     cell->pool_grow ? json_null() : context_size(cell->pool_bytes),
                     "planned_peak_bytes", context_size(peak_bytes));
}

/* A winner's verdict; null elsewhere: only winners are checked. */
static json_t *verdict_json(const struct tune_row *row)
{
    const struct cell_result *result = row->result;

    if (result == NULL) {
        return json_pack("{s:n, s:n, s:n, s:n, s:n}", "measured_peak_bytes", "verified",
                         "max_abs_err", "tolerance", "rows_checked");
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "measured_peak_bytes",
                     context_size(result->check.touch.peak_bytes), "verified",
                     truth(result->check.verdict.verified), "max_abs_err",
                     context_real(result->check.verdict.max_abs_err), "tolerance",
                     context_real(result->check.verdict.tolerance), "rows_checked",
                     context_size(result->check.verdict.rows_checked));
}

static bool add_keys(json_t *row, json_t *keys)
{
    const bool added = row != NULL && keys != NULL && json_object_update(row, keys) == 0;

    json_decref(keys);
    return added;
}

static enum status row_json(const struct tune_report *report, const struct tune_row *row,
                            json_t **out)
{
    json_t *json = run_json(row);

    *out = json;
    if (add_keys(json, cell_json(report, row)) && add_keys(json, verdict_json(row)) &&
        json_object_set_new(json, "winner", truth(row->winner)) == 0 &&
        json_object_set_new(json, "front", truth(row->front)) == 0) {
        return STATUS_OK;
    }
    json_decref(json);
    *out = NULL;
    return STATUS_FAIL(STATUS_NO_MEMORY, "tune", "no memory for a row");
}

/* JSON -------------------------------------------------------------------------------------- */

static json_t *ratio_json(const struct tune_ratio *ratio, double noise_floor)
{
    char policies[64];

    (void)snprintf(policies, sizeof policies, "%s/%s", policy_name(ratio->numerator),
                   policy_name(ratio->denominator));
    return json_pack("{s:s, s:o, s:[o,o], s:o, s:o}", "policies", policies, "ratio",
                     context_real(ratio->ratio.ratio), "interval", context_real(ratio->ratio.lower),
                     context_real(ratio->ratio.upper), "blocks", context_size(ratio->ratio.blocks),
                     "noise_floor", context_real(noise_floor));
}

static json_t *fitting_json(const struct tune_report *report)
{
    json_t *json = json_object();

    for (size_t policy = 0; json != NULL && policy < POLICY_COUNT; policy++) {
        if (report->policies[policy]) {
            (void)json_object_set_new(
                json, policy_name((enum policy)policy),
                context_size(tune_space_fitting(&report->result->space, (enum policy)policy)));
        }
    }
    return json;
}

static json_t *search_json(const struct tune_report *report)
{
    const struct tune_result *result = report->result;
    json_t *ratios = json_array();

    for (size_t i = 0; ratios != NULL && i < result->ratio_count; i++) {
        (void)json_array_append_new(ratios, ratio_json(&result->ratios[i], result->noise_floor));
    }
    return json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "tiles_that_fit", fitting_json(report),
                     "tiles_timed", context_size(tune_space_timed(&result->space)), "complete",
                     result->complete ? 1 : 0, "interrupted", report->stopped ? 1 : 0,
                     "wrong_tiles", context_size(result->wrong), "seconds",
                     context_real(result->seconds), "ratios", ratios);
}

/* What the command line asked for that no row tells. */
static json_t *asked_json(const struct settings *settings)
{
    return json_pack("{s:o, s:o, s:s}", "time_limit_s", context_real(settings->time_limit_s),
                     "seed", context_size(settings->seed), "bind",
                     settings->bind == SETTINGS_BIND_NONE ? "none" : "auto");
}

enum status tune_data_json(const struct tune_report *report, const struct tune_rows *rows,
                           FILE *file)
{
    enum status status = STATUS_OK;
    struct cell_list no_cells = {0};
    const struct results no_results = {.list = &no_cells};
    json_t *context = NULL;
    json_t *search = search_json(report);

    STATUS_TRY(context_json(report->context, &no_results, &context));
    if (search == NULL || json_object_set_new(context, "tune", search) != 0 ||
        json_object_set_new(context, "settings", asked_json(report->settings)) != 0) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "tune", "no memory for its results");
        goto out;
    }
    (void)fprintf(file, "{\n\"context\": ");
    (void)json_dumpf(context, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
    (void)fprintf(file, ",\n\"benchmarks\": [");
    for (size_t i = 0; i < rows->count; i++) {
        json_t *row = NULL;
        STATUS_TRY(row_json(report, &rows->rows[i], &row));
        (void)fprintf(file, "%s\n    ", i == 0 ? "" : ",");
        (void)json_dumpf(row, file, JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
        json_decref(row);
    }
    (void)fprintf(file, "\n]\n}\n");
out:
    json_decref(context);
    return status;
}

/* CSV --------------------------------------------------------------------------------------- */

/* No text of a row needs quotes but its name, where a window has a comma. */
static void csv_value(const json_t *value, FILE *file)
{
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        const char *quote = strchr(text, ',') != NULL ? "\"" : "";
        (void)fprintf(file, "%s%s%s", quote, text, quote);
    } else if (json_is_integer(value)) {
        (void)fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        (void)fprintf(file, "%.*g", WRITE_REAL_DIGITS, json_real_value(value));
    }
}

static void csv_line(json_t *row, bool keys, FILE *file)
{
    const char *key = NULL;
    json_t *value = NULL;
    bool first = true;

    json_object_foreach(row, key, value)
    {
        (void)fputs(first ? "" : ",", file);
        if (keys) {
            (void)fputs(key, file);
        } else {
            csv_value(value, file);
        }
        first = false;
    }
    (void)fputc('\n', file);
}

/* The header, too, is that of a row: without one, of none. */
enum status tune_data_csv(const struct tune_report *report, const struct tune_rows *rows,
                          FILE *file)
{
    enum status status = STATUS_OK;
    static const struct tune_tile none = {.block_m = 0};
    const struct tune_row blank = {.tile = &none};

    for (size_t i = 0; i <= rows->count; i++) {
        json_t *row = NULL;
        STATUS_TRY(row_json(report, i == 0 ? &blank : &rows->rows[i - 1], &row));
        csv_line(row, i == 0, file);
        json_decref(row);
    }
out:
    return status;
}
