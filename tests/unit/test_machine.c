/* The state of a machine, read from files as the kernel writes them. */
#include "host/app/machine.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq"

static char root[64];
static const char *const folders[] = {"/proc",
                                      "/sys",
                                      "/sys/devices",
                                      "/sys/devices/system",
                                      "/sys/devices/system/cpu",
                                      "/sys/devices/system/cpu/cpu0",
                                      CPUFREQ};
static const char *const files[] = {"/proc/loadavg",
                                    "/proc/cpuinfo",
                                    CPUFREQ "/scaling_governor",
                                    CPUFREQ "/scaling_cur_freq",
                                    CPUFREQ "/cpuinfo_min_freq",
                                    CPUFREQ "/cpuinfo_max_freq"};

enum { FOLDERS = sizeof folders / sizeof folders[0], FILES = sizeof files / sizeof files[0] };

static void path_of(const char *name, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s%s", root, name);
}

static int make_root(void **state)
{
    char path[PATH_BYTES];
    (void)state;
    (void)strcpy(root, "/tmp/machine-XX"
                       "XX"
                       "XX");
    if (mkdtemp(root) == NULL) {
        return -1;
    }
    for (size_t i = 0; i < FOLDERS; i++) {
        path_of(folders[i], path);
        if (mkdir(path, 0700) != 0) {
            return -1;
        }
    }
    return 0;
}

static int remove_root(void **state)
{
    char path[PATH_BYTES];
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        path_of(files[i], path);
        (void)remove(path);
    }
    for (size_t i = FOLDERS; i-- > 0;) {
        path_of(folders[i], path);
        (void)rmdir(path);
    }
    return rmdir(root);
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_BYTES];
    path_of(name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void machine_with_all_files_is_read(void **state)
{
    (void)state;
    struct machine machine;
    write_file("/proc/loadavg", "0.25 1.50 2.75 3/456 7890\n");
    write_file(CPUFREQ "/scaling_governor", "powersave\n");
    write_file(CPUFREQ "/scaling_cur_freq", "2100000\n");
    write_file(CPUFREQ "/cpuinfo_min_freq", "800000\n");
    write_file(CPUFREQ "/cpuinfo_max_freq", "4500500\n");
    machine_read(root, &machine);
    assert_int_equal(machine.load_count, 3);
    assert_true(machine.loads[0] == 0.25 && machine.loads[1] == 1.5 && machine.loads[2] == 2.75);
    assert_string_equal(machine.governor, "powersave");
    assert_true(machine.current_mhz == 2100.0);
    assert_true(machine.min_mhz == 800.0);
    assert_true(machine.max_mhz == 4500.5);
}

static void machine_without_cpufreq_runs_as_cpuinfo_says(void **state)
{
    (void)state;
    struct machine machine;
    write_file("/proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2445.404\ncpu MHz\t\t: 1.0\n");
    machine_read(root, &machine);
    assert_true(machine.current_mhz == 2445.404);
    assert_true(machine.min_mhz == 0.0 && machine.max_mhz == 0.0);
    assert_string_equal(machine.governor, "");
}

static void machine_without_files_knows_nothing(void **state)
{
    (void)state;
    struct machine machine = {.load_count = 3, .current_mhz = 1.0};
    machine_read(root, &machine);
    assert_int_equal(machine.load_count, 0);
    assert_true(machine.current_mhz == 0.0);
}

static void load_that_is_cut_off_counts_what_is_there(void **state)
{
    (void)state;
    struct machine machine;
    write_file("/proc/loadavg", "0.25 much\n");
    machine_read(root, &machine);
    assert_int_equal(machine.load_count, 1);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(machine_with_all_files_is_read),
        TEST(machine_without_cpufreq_runs_as_cpuinfo_says),
        TEST(machine_without_files_knows_nothing),
        TEST(load_that_is_cut_off_counts_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
