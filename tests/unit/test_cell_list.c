/* The cells of a command line: what is crossed in which order, and their names. */
#include "tests/unit/app_fixture.h"

static void expect_name(const char *line, size_t index, const char *name)
{
    struct cell_list list;

    app_cells(line, &list);
    assert_true(index < list.count);
    assert_string_equal(list.cells[index].name, name);
    cell_list_fini(&list);
}

static enum status list_status(const char *line)
{
    struct settings settings;
    struct cell_list list;

    assert_int_equal(app_parse(COMMAND_PLAN, line, &settings), STATUS_OK);
    enum status status = cell_list_init(&settings, &list);
    if (status != STATUS_OK) {
        assert_null(list.cells);
    }
    cell_list_fini(&list);
    settings_fini(&settings);
    return status;
}

static void default_sweep_is_cap16(void **state)
{
    static const size_t tiles[] = {1, 2, 4, 8, 16, 17, 32, 64, 128, 256, 512, 1024};
    struct cell_list list;

    (void)state;
    app_cells("", &list);
    assert_int_equal(list.count, 36);
    for (size_t i = 0; i < list.count; i++) {
        const struct cell *cell = &list.cells[i];
        assert_string_equal(cell->preset, "cap16");
        assert_int_equal(cell->policy, i % 3);
        assert_int_equal(cell->problem.seq_kv, tiles[i / 3] * 64);
        assert_int_equal(cell->problem.dtype, DTYPE_F16);
        assert_int_equal(cell->problem.seq_q, 128);
        assert_int_equal(cell->problem.q_heads, 4);
        assert_int_equal(cell->pool_bytes, 1048576);
        assert_int_equal(cell->alignment, 128);
    }
    cell_list_fini(&list);
}

static void name_of_a_preset_cell_has_no_settings(void **state)
{
    (void)state;
    expect_name("--tiles 17 --policy nested", 0, "attention/cap16/nested/f16/S:17");
    expect_name("--preset square4096 --policy scoped", 0, "attention/square4096/scoped/f16/S:32");
    expect_name("--arena global", 0, "attention/cap16/unscoped/f16/S:1");
    expect_name("--arena local --kernel simt --parts 2", 0,
                "attention/cap16/unscoped/f16/S:1/kernel:simt/arena:local/parts:2");
    expect_name("--preset chip48", 0, "attention/chip48/unscoped/f16/S:1");
    expect_name("--preset chip48 --arena local", 0, "attention/chip48/unscoped/f16/S:1");
    expect_name("--preset chip48 --arena global --pool 64KiB", 0,
                "attention/chip48/unscoped/f16/S:1/pool:65536/arena:global");
}

static void name_tells_each_other_setting_in_order(void **state)
{
    (void)state;
    expect_name(
        "--tiles 2 --policy scoped --dtype f32 --head-dim 64 --head-dim-v 32 --seq-q 16 "
        "--q-heads 8 --kv-heads 2 --batch 3 --block-m 4 --block-n 8 --pool 64KiB --pes 5 "
        "--kernel simd --parts 7 --causal --window 9,-1 --softcap 2.5 --alibi --sinks --mask "
        "--scale 0.3",
        0,
        "attention/cap16/scoped/f32/S:2/head_dim:64/head_dim_v:32/seq_q:16/q_heads:8/"
        "kv_heads:2/batch:3/block_m:4/block_n:8/pool:65536/pes:5/kernel:simd/parts:7/"
        "causal:1/window:9,-1/softcap:2.5/alibi:1/sinks:1/mask:1/scale:0.3");
}

static void name_leaves_out_what_the_preset_says(void **state)
{
    (void)state;
    expect_name("--tiles 2 --policy scoped --head-dim 128 --seq-q 128 --q-heads 4 --kv-heads 4 "
                "--batch 1 --block-m 32 --block-n 64 --pool 1MiB --pes auto --kernel auto "
                "--parts 1 --window -1,-1",
                0, "attention/cap16/scoped/f16/S:2");
}

static void name_of_following_settings_says_the_leading_one_alone(void **state)
{
    (void)state;
    expect_name("--tiles 1 --policy nested --head-dim 64 --q-heads 1", 0,
                "attention/cap16/nested/f16/S:1/head_dim:64/q_heads:1");
}

static void name_of_a_growing_pool_says_so(void **state)
{
    (void)state;
    expect_name("--tiles 1 --policy nested --pool grow", 0,
                "attention/cap16/nested/f16/S:1/pool:grow");
}

static void name_of_a_window_keeps_the_asked_tiles(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--tiles 16,32 --policy nested --window 64,0", &list);
    assert_string_equal(list.cells[0].name, "attention/cap16/nested/f16/S:16/window:64,0");
    assert_string_equal(list.cells[1].name, "attention/cap16/nested/f16/S:32/window:64,0");
    assert_true(problem_tiles(&list.cells[1].problem) < 32);
    cell_list_fini(&list);
}

static void name_of_a_block_is_that_of_its_sides(void **state)
{
    (void)state;
    expect_name("--tiles 2 --policy nested --block 4x8", 0,
                "attention/cap16/nested/f16/S:2/block_m:4/block_n:8");
}

/* S counts tiles of the new block where it comes from --tiles; elsewhere the keys stay. */
static void set_block_keeps_s_or_the_keys(void **state)
{
    struct settings settings;
    struct cell_list list;

    (void)state;
    assert_int_equal(app_parse(COMMAND_SWEEP, "--tiles 5 --policy nested", &settings), STATUS_OK);
    assert_int_equal(cell_list_init(&settings, &list), STATUS_OK);
    assert_int_equal(cell_list_set_block(&settings, &list.cells[0], 16, 96), STATUS_OK);
    assert_int_equal(list.cells[0].problem.seq_kv, 480);
    assert_string_equal(list.cells[0].name, "attention/cap16/nested/f16/S:5/block_m:16/block_n:96");
    cell_list_fini(&list);
    settings_fini(&settings);
    assert_int_equal(app_parse(COMMAND_SWEEP, "--preset vit-b16 --policy nested", &settings),
                     STATUS_OK);
    assert_int_equal(cell_list_init(&settings, &list), STATUS_OK);
    assert_int_equal(cell_list_set_block(&settings, &list.cells[0], 64, 100), STATUS_OK);
    assert_int_equal(list.cells[0].problem.seq_kv, 197);
    assert_string_equal(list.cells[0].name, "attention/vit-b16/nested/f16/S:2/block_n:100");
    cell_list_fini(&list);
    settings_fini(&settings);
}

static void crossed_lists_share_no_name(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--tiles 1,2 --dtype f16,f32 --q-heads 4,8 --kv-heads 1,4 --head-dim 64,128 "
              "--head-dim-v 64,128 --block-n 64,32 --batch 1,2 --parts 1,2",
              &list);
    assert_int_equal(list.count, 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 3);
    for (size_t i = 0; i < list.count; i++) {
        for (size_t j = i + 1; j < list.count; j++) {
            assert_string_not_equal(list.cells[i].name, list.cells[j].name);
        }
    }
    cell_list_fini(&list);
}

static void crossed_lists_keep_groups_together(void **state)
{
    struct cell_list list;
    char group[CELL_NAME_BYTES];
    char other[CELL_NAME_BYTES];

    (void)state;
    app_cells("--tiles 1,2,3 --dtype f16,f32 --policy nested,scoped", &list);
    assert_int_equal(list.count, 12);
    for (size_t i = 0; i < list.count; i += 2) {
        cell_list_group(&list.cells[i], group);
        cell_list_group(&list.cells[i + 1], other);
        assert_string_equal(group, other);
        assert_int_equal(list.cells[i].policy, POLICY_NESTED);
        assert_int_equal(list.cells[i + 1].policy, POLICY_SCOPED);
    }
    assert_true(cell_list_same_config(&list.cells[0], &list.cells[5]));
    assert_false(cell_list_same_config(&list.cells[5], &list.cells[6]));
    cell_list_fini(&list);
}

static void group_name_is_the_name_without_its_policy(void **state)
{
    struct cell_list list;
    char group[CELL_NAME_BYTES];

    (void)state;
    app_cells("--tiles 3 --policy scoped --seq-q 8", &list);
    cell_list_group(&list.cells[0], group);
    assert_string_equal(group, "attention/cap16/f16/S:3/seq_q:8");
    cell_list_fini(&list);
}

static void heads_that_do_not_divide_refused(void **state)
{
    (void)state;
    assert_int_equal(list_status("--q-heads 3 --kv-heads 2"), STATUS_BAD_INPUT);
    assert_int_equal(list_status("--q-heads 33 --kv-heads 2"), STATUS_BAD_INPUT);
    assert_int_equal(list_status("--q-heads 4,3 --kv-heads 2"), STATUS_BAD_INPUT);
}

static void sizes_that_wrap_refused(void **state)
{
    (void)state;
    assert_int_equal(list_status("--tiles 18446744073709551615"), STATUS_RANGE);
    assert_int_equal(list_status("--tiles 1 --head-dim 9223372036854775808"), STATUS_RANGE);
}

static void too_many_cells_refused(void **state)
{
    (void)state;
    assert_int_equal(list_status("--tiles 1:100 --block-m 1:100 --policy nested"), STATUS_OK);
    assert_int_equal(list_status("--tiles 1:100 --block-m 1:101 --policy nested"),
                     STATUS_BAD_INPUT);
    assert_int_equal(list_status("--tiles 1:10000 --block-m 1:10000 --block-n 1:10000 "
                                 "--head-dim 1:10000 --seq-q 1:10000"),
                     STATUS_BAD_INPUT);
}

static bool keep_nested(const char *name)
{
    return strstr(name, "/nested/") != NULL;
}

static void filter_leaves_matching_cells_in_order(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--tiles 1,2", &list);
    cell_list_filter(&list, keep_nested);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.cells[0].name, "attention/cap16/nested/f16/S:1");
    assert_string_equal(list.cells[1].name, "attention/cap16/nested/f16/S:2");
    cell_list_fini(&list);
}

static void square4096_walks_its_fixed_length(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--preset square4096 --policy nested --block-n 100,128", &list);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.cells[0].name, "attention/square4096/nested/f16/S:41/block_n:100");
    assert_int_equal(list.cells[0].problem.seq_kv, 4096);
    assert_int_equal(list.cells[1].problem.seq_kv, 4096);
    assert_int_equal(list.cells[1].problem.block_m, 128);
    cell_list_fini(&list);
}

static void name_of_a_model_leaves_out_its_own_mask(void **state)
{
    (void)state;
    expect_name("--preset gemma2-9b-decode --policy nested --causal --softcap 50 --window 4095,0 "
                "--parts 8 --kv-heads 8",
                0, "attention/gemma2-9b-decode/nested/f16/S:128");
    expect_name("--preset gemma2-9b-decode --policy nested --window -1,-1 --softcap 30 --parts 1",
                0, "attention/gemma2-9b-decode/nested/f16/S:128/parts:1/window:-1,-1/softcap:30");
    expect_name("--preset gpt-oss-20b-decode --policy scoped --sinks --mask", 0,
                "attention/gpt-oss-20b-decode/scoped/f16/S:128/mask:1");
}

static void heads_and_columns_of_a_model_stay_its_own(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--preset llama3-8b-prefill --policy nested --q-heads 16", &list);
    assert_int_equal(list.cells[0].problem.kv_heads, 8);
    assert_string_equal(list.cells[0].name,
                        "attention/llama3-8b-prefill/nested/f16/S:32/q_heads:16");
    cell_list_fini(&list);
    app_cells("--preset deepseek-mla-prefill --policy nested --head-dim 64 --q-heads 4", &list);
    assert_int_equal(list.cells[0].problem.head_dim_v, 128);
    assert_int_equal(list.cells[0].problem.kv_heads, 4);
    assert_string_equal(list.cells[0].name,
                        "attention/deepseek-mla-prefill/nested/f16/S:16/head_dim:64/q_heads:4");
    cell_list_fini(&list);
}

static void mask_options_add_to_those_of_the_preset(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--preset gpt-oss-20b-prefill --policy nested --alibi --softcap 9 --scale 2", &list);
    const struct problem *problem = &list.cells[0].problem;
    assert_true(problem->causal && problem->sinks && problem->alibi);
    assert_false(problem->mask);
    assert_int_equal(problem->window_left, 127);
    assert_int_equal(problem->window_right, 0);
    assert_true(problem->softcap == 9.0 && problem->scale == 2.0);
    cell_list_fini(&list);
}

/* Lists of parts make configurations of their own, each with whole groups. */
static void parts_are_a_configuration_of_their_own(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--tiles 8,16 --parts 1,3", &list);
    assert_int_equal(list.count, 12);
    assert_int_equal(problem_parts(&list.cells[0].problem), 1);
    assert_int_equal(problem_parts(&list.cells[6].problem), 3);
    assert_string_equal(list.cells[6].name, "attention/cap16/unscoped/f16/S:8/parts:3");
    assert_int_equal(problem_tiles(&list.cells[6].problem), 3);
    assert_true(cell_list_same_config(&list.cells[0], &list.cells[5]));
    assert_false(cell_list_same_config(&list.cells[5], &list.cells[6]));
    cell_list_fini(&list);
}

/* A row keeps the name that was asked for, and has the pool that there is. */
static void local_pools_are_limited_and_names_stay(void **state)
{
    struct cell_list list;

    (void)state;
    app_cells("--arena local --pool 2MiB --tiles 1 --policy nested", &list);
    cell_list_local(&list, (size_t)512 << 10);
    assert_int_equal(list.cells[0].pool_bytes, (size_t)511 << 10);
    assert_string_equal(list.cells[0].name,
                        "attention/cap16/nested/f16/S:1/pool:2097152/arena:local");
    cell_list_fini(&list);
    app_cells("--pool 2MiB --tiles 1 --policy nested", &list);
    cell_list_local(&list, (size_t)512 << 10);
    assert_int_equal(list.cells[0].pool_bytes, (size_t)2 << 20);
    cell_list_fini(&list);
}

static void every_preset_plans_and_nested_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        struct cell_list list;
        struct cell_result result;
        char line[64];
        (void)snprintf(line, sizeof line, "--preset %s --policy nested", preset_at(i)->name);
        app_cells(line, &list);
        for (size_t j = 0; j < list.count; j++) {
            assert_int_equal(cell_plan(&list.cells[j], 0, 0, NULL, &result), STATUS_OK);
            assert_false(result.overflow);
        }
        cell_list_fini(&list);
    }
}

/* Refuses a command line, and compares the error. */
static void refuse(const char *line, const char *what, const char *why)
{
    assert_int_not_equal(list_status(line), STATUS_OK);
    assert_string_equal(status_last()->what, what);
    if (strstr(status_last()->why, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", status_last()->why, why);
    }
    status_clear();
}

static void refusals_name_the_option(void **state)
{
    (void)state;
    refuse("--q-heads 3 --kv-heads 2", "--q-heads/--kv-heads", "--q-heads must be a multiple");
    refuse("--softcap 1e39", "--softcap", "f32");
    refuse("--tiles 1 --head-dim 9223372036854775808", "the tensor q", "do not fit");
    refuse("--tiles 1:100 --block-m 1:101", "--block-m x --tiles x --policy",
           "101 x 100 x 3 rows, more than 10000");
}

static void blocks_too_many_to_walk_refused(void **state)
{
    (void)state;
    assert_int_equal(list_status("--tiles 1 --seq-q 8589934592"), STATUS_OK);
    refuse("--tiles 1 --seq-q 8589934593", "--seq-q/--block-m", "268,435,457 blocks");
    refuse("--tiles 1 --seq-q 8589934592 --block-m 31", "--seq-q/--block-m", "larger --block-m");
    refuse("--tiles 1 --seq-q 8589934592 --q-heads 2 --kv-heads 1", "--seq-q/--block-m", "blocks");
}

static void row_of_a_plan_has_the_kernel_that_was_asked_for(void **state)
{
    struct settings settings;
    struct cell_list list;
    struct cell_result result;
    struct rows rows = {NULL, 0, 0};

    (void)state;
    assert_int_equal(app_parse(COMMAND_PLAN, "--tiles 1 --kernel simt", &settings), STATUS_OK);
    assert_int_equal(cell_list_init(&settings, &list), STATUS_OK);
    assert_int_equal(cell_plan(&list.cells[0], 0, 0, NULL, &result), STATUS_OK);
    const struct rows_source source = {.cell = &list.cells[0], .result = &result};
    assert_int_equal(rows_add_cell(&rows, &source), STATUS_OK);
    assert_string_equal(row_text(&rows.items[0], FIELD_KERNEL), "simt");
    rows_fini(&rows);
    cell_list_fini(&list);
    settings_fini(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_sweep_is_cap16),
        cmocka_unit_test(name_of_a_preset_cell_has_no_settings),
        cmocka_unit_test(name_tells_each_other_setting_in_order),
        cmocka_unit_test(name_leaves_out_what_the_preset_says),
        cmocka_unit_test(name_of_following_settings_says_the_leading_one_alone),
        cmocka_unit_test(name_of_a_growing_pool_says_so),
        cmocka_unit_test(name_of_a_window_keeps_the_asked_tiles),
        cmocka_unit_test(name_of_a_block_is_that_of_its_sides),
        cmocka_unit_test(set_block_keeps_s_or_the_keys),
        cmocka_unit_test(crossed_lists_share_no_name),
        cmocka_unit_test(crossed_lists_keep_groups_together),
        cmocka_unit_test(group_name_is_the_name_without_its_policy),
        cmocka_unit_test(heads_that_do_not_divide_refused),
        cmocka_unit_test(sizes_that_wrap_refused),
        cmocka_unit_test(too_many_cells_refused),
        cmocka_unit_test(filter_leaves_matching_cells_in_order),
        cmocka_unit_test(square4096_walks_its_fixed_length),
        cmocka_unit_test(local_pools_are_limited_and_names_stay),
        cmocka_unit_test(name_of_a_model_leaves_out_its_own_mask),
        cmocka_unit_test(heads_and_columns_of_a_model_stay_its_own),
        cmocka_unit_test(mask_options_add_to_those_of_the_preset),
        cmocka_unit_test(parts_are_a_configuration_of_their_own),
        cmocka_unit_test(every_preset_plans_and_nested_fits),
        cmocka_unit_test(refusals_name_the_option),
        cmocka_unit_test(blocks_too_many_to_walk_refused),
        cmocka_unit_test(row_of_a_plan_has_the_kernel_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
