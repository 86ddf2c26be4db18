/* Joins the parts of split blocks: one running state out of several.
 *
 *     m = max m_x,  w_x = exp(m_x - m),  l = sum w_x l_x,  acc = sum w_x acc_x,
 *     out = acc / l,  LSE = m + log l
 *
 * Source: Flash-Decoding (Dao et al. 2023); the rescaling is FlashAttention-2's, Algorithm 1.
 *
 * Work: any global size; work-items take rows of blocks in turn.
 * parts [blocks][parts][LAYOUT_PART_ELEMS] f32, as attention leaves them: m [BLOCK_M], l [BLOCK_M],
 *   acc [BLOCK_M][V_PITCH]. A part that saw no key has m = -inf, l = 0, acc = 0.
 * Outputs: out [batch, q_heads, seq_q, HEAD_DIM_V] f32, lse [batch, q_heads, seq_q] f32.
 * Arena: none.
 */
#include "rows.clh"
#include "state.clh"

/* One row of one block; `part` points at the block's first part. */
INLINE void merge_row(__global const struct attention_params *params, __global const float *part,
                      uint row, float sink, __global float *out, __global float *lse)
{
    float m = -INFINITY, l = 0.0f;
    for (ulong x = 0; x < params->parts; ++x)
        m = fmax(m, part[x * LAYOUT_PART_ELEMS(BLOCK_M, V_PITCH) + row]);
    const float safe = scores_safe_max(m);
    for (ulong x = 0; x < params->parts; ++x) {
        __global const float *state = part + x * LAYOUT_PART_ELEMS(BLOCK_M, V_PITCH);
        l = fma(exp(state[row] - safe), state[BLOCK_M + row], l);
    }
    const struct finish finish = state_finish(m, l, sink);
    for (uint c = 0; c < HEAD_DIM_V; ++c) {
        float acc = 0.0f;
        for (ulong x = 0; x < params->parts; ++x) {
            __global const float *state = part + x * LAYOUT_PART_ELEMS(BLOCK_M, V_PITCH);
            acc = fma(exp(state[row] - safe), state[2 * BLOCK_M + row * V_PITCH + c], acc);
        }
        out[c] = state_out(finish, acc);
    }
    *lse = finish.lse;
}

__kernel void merge(__global const struct attention_params *params, __global const float *parts,
                    __global const float *sinks, __global float *out, __global float *lse)
{
    const ulong blocks = params->item_end / params->parts;
    for (ulong i = get_global_id(0); i < blocks * BLOCK_M; i += get_global_size(0)) {
        const ulong block = i / BLOCK_M;
        const uint row = (uint)(i - block * BLOCK_M);
        const struct item item = rows_item(params, block * params->parts);
        if (row >= item.rows)
            continue;
        const float sink = SINKS ? sinks[rows_place(params, &item, row).head] : 0.0f;
        const ulong to = rows_q_row(params, &item, row);
        merge_row(params, parts + block * params->parts * LAYOUT_PART_ELEMS(BLOCK_M, V_PITCH), row,
                  sink, out + to * HEAD_DIM_V, lse + to);
    }
}
