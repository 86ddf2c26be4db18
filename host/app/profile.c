/* scratchscope profile: where the time of a tile goes. */
#include "host/app/profile.h"

#include "host/app/app.h"
#include "host/app/block.h"
#include "host/app/cell_list.h"
#include "host/app/interrupt.h"
#include "host/app/output.h"
#include "host/app/place.h"
#include "host/app/progress.h"

#include <stdlib.h>
#include <unistd.h>

/* S of a preset that leaves it open: each policy fits the standard pool, and a launch takes some
 * milliseconds. */
enum { STANDARD_TILES = 16 };

struct job {
    struct settings settings;
    struct cell_list list;
    struct outputs outputs;
    struct place place;
    struct machine machine;
    struct profile profile;
    struct progress progress;
};

static enum status prepare(struct job *job)
{
    enum status status = STATUS_OK;
    struct settings *settings = &job->settings;

    if (settings->policies.count == 0) {
        STATUS_TRY(ranges_add("--policy", &settings->policies, POLICY_NESTED));
    }
    if (settings->tiles.count == 0 && preset_at(settings->preset)->tiles != NULL) {
        STATUS_TRY(ranges_add("--tiles", &settings->tiles, STANDARD_TILES));
    }
    settings->arena = PE_ARENAS_GLOBAL; /* whatever the preset's */
    STATUS_TRY(cell_list_init(settings, &job->list));
    STATUS_TRY(outputs_open(settings, &job->outputs));
out:
    return status;
}

static enum status open_place(struct job *job)
{
    enum status status = STATUS_OK;
    const struct place_request request = {
        .device = job->settings.device,
        .kernel = job->settings.kernel,
        .pes = job->settings.pes,
        .pool_bytes = job->list.cells[0].pool_bytes,
        .bind = job->settings.bind,
    };

    STATUS_TRY(place_open(&request, &job->place));
    cell_list_place(&job->list, job->place.style, job->place.pes);
    STATUS_TRY(block_resolve(&job->settings, &job->place, &job->list));
    machine_read("", &job->machine);
out:
    return status;
}

static void on_progress(void *user, size_t index, const char *name, const char *stage)
{
    struct job *job = user;
    const struct progress_line line = {
        .index = index,
        .count = PROFILE_PARTS,
        .share = (double)index / PROFILE_PARTS,
        .name = name,
        .stage = stage,
    };

    progress_show(&job->progress, &line);
}

static bool on_poll(void *user)
{
    (void)user;
    return interrupt_signal() != 0;
}

static enum status run(struct job *job)
{
    struct profile_options options;
    const struct profile_sink sink = {.user = job, .progress = on_progress, .interrupted = on_poll};

    profile_options_default(&options);
    options.seed = job->settings.seed;
    options.rounds = job->settings.rounds != 0 ? job->settings.rounds : options.rounds;
    interrupt_catch();
    progress_begin(&job->progress);
    enum status status = profile_run(job->place.device, &job->place.topology, &job->list.cells[0],
                                     &options, &sink, &job->profile);
    progress_end(&job->progress);
    return status;
}

static enum status write_text(const void *what, enum format format, FILE *file)
{
    return profile_write(what, format, file);
}

/* To every file and to stdout. */
static enum status write_all(struct job *job, const char *program)
{
    const struct context context = {
        .executable = program,
        .device = &job->place.device->info,
        .topology = &job->place.topology,
        .binding = &job->place.binding,
        .machine = &job->machine,
        .pes = job->place.pes,
    };
    const struct profile_report report = {.context = &context,
                                          .cell = &job->list.cells[0],
                                          .profile = &job->profile,
                                          .utf8 = app_utf8()};

    return outputs_put(&job->outputs, outputs_stdout_format(&job->settings),
                       (struct output_text){.write = write_text, .what = &report});
}

/* Whatever ended it, what was checked and measured goes where it belongs. */
static enum status publish(struct job *job, const char *program, enum status ran)
{
    if (!job->profile.result.checked) {
        return ran;
    }
    if (ran == STATUS_INTERRUPTED) {
        status_clear(); /* so that a failure to write is told */
    }
    enum status status = write_all(job, program);
    if (ran == STATUS_OK || (ran == STATUS_INTERRUPTED && status != STATUS_OK)) {
        ran = status;
    }
    if (ran == STATUS_OK && job->profile.wrong > 0) {
        ran = STATUS_FAIL(STATUS_WRONG, "profile", "%s",
                          job->profile.result.ok ? "a stage done twice gives another result"
                                                 : "the plain build is wrong");
    }
    return ran;
}

int app_profile(const char *program, int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct job job = {.place = {.device = NULL}};
    bool help = false;

    STATUS_TRY(settings_parse(COMMAND_PROFILE, argc, argv, &job.settings, &help));
    if (help) {
        goto out;
    }
    STATUS_TRY(prepare(&job));
    STATUS_TRY(open_place(&job));
    status = publish(&job, program, run(&job));
out:
    outputs_close(&job.outputs);
    cell_list_fini(&job.list);
    settings_fini(&job.settings);
    place_close(&job.place);
    return help ? app_help(COMMAND_PROFILE) : app_finish(status);
}
