/* An OpenCL of our own for unit tests: platforms and devices as the test describes them, memory on
 * the host, kernels that do nothing, any call made to fail, and a count of what was not released.
 * Its functions stand in for the loader's in every program that links fake_opencl. */
#ifndef TESTS_UNIT_FAKE_OPENCL_H
#define TESTS_UNIT_FAKE_OPENCL_H

#include "host/device/opencl.h"

#include <stdbool.h>
#include <stddef.h>

/* A device that answers the questions of device_list. */
struct fake_device {
    const char *name;
    const char *extensions;
    cl_device_type type;
    cl_uint align_bits;
    cl_ulong max_alloc_bytes;
    cl_ulong local_bytes;
    bool fp64;
    bool no_compiler;
    cl_device_info refused; /* the question that it does not answer; 0 = none */
};

struct fake_platform {
    const char *name;
    const struct fake_device *devices;
    size_t device_count;
    cl_int code; /* of clGetDeviceIDs where it is not CL_SUCCESS */
};

struct fake_opencl {
    const struct fake_platform *platforms;
    size_t platform_count;
    cl_int platform_code;     /* of clGetPlatformIDs */
    size_t fail_at;           /* the call, from 1, that fails; 0 = none */
    cl_int fail_code;         /* what it answers */
    size_t calls;             /* calls that could have failed so far */
    size_t live;              /* objects created and not released */
    size_t work_group_size;   /* of every kernel */
    cl_ulong kernel_local;    /* local memory of every kernel, bytes */
    size_t local_arguments;   /* arguments set that are local memory */
    size_t local_least;       /* bytes of the smallest of them */
    size_t local_most;        /* and of the largest */
    cl_int build_code;        /* of clBuildProgram */
    const char *build_log;    /* */
    cl_ulong stamps[2];       /* start and end of the first event */
    cl_ulong stamp_step;      /* from one launch's stamps to the next one's */
    cl_int stamps_code;       /* of clGetEventProfilingInfo */
    cl_int event_state;       /* of every event when it is over */
    long finish_ns;           /* that clFinish takes, < 1 s */
    size_t launches;          /* kernels enqueued */
    size_t builds;            /* programs built */
    char options[256];        /* of the last build */
    size_t misplaced;         /* sub-buffers off the alignment, transfers out of a buffer */
    cl_uint sub_buffer_align; /* bytes */
};

extern struct fake_opencl fake;

/* One CPU device that can do everything, no failure. */
void fake_opencl_reset(void);

/* Opens the first device of the list; the caller closes it. */
struct device *fake_opencl_open(void);

/* A teardown: fails the test where an object was left or a transfer went out of its buffer. */
int fake_opencl_finish(void **state);

#endif
