/* Profiles of tiny problems on the test device: every variant builds in both styles and types, what
 * must be right is, and a profile ends early as a sweep does. */
#include "bench/profile.h"
#include "tests/device/sweep_case.h"

struct witness {
    size_t polls;     /* so far */
    size_t polls_max; /* interrupted after so many; 0 = never */
    size_t parts_max; /* interrupted once so many parts are done; 0 = never */
    size_t part;      /* of the last progress */
    char stage[16];
};

static struct witness witness;
static struct topology machine;

static void on_progress(void *user, size_t index, const char *name, const char *stage)
{
    struct witness *out = user;
    assert_true(index < PROFILE_PARTS);
    assert_non_null(name);
    out->part = index;
    snprintf(out->stage, sizeof out->stage, "%s", stage);
}

static bool on_poll(void *user)
{
    struct witness *out = user;
    out->polls++;
    return (out->polls_max > 0 && out->polls > out->polls_max) ||
           (out->parts_max > 0 && out->part >= out->parts_max);
}

static enum status profile(struct cell *cell, struct profile *out)
{
    struct profile_options options;
    const struct profile_sink sink = {
        .user = &witness, .progress = on_progress, .interrupted = on_poll};
    profile_options_default(&options);
    options.rounds = 1;
    options.sample_s = 1e-5;
    return profile_run(device, &machine, cell, &options, &sink, out);
}

static int fresh_profile(void **state)
{
    memset(&witness, 0, sizeof witness);
    return fresh(state);
}

/* Two tiles, whole panels. In the simd style f32 has nine rows an item, in blocks of six or eight:
 * two blocks share rows, whose state copy_to's shortcut rescales twice. */
static bool overlaps(enum kernel_style style, enum dtype dtype)
{
    return style == KERNEL_SIMD && dtype == DTYPE_F32;
}

static struct cell small(enum kernel_style style, enum dtype dtype)
{
    struct cell cell = tiny(POLICY_NESTED, 2, 0);
    cell.pool_grow = true;
    cell.style = style;
    cell.problem.dtype = dtype;
    if (dtype == DTYPE_F16) { /* k is held another way below 16 rows */
        cell.problem.block_m = 16;
    } else if (overlaps(style, dtype)) {
        cell.problem.block_m = 9;
    }
    return cell;
}

static const struct profile_part *find(const struct profile *profile, enum profile_kind kind,
                                       const char *name)
{
    for (size_t i = 0; i < profile->count; i++) {
        if (profile->parts[i].kind == kind && strcmp(profile->parts[i].name, name) == 0) {
            return &profile->parts[i];
        }
    }
    fail_msg("no part %s", name);
    return NULL;
}

static enum profile_check expected_check(const struct profile_part *part, bool overlap)
{
    if (part->kind == PROFILE_LEFT_OUT) {
        return PROFILE_TIMING_ONLY;
    }
    return overlap && part->kind == PROFILE_TAX && strcmp(part->name, "copy_to") == 0
               ? PROFILE_TIMING_ONLY
               : PROFILE_RIGHT;
}

static void expect_whole_profile(enum kernel_style style, enum dtype dtype)
{
    struct cell cell = small(style, dtype);
    struct profile out;
    DEVICE_OK(profile(&cell, &out));
    assert_true(out.result.ok);
    assert_int_equal(out.count, PROFILE_PARTS);
    assert_true(out.launch_ns > 0.0 && out.tile_ns > 0.0 && out.tile_ns < out.launch_ns);
    for (size_t i = 0; i < out.count; i++) {
        const struct profile_part *part = &out.parts[i];
        const enum profile_check expected = expected_check(part, overlaps(style, dtype));
        const bool excused = style == KERNEL_SIMT && part->kind == PROFILE_TAX &&
                             part->check == PROFILE_TIMING_ONLY; /* see profile.h */
        if (part->check != expected && !excused) {
            fail_msg("%s %s: %s", profile_kind_name(part->kind), part->name,
                     profile_check_name(part->check));
        }
        assert_true(part->lower <= part->share && part->share <= part->upper);
        assert_true(part->noise_floor >= 0.0);
    }
    assert_int_equal(out.wrong, 0);
}

static void simd_f32_with_blocks_that_overlap_is_right_but_for_copy_to(void **state)
{
    (void)state;
    expect_whole_profile(KERNEL_SIMD, DTYPE_F32);
}

static void simd_f16_is_right_in_all_but_what_is_left_out(void **state)
{
    (void)state;
    expect_whole_profile(KERNEL_SIMD, DTYPE_F16);
}

static void simt_f32_is_right_in_all_but_what_is_left_out(void **state)
{
    (void)state;
    expect_whole_profile(KERNEL_SIMT, DTYPE_F32);
}

static void simt_f16_is_right_in_all_but_what_is_left_out(void **state)
{
    (void)state;
    expect_whole_profile(KERNEL_SIMT, DTYPE_F16);
}

static void cut_tile_and_rows_of_offsets_have_no_variant(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    cell.policy = POLICY_UNSCOPED;
    cell.problem.seq_kv = 15;
    DEVICE_OK(profile(&cell, &out));
    assert_int_equal(out.count, PROFILE_PARTS);
    assert_int_equal(find(&out, PROFILE_TAX, "table")->check, PROFILE_NONE);
    assert_int_equal(find(&out, PROFILE_TAX, "staging")->check, PROFILE_NONE);
    assert_true(isnan(find(&out, PROFILE_TAX, "staging")->share));
    assert_int_equal(find(&out, PROFILE_TWICE, "staging")->check, PROFILE_RIGHT);
    assert_int_equal(out.wrong, 0);
}

static void plain_build_that_is_wrong_ends_it(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    spoiled.check = SPOIL_VERDICT;
    DEVICE_OK(profile(&cell, &out));
    assert_true(out.result.checked);
    assert_false(out.result.ok);
    assert_int_equal(out.wrong, 1);
    assert_int_equal(out.count, 0);
}

/* The check numbered `at`, the plain build's being 0. */
static void expect_wrong_part(enum spoil spoil, size_t at, size_t part)
{
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    spoiled.check = spoil;
    spoiled.at = at;
    DEVICE_OK(profile(&cell, &out));
    assert_int_equal(out.count, PROFILE_PARTS);
    assert_int_equal(out.wrong, 1);
    assert_int_equal(out.parts[part].check, PROFILE_WRONG);
    assert_true(isnan(out.parts[part].share));
}

static void doubled_stage_with_other_bits_is_wrong(void **state)
{
    (void)state;
    expect_wrong_part(SPOIL_HASH, 2, 1);
}

static void doubled_stage_that_touches_more_is_wrong(void **state)
{
    (void)state;
    expect_wrong_part(SPOIL_PEAK, 2, 1);
}

/* Two parts before it have no check of their own. */
static void shortcut_with_other_bits_is_timing_only(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    spoiled.check = SPOIL_HASH;
    spoiled.at = 7;
    DEVICE_OK(profile(&cell, &out));
    assert_int_equal(find(&out, PROFILE_TAX, "table")->check, PROFILE_TIMING_ONLY);
    assert_int_equal(find(&out, PROFILE_TAX, "staging")->check, PROFILE_RIGHT);
    assert_int_equal(out.wrong, 0);
}

static void interrupted_profile_keeps_its_parts(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    witness.parts_max = 2;
    assert_int_equal(profile(&cell, &out), STATUS_INTERRUPTED);
    assert_int_equal(out.count, 2);
    assert_true(out.result.checked && isfinite(out.parts[1].share));
    assert_true(out.launch_ns > 0.0);
}

static void interrupted_before_its_check_has_nothing(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    witness.polls_max = 1;
    assert_int_equal(profile(&cell, &out), STATUS_INTERRUPTED);
    assert_false(out.result.checked);
    assert_int_equal(out.count, 0);
    assert_true(isnan(out.launch_ns));
}

static void pool_that_overflows_is_bad_input(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct profile out;
    cell.pool_grow = false;
    cell.pool_bytes = 1024;
    assert_int_equal(profile(&cell, &out), STATUS_BAD_INPUT);
    assert_int_equal(out.count, 0);
}

static void inputs_of_another_device_are_not_shared(void **state)
{
    (void)state;
    struct cell cell = small(KERNEL_SIMD, DTYPE_F32);
    struct attention_options options = {.style = KERNEL_SIMD, .pes = PES};
    struct inputs *inputs = NULL;
    struct attention *first = NULL;
    struct attention *second = NULL;
    struct device *other = NULL;
    DEVICE_OK(device_open(&device->info, &other));
    DEVICE_OK(inputs_create(&cell.problem, 1, &inputs));
    DEVICE_OK(attention_create(device, &cell.problem, inputs, &options, &first));
    options.share = first;
    assert_int_equal(attention_create(other, &cell.problem, inputs, &options, &second),
                     STATUS_MISUSE);
    assert_null(second);
    attention_destroy(first);
    inputs_destroy(inputs);
    device_close(other);
}

static int open_profile(void **state)
{
    DEVICE_OK(topology_init(&machine));
    return open_device(state);
}

#define PROFILE_TEST(name_) cmocka_unit_test_setup(name_, fresh_profile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROFILE_TEST(simd_f32_with_blocks_that_overlap_is_right_but_for_copy_to),
        PROFILE_TEST(simd_f16_is_right_in_all_but_what_is_left_out),
        PROFILE_TEST(simt_f32_is_right_in_all_but_what_is_left_out),
        PROFILE_TEST(simt_f16_is_right_in_all_but_what_is_left_out),
        PROFILE_TEST(cut_tile_and_rows_of_offsets_have_no_variant),
        PROFILE_TEST(plain_build_that_is_wrong_ends_it),
        PROFILE_TEST(doubled_stage_with_other_bits_is_wrong),
        PROFILE_TEST(doubled_stage_that_touches_more_is_wrong),
        PROFILE_TEST(shortcut_with_other_bits_is_timing_only),
        PROFILE_TEST(interrupted_profile_keeps_its_parts),
        PROFILE_TEST(interrupted_before_its_check_has_nothing),
        PROFILE_TEST(pool_that_overflows_is_bad_input),
        PROFILE_TEST(inputs_of_another_device_are_not_shared),
    };
    return cmocka_run_group_tests_name("device.profile", tests, open_profile, close_device);
}
