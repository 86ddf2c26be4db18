/* A heap that can fail on its Nth call and counts what it gives. A test that includes this is
 * linked with --wrap for malloc, calloc and realloc (see tests.cmake), which catches the calls of
 * the layers under test.
 *
 *     fail_alloc_on(1);                                          the next call fails, once
 *     assert_status(STATUS_NO_MEMORY, scratch_init(...));
 */
#ifndef TESTS_UNIT_FAIL_ALLOC_H
#define TESTS_UNIT_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static size_t fail_alloc_at;    /* the call that fails, counted down; 0 = none */
static size_t fail_alloc_bytes; /* asked for since the last fail_alloc_on */

static inline void fail_alloc_on(size_t call)
{
    fail_alloc_at = call;
    fail_alloc_bytes = 0;
}

static inline bool fail_alloc_now(size_t bytes)
{
    fail_alloc_bytes += bytes;
    if (fail_alloc_at == 0) {
        return false;
    }
    fail_alloc_at--;
    return fail_alloc_at == 0;
}

void *__wrap_malloc(size_t size)
{
    return fail_alloc_now(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fail_alloc_now(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fail_alloc_now(size) ? NULL : __real_realloc(old, size);
}

#endif
