/* scratchscope plan: the reference program's numbers, the formats, and that no device is needed. */
#include "tests/cli/cli_case.h"

#define REFERENCE                                                                                  \
    "plan --preset cap16 --tiles 1,16,17,1024 --policy unscoped,scoped,nested --format json"

static void check_needs(const json_t *file, size_t tiles, long long unscoped)
{
    const json_t *row = cli_row(file, "unscoped", tiles);

    assert_int_equal(cli_integer(row, "planned_peak_bytes"), unscoped);
    assert_int_equal(cli_integer(cli_row(file, "scoped", tiles), "planned_peak_bytes"), 86656);
    assert_int_equal(cli_integer(cli_row(file, "nested", tiles), "planned_peak_bytes"), 62080);
}

static void plan_of_the_reference_program(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, REFERENCE);
    assert_int_equal(run.code, 0);
    assert_string_equal(run.err, "");
    json_t *file = cli_json(run.out);
    check_needs(file, 1, 86656);
    check_needs(file, 16, 1014016);
    check_needs(file, 17, 1075840);
    check_needs(file, 1024, 63332608);
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 12);
    for (size_t i = 0; i < 12; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(cli_integer(row, "lower_bound_bytes"), 62080);
        assert_int_equal(cli_integer(row, "persistent_bytes"), 24832);
        assert_int_equal(cli_integer(row, "tile_bytes"), 61824);
        assert_true(cli_is_null(row, "real_time"));
        assert_true(cli_is_null(row, "pes"));
    }
    json_decref(file);
    cli_fini(&run);
}

static void plan_of_an_overflow_tells_the_first_failing_request(void **state)
{
    static const size_t tiles[] = {17, 1024};
    struct cli_run run;

    (void)state;
    cli(&run, REFERENCE);
    json_t *file = cli_json(run.out);
    for (size_t i = 0; i < 2; i++) {
        const json_t *row = cli_row(file, "unscoped", tiles[i]);
        assert_int_equal(cli_integer(row, "overflow"), 1);
        assert_int_equal(cli_integer(row, "overflow_tile"), 17);
        assert_string_equal(json_string_value(json_object_get(row, "overflow_name")), "v");
        assert_int_equal(cli_integer(row, "overflow_request_bytes"), 16384);
        assert_int_equal(cli_integer(row, "overflow_free_bytes"), 5504);
        assert_true(json_is_true(json_object_get(row, "error_occurred")));
        cli_says(json_string_value(json_object_get(row, "error_message")), "v");
    }
    assert_int_equal(cli_integer(cli_row(file, "unscoped", 16), "overflow"), 0);
    json_decref(file);
    cli_fini(&run);
}

static void plan_with_a_growing_pool_never_overflows(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, REFERENCE " --pool grow");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *row = cli_row(file, "unscoped", 1024);
    assert_int_equal(cli_integer(row, "planned_peak_bytes"), 63332608);
    assert_int_equal(cli_integer(row, "overflow"), 0);
    assert_true(cli_integer(row, "pool_bytes") >= 63332608);
    assert_string_equal(json_string_value(json_object_get(row, "run_name")),
                        "attention/cap16/unscoped/f16/S:1024/pool:grow");
    json_decref(file);
    cli_fini(&run);
}

static void plan_needs_no_platform(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    const struct cli_start start = {
        .line = REFERENCE, .variable = "OCL_ICD_VENDORS", .value = folder};
    cli_start(&run, &start);
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    check_needs(file, 16, 1014016);
    json_decref(file);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void plan_takes_types_without_a_kernel(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --tiles 16 --dtype f32,bf16,f8,i8 --policy nested --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    assert_int_equal(json_array_size(json_object_get(file, "benchmarks")), 4);
    json_decref(file);
    cli_fini(&run);
}

static void plan_of_tiny_pools_is_a_row(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --tiles 1 --policy nested --pool 128 --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *row = cli_row(file, "nested", 1);
    assert_int_equal(cli_integer(row, "overflow"), 1);
    assert_int_equal(cli_integer(row, "overflow_tile"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "overflow_name")), "q");
    json_decref(file);
    cli_fini(&run);
}

static void plan_filter_picks_rows_by_name(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --benchmark_filter=/nested/.*S:1[67]$ --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    assert_int_equal(json_array_size(json_object_get(file, "benchmarks")), 2);
    json_decref(file);
    cli_fini(&run);
}

static void plan_csv_columns_are_the_json_keys(void **state)
{
    struct cli_run csv;
    struct cli_run json;
    const char *key = NULL;
    json_t *value = NULL;

    (void)state;
    cli(&csv, "plan --tiles 16,17 --format csv");
    cli(&json, "plan --tiles 16,17 --format json");
    assert_int_equal(cli_count_lines(csv.out), 7);
    json_t *file = cli_json(json.out);
    char *at = csv.out;
    json_t *row = json_array_get(json_object_get(file, "benchmarks"), 0);
    json_object_foreach(row, key, value)
    {
        size_t length = strcspn(at, ",\n");
        assert_int_equal(length, strlen(key));
        assert_memory_equal(at, key, length);
        at += length + 1;
    }
    assert_int_equal(at[-1], '\n');
    json_decref(file);
    cli_fini(&csv);
    cli_fini(&json);
}

static void plan_does_not_depend_on_the_locale(void **state)
{
    struct cli_run plain;
    struct cli_run german;
    const struct cli_start start = {.line = "plan --tiles 1:4 --scale 0.5 --format csv",
                                    .variable = "LC_ALL",
                                    .value = "de_DE.UTF-8"};

    (void)state;
    cli(&plain, start.line);
    cli_start(&german, &start);
    assert_int_equal(german.code, 0);
    assert_string_equal(plain.out, german.out);
    cli_says(german.out, ",0.5,");
    cli_fini(&plain);
    cli_fini(&german);
}

static void plan_table_is_ascii_unless_the_locale_is_utf8(void **state)
{
    struct cli_run ascii;
    struct cli_run utf8;
    struct cli_start start = {.line = "plan --tiles 16,17", .variable = "LC_ALL", .value = "C"};
    bool beyond = false;

    (void)state;
    cli_start(&ascii, &start);
    for (const char *at = ascii.out; *at != '\0'; at++) {
        assert_true((unsigned char)*at < 0x80);
    }
    cli_says(ascii.out, "the cap: unscoped");
    cli_says(ascii.out, "overflows from S = 17");
    start.value = "C.UTF-8";
    cli_start(&utf8, &start);
    for (const char *at = utf8.out; *at != '\0'; at++) {
        beyond = beyond || (unsigned char)*at >= 0x80;
    }
    assert_true(beyond);
    cli_fini(&ascii);
    cli_fini(&utf8);
}

static void plan_writes_outputs_and_the_table(void **state)
{
    struct cli_run run;
    char folder[CLI_PATH_BYTES];
    char line[512];

    (void)state;
    cli_folder(folder);
    (void)snprintf(line, sizeof line, "plan --tiles 16 --output %s/a.json --output %s/b.md", folder,
                   folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    cli_says(run.out, "peak, bytes");
    char *json_text = cli_file(folder, "a.json");
    char *md = cli_file(folder, "b.md");
    json_t *file = cli_json(json_text);
    cli_says(md, "| nested   |");
    json_decref(file);
    free(json_text);
    free(md);
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void plan_to_stdout_as_an_output_prints_it_once(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --tiles 16 --output - --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    json_decref(file);
    cli_fini(&run);
    cli(&run, "plan --tiles 16 --output /dev/stdout --format json");
    assert_int_equal(run.code, 0);
    file = cli_json(run.out);
    json_decref(file);
    cli_fini(&run);
}

/* A model's rows: the bytes of a tile follow from its shape (README.md), S from what is walked. */
static void plan_of_every_model(void **state)
{
    static const struct {
        const char *preset;
        long long tiles;
        long long unscoped;
        long long scoped;
        long long nested;
        long long bound;
        long long parts_bytes;
        const char *cap; /* in the summary of the table */
    } cases[] = {
        {"llama3-8b-prefill", 32, 2957824, 140544, 107776, 107776, 0, "from S = 11"},
        {"llama3-8b-decode", 16, 591104, 40064, 22656, 22544, 133120, "from S = 29"},
        {"llama3-70b-prefill", 16, 1503744, 140544, 107776, 107776, 0, "from S = 11"},
        {"llama3-70b-decode", 16, 651520, 46720, 28288, 28192, 266240, "from S = 26"},
        {"gpt2-prefill", 16, 954880, 83200, 58624, 58624, 0, "from S = 18"},
        {"gemma2-9b-prefill", 65, 10265856, 255232, 206080, 206080, 0, "from S = 7"},
        {"gemma2-9b-decode", 8, 553216, 72064, 38784, 38664, 132096, "from S = 16"},
        {"mistral-7b-prefill", 65, 5956864, 140544, 107776, 107776, 0, "from S = 11"},
        {"mistral-7b-decode", 8, 297216, 40064, 22656, 22544, 133120, "from S = 29"},
        {"gpt-oss-20b-prefill", 3, 199424, 83200, 58624, 58624, 0, "from S = 18"},
        {"gpt-oss-20b-decode", 16, 353536, 25216, 14976, 14880, 135168, "from S = 48"},
        {"deepseek-mla-prefill", 16, 1643008, 156928, 115968, 115968, 0, "from S = 11"},
        {"vit-b16", 4, 257536, 83200, 58624, 58624, 0, "from S = 18"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cli_run run;
        char line[128];
        (void)snprintf(line, sizeof line, "plan --preset %s --format json", cases[i].preset);
        cli(&run, line);
        assert_int_equal(run.code, 0);
        json_t *file = cli_json(run.out);
        const json_t *rows = json_object_get(file, "benchmarks");
        const long long peaks[] = {cases[i].unscoped, cases[i].scoped, cases[i].nested};
        assert_int_equal(json_array_size(rows), 3);
        for (size_t j = 0; j < 3; j++) {
            const json_t *row = json_array_get(rows, j);
            assert_int_equal(cli_integer(row, "planned_peak_bytes"), peaks[j]);
            assert_int_equal(cli_integer(row, "lower_bound_bytes"), cases[i].bound);
            assert_int_equal(cli_integer(row, "tiles"), cases[i].tiles);
            assert_int_equal(cli_integer(row, "parts_bytes"), cases[i].parts_bytes);
            assert_int_equal(cli_integer(row, "overflow"), peaks[j] > 1048576);
        }
        json_decref(file);
        cli_fini(&run);
        (void)snprintf(line, sizeof line, "plan --preset %s", cases[i].preset);
        cli(&run, line);
        cli_says(run.out, cases[i].cap);
        cli_fini(&run);
    }
}

static void plan_of_mask_options_and_parts(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --tiles 16 --policy nested --parts 1,5 --causal --softcap 20 --alibi --sinks "
              "--mask --format json");
    assert_int_equal(run.code, 0);
    json_t *file = cli_json(run.out);
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 2);
    const json_t *row = json_array_get(rows, 1);
    assert_string_equal(json_string_value(json_object_get(row, "run_name")),
                        "attention/cap16/nested/f16/S:16/parts:5/causal:1/softcap:20/alibi:1/"
                        "sinks:1/mask:1");
    assert_int_equal(cli_integer(row, "parts"), 5);
    assert_int_equal(cli_integer(row, "parts_bytes"), 16 * 5 * 16640);
    assert_int_equal(cli_integer(row, "tiles"), 4);
    assert_int_equal(cli_integer(row, "seq_kv"), 1024);
    assert_int_equal(cli_integer(row, "planned_peak_bytes"), 62080);
    assert_int_equal(cli_integer(row, "alibi"), 1);
    assert_int_equal(cli_integer(row, "sinks"), 1);
    assert_int_equal(cli_integer(row, "mask"), 1);
    assert_true(json_number_value(json_object_get(row, "softcap")) == 20.0);
    assert_true(cli_is_null(row, "measured_parts_bytes"));
    row = json_array_get(rows, 0);
    assert_int_equal(cli_integer(row, "parts"), 1);
    assert_int_equal(cli_integer(row, "parts_bytes"), 0);
    assert_int_equal(cli_integer(row, "tiles"), 16);
    json_decref(file);
    cli_fini(&run);
}

static void plan_under_a_window_tells_the_keys(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "plan --tiles 16,32 --window 100,0 --policy nested");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "S  keys  policy");
    cli_says(run.out, "1024  nested");
    cli_says(run.out, "2048  nested");
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_of_the_reference_program),
        cmocka_unit_test(plan_of_an_overflow_tells_the_first_failing_request),
        cmocka_unit_test(plan_with_a_growing_pool_never_overflows),
        cmocka_unit_test(plan_needs_no_platform),
        cmocka_unit_test(plan_takes_types_without_a_kernel),
        cmocka_unit_test(plan_of_tiny_pools_is_a_row),
        cmocka_unit_test(plan_filter_picks_rows_by_name),
        cmocka_unit_test(plan_csv_columns_are_the_json_keys),
        cmocka_unit_test(plan_does_not_depend_on_the_locale),
        cmocka_unit_test(plan_table_is_ascii_unless_the_locale_is_utf8),
        cmocka_unit_test(plan_writes_outputs_and_the_table),
        cmocka_unit_test(plan_to_stdout_as_an_output_prints_it_once),
        cmocka_unit_test(plan_of_every_model),
        cmocka_unit_test(plan_of_mask_options_and_parts),
        cmocka_unit_test(plan_under_a_window_tells_the_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
