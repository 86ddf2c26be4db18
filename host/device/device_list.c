/* Asks every platform for its devices and every device for what is sized on it. A platform or a
 * device that will not answer makes neither the listing nor its neighbours fail. */
#include "host/base/text.h"
#include "host/device/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* cl_ext.h has it: the loader found no driver. */
enum { PLATFORM_NOT_FOUND_KHR = -1001 };

/* Reads one device; `ok` falls to false at the first question it does not answer. */
struct reader {
    cl_device_id id;
    bool ok;
};

static void read_field(struct reader *reader, cl_device_info key, size_t bytes, void *out)
{
    if (clGetDeviceInfo(reader->id, key, bytes, out, NULL) != CL_SUCCESS) {
        memset(out, 0, bytes);
        reader->ok = false;
    }
}

static bool read_bool(struct reader *reader, cl_device_info key)
{
    cl_bool value = CL_FALSE;
    read_field(reader, key, sizeof value, &value);
    return value != CL_FALSE;
}

static size_t read_uint(struct reader *reader, cl_device_info key)
{
    cl_uint value = 0;
    read_field(reader, key, sizeof value, &value);
    return value;
}

static size_t read_size(struct reader *reader, cl_device_info key)
{
    size_t value = 0;
    read_field(reader, key, sizeof value, &value);
    return value;
}

static size_t read_ulong(struct reader *reader, cl_device_info key)
{
    cl_ulong value = 0;
    read_field(reader, key, sizeof value, &value);
    return value < SIZE_MAX ? (size_t)value : SIZE_MAX;
}

/* A text of any length, on the heap; NULL where there is none. */
static char *read_text(cl_device_id id, cl_device_info key)
{
    size_t size = 0;
    if (clGetDeviceInfo(id, key, 0, NULL, &size) != CL_SUCCESS || size == 0) {
        return NULL;
    }
    char *text = calloc(size + 1, 1);
    if (text != NULL && clGetDeviceInfo(id, key, size, text, NULL) != CL_SUCCESS) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Drivers pad names with spaces. */
static void copy_trimmed(char out[DEVICE_NAME_BYTES], char *from)
{
    struct text text = text_begin(out, DEVICE_NAME_BYTES);
    size_t length = strlen(from);
    while (length > 0 && isspace((unsigned char)from[length - 1])) {
        from[--length] = '\0';
    }
    while (isspace((unsigned char)*from)) {
        ++from;
    }
    text_add(&text, "%s", from);
}

static void read_name(struct reader *reader, cl_device_info key, char out[DEVICE_NAME_BYTES])
{
    char *text = read_text(reader->id, key);
    out[0] = '\0';
    if (text == NULL) {
        reader->ok = false;
        return;
    }
    copy_trimmed(out, text);
    free(text);
}

static void read_platform_name(cl_platform_id platform, char out[DEVICE_NAME_BYTES])
{
    size_t size = 0;
    out[0] = '\0';
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, NULL, &size) != CL_SUCCESS) {
        return;
    }
    char *text = calloc(size + 1, 1);
    if (text != NULL &&
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text, NULL) == CL_SUCCESS) {
        copy_trimmed(out, text);
    }
    free(text);
}

/* Whether the device's extensions, separated by spaces, hold `name` as a whole word. */
static bool has_extension(cl_device_id id, const char *name)
{
    char *text = read_text(id, CL_DEVICE_EXTENSIONS);
    bool found = false;
    char *rest = NULL;
    char *word = text != NULL ? strtok_r(text, " ", &rest) : NULL;
    while (word != NULL && !found) {
        found = strcmp(word, name) == 0;
        word = strtok_r(NULL, " ", &rest);
    }
    free(text);
    return found;
}

static bool has_double(cl_device_id id)
{
    cl_device_fp_config config = 0;
    return clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) ==
               CL_SUCCESS &&
           config != 0;
}

static enum device_type read_type(struct reader *reader)
{
    cl_device_type type = 0;
    read_field(reader, CL_DEVICE_TYPE, sizeof type, &type);
    if ((type & CL_DEVICE_TYPE_CPU) != 0) {
        return DEVICE_CPU;
    }
    return (type & CL_DEVICE_TYPE_GPU) != 0 ? DEVICE_GPU : DEVICE_OTHER;
}

static bool local_is_dedicated(struct reader *reader)
{
    cl_device_local_mem_type type = 0;
    read_field(reader, CL_DEVICE_LOCAL_MEM_TYPE, sizeof type, &type);
    return type == CL_LOCAL;
}

static size_t at_least_one(size_t value)
{
    return value > 0 ? value : 1;
}

static void read_limits(struct reader *reader, struct device_info *info)
{
    info->compute_units = at_least_one(read_uint(reader, CL_DEVICE_MAX_COMPUTE_UNITS));
    info->max_work_group_size = at_least_one(read_size(reader, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    info->global_bytes = read_ulong(reader, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_alloc_bytes = read_ulong(reader, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->local_bytes = read_ulong(reader, CL_DEVICE_LOCAL_MEM_SIZE);
    info->local_is_dedicated = local_is_dedicated(reader);
    info->base_align_bytes = at_least_one(read_uint(reader, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    info->float_vector_width = at_least_one(read_uint(reader, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
    info->timer_resolution_ns = read_size(reader, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
}

static struct device_info read_device(cl_platform_id platform, cl_device_id id, size_t index)
{
    struct reader reader = {id, true};
    struct device_info info = {.index = index, .platform = platform, .id = id};

    info.type = read_type(&reader);
    read_name(&reader, CL_DEVICE_NAME, info.name);
    read_name(&reader, CL_DEVICE_VENDOR, info.vendor);
    read_name(&reader, CL_DEVICE_VERSION, info.version);
    read_name(&reader, CL_DRIVER_VERSION, info.driver);
    read_platform_name(platform, info.platform_name);
    info.little_endian = read_bool(&reader, CL_DEVICE_ENDIAN_LITTLE);
    info.fp16 = has_extension(id, "cl_khr_fp16");
    info.fp64 = has_double(id);
    read_limits(&reader, &info);
    bool compiler = read_bool(&reader, CL_DEVICE_COMPILER_AVAILABLE);
    info.available = read_bool(&reader, CL_DEVICE_AVAILABLE) && compiler && reader.ok;
    return info;
}

static void note_platform_error(struct device_list *list, cl_int code)
{
    if (code != CL_SUCCESS && code != CL_DEVICE_NOT_FOUND && list->platform_error == 0) {
        list->platform_error = (int)code;
    }
}

static enum status append_devices(struct device_list *list, cl_platform_id platform,
                                  const cl_device_id *ids, size_t count)
{
    struct device_info *grown =
        realloc(list->devices, (list->count + count) * sizeof *list->devices);
    if (grown == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "listing the OpenCL devices", "no memory left");
    }
    list->devices = grown;
    for (size_t i = 0; i < count; ++i) {
        grown[list->count] = read_device(platform, ids[i], list->count);
        ++list->count;
    }
    return STATUS_OK;
}

static enum status add_platform(struct device_list *list, cl_platform_id platform)
{
    enum status status = STATUS_OK;
    cl_uint count = 0;
    cl_device_id *ids = NULL;

    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code != CL_SUCCESS || count == 0) {
        note_platform_error(list, code);
        return STATUS_OK;
    }
    ids = calloc(count, sizeof(cl_device_id));
    if (ids == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "listing the OpenCL devices", "no memory left");
    }
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids, NULL);
    note_platform_error(list, code);
    if (code == CL_SUCCESS) {
        status = append_devices(list, platform, ids, count);
    }
    free(ids);
    return status;
}

enum status device_list_init(struct device_list *list)
{
    enum status status = STATUS_OK;
    cl_uint count = 0;
    cl_platform_id *platforms = NULL;

    *list = (struct device_list){NULL, 0, 0, 0};
    cl_int code = clGetPlatformIDs(0, NULL, &count);
    if (code == PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && count == 0)) {
        return STATUS_OK;
    }
    OPENCL_CHECK(code, "clGetPlatformIDs");
    platforms = calloc(count, sizeof(cl_platform_id));
    if (platforms == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "listing the OpenCL devices", "no memory left");
        goto out;
    }
    OPENCL_TRY(clGetPlatformIDs(count, platforms, NULL));
    list->platform_count = count;
    for (cl_uint i = 0; i < count; ++i) {
        STATUS_TRY(add_platform(list, platforms[i]));
    }
out:
    free(platforms);
    if (status != STATUS_OK) {
        device_list_fini(list);
    }
    return status;
}

void device_list_fini(struct device_list *list)
{
    free(list->devices);
    *list = (struct device_list){NULL, 0, 0, 0};
}
