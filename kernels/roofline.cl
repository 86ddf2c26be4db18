/* What the device can do at most: multiply-adds, and reads of memory.
 *
 *     fma_peak:  x_i = fma(x_i, a, b) in CHAINS independent chains of vectors
 *     read_peak: sum over all vectors of a slice, pass after pass
 *
 * Source of the terms: Williams, Waterman and Patterson 2009, the roofline model.
 *
 * Work: global size = groups x local size. out [global size] f32: one sum a work-item, so that
 * nothing can be optimised away. fma_peak: 2 x VECTOR_WIDTH x CHAINS x steps FLOP a work-item.
 * read_peak: data [slices][slice_vectors][VECTOR_WIDTH] f32; a work-group reads its own slice
 * `passes` times, its work-items taking vectors in turn: slice_vectors x VECTOR_WIDTH x 4 x passes
 * bytes a group. slice_vectors is a multiple of STREAMS x local size.
 */
#include "config.clh"

#ifndef CHAINS
#define CHAINS 12 /* latency 4 or 5 x two units: what keeps both busy and stays in 16 registers */
#endif
#ifndef STREAMS
#define STREAMS 8 /* sums of read_peak: additions must not be what it waits for */
#endif

INLINE float roofline_sum(floatv v)
{
    float lane[VECTOR_WIDTH], sum = 0.0f;
    PASTE(vstore, VECTOR_WIDTH)(v, 0, lane);
    for (uint i = 0; i < VECTOR_WIDTH; ++i)
        sum += lane[i];
    return sum;
}

__kernel void fma_peak(__global float *out, ulong steps, float a, float b)
{
    floatv x[CHAINS];
#pragma unroll
    for (uint i = 0; i < CHAINS; ++i)
        x[i] = (floatv)((float)get_global_id(0) + (float)i);
    for (ulong step = 0; step < steps; ++step)
#pragma unroll
        for (uint i = 0; i < CHAINS; ++i)
            x[i] = fma(x[i], (floatv)a, (floatv)b);
    floatv sum = x[0];
#pragma unroll
    for (uint i = 1; i < CHAINS; ++i)
        sum += x[i];
    out[get_global_id(0)] = roofline_sum(sum);
}

__kernel void read_peak(__global const float *data, __global float *out, ulong slice_vectors,
                        ulong passes)
{
    const ulong lanes = get_local_size(0);
    __global const float *slice = data + get_group_id(0) * slice_vectors * VECTOR_WIDTH;
    floatv sum[STREAMS];
#pragma unroll
    for (uint s = 0; s < STREAMS; ++s)
        sum[s] = (floatv)0.0f;
    for (ulong pass = 0; pass < passes; ++pass)
        for (ulong i = get_local_id(0); i < slice_vectors; i += STREAMS * lanes)
#pragma unroll
            for (uint s = 0; s < STREAMS; ++s)
                sum[s] += PASTE(vload, VECTOR_WIDTH)(i + s * lanes, slice);
    floatv total = sum[0];
#pragma unroll
    for (uint s = 1; s < STREAMS; ++s)
        total += sum[s];
    out[get_global_id(0)] = roofline_sum(total) + (float)passes;
}
