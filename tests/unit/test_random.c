/* Random operations on a scratch against a model that knows no cursor, no marks and no serials: a
 * list of everything ever allocated. The cursor is where the youngest living allocation ends; the
 * memory is 0xFF except where something lives. */
#include "host/scratch/scratch.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { POOL = 4096, STEPS = 300, MAX_DEPTH = 5, SEEDS = 200 };

struct model_allocation {
    struct scratch_handle handle;
    size_t offset;
    size_t bytes;
    size_t depth;        /* scopes open around it */
    unsigned char value; /* all of its bytes */
    bool alive;
};

struct model {
    struct random random;
    struct scratch scratch;
    struct scratch twin; /* does the same allocations */
    size_t base;
    size_t alignment;
    unsigned char memory[POOL];
    unsigned char image[POOL];          /* what memory must hold */
    struct model_allocation all[STEPS]; /* in order of allocation */
    size_t count;                       /* */
    struct scratch_scope scopes[STEPS]; /* every scope ever opened */
    size_t scope_count;                 /* */
    size_t open[MAX_DEPTH];             /* indices of the open ones, outermost first */
    size_t depth;                       /* */
    size_t peak[2];                     /* requested, padded */
    size_t total[2];                    /* */
    struct scratch_handle foreign;      /* the twin's last handle */
};

static size_t model_cursor(const struct model *model)
{
    for (size_t i = model->count; i > 0; i--) {
        if (model->all[i - 1].alive) {
            return model->all[i - 1].offset + model->all[i - 1].bytes;
        }
    }
    return 0;
}

static size_t model_requested(const struct model *model)
{
    size_t sum = 0;
    for (size_t i = 0; i < model->count; i++) {
        sum += model->all[i].alive ? model->all[i].bytes : 0;
    }
    return sum;
}

/* The next aligned offset, found by trying. */
static size_t model_start(const struct model *model)
{
    size_t offset = model_cursor(model);
    while ((model->base + offset) % model->alignment != 0) {
        offset++;
    }
    return offset;
}

static void model_kill_above(struct model *model, size_t depth)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->all[i].depth > depth) {
            model->all[i].alive = false;
        }
    }
}

static void model_paint(struct model *model)
{
    memset(model->image, 0xFF, sizeof model->image);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_allocation *one = &model->all[i];
        if (one->alive) {
            memset(model->image + one->offset, one->value, one->bytes);
        }
    }
}

static void assert_agree(struct model *model)
{
    struct scratch_stats stats = scratch_stats(&model->scratch);
    size_t cursor = model_cursor(model);
    size_t requested = model_requested(model);
    model->peak[0] = size_max(model->peak[0], requested);
    model->peak[1] = size_max(model->peak[1], cursor);
    model_paint(model);
    assert_true(scratch_is_valid(&model->scratch));
    assert_true(arena_is_valid(&model->scratch.arena));
    assert_int_equal(cursor, scratch_cursor(&model->scratch));
    assert_int_equal(cursor, stats.padded.current);
    assert_int_equal(requested, stats.requested.current);
    assert_int_equal(model->peak[0], stats.requested.peak);
    assert_int_equal(model->peak[1], stats.padded.peak);
    assert_int_equal(model->total[0], stats.requested.total);
    assert_int_equal(model->total[1], stats.padded.total);
    assert_int_equal(model->count, stats.allocations);
    assert_memory_equal(model->image, model->memory, sizeof model->memory);
}

static void assert_overflow(const struct model *model, size_t bytes)
{
    const struct scratch_overflow *overflow = scratch_last_overflow(&model->scratch);
    size_t start = model_start(model);
    size_t free_bytes = start < POOL ? POOL - start : 0;
    assert_int_equal(bytes, overflow->requested_bytes);
    assert_int_equal(free_bytes, overflow->free_bytes);
    assert_int_equal(bytes > free_bytes ? bytes - free_bytes : 0, overflow->missing_bytes);
    assert_int_equal(model_cursor(model), overflow->used_bytes);
    assert_int_equal(POOL, overflow->capacity_bytes);
}

static void model_add(struct model *model, struct scratch_handle handle, size_t offset)
{
    struct model_allocation *added = &model->all[model->count];
    void *data;
    *added = (struct model_allocation){
        .handle = handle,
        .offset = offset,
        .bytes = handle.bytes,
        .depth = model->depth,
        .value = (unsigned char)random_below(&model->random, 255),
        .alive = true,
    };
    assert_int_equal(model->base + offset, handle.address);
    assert_ok(scratch_data(&model->scratch, &handle, &data));
    assert_ptr_equal(model->memory + offset, data);
    memset(data, added->value, handle.bytes);
    model->total[0] += handle.bytes;
    model->total[1] += offset + handle.bytes - model_cursor(model);
    model->count++;
}

static void try_alloc(struct model *model)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8};
    enum dtype dtype = dtypes[random_below(&model->random, 3)];
    size_t rows = random_below(&model->random, 5);
    size_t columns = random_below(&model->random, 60);
    struct shape shape = shape_2d(rows, columns);
    size_t bytes = rows * columns * dtype_bytes(dtype);
    size_t start = model_start(model);
    bool fits = start + bytes <= POOL;
    struct scratch_handle handle;
    enum status status = scratch_alloc(&model->scratch, "t", dtype, shape, &handle);
    assert_status(fits ? STATUS_OK : STATUS_NO_SPACE, status);
    if (fits) {
        assert_int_equal(bytes, handle.bytes);
        model_add(model, handle, start);
        assert_ok(scratch_alloc(&model->twin, "t", dtype, shape, &model->foreign));
    } else {
        assert_overflow(model, bytes);
    }
}

static void try_huge_alloc(struct model *model)
{
    struct scratch_handle handle;
    size_t bytes = SIZE_MAX - random_below(&model->random, 4096);
    assert_status(STATUS_NO_SPACE,
                  scratch_alloc(&model->scratch, "huge", DTYPE_I8, shape_1d(bytes), &handle));
    assert_overflow(model, bytes);
    assert_status(STATUS_RANGE,
                  scratch_alloc(&model->scratch, "wraps", DTYPE_F16, shape_1d(bytes), &handle));
}

static void try_begin(struct model *model)
{
    struct scratch_scope scope;
    bool room = model->depth < MAX_DEPTH;
    assert_status(room ? STATUS_OK : STATUS_MISUSE, scratch_begin(&model->scratch, &scope));
    if (room) {
        model->open[model->depth++] = model->scope_count;
        model->scopes[model->scope_count++] = scope;
        assert_ok(scratch_begin(&model->twin, &scope));
    }
}

/* Ends the innermost scope, or tries any that was ever opened. */
static void try_end(struct model *model)
{
    if (model->scope_count == 0) {
        return;
    }
    bool any = model->depth == 0 || random_below(&model->random, 4) == 0;
    size_t chosen =
        any ? random_below(&model->random, model->scope_count) : model->open[model->depth - 1];
    bool right = model->depth > 0 && model->open[model->depth - 1] == chosen;
    enum status status = scratch_end(&model->scratch, model->scopes[chosen]);
    assert_status(right ? STATUS_OK : STATUS_MISUSE, status);
    if (right) {
        model->depth--;
        model_kill_above(model, model->depth);
        struct scratch_scope twin = model->scopes[chosen];
        twin.owner = model->twin.id;
        assert_ok(scratch_end(&model->twin, twin));
    }
}

static bool copy_is_allowed(const struct model_allocation *dst, const struct model_allocation *src)
{
    bool apart = dst->bytes == 0 || dst != src;
    return shape_equal(dst->handle.shape, src->handle.shape) &&
           dst->handle.dtype == src->handle.dtype && dst->depth <= src->depth && apart;
}

static void try_copy(struct model *model)
{
    if (model->count == 0) {
        return;
    }
    struct model_allocation *dst = &model->all[random_below(&model->random, model->count)];
    const struct model_allocation *src = &model->all[random_below(&model->random, model->count)];
    enum status expected = STATUS_STALE;
    if (dst->alive && src->alive) {
        expected = copy_is_allowed(dst, src) ? STATUS_OK : STATUS_MISUSE;
    }
    assert_status(expected, scratch_copy_to(&model->scratch, &dst->handle, &src->handle));
    if (expected == STATUS_OK) {
        dst->value = src->value;
    }
}

/* Like try_copy between twins of one shape, which chance alone seldom finds. */
static void try_allowed_copy(struct model *model)
{
    struct model_allocation *last = model->count > 0 ? &model->all[model->count - 1] : NULL;
    if (last == NULL || !last->alive || model->count == STEPS) {
        return;
    }
    struct scratch_handle handle;
    size_t start = model_start(model);
    enum status status =
        scratch_alloc(&model->scratch, "copy", last->handle.dtype, last->handle.shape, &handle);
    if (status == STATUS_OK) {
        model_add(model, handle, start);
        assert_ok(scratch_alloc(&model->twin, "copy", last->handle.dtype, last->handle.shape,
                                &model->foreign));
        assert_ok(scratch_copy_to(&model->scratch, &last->handle, &handle));
        last->value = model->all[model->count - 1].value;
    } else {
        assert_overflow(model, last->bytes);
    }
}

static void try_use(struct model *model)
{
    if (model->count == 0) {
        return;
    }
    const struct model_allocation *one = &model->all[random_below(&model->random, model->count)];
    void *data;
    enum status status = scratch_data(&model->scratch, &one->handle, &data);
    assert_status(one->alive ? STATUS_OK : STATUS_STALE, status);
    assert_ptr_equal(one->alive ? model->memory + one->offset : NULL, data);
}

static void try_foreign(struct model *model)
{
    if (model->count == 0) {
        return;
    }
    const struct scratch_handle *mine = &model->all[model->count - 1].handle;
    assert_int_equal(mine->address, model->foreign.address);
    assert_status(STATUS_MISUSE, scratch_check(&model->scratch, &model->foreign));
    enum status expected = model->all[model->count - 1].alive ? STATUS_MISUSE : STATUS_STALE;
    assert_status(expected, scratch_copy_to(&model->scratch, mine, &model->foreign));
    assert_status(STATUS_MISUSE, scratch_copy_to(&model->scratch, &model->foreign, mine));
}

static void try_reset(struct model *model)
{
    bool closed = model->depth == 0;
    assert_status(closed ? STATUS_OK : STATUS_MISUSE, scratch_reset(&model->scratch));
    if (closed) {
        assert_ok(scratch_reset(&model->twin));
        for (size_t i = 0; i < model->count; i++) {
            model->all[i].alive = false;
        }
    }
}

/* By weight: allocations and scopes mostly, resets seldom. */
static void try_something(struct model *model)
{
    static void (*const tries[])(struct model *) = {
        try_alloc, try_alloc, try_alloc,        try_alloc, try_alloc, try_begin,   try_begin,
        try_end,   try_end,   try_allowed_copy, try_copy,  try_use,   try_foreign, try_huge_alloc,
    };
    if (random_below(&model->random, 100) == 0) {
        try_reset(model);
    } else {
        tries[random_below(&model->random, sizeof tries / sizeof tries[0])](model);
    }
    status_clear();
}

static void run_scratch(uint64_t seed)
{
    static struct model model;
    model = (struct model){.random = {seed}};
    model.base = 1 + random_below(&model.random, 1 << 24);
    model.alignment = (size_t)1 << random_below(&model.random, 9);
    struct scratch_options options = {
        .base = model.base,
        .capacity = POOL,
        .alignment = model.alignment,
        .max_depth = MAX_DEPTH,
    };
    assert_ok(scratch_init(&model.twin, &options));
    options.memory = model.memory;
    options.poison = true;
    assert_ok(scratch_init(&model.scratch, &options));
    for (size_t i = 0; i < STEPS; i++) {
        try_something(&model);
        assert_agree(&model);
    }
    scratch_fini(&model.scratch);
    scratch_fini(&model.twin);
}

static void scratch_random_operations_match_a_model(void **state)
{
    (void)state;
    random_for_seeds(SEEDS, run_scratch);
}

static void run_arena(uint64_t seed)
{
    struct random random = {seed};
    size_t base = 1 + random_below(&random, 1 << 20);
    size_t capacity = random_below(&random, 5000);
    size_t ends[STEPS + 1] = {0}; /* cursor after each push that is still there */
    size_t count = 0;
    size_t peak = 0;
    struct arena arena;
    assert_ok(arena_init(&arena, base, capacity));
    for (size_t i = 0; i < STEPS; i++) {
        if (random_below(&random, 4) == 0) {
            count = random_below(&random, count + 1);
            assert_ok(arena_rewind(&arena, ends[count]));
        } else {
            size_t alignment = (size_t)1 << random_below(&random, 10);
            size_t size = random_below(&random, 400);
            size_t start = ends[count];
            size_t address;
            while ((base + start) % alignment != 0) {
                start++;
            }
            bool fits = start + size <= capacity;
            assert_int_equal(start <= capacity ? capacity - start : 0,
                             arena_free_bytes(&arena, alignment));
            assert_status(fits ? STATUS_OK : STATUS_NO_SPACE,
                          arena_push(&arena, size, alignment, &address));
            assert_int_equal(fits ? base + start : 0, address);
            if (fits) {
                ends[++count] = start + size;
            }
        }
        peak = size_max(peak, ends[count]);
        assert_true(arena_is_valid(&arena));
        assert_int_equal(ends[count], arena_mark(&arena));
        assert_int_equal(peak, arena.peak);
    }
}

static void arena_random_operations_match_a_model(void **state)
{
    (void)state;
    random_for_seeds(SEEDS, run_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(arena_random_operations_match_a_model),
        unit_test_clean(scratch_random_operations_match_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
