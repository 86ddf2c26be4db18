/* The check of a binding before it is timed: two painted runs, what they touched, and the
 * comparison with the reference.
 *
 * Local arenas are measured in the checking build, whose work-items paint and scan; what is timed
 * is another build of the same source, so that its results are compared as well. */
#include "host/attention/run_state.h"

#include <stdlib.h>
#include <string.h>

/* Fills the results with NaN bits, so that what a launch does not write cannot pass. */
static enum status forget_results(struct attention *attention)
{
    enum status status = STATUS_OK;
    const cl_uint pattern = 0xFFFFFFFFu;
    cl_command_queue queue = attention->device->queue;
    OPENCL_TRY(clEnqueueFillBuffer(queue, attention->out, &pattern, sizeof pattern, 0,
                                   attention->out_bytes, 0, NULL, NULL));
    OPENCL_TRY(clEnqueueFillBuffer(queue, attention->lse, &pattern, sizeof pattern, 0,
                                   attention->lse_bytes, 0, NULL, NULL));
out:
    return status;
}

/* One run from fresh results: launches all items and reads out and lse, lse behind out. */
static enum status run_once(struct attention *attention, struct attention_bound *bound,
                            bool checking, bool poison, float *results)
{
    enum status status = STATUS_OK;
    const struct run_request request = {.checking = checking,
                                        .poison = poison,
                                        .item_end = problem_item_count(&attention->problem),
                                        .count = 1};
    struct event_time time = {0};
    STATUS_TRY(forget_results(attention));
    STATUS_TRY(run_launch(attention, bound, &request, &time));
    STATUS_TRY(
        attention_read(attention, results, results + problem_out_elems(&attention->problem)));
out:
    return status;
}

static uint64_t hash_bytes(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ p[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Paints the arenas, and the parts' buffer beside them. */
static enum status paint(struct attention *attention, struct attention_bound *bound,
                         unsigned char value)
{
    enum status status = STATUS_OK;
    STATUS_TRY(pe_arenas_paint(bound->arenas, value));
    if (attention->parts != NULL) {
        STATUS_TRY(pe_arenas_paint(attention->parts, value));
    }
out:
    return status;
}

/* One painted run, and what it touched. */
static enum status painted_run(struct attention *attention, struct attention_bound *bound,
                               unsigned char value, float *results)
{
    enum status status = STATUS_OK;
    STATUS_TRY(paint(attention, bound, value));
    STATUS_TRY(run_once(attention, bound, true, false, results));
    STATUS_TRY(pe_arenas_scan(bound->arenas, value));
    if (attention->parts != NULL) {
        STATUS_TRY(pe_arenas_scan(attention->parts, value));
    }
out:
    return status;
}

/* What both painted runs have touched. The parts' guard counts as one more guard. */
static enum status measure(struct attention *attention, struct attention_bound *bound,
                           struct attention_check *out)
{
    enum status status = STATUS_OK;
    struct pe_arenas_touch parts = {.guards_intact = true};
    STATUS_TRY(pe_arenas_measure(bound->arenas, &out->touch));
    if (attention->parts != NULL) {
        STATUS_TRY(pe_arenas_measure(attention->parts, &parts));
    }
    out->parts_touched_bytes = parts.peak_bytes;
    out->touch.guards_intact = out->touch.guards_intact && parts.guards_intact;
out:
    return status;
}

/* The two painted runs: results of the first in `first`, `other` is room for the second's. */
static enum status painted_runs(struct attention *attention, struct attention_bound *bound,
                                float *first, float *other, struct attention_check *out)
{
    enum status status = STATUS_OK;
    const size_t bytes = attention->out_bytes + attention->lse_bytes;
    STATUS_TRY(pe_arenas_reset(bound->arenas));
    if (attention->parts != NULL) {
        STATUS_TRY(pe_arenas_reset(attention->parts));
    }
    STATUS_TRY(painted_run(attention, bound, 0xA5, first));
    STATUS_TRY(painted_run(attention, bound, 0x5A, other));
    STATUS_TRY(measure(attention, bound, out));
    out->repeatable = memcmp(first, other, bytes) == 0;
    out->output_hash = hash_bytes(first, bytes);
out:
    return status;
}

static void compare(const struct attention *attention, const struct reference *reference,
                    const float *results, struct verdict *verdict)
{
    reference_compare(reference, &attention->problem, results,
                      results + problem_out_elems(&attention->problem), verdict);
}

/* The build that is timed, where it is not the one that was painted: the worse verdict of the two
 * counts. Its results are in `other` then, and still on the device. */
static enum status check_timing_build(struct attention *attention, struct attention_bound *bound,
                                      const struct reference *reference, const float *first,
                                      float *other, struct attention_check *out)
{
    enum status status = STATUS_OK;
    const size_t bytes = attention->out_bytes + attention->lse_bytes;
    struct verdict timed;
    STATUS_TRY(run_once(attention, bound, false, false, other));
    compare(attention, reference, other, &timed);
    if (out->verdict.verified &&
        (!timed.verified || timed.max_abs_err > out->verdict.max_abs_err)) {
        out->verdict = timed;
    }
    out->builds_agree = memcmp(first, other, bytes) == 0;
    out->output_hash = hash_bytes(other, bytes);
out:
    return status;
}

enum status attention_check(struct attention *attention, struct attention_bound *bound,
                            const struct reference *reference, bool poison,
                            struct attention_check *out)
{
    enum status status = STATUS_OK;
    const size_t bytes = attention->out_bytes + attention->lse_bytes;
    float *first = malloc(bytes), *other = malloc(bytes);
    *out = (struct attention_check){.poison_neutral = true, .builds_agree = true};
    if (first == NULL || other == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "results", "2 x %zu bytes", bytes);
        goto out;
    }
    STATUS_TRY(painted_runs(attention, bound, first, other, out));
    compare(attention, reference, first, &out->verdict);
    if (poison) {
        STATUS_TRY(run_once(attention, bound, true, true, other));
        out->poison_neutral = memcmp(first, other, bytes) == 0;
    }
    if (attention->check_kernel != NULL) {
        STATUS_TRY(check_timing_build(attention, bound, reference, first, other, out));
    }
out:
    free(first);
    free(other);
    return status;
}
