/* Where a command runs: the device, its PEs and the kernel style. */
#ifndef HOST_APP_PLACE_H
#define HOST_APP_PLACE_H

#include "host/attention/run.h"
#include "host/device/binding.h"
#include "host/device/topology.h"

struct place_request {
    const char *device;         /* as device_choose takes it; NULL = automatic */
    size_t kernel;              /* SETTINGS_KERNEL_ */
    size_t pes;                 /* 0 = auto: one a core on a CPU, two a compute unit elsewhere, */
    size_t pool_bytes;          /* as far as their pools can be allocated */
    size_t bind;                /* SETTINGS_BIND_ */
    enum pe_arenas_space arena; /* where the pools are */
};

struct place {
    struct device *device;    /* owned */
    struct topology topology; /* */
    struct binding binding;   /* of the workers that run the PEs */
    size_t pes;               /* >= 1 */
    enum kernel_style style;  /* */
};

/* Binds the driver's workers as far as that helps, chooses and opens a device, and tells the choice
 * in a line on stderr. Before any other OpenCL call of the process. STATUS_NO_DEVICE,
 * STATUS_BAD_INPUT, STATUS_OPENCL as the device's. place_close in any case. */
enum status place_open(const struct place_request *request, struct place *out) STATUS_MUST_USE;
void place_close(struct place *place);

#endif
