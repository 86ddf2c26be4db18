/* The arenas of all PEs on one OpenCL buffer.
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
 */
#ifndef HOST_DEVICE_PE_ARENAS_H
#define HOST_DEVICE_PE_ARENAS_H

#include "host/device/device.h"

#include <stdbool.h>
#include <stddef.h>

enum { PE_ARENAS_GUARD_BYTES = 8192, PE_ARENAS_LINE_BYTES = 128 };

struct pe_arenas_shape {
    size_t pes;          /* >= 1 */
    size_t pool_bytes;   /* of one PE, >= 1 */
    size_t guard_bytes;  /* >= shift + 128, a multiple of 128 */
    size_t shift_bytes;  /* where the pool starts in its stride: a multiple of 128 */
    size_t stride_bytes; /* out: set by pe_arenas_layout */
    size_t total_bytes;  /* out: pes x stride */
};

struct pe_arenas {
    struct device *device;        /* borrowed */
    struct pe_arenas_shape shape; /* laid out */
    cl_mem buffer;                /* total_bytes */
    cl_mem lines;                 /* 2 bytes a line: last touched byte, from 1, of the pool's */
                                  /* part of the line and of the guard's; 0 = none */
    cl_kernel paint;              /* owned */
    cl_kernel scan;               /* owned */
};

/* What two painted runs have shown. */
struct pe_arenas_touch {
    size_t peak_bytes;    /* highest touched byte + 1 in a pool, the largest over the PEs */
    size_t touched_lines; /* lines of 128 bytes with a touched byte in a pool, largest over PEs */
    bool guards_intact;   /* no byte outside the pools was touched */
    size_t damaged_pe;    /* first PE whose guard was touched; valid if !guards_intact */
    size_t damaged_at;    /* offset of the first touched guard byte's line, from the PE's stride */
};

/* Pure: fills stride_bytes and total_bytes. STATUS_RANGE: wraps; STATUS_BAD_INPUT: shift or guard;
 * STATUS_NO_SPACE: total above max_alloc_bytes (reason says how much is asked and the limit; both
 * sizes are set all the same). */
enum status pe_arenas_layout(size_t base_align_bytes, size_t max_alloc_bytes,
                             struct pe_arenas_shape *shape) STATUS_MUST_USE;

/* Lays out and allocates. The contents are undefined until painted. */
enum status pe_arenas_create(struct device *device, struct pe_arenas_shape shape,
                             struct pe_arenas **out) STATUS_MUST_USE;
void pe_arenas_destroy(struct pe_arenas *arenas);

/* Forgets what was touched: before the first paint of a pair. */
enum status pe_arenas_reset(struct pe_arenas *arenas) STATUS_MUST_USE;

/* Fills pools and guards with `value`, on the device. */
enum status pe_arenas_paint(struct pe_arenas *arenas, unsigned char value) STATUS_MUST_USE;

/* Adds every byte that is not `value` to what was touched. */
enum status pe_arenas_scan(struct pe_arenas *arenas, unsigned char value) STATUS_MUST_USE;

/* Reads what the scans have found since the reset. */
enum status pe_arenas_measure(struct pe_arenas *arenas,
                              struct pe_arenas_touch *out) STATUS_MUST_USE;

/* Copies `bytes` of one PE's pool from offset on to the host, through a sub-buffer made for this
 * dump alone. STATUS_BAD_INPUT: out of the pool. */
enum status pe_arenas_dump(struct pe_arenas *arenas, size_t pe, size_t offset, size_t bytes,
                           void *out) STATUS_MUST_USE;

#endif
