/* The `context` of a results file: Google Benchmark's keys, and what else must be known to compare
 * two files: versions, device, PEs, machine and settings. */
#ifndef HOST_APP_CONTEXT_H
#define HOST_APP_CONTEXT_H

#include "bench/roofline.h"
#include "host/app/machine.h"
#include "host/app/results.h"
#include "host/device/binding.h"
#include "host/device/topology.h"

#include <jansson.h>

/* Of the JSON that this version writes; raised when a key changes its meaning. */
enum { CONTEXT_SCHEMA_VERSION = 1 };

/* Where a run's time goes. */
struct context_seconds {
    uint64_t began_ns;                 /* of event_clock_ns */
    double roofline;                   /* s */
    const struct sweep_seconds *sweep; /* */
};

struct context {
    const char *executable;                /* argv[0] */
    const struct device_info *device;      /* NULL in a plan */
    const struct topology *topology;       /* NULL in a plan */
    const struct binding *binding;         /* NULL in a plan */
    const struct machine *machine;         /* when the run began; NULL = as it is now */
    size_t pes;                            /* 0 = not known */
    const struct roofline *roofline;       /* NULL = not measured */
    const struct sweep_options *sweep;     /* NULL in a plan */
    const struct context_seconds *seconds; /* NULL = not known */
    bool poison;                           /* */
    enum pe_arenas_space arena;            /* where the arenas are */
};

/* A new reference; STATUS_NO_MEMORY. */
enum status context_json(const struct context *context, const struct results *results,
                         json_t **out) STATUS_MUST_USE;

/* "0.1.0", and the commit that was configured; "" = unknown. */
const char *context_version(void);
const char *context_commit(void);

/* JSON values: a text is made valid UTF-8, what is not finite becomes null, sizes above the
 * largest JSON integer become reals. NULL = no memory. */
json_t *context_text(const char *text);
json_t *context_size(size_t size);
json_t *context_real(double real);

/* The machine, as JSON; NULL = no memory. */
json_t *context_topology(const struct topology *topology);

/* {pes_bound, cpus, why_not}: whether worker threads have CPUs of their own and which, else why
 * not. All null where the device's threads are not known. NULL = no memory. */
json_t *context_binding(const struct binding *binding);

/* {fma_gflops, read: [{bytes, level, gb_per_s}], memory_gb_per_s}, level null for memory. NULL = no
 * memory. Read back: false (and *out = 0) if it is not such an object. */
json_t *context_roofline(const struct roofline *roofline);
bool context_roofline_read(const json_t *json, struct roofline *out);

#endif
