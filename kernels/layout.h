/* The layout that the host and the kernels share: columns of the offset table and the launch
 * parameters. C11 and OpenCL C 1.2 both include this file.
 *
 * A row of the offset table (ulong cells, bytes from the start of the PE's pool) holds the offset
 * of each handle in recorded order, then for each scope the range [begin, end) that its end
 * rewinds, then the range that the rewind between items gives back. Source of the order: the
 * reference program,
 *   tile { m_new alpha l_new p  inner { s  inner { k } }  inner { v acc_new  copies } }
 */
#ifndef KERNELS_LAYOUT_H
#define KERNELS_LAYOUT_H

/* Columns: persistent handles, then the tile's temporaries. */
#define TABLE_Q 0
#define TABLE_M 1
#define TABLE_L 2
#define TABLE_ACC 3
#define TABLE_M_NEW 4
#define TABLE_ALPHA 5
#define TABLE_L_NEW 6
#define TABLE_P 7
#define TABLE_S 8
#define TABLE_K 9
#define TABLE_V 10
#define TABLE_ACC_NEW 11
#define TABLE_HANDLES 12

/* Columns of the rewound ranges: begin at the column, end at the next one. */
#define TABLE_SCOPE_TILE 12
#define TABLE_SCOPE_SCORES 14
#define TABLE_SCOPE_KEYS 16
#define TABLE_SCOPE_VALUES 18
#define TABLE_SCOPE_ITEM 20
#define TABLE_COLUMNS 22

/* A matrix's row pitch, and k's row count, are rounded up to this many elements. */
#define LAYOUT_PITCH_ELEMS 16
#define LAYOUT_PITCH(columns)                                                                      \
    (((columns) + LAYOUT_PITCH_ELEMS - 1) / LAYOUT_PITCH_ELEMS * LAYOUT_PITCH_ELEMS)

#ifdef __OPENCL_VERSION__
typedef ulong layout_u64;
typedef long layout_i64;
#else
#include <stdint.h>
typedef uint64_t layout_u64;
typedef int64_t layout_i64;
#endif

/* What one part of a split block leaves for the merge, f32 elements: m and l of each row, then acc,
 * rows v_pitch apart. Part x of block b starts at element (b x parts + x) x LAYOUT_PART_ELEMS. */
#define LAYOUT_PART_ELEMS(block_m, v_pitch) ((block_m) * (2 + (v_pitch)))

/* The schedule of a launch, uint cells: items taken so far, and PEs that have left, both 0 between
 * launches; where the share of each PE starts in the order, and where the last one ends; the order,
 * item numbers. Items that all PEs take from in turn are PE 0's share. */
#define SCHEDULE_TAKEN 0
#define SCHEDULE_LEFT 1
#define SCHEDULE_STARTS 2
#define SCHEDULE_ORDER(pes) (SCHEDULE_STARTS + (pes) + 1)

/* Launch parameters, in global memory: everything a run may change without another build.
 * Fields are 8 bytes wide, or 4 in pairs, so that both languages lay the struct out alike. */
struct attention_params {
    layout_u64 arena_stride;     /* bytes from one PE's pool to the next: pool and guard */
    layout_u64 arena_shift;      /* bytes from the buffer's start to PE 0's pool; local: 0 */
    layout_u64 pool_bytes;       /* of one PE; read with ARENA_CHECK alone, and so is paint */
    layout_u64 paint;            /* the byte that a local arena is filled with */
    layout_u64 table_row_stride; /* cells from one walked tile's row to the next; 0 = one row */
    layout_u64 item_end;         /* items of this launch: those below */
    layout_u64 batch;            /* sequences */
    layout_u64 q_heads;          /* query heads, a multiple of kv_heads */
    layout_u64 kv_heads;         /* key and value heads */
    layout_u64 seq_q;            /* queries of a head */
    layout_u64 seq_kv;           /* keys and values of a head */
    layout_i64 reach_left;       /* keys visible before the diagonal; -1 = all */
    layout_i64 reach_right;      /* keys visible after the diagonal; -1 = all; causal: 0 */
    layout_u64 poison;           /* 1 = fill each rewound range with 0xFF bytes */
    layout_u64 parts;            /* items that share a block's tiles; 1 = unsplit */
    float scale;                 /* of the scores */
    float softcap;               /* of the scores; read with SOFTCAP alone */
};

#endif
