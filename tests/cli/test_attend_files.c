/* scratchscope attend: what it refuses and why, and that files are written whole or not at all. */
#include "tests/cli/attend_case.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

/* Refusals ---------------------------------------------------------------------------------- */

static void attend_refuses_damaged_files_by_name(void **state)
{
    static const char good[] =
        "\x93NUMPY\x01\x00\x3e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 1), }\n";
    char bytes[sizeof good - 1 + 32];
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, good, sizeof good - 1);
    bytes[8] = (char)(sizeof good - 1 - 10);
    attend_put_bytes(folder, "v.npy", bytes, sizeof bytes);
    attend_ok(folder, "");
    attend_put_bytes(folder, "v.npy", bytes, sizeof bytes - 1);
    attend_refused_file(folder, "", "v.npy", "cut off");
    attend_put_bytes(folder, "v.npy", bytes, 20);
    attend_refused_file(folder, "", "v.npy", "header would be");
    attend_put_bytes(folder, "v.npy", bytes, 0);
    attend_refused_file(folder, "", "v.npy", "empty");
    bytes[21] = '>';
    attend_put_bytes(folder, "v.npy", bytes, sizeof bytes);
    attend_refused_file(folder, "", "v.npy", "big-endian");
    cli_remove_folder(folder);
}

static void attend_refuses_files_that_are_not_there(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];

    (void)state;
    cli_folder(folder);
    attend_refused_file(folder, "", "q.npy", "cannot be opened");
    attend_put_small(folder, "f4");
    (void)snprintf(line, sizeof line,
                   "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out %s/none/o.npy --lse "
                   "%s/l.npy",
                   folder, folder, folder, folder, folder);
    (void)snprintf(line + ATTEND_LINE_BYTES / 2, ATTEND_LINE_BYTES / 2, "%s/none/o.npy", folder);
    attend_refused_line(folder, line, line + ATTEND_LINE_BYTES / 2, "cannot be written");
    attend_refused_line(folder, "attend --q a --k b --v c --out d", "--lse", "missing");
    attend_refused_line(folder, "attend", "--q", "missing");
    cli_remove_folder(folder);
}

static void attend_refuses_shapes_that_do_not_fit(void **state)
{
    static const struct {
        const char *name;
        const char *shape;
        size_t count;
        const char *why;
    } cases[] = {
        {"k.npy", "2, 4, 7", 56, "differ in head_dim: 7 and 8"},
        {"v.npy", "2, 3, 5", 30, "differ in seq_kv: 3 and 4"},
        {"v.npy", "1, 4, 5", 20, "differ in heads: 1 and 2"},
        {"k.npy", "1, 2, 4, 8", 64, "differ in number of dimensions: 4 and 3"},
        {"v.npy", "8, 5", 40, "differ in number of dimensions: 2 and 3"},
        {"q.npy", "48,", 48, "1 dimension"},
        {"q.npy", "2, 0, 8", 0, "an extent of 0"},
        {"k.npy", "0, 4, 8", 0, "an extent of 0"},
        {"k.npy", "2, 4, 0", 0, "an extent of 0"},
    };
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attend_put_small(folder, "f4");
        attend_put_wave(folder, cases[i].name, "f4", cases[i].shape, cases[i].count);
        attend_refused_file(folder, "", cases[i].name, cases[i].why);
    }
    cli_remove_folder(folder);
}

static void attend_refuses_sinks_and_masks_of_another_shape(void **state)
{
    char folder[CLI_PATH_BYTES];
    char rest[256];

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    attend_put_wave(folder, "m.npy", "f4", "4, 3", 12);
    (void)snprintf(rest, sizeof rest, "--mask %s/m.npy", folder);
    attend_refused_file(folder, rest, "m.npy", "[seq_q, seq_kv] is [3, 4] here");
    attend_put_wave(folder, "s.npy", "f4", "3,", 3);
    (void)snprintf(rest, sizeof rest, "--sinks %s/s.npy", folder);
    attend_refused_file(folder, rest, "s.npy", "[q_heads] is [2] here");
    cli_remove_folder(folder);
}

static void attend_refuses_values_beyond_the_storage_type(void **state)
{
    static const double values[] = {1, 65504, 65519, 65520, -1e30, (double)INFINITY, 0, 2};
    static const double wide[] = {1, 2, 3, 4, 5, 6, 1e39, 8};
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f4", "2, 2, 1", 4, 1);
    attend_put_all(folder, "k.npy", "f4", "2, 4, 1", 8, 1);
    attend_put(folder, "v.npy", "f4", "2, 4, 1", 8, values);
    attend_refused_file(
        folder, "--dtype f16", "v.npy",
        "2 finite values are beyond the range of f16, first 65520 at index [0, 3, 0]");
    attend_ok(folder, "");
    attend_put(folder, "v.npy", "f8", "2, 4, 1", 8, wide);
    attend_refused_file(
        folder, "", "v.npy",
        "1 finite value is beyond the range of f32, first 1e+39 at index [1, 2, 0]");
    cli_remove_folder(folder);
}

static void attend_refuses_options_that_make_no_sense(void **state)
{
    char folder[CLI_PATH_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    attend_refused(folder, "--causal --window 4,4", "--window", "contradict --causal");
    attend_refused(folder, "--softcap -1", "--softcap", "-1");
    attend_refused(folder, "--softcap 0", "--softcap", "0");
    attend_refused(folder, "--scale 0", "--scale", "0");
    attend_refused(folder, "--scale nan", "--scale", "nan");
    attend_refused(folder, "--parts 0", "--parts", "0");
    attend_refused(folder, "--window -2,0", "--window", "-1");
    attend_refused(folder, "--block-m 0", "--block-m", "0");
    attend_refused(folder, "--pool 1", "--pool", "alignment");
    attend_refused(folder, "--policy scoped,nested", "--policy", "not one of");
    attend_refused(folder, "--dtype bf16", "--dtype", "not one of");
    attend_refused(folder, "--tiles 4", "--tiles", "no such option");
    cli_remove_folder(folder);
}

static void attend_refuses_outputs_that_meet(void **state)
{
    static const struct {
        const char *out;
        const char *lse;
        const char *what;
        const char *why;
    } cases[] = {
        {"o.npy", "o.npy", "--lse", "the file of --out"},
        {"o.npy", "./o.npy", "--lse", "the file of --out"},
        {"k.npy", "l.npy", "--out", "the file of --k"},
        {"o.npy", "./q.npy", "--lse", "the file of --q"},
    };
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(line, sizeof line,
                       "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out %s/%s --lse %s/%s",
                       folder, folder, folder, folder, cases[i].out, folder, cases[i].lse);
        attend_refused_line(folder, line, cases[i].what, cases[i].why);
    }
    (void)snprintf(line, sizeof line,
                   "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out - --lse %s/l.npy", folder,
                   folder, folder, folder);
    attend_refused_line(folder, line, "--out", "stdout");
    cli_remove_folder(folder);
}

/* Files that cannot be written -------------------------------------------------------------- */

/* The result, 8 MiB, is above the limit of a file's size, the LSE is not, nor what PoCL keeps in
 * its cache: both keep what they had. */
static void attend_on_a_full_disk_keeps_both_files(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_all(folder, "q.npy", "f2", "8192, 1", 8192, 1);
    attend_put_all(folder, "k.npy", "f2", "1, 1", 1, 1);
    attend_put_all(folder, "v.npy", "f2", "1, 256", 256, 1);
    cli_write_file(folder, "o.npy", "old o");
    cli_write_file(folder, "l.npy", "old l");
    attend_line(line, folder, "");
    const struct cli_start start = {.line = line, .file_limit = (size_t)4 << 20};
    cli_start(&run, &start);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "o.npy: could not be written");
    char *out = cli_file(folder, "o.npy");
    char *lse = cli_file(folder, "l.npy");
    assert_string_equal(out, "old o");
    assert_string_equal(lse, "old l");
    assert_int_equal(attend_count_files(folder), 5);
    free(out);
    free(lse);
    cli_fini(&run);
    cli_remove_folder(folder);
}

/* A stream that takes nothing fails before the file beside it is replaced. */
static void attend_to_a_full_device_keeps_the_other_file(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];
    struct cli_run run;

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    cli_write_file(folder, "o.npy", "old o");
    (void)snprintf(line, sizeof line,
                   "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out %s/o.npy --lse /dev/full",
                   folder, folder, folder, folder);
    const struct cli_start start = {.line = line};
    cli_start(&run, &start);
    assert_int_equal(run.code, 2);
    cli_says(run.err, "/dev/full: could not be written");
    char *out = cli_file(folder, "o.npy");
    assert_string_equal(out, "old o");
    free(out);
    cli_fini(&run);
    cli_remove_folder(folder);
}

/* Whenever it is stopped, each file is the old one or whole, and none stands beside them. */
static void attend_interrupted_leaves_no_torn_file(void **state)
{
    static float got[128 * 128 + 1];
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];

    (void)state;
    cli_folder(folder);
    attend_put_cap16(folder, 64);
    attend_line(line, folder, "--verify");
    for (long ms = 10; ms <= 90; ms += 40) {
        const struct timespec span = {.tv_nsec = ms * 1000 * 1000};
        const struct cli_start start = {.line = line};
        struct cli_run run;
        cli_write_file(folder, "o.npy", "old");
        pid_t child = cli_spawn(&run, &start);
        (void)nanosleep(&span, NULL);
        assert_int_equal(kill(child, SIGTERM), 0);
        cli_wait(&run, child);
        assert_true(run.code == 143 || run.code == 0);
        char *out = cli_file(folder, "o.npy");
        if (run.code == 0) {
            assert_int_equal(attend_get(folder, "o.npy", "(128, 128)", got), 128 * 128);
        } else {
            assert_string_equal(out, "old");
            assert_int_equal(attend_count_files(folder), 4);
        }
        free(out);
        cli_fini(&run);
    }
    cli_remove_folder(folder);
}

static void attend_writes_what_nobody_wants_to_dev_null(void **state)
{
    char folder[CLI_PATH_BYTES];
    char line[ATTEND_LINE_BYTES];
    struct cli_run run;
    struct stat info;

    (void)state;
    cli_folder(folder);
    attend_put_small(folder, "f4");
    (void)snprintf(line, sizeof line,
                   "attend --q %s/q.npy --k %s/k.npy --v %s/v.npy --out /dev/null --lse /dev/null "
                   "--device cpu",
                   folder, folder, folder);
    cli(&run, line);
    assert_int_equal(run.code, 0);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    cli_fini(&run);
    cli_remove_folder(folder);
}

static void attend_help_lists_its_options(void **state)
{
    struct cli_run run;

    (void)state;
    cli(&run, "attend --help");
    assert_int_equal(run.code, 0);
    cli_says(run.out, "--mask M.npy");
    cli_says(run.out, "--parts N");
    cli_says(run.out, "Exit:");
    cli_fini(&run);
    cli(&run, "--help");
    cli_says(run.out, "attend");
    cli_fini(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attend_refuses_damaged_files_by_name),
        cmocka_unit_test(attend_refuses_files_that_are_not_there),
        cmocka_unit_test(attend_refuses_shapes_that_do_not_fit),
        cmocka_unit_test(attend_refuses_sinks_and_masks_of_another_shape),
        cmocka_unit_test(attend_refuses_values_beyond_the_storage_type),
        cmocka_unit_test(attend_refuses_options_that_make_no_sense),
        cmocka_unit_test(attend_refuses_outputs_that_meet),
        cmocka_unit_test(attend_on_a_full_disk_keeps_both_files),
        cmocka_unit_test(attend_to_a_full_device_keeps_the_other_file),
        cmocka_unit_test(attend_interrupted_leaves_no_torn_file),
        cmocka_unit_test(attend_writes_what_nobody_wants_to_dev_null),
        cmocka_unit_test(attend_help_lists_its_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
