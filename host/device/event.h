/* Times of one launch: from the device's event stamps, and from the host's clock beside it. */
#ifndef HOST_DEVICE_EVENT_H
#define HOST_DEVICE_EVENT_H

#include "host/device/opencl.h"

#include <stdbool.h>
#include <stdint.h>

struct event_time {
    double event_ns; /* END - START; NaN where the stamps are not sane */
    double host_ns;  /* monotonic clock around enqueue and finish; > 0 */
    bool sane;       /* both stamps nonzero, end > start */
};

/* Pure: what two stamps are worth. Zero, equal or reversed stamps are not sane (NaN). */
bool event_stamps_ns(cl_ulong start, cl_ulong end, double *ns);

/* Monotonic host clock, ns. */
uint64_t event_clock_ns(void);

/* Reads the stamps of a finished event. Stamps that the driver refuses are not sane, not an
 * error. */
void event_read(cl_event event, struct event_time *out);

/* The span from the first event's start to the last one's end, for back-to-back launches. */
void event_read_span(cl_event first, cl_event last, struct event_time *out);

#endif
