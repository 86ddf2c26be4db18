/* scratchscope profile on the CPU device: its parts in each format, and what it refuses. */
#include "tests/cli/cli_case.h"

#define SMALL "profile --seq-q 32 --q-heads 1 --tiles 2 --rounds 1 --device cpu"

enum { PARTS = 11 };

static void refuse(const char *line, const char *why)
{
    struct cli_run run;

    cli(&run, line);
    assert_int_equal(run.code, 2);
    cli_says(run.err, why);
    assert_string_equal(run.out, "");
    cli_fini(&run);
}

static const json_t *part_of(const json_t *parts, const char *kind, const char *name)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        if (strcmp(json_string_value(json_object_get(part, "kind")), kind) == 0 &&
            strcmp(json_string_value(json_object_get(part, "name")), name) == 0) {
            return part;
        }
    }
    fail_msg("no part %s %s", kind, name);
    return NULL;
}

static void expect_part(const json_t *parts, const char *kind, const char *name,
                        const char *results)
{
    const json_t *part = part_of(parts, kind, name);
    const json_t *interval = json_object_get(part, "interval");

    assert_string_equal(json_string_value(json_object_get(part, "results")), results);
    assert_int_equal(json_array_size(interval), 2);
    assert_true(json_is_real(json_object_get(part, "share")));
    assert_true(json_is_real(json_object_get(part, "noise_floor")));
    assert_true(json_is_boolean(json_object_get(part, "clear")));
    assert_true(json_number_value(json_array_get(interval, 0)) <=
                json_number_value(json_array_get(interval, 1)));
}

/* Times are the machine's; what is there, and what is right, is not. */
static void profile_json_tells_every_part(void **state)
{
    static const char *const stages[] = {"keys",    "scores", "softmax",
                                         "staging", "values", "copies"};
    struct cli_run run;

    (void)state;
    cli(&run, SMALL " --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *profile = json_object_get(file, "profile");
    const json_t *plain = json_object_get(profile, "plain");
    const json_t *parts = json_object_get(profile, "parts");
    assert_true(json_is_string(json_object_get(json_object_get(file, "context"), "device")));
    assert_string_equal(json_string_value(json_object_get(plain, "policy")), "nested");
    assert_int_equal(cli_integer(plain, "verified"), 1);
    assert_int_equal(cli_integer(plain, "measured_peak_bytes"), 62080);
    assert_true(json_real_value(json_object_get(profile, "tile_us")) > 0.0);
    assert_int_equal(json_array_size(parts), PARTS);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        expect_part(parts, "twice", stages[i], "right");
    }
    expect_part(parts, "left out", "keys", "timing only");
    expect_part(parts, "left out", "staging", "timing only");
    expect_part(parts, "tax", "table", "right");
    expect_part(parts, "tax", "staging", "right");
    assert_non_null(part_of(parts, "tax", "copy_to"));
    json_decref(file);
    cli_fini(&run);
}

static void profile_output_goes_to_files_by_their_names(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[512];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, SMALL " --output %s/p.csv --output %s/p.md", folder, folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_says(run.out, "done twice: what another one costs");
    cli_says(run.out, "copy_to of l and acc");
    cli_says(run.out, "a tile on one PE");
    char *csv = cli_file(folder, "p.csv");
    assert_non_null(csv);
    assert_int_equal(cli_count_lines(csv), 1 + PARTS);
    cli_says(csv, "attention/cap16/nested/f16/S:2/seq_q:32/q_heads:1,twice,keys,right,");
    free(csv);
    char *markdown = cli_file(folder, "p.md");
    assert_non_null(markdown);
    cli_says(markdown, "| tax: table ");
    free(markdown);
    cli_remove_folder(folder);
    cli_fini(&run);
}

static void profile_of_unscoped_says_what_there_is_not(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, SMALL " --policy unscoped");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "none: every tile has offsets of its own");
    cli_fini(&run);
}

static void profile_of_several_cells_is_refused(void **state)
{
    (void)state;
    refuse("profile --tiles 1,2", "--tiles: profile takes one row, so one value, not 2");
    refuse("profile --block-n 32,64,128", "--block-n: profile takes one row, so one value, not 3");
    refuse("profile --policy scoped,nested", "--policy: profile takes one row");
    refuse("profile --dtype f16,f32", "--dtype: profile takes one row");
}

static void profile_refuses_what_it_can_not_run(void **state)
{
    (void)state;
    refuse("profile --dtype bf16", "no kernel stores bf16");
    refuse("profile --repetitions 3", "--repetitions");
    refuse("profile --output p.xyz", "does not tell a format");
    refuse("profile --arena local", "error: --arena: profile takes no local arenas");
    refuse("profile --preset chip48 --arena local", "hint: --arena global");
}

static void profile_in_a_pool_that_is_too_small_says_what_asks(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "profile --tiles 17 --policy unscoped --device cpu");
    assert_int_equal(run.code, 2);
    cli_says(run.err, "error: --pool: ");
    cli_says(run.err, "v in tile 17: 16,384 bytes requested");
    assert_string_equal(run.out, "");
    cli_fini(&run);
}

static void profile_help_lists_its_options(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "profile --help");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "--rounds");
    cli_says(run.out, "square4096");
    assert_null(strstr(run.out, "--resume"));
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_json_tells_every_part),
        cmocka_unit_test(profile_output_goes_to_files_by_their_names),
        cmocka_unit_test(profile_of_unscoped_says_what_there_is_not),
        cmocka_unit_test(profile_of_several_cells_is_refused),
        cmocka_unit_test(profile_refuses_what_it_can_not_run),
        cmocka_unit_test(profile_in_a_pool_that_is_too_small_says_what_asks),
        cmocka_unit_test(profile_help_lists_its_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
