/* What attend prints: lines for a person, or the row of a sweep as one JSON object. */
#include "host/app/attend.h"

#include "host/app/rows.h"
#include "host/app/writers.h"
#include "host/base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef char number[UNITS_TEXT_BYTES];

/* Lines ------------------------------------------------------------------------------------- */

static void print_problem(const struct problem *problem, FILE *file)
{
    number queries;
    number keys;

    (void)fprintf(file, "attention  %s, batch %zu, heads %zu / %zu, %s queries on %s keys, ",
                  dtype_name(problem->dtype), problem->batch, problem->q_heads, problem->kv_heads,
                  units_format_count(problem->seq_q, queries),
                  units_format_count(problem->seq_kv, keys));
    (void)fprintf(file, "head_dim %zu / %zu, scale %.6g", problem->head_dim, problem->head_dim_v,
                  problem_scale(problem));
    if (problem->causal) {
        (void)fputs(", causal", file);
    }
    if (problem->window_left >= 0 || problem->window_right >= 0) {
        (void)fprintf(file, ", window %lld,%lld", (long long)problem->window_left,
                      (long long)problem->window_right);
    }
    if (problem->softcap > 0.0) {
        (void)fprintf(file, ", softcap %g", problem->softcap);
    }
    (void)fprintf(file, "%s%s%s\n", problem->alibi ? ", ALiBi" : "",
                  problem->sinks ? ", sinks" : "", problem->mask ? ", mask" : "");
}

static void print_place(const struct attend_report *report, FILE *file)
{
    const struct cell *cell = report->cell;
    number pool;

    (void)fprintf(file, "device     %s (%s), %zu PE%s, %s kernel\n", report->device->name,
                  report->device->platform_name, cell->pes, cell->pes == 1 ? "" : "s",
                  kernel_style_name(cell->style));
    (void)fprintf(file, "program    %s, blocks %zu x %zu, S = %zu tiles, pool %s%s\n",
                  policy_name(cell->policy), cell->problem.block_m, cell->problem.block_n,
                  report->result->tiles, units_format_bytes(cell->pool_bytes, pool),
                  cell->arena == PE_ARENAS_LOCAL ? " in local memory" : "");
}

static void print_scratch(const struct cell_result *result, FILE *file)
{
    number planned;
    number measured;
    number bound;

    (void)fprintf(file, "scratch    planned peak %s bytes, measured %s, least possible %s\n",
                  units_format_count(result->footprint.peak_bytes, planned),
                  units_format_count(result->check.touch.peak_bytes, measured),
                  units_format_count(result->footprint.lower_bound_bytes, bound));
    if (result->parts_bytes > 0) {
        (void)fprintf(file, "parts      planned %s bytes, measured %s\n",
                      units_format_count(result->parts_bytes, planned),
                      units_format_count(result->check.parts_touched_bytes, measured));
    }
}

static void print_time(const struct cell_run *run, FILE *file)
{
    number time;

    (void)fprintf(file, "time       %s a launch", units_format_ns(run->real_time_ns, time));
    if (isfinite(run->gflops)) {
        (void)fprintf(file, ", %.1f GFLOP/s", run->gflops);
    }
    (void)fputc('\n', file);
}

static void print_verdict(const struct attend_report *report, FILE *file)
{
    const struct cell_result *result = report->result;
    const struct verdict *verdict = &result->check.verdict;
    number checked;
    number rows;

    (void)fprintf(file, "verdict    %s: error %.1e (tolerance %.1e), LSE %.1e (%.1e), ",
                  result->ok ? "ok" : "WRONG", verdict->max_abs_err, verdict->tolerance,
                  verdict->lse_max_abs_err, verdict->lse_tolerance);
    (void)fprintf(file, "%s of %s rows%s\n", units_format_count(verdict->rows_checked, checked),
                  units_format_count(problem_lse_elems(&report->cell->problem), rows),
                  report->settings->verify ? "" : "; --verify checks more");
}

static void print_lines(const struct attend_report *report, FILE *file)
{
    print_problem(&report->cell->problem, file);
    print_place(report, file);
    print_scratch(report->result, file);
    print_time(report->run, file);
    print_verdict(report, file);
    (void)fprintf(file, "written    %s, %s\n", report->settings->out, report->settings->lse);
}

/* JSON -------------------------------------------------------------------------------------- */

static enum status make_json(const struct attend_report *report, json_t **out)
{
    enum status status = STATUS_OK;
    struct rows rows = {.count = 0};
    const struct rows_source source = {
        .cell = report->cell, .result = report->result, .runs = report->run, .count = 1};

    *out = NULL;
    STATUS_TRY(rows_add_cell(&rows, &source));
    STATUS_TRY(write_row_json(&rows.items[0], out));
    if (json_object_set_new(*out, "device", context_text(report->device->name)) != 0 ||
        json_object_set_new(*out, "out", context_text(report->settings->out)) != 0 ||
        json_object_set_new(*out, "lse", context_text(report->settings->lse)) != 0) {
        json_decref(*out);
        *out = NULL;
        status = STATUS_FAIL(STATUS_NO_MEMORY, "attend", "no memory for the report");
    }
out:
    rows_fini(&rows);
    return status;
}

static enum status print_json(const struct attend_report *report, FILE *file)
{
    enum status status = STATUS_OK;
    json_t *json = NULL;

    STATUS_TRY(make_json(report, &json));
    (void)json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
    (void)fputc('\n', file);
out:
    json_decref(json);
    return status;
}

enum status attend_report_print(const struct attend_report *report)
{
    enum status status = STATUS_OK;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    if (file == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attend", "no memory for the report");
    }
    if (report->settings->format == FORMAT_JSON) {
        status = print_json(report, file);
    } else {
        print_lines(report, file);
    }
    bool failed = ferror(file) != 0;
    if ((fclose(file) != 0 || failed) && status == STATUS_OK) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "attend", "no memory for the report");
    }
    if (status == STATUS_OK) {
        status = output_write(STDOUT_FILENO, "stdout", text, length);
    }
    free(text);
    return status;
}
