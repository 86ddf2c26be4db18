/* The .npy reader and writer: what NumPy writes is taken; anything damaged is refused with a reason
 * that names the file, and nothing past the bytes is read. */
#include "host/app/npy.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1024 };

/* A file built by hand. */
struct file {
    unsigned char bytes[FILE_BYTES];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= FILE_BYTES);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

/* Magic, version, header and then `value_bytes` bytes of 0. */
static struct file make_version(unsigned char major, const char *header, size_t value_bytes)
{
    struct file file = {.size = 0};
    size_t length = strlen(header);
    const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', major, 0};
    const unsigned char words[] = {(unsigned char)length, (unsigned char)(length >> 8), 0, 0};

    put(&file, start, sizeof start);
    put(&file, words, major == 1 ? 2 : 4);
    put(&file, header, length);
    assert_true(file.size + value_bytes <= FILE_BYTES);
    file.size += value_bytes;
    return file;
}

static struct file make(const char *header, size_t value_bytes)
{
    return make_version(1, header, value_bytes);
}

/* Parses a copy of just the size, so that a sanitizer sees any read past it. */
static enum status parse(const struct file *file, struct npy *npy)
{
    unsigned char *copy = malloc(file->size + 1);

    assert_non_null(copy);
    memcpy(copy + 1, file->bytes, file->size);
    enum status status = npy_parse("a.npy", copy + 1, file->size, npy);
    npy->data = NULL;
    free(copy);
    return status;
}

static void takes(const struct file *file, enum npy_type type, const char *shape)
{
    struct npy npy;
    char text[NPY_SHAPE_BYTES];

    if (parse(file, &npy) != STATUS_OK) {
        fail_msg("%s", status_last()->why);
    }
    assert_int_equal(npy.type, type);
    assert_string_equal(npy_shape_text(npy.shape, text), shape);
}

static void refuses(const struct file *file, const char *why)
{
    struct npy npy;

    status_clear();
    assert_status(STATUS_BAD_INPUT, parse(file, &npy));
    assert_int_equal(npy.elems, 0);
    assert_string_equal(status_last()->what, "a.npy");
    if (strstr(status_last()->why, why) == NULL) {
        fail_msg("\"%s\" is not in: %s", why, status_last()->why);
    }
}

static void refuses_header(const char *header, const char *why)
{
    struct file file = make(header, 0);

    refuses(&file, why);
}

static void parse_of_every_type_and_version_taken(void **state)
{
    static const char *const descrs[] = {"<f2", "<f4", "<f8"};

    (void)state;
    for (unsigned char version = 1; version <= 3; version++) {
        for (size_t type = 0; type < 3; type++) {
            char header[128];
            (void)snprintf(header, sizeof header,
                           "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }   \n",
                           descrs[type]);
            struct file file = make_version(version, header, 6 * ((size_t)2 << type));
            takes(&file, (enum npy_type)type, "[2, 3]");
        }
    }
}

static void parse_of_every_rank_taken(void **state)
{
    static const struct {
        const char *shape;
        const char *text;
        size_t elems;
    } cases[] = {
        {"(3,)", "[3]", 3},           {"(2, 3)", "[2, 3]", 6},
        {"(1,2,3,)", "[1, 2, 3]", 6}, {"( 4L , 1L, 2L, 3L )", "[4, 1, 2, 3]", 24},
        {"(0, 7)", "[0, 7]", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[128];
        (void)snprintf(header, sizeof header, "{'shape':%s,'fortran_order':False,'descr':'<f4'}",
                       cases[i].shape);
        struct file file = make(header, cases[i].elems * 4);
        takes(&file, NPY_F32, cases[i].text);
    }
}

static void parse_of_any_spelling_taken(void **state)
{
    (void)state;
    struct file file =
        make("\t{\"shape\" : ( 2 ,) ,\n \"fortran_order\":False ,\"descr\" : \"<f2\" , } \n", 4);
    takes(&file, NPY_F16, "[2]");
}

#define ORDER_C "'fortran_order': False"

static void parse_of_what_is_not_taken_says_why(void **state)
{
    (void)state;
    refuses_header("{'descr': '>f4', " ORDER_C ", 'shape': (2, 3)}", "big-endian ('>f4')");
    refuses_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order");
    refuses_header("{'descr': '<i4', " ORDER_C ", 'shape': (2, 3)}", "type '<i4' is not taken");
    refuses_header("{'descr': '|V2', " ORDER_C ", 'shape': (2, 3)}", "type '|V2' is not taken");
    refuses_header("{'descr': [('a', '<f4')], " ORDER_C ", 'shape': (2,)}", "structures");
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': ()}", "scalar");
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': (1, 1, 1, 1, 1)}",
                   "more than 4 dimensions");
}

static void parse_of_damaged_headers_refused(void **state)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{,}",
        "[]",
        "{'descr': '<f4', " ORDER_C "}",
        "{'descr': '<f4', 'shape': (2,)}",
        "{" ORDER_C ", 'shape': (2,)}",
        "{'descr': '<f4' " ORDER_C ", 'shape': (2,)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': 2}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2 3)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (,)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (-2,)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2.0,)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2,",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': Falsely, 'shape': (2,)}",
        "{'descr': '<f4",
        "{'descr': <f4, " ORDER_C ", 'shape': (2,)}",
        "{'descr': '<f4', 'descr': '<f4', " ORDER_C ", 'shape': (2,)}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', " ORDER_C ", 'shape': (2,)} x",
        "{'descr': 'a string that is longer than any type is', " ORDER_C ", 'shape': (2,)}",
        "{'descr': '\x1b[31m', " ORDER_C ", 'shape': (2,)}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        refuses_header(headers[i], "header is damaged");
    }
}

static void parse_of_sizes_that_wrap_refused(void **state)
{
    (void)state;
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': (18446744073709551616,)}", "is above");
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': (99999999999999999999999,)}",
                   "is above");
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': (4294967296, 4294967296)}",
                   "do not fit");
    refuses_header("{'descr': '<f4', " ORDER_C ", 'shape': (4611686018427387905,)}", "do not fit");
    refuses_header("{'descr': '<f8', " ORDER_C ", 'shape': (2305843009213693952,)}", "do not fit");
}

static void parse_of_too_few_or_many_values_refused(void **state)
{
    static const char header[] = "{'descr': '<f4', " ORDER_C ", 'shape': (2, 3)}";

    (void)state;
    struct file file = make(header, 23);
    refuses(&file, "takes 24 bytes, but only 23 are there");
    file = make(header, 0);
    refuses(&file, "only 0 are there");
    file = make(header, 25);
    refuses(&file, "1 bytes stand behind the values");
}

/* Every prefix of a good file is refused. */
static void parse_of_any_cut_refused(void **state)
{
    (void)state;
    for (unsigned char version = 1; version <= 2; version++) {
        struct file file =
            make_version(version, "{'descr': '<f2', " ORDER_C ", 'shape': (2, 3)}\n", 12);
        for (size_t whole = file.size; file.size > 0;) {
            file.size--;
            refuses(&file, "");
            assert_true(file.size < whole);
        }
    }
}

static void parse_of_other_files_refused(void **state)
{
    (void)state;
    struct file file = {.size = 0};
    refuses(&file, "empty");
    put(&file, "PK\x03\x04 a zip file", 16);
    refuses(&file, "not a .npy file");
    file = make_version(4, "{}", 0);
    refuses(&file, "version 4.0");
    file = make_version(0, "{}", 0);
    refuses(&file, "version 0.0");
    file = make("{}", 0);
    file.bytes[7] = 1;
    refuses(&file, "version 1.1");
}

static void parse_of_a_header_beyond_the_file_refused(void **state)
{
    (void)state;
    struct file file = make("{}", 0);
    file.bytes[8] = 200;
    refuses(&file, "would be 200 bytes long, but the file has only 2 more");
    file = make_version(2, "{}", 0);
    memset(file.bytes + 8, 0xFF, 4);
    refuses(&file, "4294967295 bytes long, above the limit");
}

/* Value ---------------------------------------------------------------------------------------- */

static double first_value(const char *descr, const unsigned char *bytes, size_t size)
{
    char header[128];
    struct npy npy;

    (void)snprintf(header, sizeof header, "{'descr': '%s', " ORDER_C ", 'shape': (1,)}", descr);
    struct file file = make(header, 0);
    put(&file, bytes, size);
    assert_ok(npy_parse("a.npy", file.bytes, file.size, &npy));
    return npy_value(&npy, 0);
}

static void value_of_every_type_is_exact(void **state)
{
    static const unsigned char half[] = {0x00, 0xC1};
    static const unsigned char single[] = {0x00, 0x00, 0x20, 0xC0};
    static const unsigned char wide[] = {0, 0, 0, 0, 0, 0, 0x04, 0xC0};
    static const unsigned char tiny[] = {0x01, 0x00};
    static const unsigned char infinite[] = {0x00, 0xFC};

    (void)state;
    assert_true(first_value("<f2", half, 2) == -2.5);
    assert_true(first_value("<f4", single, 4) == -2.5);
    assert_true(first_value("<f8", wide, 8) == -2.5);
    assert_true(first_value("<f2", tiny, 2) == 0x1p-24);
    assert_true(first_value("<f2", infinite, 2) == -(double)INFINITY);
}

static void index_of_an_element_counts_each_axis(void **state)
{
    const struct shape shape = {.rank = 3, .extent = {2, 3, 4}};
    char text[NPY_SHAPE_BYTES];

    (void)state;
    assert_string_equal(npy_shape_text(npy_index(shape, 0), text), "[0, 0, 0]");
    assert_string_equal(npy_shape_text(npy_index(shape, 23), text), "[1, 2, 3]");
    assert_string_equal(npy_shape_text(npy_index(shape, 12 + 5), text), "[1, 1, 1]");
}

/* Writer --------------------------------------------------------------------------------------- */

static void render_then_parse_gives_the_same(void **state)
{
    static const float values[6] = {0.0F, -0.0F, 1.5F, (float)INFINITY, -(float)INFINITY, 1e-45F};
    static const struct shape shapes[] = {
        {.rank = 1, .extent = {6}},       {.rank = 2, .extent = {2, 3}},
        {.rank = 3, .extent = {1, 2, 3}}, {.rank = 4, .extent = {3, 1, 2, 1}},
        {.rank = 2, .extent = {0, 3}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char *bytes = NULL;
        size_t size = 0;
        struct npy npy;
        assert_ok(npy_render(shapes[i], values, &bytes, &size));
        assert_ok(npy_parse("a.npy", (const unsigned char *)bytes, size, &npy));
        assert_int_equal(npy.type, NPY_F32);
        assert_true(shape_equal(npy.shape, shapes[i]));
        assert_int_equal((npy.data - (const unsigned char *)bytes) % 64, 0);
        assert_int_equal(npy.data[-1], '\n');
        for (size_t j = 0; j < npy.elems; j++) {
            float value = (float)npy_value(&npy, j);
            assert_memory_equal(&value, &values[j], sizeof value);
        }
        free(bytes);
    }
}

static void render_of_the_largest_extents_keeps_its_header_whole(void **state)
{
    const struct shape shape = {.rank = 4, .extent = {SIZE_MAX, SIZE_MAX, 0, SIZE_MAX}};
    char *bytes = NULL;
    size_t size = 0;
    struct npy npy;

    (void)state;
    assert_ok(npy_render(shape, NULL, &bytes, &size));
    assert_ok(npy_parse("a.npy", (const unsigned char *)bytes, size, &npy));
    assert_true(shape_equal(npy.shape, shape));
    free(bytes);
}

static void render_is_version_1_as_numpy_writes_it(void **state)
{
    static const float values[6] = {0.0F};
    static const char head[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_ok(npy_render(shape_2d(2, 3), values, &bytes, &size));
    assert_int_equal(size, 128 + 24);
    assert_memory_equal(bytes, head, sizeof head - 1);
    free(bytes);
}

static void render_of_too_many_elements_refused(void **state)
{
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_status(STATUS_RANGE, npy_render(shape_2d(SIZE_MAX, 2), NULL, &bytes, &size));
    assert_status(STATUS_RANGE, npy_render(shape_1d(SIZE_MAX / 4), NULL, &bytes, &size));
    assert_null(bytes);
}

/* Files ---------------------------------------------------------------------------------------- */

static void read_of_what_is_no_file_says_why(void **state)
{
    unsigned char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_status(STATUS_IO, npy_read("no-such-file.npy", &bytes, &size));
    assert_string_equal(status_last()->what, "no-such-file.npy");
    status_clear();
    assert_status(STATUS_BAD_INPUT, npy_read(".", &bytes, &size));
    assert_null(bytes);
}

/* A device has no end, and a pipe waits for its writer. */
static void read_of_a_pipe_or_a_device_is_refused_at_once(void **state)
{
    static const char *const paths[] = {"/dev/zero", "/dev/null", "fifo_of_test_npy"};
    unsigned char *bytes = NULL;
    size_t size = 0;

    (void)state;
    (void)unlink(paths[2]);
    assert_int_equal(mkfifo(paths[2], 0600), 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_status(STATUS_BAD_INPUT, npy_read(paths[i], &bytes, &size));
        assert_non_null(strstr(status_last()->why, "not a regular file"));
        assert_null(bytes);
        status_clear();
    }
    (void)unlink(paths[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_clean(parse_of_every_type_and_version_taken),
        unit_test_clean(parse_of_every_rank_taken),
        unit_test_clean(parse_of_any_spelling_taken),
        unit_test_clean(parse_of_what_is_not_taken_says_why),
        unit_test_clean(parse_of_damaged_headers_refused),
        unit_test_clean(parse_of_sizes_that_wrap_refused),
        unit_test_clean(parse_of_too_few_or_many_values_refused),
        unit_test_clean(parse_of_any_cut_refused),
        unit_test_clean(parse_of_other_files_refused),
        unit_test_clean(parse_of_a_header_beyond_the_file_refused),
        unit_test_clean(value_of_every_type_is_exact),
        unit_test_clean(index_of_an_element_counts_each_axis),
        unit_test_clean(render_then_parse_gives_the_same),
        unit_test_clean(render_of_the_largest_extents_keeps_its_header_whole),
        unit_test_clean(render_is_version_1_as_numpy_writes_it),
        unit_test_clean(render_of_too_many_elements_refused),
        unit_test_clean(read_of_what_is_no_file_says_why),
        unit_test_clean(read_of_a_pipe_or_a_device_is_refused_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
