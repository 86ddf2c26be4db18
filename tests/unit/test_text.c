#include "tests/unit/unit.h"

#include "host/base/text.h"

static void begin_empties_the_buffer(void **state)
{
    (void)state;
    char bytes[8] = "old";
    struct text text = text_begin(bytes, sizeof bytes);
    assert_string_equal("", bytes);
    assert_false(text.cut);
}

static void begin_of_no_bytes_writes_nothing(void **state)
{
    (void)state;
    char bytes[1] = "x";
    bytes[0] = 'x';
    struct text text = text_begin(bytes, 0);
    text_add(&text, "%s", "abc");
    assert_int_equal('x', bytes[0]);
    assert_int_equal(0, text.used);
}

static void add_puts_pieces_together(void **state)
{
    (void)state;
    char bytes[32];
    struct text text = text_begin(bytes, sizeof bytes);
    text_add(&text, "%s %d", "v", 16384);
    text_add(&text, " of %zu", (size_t)5504);
    assert_string_equal("v 16384 of 5504", bytes);
    assert_int_equal(15, text.used);
}

static void add_that_just_fits_is_not_cut(void **state)
{
    (void)state;
    char bytes[5];
    struct text text = text_begin(bytes, sizeof bytes);
    text_add(&text, "%s", "1234");
    assert_false(text.cut);
    text_add(&text, "%s", "5");
    assert_true(text.cut);
    assert_string_equal("1234", bytes);
}

static void add_after_a_cut_adds_nothing(void **state)
{
    (void)state;
    char bytes[4];
    struct text text = text_begin(bytes, sizeof bytes);
    text_add(&text, "ab\xC3\xA9");
    assert_true(text.cut);
    text_add(&text, "c");
    assert_string_equal("ab", bytes);
}

/* Two, three and four bytes to a character, cut at every place. */
static void add_cuts_between_characters(void **state)
{
    (void)state;
    static const char characters[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    for (size_t size = 1; size <= 12; size++) {
        char bytes[12];
        struct text text = text_begin(bytes, size);
        text_add(&text, "%s", characters);
        assert_int_equal(kept[size - 1], text.used);
        assert_memory_equal(characters, bytes, text.used);
        assert_int_equal('\0', bytes[text.used]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(begin_empties_the_buffer),
        unit_test_clean(begin_of_no_bytes_writes_nothing),
        unit_test_clean(add_puts_pieces_together),
        unit_test_clean(add_that_just_fits_is_not_cut),
        unit_test_clean(add_after_a_cut_adds_nothing),
        unit_test_clean(add_cuts_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
