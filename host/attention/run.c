/* Device side of one attention problem. What is not here: timing policy and statistics (bench).
 *
 * The launch parameters live in a small buffer of each binding and are written again only when
 * they change, so that back-to-back launches carry no transfer. */
#include "host/attention/run_state.h"

#include "host/attention/schedule.h"
#include "host/attention/tile_program.h"
#include "host/base/size.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "kernels/kernels.h"
#include "kernels/layout.h"

#include <stdio.h>
#include <stdlib.h>

/* Work-items of a PE in the cooperative style, where nobody asks for a number. */
enum { SIMT_LOCAL_CPU = 32, SIMT_LOCAL_GPU = 128 };

const char *kernel_style_name(enum kernel_style style)
{
    return style == KERNEL_SIMT ? "simt" : "simd";
}

enum kernel_style kernel_style_for(const struct device_info *info)
{
    return info->type == DEVICE_CPU ? KERNEL_SIMD : KERNEL_SIMT;
}

/* Build options, and what the checking build adds to them. */
enum { BUILD_OPTIONS_BYTES = 1024 };
static const char check_option[] = " -DARENA_CHECK=1";

static enum status build_check(struct attention *attention, const char *source, const char *options)
{
    char text[BUILD_OPTIONS_BYTES + sizeof check_option];
    snprintf(text, sizeof text, "%s%s", options, check_option);
    return build_kernel(attention->device, source, text, "attention", &attention->check_kernel);
}

static enum status build(struct attention *attention, const struct attention_options *options)
{
    enum status status = STATUS_OK;
    const struct problem *p = &attention->problem;
    char text[BUILD_OPTIONS_BYTES];
    const int length = snprintf(
        text, sizeof text,
        "-DHEAD_DIM=%zu -DHEAD_DIM_V=%zu -DBLOCK_M=%zu -DBLOCK_N=%zu -DSTORAGE_F16=%d "
        "-DVECTOR_WIDTH=%zu -DSOFTCAP=%d -DALIBI=%d -DMASK=%d -DSINKS=%d -DSPLIT=%d "
        "-DPREFETCH=%d -DARENA_LOCAL=%d %s",
        p->head_dim, p->head_dim_v, p->block_m, p->block_n, p->dtype == DTYPE_F16,
        device_vector_width(&attention->device->info), p->softcap > 0.0, p->alibi, p->mask,
        p->sinks, problem_parts(p) > 1,
        options->style == KERNEL_SIMD && device_is_pocl(&attention->device->info),
        attention->space == PE_ARENAS_LOCAL, options->defines != NULL ? options->defines : "");
    if (length < 0 || (size_t)length >= sizeof text) {
        return STATUS_FAIL(STATUS_MISUSE, "attention", "build options of %d bytes", length);
    }
    const char *source = options->source;
    if (source == NULL) {
        source = options->style == KERNEL_SIMT ? kernels_attention_simt : kernels_attention_simd;
    }
    STATUS_TRY(build_kernel(attention->device, source, text, "attention", &attention->kernel));
    if (attention->space == PE_ARENAS_LOCAL) {
        STATUS_TRY(build_check(attention, source, text));
    }
    if (problem_parts(p) > 1) {
        STATUS_TRY(
            build_kernel(attention->device, kernels_merge, text, "merge", &attention->merge));
    }
out:
    return status;
}

/* What both builds of the kernel can run, and the local memory that they take before an argument is
 * set. */
static enum status read_limits(struct attention *attention, size_t *items)
{
    enum status status = STATUS_OK;
    const cl_kernel kernels[] = {attention->kernel, attention->check_kernel};
    *items = SIZE_MAX;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && kernels[i] != NULL; ++i) {
        size_t limit = 0, local_bytes = 0;
        STATUS_TRY(build_kernel_limits(attention->device, kernels[i], &limit, &local_bytes));
        *items = size_min(*items, limit);
        attention->own_local_bytes = size_max(attention->own_local_bytes, local_bytes);
    }
out:
    return status;
}

static enum status choose_local_size(struct attention *attention,
                                     const struct attention_options *options)
{
    enum status status = STATUS_OK;
    size_t limit = 0;
    attention->local_size = 1;
    if (options->style == KERNEL_SIMD && options->local_size > 1) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "work-group size",
                           "%zu work-items asked for, but the simd style has one a PE",
                           options->local_size);
    }
    STATUS_TRY(read_limits(attention, &limit));
    if (options->style == KERNEL_SIMD) {
        return STATUS_OK;
    }
    if (options->local_size > limit) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "work-group size",
                           "%zu work-items asked for, but this kernel can have at most %zu on %s",
                           options->local_size, limit, attention->device->info.name);
    }
    const bool cpu = attention->device->info.type == DEVICE_CPU;
    attention->local_size = options->local_size != 0
                                ? options->local_size
                                : size_min(limit, cpu ? SIMT_LOCAL_CPU : SIMT_LOCAL_GPU);
out:
    return status;
}

/* The merge takes as many work-items as its kernel can have of them. */
static enum status choose_merge_size(struct attention *attention)
{
    enum status status = STATUS_OK;
    size_t limit = 0, local_bytes = 0;
    if (attention->merge == NULL) {
        return STATUS_OK;
    }
    STATUS_TRY(build_kernel_limits(attention->device, attention->merge, &limit, &local_bytes));
    attention->merge_local = size_min(attention->local_size, limit);
out:
    return status;
}

/* Slopes of all query heads. */
static enum status upload_slopes(struct attention *attention)
{
    enum status status = STATUS_OK;
    const size_t heads = attention->problem.alibi ? attention->problem.q_heads : 0;
    float *slopes = malloc(size_max(heads, 1) * sizeof slopes[0]);
    if (slopes == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attention", "no memory for %zu slopes", heads);
    }
    for (size_t head = 0; head < heads; ++head) {
        slopes[head] = (float)problem_alibi_slope(&attention->problem, head);
    }
    STATUS_TRY(device_buffer(attention->device, CL_MEM_READ_ONLY, heads * sizeof slopes[0], slopes,
                             &attention->slopes));
out:
    free(slopes);
    return status;
}

/* What the options read; features that are off get a byte. */
static enum status upload_options(struct attention *attention, const struct inputs *inputs)
{
    enum status status = STATUS_OK;
    struct device *device = attention->device;
    const struct problem *p = &attention->problem;
    const size_t sinks = p->sinks ? p->q_heads : 0, mask = p->mask ? p->seq_q * p->seq_kv : 0;
    STATUS_TRY(device_buffer(device, CL_MEM_READ_ONLY, sinks * sizeof(float), inputs->sinks,
                             &attention->sinks));
    STATUS_TRY(device_buffer(device, CL_MEM_READ_ONLY, mask * sizeof(float), inputs->mask,
                             &attention->mask));
    STATUS_TRY(upload_slopes(attention));
out:
    return status;
}

static enum status upload(struct attention *attention, const struct inputs *inputs)
{
    enum status status = STATUS_OK;
    struct device *device = attention->device;
    const struct problem *p = &attention->problem;
    const size_t item = dtype_bytes(p->dtype);
    STATUS_TRY(device_buffer(device, CL_MEM_READ_ONLY, problem_q_elems(p) * item, inputs->q,
                             &attention->q));
    STATUS_TRY(device_buffer(device, CL_MEM_READ_ONLY, problem_k_elems(p) * item, inputs->k,
                             &attention->k));
    STATUS_TRY(device_buffer(device, CL_MEM_READ_ONLY, problem_v_elems(p) * item, inputs->v,
                             &attention->v));
    STATUS_TRY(upload_options(attention, inputs));
out:
    return status;
}

/* Takes over the inputs of another build, so that both read the same memory. */
static enum status share_inputs(struct attention *attention, const struct attention *from)
{
    enum status status = STATUS_OK;
    const cl_mem theirs[] = {from->q, from->k, from->v, from->sinks, from->slopes, from->mask};
    cl_mem *const ours[] = {&attention->q,     &attention->k,      &attention->v,
                            &attention->sinks, &attention->slopes, &attention->mask};
    if (from->device != attention->device) {
        return STATUS_FAIL(STATUS_MISUSE, "attention", "inputs of another device");
    }
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; ++i) {
        OPENCL_TRY(clRetainMemObject(theirs[i]));
        *ours[i] = theirs[i];
    }
out:
    return status;
}

/* Results, and the buffer of the parts: an arena of one pool, so that it is measured like one. */
static enum status create_results(struct attention *attention)
{
    enum status status = STATUS_OK;
    struct device *device = attention->device;
    const struct problem *p = &attention->problem;
    attention->out_bytes = problem_out_elems(p) * sizeof(float);
    attention->lse_bytes = problem_lse_elems(p) * sizeof(float);
    STATUS_TRY(
        device_buffer(device, CL_MEM_READ_WRITE, attention->out_bytes, NULL, &attention->out));
    STATUS_TRY(
        device_buffer(device, CL_MEM_READ_WRITE, attention->lse_bytes, NULL, &attention->lse));
    if (problem_parts(p) == 1) {
        STATUS_TRY(device_buffer(device, CL_MEM_READ_WRITE, 0, NULL, &attention->no_parts));
    } else {
        const struct pe_arenas_shape shape = {
            .pes = 1, .pool_bytes = problem_parts_bytes(p), .guard_bytes = PE_ARENAS_GUARD_BYTES};
        STATUS_TRY(pe_arenas_create(device, shape, &attention->parts));
    }
out:
    return status;
}

static cl_mem parts_buffer(const struct attention *attention)
{
    return attention->parts != NULL ? attention->parts->buffer : attention->no_parts;
}

/* Arguments of attention: arena, table and parameters, then the tensors, then the marks. */
enum { ARGUMENT_TENSORS = 3, TENSORS = 10, ARGUMENT_MARKS = ARGUMENT_TENSORS + TENSORS };

static enum status set_attention_tensors(const struct attention *attention, cl_kernel kernel)
{
    enum status status = STATUS_OK;
    const cl_mem tensors[TENSORS] = {
        attention->q,      attention->k,    attention->v,        attention->sinks,
        attention->slopes, attention->mask, attention->schedule, parts_buffer(attention),
        attention->out,    attention->lse};
    for (cl_uint i = 0; i < TENSORS; ++i) {
        OPENCL_TRY(clSetKernelArg(kernel, ARGUMENT_TENSORS + i, sizeof(cl_mem), &tensors[i]));
    }
out:
    return status;
}

/* What stays the same for every binding. */
static enum status set_tensors(struct attention *attention)
{
    enum status status = STATUS_OK;
    const cl_mem merged[] = {parts_buffer(attention), attention->sinks, attention->out,
                             attention->lse};
    STATUS_TRY(set_attention_tensors(attention, attention->kernel));
    if (attention->check_kernel != NULL) {
        STATUS_TRY(set_attention_tensors(attention, attention->check_kernel));
    }
    for (cl_uint i = 0; attention->merge != NULL && i < sizeof merged / sizeof merged[0]; ++i) {
        OPENCL_TRY(clSetKernelArg(attention->merge, 1 + i, sizeof(cl_mem), &merged[i]));
    }
out:
    return status;
}

/* Puts the schedule of items [0, item_end) on the device; the first one is that of all items. */
static enum status schedule_items(struct attention *attention, size_t item_end)
{
    enum status status = STATUS_OK;
    struct schedule schedule = {0};
    STATUS_TRY(schedule_create(&attention->problem, item_end, attention->pes,
                               attention->shared_schedule, &schedule));
    if (attention->schedule == NULL) {
        STATUS_TRY(device_buffer(attention->device, CL_MEM_READ_WRITE,
                                 schedule.count * sizeof schedule.cells[0], schedule.cells,
                                 &attention->schedule));
    } else {
        STATUS_TRY(device_write(attention->device, attention->schedule, 0,
                                schedule.count * sizeof schedule.cells[0], schedule.cells));
    }
    attention->scheduled_items = item_end;
out:
    schedule_fini(&schedule);
    return status;
}

/* What the caller asks for, before anything is built. */
static enum status check_request(const struct problem *problem, const struct inputs *inputs,
                                 const struct attention_options *options)
{
    if (!dtype_has_kernel(problem->dtype) || problem->dtype != inputs->dtype) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "dtype",
                           "no kernel stores %s (inputs are %s); f32 and f16 can run",
                           dtype_name(problem->dtype), dtype_name(inputs->dtype));
    }
    if (options->pes == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "PEs", "0 asked for; at least 1 is needed");
    }
    if ((problem->sinks && inputs->sinks == NULL) || (problem->mask && inputs->mask == NULL)) {
        return STATUS_FAIL(STATUS_MISUSE, "attention", "the problem has %s that the inputs lack",
                           inputs->sinks == NULL && problem->sinks ? "sinks" : "a mask");
    }
    return problem_validate(problem);
}

enum status attention_create(struct device *device, const struct problem *problem,
                             const struct inputs *inputs, const struct attention_options *options,
                             struct attention **out)
{
    enum status status = STATUS_OK;
    struct attention *attention = NULL;
    *out = NULL;
    STATUS_TRY(check_request(problem, inputs, options));
    attention = calloc(1, sizeof *attention);
    if (attention == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attention", "%zu bytes", sizeof *attention);
    }
    attention->device = device;
    attention->problem = *problem;
    attention->pes = options->pes;
    attention->space = options->arena;
    program_init(&attention->program);
    STATUS_TRY(tile_program_record(problem, &attention->program));
    STATUS_TRY(build(attention, options));
    STATUS_TRY(choose_local_size(attention, options));
    STATUS_TRY(choose_merge_size(attention));
    STATUS_TRY(options->share != NULL ? share_inputs(attention, options->share)
                                      : upload(attention, inputs));
    attention->shared_schedule = options->style == KERNEL_SIMD;
    STATUS_TRY(schedule_items(attention, problem_item_count(problem)));
    STATUS_TRY(create_results(attention));
    STATUS_TRY(set_tensors(attention));
    *out = attention;
    attention = NULL;
out:
    attention_destroy(attention);
    return status;
}

static void release(cl_mem buffer)
{
    if (buffer != NULL) {
        clReleaseMemObject(buffer);
    }
}

void attention_destroy(struct attention *attention)
{
    if (attention == NULL) {
        return;
    }
    program_fini(&attention->program);
    if (attention->kernel != NULL) {
        clReleaseKernel(attention->kernel);
    }
    if (attention->check_kernel != NULL) {
        clReleaseKernel(attention->check_kernel);
    }
    if (attention->merge != NULL) {
        clReleaseKernel(attention->merge);
    }
    pe_arenas_destroy(attention->parts);
    release(attention->no_parts);
    release(attention->sinks);
    release(attention->slopes);
    release(attention->mask);
    release(attention->schedule);
    release(attention->q);
    release(attention->k);
    release(attention->v);
    release(attention->out);
    release(attention->lse);
    free(attention);
}

size_t attention_local_size(const struct attention *attention)
{
    return attention->local_size;
}

size_t attention_own_local_bytes(const struct attention *attention)
{
    return attention->own_local_bytes;
}

/* A reach beyond every key is the same as all of them, and adding to it cannot wrap. */
static int64_t clamp_reach(int64_t reach, const struct problem *problem)
{
    const int64_t all = (int64_t)(problem->seq_q + problem->seq_kv);
    return reach > all ? all : reach;
}

static void fill_params(const struct attention *attention, const struct pe_arenas *arenas,
                        size_t row_stride, struct attention_params *params)
{
    const struct problem *p = &attention->problem;
    *params = (struct attention_params){
        .arena_stride = arenas->shape.stride_bytes,
        .arena_shift = arenas->shape.shift_bytes,
        .pool_bytes = arenas->shape.pool_bytes,
        .table_row_stride = row_stride,
        .item_end = problem_item_count(p),
        .batch = p->batch,
        .q_heads = p->q_heads,
        .kv_heads = p->kv_heads,
        .seq_q = p->seq_q,
        .seq_kv = p->seq_kv,
        .reach_left = clamp_reach(problem_reach_left(p), p),
        .reach_right = clamp_reach(problem_reach_right(p), p),
        .parts = problem_parts(p),
        .scale = (float)problem_scale(p),
        .softcap = (float)p->softcap,
    };
}

enum status attention_bind_table(struct attention *attention, const struct offset_table *table,
                                 struct pe_arenas *arenas, struct attention_bound **out)
{
    enum status status = STATUS_OK;
    struct attention_bound *bound = NULL;
    *out = NULL;
    if (table->columns != TABLE_COLUMNS || arenas->shape.pes != attention->pes ||
        arenas->shape.space != attention->space) {
        return STATUS_FAIL(STATUS_MISUSE, "attention_bind_table",
                           "%zu columns for %d, %zu PEs for %zu, %s arenas for %s", table->columns,
                           TABLE_COLUMNS, arenas->shape.pes, attention->pes,
                           pe_arenas_space_name(arenas->shape.space),
                           pe_arenas_space_name(attention->space));
    }
    bound = calloc(1, sizeof *bound);
    if (bound == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "attention_bind", "%zu bytes", sizeof *bound);
    }
    bound->arenas = arenas;
    fill_params(attention, arenas, table->row_stride, &bound->values);
    STATUS_TRY(device_buffer(attention->device, CL_MEM_READ_ONLY,
                             table->rows * table->columns * sizeof table->cells[0], table->cells,
                             &bound->table));
    STATUS_TRY(device_buffer(attention->device, CL_MEM_READ_ONLY, sizeof bound->values,
                             &bound->values, &bound->params));
    *out = bound;
    bound = NULL;
out:
    attention_unbind(bound);
    return status;
}

enum status attention_bind(struct attention *attention, const struct footprint_request *request,
                           struct pe_arenas *arenas, struct attention_bound **out)
{
    enum status status = STATUS_OK;
    struct offset_table table = {0};
    *out = NULL;
    STATUS_TRY(footprint_table(&attention->program, request, &table));
    STATUS_TRY(attention_bind_table(attention, &table, arenas, out));
out:
    offset_table_fini(&table);
    return status;
}

void attention_unbind(struct attention_bound *bound)
{
    if (bound == NULL) {
        return;
    }
    release(bound->table);
    release(bound->params);
    free(bound);
}

/* Writes the parameters where they have changed. */
static enum status update_params(struct attention *attention, struct attention_bound *bound,
                                 const struct run_request *request)
{
    enum status status = STATUS_OK;
    struct attention_params wanted = bound->values;
    wanted.item_end = size_min(request->item_end, problem_item_count(&attention->problem));
    wanted.poison = request->poison;
    wanted.paint = bound->arenas->painted;
    if (wanted.item_end != bound->values.item_end || wanted.poison != bound->values.poison ||
        wanted.paint != bound->values.paint) {
        STATUS_TRY(device_write(attention->device, bound->params, 0, sizeof wanted, &wanted));
        bound->values = wanted;
    }
    if (wanted.item_end != attention->scheduled_items) {
        STATUS_TRY(schedule_items(attention, (size_t)wanted.item_end));
    }
out:
    return status;
}

enum status run_launch(struct attention *attention, struct attention_bound *bound,
                       const struct run_request *request, struct event_time *time)
{
    enum status status = STATUS_OK;
    const bool checking = request->checking && attention->check_kernel != NULL;
    const cl_kernel kernel = checking ? attention->check_kernel : attention->kernel;
    *time = (struct event_time){0};
    STATUS_TRY(update_params(attention, bound, request));
    STATUS_TRY(pe_arenas_argument(bound->arenas, kernel, 0, checking, attention->own_local_bytes));
    OPENCL_TRY(clSetKernelArg(kernel, 1, sizeof(cl_mem), &bound->table));
    OPENCL_TRY(clSetKernelArg(kernel, 2, sizeof(cl_mem), &bound->params));
    OPENCL_TRY(clSetKernelArg(kernel, ARGUMENT_MARKS, sizeof(cl_mem), &bound->arenas->lines));
    if (attention->merge != NULL) {
        OPENCL_TRY(clSetKernelArg(attention->merge, 0, sizeof(cl_mem), &bound->params));
    }
    const struct launch steps[] = {{kernel, attention->pes, attention->local_size},
                                   {attention->merge, attention->pes, attention->merge_local}};
    STATUS_TRY(launch_kernels(attention->device, steps, attention->merge != NULL ? 2 : 1,
                              request->count, time));
out:
    return status;
}

enum status attention_launch(struct attention *attention, struct attention_bound *bound,
                             size_t item_end, bool poison, size_t count, struct event_time *time)
{
    const struct run_request request = {.poison = poison, .item_end = item_end, .count = count};
    return run_launch(attention, bound, &request, time);
}

enum status attention_read(struct attention *attention, float *out, float *lse)
{
    enum status status = STATUS_OK;
    STATUS_TRY(device_read(attention->device, attention->out, 0, attention->out_bytes, out));
    STATUS_TRY(device_read(attention->device, attention->lse, 0, attention->lse_bytes, lse));
out:
    return status;
}
