/* The reference program: f16 storage, head_dim 128, block_m 32, block_n 64.
 *
 *     persistent q m l acc
 *     tile { m_new alpha l_new p  inner { s  inner { k } }  inner { v acc_new  copies } }
 */
#ifndef TESTS_UNIT_CAP16_H
#define TESTS_UNIT_CAP16_H

#include "host/scratch/program.h"
#include "tests/unit/unit.h"

/* Handle ids, in order of allocation, and scope ids, in order of begin. */
enum {
    CAP16_Q,
    CAP16_M,
    CAP16_L,
    CAP16_ACC,
    CAP16_M_NEW,
    CAP16_ALPHA,
    CAP16_L_NEW,
    CAP16_P,
    CAP16_S,
    CAP16_K,
    CAP16_V,
    CAP16_ACC_NEW,
    CAP16_HANDLES
};
enum { CAP16_TILE, CAP16_SCORES, CAP16_KEYS, CAP16_VALUES, CAP16_SCOPES };

static inline void cap16_alloc(struct program *program, size_t expected, const char *name,
                               enum dtype dtype, struct shape shape)
{
    size_t handle;
    assert_ok(program_alloc(program, name, dtype, shape, shape, &handle));
    assert_int_equal(expected, handle);
}

static inline void cap16_begin(struct program *program, size_t expected, const char *name)
{
    size_t scope;
    assert_ok(program_begin(program, name, &scope));
    assert_int_equal(expected, scope);
}

static inline void cap16_operation(struct program *program, struct program_operation operation)
{
    assert_ok(program_operation(program, &operation));
}

static inline void cap16_build_persistent(struct program *program)
{
    cap16_alloc(program, CAP16_Q, "q", DTYPE_F16, shape_2d(32, 128));
    cap16_alloc(program, CAP16_M, "m", DTYPE_F32, shape_1d(32));
    cap16_alloc(program, CAP16_L, "l", DTYPE_F32, shape_1d(32));
    cap16_alloc(program, CAP16_ACC, "acc", DTYPE_F32, shape_2d(32, 128));
    cap16_operation(program,
                    (struct program_operation){.name = "start",
                                               .writes = {CAP16_Q, CAP16_M, CAP16_L, CAP16_ACC},
                                               .write_count = 4});
}

static inline void cap16_build_scores(struct program *program)
{
    cap16_begin(program, CAP16_SCORES, "scores");
    cap16_alloc(program, CAP16_S, "s", DTYPE_F32, shape_2d(32, 64));
    cap16_begin(program, CAP16_KEYS, "keys");
    cap16_alloc(program, CAP16_K, "k", DTYPE_F16, shape_2d(64, 128));
    cap16_operation(program, (struct program_operation){
                                 .name = "load k", .writes = {CAP16_K}, .write_count = 1});
    cap16_operation(program, (struct program_operation){.name = "scores",
                                                        .reads = {CAP16_Q, CAP16_K},
                                                        .read_count = 2,
                                                        .writes = {CAP16_S},
                                                        .write_count = 1});
    assert_ok(program_end(program, CAP16_KEYS));
    cap16_operation(program, (struct program_operation){
                                 .name = "softmax",
                                 .reads = {CAP16_S, CAP16_M, CAP16_L},
                                 .read_count = 3,
                                 .writes = {CAP16_M_NEW, CAP16_ALPHA, CAP16_L_NEW, CAP16_P},
                                 .write_count = 4});
    assert_ok(program_end(program, CAP16_SCORES));
}

static inline void cap16_build_values(struct program *program)
{
    cap16_begin(program, CAP16_VALUES, "values");
    cap16_alloc(program, CAP16_V, "v", DTYPE_F16, shape_2d(64, 128));
    cap16_alloc(program, CAP16_ACC_NEW, "acc_new", DTYPE_F32, shape_2d(32, 128));
    cap16_operation(program, (struct program_operation){
                                 .name = "load v", .writes = {CAP16_V}, .write_count = 1});
    cap16_operation(program,
                    (struct program_operation){.name = "values",
                                               .reads = {CAP16_ACC, CAP16_ALPHA, CAP16_P, CAP16_V},
                                               .read_count = 4,
                                               .writes = {CAP16_ACC_NEW},
                                               .write_count = 1});
    assert_ok(program_copy_to(program, CAP16_M, CAP16_M_NEW));
    assert_ok(program_copy_to(program, CAP16_L, CAP16_L_NEW));
    assert_ok(program_copy_to(program, CAP16_ACC, CAP16_ACC_NEW));
    assert_ok(program_end(program, CAP16_VALUES));
}

/* Records it into an uninitialised program; program_fini is the caller's. */
static inline void cap16_build(struct program *program)
{
    program_init(program);
    cap16_build_persistent(program);
    assert_ok(program_tile_begin(program));
    cap16_begin(program, CAP16_TILE, "tile");
    cap16_alloc(program, CAP16_M_NEW, "m_new", DTYPE_F32, shape_1d(32));
    cap16_alloc(program, CAP16_ALPHA, "alpha", DTYPE_F32, shape_1d(32));
    cap16_alloc(program, CAP16_L_NEW, "l_new", DTYPE_F32, shape_1d(32));
    cap16_alloc(program, CAP16_P, "p", DTYPE_F16, shape_2d(32, 64));
    cap16_build_scores(program);
    cap16_build_values(program);
    assert_ok(program_end(program, CAP16_TILE));
    assert_ok(program_tile_end(program));
    cap16_operation(program, (struct program_operation){.name = "finish",
                                                        .reads = {CAP16_L, CAP16_ACC, CAP16_M},
                                                        .read_count = 3});
}

#endif
