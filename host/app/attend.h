/* scratchscope attend: what its files share. Settings -> tensors -> a checked run -> files and a
 * report. */
#ifndef HOST_APP_ATTEND_H
#define HOST_APP_ATTEND_H

#include "bench/cells.h"
#include "host/app/options.h"
#include "host/app/output.h"

/* What the command line asks for; texts are borrowed from argv. */
struct attend_settings {
    const char *q;                /* paths; never NULL after attend_settings_parse */
    const char *k;                /* */
    const char *v;                /* */
    const char *out;              /* */
    const char *lse;              /* */
    const char *sinks;            /* NULL = none */
    const char *mask;             /* NULL = none */
    bool causal;                  /* */
    struct options_window window; /* -1,-1 = none */
    double softcap;               /* 0 = none */
    bool alibi;                   /* */
    double scale;                 /* 0 = 1 / sqrt(head_dim) */
    size_t parts;                 /* >= 1 */
    size_t policy;                /* enum policy */
    size_t dtype;                 /* enum dtype; DTYPE_COUNT = the inputs' */
    size_t block_m;               /* */
    size_t block_n;               /* */
    struct options_block block;   /* automatic: the two above wait for it */
    struct options_pool pool;     /* */
    size_t arena;                 /* enum pe_arenas_space */
    size_t pes;                   /* 0 = auto */
    size_t kernel;                /* SETTINGS_KERNEL_ */
    size_t bind;                  /* SETTINGS_BIND_ */
    const char *device;           /* NULL = automatic */
    bool verify;                  /* check as many rows as a sweep does */
    size_t format;                /* FORMAT_TABLE or FORMAT_JSON */
};

/* Parses argv[1..argc). STATUS_BAD_INPUT: as options_parse, a file that is missing, options that
 * contradict each other. */
enum status attend_settings_parse(int argc, char **argv, struct attend_settings *out,
                                  bool *help) STATUS_MUST_USE;
void attend_settings_help(FILE *file);

/* The user's tensors. */
struct attend_tensors {
    struct problem problem; /* shapes, type and options of the settings; validated */
    struct inputs *inputs;  /* owned */
    size_t rank;            /* 2..4: of q, k, v and out */
};

/* Reads the files, checks their shapes against each other and converts them to the storage type.
 * STATUS_BAD_INPUT or STATUS_IO with the file and the reason: a damaged file, shapes that do not
 * fit, a finite value that the storage type does not hold. */
enum status attend_tensors_read(const struct attend_settings *settings,
                                struct attend_tensors *out) STATUS_MUST_USE;
void attend_tensors_fini(struct attend_tensors *tensors);

/* The two files that are written. */
struct attend_files {
    struct output out;
    struct output lse;
};

/* Shows that both can be written, and changes neither. STATUS_BAD_INPUT: one is the other, an
 * input, or stdout; STATUS_IO. Close them in any case. */
enum status attend_files_open(const struct attend_settings *settings,
                              struct attend_files *files) STATUS_MUST_USE;

/* Writes both: each is whole in a file beside it before either takes its name, so that a failure or
 * an interrupt leaves what was there. STATUS_IO, STATUS_NO_MEMORY, STATUS_INTERRUPTED. */
enum status attend_files_write(const struct attend_files *files,
                               const struct attend_tensors *tensors, const float *out,
                               const float *lse) STATUS_MUST_USE;
void attend_files_close(struct attend_files *files);

/* What is told of a finished run. */
struct attend_report {
    const struct attend_settings *settings;
    const struct device_info *device;
    const struct cell *cell;
    const struct cell_result *result; /* checked */
    const struct cell_run *run;       /* of one launch */
};

/* Prints it to stdout as a table or a JSON object. STATUS_IO, STATUS_NO_MEMORY. */
enum status attend_report_print(const struct attend_report *report) STATUS_MUST_USE;

#endif
