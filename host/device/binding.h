/* Which CPUs the driver's worker threads run on: decided before the driver starts them, and looked
 * up afterwards.
 *
 * A CPU device runs each PE on a worker thread. PoCL (3.1 and 6.0) starts one for each hardware
 * thread when it is first asked for its devices, and under POCL_AFFINITY=1 ties worker i to CPU i.
 * It takes no list: it looks neither at the CPUs that this process may use nor at those that share
 * a core, and a CPU that the kernel refuses ends the process. So that is asked for only where CPUs
 * 0..W-1 may all be used and are cores of their own, and the workers are W, kept down to the cores
 * where there are more hardware threads. The host's thread stays free: it sleeps while kernels run.
 *
 *     STATUS_TRY(binding_plan(&request, &binding));   what is best, nothing done yet
 *     STATUS_TRY(binding_apply(&binding));            before the first OpenCL call
 *     ... open the device ...
 *     binding_check(&binding, is_pocl_cpu);           what came of it
 */
#ifndef HOST_DEVICE_BINDING_H
#define HOST_DEVICE_BINDING_H

#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { BINDING_TEXT_BYTES = 96 };

/* What the decision is made from. */
struct binding_machine {
    bool ours;         /* the topology is this machine's, not one of a file */
    size_t cpus;       /* hardware threads: workers that the driver starts by itself */
    size_t cores;      /* that this process may use */
    size_t distinct;   /* CPUs 0..distinct-1 may all be used, and no two of them share a core */
    const char *users; /* POCL_AFFINITY of the environment; NULL = not set */
    size_t most;       /* the user's own limit of workers; 0 = none */
    const char *one;   /* what sets that limit to 1, static; NULL = nothing does */
};

struct binding_request {
    size_t pes; /* 0 = one a core */
    bool none;  /* leave the threads to the system */
};

struct binding {
    char allowed[BINDING_TEXT_BYTES]; /* CPUs that this process may use, "0-3,8"; "" = unknown */
    size_t workers;                   /* to be bound; 0 = none */
    bool limit;                       /* workers must be kept down to that number */
    const char *why_not;              /* why workers = 0, static; NULL: not, or not known */
    bool known;                       /* binding_check could look the threads up */
    size_t bound;                     /* CPUs that have a thread to themselves */
    char cpus[BINDING_TEXT_BYTES];    /* those, "0-1"; "" = none */
};

/* Pure: fills workers, limit and why_not. */
void binding_decide(const struct binding_machine *machine, const struct binding_request *request,
                    struct binding *out);

/* Reads machine and environment, and decides. STATUS_IO, STATUS_NO_MEMORY: hwloc. */
enum status binding_plan(const struct binding_request *request,
                         struct binding *out) STATUS_MUST_USE;

/* Puts the plan into the environment: POCL_AFFINITY, and POCL_MAX_PTHREAD_COUNT (3.1) and
 * POCL_CPU_MAX_CU_COUNT (6.0) where there is a limit. What is set already stays. STATUS_NO_MEMORY.
 */
enum status binding_apply(const struct binding *binding) STATUS_MUST_USE;

/* Looks up which threads of this process have a CPU of their own, after the device was opened.
 * `bindable`: the device runs on worker threads of PoCL; else nothing is known. */
void binding_check(struct binding *binding, bool bindable);

/* "worker threads bound to CPUs 0-1", "worker threads not bound: REASON", "" where nothing is
 * known. They are the driver's: PEs that are fewer run on some of them. */
void binding_text(const struct binding *binding, char *text, size_t size);

#endif
