/* The text of a row that overflows: what, how much, who holds the rest, and the way out. */
#include "host/scratch/footprint.h"
#include "tests/unit/cap16.h"

#include <string.h>

enum { POOL = 1 << 20, TEXT = 1024 };

static void assert_text_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}

/* `most`: the largest pool that there can be. */
static void overflow_text_within(enum policy policy, size_t tiles, size_t pool, size_t most,
                                 char text[TEXT])
{
    struct program program;
    struct footprint footprint;
    const struct footprint_request request = {policy, tiles, pool, 128};
    cap16_build(&program);
    assert_ok(footprint_plan(&program, &request, &footprint));
    footprint_overflow_text(&program, &request, &footprint, most, text, TEXT);
    program_fini(&program);
}

static void overflow_text(enum policy policy, size_t tiles, size_t pool, char text[TEXT])
{
    overflow_text_within(policy, tiles, pool, FOOTPRINT_NO_LIMIT, text);
}

static void overflow_text_tells_what_who_and_the_way_out(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_UNSCOPED, 17, POOL, text);
    assert_string_equal(
        "v in tile 17: 16,384 bytes requested, 5,504 free, 10,880 missing (pool 1,048,576, "
        "alignment 128, unscoped). 1,043,072 bytes are used: 24,832 persistent (acc 16,384, q "
        "8,192, m 128, l 128), 989,184 by the 16 tiles before, which unscoped never gives back, "
        "29,056 by this tile (k 16,384, s 8,192, p 4,096, m_new 128 and 2 more). Without a limit "
        "the peak would be 1,075,840. Use --policy nested, which peaks at 62,080, or --pool grow "
        "(or --pool 1075840).",
        text);
}

static void overflow_text_under_nested_offers_the_pool_alone(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_NESTED, 17, 60000, text);
    assert_text_has(text, "acc_new in tile 1: 16,384 bytes requested, 14,304 free");
    /* s and k were given back before v came. */
    assert_text_has(text,
                    "20,864 by this tile (v 16,384, p 4,096, m_new 128, alpha 128 and 1 more)");
    assert_text_has(text, "Use --pool grow (or --pool 62080), or smaller blocks.");
    assert_null(strstr(text, "--policy"));
}

static void overflow_text_says_where_nested_does_not_fit_either(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_SCOPED, 17, 60000, text);
    assert_text_has(text, "--policy nested peaks at 62,080, which does not fit either. Use --pool "
                          "grow (or --pool 86656), or smaller blocks.");
}

static void overflow_text_advises_no_pool_that_local_memory_does_not_hold(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text_within(POLICY_UNSCOPED, 17, POOL, POOL, text);
    assert_text_has(text, " The device has local memory for a pool of 1,048,576. Use --policy "
                          "nested, which peaks at 62,080, or --arena global.");
    assert_null(strstr(text, "--pool"));
    overflow_text_within(POLICY_NESTED, 17, 60000, 60000, text);
    assert_text_has(text, " Use --arena global, or smaller blocks.");
    assert_null(strstr(text, "--pool"));
    overflow_text_within(POLICY_NESTED, 17, 60000, 62080, text);
    assert_text_has(text, " Use --pool grow (or --pool 62080), or smaller blocks.");
}

static void overflow_text_of_a_persistent_allocation_has_no_tile(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_UNSCOPED, 1, 8192, text);
    assert_text_has(text, "m, before the first tile: 128 bytes requested, 0 free");
    assert_text_has(text, "8,192 bytes are used: 8,192 persistent (q 8,192).");
}

static void overflow_text_of_a_first_allocation_has_no_holders(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_NESTED, 1, 4096, text);
    assert_text_has(text, "q, before the first tile: 8,192 bytes requested, 4,096 free");
    assert_text_has(text, " 0 bytes are used.");
}

static void overflow_text_without_an_overflow_is_empty(void **state)
{
    (void)state;
    char text[TEXT];
    overflow_text(POLICY_UNSCOPED, 16, POOL, text);
    assert_string_equal("", text);
}

static void overflow_text_is_cut_to_its_buffer(void **state)
{
    (void)state;
    struct program program;
    struct footprint footprint;
    char text[20];
    const struct footprint_request request = {POLICY_UNSCOPED, 17, POOL, 128};
    cap16_build(&program);
    assert_ok(footprint_plan(&program, &request, &footprint));
    footprint_overflow_text(&program, &request, &footprint, FOOTPRINT_NO_LIMIT, text, sizeof text);
    assert_string_equal("v in tile 17: 16,38", text);
    footprint_overflow_text(&program, &request, &footprint, FOOTPRINT_NO_LIMIT, text, 0);
    program_fini(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(overflow_text_tells_what_who_and_the_way_out),
        unit_test_clean(overflow_text_under_nested_offers_the_pool_alone),
        unit_test_clean(overflow_text_says_where_nested_does_not_fit_either),
        unit_test_clean(overflow_text_advises_no_pool_that_local_memory_does_not_hold),
        unit_test_clean(overflow_text_of_a_persistent_allocation_has_no_tile),
        unit_test_clean(overflow_text_of_a_first_allocation_has_no_holders),
        unit_test_clean(overflow_text_without_an_overflow_is_empty),
        unit_test_clean(overflow_text_is_cut_to_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
