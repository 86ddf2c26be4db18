#include "host/app/context.h"

#include "host/device/event.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 256 };

const char *context_version(void)
{
    return SCRATCHSCOPE_VERSION;
}

const char *context_commit(void)
{
    return SCRATCHSCOPE_COMMIT;
}

/* Values ------------------------------------------------------------------------------------ */

/* Drivers may name devices in any encoding; what is not UTF-8 is written as '?'. */
json_t *context_text(const char *text)
{
    char plain[TEXT_BYTES * 4];
    json_t *json = json_string(text);

    if (json != NULL) {
        return json;
    }
    (void)snprintf(plain, sizeof plain, "%s", text);
    for (char *at = plain; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x80 ? *at : '?';
    }
    return json_string(plain);
}

json_t *context_size(size_t size)
{
    return size <= (size_t)LLONG_MAX ? json_integer((json_int_t)size) : json_real((double)size);
}

json_t *context_real(double real)
{
    return isfinite(real) ? json_real(real) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? context_text(text) : json_null();
}

/* The machine ------------------------------------------------------------------------------- */

/* Local time with its offset: 2024-05-01T12:00:00+02:00. */
static json_t *date_json(void)
{
    char text[TEXT_BYTES];
    struct tm local;
    time_t now = time(NULL);

    if (localtime_r(&now, &local) == NULL) {
        return json_null();
    }
    size_t length = strftime(text, sizeof text - 1, "%Y-%m-%dT%H:%M:%S%z", &local);
    if (length > 5) { /* +0200 -> +02:00 */
        memmove(text + length - 1, text + length - 2, 3);
        text[length - 2] = ':';
    }
    return json_string(text);
}

static json_t *host_name_json(void)
{
    char text[TEXT_BYTES];

    if (gethostname(text, sizeof text) != 0) {
        return json_null();
    }
    text[sizeof text - 1] = '\0';
    return context_text(text);
}

/* Google Benchmark's key: the largest frequency, else the one now. */
static json_t *mhz_json(const struct machine *machine)
{
    double mhz = machine->max_mhz > 0.0 ? machine->max_mhz : machine->current_mhz;

    return mhz > 0.0 ? json_integer((json_int_t)(mhz + 0.5)) : json_null();
}

static json_t *mhz_or_null(double mhz)
{
    return mhz > 0.0 ? json_real(mhz) : json_null();
}

static json_t *scaling_json(const struct machine *machine)
{
    return json_boolean(machine->governor[0] != '\0' &&
                        strcmp(machine->governor, "performance") != 0);
}

static json_t *load_json(const struct machine *machine)
{
    json_t *loads = json_array();

    for (size_t i = 0; loads != NULL && i < machine->load_count; i++) {
        (void)json_array_append_new(loads, context_real(machine->loads[i]));
    }
    return loads;
}

static json_t *frequency_json(const struct machine *machine)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "governor", text_or_null(machine->governor),
                     "current_mhz", mhz_or_null(machine->current_mhz), "min_mhz",
                     mhz_or_null(machine->min_mhz), "max_mhz", mhz_or_null(machine->max_mhz));
}

json_t *context_binding(const struct binding *binding)
{
    const bool bound = binding->known && binding->bound > 0;
    const char *why_not = binding->why_not != NULL ? binding->why_not : "the driver did not";

    return json_pack("{s:o, s:o, s:o}", "pes_bound",
                     binding->known ? json_boolean(bound) : json_null(), "cpus",
                     bound ? json_string(binding->cpus) : json_null(), "why_not",
                     binding->known && !bound ? json_string(why_not) : json_null());
}

static json_t *cache_json(const struct topology_cache *cache)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "type", cache->level == 1 ? "Data" : "Unified",
                     "level", context_size(cache->level), "size", context_size(cache->bytes),
                     "num_sharing", context_size(cache->cores_per));
}

static json_t *caches_json(const struct topology *topology)
{
    json_t *caches = json_array();

    for (size_t i = 0; caches != NULL && topology != NULL && i < topology->cache_count; i++) {
        (void)json_array_append_new(caches, cache_json(&topology->caches[i]));
    }
    return caches;
}

json_t *context_topology(const struct topology *topology)
{
    char text[TEXT_BYTES * 2];

    topology_text(topology, text, sizeof text);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "text", context_text(text), "cpu",
        text_or_null(topology->cpu), "cores", context_size(topology->cores), "processing_units",
        context_size(topology->processing_units), "packages", context_size(topology->packages),
        "numa_nodes", context_size(topology->numa_nodes), "memory_bytes",
        topology->memory_bytes > 0 ? context_size(topology->memory_bytes) : json_null(), "caches",
        caches_json(topology));
}

/* The roofline ------------------------------------------------------------------------------ */

static json_t *read_json(const struct roofline_read *read)
{
    return json_pack("{s:o, s:o, s:o}", "bytes", context_size(read->bytes), "level",
                     read->level > 0 ? context_size(read->level) : json_null(), "gb_per_s",
                     context_real(read->gb_per_s));
}

json_t *context_roofline(const struct roofline *roofline)
{
    json_t *reads = json_array();

    for (size_t i = 0; reads != NULL && i < roofline->read_count; i++) {
        (void)json_array_append_new(reads, read_json(&roofline->reads[i]));
    }
    return json_pack("{s:o, s:o, s:o}", "fma_gflops", context_real(roofline->fma_gflops), "read",
                     reads, "memory_gb_per_s", context_real(roofline_memory_gb_per_s(roofline)));
}

static bool read_back(const json_t *json, struct roofline_read *out)
{
    json_int_t bytes = json_integer_value(json_object_get(json, "bytes"));
    json_int_t level = json_integer_value(json_object_get(json, "level"));
    double gb_per_s = json_number_value(json_object_get(json, "gb_per_s"));

    *out = (struct roofline_read){
        .bytes = (size_t)bytes, .level = (size_t)level, .gb_per_s = gb_per_s};
    return bytes > 0 && level >= 0 && gb_per_s > 0.0;
}

bool context_roofline_read(const json_t *json, struct roofline *out)
{
    const json_t *reads = json_object_get(json, "read");
    size_t count = json_array_size(reads);
    struct roofline roofline = {.read_count = count};
    bool good = count > 0 && count <= ROOFLINE_MAX_SIZES;

    roofline.fma_gflops = json_number_value(json_object_get(json, "fma_gflops"));
    for (size_t i = 0; good && i < count; i++) {
        good = read_back(json_array_get(reads, i), &roofline.reads[i]);
    }
    good = good && roofline.fma_gflops > 0.0;
    *out = good ? roofline : (struct roofline){.read_count = 0};
    return good;
}

/* The context ------------------------------------------------------------------------------- */

/* Adds a new reference under a key; false if there is no memory. */
static bool add(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool add_google_keys(json_t *json, const struct context *context)
{
#ifdef NDEBUG
    const char *build = "release";
#else
    const char *build = "debug";
#endif
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct machine now;

    if (context->machine == NULL) {
        machine_read("", &now);
    }
    const struct machine *machine = context->machine != NULL ? context->machine : &now;

    return add(json, "date", date_json()) && add(json, "host_name", host_name_json()) &&
           add(json, "executable", context_text(context->executable)) &&
           add(json, "num_cpus", cpus > 0 ? json_integer(cpus) : json_null()) &&
           add(json, "mhz_per_cpu", mhz_json(machine)) &&
           add(json, "cpu_scaling_enabled", scaling_json(machine)) &&
           add(json, "caches", caches_json(context->topology)) &&
           add(json, "load_avg", load_json(machine)) &&
           add(json, "cpu_frequency", frequency_json(machine)) &&
           add(json, "library_build_type", json_string(build));
}

static bool add_device(json_t *json, const struct context *context)
{
    const struct device_info *device = context->device;
    const bool none = device == NULL;

    return add(json, "device", none ? json_null() : context_text(device->name)) &&
           add(json, "driver", none ? json_null() : context_text(device->driver)) &&
           add(json, "platform", none ? json_null() : context_text(device->platform_name)) &&
           add(json, "device_version", none ? json_null() : context_text(device->version)) &&
           add(json, "pes", context->pes > 0 ? context_size(context->pes) : json_null()) &&
           add(json, "topology",
               context->topology == NULL ? json_null() : context_topology(context->topology)) &&
           add(json, "affinity",
               context->binding == NULL ? json_null() : text_or_null(context->binding->allowed)) &&
           add(json, "binding",
               context->binding == NULL ? json_null() : context_binding(context->binding)) &&
           add(json, "roofline",
               context->roofline == NULL ? json_null() : context_roofline(context->roofline));
}

static json_t *settings_json(const struct context *context)
{
    const struct sweep_options *sweep = context->sweep;

    if (sweep == NULL) {
        return json_null();
    }
    return json_pack(
        "{s:o, s:o, s:o, s:b, s:s, s:b, s:o, s:o}", "repetitions", context_size(sweep->repetitions),
        "min_time_s", context_real(sweep->min_time_s), "seed", context_size(sweep->seed), "poison",
        context->poison ? 1 : 0, "arena", pe_arenas_space_name(context->arena), "whole",
        isinf(sweep->cut_s) ? 1 : 0, "pair_blocks", context_size(sweep->pair_blocks), "pair_rounds",
        context_size(sweep->pair_rounds));
}

/* Of the run so far. What the parts leave of the total is the device's start, planning, a search
 * for the tile, and arenas. */
static json_t *seconds_json(const struct context_seconds *seconds)
{
    if (seconds == NULL) {
        return json_null();
    }
    const struct sweep_seconds *sweep = seconds->sweep;
    const double total = (double)(event_clock_ns() - seconds->began_ns) * 1e-9;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", context_real(total),
                     "roofline", context_real(seconds->roofline), "inputs",
                     context_real(sweep->inputs), "reference", context_real(sweep->reference),
                     "build", context_real(sweep->build), "check", context_real(sweep->check),
                     "timing", context_real(sweep->timing), "pairs", context_real(sweep->pairs),
                     "rows", context_real(sweep->rows));
}

static json_t *ratio_json(const struct cell_ratio *ratio)
{
    char policies[TEXT_BYTES];

    (void)snprintf(policies, sizeof policies, "%s/%s", policy_name(ratio->numerator),
                   policy_name(ratio->denominator));
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:[o,o], s:o, s:o, s:o, s:b, s:b}", "preset",
                     ratio->preset, "group", ratio->group, "tiles", context_size(ratio->tiles),
                     "policies", policies, "ratio", context_real(ratio->ratio), "interval",
                     context_real(ratio->lower), context_real(ratio->upper), "blocks",
                     context_size(ratio->blocks), "rounds", context_size(ratio->rounds),
                     "noise_floor", context_real(ratio->noise_floor), "not_slower",
                     ratio->not_slower ? 1 : 0, "conclusive", ratio->conclusive ? 1 : 0);
}

static json_t *ratios_json(const struct results *results)
{
    json_t *ratios = json_array();

    for (size_t i = 0; ratios != NULL && i < results->ratio_count; i++) {
        (void)json_array_append_new(ratios, ratio_json(&results->ratios[i]));
    }
    return ratios;
}

/* KEY=VALUE of --benchmark_context; never in place of a key of ours. */
static bool add_users_keys(json_t *json)
{
    const char *key = NULL;
    const char *value = NULL;
    bool added = true;

    for (size_t i = 0; added && gbench_flag_context(i, &key, &value); i++) {
        if (json_object_get(json, key) == NULL) {
            added = add(json, key, context_text(value));
        }
    }
    return added;
}

enum status context_json(const struct context *context, const struct results *results, json_t **out)
{
    json_t *json = json_object();

    *out = json;
    if (json != NULL && add_google_keys(json, context) &&
        add(json, "schema_version", json_integer(CONTEXT_SCHEMA_VERSION)) &&
        add(json, "tool_version", json_string(context_version())) &&
        add(json, "commit", text_or_null(context_commit())) && add_device(json, context) &&
        add(json, "settings", settings_json(context)) &&
        add(json, "seconds", seconds_json(context->seconds)) &&
        add(json, "ratios", ratios_json(results)) && add_users_keys(json)) {
        return STATUS_OK;
    }
    json_decref(json);
    *out = NULL;
    return STATUS_FAIL(STATUS_NO_MEMORY, "results", "no memory for the context");
}
