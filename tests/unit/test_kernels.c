/* Kernel sources as strings: the includes expanded, every other byte as it was, and the numbers of
 * lines as the compiler will count them. The fixture lies in tests/unit/expand. */
#include "kernels/kernels.h"
#include "tests/cmocka.h"

#include <stdlib.h>
#include <string.h>

/* Made from tests/unit/expand/top.txt. */
extern const char *const kernels_fixture;

static const char expected_fixture[] =
    "#line 1 \"top.txt\"\n"
    "/* brackets [0] and ]odd[, semicolons ; ;; and \"quoted \\\"text\\\"\" */\n"
    "#define SWAP(a, b) \\\n"
    "    do {           \\\n"
    "        t = a;     \\\n"
    "        a = b;     \\\n"
    "        b = t;     \\\n"
    "    } while (0)\n"
    "\n"
    "#line 1 \"first.txt\"\n"
    "first[1];\n"
    "\n"
    "#line 1 \"third.txt\"\n"
    "\n"
    "third\n"
    "#line 4 \"first.txt\"\n"
    "first \\\n"
    "  no line end\n"
    "#line 10 \"top.txt\"\n"
    ";;\n"
    "\n"
    "\n"
    "${name} @name@ $ENV{HOME} \\; \\\\ \\n <semicolon> 'x' %d #include \"first.txt\"\n"
    "#line 1 \"second.txt\"\n"
    "\n"
    "second;\n"
    "#line 15 \"top.txt\"\n"
    "#include <stdint.h>\n"
    "\ta[i[j]] = \"];[\";\n"
    "\n";

static const char *const sources[] = {
    "attention_simd.cl", "attention_simt.cl", "merge.cl", "paint.cl", "roofline.cl", "scan.cl",
};

enum { SOURCE_COUNT = sizeof sources / sizeof sources[0] };

static const char *source_text(size_t i)
{
    const char *const texts[] = {kernels_attention_simd, kernels_attention_simt, kernels_merge,
                                 kernels_paint,          kernels_roofline,       kernels_scan};
    return texts[i];
}

static void fixture_is_expanded_byte_for_byte(void **state)
{
    (void)state;
    assert_string_equal(kernels_fixture, expected_fixture);
}

static void sources_begin_with_their_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCE_COUNT; ++i) {
        const char *text = source_text(i);
        const char *name = strchr(text, '"');
        assert_non_null(name);
        assert_int_equal(strncmp(text, "#line 1 \"", 9), 0);
        assert_int_equal(strncmp(name + 1, sources[i], strlen(sources[i])), 0);
    }
}

static void sources_hold_no_include_and_a_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCE_COUNT; ++i) {
        assert_null(strstr(source_text(i), "\n#include \""));
        assert_non_null(strstr(source_text(i), "__kernel void"));
    }
}

static void sources_end_with_a_line_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < SOURCE_COUNT; ++i) {
        const char *text = source_text(i);
        assert_int_equal(text[strlen(text) - 1], '\n');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixture_is_expanded_byte_for_byte),
        cmocka_unit_test(sources_begin_with_their_names),
        cmocka_unit_test(sources_hold_no_include_and_a_kernel),
        cmocka_unit_test(sources_end_with_a_line_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
