/* One attention problem on the test device: plan, bind, run painted, compare. Shared by the device
 * tests of attention. */
#ifndef TESTS_DEVICE_ATTENTION_CASE_H
#define TESTS_DEVICE_ATTENTION_CASE_H

#include "host/attention/run.h"
#include "host/attention/tile_program.h"
#include "tests/device/device_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASE_SEED = 7 };

/* The problem of preset cap16 with S tiles. */
static inline struct problem case_cap16(size_t tiles)
{
    return (struct problem){.batch = 1,
                            .q_heads = 4,
                            .kv_heads = 4,
                            .seq_q = 128,
                            .seq_kv = tiles * 64,
                            .head_dim = 128,
                            .head_dim_v = 128,
                            .block_m = 32,
                            .block_n = 64,
                            .dtype = DTYPE_F16,
                            .window_left = -1,
                            .window_right = -1};
}

/* What one run under a policy has shown. */
struct case_result {
    struct footprint plan;
    struct attention_check check;
    bool agrees; /* measured = planned, guards intact */
};

/* A problem with everything that its policies share. */
struct case_setup {
    struct device *device; /* borrowed */
    struct problem problem;
    struct inputs *inputs;
    struct reference *reference;
    struct program program;
    struct attention *attention;
    enum pe_arenas_space arena;
    size_t pes;
    size_t pool_bytes; /* 0 = what the policy needs */
    size_t shift_bytes;
    bool launch_first; /* once more, before anything else has written the arenas */
};

/* How a case is built. */
struct case_build {
    enum kernel_style style;
    enum pe_arenas_space arena;
    size_t local_size;                                                  /* as attention_options */
    const char *source;                                                 /* as attention_options */
    void (*edit)(const struct problem *problem, struct inputs *inputs); /* NULL = random inputs */
};

static inline void case_setup_build(struct case_setup *setup, struct device *device,
                                    const struct problem *problem, const struct case_build *build)
{
    *setup =
        (struct case_setup){.device = device, .problem = *problem, .arena = build->arena, .pes = 2};
    DEVICE_OK(inputs_create(problem, CASE_SEED, &setup->inputs));
    if (build->edit != NULL) {
        build->edit(problem, setup->inputs);
    }
    DEVICE_OK(reference_create(problem, setup->inputs, REFERENCE_DEFAULT_WORK, &setup->reference));
    DEVICE_OK(tile_program_record(problem, &setup->program));
    struct attention_options options = {.style = build->style,
                                        .local_size = build->local_size,
                                        .pes = setup->pes,
                                        .source = build->source,
                                        .arena = build->arena};
    DEVICE_OK(attention_create(device, problem, setup->inputs, &options, &setup->attention));
}

static inline void case_setup(struct case_setup *setup, struct device *device,
                              const struct problem *problem, enum kernel_style style,
                              size_t local_size, const char *source)
{
    const struct case_build build = {.style = style, .local_size = local_size, .source = source};
    case_setup_build(setup, device, problem, &build);
}

static inline void case_teardown(struct case_setup *setup)
{
    attention_destroy(setup->attention);
    program_fini(&setup->program);
    reference_destroy(setup->reference);
    inputs_destroy(setup->inputs);
}

/* Writes all of the arenas from the host. Oclgrind keeps what it knows of a released buffer, and
 * its length, for the next one in its place, where bytes past that length would stay uninitialised
 * whatever a kernel stores; a write of the whole buffer makes it start over. */
static inline void case_write_arenas(struct pe_arenas *arenas)
{
    const size_t bytes = arenas->shape.total_bytes;
    void *zeros = calloc(bytes, 1);
    assert_non_null(zeros);
    DEVICE_OK(device_write(arenas->device, arenas->buffer, 0, bytes, zeros));
    free(zeros);
}

/* Runs one policy; `edit` may break the table before it reaches the device. */
static inline struct case_result case_run(struct case_setup *setup, enum policy policy, bool poison,
                                          void (*edit)(struct offset_table *table))
{
    struct case_result result = {0};
    struct footprint_request request = {.policy = policy,
                                        .tiles = problem_tiles(&setup->problem),
                                        .pool_bytes = FOOTPRINT_NO_LIMIT,
                                        .alignment = 128};
    struct pe_arenas *arenas = NULL;
    struct offset_table table = {0};
    struct attention_bound *bound = NULL;
    DEVICE_OK(footprint_plan(&setup->program, &request, &result.plan));
    request.pool_bytes =
        setup->pool_bytes ? setup->pool_bytes : (result.plan.peak_bytes + 127) / 128 * 128;
    const bool local = setup->arena == PE_ARENAS_LOCAL;
    struct pe_arenas_shape shape = {.space = setup->arena,
                                    .pes = setup->pes,
                                    .pool_bytes = request.pool_bytes,
                                    .guard_bytes =
                                        local ? PE_ARENAS_LOCAL_GUARD_BYTES : PE_ARENAS_GUARD_BYTES,
                                    .shift_bytes = setup->shift_bytes};
    DEVICE_OK(pe_arenas_create(setup->device, shape, &arenas));
    DEVICE_OK(footprint_table(&setup->program, &request, &table));
    if (edit != NULL) {
        edit(&table);
    }
    DEVICE_OK(attention_bind_table(setup->attention, &table, arenas, &bound));
    if (setup->launch_first) {
        struct event_time time = {0};
        DEVICE_OK(attention_launch(setup->attention, bound, problem_item_count(&setup->problem),
                                   false, 1, &time));
    }
    if (!local) {
        case_write_arenas(arenas);
    }
    DEVICE_OK(attention_check(setup->attention, bound, setup->reference, poison, &result.check));
    result.agrees = result.check.touch.peak_bytes == result.plan.peak_bytes &&
                    result.check.touch.touched_lines == result.plan.touched_lines &&
                    result.check.parts_touched_bytes == problem_parts_bytes(&setup->problem) &&
                    result.check.touch.guards_intact;
    attention_unbind(bound);
    offset_table_fini(&table);
    pe_arenas_destroy(arenas);
    return result;
}

/* Right, and exactly where the plan says. */
static inline bool case_is_right(const struct case_result *result)
{
    return result->check.verdict.verified && result->agrees && result->check.repeatable &&
           result->check.poison_neutral;
}

static inline void case_describe(const struct case_setup *setup, const char *policy,
                                 const struct case_result *result)
{
    const struct problem *p = &setup->problem;
    print_error(
        "%s %s: heads %zu/%zu, seq %zu x %zu, head_dim %zu/%zu, block %zu x %zu, causal %d, "
        "window %lld,%lld, softcap %g, alibi %d, sinks %d, mask %d, parts %zu\n"
        "  max_abs_err %.3g (tolerance %.3g), LSE %.3g (%.3g), peak %zu of %zu, "
        "lines %zu of %zu, guards %d, repeatable %d, poison neutral %d\n",
        policy, dtype_name(p->dtype), p->q_heads, p->kv_heads, p->seq_q, p->seq_kv, p->head_dim,
        p->head_dim_v, p->block_m, p->block_n, p->causal, (long long)p->window_left,
        (long long)p->window_right, p->softcap, p->alibi, p->sinks, p->mask, p->parts,
        result->check.verdict.max_abs_err, result->check.verdict.tolerance,
        result->check.verdict.lse_max_abs_err, result->check.verdict.lse_tolerance,
        result->check.touch.peak_bytes, result->plan.peak_bytes, result->check.touch.touched_lines,
        result->plan.touched_lines, result->check.touch.guards_intact, result->check.repeatable,
        result->check.poison_neutral);
}

/* All three policies of a problem: each right, outputs equal bit for bit. */
static inline void case_assert_policies(struct case_setup *setup, bool poison)
{
    uint64_t hash = 0;
    for (int policy = 0; policy < POLICY_COUNT; ++policy) {
        struct case_result result = case_run(setup, (enum policy)policy, poison, NULL);
        if (!case_is_right(&result)) {
            case_describe(setup, policy_name((enum policy)policy), &result);
            fail();
        }
        if (policy == 0) {
            hash = result.check.output_hash;
        }
        assert_true(result.check.output_hash == hash);
    }
}

/* What a device test of kernels is run for: STYLE DTYPE LOCAL_SIZE [small]. */
struct case_arguments {
    enum kernel_style style;
    enum dtype dtype;
    size_t local_size; /* as attention_options */
    bool few;          /* the cases that a simulator can bear */
};

static inline bool case_arguments(int argc, char **argv, struct case_arguments *out)
{
    *out = (struct case_arguments){.style = KERNEL_SIMD};
    if (argc < 4 || !dtype_parse(argv[2], &out->dtype)) {
        return false;
    }
    out->style = strcmp(argv[1], "simt") == 0 ? KERNEL_SIMT : KERNEL_SIMD;
    out->local_size = strtoul(argv[3], NULL, 10);
    out->few = argc > 4 && strcmp(argv[4], "small") == 0;
    return true;
}

#endif
