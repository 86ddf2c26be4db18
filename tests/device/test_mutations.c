/* A kernel or a table broken on purpose is caught: by the verdict where numbers go wrong, by the
 * measured peak where bytes do. Each test breaks one thing in the product's own kernel text or
 * table, and the same check that passes without the change must fail with it. */
#include "kernels/kernels.h"
#include "kernels/layout.h"
#include "tests/device/attention_case.h"

#include <string.h>

static struct device *device;

/* The simd kernel with the one occurrence of `from` replaced; freed by the caller. */
static char *mutate(const char *from, const char *to)
{
    const char *source = kernels_attention_simd;
    const char *at = strstr(source, from);
    assert_non_null(at);
    assert_null(strstr(at + 1, from));
    const size_t bytes = strlen(source) + strlen(to) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    snprintf(text, bytes, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
    return text;
}

static struct case_result run_broken(const char *source, enum policy policy, size_t tiles,
                                     void (*edit)(struct offset_table *table))
{
    struct problem problem = case_cap16(tiles);
    struct case_setup setup;
    case_setup(&setup, device, &problem, KERNEL_SIMD, 0, source);
    struct case_result result = case_run(&setup, policy, false, edit);
    case_teardown(&setup);
    return result;
}

static void assert_mutant_is_wrong(const char *from, const char *to, enum policy policy)
{
    char *source = mutate(from, to);
    struct case_result result = run_broken(source, policy, 4, NULL);
    free(source);
    assert_false(result.check.verdict.verified);
}

static void mutation_none_is_right(void **state)
{
    (void)state;
    for (int policy = 0; policy < POLICY_COUNT; ++policy) {
        struct case_result result = run_broken(NULL, (enum policy)policy, 4, NULL);
        assert_true(case_is_right(&result));
    }
}

static void mutation_copies_left_out_is_wrong(void **state)
{
    (void)state;
    assert_mutant_is_wrong("    keep_maximum(walk);\n    STAGE(STAGE_COPIES) keep_sums(walk);\n",
                           "", POLICY_NESTED);
}

static void mutation_one_copy_left_out_is_wrong(void **state)
{
    (void)state;
    static const char *const copies[] = {
        "    arena_copy_to(walk_at(walk, TABLE_M), walk_at(walk, TABLE_M_NEW), ",
        "    arena_copy_to(walk_at(walk, TABLE_L), walk_at(walk, TABLE_L_NEW), ",
        "    arena_copy_to(walk_at(walk, TABLE_ACC), walk_at(walk, TABLE_ACC_NEW), ",
    };
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; ++i) {
        char from[160], to[170];
        snprintf(from, sizeof from, "%s", copies[i]);
        snprintf(to, sizeof to, "    if (walk->key != BLOCK_N) %s", copies[i]);
        assert_mutant_is_wrong(from, to, POLICY_SCOPED);
    }
}

/* The kernel reads its right operand one element further on. */
static void mutation_read_shifted_by_one_element_is_wrong(void **state)
{
    (void)state;
    assert_mutant_is_wrong("PANEL_AT(n, 0, K_PANEL)", "(1 + PANEL_AT(n, 0, K_PANEL))",
                           POLICY_NESTED);
}

static void shift_m(struct offset_table *table)
{
    for (size_t row = 0; row < table->rows; ++row) {
        table->cells[row * table->columns + TABLE_M] += sizeof(float);
    }
}

/* m one element further on: its last row stands where l's first one does. */
static void mutation_table_entry_shifted_into_neighbour_is_wrong(void **state)
{
    (void)state;
    assert_false(run_broken(NULL, POLICY_NESTED, 4, shift_m).check.verdict.verified);
}

static void shift_acc_new(struct offset_table *table)
{
    for (size_t row = 0; row < table->rows; ++row) {
        table->cells[row * table->columns + TABLE_ACC_NEW] += sizeof(float);
    }
}

/* acc_new one element further on harms no neighbour, but it ends past the planned peak. */
static void mutation_table_entry_past_the_peak_is_measured(void **state)
{
    (void)state;
    struct case_result result = run_broken(NULL, POLICY_NESTED, 4, shift_acc_new);
    assert_false(result.agrees);
}

/* Past the pool's end, the guard tells. */
static void shift_out_of_pool(struct offset_table *table)
{
    table->cells[TABLE_ACC_NEW] += 128;
}

static void mutation_write_past_the_pool_breaks_the_guard(void **state)
{
    (void)state;
    struct case_result result = run_broken(NULL, POLICY_NESTED, 4, shift_out_of_pool);
    assert_false(result.check.touch.guards_intact);
    assert_false(result.agrees);
}

/* The keys of the second tile are not loaded: the kernel reads the last tenant's bytes. */
static void mutation_stale_tile_is_wrong(void **state)
{
    (void)state;
    static const char *const loads[] = {"    STAGE(STAGE_KEYS) load_keys(walk);\n",
                                        "    STAGE(STAGE_STAGING) load_values(walk);\n"};
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; ++i) {
        for (int policy = 0; policy < POLICY_COUNT; ++policy) {
            char to[80];
            snprintf(to, sizeof to, "    if (walk->key != BLOCK_N)\n    %s", loads[i]);
            assert_mutant_is_wrong(loads[i], to, (enum policy)policy);
        }
    }
}

/* v stands where s and k are still alive, under nested alone: the program fixes the phases. */
static void mutation_values_before_keys_are_dead_is_wrong(void **state)
{
    (void)state;
    char *source = mutate("    STAGE(STAGE_SCORES) compute_scores(walk);\n",
                          "    load_values(walk);\n    compute_scores(walk);\n");
    struct case_result nested = run_broken(source, POLICY_NESTED, 4, NULL);
    struct case_result unscoped = run_broken(source, POLICY_UNSCOPED, 4, NULL);
    free(source);
    assert_false(nested.check.verdict.verified);
    assert_true(unscoped.check.verdict.verified);
}

/* A step that does not write all of its temporary leaves lines untouched: they fall short. */
static void mutation_unwritten_lines_are_measured(void **state)
{
    (void)state;
    char *source = mutate("    for (uint n = walk->lane; n < BLOCK_N; n += walk->lanes) {\n",
                          "    for (uint n = walk->lane; n < keys; n += walk->lanes) {\n");
    struct problem problem = case_cap16(1);
    problem.seq_kv = 10;
    struct case_setup setup;
    case_setup(&setup, device, &problem, KERNEL_SIMD, 0, source);
    struct case_result result = case_run(&setup, POLICY_UNSCOPED, false, NULL);
    case_teardown(&setup);
    free(source);
    assert_true(result.check.touch.touched_lines < result.plan.touched_lines);
    assert_false(result.agrees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutation_none_is_right),
        cmocka_unit_test(mutation_copies_left_out_is_wrong),
        cmocka_unit_test(mutation_one_copy_left_out_is_wrong),
        cmocka_unit_test(mutation_read_shifted_by_one_element_is_wrong),
        cmocka_unit_test(mutation_table_entry_shifted_into_neighbour_is_wrong),
        cmocka_unit_test(mutation_table_entry_past_the_peak_is_measured),
        cmocka_unit_test(mutation_write_past_the_pool_breaks_the_guard),
        cmocka_unit_test(mutation_stale_tile_is_wrong),
        cmocka_unit_test(mutation_values_before_keys_are_dead_is_wrong),
        cmocka_unit_test(mutation_unwritten_lines_are_measured),
    };
    device = device_case_device();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_close(device);
    return failed;
}
