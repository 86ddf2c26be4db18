#include "bench/race.h"

#include "host/base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAUNCHES = 1 << 16 };

/* The guard leaves room for this many shifts. With a step that has no common divisor with it, that
 * many blocks in a row differ, and neighbours lie far apart. */
enum { SHIFTS = PE_ARENAS_GUARD_BYTES / PE_ARENAS_LINE_BYTES - 1, SHIFT_STEP = 13 };

/* One block's entrants on its arenas. */
struct heat {
    const struct race_request *request;
    struct race_times *times;
    struct pe_arenas *arenas;
    struct attention_bound *bound[RACE_MAX_ENTRANTS];
};

static size_t samples_of(const struct race_times *times)
{
    return times->blocks * times->rounds;
}

static enum status make_room(const struct race_request *request, struct race_times *times)
{
    size_t samples = 0;
    size_t doubles = 0;
    *times = (struct race_times){.count = request->count,
                                 .blocks = request->blocks,
                                 .rounds = request->rounds,
                                 .launches = 1};
    if (!size_mul(request->blocks, request->rounds, &samples) ||
        !size_mul(samples, 2 * request->count, &doubles)) {
        return STATUS_FAIL(STATUS_RANGE, "rounds", "too many blocks and rounds");
    }
    times->event_ns = calloc(size_max(doubles, 1), sizeof *times->event_ns);
    if (times->event_ns == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "rounds", "no memory for %zu samples", doubles);
    }
    times->host_ns = times->event_ns + samples * request->count;
    return STATUS_OK;
}

void race_times_fini(struct race_times *times)
{
    free(times->event_ns);
    *times = (struct race_times){.event_ns = NULL};
}

static enum status take_sample(struct heat *heat, size_t entrant, struct event_time *time)
{
    enum status status = STATUS_OK;
    const struct race_request *request = heat->request;
    STATUS_TRY(request->poll(request->user));
    STATUS_TRY(attention_launch(request->entrants[entrant].attention, heat->bound[entrant],
                                request->items, false, heat->times->launches, time));
out:
    return status;
}

/* Raises the launches of a sample until every entrant's is long enough. */
static enum status calibrate(struct heat *heat)
{
    enum status status = STATUS_OK;
    const double least_ns = heat->request->sample_s * 1e9;
    for (size_t i = 0; i < heat->request->count;) {
        struct event_time time;
        STATUS_TRY(take_sample(heat, i, &time));
        const double ns = time.sane ? time.event_ns : time.host_ns;
        const size_t launches = heat->times->launches;
        if (ns >= least_ns || launches == MAX_LAUNCHES) {
            i++;
        } else {
            const double need = 1.1 * least_ns / ns * (double)launches;
            heat->times->launches =
                need < MAX_LAUNCHES ? size_max((size_t)need, launches + 1) : MAX_LAUNCHES;
        }
    }
out:
    return status;
}

static enum status run_round(struct heat *heat, size_t sample)
{
    enum status status = STATUS_OK;
    const size_t count = heat->request->count;
    for (size_t i = 0; i < count; i++) {
        const size_t turn = sample % 2 == 0 ? i : count - 1 - i;
        const size_t at = turn * samples_of(heat->times) + sample;
        struct event_time time;
        STATUS_TRY(take_sample(heat, turn, &time));
        heat->times->event_ns[at] = time.sane ? time.event_ns : (double)NAN;
        heat->times->host_ns[at] = time.host_ns;
    }
out:
    return status;
}

static enum status open_heat(struct heat *heat, size_t block)
{
    enum status status = STATUS_OK;
    const struct race_request *request = heat->request;
    struct pe_arenas_shape shape = request->shape;
    if (shape.space == PE_ARENAS_GLOBAL) {
        shape.shift_bytes = block % SHIFTS * SHIFT_STEP % SHIFTS * PE_ARENAS_LINE_BYTES;
    }
    STATUS_TRY(pe_arenas_create(request->device, shape, &heat->arenas));
    for (size_t i = 0; i < request->count; i++) {
        struct event_time time;
        STATUS_TRY(attention_bind_table(request->entrants[i].attention, request->entrants[i].table,
                                        heat->arenas, &heat->bound[i]));
        STATUS_TRY(take_sample(heat, i, &time)); /* the warm-up */
    }
out:
    return status;
}

static enum status run_block(const struct race_request *request, struct race_times *times,
                             size_t block)
{
    enum status status = STATUS_OK;
    struct heat heat = {.request = request, .times = times};
    STATUS_TRY(open_heat(&heat, block));
    if (block == 0) {
        STATUS_TRY(calibrate(&heat));
    }
    for (size_t round = 0; round < request->rounds; round++) {
        STATUS_TRY(run_round(&heat, block * request->rounds + round));
    }
out:
    for (size_t i = 0; i < request->count; i++) {
        attention_unbind(heat.bound[i]);
    }
    pe_arenas_destroy(heat.arenas);
    return status;
}

enum status race_run(const struct race_request *request, struct race_times *out)
{
    enum status status = STATUS_OK;
    *out = (struct race_times){.event_ns = NULL};
    if (request->count > RACE_MAX_ENTRANTS) {
        return STATUS_FAIL(STATUS_MISUSE, "rounds", "%zu entrants", request->count);
    }
    STATUS_TRY(make_room(request, out));
    for (size_t block = 0; block < request->blocks; block++) {
        STATUS_TRY(run_block(request, out, block));
    }
out:
    if (status != STATUS_OK) {
        race_times_fini(out);
    }
    return status;
}

enum status race_ratio(const struct race_times *times, size_t a, size_t b, uint64_t seed,
                       struct pairs_ratio *out)
{
    enum status status = STATUS_OK;
    const size_t count = samples_of(times);
    *out = (struct pairs_ratio){0};
    double *both = calloc(size_max(2 * count, 1), sizeof *both);
    if (both == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "rounds", "no memory for %zu samples", 2 * count);
    }
    for (size_t i = 0; i < count; i++) {
        const bool events =
            !isnan(times->event_ns[a * count + i]) && !isnan(times->event_ns[b * count + i]);
        const double *from = events ? times->event_ns : times->host_ns;
        both[i] = from[a * count + i];
        both[count + i] = from[b * count + i];
    }
    const struct pairs pairs = {
        .blocks = times->blocks, .rounds = times->rounds, .a = both, .b = both + count};
    STATUS_TRY(pairs_ratio(&pairs, seed, out));
out:
    free(both);
    return status;
}

enum status race_launch_ns(const struct race_times *times, size_t entrant, double *out)
{
    const size_t count = samples_of(times);
    *out = (double)NAN;
    double *all = calloc(size_max(count, 1), sizeof *all);
    if (all == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "rounds", "no memory for %zu samples", count);
    }
    for (size_t i = 0; i < count; i++) {
        const double event_ns = times->event_ns[entrant * count + i];
        all[i] = isnan(event_ns) ? times->host_ns[entrant * count + i] : event_ns;
    }
    *out = pairs_median(all, count) / (double)times->launches;
    free(all);
    return STATUS_OK;
}
