/* See sweep_case.h. */
#include "tests/device/sweep_case.h"

#include "host/attention/run_state.h"

struct spoiled spoiled;
struct record record;
struct device *device;
static struct topology topology;

/* The names are the linker's. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
 */
enum status __real_attention_check(struct attention *attention, struct attention_bound *bound,
                                   const struct reference *reference, bool poison,
                                   struct attention_check *out);
enum status __wrap_attention_check(struct attention *attention, struct attention_bound *bound,
                                   const struct reference *reference, bool poison,
                                   struct attention_check *out);
enum status __real_attention_launch(struct attention *attention, struct attention_bound *bound,
                                    size_t item_end, bool poison, size_t count,
                                    struct event_time *time);
enum status __wrap_attention_launch(struct attention *attention, struct attention_bound *bound,
                                    size_t item_end, bool poison, size_t count,
                                    struct event_time *time);
size_t __real_attention_own_local_bytes(const struct attention *attention);
size_t __wrap_attention_own_local_bytes(const struct attention *attention);

enum status __wrap_attention_check(struct attention *attention, struct attention_bound *bound,
                                   const struct reference *reference, bool poison,
                                   struct attention_check *out)
{
    enum status status = __real_attention_check(attention, bound, reference, poison, out);
    spoiled.seen = NULL; /* what it launched was no timing */
    if (spoiled.checks++ == spoiled.at) {
        out->output_hash ^= spoiled.check == SPOIL_HASH ? 1 : 0;
        out->touch.peak_bytes += spoiled.check == SPOIL_PEAK ? 1 : 0;
        out->touch.touched_lines -= spoiled.check == SPOIL_LINES ? 1 : 0;
        out->parts_touched_bytes += spoiled.check == SPOIL_PARTS ? 1 : 0;
        out->touch.guards_intact &= spoiled.check != SPOIL_GUARD;
        out->verdict.verified &= spoiled.check != SPOIL_VERDICT;
    }
    return status;
}

enum status __wrap_attention_launch(struct attention *attention, struct attention_bound *bound,
                                    size_t item_end, bool poison, size_t count,
                                    struct event_time *time)
{
    enum status status = __real_attention_launch(attention, bound, item_end, poison, count, time);
    spoiled.launches++;
    spoiled.local_launches += bound->arenas->shape.space == PE_ARENAS_LOCAL ? 1 : 0;
    if (spoiled.host_ns > 0.0) {
        time->host_ns = spoiled.host_ns;
        time->event_ns = spoiled.host_ns;
    }
    if (spoiled.event_factor > 0.0) {
        time->event_ns *= spoiled.event_factor;
    }
    if (spoiled.first_ns > 0.0 && bound != spoiled.seen) {
        time->host_ns = spoiled.first_ns;
        time->event_ns = spoiled.first_ns;
        spoiled.seen = bound;
    }
    if (spoiled.insane_every > 0 && spoiled.launches % spoiled.insane_every == 0) {
        time->sane = false;
        time->event_ns = (double)NAN;
    }
    return status;
}

size_t __wrap_attention_own_local_bytes(const struct attention *attention)
{
    return spoiled.own_local_bytes > 0 ? spoiled.own_local_bytes
                                       : __real_attention_own_local_bytes(attention);
}

/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static enum status on_row(void *user, const struct cell *cell, const struct cell_result *result,
                          const struct cell_run *runs, size_t count)
{
    struct record *out = user;
    if (out->row_count == out->fail_row) {
        return STATUS_FAIL(STATUS_IO, "row", "no space left on the disk");
    }
    assert_true(out->row_count < MAX_CELLS && count <= MAX_RUNS);
    assert_true((runs == NULL) == (count == 0));
    struct row *row = &out->rows[out->row_count++];
    snprintf(row->name, sizeof row->name, "%s", cell->name);
    row->result = *result;
    row->run_count = count;
    if (runs != NULL) {
        memcpy(row->runs, runs, count * sizeof *runs);
    }
    return STATUS_OK;
}

static void on_ratio(void *user, const struct cell_ratio *ratio)
{
    struct record *out = user;
    assert_true(out->ratio_count < MAX_RATIOS);
    out->ratios[out->ratio_count++] = *ratio;
}

static void on_progress(void *user, size_t index, size_t count, const struct cell *cell,
                        const char *stage)
{
    struct record *out = user;
    assert_true(index < count);
    assert_non_null(cell);
    snprintf(out->stage, sizeof out->stage, "%s", stage);
    out->progress_count = count;
}

static bool interrupted(void *user)
{
    struct record *out = user;
    if (out->interrupt_at != NULL && strcmp(out->stage, out->interrupt_at) == 0) {
        return out->interrupt_polls-- == 0;
    }
    return out->row_count >= out->interrupt_rows;
}

static const struct sweep_sink sink = {.user = &record,
                                       .row = on_row,
                                       .ratio = on_ratio,
                                       .progress = on_progress,
                                       .interrupted = interrupted};

struct cell tiny(enum policy policy, size_t tiles, size_t pool_bytes)
{
    struct cell cell = {
        .preset = "tiny",
        .policy = policy,
        .problem = {.batch = 1,
                    .q_heads = 1,
                    .kv_heads = 1,
                    .seq_q = 16,
                    .seq_kv = tiles * 8,
                    .head_dim = 16,
                    .head_dim_v = 16,
                    .block_m = 4,
                    .block_n = 8,
                    .dtype = DTYPE_F32,
                    .window_left = -1,
                    .window_right = -1},
        .style = KERNEL_SIMD,
        .pes = PES,
        .pool_bytes = pool_bytes,
        .alignment = 128,
    };
    snprintf(cell.name, sizeof cell.name, "attention/tiny/%s/f32/S:%zu", policy_name(policy),
             tiles);
    return cell;
}

size_t pool_for(size_t tiles)
{
    struct cell cell = tiny(POLICY_UNSCOPED, tiles, 0);
    struct cell_result result;
    cell.pool_grow = true;
    DEVICE_OK(cell_plan(&cell, 0, 0, NULL, &result));
    return cell.pool_bytes;
}

size_t tiny_group(struct cell *cells, size_t tiles, size_t fit)
{
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        cells[i] = tiny((enum policy)i, tiles, pool_for(fit));
    }
    return POLICY_COUNT;
}

struct sweep_options quick(void)
{
    return (struct sweep_options){.repetitions = 2,
                                  .min_time_s = 1e-4,
                                  .seed = 3,
                                  .check_work = REFERENCE_DEFAULT_WORK,
                                  .pair_blocks = 5,
                                  .pair_rounds = 2,
                                  .sample_s = 1e-5,
                                  .cut_s = 1e6};
}

enum status run(struct cell *cells, size_t count, const struct sweep_options *options,
                struct sweep_outcome *outcome)
{
    return sweep_run(device, &topology, cells, count, options, &sink, outcome);
}

struct sweep_outcome run_fine(struct cell *cells, size_t count, const struct sweep_options *options)
{
    struct sweep_outcome outcome = {0};
    DEVICE_OK(run(cells, count, options, &outcome));
    return outcome;
}

int fresh(void **state)
{
    (void)state;
    status_clear();
    memset(&record, 0, sizeof record);
    memset(&spoiled, 0, sizeof spoiled);
    record.interrupt_rows = NEVER;
    record.fail_row = NEVER;
    return 0;
}

const struct cell_ratio *find_ratio(enum policy numerator, enum policy denominator)
{
    for (size_t i = 0; i < record.ratio_count; i++) {
        if (record.ratios[i].numerator == numerator &&
            record.ratios[i].denominator == denominator) {
            return &record.ratios[i];
        }
    }
    return NULL;
}

int open_device(void **state)
{
    (void)state;
    device = device_case_device();
    DEVICE_OK(topology_init(&topology));
    return 0;
}

int close_device(void **state)
{
    (void)state;
    device_close(device);
    return 0;
}
