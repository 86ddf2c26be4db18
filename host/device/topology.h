/* The machine's cores, caches and NUMA nodes, from hwloc. */
#ifndef HOST_DEVICE_TOPOLOGY_H
#define HOST_DEVICE_TOPOLOGY_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TOPOLOGY_MAX_CACHES = 5, TOPOLOGY_NAME_BYTES = 128 };

struct topology_cache {
    size_t level;     /* 1 = closest to the core */
    size_t bytes;     /* of one cache; data or unified */
    size_t count;     /* how many of them */
    size_t cores_per; /* cores that share one, >= 1 */
};

struct topology {
    size_t cores;                                      /* that this process may use, >= 1 */
    size_t processing_units;                           /* hardware threads, >= cores */
    size_t numa_nodes;                                 /* >= 1 */
    size_t packages;                                   /* >= 1 */
    struct topology_cache caches[TOPOLOGY_MAX_CACHES]; /* by level, ascending */
    size_t cache_count;                                /* 0..TOPOLOGY_MAX_CACHES */
    size_t memory_bytes;                               /* 0 = unknown */
    char cpu[TOPOLOGY_NAME_BYTES];                     /* model name; "" = unknown */
};

/* Reads this machine; honours hwloc's own environment variables (HWLOC_XMLFILE). STATUS_IO: hwloc
 * could not read it. */
enum status topology_init(struct topology *out) STATUS_MUST_USE;

/* Level of the first cache in which `pes` PEs of `bytes` each fit, one PE a core, the cores that
 * share a cache sharing it; 0 = none, or pes = 0. */
size_t topology_cache_level(const struct topology *topology, size_t bytes, size_t pes);

/* "1 x AMD EPYC: 2 cores, L1d 32 KiB/core, L2 512 KiB/core, L3 32 MiB/2 cores, 1 NUMA node". */
void topology_text(const struct topology *topology, char *text, size_t size);

#endif
