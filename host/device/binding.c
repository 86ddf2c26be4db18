#include "host/device/binding.h"

#include "host/base/size.h"
#include "host/base/text.h"
#include "host/base/units.h"

#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256 };

#define AFFINITY "POCL_AFFINITY"

/* The limit of workers: the older name is PoCL 3.1's. */
static const struct limit {
    const char *name;
    const char *one; /* that it is 1 */
} limits[] = {
    {"POCL_CPU_MAX_CU_COUNT", "POCL_CPU_MAX_CU_COUNT=1 is set"},
    {"POCL_MAX_PTHREAD_COUNT", "POCL_MAX_PTHREAD_COUNT=1 is set"},
};

/* Why threads are left to an affinity of the user's; NULL: it may well bind them. */
static const char *why_users(const char *affinity)
{
    if (strcmp(affinity, "1") == 0) {
        return NULL;
    }
    return strcmp(affinity, "0") == 0 ? AFFINITY "=0 is set" : AFFINITY " is set, but not to 1";
}

static void refuse(struct binding *out, const char *why_not)
{
    out->workers = 0;
    out->limit = false;
    out->why_not = why_not;
}

void binding_decide(const struct binding_machine *machine, const struct binding_request *request,
                    struct binding *out)
{
    size_t workers = size_min(machine->cpus, machine->cores);

    if (machine->most != 0) {
        workers = size_min(workers, machine->most);
    }
    *out = (struct binding){.workers = workers, .limit = workers < machine->cpus};
    if (machine->users != NULL) {
        refuse(out, why_users(machine->users));
    } else if (request->none) {
        refuse(out, "--bind none");
    } else if (!machine->ours) {
        refuse(out, "the topology is another machine's");
    } else if (workers < 2) {
        refuse(out, machine->one != NULL ? machine->one : "there is one core to run on");
    } else if (request->pes > workers) {
        refuse(out, workers < machine->cores ? "there are more PEs than workers, by your limit"
                                             : "there are more PEs than cores");
    } else if (workers > machine->distinct) {
        refuse(out, "the first CPUs are not cores of their own that this process may use");
    }
}

/* The machine ------------------------------------------------------------------------------- */

/* Whatever two CPUs of one core have in common: the core, or the CPU where no cores are known. */
static unsigned core_of(hwloc_topology_t tree, hwloc_obj_t cpu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(tree, HWLOC_OBJ_CORE, cpu);
    return core != NULL ? core->logical_index : cpu->logical_index;
}

static size_t count_distinct(hwloc_topology_t tree, hwloc_const_bitmap_t allowed,
                             hwloc_bitmap_t seen)
{
    unsigned cpu = 0;
    for (;; ++cpu) {
        hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(tree, cpu);
        if (object == NULL || hwloc_bitmap_isset(allowed, cpu) == 0 ||
            hwloc_bitmap_isset(seen, core_of(tree, object)) != 0) {
            break;
        }
        (void)hwloc_bitmap_set(seen, core_of(tree, object));
    }
    return cpu;
}

static size_t count_cores(hwloc_topology_t tree, hwloc_const_bitmap_t allowed, hwloc_bitmap_t seen)
{
    hwloc_obj_t cpu = NULL;
    hwloc_bitmap_zero(seen);
    while ((cpu = hwloc_get_next_obj_by_type(tree, HWLOC_OBJ_PU, cpu)) != NULL) {
        if (hwloc_bitmap_isset(allowed, cpu->os_index) != 0) {
            (void)hwloc_bitmap_set(seen, core_of(tree, cpu));
        }
    }
    return (size_t)hwloc_bitmap_weight(seen);
}

/* Fills all but what the environment tells. */
static enum status read_tree(hwloc_topology_t tree, struct binding_machine *machine,
                             char list[BINDING_TEXT_BYTES])
{
    enum status status = STATUS_OK;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();

    if (allowed == NULL || seen == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "binding threads", "no memory left");
        goto out;
    }
    if (hwloc_topology_load(tree) != 0) {
        status =
            STATUS_FAIL(STATUS_IO, "binding threads", "hwloc_topology_load: %s", strerror(errno));
        goto out;
    }
    machine->ours = hwloc_topology_is_thissystem(tree) != 0;
    if (!machine->ours || hwloc_get_cpubind(tree, allowed, HWLOC_CPUBIND_THREAD) != 0) {
        (void)hwloc_bitmap_copy(allowed, hwloc_topology_get_topology_cpuset(tree));
    }
    machine->cpus = (size_t)hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PU);
    machine->distinct = count_distinct(tree, allowed, seen);
    machine->cores = count_cores(tree, allowed, seen);
    (void)hwloc_bitmap_list_snprintf(list, BINDING_TEXT_BYTES, allowed);
out:
    hwloc_bitmap_free(seen);
    hwloc_bitmap_free(allowed);
    return status;
}

static void read_environment(struct binding_machine *machine)
{
    machine->users = getenv(AFFINITY);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i) {
        const char *value = getenv(limits[i].name);
        size_t most = 0;
        if (value != NULL && units_parse_size(value, &most) && most > 0) {
            machine->most = machine->most == 0 ? most : size_min(machine->most, most);
            machine->one = most == 1 ? limits[i].one : machine->one;
        }
    }
}

enum status binding_plan(const struct binding_request *request, struct binding *out)
{
    enum status status = STATUS_OK;
    hwloc_topology_t tree = NULL;
    struct binding_machine machine = {.ours = false};
    char allowed[BINDING_TEXT_BYTES] = "";

    *out = (struct binding){.workers = 0};
    if (hwloc_topology_init(&tree) != 0) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "binding threads", "hwloc_topology_init: %s",
                           strerror(errno));
    }
    status = read_tree(tree, &machine, allowed);
    hwloc_topology_destroy(tree);
    if (status == STATUS_OK) {
        read_environment(&machine);
        binding_decide(&machine, request, out);
        memcpy(out->allowed, allowed, sizeof allowed);
    }
    return status;
}

static enum status set_if_unset(const char *name, const char *value)
{
    if (setenv(name, value, 0) != 0) {
        return STATUS_FAIL(STATUS_NO_MEMORY, name, "no memory left");
    }
    return STATUS_OK;
}

enum status binding_apply(const struct binding *binding)
{
    enum status status = STATUS_OK;
    char count[LINE_BYTES];

    if (binding->workers == 0) {
        return STATUS_OK;
    }
    (void)snprintf(count, sizeof count, "%zu", binding->workers);
    for (size_t i = 0; binding->limit && i < sizeof limits / sizeof limits[0]; ++i) {
        STATUS_TRY(set_if_unset(limits[i].name, count));
    }
    STATUS_TRY(set_if_unset(AFFINITY, "1"));
out:
    return status;
}

/* The threads ------------------------------------------------------------------------------- */

/* The CPU of a thread that may use one alone; false for any other. */
static bool own_cpu(const char *thread, size_t *cpu)
{
    static const char key[] = "Cpus_allowed_list:";
    char text[LINE_BYTES];
    bool found = false;

    (void)snprintf(text, sizeof text, "/proc/self/task/%.32s/status", thread);
    FILE *file = fopen(text, "re");
    while (file != NULL && !found && fgets(text, sizeof text, file) != NULL) {
        char *value = text + sizeof key - 1;
        if (strncmp(text, key, sizeof key - 1) == 0) {
            value += strspn(value, " \t");
            value[strcspn(value, "\n")] = '\0';
            found = units_parse_size(value, cpu); /* not of a list: no other line has the key */
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

void binding_check(struct binding *binding, bool bindable)
{
    DIR *threads = bindable ? opendir("/proc/self/task") : NULL;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

    binding->known = threads != NULL && cpus != NULL;
    const struct dirent *entry = NULL;
    /* Nobody else reads this folder. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while (binding->known && (entry = readdir(threads)) != NULL) {
        size_t cpu = 0;
        if (entry->d_name[0] != '.' && own_cpu(entry->d_name, &cpu)) {
            (void)hwloc_bitmap_set(cpus, (unsigned)cpu);
        }
    }
    if (binding->known) {
        binding->bound = (size_t)hwloc_bitmap_weight(cpus);
        if (binding->bound > 0) {
            (void)hwloc_bitmap_list_snprintf(binding->cpus, sizeof binding->cpus, cpus);
        }
    }
    if (threads != NULL) {
        (void)closedir(threads);
    }
    hwloc_bitmap_free(cpus);
}

void binding_text(const struct binding *binding, char *text, size_t size)
{
    struct text line = text_begin(text, size);

    if (!binding->known) {
        return;
    }
    if (binding->bound > 0) {
        const bool one = binding->bound == 1;
        text_add(&line, "worker thread%s bound to CPU%s %s", one ? "" : "s", one ? "" : "s",
                 binding->cpus);
    } else {
        text_add(&line, "worker threads not bound: %s",
                 binding->why_not != NULL ? binding->why_not : "the driver did not");
    }
}
