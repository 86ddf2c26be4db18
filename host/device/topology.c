#include "host/device/topology.h"

#include "host/base/size.h"
#include "host/base/text.h"
#include "host/base/units.h"

#include <errno.h>
#include <hwloc.h>
#include <string.h>

static size_t count_of(hwloc_topology_t tree, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(tree, type);
    return count > 0 ? (size_t)count : 0;
}

/* Cuts the tree down to the processing units that this process is bound to. A tree read from a
 * file is another machine's. */
static enum status restrict_to_binding(hwloc_topology_t tree)
{
    enum status status = STATUS_OK;
    if (hwloc_topology_is_thissystem(tree) == 0) {
        return STATUS_OK;
    }
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    if (bound == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "reading the topology", "no memory left");
    }
    if (hwloc_get_cpubind(tree, bound, HWLOC_CPUBIND_THREAD) == 0 &&
        hwloc_bitmap_intersects(bound, hwloc_topology_get_topology_cpuset(tree)) != 0 &&
        hwloc_topology_restrict(tree, bound, 0) != 0) {
        status = STATUS_FAIL(STATUS_IO, "reading the topology", "hwloc_topology_restrict: %s",
                             strerror(errno));
    }
    hwloc_bitmap_free(bound);
    return status;
}

/* Cores below an object; a machine that tells of no cores counts its processing units. */
static size_t cores_below(hwloc_topology_t tree, hwloc_obj_t object)
{
    bool known = count_of(tree, HWLOC_OBJ_CORE) > 0;
    int count = hwloc_get_nbobjs_inside_cpuset_by_type(tree, object->cpuset,
                                                       known ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU);
    return count > 0 ? (size_t)count : 1;
}

/* The caches of one level may differ (cores of two kinds): the smallest, and the most sharers. */
static struct topology_cache read_level(hwloc_topology_t tree, size_t level)
{
    hwloc_obj_type_t type = (hwloc_obj_type_t)(HWLOC_OBJ_L1CACHE + (int)level - 1);
    struct topology_cache cache = {.level = level, .count = count_of(tree, type)};

    for (unsigned i = 0; i < cache.count; ++i) {
        hwloc_obj_t object = hwloc_get_obj_by_type(tree, type, i);
        size_t bytes = (size_t)object->attr->cache.size;
        cache.bytes = i == 0 ? bytes : size_min(cache.bytes, bytes);
        cache.cores_per = size_max(cache.cores_per, cores_below(tree, object));
    }
    return cache;
}

static void read_caches(hwloc_topology_t tree, struct topology *out)
{
    for (size_t level = 1; level <= TOPOLOGY_MAX_CACHES; ++level) {
        struct topology_cache cache = read_level(tree, level);
        if (cache.count > 0 && cache.bytes > 0) {
            out->caches[out->cache_count++] = cache;
        }
    }
}

static void read_cpu(hwloc_topology_t tree, char cpu[TOPOLOGY_NAME_BYTES])
{
    struct text text = text_begin(cpu, TOPOLOGY_NAME_BYTES);
    hwloc_obj_t package = hwloc_get_obj_by_type(tree, HWLOC_OBJ_PACKAGE, 0);
    hwloc_obj_t object = package != NULL ? package : hwloc_get_root_obj(tree);
    const char *model = hwloc_obj_get_info_by_name(object, "CPUModel");
    text_add(&text, "%s", model != NULL ? model : "");
}

static enum status read_tree(hwloc_topology_t tree, struct topology *out)
{
    enum status status = STATUS_OK;

    if (hwloc_topology_load(tree) != 0) {
        return STATUS_FAIL(STATUS_IO, "reading the topology", "hwloc_topology_load: %s",
                           strerror(errno));
    }
    STATUS_TRY(restrict_to_binding(tree));
    out->processing_units = size_max(count_of(tree, HWLOC_OBJ_PU), 1);
    out->cores = count_of(tree, HWLOC_OBJ_CORE);
    if (out->cores == 0) {
        out->cores = out->processing_units;
    }
    out->numa_nodes = size_max(count_of(tree, HWLOC_OBJ_NUMANODE), 1);
    out->packages = size_max(count_of(tree, HWLOC_OBJ_PACKAGE), 1);
    out->memory_bytes = (size_t)hwloc_get_root_obj(tree)->total_memory;
    read_caches(tree, out);
    read_cpu(tree, out->cpu);
out:
    return status;
}

enum status topology_init(struct topology *out)
{
    hwloc_topology_t tree = NULL;
    struct topology read = {0};

    *out = read;
    if (hwloc_topology_init(&tree) != 0) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "reading the topology", "hwloc_topology_init: %s",
                           strerror(errno));
    }
    enum status status = read_tree(tree, &read);
    hwloc_topology_destroy(tree);
    if (status == STATUS_OK) {
        *out = read;
    }
    return status;
}

size_t topology_cache_level(const struct topology *topology, size_t bytes, size_t pes)
{
    if (pes == 0) {
        return 0;
    }
    for (size_t i = 0; i < topology->cache_count; ++i) {
        const struct topology_cache *cache = &topology->caches[i];
        if (bytes <= cache->bytes / size_min(cache->cores_per, pes)) {
            return cache->level;
        }
    }
    return 0;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void topology_text(const struct topology *topology, char *text, size_t size)
{
    char bytes[UNITS_TEXT_BYTES];
    struct text line = text_begin(text, size);

    text_add(&line, "%zu x %s: %zu core%s", topology->packages,
             topology->cpu[0] != '\0' ? topology->cpu : "CPU", topology->cores,
             plural(topology->cores));
    if (topology->processing_units > topology->cores) {
        text_add(&line, ", %zu threads", topology->processing_units);
    }
    for (size_t i = 0; i < topology->cache_count; ++i) {
        const struct topology_cache *cache = &topology->caches[i];
        text_add(&line, ", L%zu%s %s/", cache->level, cache->level == 1 ? "d" : "",
                 units_format_bytes(cache->bytes, bytes));
        if (cache->cores_per == 1) {
            text_add(&line, "core");
        } else {
            text_add(&line, "%zu cores", cache->cores_per);
        }
    }
    text_add(&line, ", %zu NUMA node%s", topology->numa_nodes, plural(topology->numa_nodes));
}
