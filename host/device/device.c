#include "host/device/device.h"

#include "host/device/build.h"

#include <stdlib.h>
#include <string.h>

static enum status open_queue(struct device *device)
{
    enum status status = STATUS_OK;
    cl_int code = CL_SUCCESS;
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                          (cl_context_properties)device->info.platform, 0};

    device->context = clCreateContext(properties, 1, &device->info.id, NULL, NULL, &code);
    OPENCL_CHECK(code, "clCreateContext");
    device->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &code);
    OPENCL_CHECK(code, "clCreateCommandQueue");
out:
    return status;
}

bool device_is_pocl(const struct device_info *info)
{
    return strcmp(info->platform_name, "Portable Computing Language") == 0;
}

size_t device_vector_width(const struct device_info *info)
{
    if (info->float_vector_width >= 16) {
        return 16;
    }
    return info->float_vector_width >= 8 ? 8 : 4;
}

enum status device_open(const struct device_info *info, struct device **out)
{
    enum status status = STATUS_OK;
    struct device *device = calloc(1, sizeof *device);

    *out = NULL;
    if (device == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "opening a device", "no memory left");
    }
    device->info = *info;
    STATUS_TRY(open_queue(device));
    STATUS_TRY(build_cache_create(&device->builds));
    *out = device;
    device = NULL;
out:
    device_close(device);
    return status;
}

void device_close(struct device *device)
{
    if (device == NULL) {
        return;
    }
    build_cache_destroy(device->builds);
    if (device->queue != NULL) {
        (void)clFinish(device->queue);
        (void)clReleaseCommandQueue(device->queue);
    }
    if (device->context != NULL) {
        (void)clReleaseContext(device->context);
    }
    free(device);
}

enum status device_finish(struct device *device)
{
    enum status status = STATUS_OK;
    OPENCL_TRY(clFinish(device->queue));
out:
    return status;
}

enum status device_buffer(struct device *device, cl_mem_flags flags, size_t bytes,
                          const void *contents, cl_mem *out)
{
    enum status status = STATUS_OK;
    cl_int code = CL_SUCCESS;
    union {
        const void *from;
        void *to;
    } host = {NULL};

    *out = NULL;
    if (bytes > device->info.max_alloc_bytes) {
        return STATUS_FAIL(STATUS_NO_SPACE, "device buffer",
                           "%zu bytes asked for, the largest allocation of %s is %zu bytes", bytes,
                           device->info.name, device->info.max_alloc_bytes);
    }
    if (contents != NULL && bytes > 0) {
        flags |= CL_MEM_COPY_HOST_PTR;
        host.from = contents; /* OpenCL takes void * and only reads it under this flag */
    }
    cl_mem buffer = clCreateBuffer(device->context, flags, bytes > 0 ? bytes : 1, host.to, &code);
    OPENCL_CHECK(code, "clCreateBuffer");
    *out = buffer;
out:
    return status;
}

enum status device_read(struct device *device, cl_mem buffer, size_t offset, size_t bytes,
                        void *out)
{
    enum status status = STATUS_OK;
    if (bytes > 0) {
        OPENCL_TRY(
            clEnqueueReadBuffer(device->queue, buffer, CL_TRUE, offset, bytes, out, 0, NULL, NULL));
    }
out:
    return status;
}

enum status device_write(struct device *device, cl_mem buffer, size_t offset, size_t bytes,
                         const void *data)
{
    enum status status = STATUS_OK;
    if (bytes > 0) {
        OPENCL_TRY(clEnqueueWriteBuffer(device->queue, buffer, CL_TRUE, offset, bytes, data, 0,
                                        NULL, NULL));
    }
out:
    return status;
}
