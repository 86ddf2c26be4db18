/* The device's clock against the host's: whether event time and host time of the same launches tell
 * the same. The host's span lies around the event's, so the ratio event / host is a little below 1;
 * above 1, or far below, one of the clocks does not count nanoseconds or does not see the launch.
 * Of short launches the way to the driver and back is a large part, which says nothing.
 *
 *     struct clocks clocks = {.stride = 0};
 *     clocks_add(&clocks, &time);                  after each launch
 *     struct clocks_verdict verdict = clocks_judge(&clocks);
 */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

#include "host/device/event.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLOCKS_SAMPLES = 1024 };

/* All 0 to begin with. Of many launches every stride-th is kept, evenly over the whole. */
struct clocks {
    double ratios[CLOCKS_SAMPLES];  /* event / host */
    double host_ns[CLOCKS_SAMPLES]; /* of one launch */
    size_t count;                   /* samples kept */
    size_t stride;                  /* a power of two; 0 = nothing was added yet */
    size_t seen;                    /* launches with sane stamps */
};

struct clocks_verdict {
    double ratio; /* median of event / host; NaN = no launch had sane stamps */
    bool known;   /* the launches are long enough to compare */
    bool agree;   /* known, and the ratio is within 10 % of 1 */
};

/* Adds a launch; one whose stamps are not sane does not count. */
void clocks_add(struct clocks *clocks, const struct event_time *time);

/* Puts the samples into another order: nothing is added after it. */
struct clocks_verdict clocks_judge(struct clocks *clocks);

#endif
