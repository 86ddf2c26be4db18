/* Local arenas over the fake OpenCL: what is asked of a device with little local memory, and what
 * is never enqueued. Kernels do nothing there, so that a row that gets as far as its check is
 * wrong. */
#include "bench/cells.h"
#include "host/device/build.h"
#include "host/device/pe_arenas.h"
#include "tests/cmocka.h"
#include "tests/unit/fake_opencl.h"

#include <stdio.h>
#include <string.h>

static const struct fake_device small_device = {
    .name = "Small",
    .extensions = "",
    .type = CL_DEVICE_TYPE_GPU,
    .align_bits = 4096,
    .max_alloc_bytes = 1u << 24,
    .local_bytes = 48 << 10,
};

static const struct fake_platform platform = {"Small", &small_device, 1, CL_SUCCESS};

static int start(void **state)
{
    (void)state;
    status_clear();
    fake_opencl_reset();
    fake.platforms = &platform;
    return 0;
}

static const struct pe_arenas_shape shape = {.space = PE_ARENAS_LOCAL,
                                             .pes = 3,
                                             .pool_bytes = 1000,
                                             .guard_bytes = PE_ARENAS_LOCAL_GUARD_BYTES};

/* Arenas -------------------------------------------------------------------------------------- */

static enum status use_arenas(const struct device_info *info)
{
    enum status status = STATUS_OK;
    struct device *device = NULL;
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_touch touch;
    cl_kernel kernel = NULL;
    STATUS_TRY(device_open(info, &device));
    STATUS_TRY(build_kernel(device, "__kernel void k(__local ulong16 *a) {}", "", "k", &kernel));
    STATUS_TRY(pe_arenas_create(device, shape, &arenas));
    STATUS_TRY(pe_arenas_paint(arenas, 0xA5));
    STATUS_TRY(pe_arenas_argument(arenas, kernel, 0, true, 0));
    STATUS_TRY(pe_arenas_scan(arenas, 0xA5));
    STATUS_TRY(pe_arenas_measure(arenas, &touch));
out:
    if (kernel != NULL) {
        (void)clReleaseKernel(kernel);
    }
    pe_arenas_destroy(arenas);
    device_close(device);
    return status;
}

static void call_that_fails_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    struct device_list list;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    assert_int_equal(use_arenas(&list.devices[0]), STATUS_OK);
    const size_t calls = fake.calls - 1; /* device_close waits for the queue and can't fail */
    assert_in_range(calls, 8, 20);
    for (size_t i = 1; i <= calls; ++i) {
        start(NULL);
        fake.fail_at = i;
        assert_int_equal(use_arenas(&list.devices[0]), STATUS_OPENCL);
        assert_int_equal(fake.live, 0);
    }
    device_list_fini(&list);
}

/* One PE's stride: 1000 bytes in whole lines, and the guard. */
static void local_arenas_ask_for_pool_and_guard_and_launch_nothing(void **state)
{
    (void)state;
    struct device_list list;
    assert_int_equal(device_list_init(&list), STATUS_OK);
    assert_int_equal(use_arenas(&list.devices[0]), STATUS_OK);
    device_list_fini(&list);
    assert_int_equal(fake.local_most, 1024 + PE_ARENAS_LOCAL_GUARD_BYTES);
    assert_int_equal(fake.launches, 0);
}

static void local_argument_without_the_guard_is_the_pool(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    struct pe_arenas *arenas = NULL;
    cl_kernel kernel = NULL;
    assert_int_equal(build_kernel(device, "k", "", "k", &kernel), STATUS_OK);
    assert_int_equal(pe_arenas_create(device, shape, &arenas), STATUS_OK);
    assert_null(arenas->buffer);
    assert_int_equal(pe_arenas_argument(arenas, kernel, 0, false, 47 << 10), STATUS_OK);
    assert_int_equal(fake.local_most, 1024);
    assert_int_equal(pe_arenas_argument(arenas, kernel, 0, false, (47 << 10) + 1), STATUS_NO_SPACE);
    clReleaseKernel(kernel);
    pe_arenas_destroy(arenas);
    device_close(device);
}

static void local_arenas_cannot_be_dumped(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    struct pe_arenas *arenas = NULL;
    unsigned char byte = 0;
    assert_int_equal(pe_arenas_create(device, shape, &arenas), STATUS_OK);
    assert_int_equal(pe_arenas_dump(arenas, 0, 0, 1, &byte), STATUS_MISUSE);
    pe_arenas_destroy(arenas);
    device_close(device);
}

static void local_arenas_refused_before_any_call(void **state)
{
    (void)state;
    struct device *device = fake_opencl_open();
    struct pe_arenas *arenas = NULL;
    struct pe_arenas_shape wrong = shape;
    const size_t calls = fake.calls;
    wrong.pool_bytes = pe_arenas_local_pool(48 << 10) + 1;
    assert_int_equal(pe_arenas_create(device, wrong, &arenas), STATUS_NO_SPACE);
    status_clear();
    wrong = shape;
    wrong.shift_bytes = 128;
    assert_int_equal(pe_arenas_create(device, wrong, &arenas), STATUS_BAD_INPUT);
    assert_null(arenas);
    assert_int_equal(fake.calls, calls);
    device_close(device);
}

/* Sweeps -------------------------------------------------------------------------------------- */

static struct cell_result row;
static size_t rows;

static enum status on_row(void *user, const struct cell *cell, const struct cell_result *result,
                          const struct cell_run *runs, size_t count)
{
    (void)user, (void)cell, (void)runs, (void)count;
    row = *result;
    ++rows;
    return STATUS_OK;
}

/* A cell of chip48 on the small device; `row` is what came of it. */
static struct cell swept(enum policy policy, size_t tiles)
{
    struct cell cell = {.preset = "chip48",
                        .policy = policy,
                        .problem = {.batch = 1,
                                    .q_heads = 1,
                                    .kv_heads = 1,
                                    .seq_q = 16,
                                    .seq_kv = tiles * 32,
                                    .head_dim = 64,
                                    .head_dim_v = 64,
                                    .block_m = 16,
                                    .block_n = 32,
                                    .dtype = DTYPE_F16,
                                    .window_left = -1,
                                    .window_right = -1},
                        .style = KERNEL_SIMT,
                        .pes = 2,
                        .arena = PE_ARENAS_LOCAL,
                        .pool_bytes = 48 << 10,
                        .local_bytes = 48 << 10,
                        .alignment = 128};
    const struct sweep_sink sink = {.row = on_row};
    struct sweep_options options;
    struct sweep_outcome outcome;
    struct device *device = fake_opencl_open();
    snprintf(cell.name, sizeof cell.name, "attention/chip48/%s/f16/S:%zu", policy_name(policy),
             tiles);
    sweep_options_default(&options);
    rows = 0;
    assert_int_equal(sweep_run(device, NULL, &cell, 1, &options, &sink, &outcome), STATUS_OK);
    assert_int_equal(rows, 1);
    device_close(device);
    return cell;
}

/* 47 KiB of pool: the checking build asks for the guard beside it, the timing build does not. */
static void sweep_pool_is_what_the_device_leaves(void **state)
{
    (void)state;
    assert_int_equal(swept(POLICY_UNSCOPED, 2).pool_bytes, 47 << 10);
    assert_true(row.checked);
    assert_false(row.overflow);
    assert_int_equal(fake.local_most, 48 << 10);
    assert_int_equal(fake.local_least, 47 << 10);
}

static void sweep_of_what_does_not_fit_launches_nothing(void **state)
{
    (void)state;
    swept(POLICY_UNSCOPED, 3);
    assert_true(row.overflow);
    assert_string_equal(row.overflow_name, "v");
    assert_int_equal(fake.launches, 0);
    assert_int_equal(fake.builds, 0);
}

/* The kernel takes 12,000 bytes itself: what is left holds nested, and not unscoped. */
static void sweep_counts_what_the_kernel_takes_itself(void **state)
{
    (void)state;
    fake.kernel_local = 12000;
    assert_int_equal(swept(POLICY_NESTED, 2).pool_bytes, (49152 - 12000 - 1024) / 128 * 128);
    assert_true(row.checked);
    assert_true(fake.local_most <= 49152 - 12000);
    start(NULL);
    fake.kernel_local = 12000;
    swept(POLICY_UNSCOPED, 2);
    assert_true(row.overflow);
    assert_false(row.checked);
    assert_string_equal(row.overflow_name, "acc_new");
    assert_int_equal(fake.launches, 0);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, start, fake_opencl_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(call_that_fails_is_reported_and_leaks_nothing),
        TEST(local_arenas_ask_for_pool_and_guard_and_launch_nothing),
        TEST(local_argument_without_the_guard_is_the_pool),
        TEST(local_arenas_cannot_be_dumped),
        TEST(local_arenas_refused_before_any_call),
        TEST(sweep_pool_is_what_the_device_leaves),
        TEST(sweep_of_what_does_not_fit_launches_nothing),
        TEST(sweep_counts_what_the_kernel_takes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
