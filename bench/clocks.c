#include "bench/clocks.h"

#include "bench/pairs.h"

#include <math.h>

#define LEAST_HOST_NS 1e6
#define MOST_APART 0.10

static void halve(struct clocks *clocks)
{
    for (size_t i = 0; i < CLOCKS_SAMPLES / 2; i++) {
        clocks->ratios[i] = clocks->ratios[2 * i];
        clocks->host_ns[i] = clocks->host_ns[2 * i];
    }
    clocks->count = CLOCKS_SAMPLES / 2;
    clocks->stride *= 2;
}

void clocks_add(struct clocks *clocks, const struct event_time *time)
{
    if (!time->sane || !(time->host_ns > 0.0)) {
        return;
    }
    if (clocks->stride == 0) {
        clocks->stride = 1;
    }
    if (clocks->count == CLOCKS_SAMPLES) {
        halve(clocks);
    }
    if (clocks->seen % clocks->stride == 0) {
        clocks->ratios[clocks->count] = time->event_ns / time->host_ns;
        clocks->host_ns[clocks->count++] = time->host_ns;
    }
    clocks->seen++;
}

struct clocks_verdict clocks_judge(struct clocks *clocks)
{
    struct clocks_verdict verdict = {.ratio = pairs_median(clocks->ratios, clocks->count)};

    verdict.known = pairs_median(clocks->host_ns, clocks->count) >= LEAST_HOST_NS;
    verdict.agree = verdict.known && fabs(verdict.ratio - 1.0) <= MOST_APART;
    return verdict;
}
