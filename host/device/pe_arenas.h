/* The arenas of all PEs: on one OpenCL buffer, or each in the local memory of its work-group.
 *
 *     |<----------------- stride ----------------->|
 *     | shift |  pool of PE i  |  rest of the guard |  PE i + 1 ...
 *
 * stride = pool + guard, rounded up to CL_DEVICE_MEM_BASE_ADDR_ALIGN and whole lines. PE i owns the
 * pool bytes from i x stride + shift on; everything else must come back untouched. Fill, scan and
 * read go through the parent buffer with 64-bit offsets in the device's one in-order queue.
 *
 * Measured peak: paint 0xA5, run, scan; paint 0x5A, run, scan. A byte is touched if it differs in
 * either run.
 *
 * Local memory lives as long as its work-group, and no host reaches it. There the stride of a PE is
 * the kernel's argument, in whole lines and without a shift; the kernel itself paints it with
 * `painted` and adds what it touched to `lines`, in the form that scan.cl gives it
 * (kernels/check.clh).
 */
#ifndef HOST_DEVICE_PE_ARENAS_H
#define HOST_DEVICE_PE_ARENAS_H

#include "host/device/device.h"

#include <stdbool.h>
#include <stddef.h>

/* Local memory is scarce, and so is its guard; one in a buffer has room for shifts. */
enum {
    PE_ARENAS_GUARD_BYTES = 8192,
    PE_ARENAS_LOCAL_GUARD_BYTES = 1024,
    PE_ARENAS_LINE_BYTES = 128,
};

enum pe_arenas_space {
    PE_ARENAS_GLOBAL, /* one buffer in global memory */
    PE_ARENAS_LOCAL,  /* local memory of each work-group */
};

const char *pe_arenas_space_name(enum pe_arenas_space space); /* "global", "local" */

struct pe_arenas_shape {
    enum pe_arenas_space space; /* */
    size_t pes;                 /* >= 1 */
    size_t pool_bytes;          /* of one PE, >= 1 */
    size_t guard_bytes;         /* >= shift + 128, a multiple of 128 */
    size_t shift_bytes;  /* where the pool starts in its stride: a multiple of 128; local: 0 */
    size_t stride_bytes; /* out: set by pe_arenas_layout */
    size_t total_bytes;  /* out: pes x stride */
};

struct pe_arenas {
    struct device *device;        /* borrowed */
    struct pe_arenas_shape shape; /* laid out */
    cl_mem buffer;                /* total_bytes; NULL if local */
    cl_mem lines;                 /* 2 bytes a line: last touched byte, from 1, of the pool's */
                                  /* part of the line and of the guard's; 0 = none */
    cl_kernel paint;              /* owned; NULL if local */
    cl_kernel scan;               /* owned; NULL if local */
    unsigned char painted;        /* local: what the kernel paints with */
};

/* What two painted runs have shown. */
struct pe_arenas_touch {
    size_t peak_bytes;    /* highest touched byte + 1 in a pool, the largest over the PEs */
    size_t touched_lines; /* lines of 128 bytes with a touched byte in a pool, largest over PEs */
    bool guards_intact;   /* no byte outside the pools was touched */
    size_t damaged_pe;    /* first PE whose guard was touched; valid if !guards_intact */
    size_t damaged_at;    /* offset of the first touched guard byte's line, from the PE's stride */
};

/* Pure: fills stride_bytes and total_bytes. `limit_bytes`: the device's largest allocation, or if
 * local, what a work-group has of local memory; base_align_bytes counts for buffers alone.
 * STATUS_RANGE: wraps; STATUS_BAD_INPUT: shift or guard; STATUS_NO_SPACE: the total, or if local
 * the stride, is above the limit (reason says how much is asked and the limit; both sizes are set
 * all the same). */
enum status pe_arenas_layout(size_t base_align_bytes, size_t limit_bytes,
                             struct pe_arenas_shape *shape) STATUS_MUST_USE;

/* The largest pool, in whole lines, that local memory of this size holds beside its guard; 0 = it
 * does not even hold the guard. Pure. */
size_t pe_arenas_local_pool(size_t local_bytes);

/* Lays out and, unless local, allocates. The contents are undefined until painted. */
enum status pe_arenas_create(struct device *device, struct pe_arenas_shape shape,
                             struct pe_arenas **out) STATUS_MUST_USE;
void pe_arenas_destroy(struct pe_arenas *arenas);

/* Forgets what was touched: before the first paint of a pair. */
enum status pe_arenas_reset(struct pe_arenas *arenas) STATUS_MUST_USE;

/* Makes argument `index` of a kernel the arenas: the buffer, or if local, memory for the pool, and
 * for the guard if `guarded`, beside `own_bytes` that the kernel takes itself. STATUS_NO_SPACE: the
 * device has less (launch_local_argument). */
enum status pe_arenas_argument(const struct pe_arenas *arenas, cl_kernel kernel, cl_uint index,
                               bool guarded, size_t own_bytes) STATUS_MUST_USE;

/* Fills pools and guards with `value`, on the device. If local, leaves that to the kernel. */
enum status pe_arenas_paint(struct pe_arenas *arenas, unsigned char value) STATUS_MUST_USE;

/* Adds every byte that is not `value` to what was touched. If local, the kernel has done so. */
enum status pe_arenas_scan(struct pe_arenas *arenas, unsigned char value) STATUS_MUST_USE;

/* Reads what the scans have found since the reset. */
enum status pe_arenas_measure(struct pe_arenas *arenas,
                              struct pe_arenas_touch *out) STATUS_MUST_USE;

/* Copies `bytes` of one PE's pool from offset on to the host, through a sub-buffer made for this
 * dump alone. STATUS_BAD_INPUT: out of the pool; STATUS_MISUSE: it is local. */
enum status pe_arenas_dump(struct pe_arenas *arenas, size_t pe, size_t offset, size_t bytes,
                           void *out) STATUS_MUST_USE;

#endif
