/* The table for people: columns, the rule at the cap, overflow and wrong rows, the summary's
 * numbers, Markdown, and plain ASCII. */
#include "host/app/grid.h"
#include "host/app/progress.h"
#include "host/app/summary.h"
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
    f->report =
        (struct report){.results = &f->results, .context = &f->machine.context, .utf8 = false};
}

static void measure_all(struct fixture *f)
{
    for (size_t i = 0; i < f->list.count; i++) {
        app_measure(&f->results, i);
    }
}

static void fixture_fini(struct fixture *f)
{
    results_fini(&f->results);
    cell_list_fini(&f->list);
}

static char *table_text(const struct report *report, bool markdown)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(write_table(report, markdown, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in:\n%s", part, text);
    }
}

static void assert_order(const char *text, const char *first, const char *second)
{
    const char *a = strstr(text, first);
    const char *b = strstr(text, second);

    if (a == NULL || b == NULL || a > b) {
        fail_msg("\"%s\" does not come before \"%s\" in:\n%s", first, second, text);
    }
}

/* Grid -------------------------------------------------------------------------------------- */

static char *grid_text(const struct grid *grid, enum grid_style style)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    grid_write(grid, style, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static const struct grid_column two_columns[] = {{"n", true}, {"word", false}};

static void fill_two_columns(struct grid *grid)
{
    char row[2][GRID_CELL_BYTES] = {"1", "a"};
    char other[2][GRID_CELL_BYTES] = {"100", "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"};

    grid_init(grid, two_columns, 2);
    assert_int_equal(grid_row(grid, row), STATUS_OK);
    assert_int_equal(grid_rule(grid, "x"), STATUS_OK);
    assert_int_equal(grid_row(grid, other), STATUS_OK);
}

static void grid_plain_aligned_by_code_points(void **state)
{
    struct grid grid;

    (void)state;
    fill_two_columns(&grid);
    char *text = grid_text(&grid, GRID_ASCII);
    assert_string_equal(text, "    n  word\n"
                              "  ----------\n"
                              "    1  a\n"
                              "  ---- x ---\n"
                              "  100  \xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\n");
    free(text);
    grid_fini(&grid);
}

static void grid_markdown_has_bars_and_alignment_and_no_rule(void **state)
{
    struct grid grid;

    (void)state;
    fill_two_columns(&grid);
    char *text = grid_text(&grid, GRID_MARKDOWN);
    assert_string_equal(text, "|   n | word  |\n"
                              "|----:|-------|\n"
                              "|   1 | a     |\n"
                              "| 100 | \xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 |\n");
    free(text);
    grid_fini(&grid);
}

/* Table ------------------------------------------------------------------------------------- */

static void table_marks_the_cap_between_16_and_17(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17,32");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_order(text, "16  unscoped    1,014,016", "the cap: unscoped needs more");
    assert_order(text, "the cap: unscoped needs more", "17  unscoped    1,075,840");
    assert_null(strstr(strstr(text, "the cap:") + 1, "the cap:")); /* once */
    assert_says(text, "OVERFLOW: v of tile 17 asks 16,384, 5,504 free");
    free(text);
    fixture_fini(&f);
}

static void table_marks_the_cap_before_the_group_in_any_order_of_policies(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17 --policy nested,unscoped");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_order(text, "the cap: unscoped", "17  nested");
    assert_order(text, "16  unscoped", "the cap: unscoped");
    free(text);
    fixture_fini(&f);
}

static void table_without_a_cap_has_no_rule(void **state)
{
    static const char *const lines[] = {"--tiles 16", "--tiles 17,18", "--tiles 16,17 --pool grow",
                                        "--tiles 16,17 --policy nested"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct fixture f;
        fixture_init(&f, lines[i]);
        measure_all(&f);
        char *text = table_text(&f.report, false);
        assert_null(strstr(text, "the cap"));
        free(text);
        fixture_fini(&f);
    }
}

static void table_row_tells_time_spread_and_verdict(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "62,080  same");
    assert_says(text, "94.1 %");
    assert_says(text, "2.00 ms");
    assert_says(text, "70.7 %");
    assert_says(text, "100.0        -  ok, error 1.0e-04 < 2.0e-03 in 512 rows");
    free(text);
    fixture_fini(&f);
}

static void table_says_what_was_timed_of_a_cut_problem(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested");
    struct cell cell = f.list.cells[0];
    struct cell_result result = app_result(&cell);
    result.timed_items = 2;
    app_set(&f.results, 0, &cell, &result);
    char *text = table_text(&f.report, false);
    assert_says(text, "; timed 2 of 16 items");
    free(text);
    fixture_fini(&f);
}

static void table_shouts_about_a_wrong_row(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested");
    struct cell cell = f.list.cells[0];
    struct cell_result result = app_result(&cell);
    result.check.touch.peak_bytes += 128;
    result.agrees = false;
    result.ok = false;
    const struct rows_source source = {.cell = &cell, .result = &result};
    assert_int_equal(results_set(&f.results, 0, &source), STATUS_OK);
    char *text = table_text(&f.report, false);
    assert_says(text, "! 62,208");
    assert_says(text, "WRONG: measured peak 62208 bytes");
    assert_says(text, "1 of 1 rows that ran are WRONG");
    free(text);
    fixture_fini(&f);
}

static void table_is_ascii_unless_utf8(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    for (const char *at = text; *at != '\0'; at++) {
        assert_true((unsigned char)*at < 0x80);
    }
    free(text);
    f.report.utf8 = true;
    text = table_text(&f.report, false);
    assert_says(text, "\xE2\x9C\x93 same");
    free(text);
    fixture_fini(&f);
}

static void table_of_two_configurations_has_two_parts(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --dtype f16,f32");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_order(text, "cap16: f16, block 32 x 64", "cap16: f32, block 32 x 64");
    free(text);
    fixture_fini(&f);
}

static void table_of_an_interrupted_sweep_says_what_is_missing(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    app_measure(&f.results, 0);
    char *text = table_text(&f.report, false);
    assert_says(text, "5 of 6 rows are missing");
    free(text);
    fixture_fini(&f);
}

/* Summary ----------------------------------------------------------------------------------- */

static void summary_tells_the_reference_program(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17,1024");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "24,832 + 61,824 S bytes; fits 1 MiB up to S = 16, overflows from S = 17");
    assert_says(text, "86,656 bytes for every S");
    assert_says(text, "62,080 bytes for every S");
    assert_says(text, "11.7 x that at S = 16, 730.9 x at S = 1,024");
    assert_says(text, "16.3 x that at S = 16, 1020.2 x at S = 1,024");
    assert_says(text, "scoped takes 1.40 x it, nested reaches it");
    assert_says(text, "all 7 rows that ran are verified, measured = planned, outputs of all "
                      "policies equal bit for bit; 2 rows overflow");
    free(text);
    fixture_fini(&f);
}

static void summary_finds_the_cap_between_swept_tiles(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1,1024 --policy unscoped");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "up to S = 16, overflows from S = 17");
    free(text);
    fixture_fini(&f);
}

static void summary_ratios_show_interval_and_noise(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16");
    measure_all(&f);
    app_add_ratio(&f.results, 0, POLICY_SCOPED, POLICY_UNSCOPED);
    app_add_ratio(&f.results, 0, POLICY_NESTED, POLICY_UNSCOPED);
    char *text = table_text(&f.report, false);
    assert_says(text, "0.875 [0.850, 0.900]");
    assert_says(text, "0.4 %");
    assert_says(text, "scoped/unscoped at 1 of 1 S, nested/unscoped at 1 of 1 S");
    free(text);
    fixture_fini(&f);
}

static void summary_cap_agrees_with_planning_every_s(void **state)
{
    static const char *const lines[] = {"--tiles 1",
                                        "--tiles 1 --block-m 1 --block-n 1 --dtype f32",
                                        "--tiles 1 --block-m 33 --block-n 65 --head-dim 63"};
    static const size_t pools[] = {128, 24832, 86655, 86656, 262144, 1048576};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct cell_list list;
        app_cells(lines[i], &list);
        for (size_t j = 0; j < sizeof pools / sizeof pools[0]; j++) {
            for (size_t policy = 0; policy < POLICY_COUNT; policy++) {
                size_t cap = 0;
                struct cell cell = list.cells[policy];
                cell.pool_bytes = pools[j];
                assert_int_equal(summary_cap(&cell, cell.policy, pools[j], &cap), STATUS_OK);
                for (size_t s = 1; s <= 40; s++) {
                    struct cell_result result;
                    cell.problem.seq_kv = s * cell.problem.block_n;
                    assert_int_equal(cell_plan(&cell, 0, 0, NULL, &result), STATUS_OK);
                    assert_int_equal(result.overflow, cap != 0 && s >= cap);
                }
            }
        }
        cell_list_fini(&list);
    }
}

/* Markdown and progress --------------------------------------------------------------------- */

static void markdown_has_tables_and_a_list(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    measure_all(&f);
    char *text = table_text(&f.report, true);
    assert_says(text, "### cap16: f16");
    assert_says(text, "|  S | policy   |");
    assert_says(text, "- **unscoped** 24,832 + 61,824 S bytes");
    free(text);
    fixture_fini(&f);
}

static void progress_line_tells_cell_stage_and_rest(void **state)
{
    char text[128];
    struct progress_line line = {.count = 36, .name = "name", .stage = "build"};

    (void)state;
    progress_text(text, sizeof text, &line, 0.2);
    assert_string_equal(text, "[1/36] 0 s: build name");
    line.index = 9;
    line.share = 0.25;
    progress_text(text, sizeof text, &line, 30.0);
    assert_string_equal(text, "[10/36] 30 s, about 1 min 30 s left: build name");
    progress_text(text, 10, &line, 30.0);
    assert_string_equal(text, "[10/36] 3");
}

static void table_heading_tells_mask_options_and_parts(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--preset gpt-oss-20b-decode --policy nested --softcap 30 --alibi --mask "
                     "--scale 0.5");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "heads 64 / 8, seq_q 1, causal, softcap 30, ALiBi, sinks, mask, scale 0.5, "
                      "parts 8 (their states take 132 KiB beside the arenas), pool 1 MiB");
    free(text);
    fixture_fini(&f);
}

static void table_marks_parts_that_differ_from_the_plan(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested --parts 2");
    struct cell cell = f.list.cells[0];
    struct cell_result result = app_result(&cell);
    result.check.parts_touched_bytes -= 4;
    result.agrees = false;
    result.ok = false;
    const struct rows_source source = {.cell = &cell, .result = &result};
    assert_int_equal(results_set(&f.results, 0, &source), STATUS_OK);
    char *text = table_text(&f.report, false);
    assert_says(text, "! parts 532,476");
    assert_says(text, "WRONG: parts left 532476 bytes for the merge, planned 532480 bytes");
    free(text);
    fixture_fini(&f);
}

static void table_tells_keys_where_s_does_not(void **state)
{
    static const char *const with[] = {"--tiles 16,32 --window 100,0", "--tiles 16,17 --parts 2",
                                       "--preset gpt-oss-20b-decode"};
    static const char *const without[] = {"--tiles 16,32 --causal",
                                          "--preset square4096 --block-n 100"};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct fixture f;
        fixture_init(&f, i < 3 ? with[i] : without[i - 3]);
        measure_all(&f);
        app_add_ratio(&f.results, 0, POLICY_SCOPED, POLICY_UNSCOPED);
        for (size_t markdown = 0; markdown < 2; markdown++) {
            char *text = table_text(&f.report, markdown == 1);
            const char *ratios = strstr(text, "Time ratios");
            assert_non_null(ratios);
            assert_int_equal(strstr(text, " keys ") != NULL, i < 3);
            assert_int_equal(strstr(ratios, " keys ") != NULL, i < 3);
            free(text);
        }
        fixture_fini(&f);
    }
}

static void table_keys_are_those_of_the_row(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,32 --window 100,0 --policy nested");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "  3  1024  nested       62,080  same");
    assert_says(text, "  3  2048  nested       62,080  same");
    free(text);
    fixture_fini(&f);
}

static void table_heading_separates_thousands(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--preset square4096 --policy nested --batch 1000");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "seq_q 4,096, batch 1,000");
    free(text);
    fixture_fini(&f);
}

static void markdown_table_has_rows_of_equal_bars(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16,17");
    measure_all(&f);
    char *text = table_text(&f.report, true);
    assert_null(strstr(text, "the cap:"));
    assert_null(strstr(text, "|     |"));
    free(text);
    fixture_fini(&f);
}

static void summary_compares_with_what_was_asked_alone(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 16 --policy nested");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_null(strstr(text, "unscoped"));
    assert_null(strstr(text, "scoped takes"));
    assert_says(text, "62,080 bytes for every S: nested reaches it");
    assert_says(text, "the one row that ran is verified");
    free(text);
    fixture_fini(&f);
}

/* Of S = 17 and 18 unscoped overflows, so that one policy ran alone. */
static void summary_claims_equal_outputs_only_of_two_that_ran(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 17,18 --policy unscoped,nested");
    measure_all(&f);
    char *text = table_text(&f.report, false);
    assert_says(text, "all 2 rows that ran are verified, measured = planned; 2 rows overflow");
    free(text);
    fixture_fini(&f);
}

static void summary_tells_the_cap_whatever_the_order_of_tiles(void **state)
{
    static const char *const lines[] = {"--tiles 17,1,16", "--tiles 20:24"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        fixture_init(&f, lines[i]);
        measure_all(&f);
        char *text = table_text(&f.report, false);
        assert_says(text, "fits 1 MiB up to S = 16, overflows from S = 17");
        free(text);
        fixture_fini(&f);
    }
}

static void summary_tells_of_rows_that_the_device_refused(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f, "--tiles 1,2 --policy unscoped,nested");
    for (size_t i = 0; i < 4; i++) {
        struct cell cell = f.list.cells[i];
        struct cell_result result;
        size_t limit = i < 2 ? 0 : 1000000; /* two pools of 1 MiB are more */
        assert_int_equal(cell_plan(&cell, limit, 1024, NULL, &result), STATUS_OK);
        assert_int_equal(result.overflow, i >= 2);
        app_set(&f.results, i, &cell, &result);
    }
    char *text = table_text(&f.report, false);
    assert_says(text, "fits 1 MiB at any S, but overflows where the device can not hold");
    assert_says(text, "OVERFLOW: the device allocates 1,000,000 bytes at most");
    assert_null(strstr(text, "the cap:")); /* the pool is large enough */
    free(text);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_plain_aligned_by_code_points),
        cmocka_unit_test(grid_markdown_has_bars_and_alignment_and_no_rule),
        cmocka_unit_test(table_marks_the_cap_between_16_and_17),
        cmocka_unit_test(table_marks_the_cap_before_the_group_in_any_order_of_policies),
        cmocka_unit_test(table_without_a_cap_has_no_rule),
        cmocka_unit_test(table_row_tells_time_spread_and_verdict),
        cmocka_unit_test(table_says_what_was_timed_of_a_cut_problem),
        cmocka_unit_test(table_shouts_about_a_wrong_row),
        cmocka_unit_test(table_is_ascii_unless_utf8),
        cmocka_unit_test(table_of_two_configurations_has_two_parts),
        cmocka_unit_test(table_of_an_interrupted_sweep_says_what_is_missing),
        cmocka_unit_test(summary_tells_the_reference_program),
        cmocka_unit_test(summary_finds_the_cap_between_swept_tiles),
        cmocka_unit_test(summary_ratios_show_interval_and_noise),
        cmocka_unit_test(summary_cap_agrees_with_planning_every_s),
        cmocka_unit_test(markdown_has_tables_and_a_list),
        cmocka_unit_test(progress_line_tells_cell_stage_and_rest),
        cmocka_unit_test(table_heading_tells_mask_options_and_parts),
        cmocka_unit_test(table_marks_parts_that_differ_from_the_plan),
        cmocka_unit_test(table_tells_keys_where_s_does_not),
        cmocka_unit_test(table_keys_are_those_of_the_row),
        cmocka_unit_test(table_heading_separates_thousands),
        cmocka_unit_test(markdown_table_has_rows_of_equal_bars),
        cmocka_unit_test(summary_compares_with_what_was_asked_alone),
        cmocka_unit_test(summary_claims_equal_outputs_only_of_two_that_ran),
        cmocka_unit_test(summary_tells_the_cap_whatever_the_order_of_tiles),
        cmocka_unit_test(summary_tells_of_rows_that_the_device_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
