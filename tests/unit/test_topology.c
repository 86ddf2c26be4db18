/* Topologies that hwloc makes up or reads from a file, and the cache that PEs fit in. */
#include "host/device/topology.h"
#include "tests/cmocka.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1048576, TEXT_BYTES = 256 };

/* Two packages of four cores with two threads; an L3 for each package. */
static const char two_packages[] = "package:2 numa:1(memory=1073741824) l3:1(size=33554432) "
                                   "l2:4(size=524288) l1d:1(size=32768) core:1 pu:2";

static int clean(void **state)
{
    (void)state;
    status_clear();
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_COMPONENTS");
    return 0;
}

static struct topology made_up(const char *description)
{
    struct topology topology;
    setenv("HWLOC_SYNTHETIC", description, 1);
    assert_int_equal(topology_init(&topology), STATUS_OK);
    return topology;
}

static void expect_two_packages(const struct topology *topology)
{
    assert_int_equal(topology->packages, 2);
    assert_int_equal(topology->numa_nodes, 2);
    assert_int_equal(topology->cores, 8);
    assert_int_equal(topology->processing_units, 16);
    assert_int_equal(topology->memory_bytes, (size_t)2 << 30);
    assert_int_equal(topology->cache_count, 3);
}

static void machine_is_counted(void **state)
{
    (void)state;
    struct topology topology = made_up(two_packages);
    expect_two_packages(&topology);
}

static void machine_from_a_file_is_counted(void **state)
{
    (void)state;
    char name[] = "/tmp/topology-XX"
                  "XX"
                  "XX";
    hwloc_topology_t tree = NULL;
    struct topology topology;
    int file = mkstemp(name);
    assert_true(file >= 0);
    (void)close(file);
    assert_int_equal(hwloc_topology_init(&tree), 0);
    assert_int_equal(hwloc_topology_set_synthetic(tree, two_packages), 0);
    assert_int_equal(hwloc_topology_load(tree), 0);
    assert_int_equal(hwloc_topology_export_xml(tree, name, 0), 0);
    hwloc_topology_destroy(tree);

    setenv("HWLOC_XMLFILE", name, 1);
    enum status status = topology_init(&topology);
    (void)remove(name);
    assert_int_equal(status, STATUS_OK);
    expect_two_packages(&topology);
}

static void caches_ascend_with_the_cores_that_share_them(void **state)
{
    (void)state;
    struct topology topology = made_up(two_packages);
    const struct topology_cache expected[] = {
        {1, 32 * KIB, 8, 1}, {2, 512 * KIB, 8, 1}, {3, 32 * MIB, 2, 4}};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(topology.caches[i].level, expected[i].level);
        assert_int_equal(topology.caches[i].bytes, expected[i].bytes);
        assert_int_equal(topology.caches[i].count, expected[i].count);
        assert_int_equal(topology.caches[i].cores_per, expected[i].cores_per);
    }
}

static void machine_without_cores_counts_processing_units(void **state)
{
    (void)state;
    struct topology topology = made_up("l2:1(size=1048576) pu:3");
    assert_int_equal(topology.cores, 3);
    assert_int_equal(topology.processing_units, 3);
    assert_int_equal(topology.packages, 1);
    assert_int_equal(topology.numa_nodes, 1);
    assert_int_equal(topology.cache_count, 1);
    assert_int_equal(topology.caches[0].cores_per, 3);
}

static void machine_that_hwloc_cannot_read_is_a_failure(void **state)
{
    (void)state;
    struct topology topology = {.cores = 7};
    setenv("HWLOC_COMPONENTS", "stop", 1);
    assert_int_equal(topology_init(&topology), STATUS_IO);
    assert_int_equal(topology.cores, 0);
}

/* hwloc's own call, so that the binding is the one that hwloc reads. */
static bool bind_to_first_unit(void)
{
    hwloc_topology_t tree = NULL;
    bool bound = hwloc_topology_init(&tree) == 0 && hwloc_topology_load(tree) == 0;
    hwloc_bitmap_t one = hwloc_bitmap_alloc();
    if (bound) {
        (void)hwloc_bitmap_only(
            one, (unsigned)hwloc_bitmap_first(hwloc_topology_get_topology_cpuset(tree)));
        bound = hwloc_set_cpubind(tree, one, HWLOC_CPUBIND_THREAD) == 0;
    }
    hwloc_bitmap_free(one);
    hwloc_topology_destroy(tree);
    return bound;
}

static void bound_process_counts_the_cores_that_it_may_use(void **state)
{
    (void)state;
    struct topology topology;
    if (!bind_to_first_unit()) {
        skip();
    }
    assert_int_equal(topology_init(&topology), STATUS_OK);
    assert_int_equal(topology.cores, 1);
    assert_int_equal(topology.processing_units, 1);
}

/* L1 32 KiB and L2 512 KiB of a core, L3 32 MiB of four. */
static const struct topology plain = {
    .cores = 8,
    .processing_units = 16,
    .numa_nodes = 1,
    .packages = 2,
    .cache_count = 3,
    .caches = {{1, 32 * KIB, 8, 1}, {2, 512 * KIB, 8, 1}, {3, 32 * MIB, 2, 4}},
    .cpu = "Some CPU",
};

static void level_of_a_pe_is_the_first_cache_that_holds_it(void **state)
{
    (void)state;
    assert_int_equal(topology_cache_level(&plain, 32 * KIB, 1), 1);
    assert_int_equal(topology_cache_level(&plain, 32 * KIB + 1, 1), 2);
    assert_int_equal(topology_cache_level(&plain, 512 * KIB + 1, 1), 3);
    assert_int_equal(topology_cache_level(&plain, 32 * MIB + 1, 1), 0);
}

static void level_of_private_caches_does_not_depend_on_pes(void **state)
{
    (void)state;
    assert_int_equal(topology_cache_level(&plain, 512 * KIB, 8), 2);
}

static void level_of_a_shared_cache_divides_it_among_its_pes(void **state)
{
    (void)state;
    assert_int_equal(topology_cache_level(&plain, 16 * MIB, 2), 3);
    assert_int_equal(topology_cache_level(&plain, 16 * MIB + 1, 2), 0);
    assert_int_equal(topology_cache_level(&plain, 8 * MIB, 8), 3);
    assert_int_equal(topology_cache_level(&plain, 8 * MIB + 1, 8), 0);
}

static void level_of_bytes_that_would_wrap_is_none(void **state)
{
    (void)state;
    assert_int_equal(topology_cache_level(&plain, SIZE_MAX / 2 + 1, 4), 0);
}

static void level_without_pes_or_caches_is_none(void **state)
{
    (void)state;
    struct topology bare = {.cores = 1};
    assert_int_equal(topology_cache_level(&plain, 1, 0), 0);
    assert_int_equal(topology_cache_level(&bare, 1, 1), 0);
}

static void text_tells_cores_threads_and_caches(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    topology_text(&plain, text, sizeof text);
    assert_string_equal(text, "2 x Some CPU: 8 cores, 16 threads, L1d 32 KiB/core, "
                              "L2 512 KiB/core, L3 32 MiB/4 cores, 1 NUMA node");
}

static void text_too_long_is_cut(void **state)
{
    (void)state;
    char text[12];
    topology_text(&plain, text, sizeof text);
    assert_string_equal(text, "2 x Some CP");
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, clean, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(machine_is_counted),
        TEST(machine_from_a_file_is_counted),
        TEST(caches_ascend_with_the_cores_that_share_them),
        TEST(machine_without_cores_counts_processing_units),
        TEST(machine_that_hwloc_cannot_read_is_a_failure),
        TEST(level_of_a_pe_is_the_first_cache_that_holds_it),
        TEST(level_of_private_caches_does_not_depend_on_pes),
        TEST(level_of_a_shared_cache_divides_it_among_its_pes),
        TEST(level_of_bytes_that_would_wrap_is_none),
        TEST(level_without_pes_or_caches_is_none),
        TEST(text_tells_cores_threads_and_caches),
        TEST(text_too_long_is_cut),
        TEST(bound_process_counts_the_cores_that_it_may_use), /* last: it stays bound */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
