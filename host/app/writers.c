#include "host/app/writers.h"

#include <string.h>

/* JSON -------------------------------------------------------------------------------------- */

static json_t *value_json(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NONE:
        return json_null();
    case VALUE_TEXT:
        return context_text(value->as.text);
    case VALUE_COUNT:
        return context_size(value->as.count);
    case VALUE_REAL:
        return context_real(value->as.real);
    case VALUE_TRUTH:
        return json_boolean(value->as.truth);
    }
    return json_null();
}

enum status write_row_json(const struct row *row, json_t **out)
{
    json_t *json = json_object();

    for (size_t i = 0; json != NULL && i < FIELD_COUNT; i++) {
        if (json_object_set_new(json, field_key((enum field_id)i), value_json(&row->values[i])) !=
            0) {
            json_decref(json);
            json = NULL;
        }
    }
    *out = json;
    return json != NULL ? STATUS_OK
                        : STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory for a row");
}

/* A row a line, so that a file can be read, searched and compared by lines. */
static enum status json_rows(const struct rows *rows, bool *first, FILE *file)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < rows->count; i++) {
        json_t *json = NULL;
        STATUS_TRY(write_row_json(&rows->items[i], &json));
        (void)fprintf(file, "%s\n    ", *first ? "" : ",");
        (void)json_dumpf(json, file, JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
        json_decref(json);
        *first = false;
    }
out:
    return status;
}

enum status write_json(const struct report *report, FILE *file)
{
    enum status status = STATUS_OK;
    const struct results *results = report->results;
    json_t *context = NULL;
    bool first = true;

    STATUS_TRY(context_json(report->context, results, &context));
    (void)fprintf(file, "{\n\"context\": ");
    (void)json_dumpf(context, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
    (void)fprintf(file, ",\n\"benchmarks\": [");
    for (size_t i = 0; i < results->list->count; i++) {
        STATUS_TRY(json_rows(&results->of_cell[i], &first, file));
    }
    STATUS_TRY(json_rows(&results->extra, &first, file));
    (void)fprintf(file, "\n]\n}\n");
out:
    json_decref(context);
    return status;
}

/* CSV --------------------------------------------------------------------------------------- */

/* RFC 4180: quoted where it must be, quotes doubled. */
static void csv_text(const char *text, FILE *file)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, file);
        return;
    }
    (void)fputc('"', file);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '"' ? "\"" : "", file);
        (void)fputc(*text, file);
    }
    (void)fputc('"', file);
}

static void csv_value(const struct value *value, FILE *file)
{
    switch (value->kind) {
    case VALUE_NONE:
        break;
    case VALUE_TEXT:
        csv_text(value->as.text, file);
        break;
    case VALUE_COUNT:
        (void)fprintf(file, "%zu", value->as.count);
        break;
    case VALUE_REAL:
        (void)fprintf(file, "%.*g", WRITE_REAL_DIGITS, value->as.real);
        break;
    case VALUE_TRUTH:
        (void)fputs(value->as.truth ? "true" : "false", file);
        break;
    }
}

static void csv_rows(const struct rows *rows, FILE *file)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = 0; j < FIELD_COUNT; j++) {
            (void)fputs(j == 0 ? "" : ",", file);
            csv_value(&rows->items[i].values[j], file);
        }
        (void)fputc('\n', file);
    }
}

enum status write_csv(const struct report *report, FILE *file)
{
    const struct results *results = report->results;

    for (size_t j = 0; j < FIELD_COUNT; j++) {
        (void)fprintf(file, "%s%s", j == 0 ? "" : ",", field_key((enum field_id)j));
    }
    (void)fputc('\n', file);
    for (size_t i = 0; i < results->list->count; i++) {
        csv_rows(&results->of_cell[i], file);
    }
    csv_rows(&results->extra, file);
    return STATUS_OK;
}

enum status write_report(const struct report *report, enum format format, FILE *file)
{
    switch (format) {
    case FORMAT_JSON:
        return write_json(report, file);
    case FORMAT_CSV:
        return write_csv(report, file);
    case FORMAT_TABLE:
    case FORMAT_MD:
        return write_table(report, format == FORMAT_MD, file);
    }
    return STATUS_FAIL(STATUS_MISUSE, "results", "no such format");
}
