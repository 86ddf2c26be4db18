/* One attention problem: shapes, blocks and mask; what follows from them (items, walked tiles,
 * visible pairs, FLOPs, global traffic).
 *
 * Tensors are row-major: q [batch, q_heads, seq_q, head_dim], k [batch, kv_heads, seq_kv,
 * head_dim], v [batch, kv_heads, seq_kv, head_dim_v], out [batch, q_heads, seq_q, head_dim_v] f32,
 * lse [batch, q_heads, seq_q] f32.
 *
 * The q_heads / kv_heads query heads of one key/value head are packed into the rows of its query
 * blocks: packed row r is position r / group of head kv_head x group + r % group, so that K and V
 * are read once a group. An item is (batch, kv_head, block of block_m packed rows).
 *
 * Split-KV: the tiles of a block are shared out to `parts` items, each with a running state of its
 * own; a merge joins them (Flash-Decoding). Item i is part i % parts of block i / parts; of T
 * walked tiles part x has [T x / parts, T (x + 1) / parts), which may be none.
 *
 * A score is, in this order: scale x q . k; softcap tanh(score / softcap); + ALiBi bias
 * -slope x |d - key| (Press et al. 2022); + mask [seq_q, seq_kv], the same for all heads; -inf
 * where the key is not visible. A sink is a logit a head that joins maximum, sum and LSE but has no
 * value (gpt-oss); a row that sees no key has out 0 and LSE -inf, with a sink too. A hidden key
 * inside a walked tile has weight 0, so that a NaN or an infinity in its V still shows.
 *
 * Visible keys of position p (bottom-right aligned, FlashAttention-2's convention for causal with
 * seq_q != seq_kv): d = p + seq_kv - seq_q; keys max(0, d - left) .. min(seq_kv - 1, d + right).
 */
#ifndef HOST_ATTENTION_PROBLEM_H
#define HOST_ATTENTION_PROBLEM_H

#include "host/base/dtype.h"
#include "host/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct problem {
    size_t batch;         /* >= 1 */
    size_t q_heads;       /* a multiple of kv_heads */
    size_t kv_heads;      /* >= 1 */
    size_t seq_q;         /* >= 1 */
    size_t seq_kv;        /* >= 0 */
    size_t head_dim;      /* of q and k, >= 1 */
    size_t head_dim_v;    /* of v and out, >= 1 */
    size_t block_m;       /* packed query rows of an item, >= 1 */
    size_t block_n;       /* keys of a tile, >= 1 */
    enum dtype dtype;     /* storage of q, k, v and p */
    double scale;         /* of the scores, finite; 0 = 1 / sqrt(head_dim) */
    bool causal;          /* right reach 0 */
    int64_t window_left;  /* keys before the diagonal; -1 = all */
    int64_t window_right; /* keys after the diagonal; -1 = all */
    double softcap;       /* scores stay within +-softcap; > 0; 0 = none */
    bool alibi;           /* linear bias by distance, slopes by head */
    bool sinks;           /* a logit a query head */
    bool mask;            /* an additive mask [seq_q, seq_kv] */
    size_t parts;         /* items that share a block's tiles; 0 and 1 = unsplit */
};

enum { PROBLEM_MAX_PARTS = 65536 };

/* One item: its packed rows and the tiles that it walks (of its part). */
struct problem_item {
    size_t batch;      /* index */
    size_t kv_head;    /* index */
    size_t part;       /* index, below problem_parts */
    size_t first_row;  /* first packed row */
    size_t rows;       /* 1..block_m */
    size_t tile_first; /* first walked tile: keys from tile_first x block_n */
    size_t tile_count; /* walked tiles; 0 = no key is visible to any row */
};

/* Bytes of global memory in one launch over all items: q, K, V and mask rows of walked tiles once
 * an item, parts written once and read once by the merge, out and LSE once; rows and keys past the
 * end are not counted. */
struct problem_traffic {
    size_t dram_read_bytes;     /* q, K, V, mask, parts */
    size_t dram_write_bytes;    /* out, LSE, parts, f32 */
    size_t scratch_read_bytes;  /* by the recorded operations */
    size_t scratch_write_bytes; /* likewise, over all walked tiles and items */
    size_t copy_bytes;          /* by copy_to */
};

/* STATUS_BAD_INPUT with the reason: a zero, heads that do not divide, a window below -1, a scale
 * or a softcap that f32 can not hold, a softcap below 0, too many parts; STATUS_RANGE: a tensor, or
 * the parts, whose bytes do not fit. */
enum status problem_validate(const struct problem *problem) STATUS_MUST_USE;

double problem_scale(const struct problem *problem);
size_t problem_group(const struct problem *problem); /* q_heads / kv_heads */
size_t problem_parts(const struct problem *problem); /* >= 1 */
size_t problem_item_count(const struct problem *problem);

/* The state that one part leaves for the merge, bytes: m, l [block_m] and acc [block_m, pitch of
 * head_dim_v], f32; and of all parts of all blocks, 0 if unsplit. SIZE_MAX if they do not fit. */
size_t problem_part_bytes(const struct problem *problem);
size_t problem_parts_bytes(const struct problem *problem);

/* ALiBi slope of a query head: for a power of two n, 2^(-8 (head + 1) / n); for other counts, with
 * n the power of two below, the first n as for n, then every other one of those for 2 n, as the
 * code of Press et al. 2022 has it. */
double problem_alibi_slope(const struct problem *problem, size_t head);

/* Reach to the left and right of the diagonal, causal folded in; -1 = all. */
int64_t problem_reach_left(const struct problem *problem);
int64_t problem_reach_right(const struct problem *problem);

/* Keys [*first, *end) visible to a position; first = end if there are none. */
void problem_visible(const struct problem *problem, size_t position, size_t *first, size_t *end);

/* The item of an index below problem_item_count. */
struct problem_item problem_item(const struct problem *problem, size_t index);

/* Tiles that the longest item walks, after skipping and splitting: S. */
size_t problem_tiles(const struct problem *problem);

/* (query, key) pairs that the mask leaves, of one query head of one sequence. */
double problem_visible_pairs(const struct problem *problem);

/* 2 x visible pairs x (head_dim + head_dim_v) x q_heads x batch; items [0, item_end) only; of a
 * block split into parts, all parts or none. */
double problem_flops(const struct problem *problem, size_t item_end);

/* Elements of the tensors. */
size_t problem_q_elems(const struct problem *problem);
size_t problem_k_elems(const struct problem *problem);
size_t problem_v_elems(const struct problem *problem);
size_t problem_out_elems(const struct problem *problem);
size_t problem_lse_elems(const struct problem *problem);

#endif
