/* The profile of one cell: the plain build and its check, then one variant after the other. */
#include "bench/profile.h"

#include "bench/race.h"
#include "bench/sweep.h"
#include "host/attention/tile_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all variants share. */
struct session {
    struct device *device;
    const struct cell *cell;
    const struct profile_options *options;
    const struct profile_sink *sink;
    struct profile *out;
    struct inputs *inputs;       /* owned, as the rest */
    struct reference *reference; /* */
    struct program program;      /* */
    struct offset_table table;   /* of the plain build */
    struct offset_table edited;  /* room for a variant's */
    struct attention *plain;     /* */
    size_t items;                /* of a timed launch */
    double launch_ns[PROFILE_PARTS];
    size_t races;
};

void profile_options_default(struct profile_options *options)
{
    struct sweep_options sweep;
    sweep_options_default(&sweep);
    *options = (struct profile_options){
        .blocks = sweep.pair_blocks,
        .rounds = 8,
        .sample_s = sweep.sample_s,
        .cut_s = sweep.cut_s,
        .check_work = sweep.check_work,
        .seed = sweep.seed,
    };
}

static enum status poll(void *user)
{
    const struct session *session = user;
    const struct profile_sink *sink = session->sink;
    if (sink->interrupted != NULL && sink->interrupted(sink->user)) {
        return STATUS_FAIL(STATUS_INTERRUPTED, "profile", "interrupted after %zu parts",
                           session->out->count);
    }
    return STATUS_OK;
}

static enum status enter(struct session *session, const char *name, const char *stage)
{
    const struct profile_sink *sink = session->sink;
    if (sink->progress != NULL) {
        sink->progress(sink->user, session->out->count, name, stage);
    }
    return poll(session);
}

static enum status plan(struct session *session, const struct topology *topology, struct cell *cell)
{
    enum status status = STATUS_OK;
    const struct device_info *info = &session->device->info;
    struct cell_result *result = &session->out->result;
    STATUS_TRY(cell_plan(cell, info->max_alloc_bytes, info->base_align_bytes,
                         info->type == DEVICE_CPU ? topology : NULL, result));
    if (result->overflow) {
        const bool device = strcmp(result->overflow_name, "device") == 0;
        status = STATUS_FAIL(device ? STATUS_NO_SPACE : STATUS_BAD_INPUT,
                             device ? info->name : "--pool", "%s", result->overflow_text);
    }
out:
    return status;
}

static enum status make_tables(struct session *session)
{
    enum status status = STATUS_OK;
    const struct footprint_request request = cell_request(session->cell);
    STATUS_TRY(footprint_table(&session->program, &request, &session->table));
    session->edited = session->table;
    session->edited.cells =
        calloc(session->table.rows * session->table.columns, sizeof *session->edited.cells);
    if (session->edited.cells == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "profile", "no memory for %zu rows of offsets",
                             session->table.rows);
    }
out:
    return status;
}

static enum status prepare(struct session *session)
{
    enum status status = STATUS_OK;
    const struct cell *cell = session->cell;
    const struct attention_options options = {.style = cell->style, .pes = cell->pes};
    STATUS_TRY(enter(session, "plain", "reference"));
    STATUS_TRY(inputs_create(&cell->problem, session->options->seed, &session->inputs));
    STATUS_TRY(reference_create(&cell->problem, session->inputs, session->options->check_work,
                                &session->reference));
    STATUS_TRY(tile_program_record(&cell->problem, &session->program));
    STATUS_TRY(make_tables(session));
    STATUS_TRY(enter(session, "plain", "build"));
    STATUS_TRY(attention_create(session->device, &cell->problem, session->inputs, &options,
                                &session->plain));
out:
    return status;
}

/* Checks one build on arenas of its own; with `ns`, times a launch over all items as well. */
static enum status check(struct session *session, struct race_entrant entrant,
                         struct attention_check *out, double *ns)
{
    enum status status = STATUS_OK;
    struct pe_arenas *arenas = NULL;
    struct attention_bound *bound = NULL;
    struct event_time time;
    STATUS_TRY(pe_arenas_create(session->device, cell_arenas(session->cell), &arenas));
    STATUS_TRY(attention_bind_table(entrant.attention, entrant.table, arenas, &bound));
    STATUS_TRY(attention_check(entrant.attention, bound, session->reference, false, out));
    if (ns != NULL) {
        STATUS_TRY(attention_launch(entrant.attention, bound, session->out->result.items, false, 1,
                                    &time));
        *ns = time.sane ? time.event_ns : time.host_ns;
    }
out:
    attention_unbind(bound);
    pe_arenas_destroy(arenas);
    return status;
}

static enum status check_plain(struct session *session)
{
    enum status status = STATUS_OK;
    struct cell_result *result = &session->out->result;
    const struct race_entrant plain = {session->plain, &session->table};
    double ns = 0.0;
    STATUS_TRY(enter(session, "plain", "check"));
    STATUS_TRY(check(session, plain, &result->check, &ns));
    cell_judge(result, true);
    session->items = ns * 1e-9 > session->options->cut_s ? sweep_cut_items(session->cell, result)
                                                         : result->items;
    result->timed_items = session->items;
out:
    return status;
}

/* Whether a variant gives the plain build's results: what touches the plan's bytes too must do so
 * exactly. */
static bool is_right(const struct session *session, const struct profile_part *part,
                     const struct attention_check *variant)
{
    struct cell_result as = session->out->result;
    const bool same = variant->output_hash == as.check.output_hash;
    if (part->kind != PROFILE_TWICE) {
        return same && variant->verdict.verified && variant->repeatable &&
               variant->touch.guards_intact;
    }
    as.check = *variant;
    cell_judge(&as, same);
    return as.ok;
}

static enum status check_variant(struct session *session, struct race_entrant variant,
                                 struct profile_part *part)
{
    enum status status = STATUS_OK;
    struct attention_check result;
    part->check = PROFILE_TIMING_ONLY;
    if (part->kind == PROFILE_LEFT_OUT) {
        goto out;
    }
    STATUS_TRY(enter(session, part->name, "check"));
    STATUS_TRY(check(session, variant, &result, NULL));
    if (is_right(session, part, &result)) {
        part->check = PROFILE_RIGHT;
    } else if (part->kind == PROFILE_TWICE) {
        part->check = PROFILE_WRONG;
    }
out:
    return status;
}

/* Plain build, variant, and the plain build once more, which is bound a second time so that it
 * pays for a binding of its own. */
static enum status time_variant(struct session *session, struct race_entrant variant,
                                struct profile_part *part)
{
    enum status status = STATUS_OK;
    const struct cell *cell = session->cell;
    const struct profile_options *options = session->options;
    const struct race_entrant plain = {session->plain, &session->table};
    const struct race_request request = {
        .device = session->device,
        .entrants = {plain, variant, plain},
        .count = 3,
        .shape = cell_arenas(cell),
        .items = session->items,
        .blocks = options->blocks,
        .rounds = options->rounds,
        .sample_s = options->sample_s,
        .poll = poll,
        .user = session,
    };
    struct race_times times = {.event_ns = NULL};
    struct pairs_ratio ratio;
    struct pairs_ratio control;
    STATUS_TRY(enter(session, part->name, "time"));
    STATUS_TRY(race_run(&request, &times));
    STATUS_TRY(race_ratio(&times, 1, 0, options->seed, &ratio));
    STATUS_TRY(race_ratio(&times, 2, 0, options->seed, &control));
    STATUS_TRY(race_launch_ns(&times, 0, &session->launch_ns[session->races]));
    session->races++;
    profile_judge(&ratio, pairs_noise_floor(&control), part);
out:
    race_times_fini(&times);
    return status;
}

static enum status run_part(struct session *session, size_t index)
{
    enum status status = STATUS_OK;
    const struct cell *cell = session->cell;
    struct profile_part *part = &session->out->parts[index];
    struct race_entrant variant = {NULL, &session->edited};
    profile_variant(index, &cell->problem, &session->table, part, &session->edited);
    const struct attention_options options = {
        .style = cell->style, .pes = cell->pes, .defines = part->defines, .share = session->plain};
    if (part->why == NULL) {
        STATUS_TRY(enter(session, part->name, "build"));
        STATUS_TRY(attention_create(session->device, &cell->problem, session->inputs, &options,
                                    &variant.attention));
        STATUS_TRY(check_variant(session, variant, part));
        if (part->check != PROFILE_WRONG) {
            STATUS_TRY(time_variant(session, variant, part));
        }
    }
    session->out->count++;
    session->out->wrong += part->check == PROFILE_WRONG ? 1 : 0;
out:
    attention_destroy(variant.attention);
    return status;
}

/* Tiles that the timed items walk. */
static double count_tiles(const struct session *session)
{
    double tiles = 0.0;
    for (size_t i = 0; i < session->items; i++) {
        tiles += (double)problem_item(&session->cell->problem, i).tile_count;
    }
    return tiles;
}

static void conclude(struct session *session)
{
    const double busy = (double)size_min(session->cell->pes, session->items);
    session->out->launch_ns = pairs_median(session->launch_ns, session->races);
    session->out->tile_ns = session->out->launch_ns * busy / count_tiles(session);
}

static enum status run_all(struct session *session)
{
    enum status status = STATUS_OK;
    STATUS_TRY(prepare(session));
    STATUS_TRY(check_plain(session));
    if (!session->out->result.ok) {
        session->out->wrong = 1;
        goto out;
    }
    for (size_t i = 0; i < PROFILE_PARTS; i++) {
        STATUS_TRY(run_part(session, i));
    }
out:
    return status;
}

enum status profile_run(struct device *device, const struct topology *topology, struct cell *cell,
                        const struct profile_options *options, const struct profile_sink *sink,
                        struct profile *out)
{
    enum status status = STATUS_OK;
    struct session session = {
        .device = device, .cell = cell, .options = options, .sink = sink, .out = out};
    *out = (struct profile){.launch_ns = (double)NAN, .tile_ns = (double)NAN};
    program_init(&session.program);
    STATUS_TRY(plan(&session, topology, cell));
    status = run_all(&session);
    conclude(&session);
out:
    attention_destroy(session.plain);
    free(session.edited.cells);
    offset_table_fini(&session.table);
    program_fini(&session.program);
    reference_destroy(session.reference);
    inputs_destroy(session.inputs);
    return status;
}
