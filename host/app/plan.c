/* scratchscope plan: a sweep's rows from the recorded program, with no device. */
#include "host/app/app.h"
#include "host/app/block.h"
#include "host/app/flags.h"
#include "host/app/output.h"

struct plan {
    struct settings settings;
    struct cell_list list;
    struct outputs outputs;
    struct results results;
};

static enum status plan_cells(struct plan *plan)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < plan->list.count; i++) {
        struct cell cell = plan->list.cells[i];
        struct cell_result result;
        const struct rows_source source = {.cell = &cell, .result = &result};
        STATUS_TRY(cell_plan(&cell, 0, 0, NULL, &result));
        STATUS_TRY(results_set(&plan->results, i, &source));
    }
out:
    return status;
}

static enum status run(struct plan *plan, const char *program)
{
    enum status status = STATUS_OK;
    const struct context context = {.executable = program, .pes = plan->settings.pes};
    const struct report report = {
        .results = &plan->results, .context = &context, .utf8 = app_utf8()};

    STATUS_TRY(cell_list_init(&plan->settings, &plan->list));
    STATUS_TRY(block_resolve(&plan->settings, NULL, &plan->list));
    STATUS_TRY(cell_list_choose(&plan->list));
    STATUS_TRY(outputs_open(&plan->settings, &plan->outputs));
    STATUS_TRY(results_init(&plan->results, &plan->list, true));
    STATUS_TRY(plan_cells(plan));
    STATUS_TRY(outputs_finish(&plan->outputs, &report, outputs_stdout_format(&plan->settings)));
out:
    return status;
}

int app_plan(const char *program, int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct plan plan = {.outputs = {.count = 0}};
    bool help = false;

    STATUS_TRY(flags_take(COMMAND_PLAN, &argc, argv));
    STATUS_TRY(settings_parse(COMMAND_PLAN, argc, argv, &plan.settings, &help));
    if (!help) {
        status = run(&plan, program);
    }
out:
    results_fini(&plan.results);
    outputs_close(&plan.outputs);
    cell_list_fini(&plan.list);
    settings_fini(&plan.settings);
    return help ? app_help(COMMAND_PLAN) : app_finish(status);
}
