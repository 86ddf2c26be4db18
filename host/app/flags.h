/* Google Benchmark's flags on our command lines. */
#ifndef HOST_APP_FLAGS_H
#define HOST_APP_FLAGS_H

#include "host/app/settings.h"

/* Takes --benchmark_* out of argv, which afterwards holds our own options alone. plan takes
 * --benchmark_filter alone. STATUS_BAD_INPUT: a flag or value that is not taken. */
enum status flags_take(enum command command, int *argc, char **argv) STATUS_MUST_USE;

/* Fills repetitions and min_time_s of the settings, where not given, from the flags, else by
 * `repetitions` and `min_time_s`. STATUS_BAD_INPUT: both spellings are given, with other values. */
enum status flags_merge(struct settings *settings, size_t repetitions,
                        double min_time_s) STATUS_MUST_USE;

#endif
