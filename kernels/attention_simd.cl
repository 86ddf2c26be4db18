/* Flash attention forward, one work-item a PE, explicit vectors: for CPU devices.
 *
 *     s = scale x q k^T,  p = exp(s - m_new),  l_new = alpha l + row sum of p,
 *     acc_new = alpha acc + p v,  out = acc / l,  LSE = m + log l
 *
 * Source: FlashAttention-2 (Dao 2023), Algorithm 1.
 *
 * Work: global size = PEs, local size 1. A PE takes the next item of the schedule (layout.h) when
 *   it has finished one: items may be uneven, and PEs as well.
 * Inputs: q [batch, q_heads, seq_q, HEAD_DIM], k [batch, kv_heads, seq_kv, HEAD_DIM],
 *   v [batch, kv_heads, seq_kv, HEAD_DIM_V], stored type, row-major.
 * Options: sinks [q_heads], slopes [q_heads], mask [seq_q, seq_kv], f32 (scores.clh, state.clh).
 * Outputs: out [batch, q_heads, seq_q, HEAD_DIM_V] f32, lse [batch, q_heads, seq_q] f32; with SPLIT
 *   parts [items][LAYOUT_PART_ELEMS] f32 instead, which merge.cl joins.
 * Arena of PE g: bytes from arena_shift + g x arena_stride on, or its work-group's local memory;
 *   its tenants: walk.clh. marks: what the checking build found there (check.clh).
 *
 * Every phase is done for all rows before the next: k and s are dead before v is written.
 */
#include "config.clh"

#if BLOCK_M >= PACK_BLOCK
#define SOFTMAX_ROWS PACK_BLOCK
#endif
#include "check.clh"
#include "steps.clh"

INLINE void walk_tile(const struct walk *walk)
{
    STAGE(STAGE_KEYS) load_keys(walk);
    STAGE(STAGE_SCORES) compute_scores(walk);
    walk_rewind(walk, TABLE_SCOPE_KEYS);
    STAGE(STAGE_SOFTMAX) compute_softmax(walk);
    walk_rewind(walk, TABLE_SCOPE_SCORES);
    STAGE(STAGE_STAGING) load_values(walk);
    STAGE(STAGE_VALUES) compute_values(walk);
    keep_maximum(walk);
    STAGE(STAGE_COPIES) keep_sums(walk);
    walk_rewind(walk, TABLE_SCOPE_VALUES);
    walk_rewind(walk, TABLE_SCOPE_TILE);
}

INLINE uint schedule_take(__global volatile uint *schedule)
{
    return atomic_inc(schedule + SCHEDULE_TAKEN);
}

/* The last PE to leave makes the schedule ready for the next launch. */
INLINE void schedule_leave(__global volatile uint *schedule)
{
    if (atomic_inc(schedule + SCHEDULE_LEFT) + 1 == get_num_groups(0)) {
        atomic_xchg(schedule + SCHEDULE_TAKEN, 0);
        atomic_xchg(schedule + SCHEDULE_LEFT, 0);
    }
}

__kernel void attention(ARENA arena_unit *arena, __global const ulong *table,
                        __global const struct attention_params *params, __global const uchar *q,
                        __global const uchar *k, __global const uchar *v,
                        __global const float *sinks, __global const float *slopes,
                        __global const float *mask, __global volatile uint *schedule,
                        __global float *parts, __global float *out, __global float *lse,
                        __global uchar *marks)
{
    struct walk walk = {.params = params,
                        .sinks = sinks,
                        .slopes = slopes,
                        .mask = mask,
                        .k = k,
                        .v = v,
                        .lane = 0,
                        .lanes = 1};
    walk.pool = arena_pool(arena, params);
    if (ARENA_CHECK)
        check_paint(&walk);
    const uint end = schedule[SCHEDULE_STARTS + 1];
    for (uint next = schedule_take(schedule); next < end; next = schedule_take(schedule)) {
        const uint i = schedule[SCHEDULE_ORDER(get_num_groups(0)) + next];
        walk.item = rows_item(params, i);
        walk.row = table;
        load_queries(&walk, q);
        start_state(&walk);
        for (ulong t = 0; t < walk.item.tile_count; ++t) {
            walk.row = table + t * params->table_row_stride;
            walk.key = (walk.item.tile_first + t) * BLOCK_N;
            walk_tile(&walk);
        }
        if (SPLIT)
            store_part(&walk, i, parts);
        else
            store_rows(&walk, out, lse);
        walk_rewind(&walk, TABLE_SCOPE_ITEM);
    }
    schedule_leave(schedule);
    if (ARENA_CHECK)
        check_scan(&walk, marks);
}
