#include "host/app/cell_list.h"

#include "host/base/size.h"
#include "host/base/text.h"
#include "host/base/units.h"
#include "host/scratch/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Axes of the cross, from the outermost to the innermost. */
enum axis_id {
    AXIS_BATCH,
    AXIS_Q_HEADS,
    AXIS_KV_HEADS,
    AXIS_SEQ_Q,
    AXIS_HEAD_DIM,
    AXIS_HEAD_DIM_V,
    AXIS_BLOCK_M,
    AXIS_BLOCK_N,
    AXIS_PARTS,
    AXIS_DTYPE,
    AXIS_TILES,
    AXIS_POLICY,
};

enum { AXIS_COUNT = 12 };

/* The options that give the values of the axes. */
static const char *const axis_options[AXIS_COUNT] = {
    [AXIS_BATCH] = "--batch",       [AXIS_Q_HEADS] = "--q-heads",
    [AXIS_KV_HEADS] = "--kv-heads", [AXIS_SEQ_Q] = "--seq-q",
    [AXIS_HEAD_DIM] = "--head-dim", [AXIS_HEAD_DIM_V] = "--head-dim-v",
    [AXIS_BLOCK_M] = "--block-m",   [AXIS_BLOCK_N] = "--block-n",
    [AXIS_PARTS] = "--parts",       [AXIS_DTYPE] = "--dtype",
    [AXIS_TILES] = "--tiles",       [AXIS_POLICY] = "--policy",
};

struct axis {
    const size_t *values; /* borrowed */
    size_t count;         /* >= 1 */
};

/* Stands on an axis for what preset_kv_heads and preset_head_dim_v say. */
static const size_t follow = 0;

static const size_t every_policy[POLICY_COUNT] = {POLICY_UNSCOPED, POLICY_SCOPED, POLICY_NESTED};

static struct axis axis_of(const struct ranges *given, const size_t *standard)
{
    return given->count > 0 ? (struct axis){given->values, given->count}
                            : (struct axis){standard, 1};
}

/* Names ------------------------------------------------------------------------------------- */

static void append(char name[CELL_NAME_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(char name[CELL_NAME_BYTES], const char *format, ...)
{
    size_t used = strlen(name);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(name + used, CELL_NAME_BYTES - used, format, arguments);
    va_end(arguments);
}

static void append_if(char *name, const char *key, size_t value, size_t standard)
{
    if (value != standard) {
        append(name, "/%s:%zu", key, value);
    }
}

/* The shortest decimal that reads back as the same double. */
static void append_real(char *name, const char *key, double value)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    append(name, "/%s:%s", key, text);
}

static void append_shape(char *name, const struct problem *problem, const struct preset *preset)
{
    const struct problem *standard = &preset->problem;

    append_if(name, "head_dim", problem->head_dim, standard->head_dim);
    append_if(name, "head_dim_v", problem->head_dim_v,
              preset_head_dim_v(preset, problem->head_dim));
    append_if(name, "seq_q", problem->seq_q, standard->seq_q);
    append_if(name, "q_heads", problem->q_heads, standard->q_heads);
    append_if(name, "kv_heads", problem->kv_heads, preset_kv_heads(preset, problem->q_heads));
    append_if(name, "batch", problem->batch, standard->batch);
    append_if(name, "block_m", problem->block_m, standard->block_m);
    append_if(name, "block_n", problem->block_n, standard->block_n);
}

static void append_mask(char *name, const struct problem *problem, const struct problem *standard)
{
    append_if(name, "causal", problem->causal, standard->causal);
    if (problem->window_left != standard->window_left ||
        problem->window_right != standard->window_right) {
        append(name, "/window:%lld,%lld", (long long)problem->window_left,
               (long long)problem->window_right);
    }
    if (problem->softcap != standard->softcap) {
        append_real(name, "softcap", problem->softcap);
    }
    append_if(name, "alibi", problem->alibi, standard->alibi);
    append_if(name, "sinks", problem->sinks, standard->sinks);
    append_if(name, "mask", problem->mask, standard->mask);
    if (problem->scale != standard->scale) {
        append_real(name, "scale", problem->scale);
    }
}

/* A device may leave a cell less (cell_limit_pool); its name stays. */
static size_t asked_pool(const struct settings *settings)
{
    return settings->pool.bytes != 0 ? settings->pool.bytes
                                     : preset_at(settings->preset)->pool_bytes;
}

void cell_list_name(const struct settings *settings, struct cell *cell)
{
    const struct preset *preset = preset_at(settings->preset);

    (void)snprintf(cell->name, sizeof cell->name, "attention/%s/%s/%s/S:%zu", cell->preset,
                   policy_name(cell->policy), dtype_name(cell->problem.dtype),
                   size_div_up(cell->problem.seq_kv, cell->problem.block_n));
    append_shape(cell->name, &cell->problem, preset);
    if (cell->pool_grow) {
        append(cell->name, "/pool:grow");
    } else {
        append_if(cell->name, "pool", asked_pool(settings), preset->pool_bytes);
    }
    append_if(cell->name, "pes", settings->pes, 0);
    if (settings->kernel != SETTINGS_KERNEL_AUTO) {
        append(cell->name, "/kernel:%s",
               settings->kernel == SETTINGS_KERNEL_SIMD ? "simd" : "simt");
    }
    if (cell->arena != preset->arena) {
        append(cell->name, "/arena:%s", pe_arenas_space_name(cell->arena));
    }
    append_if(cell->name, "parts", problem_parts(&cell->problem), problem_parts(&preset->problem));
    append_mask(cell->name, &cell->problem, &preset->problem);
}

/* Name without its third part: attention/PRESET/POLICY/rest -> attention/PRESET/rest. */
void cell_list_group(const struct cell *cell, char group[CELL_NAME_BYTES])
{
    const char *policy = strchr(cell->name, '/');
    policy = policy != NULL ? strchr(policy + 1, '/') : NULL;
    const char *rest = policy != NULL ? strchr(policy + 1, '/') : NULL;

    if (rest == NULL) {
        (void)snprintf(group, CELL_NAME_BYTES, "%s", cell->name);
        return;
    }
    (void)snprintf(group, CELL_NAME_BYTES, "%.*s%s", (int)(policy - cell->name), cell->name, rest);
}

bool cell_list_same_config(const struct cell *a, const struct cell *b)
{
    const struct problem *p = &a->problem;
    const struct problem *q = &b->problem;

    return strcmp(a->preset, b->preset) == 0 && p->batch == q->batch && p->q_heads == q->q_heads &&
           p->kv_heads == q->kv_heads && p->seq_q == q->seq_q && p->head_dim == q->head_dim &&
           p->head_dim_v == q->head_dim_v && p->block_m == q->block_m && p->block_n == q->block_n &&
           p->dtype == q->dtype && a->arena == b->arena && problem_parts(p) == problem_parts(q);
}

/* Cells ------------------------------------------------------------------------------------- */

/* Mask options: the preset's, and what the command line adds or replaces. */
static void set_mask(const struct settings *settings, struct problem *out)
{
    out->causal = out->causal || settings->causal;
    if (settings->window.given) {
        out->window_left = settings->window.left;
        out->window_right = settings->window.right;
    }
    out->softcap = settings->softcap != 0.0 ? settings->softcap : out->softcap;
    out->alibi = out->alibi || settings->alibi;
    out->sinks = out->sinks || settings->sinks;
    out->mask = out->mask || settings->mask;
    out->scale = settings->scale != 0.0 ? settings->scale : out->scale;
}

static enum status check_heads(const struct problem *problem)
{
    if (problem->q_heads % problem->kv_heads != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--q-heads/--kv-heads",
                           "%zu query heads can not share %zu key/value heads evenly: --q-heads "
                           "must be a multiple of --kv-heads",
                           problem->q_heads, problem->kv_heads);
    }
    return STATUS_OK;
}

/* A field of a problem and the option that sets it. */
static const char *option_of(const char *field)
{
    static const struct {
        const char *field;
        const char *option;
    } known[] = {
        {"batch", "--batch"},         {"q_heads", "--q-heads"},   {"kv_heads", "--kv-heads"},
        {"seq_q", "--seq-q"},         {"head_dim", "--head-dim"}, {"head_dim_v", "--head-dim-v"},
        {"block_m", "--block-m"},     {"block_n", "--block-n"},   {"window_left", "--window"},
        {"window_right", "--window"}, {"scale", "--scale"},       {"softcap", "--softcap"},
        {"parts", "--parts"},         {"mask", "--mask"},         {"q", "the tensor q"},
        {"k", "the tensor k"},        {"v", "the tensor v"},      {"out", "the tensor out"},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].field, field) == 0) {
            return known[i].option;
        }
    }
    return field;
}

/* The recorded refusal of a problem, in words of the command line. */
static enum status rename_refusal(enum status refusal)
{
    const struct status_record last = *status_last();

    status_clear();
    return STATUS_FAIL(refusal, option_of(last.what), "%s", last.why);
}

/* Valid problems alone: rows of a head can not wrap. */
static enum status check_blocks(const struct problem *problem)
{
    char count[UNITS_TEXT_BYTES];
    char most[UNITS_TEXT_BYTES];
    size_t rows = problem->seq_q * problem_group(problem);
    size_t blocks = size_div_up(rows, problem->block_m);

    if (blocks > CELL_LIST_MAX_BLOCKS) {
        return STATUS_FAIL(STATUS_BAD_INPUT, "--seq-q/--block-m",
                           "%s blocks of %zu query rows a head are too many (at most %s): a "
                           "shorter --seq-q, or a larger --block-m",
                           units_format_count(blocks, count), problem->block_m,
                           units_format_count(CELL_LIST_MAX_BLOCKS, most));
    }
    return STATUS_OK;
}

static enum status check_problem(const struct problem *problem)
{
    enum status status = STATUS_OK;

    STATUS_TRY(check_heads(problem));
    status = problem_validate(problem);
    if (status != STATUS_OK) {
        return rename_refusal(status);
    }
    STATUS_TRY(check_blocks(problem));
out:
    return status;
}

static enum status set_problem(const struct settings *settings, const struct preset *preset,
                               const size_t value[AXIS_COUNT], struct problem *out)
{
    *out = preset->problem;
    out->batch = value[AXIS_BATCH];
    out->q_heads = value[AXIS_Q_HEADS];
    out->kv_heads = value[AXIS_KV_HEADS] == follow ? preset_kv_heads(preset, out->q_heads)
                                                   : value[AXIS_KV_HEADS];
    out->seq_q = value[AXIS_SEQ_Q];
    out->head_dim = value[AXIS_HEAD_DIM];
    out->head_dim_v = value[AXIS_HEAD_DIM_V] == follow ? preset_head_dim_v(preset, out->head_dim)
                                                       : value[AXIS_HEAD_DIM_V];
    out->block_m = value[AXIS_BLOCK_M];
    out->block_n = value[AXIS_BLOCK_N];
    out->dtype = (enum dtype)value[AXIS_DTYPE];
    out->parts = value[AXIS_PARTS];
    set_mask(settings, out);
    if (preset->tiles != NULL && !size_mul(value[AXIS_TILES], out->block_n, &out->seq_kv)) {
        return STATUS_FAIL(STATUS_RANGE, "--tiles", "%zu tiles of %zu keys are too many to count",
                           value[AXIS_TILES], out->block_n);
    }
    return check_problem(out);
}

static enum status set_cell(const struct settings *settings, const size_t value[AXIS_COUNT],
                            struct cell *cell)
{
    const struct preset *preset = preset_at(settings->preset);

    *cell = (struct cell){
        .preset = preset->name,
        .policy = (enum policy)value[AXIS_POLICY],
        .style = settings->kernel == SETTINGS_KERNEL_SIMT ? KERNEL_SIMT : KERNEL_SIMD,
        .any_style = settings->kernel == SETTINGS_KERNEL_AUTO,
        .pes = settings->pes,
        .arena = settings_arena(settings),
        .local_bytes = SIZE_MAX,
        .pool_bytes = asked_pool(settings),
        .pool_grow = settings->pool.grow,
        .alignment = ARENA_DEFAULT_ALIGNMENT,
        .poison = settings->poison,
    };
    enum status status = set_problem(settings, preset, value, &cell->problem);
    if (status == STATUS_OK) {
        cell_list_name(settings, cell);
    }
    return status;
}

/* Moves on to the next combination; false after the last. */
static bool next(size_t index[AXIS_COUNT], const struct axis axes[AXIS_COUNT])
{
    for (size_t i = AXIS_COUNT; i-- > 0;) {
        if (++index[i] < axes[i].count) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

/* The options whose lists have more than one value, and how many: "--tiles x --policy", "5 x 3". */
static void describe_lists(const struct axis axes[AXIS_COUNT], struct text *names,
                           struct text *counts)
{
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        if (axes[i].count > 1) {
            text_add(names, "%s%s", names->used > 0 ? " x " : "", axis_options[i]);
            text_add(counts, "%s%zu", counts->used > 0 ? " x " : "", axes[i].count);
        }
    }
}

static enum status count_cells(const struct axis axes[AXIS_COUNT], size_t *out)
{
    char names[256];
    char counts[256];

    *out = 1;
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        if (!size_mul(*out, axes[i].count, out) || *out > CELL_LIST_MAX) {
            struct text names_text = text_begin(names, sizeof names);
            struct text counts_text = text_begin(counts, sizeof counts);
            describe_lists(axes, &names_text, &counts_text);
            return STATUS_FAIL(STATUS_BAD_INPUT, names,
                               "the lists cross to %s rows, more than %d: shorten them, or make "
                               "several runs",
                               counts, CELL_LIST_MAX);
        }
    }
    return STATUS_OK;
}

static enum status cross(const struct settings *settings, const struct axis axes[AXIS_COUNT],
                         struct cell_list *out)
{
    enum status status = STATUS_OK;
    size_t index[AXIS_COUNT] = {0};
    size_t value[AXIS_COUNT];
    size_t count = 0;

    STATUS_TRY(count_cells(axes, &count));
    out->cells = calloc(count, sizeof *out->cells);
    if (out->cells == NULL) {
        status = STATUS_FAIL(STATUS_NO_MEMORY, "rows", "no memory for %zu", count);
        goto out;
    }
    do {
        for (size_t i = 0; i < AXIS_COUNT; i++) {
            value[i] = axes[i].values[index[i]];
        }
        STATUS_TRY(set_cell(settings, value, &out->cells[out->count]));
        out->count++;
    } while (next(index, axes));
out:
    return status;
}

enum status cell_list_init(const struct settings *settings, struct cell_list *out)
{
    enum status status = STATUS_OK;
    const struct preset *preset = preset_at(settings->preset);
    const struct problem *standard = &preset->problem;
    const size_t dtype = standard->dtype;
    const size_t parts = problem_parts(standard);
    const bool given = settings->block.rows != 0;
    struct ranges tiles = {0};

    *out = (struct cell_list){0};
    if (settings->tiles.count == 0 && preset->tiles != NULL) {
        STATUS_TRY(ranges_parse("--tiles", preset->tiles, 1, &tiles));
    }
    const struct axis axes[AXIS_COUNT] = {
        [AXIS_BATCH] = axis_of(&settings->batch, &standard->batch),
        [AXIS_Q_HEADS] = axis_of(&settings->q_heads, &standard->q_heads),
        [AXIS_KV_HEADS] = axis_of(&settings->kv_heads, &follow),
        [AXIS_SEQ_Q] = axis_of(&settings->seq_q, &standard->seq_q),
        [AXIS_HEAD_DIM] = axis_of(&settings->head_dim, &standard->head_dim),
        [AXIS_HEAD_DIM_V] = axis_of(&settings->head_dim_v, &follow),
        [AXIS_BLOCK_M] =
            axis_of(&settings->block_m, given ? &settings->block.rows : &standard->block_m),
        [AXIS_BLOCK_N] =
            axis_of(&settings->block_n, given ? &settings->block.keys : &standard->block_n),
        [AXIS_PARTS] = axis_of(&settings->parts, &parts),
        [AXIS_DTYPE] = axis_of(&settings->dtypes, &dtype),
        [AXIS_TILES] = axis_of(settings->tiles.count > 0 ? &settings->tiles : &tiles, &follow),
        [AXIS_POLICY] = settings->policies.count > 0
                            ? (struct axis){settings->policies.values, settings->policies.count}
                            : (struct axis){every_policy, POLICY_COUNT},
    };
    STATUS_TRY(cross(settings, axes, out));
out:
    ranges_fini(&tiles);
    if (status != STATUS_OK) {
        cell_list_fini(out);
    }
    return status;
}

enum status cell_list_set_block(const struct settings *settings, struct cell *cell, size_t block_m,
                                size_t block_n)
{
    enum status status = STATUS_OK;
    struct problem *problem = &cell->problem;
    const size_t tiles = size_div_up(problem->seq_kv, problem->block_n);

    problem->block_m = block_m;
    problem->block_n = block_n;
    if (preset_at(settings->preset)->tiles != NULL && !size_mul(tiles, block_n, &problem->seq_kv)) {
        return STATUS_FAIL(STATUS_RANGE, "--tiles", "%zu tiles of %zu keys are too many to count",
                           tiles, block_n);
    }
    STATUS_TRY(check_problem(problem));
    cell_list_name(settings, cell);
out:
    return status;
}

void cell_list_fini(struct cell_list *list)
{
    free(list->cells);
    *list = (struct cell_list){0};
}

void cell_list_filter(struct cell_list *list, bool (*keep)(const char *name))
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (keep(list->cells[i].name)) {
            list->cells[kept++] = list->cells[i];
        }
    }
    list->count = kept;
}

enum status cell_list_choose(struct cell_list *list)
{
    cell_list_filter(list, gbench_filter_matches);
    if (list->count > 0) {
        return STATUS_OK;
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_filter", "no row has such a name");
    status_hint("rows have names such as %s", list->cells[0].name); /* none has taken its place */
    return status;
}

void cell_list_place(struct cell_list *list, enum kernel_style style, size_t pes)
{
    for (size_t i = 0; i < list->count; i++) {
        list->cells[i].style = style;
        list->cells[i].any_style = false;
        list->cells[i].pes = pes;
    }
}

void cell_list_local(struct cell_list *list, size_t local_bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        list->cells[i].local_bytes = local_bytes;
        cell_limit_pool(&list->cells[i]);
    }
}
