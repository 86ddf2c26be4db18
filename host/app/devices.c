/* scratchscope devices: what OpenCL offers here, and the machine. */
#include "host/app/app.h"
#include "host/app/context.h"
#include "host/app/output.h"
#include "host/app/settings.h"

#include "host/base/text.h"
#include "host/base/units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

struct listing {
    struct device_list devices;
    struct topology topology;
    size_t chosen; /* what sweep would take without --device; devices.count = none */
};

static const char *type_name(enum device_type type)
{
    switch (type) {
    case DEVICE_CPU:
        return "cpu";
    case DEVICE_GPU:
        return "gpu";
    case DEVICE_OTHER:
        return "other";
    }
    return "other";
}

/* A style runs where there is a compiler: storage goes by vload_half and vload, which every
 * OpenCL 1.2 device has for f16 and f32. */
static const char *style_types(const struct device_info *info)
{
    return info->available ? "f16, f32" : "none";
}

/* The table --------------------------------------------------------------------------------- */

static void write_limit(FILE *file, const char *label, const char *text)
{
    (void)fprintf(file, "     %-14s%s\n", label, text);
}

static void write_memory(FILE *file, const struct device_info *info)
{
    char global[UNITS_TEXT_BYTES];
    char largest[UNITS_TEXT_BYTES];
    char local[UNITS_TEXT_BYTES];
    char line[LINE_BYTES];
    struct text text = text_begin(line, sizeof line);

    text_add(&text, "%s global, largest allocation %s, buffers aligned to %zu bytes",
             units_format_bytes(info->global_bytes, global),
             units_format_bytes(info->max_alloc_bytes, largest), info->base_align_bytes);
    write_limit(file, "memory", line);
    text = text_begin(line, sizeof line);
    text_add(&text, "%s, %s", units_format_bytes(info->local_bytes, local),
             info->local_is_dedicated ? "dedicated" : "part of global memory");
    write_limit(file, "local memory", line);
}

static void write_styles(FILE *file, const struct device_info *info)
{
    char line[LINE_BYTES];
    bool simd = kernel_style_for(info) == KERNEL_SIMD;
    struct text text = text_begin(line, sizeof line);

    text_add(&text, "%s: one work-item a PE, vectors of %zu floats%s", style_types(info),
             info->float_vector_width, simd ? " (auto)" : "");
    write_limit(file, "kernel simd", line);
    text = text_begin(line, sizeof line);
    text_add(&text, "%s: up to %zu work-items a PE%s", style_types(info), info->max_work_group_size,
             simd ? "" : " (auto)");
    write_limit(file, "kernel simt", line);
}

static void write_device(FILE *file, const struct device_info *info, bool chosen)
{
    char line[LINE_BYTES];
    struct text text = text_begin(line, sizeof line);

    (void)fprintf(file, "  %zu  %s  %s%s%s\n", info->index, type_name(info->type), info->name,
                  chosen ? "  (sweep takes this one)" : "",
                  info->available ? "" : "  (not available)");
    text_add(&text, "%s, %s, driver %s", info->platform_name, info->version, info->driver);
    write_limit(file, "platform", line);
    text = text_begin(line, sizeof line);
    text_add(&text, "%zu, work-groups of up to %zu", info->compute_units,
             info->max_work_group_size);
    write_limit(file, "compute units", line);
    write_memory(file, info);
    text = text_begin(line, sizeof line);
    text_add(&text, "fp16 arithmetic %s, fp64 %s, timer resolution %zu ns",
             info->fp16 ? "yes" : "no", info->fp64 ? "yes" : "no", info->timer_resolution_ns);
    write_limit(file, "features", line);
    write_styles(file, info);
    (void)fputc('\n', file);
}

static void write_table_of(FILE *file, const struct listing *listing)
{
    char line[LINE_BYTES];

    (void)fprintf(file, "OpenCL devices (platforms: %zu)\n\n", listing->devices.platform_count);
    for (size_t i = 0; i < listing->devices.count; i++) {
        write_device(file, &listing->devices.devices[i], i == listing->chosen);
    }
    topology_text(&listing->topology, line, sizeof line);
    (void)fprintf(file, "This machine: %s\n", line);
}

/* JSON -------------------------------------------------------------------------------------- */

static json_t *style_json(const struct device_info *info, size_t work_items)
{
    int runs = info->available ? 1 : 0;

    return json_pack("{s:b, s:b, s:o, s:i}", "f16", runs, "f32", runs, "max_work_items",
                     context_size(work_items), "local_bytes", 0);
}

static json_t *limits_json(const struct device_info *info)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "compute_units",
        context_size(info->compute_units), "max_work_group_size",
        context_size(info->max_work_group_size), "global_bytes", context_size(info->global_bytes),
        "max_alloc_bytes", context_size(info->max_alloc_bytes), "local_bytes",
        context_size(info->local_bytes), "local_is_dedicated", info->local_is_dedicated ? 1 : 0,
        "base_align_bytes", context_size(info->base_align_bytes), "float_vector_width",
        context_size(info->float_vector_width), "timer_resolution_ns",
        context_size(info->timer_resolution_ns));
}

static json_t *device_json(const struct device_info *info, bool chosen)
{
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:b, s:o, s:{s:o, s:o}, s:s}", "index",
        context_size(info->index), "type", type_name(info->type), "name", context_text(info->name),
        "vendor", context_text(info->vendor), "platform", context_text(info->platform_name),
        "version", context_text(info->version), "driver", context_text(info->driver), "available",
        info->available ? 1 : 0, "default", chosen ? 1 : 0, "fp16", info->fp16 ? 1 : 0, "fp64",
        info->fp64 ? 1 : 0, "limits", limits_json(info), "kernels", "simd", style_json(info, 1),
        "simt", style_json(info, info->max_work_group_size), "kernel_auto",
        kernel_style_name(kernel_style_for(info)));
}

static json_t *listing_json(const struct listing *listing)
{
    json_t *devices = json_array();

    for (size_t i = 0; devices != NULL && i < listing->devices.count; i++) {
        (void)json_array_append_new(
            devices, device_json(&listing->devices.devices[i], i == listing->chosen));
    }
    return json_pack("{s:o, s:o, s:o}", "platforms", context_size(listing->devices.platform_count),
                     "devices", devices, "topology", context_topology(&listing->topology));
}

static enum status write_json_of(FILE *file, const struct listing *listing)
{
    json_t *json = listing_json(listing);

    if (json == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "devices", "no memory for the list");
    }
    (void)json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
    (void)fputc('\n', file);
    json_decref(json);
    return STATUS_OK;
}

/* The command ------------------------------------------------------------------------------- */

static enum status print(const struct listing *listing, bool as_json)
{
    enum status status = STATUS_OK;
    char *bytes = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&bytes, &length);

    if (file == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "devices", "no memory for the list");
    }
    if (as_json) {
        status = write_json_of(file, listing);
    } else {
        write_table_of(file, listing);
    }
    if (fclose(file) != 0 && status == STATUS_OK) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "devices", "no memory for the list");
    }
    STATUS_TRY(status);
    STATUS_TRY(output_write(STDOUT_FILENO, "stdout", bytes, length));
out:
    free(bytes);
    return status;
}

static enum status list(bool as_json)
{
    enum status status = STATUS_OK;
    struct listing listing = {.devices = {.count = 0}};
    enum status chosen = STATUS_OK;

    STATUS_TRY(app_list_devices(&listing.devices));
    chosen = device_choose(&listing.devices, NULL, &listing.chosen);
    if (listing.devices.count == 0) {
        STATUS_TRY(chosen);
    }
    if (chosen != STATUS_OK) {
        status_clear(); /* devices that cannot run anything are listed all the same */
        listing.chosen = listing.devices.count;
    }
    STATUS_TRY(topology_init(&listing.topology));
    STATUS_TRY(print(&listing, as_json));
out:
    device_list_fini(&listing.devices);
    return status;
}

int app_devices(const char *program, int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct settings settings = {.preset = 0};
    bool help = false;

    (void)program;
    STATUS_TRY(settings_parse(COMMAND_DEVICES, argc, argv, &settings, &help));
    if (!help) {
        status = list(settings.format == FORMAT_JSON);
    }
out:
    settings_fini(&settings);
    return help ? app_help(COMMAND_DEVICES) : app_finish(status);
}
