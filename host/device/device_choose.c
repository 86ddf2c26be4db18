#include "host/base/text.h"
#include "host/base/units.h"
#include "host/device/device.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LISTING_BYTES = 768 };

static const char what[] = "choosing a device";

static const char install_hint[] =
    "install pocl-opencl-icd for a device on the CPU, or the OpenCL driver of your GPU";

/* PoCL answers "no device" when it cannot make its cache folder. */
static const char cache_hint[] =
    "PoCL offers no device where its cache folder cannot be written: set POCL_CACHE_DIR to a "
    "folder that can be; or install pocl-opencl-icd or the OpenCL driver of your GPU";

/* "0 = A (PLATFORM), 1 = B (PLATFORM)". */
static void list_devices(const struct device_list *list, char text[LISTING_BYTES])
{
    struct text line = text_begin(text, LISTING_BYTES);
    for (size_t i = 0; i < list->count; ++i) {
        const struct device_info *info = &list->devices[i];
        text_add(&line, "%s%zu = %s (%s)", i > 0 ? ", " : "", i, info->name, info->platform_name);
    }
}

static bool is_decimal(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Whether `text` holds `part`, letters of either case being equal. */
static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; strlen(text) >= length; ++text) {
        if (strncasecmp(text, part, length) == 0) {
            return true;
        }
    }
    return false;
}

static enum status fail_empty(const struct device_list *list)
{
    if (list->platform_count == 0) {
        (void)STATUS_FAIL(STATUS_NO_DEVICE, what, "there is no OpenCL platform on this machine");
        status_hint("%s", install_hint);
    } else if (list->platform_error != 0) {
        (void)STATUS_FAIL(STATUS_NO_DEVICE, what,
                          "none of %zu OpenCL platforms has a device; one answered %s (%d)",
                          list->platform_count, opencl_error_name((cl_int)list->platform_error),
                          list->platform_error);
        status_hint("%s", cache_hint);
    } else {
        (void)STATUS_FAIL(STATUS_NO_DEVICE, what, "none of %zu OpenCL platforms has a device",
                          list->platform_count);
        status_hint("%s", cache_hint);
    }
    return STATUS_NO_DEVICE;
}

/* Takes devices[found], if it can run anything. */
static enum status take(const struct device_list *list, size_t found, size_t *index)
{
    if (!list->devices[found].available) {
        return STATUS_FAIL(STATUS_NO_DEVICE, what,
                           "device %zu (%s) is not available, or has no compiler", found,
                           list->devices[found].name);
    }
    *index = found;
    return STATUS_OK;
}

/* The first available device of a type, list->count if there is none. */
static size_t first_of_type(const struct device_list *list, enum device_type type)
{
    size_t i = 0;
    while (i < list->count && !(list->devices[i].type == type && list->devices[i].available)) {
        ++i;
    }
    return i;
}

static enum status choose_type(const struct device_list *list, enum device_type type, size_t *index)
{
    size_t found = first_of_type(list, type);
    if (found < list->count) {
        return take(list, found, index);
    }
    char listing[LISTING_BYTES];
    list_devices(list, listing);
    return STATUS_FAIL(STATUS_NO_DEVICE, what, "no available %s device; there are: %s",
                       type == DEVICE_GPU ? "GPU" : "CPU", listing);
}

static enum status choose_default(const struct device_list *list, size_t *index)
{
    static const enum device_type order[] = {DEVICE_GPU, DEVICE_CPU, DEVICE_OTHER};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; ++i) {
        size_t found = first_of_type(list, order[i]);
        if (found < list->count) {
            return take(list, found, index);
        }
    }
    char listing[LISTING_BYTES];
    list_devices(list, listing);
    return STATUS_FAIL(STATUS_NO_DEVICE, what, "no device is available; there are: %s", listing);
}

static enum status choose_index(const struct device_list *list, const char *spec, size_t *index)
{
    size_t wanted = 0;
    if (units_parse_size(spec, &wanted) && wanted < list->count) {
        return take(list, wanted, index);
    }
    char listing[LISTING_BYTES];
    list_devices(list, listing);
    return STATUS_FAIL(STATUS_BAD_INPUT, what, "there is no device %s; there are: %s", spec,
                       listing);
}

static enum status choose_name(const struct device_list *list, const char *spec, size_t *index)
{
    size_t found = 0;
    size_t matches = 0;
    for (size_t i = list->count; i-- > 0;) {
        if (contains(list->devices[i].name, spec)) {
            found = i;
            ++matches;
        }
    }
    if (matches == 1) {
        return take(list, found, index);
    }
    char listing[LISTING_BYTES];
    list_devices(list, listing);
    if (matches == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "no device's name holds \"%s\"; there are: %s",
                           spec, listing);
    }
    (void)STATUS_FAIL(STATUS_BAD_INPUT, what, "\"%s\" fits %zu devices; there are: %s", spec,
                      matches, listing);
    status_hint("choose by index: --device %zu", found);
    return STATUS_BAD_INPUT;
}

enum status device_choose(const struct device_list *list, const char *spec, size_t *index)
{
    *index = 0;
    if (list->count == 0) {
        return fail_empty(list);
    }
    if (spec == NULL || spec[0] == '\0') {
        return choose_default(list, index);
    }
    if (is_decimal(spec)) {
        return choose_index(list, spec, index);
    }
    if (strcasecmp(spec, "cpu") == 0 || strcasecmp(spec, "gpu") == 0) {
        return choose_type(list, strcasecmp(spec, "gpu") == 0 ? DEVICE_GPU : DEVICE_CPU, index);
    }
    return choose_name(list, spec, index);
}
