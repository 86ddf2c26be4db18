#include "host/device/launch.h"

#include "host/base/size.h"
#include "host/device/build.h"

#include <math.h>

static const char what[] = "kernel launch";

static enum status check_counts(size_t groups, size_t local, size_t count, size_t *global)
{
    *global = 0;
    if (groups == 0 || local == 0 || count == 0) {
        return STATUS_FAIL(STATUS_MISUSE, what, "%zu work-groups of %zu work-items, %zu times",
                           groups, local, count);
    }
    if (!size_mul(groups, local, global)) {
        return STATUS_FAIL(STATUS_RANGE, what, "%zu work-groups of %zu work-items are too many",
                           groups, local);
    }
    return STATUS_OK;
}

static enum status check_limits(struct device *device, cl_kernel kernel, size_t local)
{
    enum status status = STATUS_OK;
    size_t items = 0;
    size_t local_bytes = 0;

    STATUS_TRY(build_kernel_limits(device, kernel, &items, &local_bytes));
    items = size_min(items, device->info.max_work_group_size);
    if (local > items) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "%zu work-items a work-group, this kernel on %s runs at most %zu", local,
                           device->info.name, items);
    }
    if (local_bytes > device->info.local_bytes) {
        return STATUS_FAIL(STATUS_NO_SPACE, what,
                           "%zu bytes of local memory a work-group, %s has %zu", local_bytes,
                           device->info.name, device->info.local_bytes);
    }
out:
    return status;
}

/* A command that ended badly has a negative state, even where the wait succeeded. */
static enum status check_finished(cl_event event)
{
    enum status status = STATUS_OK;
    cl_int state = CL_COMPLETE;
    OPENCL_TRY(
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
    if (state < 0) {
        status = opencl_record(state, what, __FILE__, __LINE__);
    }
out:
    return status;
}

static enum status run(struct device *device, cl_kernel kernel, size_t global, size_t local,
                       size_t count, cl_event events[2])
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; ++i) {
        cl_event *event = i == 0 ? &events[0] : i + 1 == count ? &events[1] : NULL;
        OPENCL_TRY(clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                          event));
    }
    OPENCL_TRY(clFinish(device->queue));
out:
    if (status != STATUS_OK) {
        (void)clFinish(device->queue); /* launches before the failed one may still run */
    }
    return status;
}

enum status launch_kernel(struct device *device, cl_kernel kernel, size_t groups, size_t local,
                          size_t count, struct event_time *out)
{
    enum status status = STATUS_OK;
    cl_event events[2] = {NULL, NULL}; /* the first launch's, and the last one's if another */
    size_t global = 0;

    *out = (struct event_time){(double)NAN, (double)NAN, false};
    STATUS_TRY(check_counts(groups, local, count, &global));
    STATUS_TRY(check_limits(device, kernel, local));
    uint64_t start = event_clock_ns();
    STATUS_TRY(run(device, kernel, global, local, count, events));
    uint64_t end = event_clock_ns();
    cl_event last = count > 1 ? events[1] : events[0];
    STATUS_TRY(check_finished(last));
    event_read_span(events[0], last, out);
    out->host_ns = end > start ? (double)(end - start) : 1.0;
out:
    for (size_t i = 0; i < 2; ++i) {
        if (events[i] != NULL) {
            (void)clReleaseEvent(events[i]);
        }
    }
    return status;
}

enum status launch_local_argument(struct device *device, cl_kernel kernel, cl_uint index,
                                  size_t bytes, size_t own_bytes)
{
    enum status status = STATUS_OK;
    size_t limit = device->info.local_bytes;

    if (own_bytes > limit || bytes > limit - own_bytes) {
        return STATUS_FAIL(STATUS_NO_SPACE, what,
                           "%zu + %zu bytes of local memory a work-group, %s has %zu", own_bytes,
                           bytes, device->info.name, limit);
    }
    OPENCL_TRY(clSetKernelArg(kernel, index, size_max(bytes, 1), NULL));
out:
    return status;
}
