#include "host/base/status.h"

#include "host/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct status_record record;

const struct status_record *status_last(void)
{
    return &record;
}

void status_clear(void)
{
    free(record.detail);
    record = (struct status_record){.status = STATUS_OK};
}

const char *status_name(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return "ok";
    case STATUS_MISUSE:
        return "misuse";
    case STATUS_STALE:
        return "stale handle";
    case STATUS_NO_SPACE:
        return "no space";
    case STATUS_RANGE:
        return "out of range";
    case STATUS_BAD_INPUT:
        return "bad input";
    case STATUS_NO_MEMORY:
        return "out of memory";
    case STATUS_NO_DEVICE:
        return "no usable device";
    case STATUS_OPENCL:
        return "OpenCL error";
    case STATUS_IO:
        return "input or output error";
    case STATUS_WRONG:
        return "wrong result";
    case STATUS_INTERRUPTED:
        return "interrupted";
    }
    return "unknown status";
}

/* Its parameters are those of the macros in the header. */
/* NOLINTNEXTLINE(readability-function-size) */
enum status status_record(enum status status, int code, const char *expression, const char *file,
                          int line, const char *what, const char *why_format, ...)
{
    if (status == STATUS_OK || record.status != STATUS_OK) {
        return status;
    }
    record.status = status;
    record.code = code;
    record.expression = expression;
    record.file = file;
    record.line = line;

    struct text text = text_begin(record.what, sizeof record.what);
    text_add(&text, "%s", what != NULL ? what : "");
    text = text_begin(record.why, sizeof record.why);
    va_list args;
    va_start(args, why_format);
    text_add_args(&text, why_format, args);
    va_end(args);
    return status;
}

void status_hint(const char *format, ...)
{
    if (record.status == STATUS_OK || record.hint[0] != '\0') {
        return;
    }
    struct text text = text_begin(record.hint, sizeof record.hint);
    va_list args;
    va_start(args, format);
    text_add_args(&text, format, args);
    va_end(args);
}

void status_detail(const char *text)
{
    if (record.status == STATUS_OK || record.detail != NULL) {
        return;
    }
    size_t size = strlen(text) + 1;
    record.detail = malloc(size);
    if (record.detail != NULL) {
        memcpy(record.detail, text, size);
    }
}
