/* What scratch management itself costs on the host: an allocation, a scope, an allocation within a
 * scope, and the replay of a long program. Prints one table; takes --benchmark_* flags.
 *
 * A fast operation is repeated many times in one iteration, so that the loop's own cost is spread
 * thin; what is left in each is one call of gbench_keep, a nanosecond or two. Times are medians
 * over the repetitions, the spread is their coefficient of variation.
 */
#include "bench/gbench.h"
#include "host/attention/tile_program.h"
#include "host/base/units.h"
#include "host/scratch/arena.h"
#include "host/scratch/footprint.h"
#include "host/scratch/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#define COUNTER_OPERATIONS "operations"
#define COUNTER_GROWTH "growth_kib"

enum {
    BATCH = 1024,        /* fast operations an iteration */
    PIECE_BYTES = 4096,  /* p of the reference program */
    TILES = 1000000,     /* of the replay */
    REPETITIONS = 5,     /* unless --benchmark_repetitions says otherwise */
    POOL_BYTES = 1 << 20 /* of the reference program */
};

#define MIN_TIME_S 0.05

static void skip_on(struct gbench_state *state, enum status status)
{
    if (status != STATUS_OK) {
        gbench_skip(state, status_name(status));
    }
}

static enum status push_batch(struct arena *arena)
{
    enum status status = STATUS_OK;
    size_t address = 0;
    for (size_t i = 0; i < BATCH && status == STATUS_OK; i++) {
        status = arena_push(arena, PIECE_BYTES, ARENA_DEFAULT_ALIGNMENT, &address);
        gbench_keep(&address);
    }
    return status == STATUS_OK ? arena_rewind(arena, 0) : status;
}

static void body_push(struct gbench_state *state, void *context)
{
    struct arena arena;
    (void)context;
    skip_on(state, arena_init(&arena, ARENA_DEFAULT_BASE, (size_t)BATCH * PIECE_BYTES));
    while (gbench_keep_running(state)) {
        skip_on(state, push_batch(&arena));
    }
    gbench_counter(state, COUNTER_OPERATIONS, BATCH);
}

static enum status scope_batch(struct arena *arena)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < BATCH && status == STATUS_OK; i++) {
        const size_t mark = arena_mark(arena);
        gbench_keep(arena);
        status = arena_rewind(arena, mark);
    }
    return status;
}

static void body_scope(struct gbench_state *state, void *context)
{
    struct arena arena;
    (void)context;
    skip_on(state, arena_init(&arena, ARENA_DEFAULT_BASE, POOL_BYTES));
    while (gbench_keep_running(state)) {
        skip_on(state, scope_batch(&arena));
    }
    gbench_counter(state, COUNTER_OPERATIONS, BATCH);
}

static enum status alloc_in_scope(struct scratch *scratch)
{
    enum status status = STATUS_OK;
    struct scratch_scope scope;
    struct scratch_handle handle;
    STATUS_TRY(scratch_begin(scratch, &scope));
    STATUS_TRY(scratch_alloc(scratch, "p", DTYPE_F16, shape_2d(32, 64), &handle));
    gbench_keep(&handle);
    STATUS_TRY(scratch_end(scratch, scope));
out:
    return status;
}

static enum status alloc_batch(struct scratch *scratch)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < BATCH && status == STATUS_OK; i++) {
        status = alloc_in_scope(scratch);
    }
    return status;
}

static void body_alloc_in_scope(struct gbench_state *state, void *context)
{
    struct scratch scratch = {0};
    (void)context;
    skip_on(state, scratch_init(&scratch, &(struct scratch_options){.capacity = POOL_BYTES}));
    while (gbench_keep_running(state)) {
        skip_on(state, alloc_batch(&scratch));
    }
    gbench_counter(state, COUNTER_OPERATIONS, BATCH);
    scratch_fini(&scratch);
}

static double peak_memory_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss : (double)NAN;
}

static enum status replay(const struct program *program, size_t tiles)
{
    const struct footprint_request request = {.policy = POLICY_NESTED,
                                              .tiles = tiles,
                                              .pool_bytes = POOL_BYTES,
                                              .alignment = ARENA_DEFAULT_ALIGNMENT};
    struct footprint footprint;
    const enum status status = footprint_plan(program, &request, &footprint);
    gbench_keep(&footprint);
    return status;
}

/* The first replay, of one tile, takes the memory that any replay needs. */
static void body_replay(struct gbench_state *state, void *context)
{
    const struct program *program = context;
    double before = 0;
    skip_on(state, replay(program, 1));
    before = peak_memory_kib();
    while (gbench_keep_running(state)) {
        skip_on(state, replay(program, TILES));
    }
    gbench_counter(state, COUNTER_OPERATIONS, TILES);
    gbench_counter(state, COUNTER_GROWTH, peak_memory_kib() - before);
}

static const struct problem cap16 = {.batch = 1,
                                     .q_heads = 4,
                                     .kv_heads = 4,
                                     .seq_q = 128,
                                     .seq_kv = 64,
                                     .head_dim = 128,
                                     .head_dim_v = 128,
                                     .block_m = 32,
                                     .block_n = 64,
                                     .dtype = DTYPE_F16,
                                     .window_left = -1,
                                     .window_right = -1};

/* The row under way, and what was seen of all. */
struct table {
    double iteration_ns;
    double operations; /* an iteration */
    double growth_kib; /* NaN = not measured */
    size_t rows;       /* printed */
    bool failed;       /* any run */
};

static double counter_of(const struct gbench_run *run, const char *name)
{
    for (size_t i = 0; i < run->counter_count; i++) {
        if (strcmp(run->counters[i].name, name) == 0) {
            return run->counters[i].value;
        }
    }
    return (double)NAN;
}

static void fill_row(struct table *table, const struct gbench_run *run)
{
    table->iteration_ns = run->real_time_ns;
    table->operations = counter_of(run, COUNTER_OPERATIONS);
    table->growth_kib = counter_of(run, COUNTER_GROWTH);
}

static void print_header(void)
{
    printf("%-30s %12s %10s %12s %8s %12s\n", "operation", "ns each", "batch", "batch time",
           "spread", "peak memory");
}

/* cv: NaN = one repetition, no spread known. */
static void print_row(struct table *table, const char *name, double cv)
{
    char operations[UNITS_TEXT_BYTES];
    char time[UNITS_TEXT_BYTES];
    char spread[UNITS_TEXT_BYTES] = "-";
    char growth[UNITS_TEXT_BYTES] = "-";
    if (table->rows++ == 0) {
        print_header();
    }
    if (!isnan(cv)) {
        (void)snprintf(spread, sizeof spread, "%.1f %%", 100 * cv);
    }
    if (!isnan(table->growth_kib)) {
        (void)snprintf(growth, sizeof growth, "+%.0f KiB", table->growth_kib);
    }
    printf("%-30s %12.3f %10s %12s %8s %12s\n", name, table->iteration_ns / table->operations,
           units_format_count((size_t)table->operations, operations),
           units_format_ns(table->iteration_ns, time), spread, growth);
}

/* The median comes before the cv, which ends a benchmark; a single repetition has neither. */
static void on_run(const struct gbench_run *run, void *user)
{
    struct table *table = user;
    if (run->failed) {
        table->failed = true;
        fprintf(stderr, "arena_bench: error: %s: %s\n", run->run_name, run->message);
    } else if (strcmp(run->aggregate_name, "median") == 0) {
        fill_row(table, run);
    } else if (strcmp(run->aggregate_name, "cv") == 0) {
        print_row(table, run->run_name, run->real_time_ns);
    } else if (run->type == GBENCH_ITERATION && run->repetitions == 1) {
        fill_row(table, run);
        print_row(table, run->run_name, (double)NAN);
    }
}

static enum status register_all(struct program *program)
{
    enum status status = STATUS_OK;
    const bool length_given = gbench_flag_min_time_s() > 0 || gbench_flag_iterations() > 0;
    const struct gbench_options options = {
        .repetitions = gbench_flag_repetitions() > 0 ? 0 : REPETITIONS,
        .min_time_s = length_given ? 0 : MIN_TIME_S,
    };
    STATUS_TRY(gbench_register("arena/push", body_push, NULL, &options));
    STATUS_TRY(gbench_register("arena/begin_end", body_scope, NULL, &options));
    STATUS_TRY(gbench_register("scratch/begin_alloc_end", body_alloc_in_scope, NULL, &options));
    STATUS_TRY(gbench_register("footprint/cap16/nested/tile", body_replay, program, &options));
out:
    return status;
}

static enum status run_all(struct table *table)
{
    enum status status = STATUS_OK;
    struct program program = {0};
    size_t count = 0;
    STATUS_TRY(tile_program_record(&cap16, &program));
    STATUS_TRY(register_all(&program));
    STATUS_TRY(gbench_run_registered(on_run, table, &count));
    if (count == 0) {
        status =
            STATUS_FAIL(STATUS_BAD_INPUT, "--benchmark_filter", "no benchmark has such a name");
    }
out:
    gbench_clear();
    program_fini(&program);
    return status;
}

static enum status check_arguments(int argc, char **argv)
{
    return argc <= 1 ? STATUS_OK
                     : STATUS_FAIL(STATUS_BAD_INPUT, argv[1],
                                   "not known here: arena_bench takes --benchmark_* flags alone");
}

int main(int argc, char **argv)
{
    enum status status = STATUS_OK;
    struct table table = {0};
    int code = EXIT_SUCCESS;
    STATUS_TRY(gbench_init(&argc, argv));
    STATUS_TRY(check_arguments(argc, argv));
    STATUS_TRY(run_all(&table));
out:
    if (status != STATUS_OK) {
        fprintf(stderr, "arena_bench: error: %s: %s\n", status_last()->what, status_last()->why);
        code = status == STATUS_BAD_INPUT ? 2 : EXIT_FAILURE;
    } else if (table.failed) {
        code = EXIT_FAILURE;
    }
    status_clear();
    return code;
}
