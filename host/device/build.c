#include "host/device/build.h"

#include "host/base/text.h"
#include "host/device/event.h"

#include <stdlib.h>
#include <string.h>

/* One built program, found by its two texts. */
struct build_entry {
    struct build_entry *next;
    char *source;       /* owned */
    char *options;      /* owned */
    cl_program program; /* owned; NULL until it is built */
};

struct build_cache {
    struct build_entry *first; /* newest first */
    size_t count;              /* programs really built */
    double seconds;            /* that the builds took */
};

static const char what[] = "building a kernel program";

static const char standard[] = "-cl-std=CL1.2";

/* Parts of options that trade numbers for speed. The softmax needs real infinities, and policies
 * must agree bit for bit. */
static const char *const refused[] = {
    "relaxed-math", "fast-math",  "finite-math",      "unsafe-math",
    "signed-zeros", "mad-enable", "denorms-are-zero",
};

enum status build_cache_create(struct build_cache **out)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory left");
    }
    return STATUS_OK;
}

static void destroy_entry(struct build_entry *entry)
{
    if (entry == NULL) {
        return;
    }
    if (entry->program != NULL) {
        (void)clReleaseProgram(entry->program);
    }
    free(entry->source);
    free(entry->options);
    free(entry);
}

void build_cache_destroy(struct build_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    while (cache->first != NULL) {
        struct build_entry *entry = cache->first;
        cache->first = entry->next;
        destroy_entry(entry);
    }
    free(cache);
}

size_t build_count(const struct device *device)
{
    return device->builds->count;
}

double build_seconds(const struct device *device)
{
    return device->builds->seconds;
}

static char *join(const char *first, const char *between, const char *second)
{
    size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *text = malloc(size);
    if (text != NULL) {
        struct text joined = text_begin(text, size);
        text_add(&joined, "%s%s%s", first, between, second);
    }
    return text;
}

static struct build_entry *create_entry(const char *source, const char *options)
{
    struct build_entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    entry->source = join(source, "", "");
    entry->options = join(standard, options[0] != '\0' ? " " : "", options);
    if (entry->source == NULL || entry->options == NULL) {
        destroy_entry(entry);
        return NULL;
    }
    return entry;
}

static const struct build_entry *find(const struct build_cache *cache,
                                      const struct build_entry *wanted)
{
    const struct build_entry *entry = cache->first;
    while (entry != NULL && (strcmp(entry->options, wanted->options) != 0 ||
                             strcmp(entry->source, wanted->source) != 0)) {
        entry = entry->next;
    }
    return entry;
}

/* The compiler's words, on the heap; NULL where there are none. */
static char *build_log(const struct device *device, cl_program program)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
        CL_SUCCESS) {
        return NULL;
    }
    char *log = calloc(size + 1, 1);
    if (log != NULL && (clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, size,
                                              log, NULL) != CL_SUCCESS ||
                        strspn(log, " \n") == strlen(log))) {
        free(log);
        log = NULL;
    }
    return log;
}

/* PoCL writes sources and objects into its cache folder. Where it can't, the build fails and the
 * log holds no message of the compiler. */
static bool is_cache_trouble(const struct device *device, const char *log)
{
    bool pocl = strstr(device->info.version, "PoCL") != NULL ||
                strstr(device->info.version, "pocl") != NULL || device_is_pocl(&device->info);
    return pocl && (log == NULL || strstr(log, "error") == NULL);
}

static enum status record_failure(const struct device *device, const struct build_entry *entry,
                                  cl_int code)
{
    char *log = build_log(device, entry->program);
    (void)status_record(STATUS_OPENCL, (int)code, "clBuildProgram", __FILE__, __LINE__, what,
                        "%s (%d) on %s with %s", opencl_error_name(code), (int)code,
                        device->info.name, entry->options);
    if (log != NULL) {
        status_detail(log);
    }
    if (is_cache_trouble(device, log)) {
        status_hint("the log names no error of the source: if PoCL's cache folder cannot be "
                    "written, set POCL_CACHE_DIR to a folder that can be");
    }
    free(log);
    return STATUS_OPENCL;
}

static enum status compile(struct device *device, struct build_entry *entry)
{
    enum status status = STATUS_OK;
    cl_int code = CL_SUCCESS;
    const char *text = entry->source;

    entry->program = clCreateProgramWithSource(device->context, 1, &text, NULL, &code);
    OPENCL_CHECK(code, "clCreateProgramWithSource");
    uint64_t start = event_clock_ns();
    code = clBuildProgram(entry->program, 1, &device->info.id, entry->options, NULL, NULL);
    if (code != CL_SUCCESS) {
        return record_failure(device, entry, code);
    }
    device->builds->seconds += (double)(event_clock_ns() - start) * 1e-9;
    ++device->builds->count;
out:
    return status;
}

static enum status check_options(const char *options)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        if (strstr(options, refused[i]) != NULL) {
            return STATUS_FAIL(STATUS_MISUSE, what, "options with %s change the numbers: %s",
                               refused[i], options);
        }
    }
    return STATUS_OK;
}

enum status build_program(struct device *device, const char *source, const char *options,
                          cl_program *out)
{
    enum status status = STATUS_OK;
    struct build_cache *cache = device->builds;
    struct build_entry *entry = NULL;

    *out = NULL;
    STATUS_TRY(check_options(options));
    entry = create_entry(source, options);
    if (entry == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, what, "no memory left");
        goto out;
    }
    const struct build_entry *known = find(cache, entry);
    if (known == NULL) {
        STATUS_TRY(compile(device, entry));
        entry->next = cache->first;
        cache->first = entry;
        known = entry;
        entry = NULL;
    }
    *out = known->program;
out:
    destroy_entry(entry);
    return status;
}

enum status build_kernel(struct device *device, const char *source, const char *options,
                         const char *kernel_name, cl_kernel *out)
{
    enum status status = STATUS_OK;
    cl_program program = NULL;
    cl_int code = CL_SUCCESS;

    *out = NULL;
    STATUS_TRY(build_program(device, source, options, &program));
    cl_kernel kernel = clCreateKernel(program, kernel_name, &code);
    if (code != CL_SUCCESS) {
        return status_record(STATUS_OPENCL, (int)code, "clCreateKernel", __FILE__, __LINE__, what,
                             "%s (%d) for kernel %s", opencl_error_name(code), (int)code,
                             kernel_name);
    }
    *out = kernel;
out:
    return status;
}

enum status build_kernel_limits(struct device *device, cl_kernel kernel, size_t *work_group_size,
                                size_t *local_bytes)
{
    enum status status = STATUS_OK;
    size_t items = 0;
    cl_ulong bytes = 0;

    *work_group_size = 0;
    *local_bytes = 0;
    OPENCL_TRY(clGetKernelWorkGroupInfo(kernel, device->info.id, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof items, &items, NULL));
    OPENCL_TRY(clGetKernelWorkGroupInfo(kernel, device->info.id, CL_KERNEL_LOCAL_MEM_SIZE,
                                        sizeof bytes, &bytes, NULL));
    *work_group_size = items;
    *local_bytes = (size_t)bytes;
out:
    return status;
}
