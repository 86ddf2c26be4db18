/* scratchscope sweep: from the command line to rows in files and on stdout. */
#include "host/app/app.h"
#include "host/app/block.h"
#include "host/app/flags.h"
#include "host/app/interrupt.h"
#include "host/app/output.h"
#include "host/app/place.h"
#include "host/app/progress.h"
#include "host/app/resume.h"

#include "host/base/size.h"
#include "host/device/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* For the guess of the time that is left alone: a speed, and what each row costs at least. */
#define GUESSED_FLOPS 1e11
#define GUESSED_FIXED_S 0.3

struct job {
    struct settings settings;
    struct sweep_options options;
    struct cell_list list;
    struct outputs outputs;
    struct place place;
    struct results results;
    struct machine machine; /* before anything ran */
    struct context context;
    struct context_seconds seconds; /* the context's */
    struct sweep_outcome outcome;   /* */
    struct roofline roofline;       /* the context's; read_count 0 = not measured */
    struct report report;
    struct progress progress;
    struct cell *pending; /* the cells to run, owned */
    size_t *index;        /* of each in the list, owned */
    double *work;         /* guessed for each, s, summed up to and without it, owned */
    double all_work;      /* of all of them, s */
    size_t pending_count;
    size_t furthest;    /* cell that has been begun */
    size_t apart;       /* cells whose event and host time disagree */
    double first_apart; /* event over host of the first of them */
    enum status late;   /* a failure where the sink cannot return one */
};

/* Before any device ------------------------------------------------------------------------- */

static enum status prepare_options(struct job *job)
{
    enum status status = STATUS_OK;

    sweep_options_default(&job->options);
    STATUS_TRY(flags_merge(&job->settings, job->options.repetitions, job->options.min_time_s));
    if (job->settings.min_time_s > SETTINGS_MAX_MIN_TIME_S) {
        status =
            STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_min_time", "%g s is too long (at most %d s)",
                        job->settings.min_time_s, SETTINGS_MAX_MIN_TIME_S);
        goto out;
    }
    job->options.repetitions = gbench_flag_dry_run() ? 1 : job->settings.repetitions;
    job->options.min_time_s = job->settings.min_time_s;
    job->options.seed = job->settings.seed;
    job->options.pair_blocks = job->settings.pairs;
    if (job->settings.whole) {
        job->options.cut_s = (double)INFINITY;
    }
out:
    return status;
}

static enum status prepare(struct job *job)
{
    enum status status = STATUS_OK;

    STATUS_TRY(prepare_options(job));
    STATUS_TRY(cell_list_init(&job->settings, &job->list));
    if (!job->settings.block.automatic) { /* else the names are not known yet */
        STATUS_TRY(cell_list_choose(&job->list));
    }
    STATUS_TRY(outputs_open(&job->settings, &job->outputs));
    if (job->settings.resume && outputs_json_path(&job->outputs) == NULL) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--resume",
                           "no --output is a regular JSON file to go on with");
    }
out:
    return status;
}

/* The device -------------------------------------------------------------------------------- */

static enum status open_place(struct job *job)
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
    STATUS_TRY(block_resolve(&job->settings, &job->place, &job->list));
    cell_list_local(&job->list, job->place.device->info.local_bytes);
    if (job->settings.block.automatic) {
        STATUS_TRY(cell_list_choose(&job->list));
    }
    STATUS_TRY(results_init(&job->results, &job->list, false));
out:
    return status;
}

static void describe(struct job *job, const char *program)
{
    machine_read("", &job->machine);
    job->context = (struct context){
        .executable = program,
        .device = &job->place.device->info,
        .topology = &job->place.topology,
        .binding = &job->place.binding,
        .machine = &job->machine,
        .pes = job->place.pes,
        .sweep = &job->options,
        .seconds = &job->seconds,
        .poison = job->settings.poison,
        .arena = settings_arena(&job->settings),
    };
    job->report =
        (struct report){.results = &job->results, .context = &job->context, .utf8 = app_utf8()};
}

/* Running ----------------------------------------------------------------------------------- */

/* Which of the two times is right, the numbers can't tell. */
static void warn_of_clocks(const struct job *job)
{
    if (job->apart > 0) {
        (void)fprintf(stderr,
                      "scratchscope: clocks: on %zu row%s event time and host time differ by more "
                      "than 10 %%, on the first by a factor of %.3g; both are in the results\n",
                      job->apart, job->apart == 1 ? "" : "s", job->first_apart);
    }
}

static enum status on_row(void *user, const struct cell *cell, const struct cell_result *result,
                          const struct cell_run *runs, size_t count)
{
    enum status status = STATUS_OK;
    struct job *job = user;
    const struct rows_source source = {.cell = cell,
                                       .result = result,
                                       .runs = runs,
                                       .count = count,
                                       .roofline = job->context.roofline};

    STATUS_TRY(job->late);
    if (result->clocks_known && !result->clocks_agree) {
        job->first_apart = job->apart == 0 ? result->event_host_ratio : job->first_apart;
        job->apart++;
    }
    STATUS_TRY(results_set(&job->results, job->index[cell - job->pending], &source));
    STATUS_TRY(outputs_update(&job->outputs, &job->report));
out:
    return status;
}

static void on_ratio(void *user, const struct cell_ratio *ratio)
{
    struct job *job = user;

    if (job->late == STATUS_OK) {
        job->late = results_add_ratio(&job->results, ratio);
    }
}

static void on_progress(void *user, size_t index, size_t count, const struct cell *cell,
                        const char *stage)
{
    struct job *job = user;

    job->furthest = size_max(job->furthest, index); /* pairs go back to the group's first cell */
    const struct progress_line line = {
        .index = job->furthest,
        .count = count,
        .share = job->all_work > 0.0 ? job->work[job->furthest] / job->all_work : 0.0,
        .name = cell->name,
        .stage = stage,
    };
    progress_show(&job->progress, &line);
}

static bool on_poll(void *user)
{
    (void)user;
    return interrupt_signal() != 0;
}

static enum status resume(struct job *job)
{
    enum status status = STATUS_OK;
    struct resume found;
    const char *path = outputs_json_path(&job->outputs);

    if (!job->settings.resume) {
        return STATUS_OK;
    }
    STATUS_TRY(resume_read(path, &job->context, job->settings.force, &job->results, &found));
    (void)fprintf(stderr, "scratchscope: resume: %zu of %zu rows are in %s", found.kept,
                  job->list.count, path);
    if (found.differ > 0) {
        (void)fprintf(stderr, "; %zu contradict their plan and are measured again", found.differ);
    }
    (void)fputc('\n', stderr);
    job->roofline = found.roofline;
out:
    return status;
}

/* Seconds that a cell may take, for the guess of what is left: its repetitions, and about as long
 * again for check and pairs; large problems by their FLOPs. */
static double guess_work(const struct job *job, const struct cell *planned)
{
    struct cell cell = *planned;
    struct cell_result result;
    const struct device_info *info = &job->place.device->info;

    if (cell_plan(&cell, info->max_alloc_bytes, info->base_align_bytes, NULL, &result) !=
        STATUS_OK) {
        status_clear(); /* sweep_run plans it again, and tells */
        return 0.0;
    }
    double repetitions = (double)job->options.repetitions;
    double launch_s = result.flops / GUESSED_FLOPS;
    return result.overflow ? 0.0
                           : repetitions * job->options.min_time_s +
                                 (repetitions + 3.0) * launch_s + GUESSED_FIXED_S;
}

static enum status choose_pending(struct job *job)
{
    job->pending = calloc(job->list.count, sizeof *job->pending);
    job->index = calloc(job->list.count, sizeof *job->index);
    job->work = calloc(job->list.count, sizeof *job->work);
    if (job->pending == NULL || job->index == NULL || job->work == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "rows", "no memory for %zu", job->list.count);
    }
    job->pending_count = resume_pending(&job->results, job->index);
    for (size_t i = 0; i < job->pending_count; i++) {
        job->pending[i] = job->list.cells[job->index[i]];
        job->work[i] = job->all_work;
        job->all_work += guess_work(job, &job->pending[i]);
    }
    return STATUS_OK;
}

/* The roofline that rows are compared with: measured if any row is to be timed, else that of the
 * file. A sweep can do without it. */
static enum status measure_roofline(struct job *job)
{
    const struct roofline_request request = {
        .topology = &job->place.topology, .pes = job->place.pes, .interrupted = on_poll};
    enum status status = STATUS_OK;
    const uint64_t began_ns = event_clock_ns();

    if (job->all_work > 0.0) {
        status = roofline_measure(job->place.device, &request, &job->roofline);
    }
    job->seconds.roofline = (double)(event_clock_ns() - began_ns) * 1e-9;
    if (status == STATUS_INTERRUPTED) {
        return status;
    }
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "scratchscope: roofline: not measured, so no shares of it: %s: %s\n",
                      status_last()->what, status_last()->why);
        status_clear();
    }
    if (job->roofline.read_count > 0) {
        job->context.roofline = &job->roofline;
    }
    if (job->all_work > 0.0 && job->roofline.read_count > 0) {
        return roofline_probe_create(job->place.device, &job->roofline, &job->options.probe);
    }
    return STATUS_OK;
}

static enum status run(struct job *job)
{
    enum status status = STATUS_OK;
    const struct sweep_sink sink = {
        .user = job,
        .row = on_row,
        .ratio = on_ratio,
        .progress = on_progress,
        .interrupted = on_poll,
    };

    interrupt_catch();
    STATUS_TRY(measure_roofline(job));
    progress_begin(&job->progress);
    status = sweep_run(job->place.device, &job->place.topology, job->pending, job->pending_count,
                       &job->options, &sink, &job->outcome);
    progress_end(&job->progress);
    warn_of_clocks(job);
    STATUS_TRY(status);
    STATUS_TRY(job->late);
out:
    return status;
}

/* Whatever ended the sweep, the rows that it has go where they belong. */
static enum status publish(struct job *job, enum status ran)
{
    if (results_done(&job->results) == 0) {
        return ran;
    }
    if (ran == STATUS_INTERRUPTED) {
        status_clear(); /* so that a failure to write is told */
    }
    enum status status =
        outputs_finish(&job->outputs, &job->report, outputs_stdout_format(&job->settings));
    if (ran == STATUS_OK || (ran == STATUS_INTERRUPTED && status != STATUS_OK)) {
        ran = status;
    }
    size_t wrong = results_wrong(&job->results);
    if (ran == STATUS_OK && wrong > 0) {
        ran = STATUS_FAIL(STATUS_WRONG, "sweep", "%zu of %zu rows are wrong", wrong,
                          results_done(&job->results));
    }
    return ran;
}

/* What there is, and how to go on, where a file keeps the rows. */
static enum status interrupted(const struct job *job)
{
    const char *path = outputs_json_path(&job->outputs);
    size_t done = results_done(&job->results);

    status_clear();
    if (path != NULL && done > 0) {
        return STATUS_FAIL(STATUS_INTERRUPTED, "sweep",
                           "interrupted: %zu of %zu rows are kept in %s; the same command with "
                           "--resume goes on",
                           done, job->list.count, path);
    }
    return STATUS_FAIL(STATUS_INTERRUPTED, "sweep", "interrupted: %zu of %zu rows are done", done,
                       job->list.count);
}

static enum status sweep(struct job *job, const char *program)
{
    enum status status = STATUS_OK;

    STATUS_TRY(prepare(job));
    STATUS_TRY(open_place(job));
    describe(job, program);
    STATUS_TRY(resume(job));
    STATUS_TRY(choose_pending(job));
    status = run(job);
    status = publish(job, status);
    if (status == STATUS_INTERRUPTED) {
        status = interrupted(job);
    }
out:
    return status;
}

static void job_fini(struct job *job)
{
    free(job->pending);
    free(job->index);
    free(job->work);
    roofline_probe_destroy(job->options.probe);
    results_fini(&job->results);
    outputs_close(&job->outputs);
    cell_list_fini(&job->list);
    settings_fini(&job->settings);
    place_close(&job->place);
}

int app_sweep(const char *program, int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct job job = {.place = {.device = NULL}};
    job.seconds.began_ns = event_clock_ns();
    job.seconds.sweep = &job.outcome.seconds;
    bool help = false;

    STATUS_TRY(flags_take(COMMAND_SWEEP, &argc, argv));
    STATUS_TRY(settings_parse(COMMAND_SWEEP, argc, argv, &job.settings, &help));
    if (!help) {
        status = sweep(&job, program);
    }
out:
    job_fini(&job);
    return help ? app_help(COMMAND_SWEEP) : app_finish(status);
}
