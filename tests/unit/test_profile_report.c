/* What profile prints, from parts made by hand. */
#include "host/app/profile.h"
#include "tests/unit/app_fixture.h"

/* The table of two parts of cap16 with these noise floors; for the caller to free. */
static char *table_of(double first, double second)
{
    struct profile profile = {.count = 2, .launch_ns = 1e6, .tile_ns = 1e4};
    const double noise[] = {first, second};
    struct app_machine machine;
    struct cell_list list;
    char *text = NULL;
    size_t length = 0;

    app_machine_init(&machine);
    app_cells("--tiles 16 --policy nested", &list);
    profile.result = app_result(&list.cells[0]);
    for (size_t i = 0; i < 2; i++) {
        profile.parts[i] = (struct profile_part){.name = "keys",
                                                 .what = "k into the arena",
                                                 .kind = PROFILE_TWICE,
                                                 .share = 0.1,
                                                 .lower = 0.09,
                                                 .upper = 0.11,
                                                 .noise_floor = noise[i],
                                                 .clear = true};
    }
    const struct profile_report report = {
        .context = &machine.context, .cell = &list.cells[0], .profile = &profile};
    FILE *file = open_memstream(&text, &length);
    assert_non_null(file);
    assert_int_equal(profile_write(&report, FORMAT_TABLE, file), STATUS_OK);
    assert_int_equal(fclose(file), 0);
    cell_list_fini(&list);
    return text;
}

static void noise_that_hides_shares_is_told(void **state)
{
    (void)state;
    char *text = table_of(0.01, 0.06);
    assert_non_null(
        strstr(text, "1 of 2 parts have a noise floor above 5 %: close what else runs"));
    free(text);
    text = table_of((double)NAN, 0.06); /* a part that was not timed */
    assert_non_null(strstr(text, "1 of 1 parts have a noise floor above 5 %"));
    free(text);
}

static void noise_of_a_quiet_machine_is_not(void **state)
{
    (void)state;
    char *text = table_of(0.01, 0.05);
    assert_null(strstr(text, "close what else runs"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_that_hides_shares_is_told),
        cmocka_unit_test(noise_of_a_quiet_machine_is_not),
    };
    return cmocka_run_group_tests_name("unit.profile_report", tests, NULL, NULL);
}
