/* Status codes and the first-error record.
 *
 * Every fallible function of the library layers returns `enum status`. The first failure of a
 * chain is recorded with its place and its text; later ones on the way out do not replace it.
 * Library code never prints: host/app turns the record into one line,
 *     scratchscope: error: WHAT: WHY
 * and a line with the hint where there is one.
 *
 *     enum status status = STATUS_OK;
 *     STATUS_TRY(arena_init(&arena, base, capacity));
 *     ...
 * out:
 *     return status;
 */
#ifndef HOST_BASE_STATUS_H
#define HOST_BASE_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_MISUSE,      /* the caller broke a rule (R2, R6); nothing changed */
    STATUS_STALE,       /* a handle was used after its scope ended (R7); nothing changed */
    STATUS_NO_SPACE,    /* an allocation does not fit its arena (R5); nothing changed */
    STATUS_RANGE,       /* a size or count does not fit its type (R4); nothing changed */
    STATUS_BAD_INPUT,   /* a value from the user is not usable: exit 2 */
    STATUS_NO_MEMORY,   /* the host has no memory left */
    STATUS_NO_DEVICE,   /* no usable OpenCL device: exit 3 */
    STATUS_OPENCL,      /* an OpenCL call failed: exit 3 */
    STATUS_IO,          /* a file could not be read or written: exit 2 */
    STATUS_WRONG,       /* the numbers are wrong: exit 1 */
    STATUS_INTERRUPTED, /* SIGINT or SIGTERM arrived; what was done is kept */
};

#define STATUS_MUST_USE __attribute__((warn_unused_result))

/* The first error since status_clear(), one record a thread. */
struct status_record {
    enum status status;     /* STATUS_OK = no error recorded */
    int code;               /* OpenCL error code or errno; 0 = none */
    const char *expression; /* the source text that failed; static */
    const char *file;       /* static */
    int line;               /* from 1 */
    char what[256];         /* what failed, in the user's words */
    char why[1024];         /* the reason, with numbers */
    char hint[512];         /* what to do about it; "" = none */
    char *detail;           /* long text (a whole build log), on the heap; NULL = none */
};

/* The record of this thread. Never NULL; valid until status_clear(). */
const struct status_record *status_last(void);

/* Forgets the record and frees its detail. */
void status_clear(void);

/* "no space", "OpenCL error" ...; never NULL. */
const char *status_name(enum status status);

/* Records an error unless one is recorded already, and returns `status` either way. Texts longer
 * than their field are cut. Use STATUS_FAIL. */
enum status status_record(enum status status, int code, const char *expression, const char *file,
                          int line, const char *what, const char *why_format, ...)
    __attribute__((format(printf, 7, 8)));

/* Adds a hint, or the long detail (copied), to the record if it has none yet. */
void status_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void status_detail(const char *text);

/* Records and returns: return STATUS_FAIL(STATUS_MISUSE, "scratch_end", "no scope is open"); */
#define STATUS_FAIL(status_, what_, ...)                                                           \
    status_record((status_), 0, NULL, __FILE__, __LINE__, (what_), __VA_ARGS__)

/* Runs a fallible call; on failure notes the place and leaves by `out`, where `status` tells. */
#define STATUS_TRY(expression_)                                                                    \
    do {                                                                                           \
        status = (expression_);                                                                    \
        if (status != STATUS_OK) {                                                                 \
            status_record(status, 0, #expression_, __FILE__, __LINE__, #expression_, "%s",         \
                          status_name(status));                                                    \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

#endif
