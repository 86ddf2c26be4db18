/* Kernel programs: source to cl_program, once for each (source, options), whole log on failure. */
#ifndef HOST_DEVICE_BUILD_H
#define HOST_DEVICE_BUILD_H

#include "host/device/device.h"

/* Builds `source` (one string, includes expanded) with `options`, or returns the program built
 * before from equal texts on this device. The device owns it: do not release it. This function
 * puts -cl-std=CL1.2 before the options. On failure STATUS_OPENCL, the whole log is the record's
 * detail, and the hint names POCL_CACHE_DIR where PoCL fails without an error of the source.
 * STATUS_MISUSE: an option that gives up infinities or exact arithmetic (fast-math and its kind).
 */
enum status build_program(struct device *device, const char *source, const char *options,
                          cl_program *out) STATUS_MUST_USE;

/* A kernel of a built program; the caller releases it with clReleaseKernel. */
enum status build_kernel(struct device *device, const char *source, const char *options,
                         const char *kernel_name, cl_kernel *out) STATUS_MUST_USE;

/* Programs really built on this device so far (not found in the cache), and the time it took. */
size_t build_count(const struct device *device);
double build_seconds(const struct device *device);

/* The largest work-group this kernel may be launched with here (CL_KERNEL_WORK_GROUP_SIZE), and
 * the local memory that it uses (CL_KERNEL_LOCAL_MEM_SIZE), bytes, arguments set so far included;
 * 0 also where the driver does not tell (PoCL 6.0). */
enum status build_kernel_limits(struct device *device, cl_kernel kernel, size_t *work_group_size,
                                size_t *local_bytes) STATUS_MUST_USE;

/* Used by device_open and device_close. */
enum status build_cache_create(struct build_cache **out) STATUS_MUST_USE;
void build_cache_destroy(struct build_cache *cache);

#endif
