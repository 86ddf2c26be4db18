#include "host/app/place.h"

#include "host/app/app.h"
#include "host/app/settings.h"
#include "host/base/size.h"

#include <stdio.h>
#include <string.h>

/* PEs of a compute unit where they are no CPU cores: one waits for memory while the other works. */
enum { PES_PER_UNIT = 2 };

/* As many PEs as there are arenas of this pool in the device's largest allocation, at least 1. */
static size_t limit_pes(const struct device_info *info, size_t pool_bytes, size_t wanted)
{
    struct pe_arenas_shape shape = {
        .pes = 1, .pool_bytes = pool_bytes, .guard_bytes = PE_ARENAS_GUARD_BYTES};

    if (pe_arenas_layout(info->base_align_bytes, info->max_alloc_bytes, &shape) != STATUS_OK) {
        status_clear(); /* not even one: cell_plan tells it in the row */
        return 1;
    }
    return size_max(1, size_min(wanted, info->max_alloc_bytes / shape.stride_bytes));
}

/* Where two local pools do not fit, one PE a compute unit: whatever else a unit has, a work-group
 * is told of no more. */
static size_t limit_local_pes(const struct device_info *info, size_t pool_bytes, size_t wanted)
{
    const size_t pool = size_min(pool_bytes, pe_arenas_local_pool(info->local_bytes));
    const bool two = pool <= pe_arenas_local_pool(info->local_bytes / 2);

    return two ? wanted : size_min(wanted, info->compute_units);
}

static size_t choose_pes(const struct place_request *request, const struct device_info *info,
                         size_t cores)
{
    size_t wanted = info->type == DEVICE_CPU ? size_min(cores, info->compute_units)
                                             : PES_PER_UNIT * info->compute_units;

    if (request->pes != 0) {
        return request->pes;
    }
    return request->arena == PE_ARENAS_LOCAL ? limit_local_pes(info, request->pool_bytes, wanted)
                                             : limit_pes(info, request->pool_bytes, wanted);
}

static enum kernel_style choose_style(size_t kernel, const struct device_info *info)
{
    if (kernel == SETTINGS_KERNEL_AUTO) {
        return kernel_style_for(info);
    }
    return kernel == SETTINGS_KERNEL_SIMD ? KERNEL_SIMD : KERNEL_SIMT;
}

/* "scratchscope: device 0: NAME (PLATFORM), 2 PEs, worker threads bound to CPUs 0-1, simd
 * kernel". */
static void tell(const struct place *place)
{
    const struct device_info *info = &place->device->info;
    char bound[2 * BINDING_TEXT_BYTES];

    binding_text(&place->binding, bound, sizeof bound);
    (void)fprintf(stderr, "scratchscope: device %zu: %s (%s), %zu PE%s%s%s, %s kernel\n",
                  info->index, info->name, info->platform_name, place->pes,
                  place->pes == 1 ? "" : "s", bound[0] != '\0' ? ", " : "", bound,
                  kernel_style_name(place->style));
}

/* Whether PEs run on worker threads that PoCL may have bound. */
static bool is_pocl_cpu(const struct device_info *info)
{
    return info->type == DEVICE_CPU &&
           strcmp(info->platform_name, "Portable Computing Language") == 0;
}

enum status place_open(const struct place_request *request, struct place *out)
{
    enum status status = STATUS_OK;
    const struct binding_request bind = {.pes = request->pes,
                                         .none = request->bind == SETTINGS_BIND_NONE};
    struct device_list devices = {0};
    size_t index = 0;

    *out = (struct place){.device = NULL};
    STATUS_TRY(binding_plan(&bind, &out->binding));
    STATUS_TRY(binding_apply(&out->binding));
    STATUS_TRY(app_list_devices(&devices));
    STATUS_TRY(device_choose(&devices, request->device, &index));
    const struct device_info *info = &devices.devices[index];
    STATUS_TRY(topology_init(&out->topology));
    out->pes = choose_pes(request, info, out->topology.cores);
    out->style = choose_style(request->kernel, info);
    STATUS_TRY(device_open(info, &out->device));
    binding_check(&out->binding, is_pocl_cpu(info));
    tell(out);
out:
    device_list_fini(&devices);
    return status;
}

void place_close(struct place *place)
{
    device_close(place->device);
    place->device = NULL;
}
