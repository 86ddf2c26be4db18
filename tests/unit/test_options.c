/* Options: parsing by the table, its error texts, --help, and what the command lines mean. */
#include "tests/unit/app_fixture.h"

static void refuse(enum command command, const char *line, const char *what, const char *why)
{
    struct settings settings;

    assert_int_equal(app_parse(command, line, &settings), STATUS_BAD_INPUT);
    assert_string_equal(status_last()->what, what);
    if (strstr(status_last()->why, why) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", line, status_last()->why, why);
    }
    settings_fini(&settings);
    status_clear();
}

static void parse_nothing_gives_defaults(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP, "", &settings), STATUS_OK);
    assert_int_equal(settings.tiles.count, 0);
    assert_int_equal(settings.window.left, -1);
    assert_int_equal(settings.window.right, -1);
    assert_int_equal(settings.format, FORMAT_COUNT);
    assert_null(settings.device);
    assert_false(settings.causal || settings.alibi || settings.sinks || settings.mask);
    assert_false(settings.window.given);
    assert_true(settings.softcap == 0.0 && settings.scale == 0.0);
    assert_int_equal(settings.parts.count, 0);
    settings_fini(&settings);
}

static void parse_both_spellings_of_a_value(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP, "--pes 3 --seed=7 --device=a=b", &settings),
                     STATUS_OK);
    assert_int_equal(settings.pes, 3);
    assert_int_equal(settings.seed, 7);
    assert_string_equal(settings.device, "a=b");
    settings_fini(&settings);
}

static void parse_every_type(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP,
                               "--causal --window 4096,-1 --scale 0.5 --softcap 30 --alibi "
                               "--sinks --mask --parts 1,4 --min-time 20ms --pool 48KiB "
                               "--kernel simt --policy nested,unscoped,nested --tiles 1:4 "
                               "--output a.json --output b.csv --format md",
                               &settings),
                     STATUS_OK);
    assert_true(settings.causal);
    assert_int_equal(settings.window.left, 4096);
    assert_int_equal(settings.window.right, -1);
    assert_true(settings.window.given);
    assert_true(settings.scale == 0.5);
    assert_true(settings.softcap == 30.0);
    assert_true(settings.alibi && settings.sinks && settings.mask);
    assert_int_equal(settings.parts.count, 2);
    assert_int_equal(settings.parts.values[1], 4);
    assert_true(fabs(settings.min_time_s - 0.02) < 1e-15);
    assert_int_equal(settings.pool.bytes, 49152);
    assert_false(settings.pool.grow);
    assert_int_equal(settings.kernel, SETTINGS_KERNEL_SIMT);
    assert_int_equal(settings.policies.count, 2);
    assert_int_equal(settings.policies.values[0], POLICY_NESTED);
    assert_int_equal(settings.policies.values[1], POLICY_UNSCOPED);
    assert_int_equal(settings.tiles.count, 4);
    assert_int_equal(settings.outputs.count, 2);
    assert_string_equal(settings.outputs.values[1], "b.csv");
    assert_int_equal(settings.format, FORMAT_MD);
    settings_fini(&settings);
}

static void parse_words_for_automatic_values(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP, "--pes auto --pool grow --kernel auto", &settings),
                     STATUS_OK);
    assert_int_equal(settings.pes, 0);
    assert_true(settings.pool.grow);
    assert_int_equal(settings.kernel, SETTINGS_KERNEL_AUTO);
    settings_fini(&settings);
}

static void parse_block_sets_both_or_leaves_them_to_tune(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP, "--block 48x96", &settings), STATUS_OK);
    assert_false(settings.block.automatic);
    assert_int_equal(settings.block.rows, 48);
    assert_int_equal(settings.block.keys, 96);
    settings_fini(&settings);
    assert_int_equal(app_parse(COMMAND_PLAN, "--block 1x1 --block auto", &settings), STATUS_OK);
    assert_true(settings.block.automatic);
    assert_int_equal(settings.block.rows, 0);
    settings_fini(&settings);
    assert_int_equal(app_parse(COMMAND_PROFILE, "--block 8x16", &settings), STATUS_OK);
    assert_int_equal(settings.block.rows, 8);
    settings_fini(&settings);
}

static void parse_bad_block_refused(void **state)
{
    static const char *const lines[] = {"--block 32",    "--block x",
                                        "--block 32x",   "--block x64",
                                        "--block 0x64",  "--block 32x0",
                                        "--block=32 x",  "--block 32x64x1",
                                        "--block -1x4",  "--block AUTO",
                                        "--block 1x+4",  "--block 1,2x3",
                                        "--block 9e9x4", "--block 99999999999999999999999x1"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        refuse(COMMAND_SWEEP, lines[i], "--block", "is neither auto nor MxN");
    }
    refuse(COMMAND_SWEEP, "--block=", "--block", "is neither auto nor MxN");
    refuse(COMMAND_SWEEP, "--block 2x4 --block-m 2", "--block", "--block-m sets");
    refuse(COMMAND_PLAN, "--block-n 2 --block auto", "--block", "--block-n sets");
    refuse(COMMAND_TUNE, "--block auto", "--block", "tune does not take it");
}

static void parse_tune_takes_one_problem(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(
        app_parse(COMMAND_TUNE, "--head-dim 64 --policy scoped,nested --bind none", &settings),
        STATUS_OK);
    assert_true(settings.time_limit_s == SETTINGS_TUNE_S);
    settings_fini(&settings);
    refuse(COMMAND_TUNE, "--seq-q 1,2", "--seq-q", "one problem, so one value, not 2");
    refuse(COMMAND_TUNE, "--parts 1:4", "--parts", "one problem, so one value, not 4");
    refuse(COMMAND_TUNE, "--block-m 4", "--block-m", "tune does not take it");
    refuse(COMMAND_TUNE, "--dtype i8", "--dtype", "no kernel stores i8");
}

static void parse_option_twice_last_one_counts(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(
        app_parse(COMMAND_SWEEP, "--tiles 1,2,3 --tiles 9 --pool grow --pool 1k", &settings),
        STATUS_OK);
    assert_int_equal(settings.tiles.count, 1);
    assert_int_equal(settings.tiles.values[0], 9);
    assert_false(settings.pool.grow);
    assert_int_equal(settings.pool.bytes, 1024);
    settings_fini(&settings);
}

static void parse_dtype_names_are_those_of_dtype(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_PLAN, "--dtype f32,f16,bf16,f8,i8", &settings), STATUS_OK);
    assert_int_equal(settings.dtypes.count, DTYPE_COUNT);
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        assert_int_equal(settings.dtypes.values[i], i);
    }
    settings_fini(&settings);
}

static void parse_policy_names_are_those_of_policy(void **state)
{
    struct settings settings;

    (void)state;
    assert_int_equal(app_parse(COMMAND_PLAN, "--policy unscoped,scoped,nested", &settings),
                     STATUS_OK);
    for (size_t i = 0; i < POLICY_COUNT; i++) {
        assert_int_equal(settings.policies.values[i], i);
    }
    settings_fini(&settings);
}

static void parse_unknown_option_names_the_nearest(void **state)
{
    (void)state;
    refuse(COMMAND_SWEEP, "--tilez 1", "--tilez", "--tiles");
    refuse(COMMAND_SWEEP, "--polcy nested", "--polcy", "--policy");
    refuse(COMMAND_SWEEP, "--min_time 1", "--min_time", "--min-time");
    refuse(COMMAND_PLAN, "--blok-m 1", "--blok-m", "--block-m");
}

static void parse_abbreviation_refused(void **state)
{
    (void)state;
    refuse(COMMAND_SWEEP, "--tile 1", "--tile", "no such option");
    refuse(COMMAND_SWEEP, "--rep 1", "--rep", "--repetitions");
}

static void parse_options_of_other_commands_refused(void **state)
{
    static const char *const lines[] = {"--device cpu", "--resume", "--force",
                                        "--poison",     "--seed 1", "--repetitions 1",
                                        "--min-time 1"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char what[32];
        (void)snprintf(what, sizeof what, "%.*s", (int)strcspn(lines[i], " "), lines[i]);
        refuse(COMMAND_PLAN, lines[i], what, "an option of sweep");
    }
    refuse(COMMAND_DEVICES, "--tiles 1", "--tiles", "devices does not take it");
    refuse(COMMAND_DEVICES, "--arena local", "--arena", "an option of sweep");
    refuse(COMMAND_DEVICES, "--pes 2", "--pes", "an option of sweep");
    refuse(COMMAND_SWEEP, "--rounds 2", "--rounds", "an option of profile");
}

static void parse_options_of_later_versions_unknown(void **state)
{
    static const char *const lines[] = {"--verify", "--roofline"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        refuse(COMMAND_SWEEP, lines[i], lines[i], "no such option");
    }
}

static void parse_counts_out_of_range_refused(void **state)
{
    (void)state;
    refuse(COMMAND_SWEEP, "--repetitions 0", "--repetitions", "least value, 1");
    refuse(COMMAND_SWEEP, "--repetitions -5", "--repetitions", "'-5'");
    refuse(COMMAND_SWEEP, "--repetitions 100001", "--repetitions", "too large (at most 100000)");
    refuse(COMMAND_SWEEP, "--pes 0", "--pes", "least value");
    refuse(COMMAND_SWEEP, "--tiles 0", "--tiles", "least value");
    refuse(COMMAND_SWEEP, "--block-n 0", "--block-n", "least value");
    refuse(COMMAND_SWEEP, "--seed -1", "--seed", "'-1'");
    refuse(COMMAND_SWEEP, "--parts 0", "--parts", "least value, 1");
    refuse(COMMAND_SWEEP, "--parts 2,-1", "--parts", "'-1'");
    refuse(COMMAND_SWEEP, "--parts 2,65537", "--parts", "too large (at most 65536)");
}

static void parse_too_few_pairs_refused_none_taken(void **state)
{
    static const char *const taken[] = {"--pairs 0", "--pairs 5", "--pairs 1000"};

    (void)state;
    refuse(COMMAND_SWEEP, "--pairs 1", "--pairs", "1 block is too few");
    refuse(COMMAND_SWEEP, "--pairs 4", "--pairs", "4 blocks are too few");
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct settings settings;
        assert_int_equal(app_parse(COMMAND_SWEEP, taken[i], &settings), STATUS_OK);
        settings_fini(&settings);
    }
}

static void parse_times_not_above_zero_refused(void **state)
{
    static const char *const values[] = {"0", "-1", "0s", "0ms", "nan", "inf", "x", "1x"};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "--min-time=%s", values[i]);
        refuse(COMMAND_SWEEP, line, "--min-time", "not a time above 0");
    }
}

static void parse_pool_below_alignment_refused_any_larger_taken(void **state)
{
    struct settings settings;

    (void)state;
    refuse(COMMAND_PLAN, "--pool 0", "--pool", "128");
    refuse(COMMAND_PLAN, "--pool 1", "--pool", "128");
    refuse(COMMAND_PLAN, "--pool 127", "--pool", "128");
    refuse(COMMAND_PLAN, "--pool -1", "--pool", "number of bytes");
    refuse(COMMAND_PLAN, "--pool 1.0000001MiB", "--pool", "number of bytes");
    assert_int_equal(app_parse(COMMAND_PLAN, "--pool 128", &settings), STATUS_OK);
    assert_int_equal(settings.pool.bytes, 128);
    settings_fini(&settings);
}

static void parse_bad_words_refused_with_the_choice(void **state)
{
    (void)state;
    refuse(COMMAND_SWEEP, "--policy nestd", "--policy", "unscoped, scoped, nested");
    refuse(COMMAND_SWEEP, "--policy scoped,", "--policy", "''");
    refuse(COMMAND_SWEEP, "--policy=", "--policy", "empty");
    refuse(COMMAND_SWEEP, "--kernel SIMD", "--kernel", "auto, simd, simt");
    refuse(COMMAND_DEVICES, "--format csv", "--format", "table, json");
}

static void parse_bad_mask_refused(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "--window 5", "--window", "LEFT,RIGHT");
    refuse(COMMAND_PLAN, "--window 5,", "--window", "LEFT,RIGHT");
    refuse(COMMAND_PLAN, "--window 5,6,7", "--window", "LEFT,RIGHT");
    refuse(COMMAND_PLAN, "--window -2,0", "--window", "below -1");
    refuse(COMMAND_PLAN, "--window 0,-2", "--window", "below -1");
    refuse(COMMAND_PLAN, "--scale 0", "--scale", "other than 0");
    refuse(COMMAND_PLAN, "--scale inf", "--scale", "finite");
    refuse(COMMAND_PLAN, "--softcap 0", "--softcap", "above 0");
    refuse(COMMAND_PLAN, "--softcap -50", "--softcap", "above 0");
    refuse(COMMAND_PLAN, "--softcap nan", "--softcap", "finite");
    refuse(COMMAND_PLAN, "--softcap inf", "--softcap", "finite");
    refuse(COMMAND_PLAN, "--causal=1", "--causal", "no value");
    refuse(COMMAND_PLAN, "--alibi=1", "--alibi", "no value");
    refuse(COMMAND_PLAN, "--sinks=1", "--sinks", "no value");
    refuse(COMMAND_PLAN, "--mask=m.npy", "--mask", "no value");
}

static void parse_missing_value_refused(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "--tiles", "--tiles", "missing");
    refuse(COMMAND_PLAN, "--output=", "--output", "empty");
}

static void parse_what_is_no_option_refused(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "word", "word", "not an option");
    refuse(COMMAND_PLAN, "-h", "-h", "not an option");
    refuse(COMMAND_PLAN, "--", "--", "not an option");
}

static void parse_type_without_kernel_refused_by_sweep_alone(void **state)
{
    struct settings settings;

    (void)state;
    refuse(COMMAND_SWEEP, "--dtype f16,bf16", "--dtype", "no kernel stores bf16");
    assert_int_equal(app_parse(COMMAND_PLAN, "--dtype bf16", &settings), STATUS_OK);
    settings_fini(&settings);
}

static void parse_tiles_with_a_fixed_length_refused(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "--preset square4096 --tiles 4", "--tiles", "square4096");
    refuse(COMMAND_PLAN, "--tiles 4 --preset square4096", "--tiles", "square4096");
    refuse(COMMAND_PLAN, "--tiles 4 --preset llama3-8b-decode", "--tiles", "seq_kv = 8192");
}

static void parse_resume_without_its_file_refused(void **state)
{
    (void)state;
    refuse(COMMAND_SWEEP, "--resume", "--resume", "--output");
    refuse(COMMAND_SWEEP, "--force --output a.json", "--force", "--resume");
}

static void parse_help_ends_parsing(void **state)
{
    static char name[] = "plan";
    static char help_word[] = "--help";
    static char rest[] = "--nonsense";
    char *argv[] = {name, help_word, rest};
    struct settings settings;
    bool help = false;

    (void)state;
    assert_int_equal(settings_parse(COMMAND_PLAN, 3, argv, &settings, &help), STATUS_OK);
    assert_true(help);
    settings_fini(&settings);
}

static char *help_text(enum command command)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    settings_help(command, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void help_tells_options_of_the_command_alone(void **state)
{
    char *sweep = help_text(COMMAND_SWEEP);
    char *plan = help_text(COMMAND_PLAN);

    (void)state;
    assert_non_null(strstr(sweep, "--resume"));
    assert_non_null(strstr(sweep, "--pool SIZE|grow"));
    assert_null(strstr(plan, "--resume"));
    assert_null(strstr(plan, "--device"));
    assert_non_null(strstr(plan, "bf16"));
    assert_null(strstr(sweep, "bf16"));
    assert_non_null(strstr(sweep, "--arena global|local"));
    assert_non_null(strstr(plan, "a plan knows no device"));
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n  %s ", preset_at(i)->name);
        assert_non_null(strstr(sweep, line));
        assert_non_null(strstr(plan, line));
    }
    free(sweep);
    free(plan);
}

static void help_lines_fit_80_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char *text = help_text((enum command)i);
        for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
            assert_true(strcspn(at, "\n") <= 80);
        }
        free(text);
    }
}

static void nearest_name_within_reach_or_none(void **state)
{
    static const char *const names[] = {"sweep", "plan", "devices"};

    (void)state;
    assert_string_equal(options_nearest("swep", names, 3), "sweep");
    assert_string_equal(options_nearest("device", names, 3), "devices");
    assert_string_equal(options_nearest("dev", names, 3), "devices");
    assert_null(options_nearest("qqqqqqqq", names, 3));
    assert_string_equal(options_nearest("pan", names, 3), "plan");
    assert_null(options_nearest("foo", (const char *const[]){"pool"}, 1));
    assert_null(options_nearest("x", names, 0));
}

static void parse_causal_with_a_reach_to_the_right_refused(void **state)
{
    static const char *const fine[] = {"--causal --window 4,0", "--causal --window 4,-1",
                                       "--window 4,1", "--preset mistral-7b-decode",
                                       "--preset vit-b16 --window 4,1"};

    (void)state;
    refuse(COMMAND_PLAN, "--causal --window 4,1", "--window", "contradict --causal");
    refuse(COMMAND_PLAN, "--window -1,1 --causal", "--window", "1 keys after");
    refuse(COMMAND_PLAN, "--preset gpt2-prefill --window 4,1", "--window", "preset gpt2-prefill");
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        struct settings settings;
        assert_int_equal(app_parse(COMMAND_PLAN, fine[i], &settings), STATUS_OK);
        settings_fini(&settings);
    }
}

static void parse_preset_names_are_those_of_preset(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        struct settings settings;
        char line[64];
        (void)snprintf(line, sizeof line, "--preset %s", preset_at(i)->name);
        assert_int_equal(app_parse(COMMAND_SWEEP, line, &settings), STATUS_OK);
        assert_int_equal(settings.preset, i);
        assert_string_equal(preset_intern(preset_at(i)->name), preset_at(i)->name);
        settings_fini(&settings);
    }
    refuse(COMMAND_SWEEP, "--preset llama", "--preset", "vit-b16");
}

static void parse_numbers_beyond_the_largest_say_so(void **state)
{
    struct settings settings;

    (void)state;
    refuse(COMMAND_SWEEP, "--pes 99999999999999999999", "--pes", "too large (at most");
    refuse(COMMAND_SWEEP, "--seed 99999999999999999999", "--seed",
           "too large (at most 9223372036854775807: results are JSON");
    refuse(COMMAND_SWEEP, "--seed 9223372036854775808", "--seed", "results are JSON");
    refuse(COMMAND_SWEEP, "--tiles 99999999999999999999", "--tiles", "too large");
    refuse(COMMAND_SWEEP, "--parts 99999999999999999999", "--parts", "too large");
    refuse(COMMAND_SWEEP, "--window 99999999999999999999,0", "--window", "too large");
    refuse(COMMAND_SWEEP, "--window 0,9223372036854775808", "--window", "too large");
    refuse(COMMAND_SWEEP, "--window -99999999999999999999,0", "--window", "below -1");
    refuse(COMMAND_SWEEP, "--min-time 3601", "--min-time", "at most 3600 s");
    refuse(COMMAND_SWEEP, "--scale 1000001", "--scale", "scores are f32");
    refuse(COMMAND_SWEEP, "--scale -1e7", "--scale", "scores are f32");
    assert_int_equal(app_parse(COMMAND_SWEEP,
                               "--seed 9223372036854775807 --min-time 3600 --scale -1e6 "
                               "--window 9223372036854775807,-1",
                               &settings),
                     STATUS_OK);
    settings_fini(&settings);
}

static void parse_bad_pool_names_the_units(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "--pool 1TiB", "--pool", "KiB, MiB, GiB");
}

static void parse_help_with_a_value_refused(void **state)
{
    (void)state;
    refuse(COMMAND_PLAN, "--help=1", "--help", "no value");
}

static void help_tells_what_is_replaced_shown_and_repeated(void **state)
{
    char *text = help_text(COMMAND_SWEEP);

    (void)state;
    assert_non_null(strstr(text, "replaced"));
    assert_non_null(strstr(text, "longest item walks"));
    assert_non_null(strstr(text, "1:9 goes by 1"));
    assert_non_null(strstr(text, "the last value counts"));
    assert_non_null(strstr(text, "at most 10000 rows"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_nothing_gives_defaults),
        cmocka_unit_test(parse_both_spellings_of_a_value),
        cmocka_unit_test(parse_every_type),
        cmocka_unit_test(parse_words_for_automatic_values),
        cmocka_unit_test(parse_block_sets_both_or_leaves_them_to_tune),
        cmocka_unit_test(parse_bad_block_refused),
        cmocka_unit_test(parse_tune_takes_one_problem),
        cmocka_unit_test(parse_option_twice_last_one_counts),
        cmocka_unit_test(parse_dtype_names_are_those_of_dtype),
        cmocka_unit_test(parse_policy_names_are_those_of_policy),
        cmocka_unit_test(parse_unknown_option_names_the_nearest),
        cmocka_unit_test(parse_abbreviation_refused),
        cmocka_unit_test(parse_options_of_other_commands_refused),
        cmocka_unit_test(parse_options_of_later_versions_unknown),
        cmocka_unit_test(parse_counts_out_of_range_refused),
        cmocka_unit_test(parse_too_few_pairs_refused_none_taken),
        cmocka_unit_test(parse_times_not_above_zero_refused),
        cmocka_unit_test(parse_pool_below_alignment_refused_any_larger_taken),
        cmocka_unit_test(parse_bad_words_refused_with_the_choice),
        cmocka_unit_test(parse_bad_mask_refused),
        cmocka_unit_test(parse_missing_value_refused),
        cmocka_unit_test(parse_what_is_no_option_refused),
        cmocka_unit_test(parse_type_without_kernel_refused_by_sweep_alone),
        cmocka_unit_test(parse_tiles_with_a_fixed_length_refused),
        cmocka_unit_test(parse_resume_without_its_file_refused),
        cmocka_unit_test(parse_help_ends_parsing),
        cmocka_unit_test(help_tells_options_of_the_command_alone),
        cmocka_unit_test(help_lines_fit_80_columns),
        cmocka_unit_test(nearest_name_within_reach_or_none),
        cmocka_unit_test(parse_causal_with_a_reach_to_the_right_refused),
        cmocka_unit_test(parse_preset_names_are_those_of_preset),
        cmocka_unit_test(parse_numbers_beyond_the_largest_say_so),
        cmocka_unit_test(parse_bad_pool_names_the_units),
        cmocka_unit_test(parse_help_with_a_value_refused),
        cmocka_unit_test(help_tells_what_is_replaced_shown_and_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
