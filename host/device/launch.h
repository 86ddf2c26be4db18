/* Kernel launches: one dimension, some times back to back, timed. */
#ifndef HOST_DEVICE_LAUNCH_H
#define HOST_DEVICE_LAUNCH_H

#include "host/device/device.h"
#include "host/device/event.h"

/* Enqueues `kernel`, its arguments set, `count` times back to back with `groups` work-groups of
 * `local` work-items, waits, and gives the time of the whole span: event_ns from the first
 * launch's start to the last one's end, host_ns around all of it.
 *
 * Checked before anything is enqueued, since drivers may end the process instead of refusing:
 * STATUS_MISUSE: groups, local or count is 0; STATUS_RANGE: groups x local wraps;
 * STATUS_BAD_INPUT: local is above what the kernel or the device can run;
 * STATUS_NO_SPACE: the kernel's local memory, arguments included, is above the device's, as far as
 * the driver tells of it (see launch_local_argument).
 * STATUS_OPENCL: an argument is not set, or the device failed. */
enum status launch_kernel(struct device *device, cl_kernel kernel, size_t groups, size_t local,
                          size_t count, struct event_time *out) STATUS_MUST_USE;

/* Makes argument `index` of a kernel `bytes` of local memory, beside local arrays of its own that
 * take `own_bytes`. STATUS_NO_SPACE: the device has less than both. Drivers accept more and end the
 * process at the launch; PoCL 6.0 answers 0 for any kernel's CL_KERNEL_LOCAL_MEM_SIZE, so that
 * launch_kernel can't see it there. */
enum status launch_local_argument(struct device *device, cl_kernel kernel, cl_uint index,
                                  size_t bytes, size_t own_bytes) STATUS_MUST_USE;

#endif
