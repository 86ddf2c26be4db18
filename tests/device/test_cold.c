/* A cold machine: no platform, or a PoCL that cannot write its cache folder. The loader reads its
 * environment once in a process, so each test asks in a child. */
#include "host/device/build.h"
#include "tests/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child has found; its exit code. */
enum outcome { AS_EXPECTED = 0, OTHERWISE = 1, NOT_HERE = 77 };

static const char source[] = "__kernel void cold(__global int *out) { out[0] = 4711; }";

static int told(const char *expected)
{
    if (strstr(status_last()->hint, expected) != NULL) {
        return AS_EXPECTED;
    }
    (void)fprintf(stderr, "%s: %s (%s)\n", status_last()->what, status_last()->why,
                  status_last()->hint);
    return OTHERWISE;
}

static int ask_without_platform(void)
{
    struct device_list list;
    size_t index = 0;
    if (device_list_init(&list) != STATUS_OK || list.count != 0 || list.platform_count != 0) {
        return OTHERWISE;
    }
    return device_choose(&list, NULL, &index) == STATUS_NO_DEVICE ? told("pocl-opencl-icd")
                                                                  : OTHERWISE;
}

/* PoCL offers no device then, or one that builds nothing; other drivers do not mind. */
static int ask_without_cache(void)
{
    struct device_list list;
    struct device *device = NULL;
    cl_program program = NULL;
    size_t index = 0;
    if (device_list_init(&list) != STATUS_OK) {
        return OTHERWISE;
    }
    if (list.count == 0) {
        return device_choose(&list, NULL, &index) == STATUS_NO_DEVICE ? told("POCL_CACHE_DIR")
                                                                      : OTHERWISE;
    }
    if (device_choose(&list, NULL, &index) != STATUS_OK ||
        device_open(&list.devices[index], &device) != STATUS_OK) {
        return OTHERWISE;
    }
    return build_program(device, source, "", &program) == STATUS_OK ? NOT_HERE
                                                                    : told("POCL_CACHE_DIR");
}

/* Runs `ask` in a child with one variable of the environment set. */
static int in_child(const char *variable, const char *value, int (*ask)(void))
{
    int state = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setenv(variable, value, 1);
        _exit(ask());
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void machine_without_platform_says_what_to_install(void **state)
{
    (void)state;
    char folder[] = "/tmp/icd-XX"
                    "XX"
                    "XX";
    assert_non_null(mkdtemp(folder));
    int outcome = in_child("OCL_ICD_VENDORS", folder, ask_without_platform);
    (void)rmdir(folder);
    assert_int_equal(outcome, AS_EXPECTED);
}

static void machine_without_a_cache_folder_names_its_variable(void **state)
{
    (void)state;
    int outcome = in_child("POCL_CACHE_DIR", "/dev/null/cache", ask_without_cache);
    if (outcome == NOT_HERE) {
        skip();
    }
    assert_int_equal(outcome, AS_EXPECTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_without_platform_says_what_to_install),
        cmocka_unit_test(machine_without_a_cache_folder_names_its_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
