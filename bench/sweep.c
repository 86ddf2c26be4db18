/* The sweep: which cells run, how they fall into groups, what groups share, the check of each
 * cell and its row. */
#include "bench/sweep.h"
#include "bench/gbench.h"
#include "host/device/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sweep_options_default(struct sweep_options *options)
{
    *options = (struct sweep_options){
        .repetitions = 3,
        .min_time_s = 0.05,
        .seed = 1,
        .check_work = REFERENCE_DEFAULT_WORK,
        .pair_blocks = SWEEP_LEAST_PAIR_BLOCKS,
        .pair_rounds = 4,
        .sample_s = 0.002,
        .cut_s = 0.05,
    };
}

static enum status options_validate(const struct sweep_options *options)
{
    if (options->repetitions == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "repetitions", "0 is not at least 1");
    }
    if (!(options->min_time_s > 0.0) || !isfinite(options->min_time_s)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "min time", "%g s is not above 0",
                           options->min_time_s);
    }
    if (options->pair_blocks > 0 && options->pair_blocks < SWEEP_LEAST_PAIR_BLOCKS) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "blocks of pairs", "%zu is neither 0 nor at least %d",
                           options->pair_blocks, SWEEP_LEAST_PAIR_BLOCKS);
    }
    if (options->pair_blocks > 0 && options->pair_rounds == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "rounds of pairs", "0 is not at least 1");
    }
    if (!(options->sample_s > 0.0) || !(options->cut_s > 0.0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "sample and cut time", "%g s and %g s must be above 0",
                           options->sample_s, options->cut_s);
    }
    return STATUS_OK;
}

enum status sweep_poll(const struct sweep *sweep)
{
    const struct sweep_sink *sink = sweep->sink;
    if (sink->interrupted != NULL && sink->interrupted(sink->user)) {
        return STATUS_FAIL(STATUS_INTERRUPTED, "sweep", "interrupted after %zu rows",
                           sweep->outcome->rows);
    }
    return STATUS_OK;
}

void sweep_progress(const struct sweep *sweep, size_t entry, const char *stage)
{
    const struct sweep_sink *sink = sweep->sink;
    if (sink->progress != NULL) {
        sink->progress(sink->user, entry, sweep->count, sweep->entries[entry].cell, stage);
    }
}

/* Adds the time since `since` to a sum, and starts `since` anew. */
static void spend(double *seconds, uint64_t *since)
{
    const uint64_t now = event_clock_ns();
    *seconds += (double)(now - *since) * 1e-9;
    *since = now;
}

/* Whether inputs for one serve the other. */
static bool tensors_equal(const struct problem *a, const struct problem *b)
{
    return a->batch == b->batch && a->q_heads == b->q_heads && a->kv_heads == b->kv_heads &&
           a->seq_q == b->seq_q && a->seq_kv == b->seq_kv && a->head_dim == b->head_dim &&
           a->head_dim_v == b->head_dim_v && a->dtype == b->dtype && a->sinks == b->sinks &&
           a->mask == b->mask;
}

/* Whether a reference for one serves the other: parts do not change the result. */
static bool results_equal(const struct problem *a, const struct problem *b)
{
    return tensors_equal(a, b) && a->block_m == b->block_m && a->block_n == b->block_n &&
           a->scale == b->scale && a->causal == b->causal && a->window_left == b->window_left &&
           a->window_right == b->window_right && a->softcap == b->softcap && a->alibi == b->alibi;
}

static bool cells_share_group(const struct cell *a, const struct cell *b)
{
    return strcmp(a->preset, b->preset) == 0 && results_equal(&a->problem, &b->problem) &&
           problem_parts(&a->problem) == problem_parts(&b->problem) && a->style == b->style &&
           a->arena == b->arena && a->pes == b->pes && a->alignment == b->alignment &&
           a->poison == b->poison && a->pool_grow == b->pool_grow &&
           (a->pool_grow || a->pool_bytes == b->pool_bytes);
}

/* A policy that comes again starts a new group: a group has each policy once. */
static size_t group_end(const struct sweep *sweep, size_t first)
{
    bool seen[POLICY_COUNT] = {false};
    size_t end = first;
    while (end < sweep->count &&
           cells_share_group(sweep->entries[first].cell, sweep->entries[end].cell) &&
           !seen[sweep->entries[end].cell->policy]) {
        seen[sweep->entries[end].cell->policy] = true;
        end++;
    }
    return end;
}

static enum status plan_entry(const struct sweep *sweep, struct sweep_entry *entry)
{
    const struct device_info *info = &sweep->device->info;
    return cell_plan(entry->cell, info->max_alloc_bytes, info->base_align_bytes, sweep->topology,
                     &entry->result);
}

static enum status plan_all(struct sweep *sweep, struct cell *cells, size_t count)
{
    enum status status = STATUS_OK;
    sweep->entries = calloc(count > 0 ? count : 1, sizeof *sweep->entries);
    if (sweep->entries == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "sweep", "no memory for %zu cells", count);
    }
    for (size_t i = 0; i < count; i++) {
        if (gbench_filter_matches(cells[i].name)) {
            struct sweep_entry *entry = &sweep->entries[sweep->count];
            entry->cell = &cells[i];
            STATUS_TRY(plan_entry(sweep, entry));
            sweep->count++;
        }
    }
out:
    return status;
}

/* Makes inputs and reference for a problem, unless the last group's still serve. What does not
 * serve is freed first: at large S two sets would not fit. */
static enum status share_inputs(struct sweep *sweep, const struct problem *problem)
{
    enum status status = STATUS_OK;
    struct sweep_seconds *seconds = &sweep->outcome->seconds;
    uint64_t since = event_clock_ns();
    if (sweep->reference != NULL && !results_equal(problem, &sweep->reference_problem)) {
        reference_destroy(sweep->reference);
        sweep->reference = NULL;
    }
    if (sweep->inputs != NULL && !tensors_equal(problem, &sweep->inputs_problem)) {
        inputs_destroy(sweep->inputs);
        sweep->inputs = NULL;
    }
    if (sweep->inputs == NULL) {
        STATUS_TRY(inputs_create(problem, sweep->options->seed, &sweep->inputs));
        sweep->inputs_problem = *problem;
    }
    spend(&seconds->inputs, &since);
    if (sweep->reference == NULL) {
        STATUS_TRY(reference_create(problem, sweep->inputs, sweep->options->check_work,
                                    &sweep->reference));
        sweep->reference_problem = *problem;
    }
    spend(&seconds->reference, &since);
out:
    return status;
}

/* Inputs, reference and the built kernel that the cells of a group share; made for the first of
 * them that runs. */
static enum status group_open(struct sweep_group *group, size_t index)
{
    enum status status = STATUS_OK;
    struct sweep *sweep = group->sweep;
    const struct cell *cell = sweep->entries[index].cell;
    const struct attention_options options = {
        .style = cell->style, .pes = cell->pes, .arena = cell->arena};

    STATUS_TRY(sweep_poll(sweep));
    sweep_progress(sweep, index, "reference");
    STATUS_TRY(share_inputs(sweep, &cell->problem));
    STATUS_TRY(sweep_poll(sweep));
    sweep_progress(sweep, index, "build");
    uint64_t since = event_clock_ns();
    STATUS_TRY(attention_create(sweep->device, &cell->problem, sweep->inputs, &options,
                                &group->attention));
    spend(&sweep->outcome->seconds.build, &since);
out:
    return status;
}

static void judge(struct sweep_group *group, struct cell_result *result)
{
    const uint64_t hash = result->check.output_hash;
    if (!group->hashed) {
        group->hashed = true;
        group->output_hash = hash;
    }
    cell_judge(result, hash == group->output_hash);
}

static enum status report_row(struct sweep *sweep, const struct sweep_entry *entry,
                              const struct sweep_runs *runs)
{
    const struct sweep_sink *sink = sweep->sink;
    uint64_t since = event_clock_ns();
    enum status status =
        sink->row(sink->user, entry->cell, &entry->result, runs->runs, runs->count);
    spend(&sweep->outcome->seconds.rows, &since);
    if (status == STATUS_OK) {
        sweep->outcome->rows++;
        sweep->outcome->overflows += entry->result.overflow ? 1 : 0;
        sweep->outcome->wrong += entry->result.checked && !entry->result.ok ? 1 : 0;
    }
    return status;
}

/* What the built kernel takes of local memory is known now. */
static enum status plan_built(struct sweep_group *group, struct sweep_entry *entry)
{
    const size_t own = attention_own_local_bytes(group->attention);
    const size_t all = group->sweep->device->info.local_bytes;
    return cell_take_local(entry->cell, all, own) ? plan_entry(group->sweep, entry) : STATUS_OK;
}

static enum status probe(const struct sweep *sweep, struct roofline_peaks *peaks)
{
    struct roofline_probe *probe = sweep->options->probe;
    return probe != NULL ? roofline_probe_run(probe, peaks) : STATUS_OK;
}

static enum status check_and_time(struct sweep_group *group, size_t index, struct sweep_runs *runs)
{
    enum status status = STATUS_OK;
    struct sweep *sweep = group->sweep;
    struct sweep_entry *entry = &sweep->entries[index];
    const struct cell *cell = entry->cell;
    struct sweep_lease lease = {NULL, NULL};

    if (group->attention == NULL) {
        STATUS_TRY(group_open(group, index));
    }
    STATUS_TRY(plan_built(group, entry));
    if (entry->result.overflow) {
        goto out;
    }
    const struct footprint_request request = cell_request(cell);
    STATUS_TRY(sweep_poll(sweep));
    sweep_progress(sweep, index, "check");
    uint64_t since = event_clock_ns();
    STATUS_TRY(pe_arenas_create(sweep->device, cell_arenas(cell), &lease.arenas));
    STATUS_TRY(attention_bind(group->attention, &request, lease.arenas, &lease.bound));
    STATUS_TRY(attention_check(group->attention, lease.bound, sweep->reference, cell->poison,
                               &entry->result.check));
    judge(group, &entry->result);
    spend(&sweep->outcome->seconds.check, &since);
    if (entry->result.ok) {
        STATUS_TRY(sweep_poll(sweep));
        sweep_progress(sweep, index, "time");
        STATUS_TRY(probe(sweep, &entry->result.peaks));
        STATUS_TRY(sweep_time(group, entry, &lease, runs));
        STATUS_TRY(probe(sweep, &entry->result.peaks));
        spend(&sweep->outcome->seconds.timing, &since);
    }
out:
    attention_unbind(lease.bound);
    pe_arenas_destroy(lease.arenas);
    return status;
}

static enum status run_entry(struct sweep_group *group, size_t index)
{
    enum status status = STATUS_OK;
    struct sweep_entry *entry = &group->sweep->entries[index];
    struct sweep_runs runs = {NULL, 0, 0};
    STATUS_TRY(sweep_poll(group->sweep));
    if (!entry->result.overflow) {
        STATUS_TRY(check_and_time(group, index, &runs));
    }
    STATUS_TRY(report_row(group->sweep, entry, &runs));
out:
    free(runs.runs);
    return status;
}

static enum status run_group(struct sweep *sweep, size_t first, size_t end)
{
    enum status status = STATUS_OK;
    struct sweep_group group = {.sweep = sweep, .first = first, .end = end};
    for (size_t i = first; i < end; i++) {
        STATUS_TRY(run_entry(&group, i));
    }
    if (sweep->options->pair_blocks > 0 && group.timed_items > 0) {
        STATUS_TRY(sweep_poll(sweep));
        uint64_t since = event_clock_ns();
        STATUS_TRY(sweep_pairs(&group));
        spend(&sweep->outcome->seconds.pairs, &since);
    }
out:
    attention_destroy(group.attention);
    return status;
}

/* NOLINTNEXTLINE(readability-function-size): its seven parameters are seven different things */
enum status sweep_run(struct device *device, const struct topology *topology, struct cell *cells,
                      size_t count, const struct sweep_options *options,
                      const struct sweep_sink *sink, struct sweep_outcome *outcome)
{
    enum status status = STATUS_OK;
    struct sweep sweep = {.device = device, .options = options, .sink = sink, .outcome = outcome};
    sweep.topology = device->info.type == DEVICE_CPU ? topology : NULL;
    *outcome = (struct sweep_outcome){0};

    STATUS_TRY(options_validate(options));
    STATUS_TRY(plan_all(&sweep, cells, count));
    for (size_t first = 0; first < sweep.count;) {
        size_t end = group_end(&sweep, first);
        STATUS_TRY(run_group(&sweep, first, end));
        first = end;
    }
out:
    reference_destroy(sweep.reference);
    inputs_destroy(sweep.inputs);
    free(sweep.entries);
    return status;
}
