/* What the files of a run share: run.c builds, uploads and launches, check.c compares and measures.
 */
#ifndef HOST_ATTENTION_RUN_STATE_H
#define HOST_ATTENTION_RUN_STATE_H

#include "host/attention/run.h"
#include "host/scratch/program.h"
#include "kernels/layout.h"

struct attention {
    struct device *device;      /* borrowed */
    struct problem problem;     /* */
    struct program program;     /* of its tile, owned */
    size_t pes;                 /* work-groups */
    size_t local_size;          /* work-items of a group */
    size_t merge_local;         /* work-items of a group that merges */
    enum pe_arenas_space space; /* of the arenas */
    cl_kernel kernel;           /* attention: the timing build */
    cl_kernel check_kernel;     /* its checking build, kernels/check.clh; NULL if global */
    size_t own_local_bytes;     /* local memory that the kernels take without their arguments */
    cl_kernel merge;            /* joins the parts; NULL if unsplit */
    cl_mem q, k, v;             /* inputs, storage type */
    cl_mem sinks;               /* [q_heads] f32; a byte where there are none, and so on */
    cl_mem slopes;              /* [q_heads] f32 */
    cl_mem mask;                /* [seq_q, seq_kv] f32 */
    cl_mem schedule;            /* of scheduled_items; room for all */
    size_t scheduled_items;     /* */
    bool shared_schedule;       /* PEs take items in turn */
    struct pe_arenas *parts; /* the parts' states, one pool that can be painted; NULL if unsplit */
    cl_mem no_parts;         /* a byte in their place; NULL if split */
    cl_mem out, lse;         /* results, f32 */
    size_t out_bytes;        /* */
    size_t lse_bytes;        /* */
};

struct attention_bound {
    struct pe_arenas *arenas;       /* borrowed */
    cl_mem table;                   /* offset table */
    cl_mem params;                  /* struct attention_params on the device */
    struct attention_params values; /* what is there */
};

/* One kind of launch. */
struct run_request {
    bool checking;   /* the checking build, where there is one */
    bool poison;     /* fill rewound ranges with 0xFF */
    size_t item_end; /* items [0, item_end) */
    size_t count;    /* times, back to back */
};

/* As attention_launch. */
enum status run_launch(struct attention *attention, struct attention_bound *bound,
                       const struct run_request *request, struct event_time *time) STATUS_MUST_USE;

#endif
