/* What every unit test starts from: cmocka, and statuses. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include "host/base/status.h"
#include "tests/cmocka.h"

#define assert_status(expected_, expression_) assert_int_equal((expected_), (expression_))
#define assert_ok(expression_) assert_status(STATUS_OK, (expression_))

/* A cmocka teardown: no test leaves an error record for the next one. */
static inline int forget_errors(void **state)
{
    (void)state;
    status_clear();
    return 0;
}

#define unit_test_clean(test_) cmocka_unit_test_teardown(test_, forget_errors)

#endif
