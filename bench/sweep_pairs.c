/* The rounds of pairs of one group, and the ratios that come from them.
 *
 * A contestant is a policy of the group bound to the block's arenas; the control is one of them
 * bound a second time, so that it pays for a table and a binding of its own as the others do. All
 * contestants of a block share one arena buffer: what its place does to the time, it does to all.
 * Local arenas have no place that a block could choose; there all have the largest pool.
 */
#include "bench/pairs.h"
#include "bench/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTESTANTS = POLICY_COUNT + 1, MAX_LAUNCHES = 1 << 16 };

/* The guard leaves room for this many shifts. With a step that has no common divisor with it, that
 * many blocks in a row differ, and neighbours lie far apart. */
enum { SHIFTS = PE_ARENAS_GUARD_BYTES / PE_ARENAS_LINE_BYTES - 1, SHIFT_STEP = 13 };

struct contestant {
    const struct sweep_entry *entry;
    struct attention_bound *bound;
    double *event_ns; /* blocks x rounds samples; NaN where the stamps were not sane */
    double *host_ns;  /* */
};

struct race {
    struct sweep_group *group;
    struct contestant contestants[MAX_CONTESTANTS]; /* the policies in the cells' order, control */
    size_t count;                                   /* */
    size_t control_of;                              /* the one that the control repeats */
    size_t pool_bytes;                              /* the largest of the group */
    size_t launches;                                /* of a sample */
    size_t sample_count;                            /* blocks x rounds */
    double *samples;                                /* storage of all contestants, owned */
};

/* Which ratios there are, where both policies were timed. */
static const struct {
    enum policy numerator;
    enum policy denominator;
} wanted[] = {
    {POLICY_SCOPED, POLICY_UNSCOPED},
    {POLICY_NESTED, POLICY_UNSCOPED},
    {POLICY_NESTED, POLICY_SCOPED},
};

static void enter_contestants(struct race *race)
{
    struct sweep *sweep = race->group->sweep;
    for (size_t i = race->group->first; i < race->group->end; i++) {
        const struct sweep_entry *entry = &sweep->entries[i];
        if (entry->result.timed_items > 0) {
            if (entry->cell->policy == POLICY_SCOPED) {
                race->control_of = race->count;
            }
            race->pool_bytes = size_max(race->pool_bytes, entry->cell->pool_bytes);
            race->contestants[race->count++].entry = entry;
        }
    }
    if (race->count > 0) {
        race->contestants[race->count++].entry = race->contestants[race->control_of].entry;
    }
}

static enum status make_room(struct race *race)
{
    const struct sweep_options *options = race->group->sweep->options;
    size_t doubles = 0;
    if (!size_mul(options->pair_blocks, options->pair_rounds, &race->sample_count) ||
        !size_mul(race->sample_count, (size_t)2 * MAX_CONTESTANTS, &doubles)) {
        return STATUS_FAIL(STATUS_RANGE, "pairs", "too many blocks and rounds");
    }
    race->samples = calloc(doubles, sizeof *race->samples);
    if (race->samples == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "pairs", "no memory for %zu samples", doubles);
    }
    for (size_t i = 0; i < race->count; i++) {
        race->contestants[i].event_ns = race->samples + 2 * i * race->sample_count;
        race->contestants[i].host_ns = race->samples + (2 * i + 1) * race->sample_count;
    }
    return STATUS_OK;
}

static enum status take_sample(struct race *race, const struct contestant *contestant,
                               struct event_time *time)
{
    enum status status = STATUS_OK;
    STATUS_TRY(sweep_poll(race->group->sweep));
    STATUS_TRY(attention_launch(race->group->attention, contestant->bound, race->group->timed_items,
                                false, race->launches, time));
out:
    return status;
}

/* Raises the launches of a sample until every contestant's is long enough. */
static enum status calibrate(struct race *race)
{
    enum status status = STATUS_OK;
    const double least_ns = race->group->sweep->options->sample_s * 1e9;
    for (size_t i = 0; i < race->count;) {
        struct event_time time;
        STATUS_TRY(take_sample(race, &race->contestants[i], &time));
        double ns = time.sane ? time.event_ns : time.host_ns;
        if (ns >= least_ns || race->launches == MAX_LAUNCHES) {
            i++;
        } else {
            double need = 1.1 * least_ns / ns * (double)race->launches;
            race->launches =
                need < MAX_LAUNCHES ? size_max((size_t)need, race->launches + 1) : MAX_LAUNCHES;
        }
    }
out:
    return status;
}

static enum status run_round(struct race *race, size_t sample)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < race->count; i++) {
        size_t turn = sample % 2 == 0 ? i : race->count - 1 - i;
        struct contestant *contestant = &race->contestants[turn];
        struct event_time time;
        STATUS_TRY(take_sample(race, contestant, &time));
        contestant->event_ns[sample] = time.sane ? time.event_ns : (double)NAN;
        contestant->host_ns[sample] = time.host_ns;
    }
out:
    return status;
}

static enum status bind_all(struct race *race, struct pe_arenas *arenas)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < race->count; i++) {
        struct footprint_request request = cell_request(race->contestants[i].entry->cell);
        request.pool_bytes = race->pool_bytes;
        STATUS_TRY(
            attention_bind(race->group->attention, &request, arenas, &race->contestants[i].bound));
    }
out:
    return status;
}

static enum status run_block(struct race *race, size_t block)
{
    enum status status = STATUS_OK;
    const struct sweep *sweep = race->group->sweep;
    const size_t rounds = sweep->options->pair_rounds;
    const size_t shift = block % SHIFTS * SHIFT_STEP % SHIFTS * PE_ARENAS_LINE_BYTES;
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape shape = cell_arenas(race->contestants[0].entry->cell);

    shape.pool_bytes = race->pool_bytes;
    shape.shift_bytes = shape.space == PE_ARENAS_LOCAL ? 0 : shift;
    STATUS_TRY(pe_arenas_create(sweep->device, shape, &arenas));
    STATUS_TRY(bind_all(race, arenas));
    for (size_t i = 0; i < race->count; i++) { /* the warm-up */
        struct event_time time;
        STATUS_TRY(take_sample(race, &race->contestants[i], &time));
    }
    if (block == 0) {
        STATUS_TRY(calibrate(race));
    }
    for (size_t round = 0; round < rounds; round++) {
        STATUS_TRY(run_round(race, block * rounds + round));
    }
out:
    for (size_t i = 0; i < race->count; i++) {
        attention_unbind(race->contestants[i].bound);
        race->contestants[i].bound = NULL;
    }
    pe_arenas_destroy(arenas);
    return status;
}

/* A pair is two times of one kind: one bad stamp puts both of its samples on the host's clock. */
static enum status ratio_of(const struct race *race, size_t a, size_t b, struct pairs_ratio *out)
{
    enum status status = STATUS_OK;
    const struct contestant *numerator = &race->contestants[a];
    const struct contestant *denominator = &race->contestants[b];
    const struct sweep_options *options = race->group->sweep->options;
    *out = (struct pairs_ratio){0};
    double *times = calloc(2 * race->sample_count, sizeof *times);
    if (times == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "pairs", "no memory for %zu samples",
                           2 * race->sample_count);
    }
    for (size_t i = 0; i < race->sample_count; i++) {
        bool events = !isnan(numerator->event_ns[i]) && !isnan(denominator->event_ns[i]);
        times[i] = events ? numerator->event_ns[i] : numerator->host_ns[i];
        times[race->sample_count + i] = events ? denominator->event_ns[i] : denominator->host_ns[i];
    }
    const struct pairs pairs = {.blocks = options->pair_blocks,
                                .rounds = options->pair_rounds,
                                .a = times,
                                .b = times + race->sample_count};
    STATUS_TRY(pairs_ratio(&pairs, options->seed, out));
out:
    free(times);
    return status;
}

/* "attention/cap16/nested/f16/S:16" -> "attention/cap16/f16/S:16". */
static void name_group(const struct cell *cell, char name[CELL_NAME_BYTES])
{
    char part[32];
    snprintf(part, sizeof part, "/%s/", policy_name(cell->policy));
    const char *at = strstr(cell->name, part);
    if (at == NULL) {
        snprintf(name, CELL_NAME_BYTES, "%s", cell->name);
    } else {
        snprintf(name, CELL_NAME_BYTES, "%.*s%s", (int)(at - cell->name), cell->name,
                 at + strlen(part) - 1);
    }
}

static void report_ratio(const struct race *race, size_t a, size_t b,
                         const struct pairs_ratio *ratio, double noise_floor)
{
    const struct sweep *sweep = race->group->sweep;
    const struct sweep_entry *numerator = race->contestants[a].entry;
    struct cell_ratio out = {
        .preset = numerator->cell->preset,
        .tiles = numerator->result.tiles,
        .numerator = numerator->cell->policy,
        .denominator = race->contestants[b].entry->cell->policy,
        .ratio = ratio->ratio,
        .lower = ratio->lower,
        .upper = ratio->upper,
        .blocks = ratio->blocks,
        .rounds = sweep->options->pair_rounds,
        .noise_floor = noise_floor,
        .not_slower = pairs_not_slower(ratio->upper, noise_floor),
        .conclusive = pairs_conclusive(ratio, noise_floor),
    };
    name_group(numerator->cell, out.group);
    if (sweep->sink->ratio != NULL) {
        sweep->sink->ratio(sweep->sink->user, &out);
    }
}

/* The contestant of a policy, the control left out; race->count if it was not timed. */
static size_t find_policy(const struct race *race, enum policy policy)
{
    for (size_t i = 0; i + 1 < race->count; i++) {
        if (race->contestants[i].entry->cell->policy == policy) {
            return i;
        }
    }
    return race->count;
}

static enum status report_ratios(const struct race *race)
{
    enum status status = STATUS_OK;
    struct pairs_ratio control;
    STATUS_TRY(ratio_of(race, race->count - 1, race->control_of, &control));
    const double noise_floor = pairs_noise_floor(&control);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t a = find_policy(race, wanted[i].numerator);
        size_t b = find_policy(race, wanted[i].denominator);
        if (a < race->count && b < race->count) {
            struct pairs_ratio ratio;
            STATUS_TRY(ratio_of(race, a, b, &ratio));
            report_ratio(race, a, b, &ratio, noise_floor);
        }
    }
    report_ratio(race, race->count - 1, race->control_of, &control, noise_floor);
out:
    return status;
}

enum status sweep_pairs(struct sweep_group *group)
{
    enum status status = STATUS_OK;
    const struct sweep *sweep = group->sweep;
    struct race race = {.group = group, .launches = 1};

    enter_contestants(&race);
    if (race.count == 0) {
        goto out;
    }
    STATUS_TRY(make_room(&race));
    for (size_t block = 0; block < sweep->options->pair_blocks; block++) {
        sweep_progress(sweep, group->first, "pairs");
        STATUS_TRY(run_block(&race, block));
    }
    STATUS_TRY(report_ratios(&race));
out:
    free(race.samples);
    return status;
}
