/* OpenCL devices: listing, choosing, and one open device with its context and queue. */
#ifndef HOST_DEVICE_DEVICE_H
#define HOST_DEVICE_DEVICE_H

#include "host/device/opencl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_NAME_BYTES = 256 };

enum device_type { DEVICE_CPU, DEVICE_GPU, DEVICE_OTHER };

/* What is known of a device before anything is sized on it. */
struct device_info {
    size_t index;                          /* position over all platforms, from 0: --device INDEX */
    cl_platform_id platform;               /* where it was found */
    cl_device_id id;                       /* valid while the process lives */
    enum device_type type;                 /* CPU where it says both, as simulators do */
    char name[DEVICE_NAME_BYTES];          /* CL_DEVICE_NAME, blanks around it cut off */
    char vendor[DEVICE_NAME_BYTES];        /* CL_DEVICE_VENDOR */
    char version[DEVICE_NAME_BYTES];       /* "OpenCL 1.2 pocl ..." */
    char driver[DEVICE_NAME_BYTES];        /* CL_DRIVER_VERSION */
    char platform_name[DEVICE_NAME_BYTES]; /* CL_PLATFORM_NAME */
    bool available;             /* CL_DEVICE_AVAILABLE, a compiler, every question answered */
    bool little_endian;         /* CL_DEVICE_ENDIAN_LITTLE */
    bool fp16;                  /* cl_khr_fp16; not needed: vload_half is core */
    bool fp64;                  /* double precision in kernels; not needed */
    size_t compute_units;       /* >= 1 */
    size_t max_work_group_size; /* work-items */
    size_t global_bytes;        /* CL_DEVICE_GLOBAL_MEM_SIZE */
    size_t max_alloc_bytes;     /* CL_DEVICE_MAX_MEM_ALLOC_SIZE */
    size_t local_bytes;         /* CL_DEVICE_LOCAL_MEM_SIZE */
    bool local_is_dedicated;    /* CL_LOCAL, not carved out of global memory */
    size_t base_align_bytes;    /* CL_DEVICE_MEM_BASE_ADDR_ALIGN, from bits to bytes */
    size_t float_vector_width;  /* CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, >= 1 */
    size_t timer_resolution_ns; /* CL_DEVICE_PROFILING_TIMER_RESOLUTION */
};

struct device_list {
    struct device_info *devices; /* owned; NULL when count = 0 */
    size_t count;
    size_t platform_count; /* platforms seen, those without a device included */
    int platform_error;    /* first OpenCL code of a platform that would not list; 0 = none */
};

/* Lists every device of every platform. No platform at all is not a failure: count = 0. */
enum status device_list_init(struct device_list *list) STATUS_MUST_USE;
void device_list_fini(struct device_list *list);

/* Chooses by `spec`: NULL or "" = the first available GPU, else the first available CPU device,
 * else any; "cpu", "gpu"; a decimal index; else a case-insensitive part of a name, which must fit
 * one device. STATUS_NO_DEVICE: no platform (hint: install pocl-opencl-icd), no device, none of
 * that type, not available; STATUS_BAD_INPUT: index out of range, name unknown or ambiguous (the
 * devices are listed in the reason). */
enum status device_choose(const struct device_list *list, const char *spec,
                          size_t *index) STATUS_MUST_USE;

/* The widest vector of 4, 8 or 16 floats that the device has registers for: VECTOR_WIDTH of the
 * kernels. */
size_t device_vector_width(const struct device_info *info);

/* Whether the platform is PoCL, which builds kernels by clang for the host and takes its builtins
 * (Oclgrind parses them and fails at the launch). */
bool device_is_pocl(const struct device_info *info);

/* An open device: one context, one in-order queue with profiling. */
struct device {
    struct device_info info;
    cl_context context;
    cl_command_queue queue;
    struct build_cache *builds; /* programs built so far (build.h), owned */
};

enum status device_open(const struct device_info *info, struct device **out) STATUS_MUST_USE;
void device_close(struct device *device);

/* Waits until the queue is empty. */
enum status device_finish(struct device *device) STATUS_MUST_USE;

/* A buffer of at least 1 byte (bytes = 0 gives 1, so that kernels always get one). Refused with a
 * reason above max_alloc_bytes: STATUS_NO_SPACE. `contents` NULL = left as it is. */
enum status device_buffer(struct device *device, cl_mem_flags flags, size_t bytes,
                          const void *contents, cl_mem *out) STATUS_MUST_USE;

/* Blocking transfers; offset and bytes in bytes. bytes = 0 does nothing. */
enum status device_read(struct device *device, cl_mem buffer, size_t offset, size_t bytes,
                        void *out) STATUS_MUST_USE;
enum status device_write(struct device *device, cl_mem buffer, size_t offset, size_t bytes,
                         const void *data) STATUS_MUST_USE;

#endif
