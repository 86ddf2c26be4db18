#include "host/device/event.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

bool event_stamps_ns(cl_ulong start, cl_ulong end, double *ns)
{
    bool sane = start != 0 && end > start;
    *ns = sane ? (double)(end - start) : (double)NAN;
    return sane;
}

uint64_t event_clock_ns(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* 0, which no sane stamp is, where the driver has none. */
static cl_ulong stamp(cl_event event, cl_profiling_info which)
{
    cl_ulong value = 0;
    if (clGetEventProfilingInfo(event, which, sizeof value, &value, NULL) != CL_SUCCESS) {
        return 0;
    }
    return value;
}

void event_read(cl_event event, struct event_time *out)
{
    event_read_span(event, event, out);
}

void event_read_span(cl_event first, cl_event last, struct event_time *out)
{
    cl_ulong start = stamp(first, CL_PROFILING_COMMAND_START);
    cl_ulong end = stamp(last, CL_PROFILING_COMMAND_END);
    out->sane = event_stamps_ns(start, end, &out->event_ns);
}
