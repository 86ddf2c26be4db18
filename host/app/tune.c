/* scratchscope tune: the fastest tile in a pool, under each policy. */
#include "host/app/app.h"

#include "host/app/block.h"
#include "host/app/output.h"
#include "host/app/tune_report.h"

#include <stdlib.h>
#include <unistd.h>

struct job {
    struct settings settings;
    struct cell_list list; /* one problem, its policies */
    struct outputs outputs;
    struct place place;
    struct machine machine; /* before anything ran */
    struct tune_request request;
    struct tune_result result;
    struct context context;
};

/* Before any device ------------------------------------------------------------------------- */

static enum status prepare(struct job *job)
{
    enum status status = STATUS_OK;
    struct settings *settings = &job->settings;

    if (preset_at(settings->preset)->tiles != NULL && settings->tiles.count == 0) {
        STATUS_TRY(ranges_add("--tiles", &settings->tiles, SETTINGS_TUNE_TILES));
    }
    STATUS_TRY(cell_list_init(settings, &job->list));
    STATUS_TRY(outputs_open(settings, &job->outputs));
out:
    return status;
}

/* The search -------------------------------------------------------------------------------- */

/* What an earlier search has kept: it takes part, so that a short one does not replace it by what
 * it has come to. */
static void recall(struct job *job)
{
    struct tune_store store;
    const struct tune_store_key key = {.device = &job->place.device->info,
                                       .cell = &job->list.cells[0]};

    tune_store_init(&store);
    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        struct tune_block *known = &job->request.known[policy];
        if (!job->request.policies[policy] ||
            !tune_store_find(&store, &key, (enum policy)policy, known)) {
            *known = (struct tune_block){0};
        }
    }
}

static enum status open_place(struct job *job, const char *program)
{
    enum status status = STATUS_OK;
    const struct place_request request = {
        .device = job->settings.device,
        .kernel = job->settings.kernel,
        .pes = job->settings.pes,
        .pool_bytes = job->list.cells[0].pool_bytes,
        .bind = job->settings.bind,
        .arena = settings_arena(&job->settings),
    };

    STATUS_TRY(place_open(&request, &job->place));
    cell_list_place(&job->list, job->place.style, job->place.pes);
    machine_read("", &job->machine);
    job->context = (struct context){
        .executable = program,
        .device = &job->place.device->info,
        .topology = &job->place.topology,
        .binding = &job->place.binding,
        .machine = &job->machine,
        .pes = job->place.pes,
    };
    job->request = (struct tune_request){
        .cell = job->list.cells[0],
        .limit_s = job->settings.time_limit_s,
        .seed = job->settings.seed,
        .check_work = REFERENCE_DEFAULT_WORK,
    };
    job->request.cell.local_bytes = job->place.device->info.local_bytes;
    cell_limit_pool(&job->request.cell);
    for (size_t i = 0; i < job->list.count; i++) {
        job->request.policies[job->list.cells[i].policy] = true;
    }
    recall(job);
out:
    return status;
}

static enum status search(struct job *job)
{
    struct block_watch watch;
    struct tune_sink sink;

    block_watch_begin(&watch, &sink);
    enum status status =
        tune_run(job->place.device, &job->place.topology, &job->request, &sink, &job->result);
    block_watch_end(&watch);
    return status;
}

static void keep(const struct job *job)
{
    struct tune_store store;
    const struct tune_store_key key = {.device = &job->place.device->info,
                                       .cell = &job->list.cells[0]};
    bool found = false;

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        found = found || job->result.winners[policy].gflops > 0.0;
    }
    if (found) {
        tune_store_init(&store);
        tune_store_keep(&store, &key, job->result.winners);
    }
}

/* Results ----------------------------------------------------------------------------------- */

static enum status write_text(const void *what, enum format format, FILE *file)
{
    return tune_report_write(what, format, file);
}

static enum status write_results(const struct job *job, bool stopped)
{
    struct tune_report report = {
        .settings = &job->settings,
        .cell = &job->request.cell,
        .result = &job->result,
        .context = &job->context,
        .stopped = stopped,
        .utf8 = app_utf8(),
    };

    for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
        report.policies[policy] = job->request.policies[policy];
    }
    return outputs_put(&job->outputs, outputs_stdout_format(&job->settings),
                       (struct output_text){.write = write_text, .what = &report});
}

/* Whatever ended the search, what it has found goes where it belongs. */
static enum status publish(const struct job *job, enum status ran)
{
    const bool stopped = ran == STATUS_INTERRUPTED;

    if (ran != STATUS_OK && (!stopped || job->result.space.count == 0)) {
        return ran;
    }
    if (stopped) {
        status_clear(); /* so that a failure to write is told */
    }
    enum status status = write_results(job, stopped);
    if (status != STATUS_OK) {
        return status;
    }
    if (!stopped && job->result.wrong > 0) {
        return STATUS_FAIL(STATUS_WRONG, "tune",
                           "%zu of the fastest tiles gave wrong numbers or touched scratch that "
                           "was not planned, and were left out",
                           job->result.wrong);
    }
    return ran;
}

static enum status tune(struct job *job, const char *program)
{
    enum status status = STATUS_OK;

    STATUS_TRY(prepare(job));
    STATUS_TRY(open_place(job, program));
    status = search(job);
    keep(job);
    status = publish(job, status);
out:
    return status;
}

static void job_fini(struct job *job)
{
    tune_result_fini(&job->result);
    outputs_close(&job->outputs);
    cell_list_fini(&job->list);
    settings_fini(&job->settings);
    place_close(&job->place);
}

int app_tune(const char *program, int argc, char **argv)
{
    struct job job = {.place = {.device = NULL}};
    bool help = false;
    enum status status = settings_parse(COMMAND_TUNE, argc, argv, &job.settings, &help);

    if (status == STATUS_OK && !help) {
        status = tune(&job, program);
    }
    job_fini(&job);
    return help ? app_help(COMMAND_TUNE) : app_finish(status);
}
