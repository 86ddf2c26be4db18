/* A small scratch to test, and what a refused call must leave as it was. */
#ifndef TESTS_UNIT_SCRATCH_FIXTURE_H
#define TESTS_UNIT_SCRATCH_FIXTURE_H

#include "host/scratch/scratch.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { POOL = 4096 };

static _Alignas(128) unsigned char memory[POOL];

static inline struct scratch make(struct scratch_options options)
{
    struct scratch scratch;
    options.capacity = POOL;
    assert_ok(scratch_init(&scratch, &options));
    assert_true(scratch_is_valid(&scratch));
    return scratch;
}

static inline struct scratch make_with_memory(bool poison)
{
    memset(memory, 0x11, sizeof memory);
    return make((struct scratch_options){.memory = memory, .poison = poison});
}

static inline struct scratch_handle alloc(struct scratch *scratch, const char *name, size_t floats)
{
    struct scratch_handle handle;
    assert_ok(scratch_alloc(scratch, name, DTYPE_F32, shape_1d(floats), &handle));
    assert_true(scratch_is_valid(scratch));
    return handle;
}

static inline struct scratch_scope begin(struct scratch *scratch)
{
    struct scratch_scope scope;
    assert_ok(scratch_begin(scratch, &scope));
    assert_true(scratch_is_valid(scratch));
    return scope;
}

static inline void end(struct scratch *scratch, struct scratch_scope scope)
{
    assert_ok(scratch_end(scratch, scope));
    assert_true(scratch_is_valid(scratch));
}

static inline unsigned char *data_of(struct scratch *scratch, struct scratch_handle handle)
{
    void *data;
    assert_ok(scratch_data(scratch, &handle, &data));
    return data;
}

static inline void fill(struct scratch *scratch, struct scratch_handle handle, int value)
{
    memset(data_of(scratch, handle), value, handle.bytes);
}

static inline void assert_filled(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(value, bytes[i]);
    }
}

/* What a refused call must leave as it was: all of the scratch but its overflow record. */
struct snapshot {
    struct arena arena;
    size_t depth;
    struct scratch_stats stats;
    unsigned char bytes[POOL];
};

static inline struct snapshot take(const struct scratch *scratch)
{
    struct snapshot snapshot = {
        .arena = scratch->arena, .depth = scratch->depth, .stats = scratch->stats};
    memcpy(snapshot.bytes, memory, sizeof memory);
    return snapshot;
}

static inline void assert_unchanged(const struct scratch *scratch, const struct snapshot *before)
{
    assert_memory_equal(&before->arena, &scratch->arena, sizeof before->arena);
    assert_memory_equal(&before->stats, &scratch->stats, sizeof before->stats);
    assert_memory_equal(before->bytes, memory, sizeof memory);
    assert_int_equal(before->depth, scratch->depth);
    assert_true(scratch_is_valid(scratch));
}

#endif
