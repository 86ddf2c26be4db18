#include "host/attention/inputs.h"

#include "host/base/size.h"

#include <math.h>
#include <stdlib.h>

enum { VALUE_COUNT = 2048, VALUE_ZERO = 1024, HASH_LANES = 4 };

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014): a bijection in which every bit of the
 * input moves about half of the output's. */
static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* Hash w of a tensor holds values 4 w .. 4 w + 3: the top 11 bits of each of its 16-bit lanes. */
static uint64_t hash_of(uint64_t key, size_t w)
{
    return mix(key + ((uint64_t)w + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t lane_of(uint64_t hash, size_t lane)
{
    return (uint32_t)(hash >> (16 * lane + 5)) % VALUE_COUNT;
}

static float value_of(uint32_t number)
{
    return (float)((int32_t)number - VALUE_ZERO) * 0x1p-9F;
}

static void fill_f32(float *values, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i += HASH_LANES) {
        uint64_t hash = hash_of(key, i / HASH_LANES);
        size_t lanes = size_min(HASH_LANES, count - i);
        for (size_t lane = 0; lane < lanes; lane++) {
            values[i + lane] = value_of(lane_of(hash, lane));
        }
    }
}

static void fill_f16(uint16_t *values, size_t count, uint64_t key)
{
    uint16_t bits[VALUE_COUNT]; /* converting each value of a tensor would take most of the time */

    for (uint32_t number = 0; number < VALUE_COUNT; number++) {
        bits[number] = dtype_f16_from_f32(value_of(number));
    }
    for (size_t i = 0; i < count; i += HASH_LANES) {
        uint64_t hash = hash_of(key, i / HASH_LANES);
        size_t lanes = size_min(HASH_LANES, count - i);
        for (size_t lane = 0; lane < lanes; lane++) {
            values[i + lane] = bits[lane_of(hash, lane)];
        }
    }
}

/* One value in eight, by bits of its lane that its number does not come from. */
static void hide_some(float *values, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = hash_of(key, i / HASH_LANES);
        if ((hash >> (16 * (i % HASH_LANES))) % 8 == 0) {
            values[i] = -INFINITY;
        }
    }
}

/* So that no two tensors are related. */
enum tensor { TENSOR_Q = 1, TENSOR_K, TENSOR_V, TENSOR_SINKS, TENSOR_MASK };

static uint64_t key_of(uint64_t seed, enum tensor tensor)
{
    return mix(mix(seed) ^ (uint64_t)tensor);
}

static enum status create_array(enum dtype dtype, size_t count, uint64_t key, void **out)
{
    size_t bytes = count * dtype_bytes(dtype);
    void *array = malloc(size_max(bytes, 1));

    if (array == NULL) {
        (void)STATUS_FAIL(STATUS_NO_MEMORY, "inputs", "no memory for a tensor of %zu bytes", bytes);
        return STATUS_NO_MEMORY;
    }
    if (dtype == DTYPE_F16) {
        fill_f16(array, count, key);
    } else {
        fill_f32(array, count, key);
    }
    *out = array;
    return STATUS_OK;
}

static enum status create_tensors(const struct problem *problem, uint64_t seed,
                                  struct inputs *inputs)
{
    enum dtype dtype = problem->dtype;
    enum status status = STATUS_OK;

    STATUS_TRY(create_array(dtype, problem_q_elems(problem), key_of(seed, TENSOR_Q), &inputs->q));
    STATUS_TRY(create_array(dtype, problem_k_elems(problem), key_of(seed, TENSOR_K), &inputs->k));
    STATUS_TRY(create_array(dtype, problem_v_elems(problem), key_of(seed, TENSOR_V), &inputs->v));
out:
    return status;
}

static enum status create_options(const struct problem *problem, uint64_t seed,
                                  struct inputs *inputs)
{
    size_t mask_elems = problem->seq_q * problem->seq_kv;
    uint64_t mask_key = key_of(seed, TENSOR_MASK);
    enum status status = STATUS_OK;
    void *array = NULL;

    if (problem->sinks) {
        STATUS_TRY(create_array(DTYPE_F32, problem->q_heads, key_of(seed, TENSOR_SINKS), &array));
        inputs->sinks = array;
    }
    if (problem->mask) {
        STATUS_TRY(create_array(DTYPE_F32, mask_elems, mask_key, &array));
        inputs->mask = array;
        hide_some(inputs->mask, mask_elems, mask_key);
    }
out:
    return status;
}

enum status inputs_create(const struct problem *problem, uint64_t seed, struct inputs **out)
{
    struct inputs *inputs = NULL;
    enum status status = STATUS_OK;

    *out = NULL;
    if (!dtype_has_kernel(problem->dtype)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "dtype", "%s can be planned, but no kernel stores it",
                           dtype_name(problem->dtype));
    }
    inputs = calloc(1, sizeof(*inputs));
    if (inputs == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, "inputs", "no memory");
    }
    inputs->dtype = problem->dtype;
    STATUS_TRY(create_tensors(problem, seed, inputs));
    STATUS_TRY(create_options(problem, seed, inputs));
    *out = inputs;
    inputs = NULL;
out:
    inputs_destroy(inputs);
    return status;
}

void inputs_destroy(struct inputs *inputs)
{
    if (inputs == NULL) {
        return;
    }
    free(inputs->q);
    free(inputs->k);
    free(inputs->v);
    free(inputs->sinks);
    free(inputs->mask);
    free(inputs);
}

double inputs_value(const struct inputs *inputs, const void *array, size_t i)
{
    if (inputs->dtype == DTYPE_F16) {
        return (double)dtype_f32_from_f16(((const uint16_t *)array)[i]);
    }
    return (double)((const float *)array)[i];
}
