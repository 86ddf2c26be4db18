/* The two files of a result: opened before anything runs, replaced together at the end. */
#include "host/app/attend.h"

#include "host/app/interrupt.h"
#include "host/app/npy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER_BYTES = 4096 };

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The folder of a path; its last part is returned. */
static const char *split(const char *path, char folder[FOLDER_BYTES])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : size_max((size_t)(slash - path), 1);

    (void)snprintf(folder, FOLDER_BYTES, "%.*s", (int)size_min(length, FOLDER_BYTES - 1), path);
    if (slash == NULL) {
        (void)snprintf(folder, FOLDER_BYTES, ".");
    }
    return slash == NULL ? path : slash + 1;
}

/* Whether two paths are one file; a device, such as /dev/null, may serve twice. Files that do not
 * exist yet are the same by folder and name. */
static bool paths_meet(const char *a, const char *b)
{
    struct stat first;
    struct stat second;
    char first_folder[FOLDER_BYTES];
    char second_folder[FOLDER_BYTES];

    if (stat(a, &first) == 0 && stat(b, &second) == 0) {
        return same_file(&first, &second) && !S_ISCHR(first.st_mode);
    }
    bool same_name = strcmp(split(a, first_folder), split(b, second_folder)) == 0;
    return same_name && stat(first_folder, &first) == 0 && stat(second_folder, &second) == 0 &&
           same_file(&first, &second);
}

static enum status check_path(const struct attend_settings *settings, const char *name,
                              const char *path)
{
    const struct {
        const char *name;
        const char *path;
    } inputs[] = {
        {"--q", settings->q},         {"--k", settings->k},       {"--v", settings->v},
        {"--sinks", settings->sinks}, {"--mask", settings->mask},
    };

    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (inputs[i].path != NULL && paths_meet(path, inputs[i].path)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, name,
                               "'%s' is the file of %s, which stays as it is", path,
                               inputs[i].name);
        }
    }
    if (output_is_stdout(path) && strcmp(path, "/dev/null") != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name, "'%s' is stdout, which the report goes to",
                           path);
    }
    return STATUS_OK;
}

enum status attend_files_open(const struct attend_settings *settings, struct attend_files *files)
{
    enum status status = STATUS_OK;

    *files = (struct attend_files){.out = {.stream = -1}, .lse = {.stream = -1}};
    STATUS_TRY(check_path(settings, "--out", settings->out));
    STATUS_TRY(check_path(settings, "--lse", settings->lse));
    if (paths_meet(settings->out, settings->lse)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--lse", "'%s' is the file of --out", settings->lse);
    }
    STATUS_TRY(output_open(settings->out, &files->out));
    STATUS_TRY(output_open(settings->lse, &files->lse));
out:
    return status;
}

void attend_files_close(struct attend_files *files)
{
    output_close(&files->out);
    output_close(&files->lse);
}

/* One of them on its way. */
struct staged {
    const struct output *output;
    char *bytes; /* owned */
    size_t size;
    char name[OUTPUT_NAME_BYTES]; /* of the file beside it; "" = none */
};

static enum status stage(struct staged *staged, struct shape shape, const float *values)
{
    enum status status = STATUS_OK;

    STATUS_TRY(npy_render(shape, values, &staged->bytes, &staged->size));
    STATUS_TRY(output_stage(staged->output, staged->bytes, staged->size, staged->name));
out:
    return status;
}

/* The file beside it has gone either way: it took its place, or was discarded. */
static enum status commit(struct staged *staged)
{
    enum status status = output_commit(staged->output, staged->bytes, staged->size, staged->name);

    staged->name[0] = '\0';
    return status;
}

static void staged_fini(struct staged *staged)
{
    output_discard(staged->output, staged->name);
    free(staged->bytes);
}

/* [batch, heads, seq, dim] without the first 4 - rank axes, and without dim for LSE. */
static struct shape result_shape(const struct attend_tensors *tensors, bool is_lse)
{
    const struct problem *problem = &tensors->problem;
    const size_t all[SHAPE_MAX_RANK] = {problem->batch, problem->q_heads, problem->seq_q,
                                        problem->head_dim_v};
    struct shape shape = {.rank = tensors->rank - (is_lse ? 1 : 0)};

    memcpy(shape.extent, all + SHAPE_MAX_RANK - tensors->rank, shape.rank * sizeof all[0]);
    return shape;
}

enum status attend_files_write(const struct attend_files *files,
                               const struct attend_tensors *tensors, const float *out,
                               const float *lse)
{
    enum status status = STATUS_OK;
    struct staged first = {.output = &files->out};
    struct staged second = {.output = &files->lse};

    STATUS_TRY(stage(&first, result_shape(tensors, false), out));
    STATUS_TRY(stage(&second, result_shape(tensors, true), lse));
    if (interrupt_signal() != 0) {
        status = STATUS_FAIL(STATUS_INTERRUPTED, "attend", "interrupted before it wrote");
        goto out;
    }
    /* A stream may still fail; a staged file only has to be renamed. */
    struct staged *before = second.output->target == NULL ? &second : &first;
    STATUS_TRY(commit(before));
    STATUS_TRY(commit(before == &first ? &second : &first));
out:
    staged_fini(&first);
    staged_fini(&second);
    return status;
}
