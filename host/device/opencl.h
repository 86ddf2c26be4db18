/* The OpenCL headers at the project's API floor, and the one macro around OpenCL calls. */
#ifndef HOST_DEVICE_OPENCL_H
#define HOST_DEVICE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "host/base/status.h"

/* "CL_OUT_OF_RESOURCES"; an unknown code gives "unknown OpenCL error". */
const char *opencl_error_name(cl_int code);

/* Records a failed call: expression, code and its name, place. Returns STATUS_OPENCL. */
enum status opencl_record(cl_int code, const char *expression, const char *file, int line);

/* Runs a call that returns cl_int; on failure records it and leaves by `out`. */
#define OPENCL_TRY(expression_)                                                                    \
    do {                                                                                           \
        cl_int opencl_code_ = (expression_);                                                       \
        if (opencl_code_ != CL_SUCCESS) {                                                          \
            status = opencl_record(opencl_code_, #expression_, __FILE__, __LINE__);                \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

/* The same for a code that a call has stored (clCreateBuffer and its kind). */
#define OPENCL_CHECK(code_, what_)                                                                 \
    do {                                                                                           \
        if ((code_) != CL_SUCCESS) {                                                               \
            status = opencl_record((code_), (what_), __FILE__, __LINE__);                          \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

#endif
