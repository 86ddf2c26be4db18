/* The --benchmark_* flags: checked here, since Google Benchmark prints and exits on a bad one.
 * Internal to the shim; gbench.h has what callers need. */
#ifndef BENCH_GBENCH_FLAGS_H
#define BENCH_GBENCH_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <regex.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GBENCH_MAX_CONTEXT = 32 };

struct gbench_context {
    char *key;   /* owned; the value lies behind it in the same allocation */
    char *value; /* borrowed from key */
};

struct gbench_flags {
    size_t repetitions;  /* 0 = not given */
    double min_time_s;   /* seconds; 0 = not given */
    uint64_t iterations; /* --benchmark_min_time=Nx; 0 = not given */
    double warmup_s;     /* seconds */
    bool random_interleaving;
    bool aggregates_only;
    bool dry_run;
    bool filter_negated;
    regex_t *filter; /* owned; NULL = every name passes */
    struct gbench_context context[GBENCH_MAX_CONTEXT];
    size_t context_count; /* 0..GBENCH_MAX_CONTEXT */
};

/* What the last successful gbench_init took; all 0 before. */
const struct gbench_flags *gbench_flags_given(void);

#ifdef __cplusplus
}
#endif

#endif
