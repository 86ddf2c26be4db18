#include "host/device/pe_arenas.h"

#include "host/base/size.h"
#include "host/base/units.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "kernels/kernels.h"

#include <stdlib.h>

/* Work-items of a work-group of paint and scan, where the device can run that many. */
enum { LOCAL_ITEMS = 64 };

/* Bytes that `lines` keeps of one line: the last touched byte of the pool's part, and of the
 * guard's part (scan.cl). */
enum { MARK_POOL, MARK_GUARD, MARKS };

static const char what[] = "PE arenas";

const char *pe_arenas_space_name(enum pe_arenas_space space)
{
    return space == PE_ARENAS_LOCAL ? "local" : "global";
}

static bool is_local(const struct pe_arenas *arenas)
{
    return arenas->shape.space == PE_ARENAS_LOCAL;
}

static size_t greatest_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Strides are whole lines and start where a sub-buffer may start: a multiple of both. */
static bool stride_alignment(size_t base_align_bytes, size_t *out)
{
    size_t base = size_max(base_align_bytes, 1);
    return size_mul(base / greatest_divisor(base, PE_ARENAS_LINE_BYTES), PE_ARENAS_LINE_BYTES, out);
}

static enum status check_shape(const struct pe_arenas_shape *shape)
{
    if (shape->pes == 0 || shape->pool_bytes == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "%zu PEs with %zu bytes each", shape->pes,
                           shape->pool_bytes);
    }
    if (shape->shift_bytes % PE_ARENAS_LINE_BYTES != 0 ||
        shape->guard_bytes % PE_ARENAS_LINE_BYTES != 0 ||
        shape->guard_bytes < PE_ARENAS_LINE_BYTES ||
        shape->guard_bytes - PE_ARENAS_LINE_BYTES < shape->shift_bytes) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "a guard of %zu bytes and a shift of %zu: both must be multiples of %d, "
                           "and the guard %d larger than the shift",
                           shape->guard_bytes, shape->shift_bytes, PE_ARENAS_LINE_BYTES,
                           PE_ARENAS_LINE_BYTES);
    }
    if (shape->space == PE_ARENAS_LOCAL && shape->shift_bytes != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "a shift of %zu bytes in local memory",
                           shape->shift_bytes);
    }
    return STATUS_OK;
}

static enum status check_limit(const struct pe_arenas_shape *shape, size_t limit_bytes)
{
    char asked[UNITS_TEXT_BYTES];
    char limit[UNITS_TEXT_BYTES];
    const bool local = shape->space == PE_ARENAS_LOCAL;
    const size_t bytes = local ? shape->stride_bytes : shape->total_bytes;

    if (bytes <= limit_bytes) {
        return STATUS_OK;
    }
    return STATUS_FAIL(
        STATUS_NO_SPACE, what,
        "%zu PEs with %zu bytes each take %zu bytes (%s) %s, the device's limit is %zu (%s)",
        shape->pes, shape->pool_bytes, bytes, units_format_bytes(bytes, asked),
        local ? "of local memory each" : "in one buffer", limit_bytes,
        units_format_bytes(limit_bytes, limit));
}

enum status pe_arenas_layout(size_t base_align_bytes, size_t limit_bytes,
                             struct pe_arenas_shape *shape)
{
    enum status status = STATUS_OK;
    size_t alignment = 0;
    const size_t base = shape->space == PE_ARENAS_LOCAL ? 1 : base_align_bytes;

    shape->stride_bytes = 0;
    shape->total_bytes = 0;
    STATUS_TRY(check_shape(shape));
    if (!stride_alignment(base, &alignment) ||
        !size_add(shape->pool_bytes, shape->guard_bytes, &shape->stride_bytes) ||
        !size_align_up(shape->stride_bytes, alignment, &shape->stride_bytes) ||
        !size_mul(shape->stride_bytes, shape->pes, &shape->total_bytes)) {
        shape->stride_bytes = 0;
        return STATUS_FAIL(STATUS_RANGE, what, "%zu PEs with %zu bytes each are too many bytes",
                           shape->pes, shape->pool_bytes);
    }
    STATUS_TRY(check_limit(shape, limit_bytes));
out:
    return status;
}

size_t pe_arenas_local_pool(size_t local_bytes)
{
    const size_t guard = PE_ARENAS_LOCAL_GUARD_BYTES;
    return local_bytes > guard ? (local_bytes - guard) / PE_ARENAS_LINE_BYTES * PE_ARENAS_LINE_BYTES
                               : 0;
}

static size_t line_count(const struct pe_arenas *arenas)
{
    return arenas->shape.total_bytes / PE_ARENAS_LINE_BYTES;
}

/* Arguments that stay the same for the life of the arenas. */
static enum status bind_arguments(struct pe_arenas *arenas)
{
    enum status status = STATUS_OK;
    cl_ulong lines = line_count(arenas);
    cl_ulong stride = arenas->shape.stride_bytes;
    cl_ulong begin = arenas->shape.shift_bytes;
    cl_ulong end = begin + arenas->shape.pool_bytes;

    OPENCL_TRY(clSetKernelArg(arenas->paint, 0, sizeof arenas->buffer, &arenas->buffer));
    OPENCL_TRY(clSetKernelArg(arenas->paint, 1, sizeof lines, &lines));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 0, sizeof arenas->buffer, &arenas->buffer));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 1, sizeof arenas->lines, &arenas->lines));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 2, sizeof lines, &lines));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 3, sizeof stride, &stride));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 4, sizeof begin, &begin));
    OPENCL_TRY(clSetKernelArg(arenas->scan, 5, sizeof end, &end));
out:
    return status;
}

/* What the host needs to paint and scan them itself. */
static enum status create_buffer(struct pe_arenas *arenas)
{
    enum status status = STATUS_OK;
    struct device *device = arenas->device;

    STATUS_TRY(build_kernel(device, kernels_paint, "", "paint", &arenas->paint));
    STATUS_TRY(build_kernel(device, kernels_scan, "", "scan", &arenas->scan));
    STATUS_TRY(
        device_buffer(device, CL_MEM_READ_WRITE, arenas->shape.total_bytes, NULL, &arenas->buffer));
    STATUS_TRY(bind_arguments(arenas));
out:
    return status;
}

enum status pe_arenas_create(struct device *device, struct pe_arenas_shape shape,
                             struct pe_arenas **out)
{
    enum status status = STATUS_OK;
    struct pe_arenas *arenas = NULL;
    const struct device_info *info = &device->info;
    const bool local = shape.space == PE_ARENAS_LOCAL;

    *out = NULL;
    STATUS_TRY(pe_arenas_layout(info->base_align_bytes,
                                local ? info->local_bytes : info->max_alloc_bytes, &shape));
    arenas = calloc(1, sizeof *arenas);
    if (arenas == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory left");
        goto out;
    }
    arenas->device = device;
    arenas->shape = shape;
    STATUS_TRY(
        device_buffer(device, CL_MEM_READ_WRITE, line_count(arenas) * MARKS, NULL, &arenas->lines));
    if (!local) {
        STATUS_TRY(create_buffer(arenas));
    }
    STATUS_TRY(pe_arenas_reset(arenas));
    *out = arenas;
    arenas = NULL;
out:
    pe_arenas_destroy(arenas);
    return status;
}

void pe_arenas_destroy(struct pe_arenas *arenas)
{
    if (arenas == NULL) {
        return;
    }
    if (arenas->paint != NULL) {
        (void)clReleaseKernel(arenas->paint);
    }
    if (arenas->scan != NULL) {
        (void)clReleaseKernel(arenas->scan);
    }
    if (arenas->lines != NULL) {
        (void)clReleaseMemObject(arenas->lines);
    }
    if (arenas->buffer != NULL) {
        (void)clReleaseMemObject(arenas->buffer);
    }
    free(arenas);
}

/* Written from the host, whole: simulators that track what is initialised lose sight of a buffer
 * that is filled in pieces. */
enum status pe_arenas_reset(struct pe_arenas *arenas)
{
    size_t bytes = line_count(arenas) * MARKS;
    cl_uchar *zeros = calloc(bytes, 1);
    if (zeros == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory left for %zu bytes", bytes);
    }
    enum status status = device_write(arenas->device, arenas->lines, 0, bytes, zeros);
    free(zeros);
    return status;
}

/* One work-item a line, in whole work-groups. */
static enum status launch_lines(struct pe_arenas *arenas, cl_kernel kernel, cl_uint value_index,
                                unsigned char value)
{
    enum status status = STATUS_OK;
    struct event_time time;
    cl_uint wide = value;
    size_t items = 0;
    size_t local_bytes = 0;

    OPENCL_TRY(clSetKernelArg(kernel, value_index, sizeof wide, &wide));
    STATUS_TRY(build_kernel_limits(arenas->device, kernel, &items, &local_bytes));
    items = size_min(items, LOCAL_ITEMS);
    STATUS_TRY(launch_kernel(arenas->device, kernel, size_div_up(line_count(arenas), items), items,
                             1, &time));
out:
    return status;
}

enum status pe_arenas_argument(const struct pe_arenas *arenas, cl_kernel kernel, cl_uint index,
                               bool guarded, size_t own_bytes)
{
    enum status status = STATUS_OK;
    const struct pe_arenas_shape *shape = &arenas->shape;

    if (is_local(arenas)) {
        const size_t guard = guarded ? 0 : shape->guard_bytes;
        return launch_local_argument(arenas->device, kernel, index, shape->stride_bytes - guard,
                                     own_bytes);
    }
    OPENCL_TRY(clSetKernelArg(kernel, index, sizeof arenas->buffer, &arenas->buffer));
out:
    return status;
}

enum status pe_arenas_paint(struct pe_arenas *arenas, unsigned char value)
{
    if (is_local(arenas)) {
        arenas->painted = value;
        return STATUS_OK;
    }
    return launch_lines(arenas, arenas->paint, 2, value);
}

enum status pe_arenas_scan(struct pe_arenas *arenas, unsigned char value)
{
    return is_local(arenas) ? STATUS_OK : launch_lines(arenas, arenas->scan, 6, value);
}

/* Adds the marks of one PE's lines. Shift and stride are whole lines, so the pool's first byte is
 * the first one of a line. */
static void add_pe(const struct pe_arenas_shape *shape, const cl_uchar *marks, size_t pe,
                   struct pe_arenas_touch *touch)
{
    size_t lines = 0;
    for (size_t i = 0; i < shape->stride_bytes / PE_ARENAS_LINE_BYTES; ++i) {
        const cl_uchar *mark = marks + i * MARKS;
        size_t start = i * PE_ARENAS_LINE_BYTES;
        if (mark[MARK_POOL] != 0) {
            size_t end = start - shape->shift_bytes + mark[MARK_POOL];
            touch->peak_bytes = size_max(touch->peak_bytes, end);
            ++lines;
        }
        if (mark[MARK_GUARD] != 0 && touch->guards_intact) {
            touch->guards_intact = false;
            touch->damaged_pe = pe;
            touch->damaged_at = start;
        }
    }
    touch->touched_lines = size_max(touch->touched_lines, lines);
}

enum status pe_arenas_measure(struct pe_arenas *arenas, struct pe_arenas_touch *out)
{
    enum status status = STATUS_OK;
    const struct pe_arenas_shape *shape = &arenas->shape;
    struct pe_arenas_touch touch = {.guards_intact = true};
    size_t bytes = line_count(arenas) * MARKS;
    cl_uchar *marks = NULL;

    *out = (struct pe_arenas_touch){0};
    marks = malloc(bytes);
    if (marks == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory left for %zu bytes", bytes);
    }
    STATUS_TRY(device_read(arenas->device, arenas->lines, 0, bytes, marks));
    for (size_t pe = 0; pe < shape->pes; ++pe) {
        add_pe(shape, marks + pe * (bytes / shape->pes), pe, &touch);
    }
    *out = touch;
out:
    free(marks);
    return status;
}

static enum status read_region(struct pe_arenas *arenas, const cl_buffer_region *region,
                               size_t offset, size_t bytes, void *out)
{
    enum status status = STATUS_OK;
    cl_int code = CL_SUCCESS;
    cl_mem part = clCreateSubBuffer(arenas->buffer, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION,
                                    region, &code);
    OPENCL_CHECK(code, "clCreateSubBuffer");
    STATUS_TRY(device_read(arenas->device, part, offset, bytes, out));
    STATUS_TRY(device_finish(arenas->device));
out:
    if (part != NULL) {
        (void)clReleaseMemObject(part);
    }
    return status;
}

enum status pe_arenas_dump(struct pe_arenas *arenas, size_t pe, size_t offset, size_t bytes,
                           void *out)
{
    enum status status = STATUS_OK;
    const struct pe_arenas_shape *shape = &arenas->shape;

    if (is_local(arenas)) {
        return STATUS_FAIL(STATUS_MISUSE, what, "local memory is gone when its kernel is done");
    }
    if (pe >= shape->pes || offset > shape->pool_bytes || bytes > shape->pool_bytes - offset) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "%zu bytes at %zu of PE %zu: there are %zu PEs with %zu bytes each",
                           bytes, offset, pe, shape->pes, shape->pool_bytes);
    }
    /* From the stride's start on: the pool's may not be where a sub-buffer may start. */
    cl_buffer_region region = {pe * shape->stride_bytes, shape->stride_bytes};
    STATUS_TRY(device_finish(arenas->device));
    STATUS_TRY(read_region(arenas, &region, shape->shift_bytes + offset, bytes, out));
out:
    return status;
}
