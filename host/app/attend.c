/* scratchscope attend: the user's own tensors, checked and measured as a sweep's rows are. */
#include "host/app/attend.h"

#include "host/app/app.h"
#include "host/app/block.h"
#include "host/app/interrupt.h"
#include "host/app/place.h"
#include "host/app/settings.h"
#include "host/scratch/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for the reference's least number of rows. */
#define FEW_ROWS_WORK 0.0

struct job {
    struct attend_settings settings;
    struct attend_tensors tensors;
    struct attend_files files;
    struct place place;
    struct cell cell;
    struct cell_result result;
    struct cell_run run;
    float *out; /* owned */
    float *lse; /* owned */
};

/* Before any device ------------------------------------------------------------------------- */

static void make_cell(struct job *job)
{
    const struct attend_settings *settings = &job->settings;

    job->cell = (struct cell){
        .policy = (enum policy)settings->policy,
        .problem = job->tensors.problem,
        .arena = (enum pe_arenas_space)settings->arena,
        .local_bytes = SIZE_MAX,
        .pool_bytes = settings->pool.bytes,
        .alignment = ARENA_DEFAULT_ALIGNMENT,
        .pool_grow = settings->pool.grow,
    };
    (void)snprintf(job->cell.name, sizeof job->cell.name, "attend/%s/%s",
                   policy_name(job->cell.policy), dtype_name(job->cell.problem.dtype));
}

/* What a plan that overflows blames: the device, its local memory, or the pool. */
static const char *to_blame(const struct job *job, const struct device_info *info)
{
    if (info != NULL && strcmp(job->result.overflow_name, "device") == 0) {
        return info->name;
    }
    return job->cell.pool_bytes < job->settings.pool.bytes ? "--arena local" : "--pool";
}

/* Plans the cell, for a device or for none yet. One that does not fit its pool is the user's to
 * change; one that the device cannot hold is the device's failure. */
static enum status plan(struct job *job, const struct device_info *info,
                        const struct topology *topology)
{
    enum status status = STATUS_OK;
    struct cell_result *result = &job->result;

    STATUS_TRY(cell_plan(&job->cell, info != NULL ? info->max_alloc_bytes : 0,
                         info != NULL ? info->base_align_bytes : 0, topology, result));
    if (result->overflow) {
        bool refused = strcmp(result->overflow_name, "device") == 0;
        status = STATUS_FAIL(refused ? STATUS_NO_SPACE : STATUS_BAD_INPUT, to_blame(job, info),
                             "%s", result->overflow_text);
    }
out:
    return status;
}

static enum status prepare(struct job *job)
{
    enum status status = STATUS_OK;

    STATUS_TRY(attend_files_open(&job->settings, &job->files));
    STATUS_TRY(attend_tensors_read(&job->settings, &job->tensors));
    make_cell(job);
    /* With an automatic block what fits is looked for; a local pool is as large as the device's. */
    if (!job->settings.block.automatic && job->cell.arena == PE_ARENAS_GLOBAL) {
        STATUS_TRY(plan(job, NULL, NULL));
    }
out:
    return status;
}

/* On the device ----------------------------------------------------------------------------- */

static enum status poll(void)
{
    return interrupt_signal() != 0
               ? STATUS_FAIL(STATUS_INTERRUPTED, "attend", "interrupted before it wrote")
               : STATUS_OK;
}

static enum status plan_on_device(struct job *job)
{
    const struct device_info *info = &job->place.device->info;

    return plan(job, info, info->type == DEVICE_CPU ? &job->place.topology : NULL);
}

static enum status open_place(struct job *job)
{
    enum status status = STATUS_OK;
    const struct place_request request = {
        .device = job->settings.device,
        .kernel = job->settings.kernel,
        .pes = job->settings.pes,
        .pool_bytes = job->cell.pool_bytes,
        .bind = job->settings.bind,
        .arena = job->cell.arena,
    };

    STATUS_TRY(place_open(&request, &job->place));
    job->cell.pes = job->place.pes;
    job->cell.style = job->place.style;
    job->cell.local_bytes = job->place.device->info.local_bytes;
    if (job->settings.block.automatic) {
        STATUS_TRY(block_tune(&job->place, &job->cell));
        STATUS_TRY(plan(job, NULL, NULL));
    }
    STATUS_TRY(plan_on_device(job));
out:
    return status;
}

static void note_time(struct job *job, const struct event_time *time)
{
    double real_ns = time->sane ? time->event_ns : time->host_ns;

    job->result.timed_items = job->result.items;
    job->run = (struct cell_run){
        .type = GBENCH_ITERATION,
        .repetitions = 1,
        .threads = 1,
        .iterations = 1,
        .real_time_ns = real_ns,
        .cpu_time_ns = (double)NAN,
        .event_time_ns = time->sane ? time->event_ns : (double)NAN,
        .host_time_ns = time->host_ns,
        .time_is_event = time->sane,
        .gflops = real_ns > 0.0 ? job->result.flops / real_ns : (double)NAN,
    };
}

static enum status read_results(struct job *job, struct attention *attention)
{
    job->out = calloc(size_max(problem_out_elems(&job->cell.problem), 1), sizeof *job->out);
    job->lse = calloc(size_max(problem_lse_elems(&job->cell.problem), 1), sizeof *job->lse);
    if (job->out == NULL || job->lse == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attend", "no memory for the result");
    }
    return attention_read(attention, job->out, job->lse);
}

/* The results are those of a painted run, which the verdict is on; the launch for the time comes
 * after it and finds everything warm. */
static enum status check_and_time(struct job *job, struct attention *attention,
                                  struct attention_bound *bound, const struct reference *reference)
{
    enum status status = STATUS_OK;
    struct event_time time = {.sane = false};

    STATUS_TRY(attention_check(attention, bound, reference, false, &job->result.check));
    cell_judge(&job->result, true);
    STATUS_TRY(read_results(job, attention));
    STATUS_TRY(poll());
    STATUS_TRY(attention_launch(attention, bound, job->result.items, false, 1, &time));
    note_time(job, &time);
out:
    return status;
}

/* Plans once more where the built kernel takes local memory itself. */
static enum status plan_built(struct job *job, const struct attention *attention)
{
    const struct device_info *info = &job->place.device->info;
    const size_t own = attention_own_local_bytes(attention);

    return cell_take_local(&job->cell, info->local_bytes, own) ? plan_on_device(job) : STATUS_OK;
}

static enum status run(struct job *job, struct attention *attention,
                       const struct reference *reference)
{
    enum status status = STATUS_OK;
    const struct footprint_request request = cell_request(&job->cell);
    struct pe_arenas *arenas = NULL;
    struct attention_bound *bound = NULL;

    STATUS_TRY(pe_arenas_create(job->place.device, cell_arenas(&job->cell), &arenas));
    STATUS_TRY(attention_bind(attention, &request, arenas, &bound));
    STATUS_TRY(poll());
    STATUS_TRY(check_and_time(job, attention, bound, reference));
out:
    attention_unbind(bound);
    pe_arenas_destroy(arenas);
    return status;
}

static enum status compute(struct job *job)
{
    enum status status = STATUS_OK;
    const struct problem *problem = &job->cell.problem;
    const struct inputs *inputs = job->tensors.inputs;
    const struct attention_options options = {
        .style = job->cell.style, .pes = job->cell.pes, .arena = job->cell.arena};
    double work = job->settings.verify ? REFERENCE_DEFAULT_WORK : FEW_ROWS_WORK;
    struct reference *reference = NULL;
    struct attention *attention = NULL;

    STATUS_TRY(reference_create(problem, inputs, work, &reference));
    STATUS_TRY(poll());
    STATUS_TRY(attention_create(job->place.device, problem, inputs, &options, &attention));
    STATUS_TRY(plan_built(job, attention));
    STATUS_TRY(run(job, attention, reference));
out:
    attention_destroy(attention);
    reference_destroy(reference);
    return status;
}

/* The command ------------------------------------------------------------------------------- */

static enum status publish(const struct job *job)
{
    enum status status = STATUS_OK;
    const struct verdict *verdict = &job->result.check.verdict;
    const struct attend_report report = {
        .settings = &job->settings,
        .device = &job->place.device->info,
        .cell = &job->cell,
        .result = &job->result,
        .run = &job->run,
    };

    STATUS_TRY(attend_files_write(&job->files, &job->tensors, job->out, job->lse));
    STATUS_TRY(attend_report_print(&report));
    if (!verdict->verified) {
        status = STATUS_FAIL(STATUS_WRONG, "attend",
                             "error %.3g (tolerance %.3g) at row %zu column %zu, LSE error %.3g "
                             "(tolerance %.3g); %s and %s are written all the same",
                             verdict->max_abs_err, verdict->tolerance, verdict->worst_row,
                             verdict->worst_column, verdict->lse_max_abs_err,
                             verdict->lse_tolerance, job->settings.out, job->settings.lse);
        status_hint("where the tensors are right, the f32 kernel may be out of its depth: NaN or "
                    "infinity in a hidden key's value, scores past some 1e5, values near 3e38");
    } else if (!job->result.ok) {
        status = STATUS_FAIL(STATUS_WRONG, "attend", "%s; %s and %s are written all the same",
                             job->result.agrees ? "two runs gave different bits"
                                                : "planned and measured scratch differ",
                             job->settings.out, job->settings.lse);
    }
out:
    return status;
}

static enum status attend(struct job *job)
{
    enum status status = STATUS_OK;

    interrupt_catch();
    STATUS_TRY(prepare(job));
    STATUS_TRY(poll());
    STATUS_TRY(open_place(job));
    STATUS_TRY(compute(job));
    STATUS_TRY(publish(job));
out:
    return status;
}

static void job_fini(struct job *job)
{
    free(job->out);
    free(job->lse);
    place_close(&job->place);
    attend_files_close(&job->files);
    attend_tensors_fini(&job->tensors);
}

int app_attend(const char *program, int argc, char **argv)
{
    struct job job = {.files = {.out = {.stream = -1}, .lse = {.stream = -1}}};
    bool help = false;

    (void)program;
    enum status status = attend_settings_parse(argc, argv, &job.settings, &help);
    if (status == STATUS_OK && !help) {
        status = attend(&job);
    }
    job_fini(&job);
    return help ? app_help(COMMAND_ATTEND) : app_finish(status);
}
