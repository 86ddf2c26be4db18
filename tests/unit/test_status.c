#include "tests/unit/unit.h"

#include "tests/unit/fail_alloc.h"

#include <string.h>
#include <threads.h>

static void clear_leaves_no_record(void **state)
{
    (void)state;
    assert_status(STATUS_IO, STATUS_FAIL(STATUS_IO, "rows.json", "cannot be written"));
    status_detail("a long log");
    status_clear();
    assert_int_equal(STATUS_OK, status_last()->status);
    assert_string_equal("", status_last()->what);
    assert_string_equal("", status_last()->why);
    assert_null(status_last()->detail);
}

static void record_keeps_code_place_and_text(void **state)
{
    (void)state;
    assert_status(STATUS_OPENCL, status_record(STATUS_OPENCL, -5, "clFinish(queue)", "device.c", 42,
                                               "the queue", "%d bytes of %s", 7, "8"));
    const struct status_record *record = status_last();
    assert_int_equal(STATUS_OPENCL, record->status);
    assert_int_equal(-5, record->code);
    assert_string_equal("clFinish(queue)", record->expression);
    assert_string_equal("device.c", record->file);
    assert_int_equal(42, record->line);
    assert_string_equal("the queue", record->what);
    assert_string_equal("7 bytes of 8", record->why);
}

static void record_second_error_keeps_the_first(void **state)
{
    (void)state;
    assert_status(STATUS_RANGE, STATUS_FAIL(STATUS_RANGE, "first", "wraps"));
    assert_status(STATUS_IO, STATUS_FAIL(STATUS_IO, "second", "unwritable"));
    assert_int_equal(STATUS_RANGE, status_last()->status);
    assert_string_equal("first", status_last()->what);
    assert_string_equal("wraps", status_last()->why);
}

static void record_ok_records_nothing(void **state)
{
    (void)state;
    assert_ok(STATUS_FAIL(STATUS_OK, "nothing", "happened"));
    assert_int_equal(STATUS_OK, status_last()->status);
    assert_string_equal("", status_last()->what);
}

static void record_without_what_is_empty(void **state)
{
    (void)state;
    assert_status(STATUS_IO, STATUS_FAIL(STATUS_IO, NULL, "no reason"));
    assert_string_equal("", status_last()->what);
}

static void record_long_texts_are_cut(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_status(STATUS_IO, STATUS_FAIL(STATUS_IO, text, "%s", text));
    status_hint("%s", text);
    assert_int_equal(sizeof status_last()->what - 1, strlen(status_last()->what));
    assert_int_equal(sizeof status_last()->why - 1, strlen(status_last()->why));
    assert_int_equal(sizeof status_last()->hint - 1, strlen(status_last()->hint));
}

static void hint_goes_to_the_first_error_once(void **state)
{
    (void)state;
    assert_status(STATUS_NO_DEVICE, STATUS_FAIL(STATUS_NO_DEVICE, "device", "no platform"));
    status_hint("install %s", "pocl-opencl-icd");
    status_hint("another");
    assert_string_equal("install pocl-opencl-icd", status_last()->hint);
}

static void hint_and_detail_without_an_error_are_dropped(void **state)
{
    (void)state;
    status_hint("do this");
    status_detail("a log");
    assert_string_equal("", status_last()->hint);
    assert_null(status_last()->detail);
}

static void detail_is_a_copy_of_any_length(void **state)
{
    (void)state;
    char log[5000];
    memset(log, 'l', sizeof log - 1);
    log[sizeof log - 1] = '\0';
    assert_status(STATUS_OPENCL, STATUS_FAIL(STATUS_OPENCL, "build", "failed"));
    status_detail(log);
    status_detail("another");
    assert_ptr_not_equal(log, status_last()->detail);
    assert_string_equal(log, status_last()->detail);
}

static void detail_without_memory_is_left_out(void **state)
{
    (void)state;
    assert_status(STATUS_OPENCL, STATUS_FAIL(STATUS_OPENCL, "build", "failed"));
    fail_alloc_on(1);
    status_detail("a log");
    fail_alloc_on(0);
    assert_null(status_last()->detail);
    assert_int_equal(STATUS_OPENCL, status_last()->status);
}

static enum status try_twice(enum status first, enum status second, int *reached)
{
    enum status status = STATUS_OK;
    *reached = 0;
    STATUS_TRY(first);
    *reached = 1;
    STATUS_TRY(second);
    *reached = 2;
out:
    return status;
}

static void try_failure_leaves_by_out_and_notes_the_place(void **state)
{
    (void)state;
    int reached;
    assert_status(STATUS_STALE, try_twice(STATUS_OK, STATUS_STALE, &reached));
    assert_int_equal(1, reached);
    assert_string_equal("second", status_last()->expression);
    assert_string_equal("stale handle", status_last()->why);
    assert_non_null(strstr(status_last()->file, "test_status.c"));
    assert_true(status_last()->line > 0);
}

static void try_success_goes_on(void **state)
{
    (void)state;
    int reached;
    assert_ok(try_twice(STATUS_OK, STATUS_OK, &reached));
    assert_int_equal(2, reached);
    assert_int_equal(STATUS_OK, status_last()->status);
}

static void name_is_there_and_differs_for_each_status(void **state)
{
    (void)state;
    for (int a = STATUS_OK; a <= STATUS_INTERRUPTED; a++) {
        assert_string_not_equal("unknown status", status_name((enum status)a));
        for (int b = STATUS_OK; b < a; b++) {
            assert_string_not_equal(status_name((enum status)a), status_name((enum status)b));
        }
    }
    assert_string_equal("unknown status", status_name((enum status)99));
}

static int fail_in_a_thread(void *seen)
{
    *(enum status *)seen = status_last()->status;
    return (int)STATUS_FAIL(STATUS_IO, "thread", "fails");
}

static void record_belongs_to_its_thread(void **state)
{
    (void)state;
    thrd_t thread;
    enum status seen = STATUS_WRONG;
    int result;
    assert_status(STATUS_RANGE, STATUS_FAIL(STATUS_RANGE, "main", "fails"));
    assert_int_equal(thrd_success, thrd_create(&thread, fail_in_a_thread, &seen));
    assert_int_equal(thrd_success, thrd_join(thread, &result));
    assert_int_equal(STATUS_IO, result);
    assert_int_equal(STATUS_OK, seen);
    assert_string_equal("main", status_last()->what);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(clear_leaves_no_record),
        unit_test_clean(record_keeps_code_place_and_text),
        unit_test_clean(record_second_error_keeps_the_first),
        unit_test_clean(record_ok_records_nothing),
        unit_test_clean(record_without_what_is_empty),
        unit_test_clean(record_long_texts_are_cut),
        unit_test_clean(hint_goes_to_the_first_error_once),
        unit_test_clean(hint_and_detail_without_an_error_are_dropped),
        unit_test_clean(detail_is_a_copy_of_any_length),
        unit_test_clean(detail_without_memory_is_left_out),
        unit_test_clean(try_failure_leaves_by_out_and_notes_the_place),
        unit_test_clean(try_success_goes_on),
        unit_test_clean(name_is_there_and_differs_for_each_status),
        unit_test_clean(record_belongs_to_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
