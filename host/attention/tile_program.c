#include "host/attention/tile_program.h"

#include "host/base/size.h"
#include "kernels/layout.h"

/* Logical and stored shapes of every handle. */
struct tile_shapes {
    enum dtype storage; /* of q, k, v and p */
    struct shape vector;
    struct shape q, q_stored;
    struct shape acc, acc_stored;
    struct shape scores, scores_stored; /* s and p */
    struct shape k, k_stored;
    struct shape v, v_stored;
};

static enum status shapes_of(const struct problem *problem, struct tile_shapes *shapes)
{
    size_t m = problem->block_m, n = problem->block_n;
    size_t dim = problem->head_dim, dim_v = problem->head_dim_v;
    size_t n_pitch, dim_pitch, dim_v_pitch;

    if (!size_align_up(n, LAYOUT_PITCH_ELEMS, &n_pitch) ||
        !size_align_up(dim, LAYOUT_PITCH_ELEMS, &dim_pitch) ||
        !size_align_up(dim_v, LAYOUT_PITCH_ELEMS, &dim_v_pitch)) {
        return STATUS_FAIL(STATUS_RANGE, "tile", "a padded extent does not fit");
    }
    *shapes = (struct tile_shapes){
        .storage = problem->dtype,
        .vector = shape_1d(m),
        .q = shape_2d(m, dim),
        .q_stored = shape_2d(m, dim_pitch),
        .acc = shape_2d(m, dim_v),
        .acc_stored = shape_2d(m, dim_v_pitch),
        .scores = shape_2d(m, n),
        .scores_stored = shape_2d(m, n_pitch),
        .k = shape_2d(n, dim),
        .k_stored = shape_2d(n_pitch, dim_pitch),
        .v = shape_2d(n, dim_v),
        .v_stored = shape_2d(n, dim_v_pitch),
    };
    return STATUS_OK;
}

static enum status check_id(const char *name, size_t id, size_t expected)
{
    if (id != expected) {
        return STATUS_FAIL(STATUS_MISUSE, name, "was recorded as number %zu, the layout has it %zu",
                           id, expected);
    }
    return STATUS_OK;
}

struct allocation {
    size_t column; /* of the offset table */
    const char *name;
    enum dtype dtype;
    struct shape logical, stored;
};

static enum status allocate(struct program *program, const struct allocation *list, size_t count)
{
    enum status status = STATUS_OK;
    size_t id;

    for (size_t i = 0; i < count; i++) {
        STATUS_TRY(program_alloc(program, list[i].name, list[i].dtype, list[i].logical,
                                 list[i].stored, &id));
        STATUS_TRY(check_id(list[i].name, id, list[i].column));
    }
out:
    return status;
}

static enum status begin(struct program *program, const char *name, size_t column, size_t *scope)
{
    enum status status = STATUS_OK;

    STATUS_TRY(program_begin(program, name, scope));
    STATUS_TRY(check_id(name, TABLE_HANDLES + 2 * *scope, column));
out:
    return status;
}

static enum status record_start(const struct tile_shapes *shapes, struct program *program)
{
    const struct allocation persistent[] = {
        {TABLE_Q, "q", shapes->storage, shapes->q, shapes->q_stored},
        {TABLE_M, "m", DTYPE_F32, shapes->vector, shapes->vector},
        {TABLE_L, "l", DTYPE_F32, shapes->vector, shapes->vector},
        {TABLE_ACC, "acc", DTYPE_F32, shapes->acc, shapes->acc_stored},
    };
    const struct program_operation load_q = {
        .name = "load_q",
        .writes = {TABLE_Q},
        .write_count = 1,
    };
    const struct program_operation init = {
        .name = "init",
        .writes = {TABLE_M, TABLE_L, TABLE_ACC},
        .write_count = 3,
    };
    enum status status = STATUS_OK;

    STATUS_TRY(allocate(program, persistent, sizeof(persistent) / sizeof(persistent[0])));
    STATUS_TRY(program_operation(program, &load_q));
    STATUS_TRY(program_operation(program, &init));
out:
    return status;
}

static enum status record_keys(const struct tile_shapes *shapes, struct program *program)
{
    const struct allocation k = {TABLE_K, "k", shapes->storage, shapes->k, shapes->k_stored};
    const struct program_operation load_k = {
        .name = "load_k",
        .writes = {TABLE_K},
        .write_count = 1,
    };
    const struct program_operation scores = {
        .name = "scores",
        .reads = {TABLE_Q, TABLE_K},
        .read_count = 2,
        .writes = {TABLE_S},
        .write_count = 1,
    };
    enum status status = STATUS_OK;
    size_t scope;

    STATUS_TRY(begin(program, "keys", TABLE_SCOPE_KEYS, &scope));
    STATUS_TRY(allocate(program, &k, 1));
    STATUS_TRY(program_operation(program, &load_k));
    STATUS_TRY(program_operation(program, &scores));
    STATUS_TRY(program_end(program, scope));
out:
    return status;
}

static enum status record_scores(const struct tile_shapes *shapes, struct program *program)
{
    const struct allocation s = {TABLE_S, "s", DTYPE_F32, shapes->scores, shapes->scores_stored};
    const struct program_operation softmax = {
        .name = "softmax",
        .reads = {TABLE_S, TABLE_M, TABLE_L},
        .read_count = 3,
        .writes = {TABLE_M_NEW, TABLE_ALPHA, TABLE_L_NEW, TABLE_P},
        .write_count = 4,
    };
    enum status status = STATUS_OK;
    size_t scope;

    STATUS_TRY(begin(program, "scores", TABLE_SCOPE_SCORES, &scope));
    STATUS_TRY(allocate(program, &s, 1));
    STATUS_TRY(record_keys(shapes, program));
    STATUS_TRY(program_operation(program, &softmax));
    STATUS_TRY(program_end(program, scope));
out:
    return status;
}

static enum status record_values(const struct tile_shapes *shapes, struct program *program)
{
    const struct allocation temporaries[] = {
        {TABLE_V, "v", shapes->storage, shapes->v, shapes->v_stored},
        {TABLE_ACC_NEW, "acc_new", DTYPE_F32, shapes->acc, shapes->acc_stored},
    };
    const struct program_operation load_v = {
        .name = "load_v",
        .writes = {TABLE_V},
        .write_count = 1,
    };
    const struct program_operation values = {
        .name = "values",
        .reads = {TABLE_P, TABLE_V, TABLE_ALPHA, TABLE_ACC},
        .read_count = 4,
        .writes = {TABLE_ACC_NEW},
        .write_count = 1,
    };
    enum status status = STATUS_OK;
    size_t scope;

    STATUS_TRY(begin(program, "values", TABLE_SCOPE_VALUES, &scope));
    STATUS_TRY(allocate(program, temporaries, sizeof(temporaries) / sizeof(temporaries[0])));
    STATUS_TRY(program_operation(program, &load_v));
    STATUS_TRY(program_operation(program, &values));
    STATUS_TRY(program_copy_to(program, TABLE_M, TABLE_M_NEW));
    STATUS_TRY(program_copy_to(program, TABLE_L, TABLE_L_NEW));
    STATUS_TRY(program_copy_to(program, TABLE_ACC, TABLE_ACC_NEW));
    STATUS_TRY(program_end(program, scope));
out:
    return status;
}

static enum status record_tile(const struct tile_shapes *shapes, struct program *program)
{
    const struct allocation temporaries[] = {
        {TABLE_M_NEW, "m_new", DTYPE_F32, shapes->vector, shapes->vector},
        {TABLE_ALPHA, "alpha", DTYPE_F32, shapes->vector, shapes->vector},
        {TABLE_L_NEW, "l_new", DTYPE_F32, shapes->vector, shapes->vector},
        {TABLE_P, "p", shapes->storage, shapes->scores, shapes->scores_stored},
    };
    enum status status = STATUS_OK;
    size_t scope;

    STATUS_TRY(program_tile_begin(program));
    STATUS_TRY(begin(program, "tile", TABLE_SCOPE_TILE, &scope));
    STATUS_TRY(allocate(program, temporaries, sizeof(temporaries) / sizeof(temporaries[0])));
    STATUS_TRY(record_scores(shapes, program));
    STATUS_TRY(record_values(shapes, program));
    STATUS_TRY(program_end(program, scope));
    STATUS_TRY(program_tile_end(program));
out:
    return status;
}

enum status tile_program_record(const struct problem *problem, struct program *program)
{
    const struct program_operation store = {
        .name = "store",
        .reads = {TABLE_ACC, TABLE_L, TABLE_M},
        .read_count = 3,
    };
    struct tile_shapes shapes = {0};
    enum status status = STATUS_OK;

    program_init(program);
    STATUS_TRY(shapes_of(problem, &shapes));
    STATUS_TRY(record_start(&shapes, program));
    STATUS_TRY(record_tile(&shapes, program));
    STATUS_TRY(program_operation(program, &store));
out:
    if (status != STATUS_OK) {
        program_fini(program);
        program_init(program);
    }
    return status;
}

static size_t saturating_add(size_t a, size_t b)
{
    size_t sum;

    return size_add(a, b, &sum) ? sum : SIZE_MAX;
}

static size_t saturating_mul(size_t a, size_t b)
{
    size_t product;

    return size_mul(a, b, &product) ? product : SIZE_MAX;
}

/* Keys of the walked tiles that exist: the last tile ends with the sequence. */
static size_t item_keys(const struct problem *problem, const struct problem_item *item)
{
    size_t end = saturating_mul(item->tile_first + item->tile_count, problem->block_n);

    return size_min(end, problem->seq_kv) - item->tile_first * problem->block_n;
}

/* What the items of all heads walk. */
struct walk {
    size_t tiles;
    size_t keys;       /* real ones of those tiles */
    size_t mask_elems; /* real rows x keys */
};

/* All heads walk alike, so one head's blocks are walked and the sums multiplied; the parts of a
 * block walk together what it walks unsplit. */
static struct walk walk_of(const struct problem *problem)
{
    size_t heads = problem->batch * problem->kv_heads;
    struct problem unsplit = *problem;
    struct walk walk = {0};
    size_t blocks;

    unsplit.parts = 1;
    blocks = problem_item_count(&unsplit) / heads;
    for (size_t i = 0; i < blocks; i++) {
        struct problem_item item = problem_item(&unsplit, i);
        size_t keys = item_keys(problem, &item);
        walk.tiles = saturating_add(walk.tiles, item.tile_count);
        walk.keys = saturating_add(walk.keys, keys);
        walk.mask_elems = saturating_add(walk.mask_elems, saturating_mul(keys, item.rows));
    }
    walk.tiles = saturating_mul(walk.tiles, heads);
    walk.keys = saturating_mul(walk.keys, heads);
    walk.mask_elems = problem->mask ? saturating_mul(walk.mask_elems, heads) : 0;
    return walk;
}

static size_t dram_read_bytes(const struct problem *problem, const struct walk *walk)
{
    size_t storage_bytes = dtype_bytes(problem->dtype);
    size_t key_elems = saturating_add(problem->head_dim, problem->head_dim_v);
    size_t q_elems = saturating_mul(problem_q_elems(problem), problem_parts(problem));
    size_t elems = saturating_add(q_elems, saturating_mul(walk->keys, key_elems));
    size_t mask_bytes = saturating_mul(walk->mask_elems, sizeof(float));

    return saturating_add(saturating_add(saturating_mul(elems, storage_bytes), mask_bytes),
                          problem_parts_bytes(problem));
}

static size_t dram_write_bytes(const struct problem *problem)
{
    size_t elems = saturating_add(problem_out_elems(problem), problem_lse_elems(problem));

    return saturating_add(saturating_mul(elems, sizeof(float)), problem_parts_bytes(problem));
}

struct problem_traffic tile_program_traffic(const struct problem *problem,
                                            const struct program *program)
{
    struct program_traffic per_tile = program_tile_traffic(program);
    struct program_traffic per_item = program_item_traffic(program);
    struct walk walk = walk_of(problem);
    size_t items = problem_item_count(problem);

    return (struct problem_traffic){
        .dram_read_bytes = dram_read_bytes(problem, &walk),
        .dram_write_bytes = dram_write_bytes(problem),
        .scratch_read_bytes = saturating_add(saturating_mul(per_tile.read_bytes, walk.tiles),
                                             saturating_mul(per_item.read_bytes, items)),
        .scratch_write_bytes = saturating_add(saturating_mul(per_tile.write_bytes, walk.tiles),
                                              saturating_mul(per_item.write_bytes, items)),
        .copy_bytes = saturating_add(saturating_mul(per_tile.copy_bytes, walk.tiles),
                                     saturating_mul(per_item.copy_bytes, items)),
    };
}

size_t tile_program_read_bytes(const struct problem *problem, size_t item_end)
{
    size_t storage_bytes = dtype_bytes(problem->dtype);
    size_t key_elems = saturating_add(problem->head_dim, problem->head_dim_v);
    size_t part_bytes = problem_parts(problem) > 1 ? problem_part_bytes(problem) : 0;
    size_t bytes = saturating_mul(part_bytes, item_end);

    for (size_t i = 0; i < item_end; i++) {
        struct problem_item item = problem_item(problem, i);
        size_t keys = item_keys(problem, &item);
        size_t elems = saturating_add(saturating_mul(item.rows, problem->head_dim),
                                      saturating_mul(keys, key_elems));
        size_t mask_elems = problem->mask ? saturating_mul(keys, item.rows) : 0;
        bytes = saturating_add(bytes, saturating_mul(elems, storage_bytes));
        bytes = saturating_add(bytes, saturating_mul(mask_elems, sizeof(float)));
    }
    return bytes;
}
