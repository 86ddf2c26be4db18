/* Attention on a device: offset tables -> kernels -> verdict.
 *
 *     attention_create(device, &problem, inputs, &options, &attention);   builds, uploads
 *     attention_bind(attention, &program, POLICY_NESTED, arenas, &bound); offset table on device
 *     attention_check(attention, bound, reference, &check);               before any timing
 *     attention_launch(attention, bound, item_end, count, &time);
 *
 * Policies share one attention (same inputs, same built kernel); a bound policy is its table on
 * given arenas. Two bindings may share arenas; launches are in one in-order queue.
 */
#ifndef HOST_ATTENTION_RUN_H
#define HOST_ATTENTION_RUN_H

#include "host/attention/inputs.h"
#include "host/attention/problem.h"
#include "host/attention/reference.h"
#include "host/device/device.h"
#include "host/device/event.h"
#include "host/device/pe_arenas.h"
#include "host/scratch/footprint.h"

enum kernel_style {
    KERNEL_SIMD, /* one work-item a PE, explicit vectors: for CPUs */
    KERNEL_SIMT, /* cooperating work-items: for GPUs */
};

const char *kernel_style_name(enum kernel_style style); /* "simd", "simt" */

/* "auto" is the caller's: simd on a CPU device, simt elsewhere. */
enum kernel_style kernel_style_for(const struct device_info *info);

struct attention;

struct attention_options {
    enum kernel_style style; /* */
    size_t local_size;       /* work-items of a PE, simt; 0 = a good one for the device; simd: 1 */
    size_t pes;              /* work-groups, >= 1 */
    const char *source;      /* kernel text instead of the product's own; NULL = that of style */
    const char *defines;     /* further build options, for timing variants; NULL = none */
    const struct attention *share; /* of the same problem and device: its inputs on the device,
                                      which outlive it, instead of others; NULL = uploaded */
    enum pe_arenas_space arena;    /* where the arenas are */
};

struct attention_bound;

/* Builds the kernel (once for equal options), checks the device's limits and uploads the inputs.
 * `inputs` need not outlive the call. STATUS_BAD_INPUT: a dtype without a kernel, work-group size;
 * STATUS_NO_SPACE: a tensor above the device's largest allocation; STATUS_MISUSE: `share` is of
 * another device. */
enum status attention_create(struct device *device, const struct problem *problem,
                             const struct inputs *inputs, const struct attention_options *options,
                             struct attention **out) STATUS_MUST_USE;
void attention_destroy(struct attention *attention);

size_t attention_local_size(const struct attention *attention);

/* Local memory that its kernels take beside local arenas, bytes, as far as the driver tells. */
size_t attention_own_local_bytes(const struct attention *attention);

/* Puts a policy's offset table on the device, for these arenas (borrowed; pes must be equal,
 * and they must be where the options say).
 * STATUS_NO_SPACE: the policy overflows the arenas' pool. */
enum status attention_bind(struct attention *attention, const struct footprint_request *request,
                           struct pe_arenas *arenas, struct attention_bound **out) STATUS_MUST_USE;

/* The same with a table of the caller's, which may be wrong: for tests that break it. */
enum status attention_bind_table(struct attention *attention, const struct offset_table *table,
                                 struct pe_arenas *arenas,
                                 struct attention_bound **out) STATUS_MUST_USE;
void attention_unbind(struct attention_bound *bound);

/* Launches items [0, item_end) `count` times back to back, and waits. poison: fill rewound ranges
 * with 0xFF. */
enum status attention_launch(struct attention *attention, struct attention_bound *bound,
                             size_t item_end, bool poison, size_t count,
                             struct event_time *time) STATUS_MUST_USE;

struct attention_check {
    struct verdict verdict; /* of the first painted run; local: or of the timing build's, if */
                            /* that is worse */
    struct pe_arenas_touch touch; /* of both painted runs */
    bool repeatable;              /* out and lse of both painted runs equal bit for bit */
    bool poison_neutral;          /* a poisoned run gave the same bits; true if not asked for */
    bool builds_agree;            /* local: so did the timing build; not promised */
    size_t parts_touched_bytes;   /* of the parts' buffer, measured likewise; 0 if unsplit */
    uint64_t output_hash;         /* FNV-1a over out and lse bits: equal outputs, equal hashes; */
                                  /* local: of the timing build */
};

/* Two painted runs of all items, scan, comparison with the reference; for local arenas in a
 * checking build of the kernel, and one run of the timing build; with `poison` a third run with
 * rewound ranges filled with 0xFF. A wrong result is not a failure: see verdict. */
enum status attention_check(struct attention *attention, struct attention_bound *bound,
                            const struct reference *reference, bool poison,
                            struct attention_check *out) STATUS_MUST_USE;

/* Results of the last launch: problem_out_elems and problem_lse_elems floats. */
enum status attention_read(struct attention *attention, float *out, float *lse) STATUS_MUST_USE;

#endif
