/* The device's roofline, measured: FMA peak and read bandwidth on all PEs.
 *
 * Source: Williams, Waterman and Patterson 2009. A row's bound is the smaller of the FMA peak and
 * read bandwidth x FLOP per byte.
 *
 *     struct roofline roofline;
 *     STATUS_TRY(roofline_measure(device, &request, &roofline));
 *     bound = roofline_bound_gflops(&roofline, flops, dram_bytes);
 */
#ifndef BENCH_ROOFLINE_H
#define BENCH_ROOFLINE_H

#include "host/device/device.h"
#include "host/device/topology.h"

#include <stdbool.h>
#include <stddef.h>

enum { ROOFLINE_MAX_SIZES = 8 };

struct roofline_read {
    size_t bytes;    /* read by all PEs together in one pass */
    size_t level;    /* cache that holds them; 0 = memory, or unknown */
    double gb_per_s; /* 1e9 bytes a second, best of the launches */
};

struct roofline {
    size_t pes;        /* work-groups that ran */
    double fma_gflops; /* f32, 2 FLOP a multiply-add, best of the launches */
    struct roofline_read reads[ROOFLINE_MAX_SIZES]; /* by bytes, ascending; memory last */
    size_t read_count;                              /* >= 1 */
};

struct roofline_request {
    const struct topology *topology; /* gives the sizes on a CPU */
    size_t pes;                      /* as the sweep's, >= 1 */
    bool (*interrupted)(void *user); /* asked before each figure; NULL = never */
    void *user;                      /* */
};

/* Runs for a second or so. STATUS_OPENCL, STATUS_NO_MEMORY, STATUS_NO_SPACE: the device failed or
 * has no room; STATUS_INTERRUPTED: `interrupted` said so; *out is then 0. */
enum status roofline_measure(struct device *device, const struct roofline_request *request,
                             struct roofline *out) STATUS_MUST_USE;

/* The same two figures measured again, beside a row: on a shared machine the device's speed changes
 * from one second to the next, and a row far from its share of the roofline may be the machine's
 * doing. */
struct roofline_peaks {
    double fma_gflops;      /* NaN = not measured */
    double memory_gb_per_s; /* */
};

struct roofline_probe;

/* Keeps kernels and buffers of what `roofline` was measured with; launches of some 10 ms. Errors as
 * above. */
enum status roofline_probe_create(struct device *device, const struct roofline *roofline,
                                  struct roofline_probe **out) STATUS_MUST_USE;
void roofline_probe_destroy(struct roofline_probe *probe);

/* Some launches for each figure; raises those of `peaks` that they exceed. */
enum status roofline_probe_run(struct roofline_probe *probe,
                               struct roofline_peaks *peaks) STATUS_MUST_USE;

/* Bandwidth of memory: the last of the reads. */
double roofline_memory_gb_per_s(const struct roofline *roofline);

/* min(FMA peak, memory bandwidth x flops / bytes), GFLOP/s; bytes = 0: the FMA peak. */
double roofline_bound_gflops(const struct roofline *roofline, double flops, double bytes);

#endif
