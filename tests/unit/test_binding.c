/* When the driver's workers are bound to CPUs, what the environment then says, and what is found
 * out about the threads. */
#include "host/device/binding.h"
#include "tests/cmocka.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 192 };

static const char *const variables[] = {
    "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT", "HWLOC_SYNTHETIC",
    "HWLOC_XMLFILE", "HWLOC_THISSYSTEM",       "HWLOC_COMPONENTS"};

static int clean(void **state)
{
    (void)state;
    status_clear();
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
    return 0;
}

/* Four cores of one hardware thread, all allowed. */
static struct binding_machine four_cores(void)
{
    return (struct binding_machine){.ours = true, .cpus = 4, .cores = 4, .distinct = 4};
}

static struct binding decide(const struct binding_machine *machine, size_t pes)
{
    const struct binding_request request = {.pes = pes};
    struct binding binding;
    binding_decide(machine, &request, &binding);
    return binding;
}

static void expect_refused(const struct binding_machine *machine, size_t pes, const char *why_not)
{
    struct binding binding = decide(machine, pes);
    assert_int_equal(binding.workers, 0);
    assert_false(binding.limit);
    assert_non_null(binding.why_not);
    assert_non_null(strstr(binding.why_not, why_not));
}

static void machine_with_a_cpu_a_core_binds_them_all(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    struct binding binding = decide(&machine, 0);
    assert_int_equal(binding.workers, 4);
    assert_false(binding.limit);
    assert_null(binding.why_not);
}

static void machine_with_two_threads_a_core_limits_the_workers(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.cpus = 8; /* CPU 4 is core 0 again */
    struct binding binding = decide(&machine, 0);
    assert_int_equal(binding.workers, 4);
    assert_true(binding.limit);
}

static void machine_whose_first_cpus_share_a_core_is_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.cpus = 8;
    machine.distinct = 1; /* CPU 1 is core 0 again */
    expect_refused(&machine, 0, "not cores of their own");
}

static void process_kept_off_the_first_cpu_is_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.cores = 2; /* CPUs 2-3 */
    machine.distinct = 0;
    expect_refused(&machine, 0, "that this process may use");
}

static void process_kept_on_the_first_cpus_limits_the_workers(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.cores = 2; /* CPUs 0-1 */
    machine.distinct = 2;
    struct binding binding = decide(&machine, 0);
    assert_int_equal(binding.workers, 2);
    assert_true(binding.limit);
}

static void one_core_is_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = {.ours = true, .cpus = 2, .cores = 1, .distinct = 1};
    expect_refused(&machine, 0, "one core");
}

static void more_pes_than_cores_are_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    assert_int_equal(decide(&machine, 4).workers, 4);
    expect_refused(&machine, 5, "more PEs than cores");
}

static void machine_from_a_file_is_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.ours = false;
    expect_refused(&machine, 0, "another machine's");
}

static void users_own_affinity_is_left_alone(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.users = "0";
    expect_refused(&machine, 0, "POCL_AFFINITY=0");
    machine.users = "foo";
    expect_refused(&machine, 0, "POCL_AFFINITY is set, but not to 1");
    machine.users = "";
    expect_refused(&machine, 0, "POCL_AFFINITY is set, but not to 1");
    machine.users = "1";
    struct binding binding = decide(&machine, 0);
    assert_int_equal(binding.workers, 0);
    assert_null(binding.why_not);
}

static void users_own_limit_of_workers_counts(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    machine.most = 3;
    assert_int_equal(decide(&machine, 3).workers, 3);
    expect_refused(&machine, 4, "more PEs than workers, by your limit");
}

static void request_for_none_is_not_bound(void **state)
{
    (void)state;
    struct binding_machine machine = four_cores();
    const struct binding_request request = {.none = true};
    struct binding binding;
    binding_decide(&machine, &request, &binding);
    assert_int_equal(binding.workers, 0);
    assert_string_equal(binding.why_not, "--bind none");
}

/* The machine, as hwloc tells it ------------------------------------------------------------- */

static struct binding plan(void)
{
    const struct binding_request request = {.pes = 0};
    struct binding binding;
    assert_int_equal(binding_plan(&request, &binding), STATUS_OK);
    return binding;
}

static void plan_of_a_made_up_machine_tells_its_cpus_and_does_not_bind(void **state)
{
    (void)state;
    setenv("HWLOC_SYNTHETIC", "core:4 pu:2", 1);
    struct binding binding = plan();
    assert_string_equal(binding.allowed, "0-7");
    assert_int_equal(binding.workers, 0);
    assert_string_equal(binding.why_not, "the topology is another machine's");
}

/* Said to be this machine, of which at least one CPU then is missing or may not be used. */
static void plan_of_neighbouring_threads_does_not_bind(void **state)
{
    (void)state;
    setenv("HWLOC_SYNTHETIC", "core:512 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    assert_int_equal(plan().workers, 0);
}

static void plan_heeds_the_environment(void **state)
{
    (void)state;
    setenv("POCL_AFFINITY", "0", 1);
    assert_string_equal(plan().why_not, "POCL_AFFINITY=0 is set");
}

static void plan_names_the_limit_of_one_worker(void **state)
{
    static const char *const says[] = {"POCL_MAX_PTHREAD_COUNT=1 is set",
                                       "POCL_CPU_MAX_CU_COUNT=1 is set"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        setenv(variables[1 + i], "1", 1);
        setenv(variables[2 - i], "2", 1);
        assert_string_equal(plan().why_not, says[i]);
    }
}

static void plan_of_a_machine_that_hwloc_cannot_read_fails(void **state)
{
    (void)state;
    const struct binding_request request = {.pes = 0};
    struct binding binding = {.workers = 7};
    setenv("HWLOC_COMPONENTS", "stop", 1);
    assert_int_equal(binding_plan(&request, &binding), STATUS_IO);
    assert_int_equal(binding.workers, 0);
}

/* The environment ---------------------------------------------------------------------------- */

static void expect_variables(const char *affinity, const char *older, const char *newer)
{
    const char *const expected[] = {affinity, older, newer};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *value = getenv(variables[i]);
        assert_int_equal(value == NULL, expected[i] == NULL);
        if (value != NULL) {
            assert_string_equal(value, expected[i]);
        }
    }
}

static void apply_sets_the_affinity(void **state)
{
    (void)state;
    const struct binding binding = {.workers = 4};
    assert_int_equal(binding_apply(&binding), STATUS_OK);
    expect_variables("1", NULL, NULL);
}

static void apply_with_a_limit_sets_it_under_both_names(void **state)
{
    (void)state;
    const struct binding binding = {.workers = 4, .limit = true};
    assert_int_equal(binding_apply(&binding), STATUS_OK);
    expect_variables("1", "4", "4");
}

static void apply_overwrites_nothing(void **state)
{
    (void)state;
    const struct binding binding = {.workers = 4, .limit = true};
    setenv("POCL_AFFINITY", "0", 1);
    setenv("POCL_MAX_PTHREAD_COUNT", "3", 1);
    assert_int_equal(binding_apply(&binding), STATUS_OK);
    expect_variables("0", "3", "4");
}

static void apply_of_no_binding_sets_nothing(void **state)
{
    (void)state;
    const struct binding binding = {.workers = 0, .limit = true};
    assert_int_equal(binding_apply(&binding), STATUS_OK);
    expect_variables(NULL, NULL, NULL);
}

/* The threads -------------------------------------------------------------------------------- */

static void text_tells_cpus_or_reason_or_nothing(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    struct binding binding = {.known = true, .bound = 2, .cpus = "0-1"};
    binding_text(&binding, text, sizeof text);
    assert_string_equal(text, "worker threads bound to CPUs 0-1");
    binding = (struct binding){.known = true, .bound = 1, .cpus = "0"};
    binding_text(&binding, text, sizeof text);
    assert_string_equal(text, "worker thread bound to CPU 0");
    binding = (struct binding){.known = true, .why_not = "--bind none"};
    binding_text(&binding, text, sizeof text);
    assert_string_equal(text, "worker threads not bound: --bind none");
    binding.known = false;
    binding_text(&binding, text, sizeof text);
    assert_string_equal(text, "");
}

static void check_of_another_kind_of_device_knows_nothing(void **state)
{
    (void)state;
    struct binding binding = {.workers = 2};
    binding_check(&binding, false);
    assert_false(binding.known);
    assert_int_equal(binding.bound, 0);
}

/* Stands at a barrier until it has been looked up. */
static pthread_barrier_t barrier;

static void *bound_thread(void *allowed)
{
    hwloc_topology_t tree = NULL;
    if (hwloc_topology_init(&tree) == 0 && hwloc_topology_load(tree) == 0) {
        (void)hwloc_set_cpubind(tree, allowed, HWLOC_CPUBIND_THREAD);
    }
    hwloc_topology_destroy(tree);
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    return NULL;
}

static void check_finds_the_thread_that_has_a_cpu_of_its_own(void **state)
{
    (void)state;
    struct binding binding = plan();
    struct binding before = binding;
    binding_check(&before, true);
    unsigned cpu = (unsigned)strtoul(binding.allowed, NULL, 10); /* the first one */
    hwloc_bitmap_t one = hwloc_bitmap_alloc();
    pthread_t thread;
    (void)hwloc_bitmap_only(one, cpu);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, bound_thread, one), 0);
    (void)pthread_barrier_wait(&barrier);
    binding_check(&binding, true);
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_join(thread, NULL);
    (void)pthread_barrier_destroy(&barrier);
    hwloc_bitmap_free(one);

    assert_true(before.known && binding.known);
    if (before.bound > 0) {
        skip(); /* a machine of one CPU, or a run tied to one */
    }
    assert_int_equal(binding.bound, 1);
    assert_int_equal(strtoul(binding.cpus, NULL, 10), cpu);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, clean, clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(machine_with_a_cpu_a_core_binds_them_all),
        TEST(machine_with_two_threads_a_core_limits_the_workers),
        TEST(machine_whose_first_cpus_share_a_core_is_not_bound),
        TEST(process_kept_off_the_first_cpu_is_not_bound),
        TEST(process_kept_on_the_first_cpus_limits_the_workers),
        TEST(one_core_is_not_bound),
        TEST(more_pes_than_cores_are_not_bound),
        TEST(machine_from_a_file_is_not_bound),
        TEST(users_own_affinity_is_left_alone),
        TEST(users_own_limit_of_workers_counts),
        TEST(request_for_none_is_not_bound),
        TEST(plan_of_a_made_up_machine_tells_its_cpus_and_does_not_bind),
        TEST(plan_of_neighbouring_threads_does_not_bind),
        TEST(plan_heeds_the_environment),
        TEST(plan_names_the_limit_of_one_worker),
        TEST(plan_of_a_machine_that_hwloc_cannot_read_fails),
        TEST(apply_sets_the_affinity),
        TEST(apply_with_a_limit_sets_it_under_both_names),
        TEST(apply_overwrites_nothing),
        TEST(apply_of_no_binding_sets_nothing),
        TEST(text_tells_cpus_or_reason_or_nothing),
        TEST(check_of_another_kind_of_device_knows_nothing),
        TEST(check_finds_the_thread_that_has_a_cpu_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
