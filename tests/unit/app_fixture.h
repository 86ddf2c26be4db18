/* What the tests of host/app share: settings from a command line, and results that look as if a
 * device had measured them. */
#ifndef TESTS_UNIT_APP_FIXTURE_H
#define TESTS_UNIT_APP_FIXTURE_H

#include "host/app/cell_list.h"
#include "host/app/context.h"
#include "host/app/results.h"
#include "host/app/settings.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APP_MAX_ARGS = 64, APP_REPETITIONS = 2, APP_RUNS = APP_REPETITIONS + 4 };

/* Parses "--tiles 1,2 --policy scoped" as arguments of `command`; the texts stay in a buffer that
 * the next call overwrites. */
static inline enum status app_parse(enum command command, const char *line,
                                    struct settings *settings)
{
    static char words[2048];
    static char name[] = "command";
    char *argv[APP_MAX_ARGS] = {name};
    int argc = 1;
    bool help = false;

    (void)snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && argc < APP_MAX_ARGS;
         word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    status_clear();
    return settings_parse(command, argc, argv, settings, &help);
}

/* The cells of a sweep's command line. */
static inline void app_cells(const char *line, struct cell_list *list)
{
    struct settings settings;

    assert_int_equal(app_parse(COMMAND_SWEEP, line, &settings), STATUS_OK);
    assert_int_equal(cell_list_init(&settings, list), STATUS_OK);
    cell_list_place(list, KERNEL_SIMD, 2);
    settings_fini(&settings);
}

/* A checked and right result of a planned cell. */
static inline struct cell_result app_result(struct cell *cell)
{
    struct cell_result result;

    assert_int_equal(cell_plan(cell, 0, 0, NULL, &result), STATUS_OK);
    if (!result.overflow) {
        result.checked = true;
        result.agrees = true;
        result.same_bits = true;
        result.ok = true;
        result.timed_items = result.items;
        result.timed_flops = result.flops;
        result.timed_read_bytes = result.traffic.dram_read_bytes;
        result.check = (struct attention_check){
            .verdict = {.verified = true,
                        .max_abs_err = 1e-4,
                        .tolerance = 2e-3,
                        .lse_max_abs_err = 1e-6,
                        .lse_tolerance = 1e-5,
                        .rows_checked = 512},
            .touch = {.peak_bytes = result.footprint.peak_bytes,
                      .touched_lines = result.footprint.touched_lines,
                      .guards_intact = true},
            .repeatable = true,
            .poison_neutral = true,
            .parts_touched_bytes = result.parts_bytes,
        };
    }
    return result;
}

static inline struct cell_run app_run(double ms, const char *aggregate, size_t index)
{
    bool cv = strcmp(aggregate, "cv") == 0;
    struct cell_run run = {
        .type = aggregate[0] != '\0' ? GBENCH_AGGREGATE : GBENCH_ITERATION,
        .repetitions = APP_REPETITIONS,
        .repetition_index = index,
        .threads = 1,
        .iterations = 10,
        .real_time_ns = cv ? ms : ms * 1e6,
        .cpu_time_ns = cv ? ms : ms * 1e5,
        .event_time_ns = cv ? ms : ms * 1e6,
        .host_time_ns = cv ? ms : ms * 1.5e6,
        .time_is_event = true,
        .gflops = 100.0,
    };

    (void)snprintf(run.aggregate_name, sizeof run.aggregate_name, "%s", aggregate);
    return run;
}

/* Two repetitions of 1 and 3 ms and their aggregates; for the caller to free. */
static inline struct cell_run *app_runs(void)
{
    struct cell_run *runs = calloc(APP_RUNS, sizeof *runs);

    assert_non_null(runs);
    runs[0] = app_run(1.0, "", 0);
    runs[1] = app_run(3.0, "", 1);
    runs[2] = app_run(2.0, "mean", 0);
    runs[3] = app_run(2.0, "median", 0);
    runs[4] = app_run(1.4142, "stddev", 0);
    runs[5] = app_run(0.7071, "cv", 0);
    return runs;
}

/* Sets the rows of a cell to a result, with runs unless it overflows. */
static inline void app_set(struct results *results, size_t index, struct cell *cell,
                           const struct cell_result *result)
{
    struct cell_run *runs = result->overflow ? NULL : app_runs();
    const struct rows_source source = {
        .cell = cell, .result = result, .runs = runs, .count = runs != NULL ? APP_RUNS : 0};

    assert_int_equal(results_set(results, index, &source), STATUS_OK);
    free(runs);
}

/* Sets the rows of a cell of the list: measured, or its overflow. */
static inline void app_measure(struct results *results, size_t index)
{
    struct cell cell = results->list->cells[index];
    struct cell_result result = app_result(&cell);

    app_set(results, index, &cell, &result);
}

/* A ratio of the group of a cell. */
static inline void app_add_ratio(struct results *results, size_t index, enum policy numerator,
                                 enum policy denominator)
{
    const struct cell *cell = &results->list->cells[index];
    struct cell_ratio ratio = {.preset = cell->preset,
                               .tiles = problem_tiles(&cell->problem),
                               .numerator = numerator,
                               .denominator = denominator,
                               .ratio = 0.875,
                               .lower = 0.85,
                               .upper = 0.9,
                               .blocks = 5,
                               .rounds = 4,
                               .noise_floor = 0.004,
                               .not_slower = true,
                               .conclusive = true};

    cell_list_group(cell, ratio.group);
    assert_int_equal(results_add_ratio(results, &ratio), STATUS_OK);
}

/* A device that is none, and the settings of a sweep on it. */
struct app_machine {
    struct device_info device;
    struct topology topology;
    struct sweep_options sweep;
    struct context context;
};

static inline void app_machine_init(struct app_machine *machine)
{
    *machine = (struct app_machine){
        .device = {.name = "test device", .platform_name = "test platform", .driver = "1.0"},
        .topology = {.cores = 2, .processing_units = 2, .packages = 1, .numa_nodes = 1},
    };
    sweep_options_default(&machine->sweep);
    machine->sweep.repetitions = APP_REPETITIONS;
    machine->context = (struct context){.executable = "scratchscope",
                                        .device = &machine->device,
                                        .topology = &machine->topology,
                                        .pes = 2,
                                        .sweep = &machine->sweep};
}

#endif
