/* An open test device: what device_choose takes by itself, or what SCRATCHSCOPE_TEST_DEVICE names.
 */
#ifndef TESTS_DEVICE_DEVICE_CASE_H
#define TESTS_DEVICE_DEVICE_CASE_H

#include "host/device/device.h"
#include "tests/cmocka.h"

#include <stdlib.h>

/* Fails the test with the recorded error. */
#define DEVICE_OK(expression_)                                                                     \
    do {                                                                                           \
        if ((expression_) != STATUS_OK) {                                                          \
            const char *detail_ = status_last()->detail;                                           \
            fail_msg("%s: %s: %s\n%s", #expression_, status_last()->what, status_last()->why,      \
                     detail_ != NULL ? detail_ : "");                                              \
        }                                                                                          \
    } while (0)

/* The device, open; the caller closes it. */
static inline struct device *device_case_device(void)
{
    struct device_list list;
    struct device *device = NULL;
    size_t index = 0;
    DEVICE_OK(device_list_init(&list));
    DEVICE_OK(device_choose(&list, getenv("SCRATCHSCOPE_TEST_DEVICE"), &index));
    DEVICE_OK(device_open(&list.devices[index], &device));
    print_message("device %zu: %s\n", index, device->info.name);
    device_list_fini(&list);
    return device;
}

/* Group set-up: *state is the device. */
static inline int device_case_open(void **state)
{
    *state = device_case_device();
    return 0;
}

static inline int device_case_close(void **state)
{
    device_close(*state);
    return 0;
}

/* Test set-up. */
static inline int device_case_clear(void **state)
{
    (void)state;
    status_clear();
    return 0;
}

#endif
