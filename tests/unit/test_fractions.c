/* A run's shares of the roofline: by hand, in repetitions and aggregates, of the whole problem and
 * of the part that was timed; the roofline in the context and read back; the table's column. */
#include "host/app/writers.h"
#include "tests/unit/app_fixture.h"

/* 400 GFLOP/s; 20 GB/s of memory. */
static const struct roofline roofline = {
    .pes = 2,
    .fma_gflops = 400.0,
    .reads = {{.bytes = 1 << 15, .level = 1, .gb_per_s = 200.5},
              {.bytes = 1 << 26, .level = 0, .gb_per_s = 20.0}},
    .read_count = 2,
};

static const double exact = 1e-12; /* products and quotients of a few small numbers */

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= exact)) {
        fail_msg("%.17g is not %.17g", value, expected);
    }
}

struct fixture {
    struct cell_list list;
    struct results results;
    struct app_machine machine;
};

/* One cell whose timed launch does `flops` FLOP on `bytes` bytes, 100 GFLOP/s in each of its rows
 * but cv, where it is 0.25. */
static void fixture_init(struct fixture *f, double flops, size_t bytes,
                         const struct roofline *measured)
{
    app_cells("--tiles 16 --policy nested", &f->list);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
    app_machine_init(&f->machine);
    f->machine.context.roofline = measured;
    struct cell cell = f->list.cells[0];
    struct cell_result result = app_result(&cell);
    struct cell_run *runs = app_runs();
    result.timed_flops = flops;
    result.timed_read_bytes = bytes;
    runs[APP_RUNS - 1].gflops = 0.25;
    const struct rows_source source = {
        .cell = &cell, .result = &result, .runs = runs, .count = APP_RUNS, .roofline = measured};
    assert_int_equal(results_set(&f->results, 0, &source), STATUS_OK);
    free(runs);
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
}

static void assert_fractions(const struct fixture *f, double fma, double bandwidth, double bound)
{
    const struct rows *rows = &f->results.of_cell[0];

    assert_int_equal(rows->count, APP_RUNS);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];
        bool cv = i == APP_RUNS - 1;
        assert_near(row_real(row, FIELD_FMA_PEAK_FRACTION), cv ? 0.25 : fma);
        assert_near(row_real(row, FIELD_BANDWIDTH_FRACTION), cv ? 0.25 : bandwidth);
        assert_near(row_real(row, FIELD_ROOFLINE_FRACTION), cv ? 0.25 : bound);
    }
}

/* 40 FLOP a byte: memory feeds 800 GFLOP/s, so that the FMA peak is the bound. */
static void fractions_where_the_fma_peak_bounds(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, 4e6, 100000, &roofline);
    assert_fractions(&f, 0.25, 0.125, 0.25);
    fixture_fini(&f);
}

/* 10 FLOP a byte: memory feeds 200 GFLOP/s. */
static void fractions_where_memory_bounds(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, 4e6, 400000, &roofline);
    assert_fractions(&f, 0.25, 0.5, 0.5);
    fixture_fini(&f);
}

static void assert_none(const struct fixture *f, enum field_id id)
{
    for (size_t i = 0; i < f->results.of_cell[0].count; i++) {
        assert_false(row_has(&f->results.of_cell[0].items[i], id));
    }
}

static void fractions_without_a_roofline_are_none(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, 4e6, 400000, NULL);
    assert_none(&f, FIELD_FMA_PEAK_FRACTION);
    assert_none(&f, FIELD_BANDWIDTH_FRACTION);
    assert_none(&f, FIELD_ROOFLINE_FRACTION);
    fixture_fini(&f);
}

static void fractions_of_unknown_bytes_are_none_but_of_the_fma_peak(void **state)
{
    static const size_t unknown[] = {0, SIZE_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        struct fixture f;
        fixture_init(&f, 4e6, unknown[i], &roofline);
        assert_near(row_real(&f.results.of_cell[0].items[0], FIELD_FMA_PEAK_FRACTION), 0.25);
        assert_none(&f, FIELD_BANDWIDTH_FRACTION);
        assert_none(&f, FIELD_ROOFLINE_FRACTION);
        fixture_fini(&f);
    }
}

static char *written(const struct fixture *f, enum format format)
{
    struct fixture copy = *f;
    const struct report report = {.results = &copy.results, .context = &f->machine.context};
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(write_report(&report, format, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void table_has_the_share_of_the_bound(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, 4e6, 400000, &roofline);
    char *text = written(&f, FORMAT_TABLE);
    assert_non_null(strstr(text, "GFLOP/s  of peak  verdict"));
    assert_non_null(strstr(text, "  100.0   50.0 %  ok"));
    assert_non_null(strstr(text, "of peak: of min(FMA peak 400.0 GFLOP/s, memory 20.0 GB/s"));
    free(text);
    fixture_fini(&f);
}

static void roofline_reads_back_from_the_context(void **state)
{
    struct fixture f;
    struct roofline found;

    (void)state;
    fixture_init(&f, 4e6, 400000, &roofline);
    char *text = written(&f, FORMAT_JSON);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    const json_t *there = json_object_get(json_object_get(json, "context"), "roofline");
    assert_true(context_roofline_read(there, &found));
    assert_true(found.fma_gflops == roofline.fma_gflops);
    assert_int_equal(found.read_count, 2);
    assert_memory_equal(found.reads, roofline.reads, sizeof found.reads);
    assert_true(json_number_value(json_object_get(there, "memory_gb_per_s")) == 20.0);
    json_decref(json);
    free(text);
    fixture_fini(&f);
}

static void roofline_that_is_none_is_not_read_back(void **state)
{
    static const char *const texts[] = {
        "null",
        "[]",
        "{}",
        "{\"fma_gflops\": 1.0, \"read\": []}",
        "{\"read\": [{\"bytes\": 1, \"level\": null, \"gb_per_s\": 1.0}]}",
        "{\"fma_gflops\": 1.0, \"read\": [{\"bytes\": 1, \"level\": null, \"gb_per_s\": -1.0}]}",
        "{\"fma_gflops\": 1.0, \"read\": [{\"bytes\": -1, \"level\": null, \"gb_per_s\": 1.0}]}",
        "{\"fma_gflops\": 1.0, \"read\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct roofline found = {.read_count = 1};
        json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        assert_false(context_roofline_read(json, &found));
        assert_int_equal(found.read_count, 0);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_where_the_fma_peak_bounds),
        cmocka_unit_test(fractions_where_memory_bounds),
        cmocka_unit_test(fractions_without_a_roofline_are_none),
        cmocka_unit_test(fractions_of_unknown_bytes_are_none_but_of_the_fma_peak),
        cmocka_unit_test(table_has_the_share_of_the_bound),
        cmocka_unit_test(roofline_reads_back_from_the_context),
        cmocka_unit_test(roofline_that_is_none_is_not_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
