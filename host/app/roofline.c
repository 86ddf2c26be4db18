/* scratchscope roofline: what the device can do at most. */
#include "host/app/app.h"
#include "host/app/context.h"
#include "host/app/grid.h"
#include "host/app/interrupt.h"
#include "host/app/output.h"
#include "host/app/place.h"

#include "host/base/units.h"

#include <stdlib.h>
#include <unistd.h>

struct measured {
    const struct device_info *device;
    const struct topology *topology;
    const struct binding *binding;
    struct roofline roofline;
};

static enum status no_memory(void)
{
    return STATUS_FAIL(STATUS_NO_MEMORY, "roofline", "no memory for its text");
}

/* The table --------------------------------------------------------------------------------- */

enum { READ_BYTES, READ_FROM, READ_SPEED, READ_COLUMNS };

static const struct grid_column read_columns[READ_COLUMNS] = {
    [READ_BYTES] = {"read again and again", true},
    [READ_FROM] = {"from", false},
    [READ_SPEED] = {"GB/s", true},
};

static enum status add_read(struct grid *grid, const struct roofline_read *read)
{
    char cells[READ_COLUMNS][GRID_CELL_BYTES];
    char bytes[UNITS_TEXT_BYTES];

    (void)snprintf(cells[READ_BYTES], GRID_CELL_BYTES, "%s",
                   units_format_bytes(read->bytes, bytes));
    if (read->level > 0) {
        (void)snprintf(cells[READ_FROM], GRID_CELL_BYTES, "L%zu", read->level);
    } else {
        (void)snprintf(cells[READ_FROM], GRID_CELL_BYTES, "memory");
    }
    (void)snprintf(cells[READ_SPEED], GRID_CELL_BYTES, "%.1f", read->gb_per_s);
    return grid_row(grid, cells);
}

static enum status write_reads(const struct roofline *roofline, FILE *file)
{
    enum status status = STATUS_OK;
    struct grid grid;

    grid_init(&grid, read_columns, READ_COLUMNS);
    for (size_t i = 0; i < roofline->read_count; i++) {
        STATUS_TRY(add_read(&grid, &roofline->reads[i]));
    }
    grid_write(&grid, app_utf8() ? GRID_UTF8 : GRID_ASCII, file);
out:
    grid_fini(&grid);
    return status;
}

static enum status write_text(const struct measured *measured, FILE *file)
{
    enum status status = STATUS_OK;
    const struct roofline *roofline = &measured->roofline;

    (void)fprintf(file, "%s (%s, driver %s)\n\n", measured->device->name,
                  measured->device->platform_name, measured->device->driver);
    (void)fprintf(file, "  FMA peak, f32, %zu PE%s: %.1f GFLOP/s\n\n", roofline->pes,
                  roofline->pes == 1 ? "" : "s", roofline->fma_gflops);
    STATUS_TRY(write_reads(roofline, file));
    (void)fprintf(file, "\n  Below %.1f FLOP per byte read from memory, memory is the bound.\n",
                  roofline->fma_gflops / roofline_memory_gb_per_s(roofline));
out:
    return status;
}

/* JSON -------------------------------------------------------------------------------------- */

static enum status write_object(const struct measured *measured, FILE *file)
{
    const struct device_info *device = measured->device;
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "device", context_text(device->name), "driver",
        context_text(device->driver), "platform", context_text(device->platform_name), "pes",
        context_size(measured->roofline.pes), "binding", context_binding(measured->binding),
        "topology", context_topology(measured->topology));
    json_t *figures = context_roofline(&measured->roofline);
    bool made = json != NULL && figures != NULL && json_object_update(json, figures) == 0;

    if (made) {
        (void)json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(WRITE_REAL_DIGITS));
        (void)fputc('\n', file);
    }
    json_decref(figures);
    json_decref(json);
    return made ? STATUS_OK : no_memory();
}

/* The command ------------------------------------------------------------------------------- */

static enum status print(const struct measured *measured, bool as_json)
{
    enum status status = STATUS_OK;
    char *bytes = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&bytes, &length);

    if (file == NULL) {
        return no_memory();
    }
    status = as_json ? write_object(measured, file) : write_text(measured, file);
    if (fclose(file) != 0 && status == STATUS_OK) {
        status = no_memory();
    }
    STATUS_TRY(status);
    STATUS_TRY(output_write(STDOUT_FILENO, "stdout", bytes, length));
out:
    free(bytes);
    return status;
}

static bool on_poll(void *user)
{
    (void)user;
    return interrupt_signal() != 0;
}

static enum status run(const struct settings *settings)
{
    enum status status = STATUS_OK;
    struct place place;
    struct measured measured = {.device = NULL};
    const struct place_request where = {
        .device = settings->device,
        .kernel = settings->kernel,
        .pes = settings->pes,
        .pool_bytes = preset_at(settings->preset)->pool_bytes,
        .bind = settings->bind,
    };

    STATUS_TRY(place_open(&where, &place));
    const struct roofline_request request = {
        .topology = &place.topology, .pes = place.pes, .interrupted = on_poll};
    interrupt_catch();
    STATUS_TRY(roofline_measure(place.device, &request, &measured.roofline));
    measured.device = &place.device->info;
    measured.topology = &place.topology;
    measured.binding = &place.binding;
    STATUS_TRY(print(&measured, settings->format == FORMAT_JSON));
out:
    place_close(&place);
    return status;
}

int app_roofline(const char *program, int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct settings settings = {.preset = 0};
    bool help = false;

    (void)program;
    STATUS_TRY(settings_parse(COMMAND_ROOFLINE, argc, argv, &settings, &help));
    if (!help) {
        status = run(&settings);
    }
out:
    settings_fini(&settings);
    return help ? app_help(COMMAND_ROOFLINE) : app_finish(status);
}
