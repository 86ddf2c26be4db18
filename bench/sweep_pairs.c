/* The pairs of one group, and the ratios that come from them.
 *
 * A contestant is a policy of the group; the control is one of them once more, so that it pays for
 * a table and a binding of its own as the others do. race.h runs them in turn. Where the pool grows
 * with the need, all have the largest.
 */
#include "bench/race.h"
#include "bench/sweep.h"
#include "host/attention/tile_program.h"
#include "host/base/size.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CONTESTANTS = POLICY_COUNT + 1 };

struct contest {
    struct sweep_group *group;
    const struct sweep_entry *entries[MAX_CONTESTANTS]; /* policies in the cells' order, control */
    struct offset_table tables[MAX_CONTESTANTS];        /* owned */
    size_t count;                                       /* */
    size_t control_of;                                  /* the one that the control repeats */
    size_t pool_bytes;                                  /* the largest of the group */
    struct race_times times;                            /* owned */
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

static void enter_contestants(struct contest *contest)
{
    struct sweep *sweep = contest->group->sweep;
    for (size_t i = contest->group->first; i < contest->group->end; i++) {
        const struct sweep_entry *entry = &sweep->entries[i];
        if (entry->result.timed_items > 0) {
            if (entry->cell->policy == POLICY_SCOPED) {
                contest->control_of = contest->count;
            }
            contest->pool_bytes = size_max(contest->pool_bytes, entry->cell->pool_bytes);
            contest->entries[contest->count++] = entry;
        }
    }
    if (contest->count > 0) {
        contest->entries[contest->count++] = contest->entries[contest->control_of];
    }
}

static enum status make_tables(struct contest *contest)
{
    enum status status = STATUS_OK;
    struct program program;
    program_init(&program);
    STATUS_TRY(tile_program_record(&contest->entries[0]->cell->problem, &program));
    for (size_t i = 0; i < contest->count; i++) {
        struct footprint_request request = cell_request(contest->entries[i]->cell);
        request.pool_bytes = contest->pool_bytes;
        STATUS_TRY(footprint_table(&program, &request, &contest->tables[i]));
    }
out:
    program_fini(&program);
    return status;
}

static enum status poll(void *user)
{
    return sweep_poll(user);
}

static enum status run(struct contest *contest)
{
    enum status status = STATUS_OK;
    struct sweep *sweep = contest->group->sweep;
    struct race_request request = {
        .device = sweep->device,
        .count = contest->count,
        .shape = cell_arenas(contest->entries[0]->cell),
        .items = contest->group->timed_items,
        .blocks = sweep->options->pair_blocks,
        .rounds = sweep->options->pair_rounds,
        .sample_s = sweep->options->sample_s,
        .poll = poll,
        .user = sweep,
    };
    request.shape.pool_bytes = contest->pool_bytes;
    for (size_t i = 0; i < contest->count; i++) {
        request.entrants[i] = (struct race_entrant){.attention = contest->group->attention,
                                                    .table = &contest->tables[i]};
    }
    STATUS_TRY(race_run(&request, &contest->times));
out:
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

static void report_ratio(const struct contest *contest, size_t a, size_t b,
                         const struct pairs_ratio *ratio, double noise_floor)
{
    const struct sweep *sweep = contest->group->sweep;
    const struct sweep_entry *numerator = contest->entries[a];
    struct cell_ratio out = {
        .preset = numerator->cell->preset,
        .tiles = numerator->result.tiles,
        .numerator = numerator->cell->policy,
        .denominator = contest->entries[b]->cell->policy,
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

/* The contestant of a policy, the control left out; the count if it was not timed. */
static size_t find_policy(const struct contest *contest, enum policy policy)
{
    for (size_t i = 0; i + 1 < contest->count; i++) {
        if (contest->entries[i]->cell->policy == policy) {
            return i;
        }
    }
    return contest->count;
}

static enum status report_ratios(const struct contest *contest)
{
    enum status status = STATUS_OK;
    const uint64_t seed = contest->group->sweep->options->seed;
    const size_t last = contest->count - 1;
    struct pairs_ratio control;
    STATUS_TRY(race_ratio(&contest->times, last, contest->control_of, seed, &control));
    const double noise_floor = pairs_noise_floor(&control);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t a = find_policy(contest, wanted[i].numerator);
        size_t b = find_policy(contest, wanted[i].denominator);
        if (a < contest->count && b < contest->count) {
            struct pairs_ratio ratio;
            STATUS_TRY(race_ratio(&contest->times, a, b, seed, &ratio));
            report_ratio(contest, a, b, &ratio, noise_floor);
        }
    }
    report_ratio(contest, last, contest->control_of, &control, noise_floor);
out:
    return status;
}

enum status sweep_pairs(struct sweep_group *group)
{
    enum status status = STATUS_OK;
    struct contest contest = {.group = group};

    enter_contestants(&contest);
    if (contest.count == 0) {
        return STATUS_OK;
    }
    sweep_progress(group->sweep, group->first, "pairs");
    STATUS_TRY(make_tables(&contest));
    STATUS_TRY(run(&contest));
    STATUS_TRY(report_ratios(&contest));
out:
    race_times_fini(&contest.times);
    for (size_t i = 0; i < contest.count; i++) {
        offset_table_fini(&contest.tables[i]);
    }
    return status;
}
