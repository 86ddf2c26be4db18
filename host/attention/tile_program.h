/* The one recorded program of attention over a tile, and its exact traffic.
 *
 *     tile { m_new alpha l_new p  inner { s  inner { k } }  inner { v acc_new  copies } }
 *
 * Source: FlashAttention-2 (Dao 2023), Algorithm 1; handles and order: kernels/layout.h. Stored
 * shapes: a matrix's row pitch is its column count rounded up to 16 elements; so is k's row count,
 * so that k may be held transposed.
 */
#ifndef HOST_ATTENTION_TILE_PROGRAM_H
#define HOST_ATTENTION_TILE_PROGRAM_H

#include "host/attention/problem.h"
#include "host/scratch/program.h"

/* Starts and records the program; the caller ends it with program_fini. Handle ids are the TABLE_
 * columns, scopes are in the order of the TABLE_SCOPE_ columns. STATUS_RANGE: a size wraps;
 * STATUS_NO_MEMORY; the program is then empty. */
enum status tile_program_record(const struct problem *problem,
                                struct program *program) STATUS_MUST_USE;

/* Traffic of one launch over all items. Saturates at SIZE_MAX. */
struct problem_traffic tile_program_traffic(const struct problem *problem,
                                            const struct program *program);

/* dram_read_bytes of items [0, item_end) alone; of a block split into parts, all parts or none.
 * Saturates at SIZE_MAX. */
size_t tile_program_read_bytes(const struct problem *problem, size_t item_end);

#endif
