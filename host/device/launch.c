#include "host/device/launch.h"

#include "host/base/size.h"
#include "host/device/build.h"

#include <math.h>

static const char what[] = "kernel launch";

static enum status check_size(const struct launch *step, size_t *global)
{
    *global = 0;
    if (step->groups == 0 || step->local == 0) {
        return STATUS_FAIL(STATUS_MISUSE, what, "%zu work-groups of %zu work-items", step->groups,
                           step->local);
    }
    if (!size_mul(step->groups, step->local, global)) {
        return STATUS_FAIL(STATUS_RANGE, what, "%zu work-groups of %zu work-items are too many",
                           step->groups, step->local);
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

static enum status run(struct device *device, const struct launch *steps, size_t step_count,
                       size_t count, cl_event events[2])
{
    enum status status = STATUS_OK;
    const size_t total = count * step_count;
    for (size_t i = 0; i < total; ++i) {
        const struct launch *step = &steps[i % step_count];
        const size_t global = step->groups * step->local;
        cl_event *event = i == 0 ? &events[0] : i + 1 == total ? &events[1] : NULL;
        OPENCL_TRY(clEnqueueNDRangeKernel(device->queue, step->kernel, 1, NULL, &global,
                                          &step->local, 0, NULL, event));
    }
    OPENCL_TRY(clFinish(device->queue));
out:
    if (status != STATUS_OK) {
        (void)clFinish(device->queue); /* launches before the failed one may still run */
    }
    return status;
}

static enum status check_steps(struct device *device, const struct launch *steps, size_t step_count,
                               size_t count)
{
    enum status status = STATUS_OK;
    size_t global = 0;
    if (step_count == 0 || step_count > LAUNCH_MAX_KERNELS || count == 0) {
        return STATUS_FAIL(STATUS_MISUSE, what, "%zu kernels, %zu times", step_count, count);
    }
    for (size_t i = 0; i < step_count; ++i) {
        STATUS_TRY(check_size(&steps[i], &global));
        STATUS_TRY(check_limits(device, steps[i].kernel, steps[i].local));
    }
    if (!size_mul(count, step_count, &global)) {
        return STATUS_FAIL(STATUS_RANGE, what, "%zu times %zu kernels are too many", count,
                           step_count);
    }
out:
    return status;
}

enum status launch_kernels(struct device *device, const struct launch *steps, size_t step_count,
                           size_t count, struct event_time *out)
{
    enum status status = STATUS_OK;
    cl_event events[2] = {NULL, NULL}; /* the first kernel's, and the last one's if another */

    *out = (struct event_time){(double)NAN, (double)NAN, false};
    STATUS_TRY(check_steps(device, steps, step_count, count));
    uint64_t start = event_clock_ns();
    STATUS_TRY(run(device, steps, step_count, count, events));
    uint64_t end = event_clock_ns();
    cl_event last = events[1] != NULL ? events[1] : events[0];
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

enum status launch_kernel(struct device *device, cl_kernel kernel, size_t groups, size_t local,
                          size_t count, struct event_time *out)
{
    const struct launch step = {.kernel = kernel, .groups = groups, .local = local};
    return launch_kernels(device, &step, 1, count, out);
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
