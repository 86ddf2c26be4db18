/* Kernel launches: one dimension, some times back to back, timed. */
#ifndef HOST_DEVICE_LAUNCH_H
#define HOST_DEVICE_LAUNCH_H

#include "host/device/device.h"
#include "host/device/event.h"

/* One kernel of a launch, its arguments set. */
struct launch {
    cl_kernel kernel;
    size_t groups; /* work-groups, >= 1 */
    size_t local;  /* work-items of a group, >= 1 */
};

enum { LAUNCH_MAX_KERNELS = 4 };

/* Enqueues the kernels of `steps` one after another, all of them `count` times back to back, waits,
 * and gives the time of the whole span: event_ns from the first kernel's start to the last one's
 * end, host_ns around all of it.
 *
 * Checked before anything is enqueued, since drivers may end the process instead of refusing:
 * STATUS_MISUSE: groups, local, count or step_count is 0, or step_count is above
 * LAUNCH_MAX_KERNELS; STATUS_RANGE: groups x local wraps;
 * STATUS_BAD_INPUT: local is above what the kernel or the device can run;
 * STATUS_NO_SPACE: the kernel's local memory, arguments included, is above the device's, as far as
 * the driver tells of it (see launch_local_argument).
 * STATUS_OPENCL: an argument is not set, or the device failed. */
enum status launch_kernels(struct device *device, const struct launch *steps, size_t step_count,
                           size_t count, struct event_time *out) STATUS_MUST_USE;

/* The same for one kernel. */
enum status launch_kernel(struct device *device, cl_kernel kernel, size_t groups, size_t local,
                          size_t count, struct event_time *out) STATUS_MUST_USE;

/* Makes argument `index` of a kernel `bytes` of local memory, beside local arrays of its own that
 * take `own_bytes`. STATUS_NO_SPACE: the device has less than both. Drivers accept more and end the
 * process at the launch; PoCL 6.0 answers 0 for any kernel's CL_KERNEL_LOCAL_MEM_SIZE, so that
 * launch_kernel can't see it there. */
enum status launch_local_argument(struct device *device, cl_kernel kernel, cl_uint index,
                                  size_t bytes, size_t own_bytes) STATUS_MUST_USE;

#endif
