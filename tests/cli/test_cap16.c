/* The sweep that the project exists for, at its full size: S = 1, 16, 17 and 1024 of cap16. */
#include "tests/cli/cli_case.h"

static void sweep_of_the_reference_program(void **state)
{
    static const struct {
        size_t tiles;
        long long unscoped;
    } needs[] = {{1, 86656}, {16, 1014016}, {17, 1075840}, {1024, 63332608}};
    struct cli_run run;

    (void)state;
    cli(&run, "sweep --preset cap16 --tiles 1,16,17,1024 --policy unscoped,scoped,nested "
              "--format json --repetitions 1 --min-time 0.001 --device cpu");
    if (run.code != 0) {
        fail_msg("exit code %d: %s", run.code, run.err);
    }
    json_t *file = cli_json(run.out);
    const json_t *rows = json_object_get(file, "benchmarks");
    assert_int_equal(json_array_size(rows), 12);
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = cli_row(file, "unscoped", needs[i].tiles);
        assert_int_equal(cli_integer(row, "planned_peak_bytes"), needs[i].unscoped);
        assert_int_equal(cli_integer(row, "overflow"), needs[i].tiles > 16);
    }
    for (size_t i = 0; i < 12; i++) {
        const json_t *row = json_array_get(rows, i);
        if (cli_integer(row, "overflow") == 1) {
            assert_int_equal(cli_integer(row, "overflow_tile"), 17);
            assert_int_equal(cli_integer(row, "overflow_free_bytes"), 5504);
            continue;
        }
        assert_int_equal(cli_integer(row, "verified"), 1);
        assert_int_equal(cli_integer(row, "same_bits"), 1);
        assert_int_equal(cli_integer(row, "guards_intact"), 1);
        assert_int_equal(cli_integer(row, "measured_peak_bytes"),
                         cli_integer(row, "planned_peak_bytes"));
        assert_int_equal(cli_integer(row, "measured_touched_lines"),
                         cli_integer(row, "planned_touched_lines"));
    }
    json_decref(file);
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_of_the_reference_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
