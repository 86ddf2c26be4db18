#include "host/app/flags.h"

#include "bench/gbench.h"

#include <string.h>

#define FILTER "--benchmark_filter="
#define PREFIX "--benchmark_"

/* Google Benchmark's flags take their values after a = alone. */
static enum status refuse_space(const char *flag)
{
    return STATUS_FAIL(STATUS_BAD_INPUT, flag, "its value is missing: write it after a =, %s=VALUE",
                       flag);
}

enum status flags_take(enum command command, int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--benchmark_filter") == 0) {
            return refuse_space(argv[i]);
        }
    }
    for (int i = 1; command == COMMAND_PLAN && i < *argc; i++) {
        if (strncmp(argv[i], PREFIX, strlen(PREFIX)) == 0 &&
            strncmp(argv[i], FILTER, strlen(FILTER)) != 0) {
            return STATUS_FAIL(STATUS_BAD_INPUT, argv[i],
                               "a plan runs nothing; of Google Benchmark's flags it takes "
                               "--benchmark_filter=REGEX alone");
        }
    }
    return gbench_init(argc, argv);
}

enum status flags_merge(struct settings *settings, size_t repetitions, double min_time_s)
{
    const size_t flag_repetitions = gbench_flag_repetitions();
    const double flag_min_time_s = gbench_flag_min_time_s();

    if (gbench_flag_iterations() != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_min_time",
                           "a sweep times rows for a time, not for a number of iterations");
    }
    if (flag_repetitions != 0 && settings->repetitions != 0 &&
        flag_repetitions != settings->repetitions) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_repetitions",
                           "%zu, but --repetitions says %zu", flag_repetitions,
                           settings->repetitions);
    }
    if (flag_min_time_s > 0.0 && settings->min_time_s > 0.0 &&
        flag_min_time_s != settings->min_time_s) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_min_time",
                           "%g s, but --min-time says %g s", flag_min_time_s, settings->min_time_s);
    }
    if (settings->repetitions == 0) {
        settings->repetitions = flag_repetitions != 0 ? flag_repetitions : repetitions;
    }
    if (settings->min_time_s == 0.0) {
        settings->min_time_s = flag_min_time_s > 0.0 ? flag_min_time_s : min_time_s;
    }
    return STATUS_OK;
}
