#include "tests/unit/fake_opencl.h"

#include "host/device/device.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_opencl fake;

/* What every cl_ pointer that is created points to. */
struct object {
    size_t references;
    struct object *parent; /* a sub-buffer's buffer */
    unsigned char *bytes;  /* a buffer's memory */
    size_t size;
    cl_ulong stamps[2]; /* an event's */
};

static const struct fake_device plain_device = {
    .name = "Fake CPU",
    .extensions = "cl_khr_byte_addressable_store cl_khr_fp64",
    .type = CL_DEVICE_TYPE_CPU,
    .align_bits = 1024,
    .max_alloc_bytes = 1u << 30,
    .local_bytes = 65536,
    .fp64 = true,
};

static const struct fake_platform plain_platform = {"Fake", &plain_device, 1, CL_SUCCESS};

void fake_opencl_reset(void)
{
    fake = (struct fake_opencl){.platforms = &plain_platform,
                                .platform_count = 1,
                                .fail_code = CL_OUT_OF_RESOURCES,
                                .work_group_size = 256,
                                .stamps = {1000, 2500},
                                .stamp_step = 10000,
                                .event_state = CL_COMPLETE,
                                .sub_buffer_align = 128};
}

/* Counts a call; the code that it is to answer. */
static cl_int called(void)
{
    return ++fake.calls == fake.fail_at ? fake.fail_code : CL_SUCCESS;
}

static void *create(cl_int *code)
{
    *code = called();
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct object *object = calloc(1, sizeof *object);
    object->references = 1;
    ++fake.live;
    return object;
}

static cl_int release(void *pointer)
{
    struct object *object = pointer;
    if (--object->references == 0) {
        if (object->parent != NULL) {
            (void)release(object->parent);
        } else {
            free(object->bytes);
        }
        free(object);
        --fake.live;
    }
    return CL_SUCCESS;
}

/* Answers a question of `size` bytes the way clGet...Info does. */
static cl_int answer(const void *from, size_t size, size_t room, void *out, size_t *needed)
{
    if (needed != NULL) {
        *needed = size;
    }
    if (out == NULL) {
        return CL_SUCCESS;
    }
    if (room < size) {
        return CL_INVALID_VALUE;
    }
    memcpy(out, from, size);
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t room, void *out, size_t *needed)
{
    return answer(text, strlen(text) + 1, room, out, needed);
}

/* Handles of platforms and devices are never followed by the code under test. */
cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    if (fake.platform_code != CL_SUCCESS) {
        return fake.platform_code;
    }
    if (count != NULL) {
        *count = (cl_uint)fake.platform_count;
    }
    for (size_t i = 0; platforms != NULL && i < room && i < fake.platform_count; ++i) {
        platforms[i] = (cl_platform_id)(uintptr_t)&fake.platforms[i];
    }
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info key, size_t room, void *out,
                         size_t *needed)
{
    const struct fake_platform *from = (const void *)platform;
    return key == CL_PLATFORM_NAME ? answer_text(from->name, room, out, needed) : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id *devices, cl_uint *count)
{
    const struct fake_platform *from = (const void *)platform;
    if (from->code != CL_SUCCESS || type != CL_DEVICE_TYPE_ALL) {
        return from->code != CL_SUCCESS ? from->code : CL_INVALID_DEVICE_TYPE;
    }
    if (count != NULL) {
        *count = (cl_uint)from->device_count;
    }
    for (size_t i = 0; devices != NULL && i < room && i < from->device_count; ++i) {
        devices[i] = (cl_device_id)(uintptr_t)&from->devices[i];
    }
    return CL_SUCCESS;
}

static const char *device_text(const struct fake_device *from, cl_device_info key)
{
    switch (key) {
    case CL_DEVICE_NAME:
        return from->name;
    case CL_DEVICE_EXTENSIONS:
        return from->extensions;
    case CL_DEVICE_VENDOR:
        return "Fake vendor";
    case CL_DEVICE_VERSION:
        return "OpenCL 1.2 PoCL fake";
    case CL_DRIVER_VERSION:
        return "1.0";
    default:
        return NULL;
    }
}

static bool device_ulong(const struct fake_device *from, cl_device_info key, cl_ulong *value)
{
    switch (key) {
    case CL_DEVICE_TYPE:
        *value = from->type;
        return true;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        *value = 4 * from->max_alloc_bytes;
        return true;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        *value = from->max_alloc_bytes;
        return true;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        *value = from->local_bytes;
        return true;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        *value = from->fp64 ? CL_FP_FMA : 0;
        return true;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        *value = 1024;
        return true;
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        *value = 1;
        return true;
    default:
        return false;
    }
}

static cl_uint device_uint(const struct fake_device *from, cl_device_info key)
{
    switch (key) {
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return CL_TRUE;
    case CL_DEVICE_COMPILER_AVAILABLE:
        return from->no_compiler ? CL_FALSE : CL_TRUE;
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return CL_LOCAL;
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return 4;
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return from->align_bits;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        return 8;
    default:
        return 0;
    }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info key, size_t room, void *out,
                       size_t *needed)
{
    const struct fake_device *from = (const void *)device;
    cl_ulong wide = 0;
    if (key == from->refused) {
        return CL_INVALID_VALUE;
    }
    if (device_text(from, key) != NULL) {
        return answer_text(device_text(from, key), room, out, needed);
    }
    if (device_ulong(from, key, &wide)) {
        return answer(&wide, sizeof wide, room, out, needed);
    }
    cl_uint narrow = device_uint(from, key);
    return answer(&narrow, sizeof narrow, room, out, needed);
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *user, cl_int *code)
{
    (void)properties, (void)count, (void)devices, (void)notify, (void)user;
    return create(code);
}

cl_int clReleaseContext(cl_context context)
{
    return release(context);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *code)
{
    (void)context, (void)device, (void)properties;
    return create(code);
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return release(queue);
}

cl_int clFinish(cl_command_queue queue)
{
    (void)queue;
    const struct timespec pause = {.tv_nsec = fake.finish_ns};
    if (fake.finish_ns > 0) {
        (void)nanosleep(&pause, NULL);
    }
    return called();
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    (void)context;
    struct object *object = create(code);
    if (object != NULL) {
        object->size = size;
        object->bytes = calloc(size, 1);
        if ((flags & CL_MEM_COPY_HOST_PTR) != 0) {
            memcpy(object->bytes, host, size);
        }
    }
    return (cl_mem)object;
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *info, cl_int *code)
{
    (void)flags, (void)type;
    struct object *parent = (struct object *)buffer;
    const cl_buffer_region *region = info;
    struct object *object = create(code);
    if (object != NULL) {
        fake.misplaced += region->origin % fake.sub_buffer_align != 0 ||
                          region->origin + region->size > parent->size;
        ++parent->references;
        object->parent = parent;
        object->size = region->size;
        object->bytes = parent->bytes + region->origin;
    }
    return (cl_mem)object;
}

cl_int clReleaseMemObject(cl_mem buffer)
{
    return release(buffer);
}

/* Whether a call on a range of a buffer may go on. */
static cl_int touch(const struct object *object, size_t offset, size_t size)
{
    bool inside = offset <= object->size && size <= object->size - offset;
    cl_int code = called();
    fake.misplaced += !inside;
    return inside ? code : CL_INVALID_VALUE;
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void *out, cl_uint waits, const cl_event *wait_list,
                           cl_event *event)
{
    (void)queue, (void)blocking, (void)waits, (void)wait_list, (void)event;
    const struct object *object = (const struct object *)buffer;
    cl_int code = touch(object, offset, size);
    if (code == CL_SUCCESS) {
        memcpy(out, object->bytes + offset, size);
    }
    return code;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void *from, cl_uint waits, const cl_event *wait_list,
                            cl_event *event)
{
    (void)queue, (void)blocking, (void)waits, (void)wait_list, (void)event;
    struct object *object = (struct object *)buffer;
    cl_int code = touch(object, offset, size);
    if (code == CL_SUCCESS) {
        memcpy(object->bytes + offset, from, size);
    }
    return code;
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint waits,
                           const cl_event *wait_list, cl_event *event)
{
    (void)queue, (void)waits, (void)wait_list, (void)event;
    const struct object *object = (const struct object *)buffer;
    cl_int code = touch(object, offset, size);
    for (size_t i = 0; code == CL_SUCCESS && i < size; i += pattern_size) {
        memcpy(object->bytes + offset + i, pattern, pattern_size);
    }
    return code;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
    (void)context, (void)count, (void)texts, (void)lengths;
    return create(code);
}

cl_int clReleaseProgram(cl_program program)
{
    return release(program);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *user)
{
    (void)program, (void)count, (void)devices, (void)notify, (void)user;
    ++fake.builds;
    (void)snprintf(fake.options, sizeof fake.options, "%s", options);
    cl_int code = called();
    return code != CL_SUCCESS ? code : fake.build_code;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info key,
                             size_t room, void *out, size_t *needed)
{
    (void)program, (void)device;
    if (key != CL_PROGRAM_BUILD_LOG || fake.build_log == NULL) {
        return CL_INVALID_VALUE;
    }
    return answer_text(fake.build_log, room, out, needed);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    (void)program, (void)name;
    return create(code);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return release(kernel);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    (void)kernel, (void)index;
    if (value == NULL) {
        fake.local_least =
            fake.local_arguments == 0 || size < fake.local_least ? size : fake.local_least;
        fake.local_most = size > fake.local_most ? size : fake.local_most;
        ++fake.local_arguments;
    }
    return called();
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info key, size_t room, void *out,
                                size_t *needed)
{
    (void)kernel, (void)device;
    cl_int code = called();
    if (code != CL_SUCCESS) {
        return code;
    }
    if (key == CL_KERNEL_WORK_GROUP_SIZE) {
        return answer(&fake.work_group_size, sizeof fake.work_group_size, room, out, needed);
    }
    return answer(&fake.kernel_local, sizeof fake.kernel_local, room, out, needed);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local;
    (void)waits, (void)wait_list;
    cl_int code = called();
    struct object *object = code == CL_SUCCESS && event != NULL ? create(&code) : NULL;
    if (object != NULL) {
        for (size_t i = 0; i < 2; ++i) {
            object->stamps[i] = fake.stamps[i] + fake.launches * fake.stamp_step;
        }
        *event = (cl_event)object;
    }
    fake.launches += code == CL_SUCCESS;
    return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info key, size_t room, void *out, size_t *needed)
{
    (void)event, (void)key;
    cl_int code = called();
    return code != CL_SUCCESS
               ? code
               : answer(&fake.event_state, sizeof fake.event_state, room, out, needed);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info key, size_t room, void *out,
                               size_t *needed)
{
    const struct object *object = (const struct object *)event;
    if (fake.stamps_code != CL_SUCCESS) {
        return fake.stamps_code;
    }
    size_t which = key == CL_PROFILING_COMMAND_END;
    return answer(&object->stamps[which], sizeof object->stamps[which], room, out, needed);
}

cl_int clReleaseEvent(cl_event event)
{
    return release(event);
}

struct device *fake_opencl_open(void)
{
    struct device_list list;
    struct device *device = NULL;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    assert_int_equal(device_open(&list.devices[0], &device), STATUS_OK);
    device_list_fini(&list);
    return device;
}

int fake_opencl_finish(void **state)
{
    (void)state;
    return fake.live == 0 && fake.misplaced == 0 ? 0 : -1;
}
