/* Input tensors on the host, in their storage type, and seeded random ones.
 *
 * Random values are multiples of 2^-9 in [-2, 2): exact in f16, so that every storage type gets
 * the same numbers. Value i of a tensor depends on the seed, the tensor and i alone. Random masks
 * hide about one key in eight (-inf) and add a multiple of 2^-9 in [-2, 2) elsewhere; random sinks
 * are in [-2, 2). */
#ifndef HOST_ATTENTION_INPUTS_H
#define HOST_ATTENTION_INPUTS_H

#include "host/attention/problem.h"

#include <stdint.h>

struct inputs {
    enum dtype dtype; /* of the three arrays: f32 (float) or f16 (uint16_t) */
    void *q;          /* problem_q_elems, owned; never NULL */
    void *k;          /* problem_k_elems, owned; never NULL, even with seq_kv 0 */
    void *v;          /* problem_v_elems, owned; never NULL, even with seq_kv 0 */
    float *sinks;     /* [q_heads], owned; NULL unless problem.sinks */
    float *mask;      /* [seq_q, seq_kv], owned; NULL unless problem.mask */
};

/* STATUS_BAD_INPUT: a dtype without a kernel; STATUS_NO_MEMORY. *out is NULL on failure. */
enum status inputs_create(const struct problem *problem, uint64_t seed,
                          struct inputs **out) STATUS_MUST_USE;
void inputs_destroy(struct inputs *inputs);

/* Element i of one of the arrays as a double. */
double inputs_value(const struct inputs *inputs, const void *array, size_t i);

#endif
