/* How far times can be trusted: what the rows, the table and its summary say of spread, clocks and
 * noise. */
#include "host/app/writers.h"
#include "tests/unit/app_fixture.h"

struct fixture {
    struct cell_list list;
    struct results results;
    struct app_machine machine;
    struct report report;
};

static void fixture_init(struct fixture *f, const char *line)
{
    app_cells(line, &f->list);
    assert_int_equal(results_init(&f->results, &f->list, false), STATUS_OK);
    app_machine_init(&f->machine);
    f->report = (struct report){.results = &f->results, .context = &f->machine.context};
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
}

static char *table_text(const struct fixture *f)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(write_table(&f->report, false, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text);
    }
}

/* The first cell's rows, with a cv of that size; 0 = a single repetition. */
static void set_with_spread(struct fixture *f, double cv)
{
    struct cell cell = f->list.cells[0];
    struct cell_result result = app_result(&cell);
    struct cell_run *runs = app_runs();
    runs[5] = app_run(cv, "cv", 0);
    const struct rows_source source = {
        .cell = &cell, .result = &result, .runs = runs, .count = cv > 0.0 ? APP_RUNS : 1};
    assert_int_equal(results_set(&f->results, 0, &source), STATUS_OK);
    free(runs);
}

/* Rows -------------------------------------------------------------------------------------- */

static void expect_wide(double cv, bool known, size_t wide)
{
    struct fixture f;

    fixture_init(&f, "--tiles 16 --policy nested");
    set_with_spread(&f, cv);
    for (size_t i = 0; i < f.results.of_cell[0].count; i++) {
        const struct row *row = &f.results.of_cell[0].items[i];
        assert_int_equal(row_has(row, FIELD_SPREAD_WIDE), known);
        assert_int_equal(row_count(row, FIELD_SPREAD_WIDE), wide);
    }
    fixture_fini(&f);
}

static void spread_above_five_percent_is_wide_in_every_row(void **state)
{
    (void)state;
    expect_wide(0.051, true, 1);
}

static void spread_of_five_percent_is_not_wide(void **state)
{
    (void)state;
    expect_wide(0.05, true, 0);
}

static void spread_of_one_repetition_is_not_known(void **state)
{
    (void)state;
    expect_wide(0.0, false, 0);
}

/* A row whose median launch has that ratio of event to host time. */
static struct row *row_of_clocks(struct fixture *f, double ratio, bool known, bool agree)
{
    fixture_init(f, "--tiles 16 --policy nested");
    struct cell cell = f->list.cells[0];
    struct cell_result result = app_result(&cell);
    result.event_host_ratio = ratio;
    result.clocks_known = known;
    result.clocks_agree = agree;
    app_set(&f->results, 0, &cell, &result);
    return &f->results.of_cell[0].items[0];
}

static void clocks_that_were_compared_are_told(void **state)
{
    struct fixture f;

    (void)state;
    const struct row *row = row_of_clocks(&f, 0.5, true, false);
    assert_true(row_real(row, FIELD_EVENT_HOST_RATIO) == 0.5);
    assert_true(row_has(row, FIELD_CLOCKS_AGREE));
    assert_int_equal(row_count(row, FIELD_CLOCKS_AGREE), 0);
    fixture_fini(&f);
}

static void clocks_of_short_launches_leave_the_ratio_alone(void **state)
{
    struct fixture f;

    (void)state;
    const struct row *row = row_of_clocks(&f, 0.5, false, false);
    assert_true(row_has(row, FIELD_EVENT_HOST_RATIO));
    assert_false(row_has(row, FIELD_CLOCKS_AGREE));
    fixture_fini(&f);
}

static void clocks_without_stamps_are_not_told(void **state)
{
    struct fixture f;

    (void)state;
    const struct row *row = row_of_clocks(&f, (double)NAN, false, false);
    assert_false(row_has(row, FIELD_EVENT_HOST_RATIO));
    fixture_fini(&f);
}

/* The table --------------------------------------------------------------------------------- */

static void table_marks_a_wide_spread_and_counts_it(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy scoped,nested");
    app_measure(&f.results, 0);
    app_measure(&f.results, 1);
    char *text = table_text(&f);
    assert_says(text, "wide 70.7 %");
    assert_says(text, "spread       2 of 2 timed rows spread by more than 5 %");
    assert_null(strstr(text, "  clocks "));
    free(text);
    fixture_fini(&f);
}

static void table_of_steady_times_says_nothing_of_spread(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested");
    set_with_spread(&f, 0.049);
    char *text = table_text(&f);
    assert_says(text, " 4.9 %");
    assert_null(strstr(text, "wide"));
    assert_null(strstr(text, "timed rows spread"));
    free(text);
    fixture_fini(&f);
}

static void summary_counts_rows_whose_clocks_differ(void **state)
{
    struct fixture f;

    (void)state;
    (void)row_of_clocks(&f, 0.5, true, false);
    char *text = table_text(&f);
    assert_says(text, "differ by more than 10 % on 1 of 1 timed rows");
    free(text);
    fixture_fini(&f);
}

static void summary_does_not_count_what_is_too_noisy(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 8,16");
    for (size_t i = 0; i < f.list.count; i++) {
        app_measure(&f.results, i);
    }
    app_add_ratio(&f.results, 0, POLICY_SCOPED, POLICY_UNSCOPED);
    app_add_ratio(&f.results, 3, POLICY_SCOPED, POLICY_UNSCOPED);
    f.results.ratios[1].conclusive = false; /* though not_slower */
    char *text = table_text(&f);
    assert_says(text, "scoped/unscoped at 1 of 2 S (too noisy to tell at S = 16)");
    assert_says(text, "0.875 [0.850, 0.900] noisy");
    free(text);
    f.results.ratios[0].conclusive = false;
    text = table_text(&f);
    assert_says(text, "scoped/unscoped at 0 of 2 S (too noisy to tell at 2)");
    free(text);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(spread_above_five_percent_is_wide_in_every_row),
        unit_test_clean(spread_of_five_percent_is_not_wide),
        unit_test_clean(spread_of_one_repetition_is_not_known),
        unit_test_clean(clocks_that_were_compared_are_told),
        unit_test_clean(clocks_of_short_launches_leave_the_ratio_alone),
        unit_test_clean(clocks_without_stamps_are_not_told),
        unit_test_clean(table_marks_a_wide_spread_and_counts_it),
        unit_test_clean(table_of_steady_times_says_nothing_of_spread),
        unit_test_clean(summary_counts_rows_whose_clocks_differ),
        unit_test_clean(summary_does_not_count_what_is_too_noisy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
