/* Random programs, planned under every policy, against a model that unrolls all tiles into a list
 * of living allocations and a map of the bytes that were ever covered. */
#include "host/scratch/footprint.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { SEEDS = 400, MAX_HANDLES = 24, MAX_SCOPES = 12, MAX_TILES = 6, SPACE = 1 << 18 };

static size_t random_bytes(struct random *random)
{
    return random_below(random, 3) == 0 ? 128 * random_below(random, 6) : random_below(random, 700);
}

static void add_handle(struct random *random, struct program *program)
{
    size_t handle;
    size_t stored = random_bytes(random);
    size_t logical = random_below(random, stored + 1);
    if (program->handle_count < MAX_HANDLES) {
        assert_ok(
            program_alloc(program, "t", DTYPE_I8, shape_1d(logical), shape_1d(stored), &handle));
    }
}

static bool is_alive(const struct program *program, size_t handle)
{
    return program_scope_encloses(program, program->handles[handle].scope, program->open_scope);
}

/* Writes one living handle and reads another, where there are such. */
static void add_operation(struct random *random, struct program *program)
{
    struct program_operation operation = {.name = "op"};
    if (program->handle_count == 0) {
        return;
    }
    size_t a = random_below(random, program->handle_count);
    size_t b = random_below(random, program->handle_count);
    if (is_alive(program, a)) {
        operation.writes[operation.write_count++] = a;
    }
    if (is_alive(program, b) && program->handles[b].written) {
        operation.reads[operation.read_count++] = b;
    }
    assert_ok(program_operation(program, &operation));
}

static void add_to_tile(struct random *random, struct program *program)
{
    size_t scope;
    switch (random_below(random, 6)) {
    case 0:
        if (program->scope_count < MAX_SCOPES) {
            assert_ok(program_begin(program, "s", &scope));
        }
        break;
    case 1:
        if (program->open_scope != PROGRAM_NO_SCOPE) {
            assert_ok(program_end(program, program->open_scope));
        }
        break;
    case 2:
    case 3:
        add_handle(random, program);
        break;
    default:
        add_operation(random, program);
    }
}

static void build(struct random *random, struct program *program)
{
    program_init(program);
    for (size_t i = random_below(random, 4); i > 0; i--) {
        add_handle(random, program);
        add_operation(random, program);
    }
    assert_ok(program_tile_begin(program));
    if (random_below(random, 2) == 0) {
        size_t scope;
        assert_ok(program_begin(program, "tile", &scope));
    }
    for (size_t i = random_below(random, 40); i > 0; i--) {
        add_to_tile(random, program);
    }
    while (program->open_scope != PROGRAM_NO_SCOPE) {
        assert_ok(program_end(program, program->open_scope));
    }
    assert_ok(program_tile_end(program));
    add_operation(random, program);
}

struct living {
    size_t handle;
    size_t tile;
    size_t end; /* offset one past its last byte */
};

struct model {
    const struct program *program;
    struct footprint_request request;
    struct living living[MAX_HANDLES * (MAX_TILES + 1)];
    size_t count;
    size_t peak;
    struct footprint_overflow overflow;
    bool covered[SPACE];
    uint64_t cells[MAX_TILES + 1][MAX_HANDLES + 2 * MAX_SCOPES]; /* by tile */
};

static size_t model_cursor(const struct model *model)
{
    return model->count > 0 ? model->living[model->count - 1].end : 0;
}

static void model_alloc(struct model *model, size_t handle, size_t tile)
{
    size_t start = model_cursor(model);
    size_t size = model->program->handles[handle].size_bytes;
    while (start % model->request.alignment != 0) {
        start++;
    }
    if (start + size > model->request.pool_bytes && !model->overflow.happened) {
        size_t pool = model->request.pool_bytes;
        model->overflow = (struct footprint_overflow){
            .happened = true,
            .tile = tile,
            .handle = handle,
            .request_bytes = size,
            .free_bytes = start < pool ? pool - start : 0,
            .used_bytes = model_cursor(model),
        };
    }
    assert_true(start + size <= SPACE);
    memset(model->covered + start, true, size);
    model->cells[tile][handle] = start;
    model->living[model->count++] = (struct living){handle, tile, start + size};
    model->peak = size_max(model->peak, start + size);
}

/* Everything of this tile that was allocated in the scope or inside it goes. */
static void model_end(struct model *model, size_t scope, size_t tile)
{
    uint64_t *range = model->cells[tile] + model->program->handle_count + 2 * scope;
    range[1] = model_cursor(model);
    while (model->count > 0) {
        const struct living *last = &model->living[model->count - 1];
        if (last->tile != tile ||
            !program_scope_encloses(model->program, scope,
                                    model->program->handles[last->handle].scope)) {
            break;
        }
        model->count--;
    }
    range[0] = model_cursor(model);
}

static void model_run(struct model *model, size_t first, size_t end, size_t tile)
{
    size_t depth = policy_depth(model->request.policy);
    for (size_t i = first; i < end; i++) {
        const struct program_step *step = &model->program->steps[i];
        if (step->kind == PROGRAM_ALLOC) {
            model_alloc(model, step->index, tile);
        }
        if (step->kind == PROGRAM_END && model->program->scopes[step->index].level < depth) {
            model_end(model, step->index, tile);
        }
    }
}

static size_t model_lines(const struct model *model)
{
    size_t lines = 0;
    for (size_t line = 0; line < SPACE / FOOTPRINT_LINE_BYTES; line++) {
        const bool *bytes = model->covered + line * FOOTPRINT_LINE_BYTES;
        lines += memchr(bytes, true, FOOTPRINT_LINE_BYTES) != NULL ? 1 : 0;
    }
    return lines;
}

static bool uses(const struct program *program, size_t step, size_t handle, bool writes)
{
    if (program->steps[step].kind != PROGRAM_OPERATION) {
        return false;
    }
    const struct program_operation *operation = &program->operations[program->steps[step].index];
    const size_t *operands = writes ? operation->writes : operation->reads;
    size_t count = writes ? operation->write_count : operation->read_count;
    for (size_t i = 0; i < count; i++) {
        if (operands[i] == handle) {
            return true;
        }
    }
    return false;
}

/* Whether a handle is live at a step: written at or before it, used at or after it. */
static bool is_live(const struct model *model, size_t handle, size_t step)
{
    const struct program *program = model->program;
    bool written = false;
    bool used = false;
    if (program->handles[handle].persistent) {
        return true;
    }
    for (size_t i = 0; i < program->step_count && model->request.tiles > 0; i++) {
        bool writes = uses(program, i, handle, true);
        bool reads = uses(program, i, handle, false);
        written = written || (i <= step && writes);
        used = used || (i >= step && (writes || reads));
    }
    return written && used;
}

static size_t model_bound(const struct model *model)
{
    size_t bound = 0;
    for (size_t step = 0; step <= model->program->step_count; step++) {
        size_t sum = 0;
        size_t tail = 0;
        for (size_t i = 0; i < model->program->handle_count; i++) {
            size_t size = model->program->handles[i].size_bytes;
            size_t blocks = (size + model->request.alignment - 1) / model->request.alignment;
            if (is_live(model, i, step)) {
                sum += blocks * model->request.alignment;
                tail = size_max(tail, blocks * model->request.alignment - size);
            }
        }
        bound = size_max(bound, sum - tail);
    }
    return bound;
}

static void assert_overflows_agree(const struct model *model, const struct footprint *plan)
{
    const struct footprint_overflow *expected = &model->overflow;
    assert_int_equal(expected->happened, plan->overflow.happened);
    assert_int_equal(expected->tile, plan->overflow.tile);
    assert_int_equal(expected->handle, plan->overflow.handle);
    assert_int_equal(expected->request_bytes, plan->overflow.request_bytes);
    assert_int_equal(expected->free_bytes, plan->overflow.free_bytes);
    assert_int_equal(expected->used_bytes, plan->overflow.used_bytes);
}

static void assert_table_agrees(const struct model *model, const struct footprint *plan)
{
    const struct program *program = model->program;
    struct offset_table table;
    if (plan->overflow.happened) {
        assert_status(STATUS_NO_SPACE, footprint_table(program, &model->request, &table));
        status_clear();
        return;
    }
    assert_ok(footprint_table(program, &model->request, &table));
    for (size_t tile = 1; tile <= model->request.tiles; tile++) {
        const uint64_t *row = table.cells + (tile - 1) * table.row_stride;
        for (size_t i = 0; i < program->handle_count; i++) {
            size_t source = program->handles[i].persistent ? 0 : tile;
            assert_int_equal(model->cells[source][i], row[i]);
        }
        for (size_t i = program->handle_count; i < table.columns - 2; i++) {
            assert_int_equal(model->cells[tile][i], row[i]);
        }
        assert_int_equal(0, row[table.columns - 2]);
        assert_int_equal(model_cursor(model), row[table.columns - 1]);
    }
    offset_table_fini(&table);
}

static void check_plan(const struct program *program, const struct footprint_request *request)
{
    static struct model model;
    struct footprint plan;
    memset(&model, 0, sizeof model);
    model.program = program;
    model.request = *request;
    model_run(&model, 0, program->tile_first, 0);
    size_t persistent = model_cursor(&model);
    for (size_t tile = 1; tile <= request->tiles; tile++) {
        model_run(&model, program->tile_first, program->tile_end, tile);
    }
    assert_ok(footprint_plan(program, request, &plan));
    assert_int_equal(persistent, plan.persistent_bytes);
    assert_int_equal(model.peak, plan.peak_bytes);
    assert_int_equal(model_cursor(&model), plan.current_bytes);
    assert_int_equal(model_lines(&model), plan.touched_lines);
    assert_int_equal(model_bound(&model), plan.lower_bound_bytes);
    assert_true(plan.lower_bound_bytes <= plan.peak_bytes);
    assert_overflows_agree(&model, &plan);
    assert_table_agrees(&model, &plan);
}

static void run(uint64_t seed)
{
    struct random random = {seed};
    struct program program;
    build(&random, &program);
    for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
        struct footprint_request request = {
            .policy = (enum policy)policy,
            .tiles = random_below(&random, MAX_TILES + 1),
            .alignment = (size_t)1 << random_below(&random, 11),
            .pool_bytes = FOOTPRINT_NO_LIMIT,
        };
        if (random_below(&random, 2) == 0) {
            request.pool_bytes = request.alignment + random_below(&random, 12000);
        }
        check_plan(&program, &request);
    }
    program_fini(&program);
}

static void plan_of_random_programs_matches_a_model(void **state)
{
    (void)state;
    random_for_seeds(SEEDS, run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(plan_of_random_programs_matches_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
