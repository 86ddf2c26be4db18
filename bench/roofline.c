/* Each figure is the best of several launches: a peak is what the device reaches when nothing else
 * holds it up, and STREAM and its kin report it so. */
#include "bench/roofline.h"

#include "host/base/size.h"
#include "host/device/build.h"
#include "host/device/launch.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RUNS = 15,
    PROBE_RUNS = 3,
    CHAINS = 12,      /* kernels/roofline.cl */
    STREAMS = 8,      /* kernels/roofline.cl */
    GPU_LOCAL = 256,  /* work-items of a group where groups cooperate */
    GPU_GROUPS = 8,   /* groups a PE there, so that latency is hidden */
    LINE_FLOATS = 16, /* slices are whole lines */
};

static const double run_ns = 1e7; /* aimed-at length of a launch: far above its overhead */
static const size_t memory_bytes_least = (size_t)64 << 20;

struct bench {
    struct device *device;
    size_t width;  /* floats in a vector */
    size_t groups; /* work-groups */
    size_t local;  /* work-items of a group */
    cl_kernel fma;
    cl_kernel read;
    cl_mem out;
    cl_mem data;
};

static enum status bench_init(struct bench *bench, struct device *device, size_t pes)
{
    enum status status = STATUS_OK;
    const bool cpu = device->info.type == DEVICE_CPU;
    size_t limit = 0, own = 0, global = 0;
    char options[64];
    *bench = (struct bench){.device = device,
                            .width = device_vector_width(&device->info),
                            .groups = cpu ? pes : pes * GPU_GROUPS,
                            .local = 1};
    snprintf(options, sizeof options, "-DVECTOR_WIDTH=%zu", bench->width);
    STATUS_TRY(build_kernel(device, kernels_roofline, options, "fma_peak", &bench->fma));
    STATUS_TRY(build_kernel(device, kernels_roofline, options, "read_peak", &bench->read));
    if (!cpu) {
        STATUS_TRY(build_kernel_limits(device, bench->read, &limit, &own));
        bench->local = size_min(GPU_LOCAL, limit);
        STATUS_TRY(build_kernel_limits(device, bench->fma, &limit, &own));
        bench->local = size_min(bench->local, limit);
    }
    if (!size_mul(bench->groups, bench->local, &global)) {
        return STATUS_FAIL(STATUS_RANGE, "roofline", "%zu PEs are too many", pes);
    }
    STATUS_TRY(device_buffer(device, CL_MEM_WRITE_ONLY, global * sizeof(float), NULL, &bench->out));
out:
    return status;
}

static void bench_fini(struct bench *bench)
{
    if (bench->fma != NULL) {
        clReleaseKernel(bench->fma);
    }
    if (bench->read != NULL) {
        clReleaseKernel(bench->read);
    }
    if (bench->out != NULL) {
        clReleaseMemObject(bench->out);
    }
    if (bench->data != NULL) {
        clReleaseMemObject(bench->data);
    }
}

static double time_of(const struct event_time *time)
{
    return time->sane ? time->event_ns : time->host_ns;
}

/* The kernel's ulong argument `index` is how much it does: grows it until a launch takes run_ns,
 * and gives the least ns for one unit of it. */
static enum status time_kernel(struct bench *bench, cl_kernel kernel, cl_uint index, double *ns)
{
    enum status status = STATUS_OK;
    struct event_time time = {0};
    double best = (double)INFINITY;
    cl_ulong units = 1;
    for (bool enough = false; !enough; units = enough ? units : units * 2) {
        OPENCL_TRY(clSetKernelArg(kernel, index, sizeof units, &units));
        STATUS_TRY(launch_kernel(bench->device, kernel, bench->groups, bench->local, 1, &time));
        enough = time_of(&time) >= run_ns || units >= (cl_ulong)1 << 40;
    }
    for (size_t i = 0; i < RUNS; ++i) {
        STATUS_TRY(launch_kernel(bench->device, kernel, bench->groups, bench->local, 1, &time));
        best = fmin(best, time_of(&time) / (double)units);
    }
    *ns = best;
out:
    return status;
}

/* FLOP in one unit of fma_peak. */
static double fma_flop(const struct bench *bench)
{
    return 2.0 * (double)(bench->width * CHAINS) * (double)(bench->groups * bench->local);
}

static enum status set_fma(struct bench *bench)
{
    enum status status = STATUS_OK;
    const float a = 0.999F, b = 0.001F;
    OPENCL_TRY(clSetKernelArg(bench->fma, 0, sizeof(cl_mem), &bench->out));
    OPENCL_TRY(clSetKernelArg(bench->fma, 2, sizeof a, &a));
    OPENCL_TRY(clSetKernelArg(bench->fma, 3, sizeof b, &b));
out:
    return status;
}

static enum status measure_fma(struct bench *bench, double *gflops)
{
    enum status status = STATUS_OK;
    double ns = 0.0;
    STATUS_TRY(set_fma(bench));
    STATUS_TRY(time_kernel(bench, bench->fma, 1, &ns));
    *gflops = fma_flop(bench) / ns;
out:
    return status;
}

/* About `wanted` bytes in all, in equal slices of whole steps: *bytes. */
static enum status set_read(struct bench *bench, size_t wanted, size_t *bytes)
{
    enum status status = STATUS_OK;
    const size_t step = bench->width * STREAMS * bench->local;
    const size_t slice =
        size_max(wanted / bench->groups / sizeof(float) / step, 1) * step; /* floats */
    const cl_ulong vectors = slice / bench->width;
    *bytes = slice * bench->groups * sizeof(float);
    OPENCL_TRY(clSetKernelArg(bench->read, 0, sizeof(cl_mem), &bench->data));
    OPENCL_TRY(clSetKernelArg(bench->read, 1, sizeof(cl_mem), &bench->out));
    OPENCL_TRY(clSetKernelArg(bench->read, 2, sizeof vectors, &vectors));
out:
    return status;
}

static enum status measure_read(struct bench *bench, size_t wanted, struct roofline_read *read)
{
    enum status status = STATUS_OK;
    double ns = 0.0;
    STATUS_TRY(set_read(bench, wanted, &read->bytes));
    STATUS_TRY(time_kernel(bench, bench->read, 3, &ns));
    read->gb_per_s = (double)read->bytes / ns;
out:
    return status;
}

/* Half of what each cache holds for all PEs; far more than the last one for memory, as far as the
 * device can hold it. */
static size_t choose_sizes(const struct bench *bench, const struct roofline_request *request,
                           struct roofline_read *reads)
{
    const struct topology *topology = request->topology;
    size_t count = 0, last = 0;
    if (bench->device->info.type == DEVICE_CPU) {
        for (size_t i = 0; i < topology->cache_count && count + 1 < ROOFLINE_MAX_SIZES; ++i) {
            const struct topology_cache *cache = &topology->caches[i];
            const size_t used = size_min(cache->count, size_div_up(request->pes, cache->cores_per));
            last = cache->bytes * size_max(used, 1);
            reads[count++] = (struct roofline_read){.bytes = last / 2, .level = cache->level};
        }
    }
    const size_t wanted = size_max(memory_bytes_least, 8 * last);
    const size_t memory = size_min(wanted, bench->device->info.max_alloc_bytes / 2);
    while (count > 0 && reads[count - 1].bytes >= memory) {
        --count;
    }
    reads[count++] = (struct roofline_read){.bytes = memory};
    return count;
}

static enum status create_data(struct bench *bench, size_t bytes)
{
    enum status status = STATUS_OK;
    const size_t slack = bench->groups * bench->local * bench->width * STREAMS * sizeof(float);
    const cl_float zero = 0.0F;
    const size_t all = (bytes + slack) / LINE_FLOATS * LINE_FLOATS;
    STATUS_TRY(device_buffer(bench->device, CL_MEM_READ_ONLY, all, NULL, &bench->data));
    OPENCL_TRY(clEnqueueFillBuffer(bench->device->queue, bench->data, &zero, sizeof zero, 0,
                                   all / sizeof zero * sizeof zero, 0, NULL, NULL));
out:
    return status;
}

static enum status poll(const struct roofline_request *request)
{
    if (request->interrupted != NULL && request->interrupted(request->user)) {
        return STATUS_FAIL(STATUS_INTERRUPTED, "roofline", "interrupted");
    }
    return STATUS_OK;
}

enum status roofline_measure(struct device *device, const struct roofline_request *request,
                             struct roofline *out)
{
    enum status status = STATUS_OK;
    struct bench bench = {0};
    struct roofline roofline = {.pes = request->pes};
    *out = (struct roofline){0};
    STATUS_TRY(poll(request));
    STATUS_TRY(bench_init(&bench, device, request->pes));
    STATUS_TRY(poll(request));
    STATUS_TRY(measure_fma(&bench, &roofline.fma_gflops));
    roofline.read_count = choose_sizes(&bench, request, roofline.reads);
    STATUS_TRY(create_data(&bench, roofline.reads[roofline.read_count - 1].bytes));
    for (size_t i = 0; i < roofline.read_count; ++i) {
        STATUS_TRY(poll(request));
        STATUS_TRY(measure_read(&bench, roofline.reads[i].bytes, &roofline.reads[i]));
    }
    *out = roofline;
out:
    bench_fini(&bench);
    return status;
}

struct roofline_probe {
    struct bench bench; /* all arguments of its kernels are set */
    double fma_flop;    /* of one launch */
    double read_bytes;  /* of one launch */
};

void roofline_probe_destroy(struct roofline_probe *probe)
{
    if (probe != NULL) {
        bench_fini(&probe->bench);
        free(probe);
    }
}

/* Both kernels do what takes run_ns at the speed that was measured. */
static enum status set_probe(struct roofline_probe *probe, const struct roofline *roofline)
{
    enum status status = STATUS_OK;
    struct bench *bench = &probe->bench;
    size_t bytes = 0;
    STATUS_TRY(create_data(bench, roofline->reads[roofline->read_count - 1].bytes));
    STATUS_TRY(set_fma(bench));
    STATUS_TRY(set_read(bench, roofline->reads[roofline->read_count - 1].bytes, &bytes));
    const double memory = roofline_memory_gb_per_s(roofline);
    const cl_ulong steps = 1 + (cl_ulong)(run_ns * roofline->fma_gflops / fma_flop(bench));
    const cl_ulong passes = 1 + (cl_ulong)(run_ns * memory / (double)bytes / 2.0);
    OPENCL_TRY(clSetKernelArg(bench->fma, 1, sizeof steps, &steps));
    OPENCL_TRY(clSetKernelArg(bench->read, 3, sizeof passes, &passes));
    probe->fma_flop = fma_flop(bench) * (double)steps;
    probe->read_bytes = (double)bytes * (double)passes;
out:
    return status;
}

enum status roofline_probe_create(struct device *device, const struct roofline *roofline,
                                  struct roofline_probe **out)
{
    enum status status = STATUS_OK;
    struct roofline_probe *probe = NULL;
    *out = NULL;
    if (roofline->read_count == 0) {
        return STATUS_FAIL(STATUS_MISUSE, "roofline_probe_create", "nothing was measured");
    }
    probe = calloc(1, sizeof *probe);
    if (probe == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "roofline probe", "%zu bytes", sizeof *probe);
    }
    STATUS_TRY(bench_init(&probe->bench, device, roofline->pes));
    STATUS_TRY(set_probe(probe, roofline));
    *out = probe;
    probe = NULL;
out:
    roofline_probe_destroy(probe);
    return status;
}

enum status roofline_probe_run(struct roofline_probe *probe, struct roofline_peaks *peaks)
{
    enum status status = STATUS_OK;
    struct bench *bench = &probe->bench;
    struct event_time time = {0};
    for (size_t i = 0; i < PROBE_RUNS; ++i) {
        STATUS_TRY(launch_kernel(bench->device, bench->fma, bench->groups, bench->local, 1, &time));
        peaks->fma_gflops = fmax(peaks->fma_gflops, probe->fma_flop / time_of(&time));
        STATUS_TRY(
            launch_kernel(bench->device, bench->read, bench->groups, bench->local, 1, &time));
        peaks->memory_gb_per_s = fmax(peaks->memory_gb_per_s, probe->read_bytes / time_of(&time));
    }
out:
    return status;
}

double roofline_memory_gb_per_s(const struct roofline *roofline)
{
    return roofline->read_count > 0 ? roofline->reads[roofline->read_count - 1].gb_per_s : 0.0;
}

double roofline_bound_gflops(const struct roofline *roofline, double flops, double bytes)
{
    const double fed =
        bytes > 0.0 ? roofline_memory_gb_per_s(roofline) * flops / bytes : roofline->fma_gflops;
    return fed < roofline->fma_gflops ? fed : roofline->fma_gflops;
}
