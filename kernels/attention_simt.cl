/* Flash attention forward, a work-group of cooperating items a PE: for GPUs.
 *
 *     s = scale x q k^T,  p = exp(s - m_new),  l_new = alpha l + row sum of p,
 *     acc_new = alpha acc + p v,  out = acc / l,  LSE = m + log l
 *
 * Source: FlashAttention-2 (Dao 2023), Algorithm 1.
 *
 * Work: global size = PEs x local size, any local size. A PE takes its own share of the schedule
 *   (layout.h): loops of uniform bounds around every barrier.
 * Inputs: q [batch, q_heads, seq_q, HEAD_DIM], k [batch, kv_heads, seq_kv, HEAD_DIM],
 *   v [batch, kv_heads, seq_kv, HEAD_DIM_V], stored type, row-major.
 * Options: sinks [q_heads], slopes [q_heads], mask [seq_q, seq_kv], f32 (scores.clh, state.clh).
 * Outputs: out [batch, q_heads, seq_q, HEAD_DIM_V] f32, lse [batch, q_heads, seq_q] f32; with SPLIT
 *   parts [items][LAYOUT_PART_ELEMS] f32 instead, which merge.cl joins.
 * Arena of PE g: bytes from arena_shift + g x arena_stride on, or its work-group's local memory;
 * its tenants: walk.clh. marks: what the checking build found there (check.clh).
 *
 * Every phase is done for all rows before the next: k and s are dead before v is written.
 */

/* Register block of a work-item: small, so that a tile has work for all of them. */
#ifndef ROW_BLOCK_MAX
#define ROW_BLOCK_MAX 4
#endif
#ifndef COLUMN_BLOCK
#define COLUMN_BLOCK 1
#endif
#include "check.clh"
#include "steps.clh"

/* Each barrier stands on every path: one that depends on a condition makes PoCL build the rest of
 * the kernel once for either case. */
INLINE void walk_tile(const struct walk *walk)
{
    STAGE(STAGE_KEYS) load_keys(walk);
    arena_barrier(); /* k, and before the first tile q and the starting state */
    STAGE(STAGE_SCORES) compute_scores(walk);
    arena_barrier(); /* s, and the reads of k */
    walk_rewind(walk, TABLE_SCOPE_KEYS);
    STAGE(STAGE_SOFTMAX) compute_softmax(walk);
    arena_barrier(); /* m_new, alpha, p, l_new, and the reads of s */
    walk_rewind(walk, TABLE_SCOPE_SCORES);
    arena_barrier(); /* the rewound range: v may stand where s and k were */
    STAGE(STAGE_STAGING) load_values(walk);
    arena_barrier(); /* v */
    STAGE(STAGE_VALUES) compute_values(walk);
    arena_barrier(); /* acc_new */
    keep_maximum(walk);
    STAGE(STAGE_COPIES) keep_sums(walk);
    arena_barrier(); /* m, l, acc, and the reads of v and of the copies' sources */
    walk_rewind(walk, TABLE_SCOPE_VALUES);
    walk_rewind(walk, TABLE_SCOPE_TILE);
    arena_barrier(); /* the rewound ranges: the next tile writes there */
}

__kernel void attention(ARENA arena_unit *arena, __global const ulong *table,
                        __global const struct attention_params *params, __global const uchar *q,
                        __global const uchar *k, __global const uchar *v,
                        __global const float *sinks, __global const float *slopes,
                        __global const float *mask, __global const uint *schedule,
                        __global float *parts, __global float *out, __global float *lse,
                        __global uchar *marks)
{
    struct walk walk = {.params = params,
                        .sinks = sinks,
                        .slopes = slopes,
                        .mask = mask,
                        .k = k,
                        .v = v,
                        .lane = (uint)get_local_id(0)};
    walk.lanes = (uint)get_local_size(0);
    walk.pool = arena_pool(arena, params);
    if (ARENA_CHECK)
        check_paint(&walk);
    const uint share = SCHEDULE_STARTS + (uint)get_group_id(0);
    for (uint next = schedule[share]; next < schedule[share + 1]; ++next) {
        const uint i = schedule[SCHEDULE_ORDER(get_num_groups(0)) + next];
        walk.item = rows_item(params, i);
        walk.row = table;
        load_queries(&walk, q);
        start_state(&walk);
        arena_barrier(); /* the starting state: an item that walks no tile stores it at once */
        for (ulong t = 0; t < walk.item.tile_count; ++t) {
            walk.row = table + t * params->table_row_stride;
            walk.key = (walk.item.tile_first + t) * BLOCK_N;
            walk_tile(&walk);
        }
        if (SPLIT)
            store_part(&walk, i, parts);
        else
            store_rows(&walk, out, lse);
        arena_barrier(); /* the reads of the state: the next item starts over */
        walk_rewind(&walk, TABLE_SCOPE_ITEM);
        arena_barrier(); /* the rewound range: the next item's q */
    }
    if (ARENA_CHECK)
        check_scan(&walk, marks);
}
