#include "host/app/npy.h"

#include "host/base/dtype.h"
#include "host/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 6, VERSION_BYTES = 2, WORD_BYTES = 32, VALUE_ALIGNMENT = 64 };

static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const struct {
    const char *name;
    const char *descr;
    size_t bytes;
} types[] = {
    [NPY_F16] = {"f16", "<f2", 2},
    [NPY_F32] = {"f32", "<f4", 4},
    [NPY_F64] = {"f64", "<f8", 8},
};

enum { TYPE_COUNT = 3 };

const char *npy_type_name(enum npy_type type)
{
    return (unsigned)type < TYPE_COUNT ? types[type].name : "unknown";
}

/* The header's dictionary --------------------------------------------------------------------
 *
 * A cursor over the header's bytes; nothing moves it past their end. */

struct cursor {
    const char *name;        /* of the file */
    const unsigned char *at; /* */
    const unsigned char *end;
};

/* What the dictionary has said so far. */
struct header {
    bool has_descr;
    bool has_order;
    bool has_shape;
    enum npy_type type;
    struct shape shape;
};

static enum status damaged(const struct cursor *cursor, const char *what)
{
    return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name, "the .npy header is damaged: %s", what);
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end &&
           (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\n')) {
        cursor->at++;
    }
}

/* Takes `byte`, blanks before it skipped; false, and nothing but the blanks taken, if it is not
 * there. */
static bool take(struct cursor *cursor, unsigned char byte)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != byte) {
        return false;
    }
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0) {
        return false;
    }
    cursor->at += length;
    return true;
}

/* A Python string without escapes, of less than WORD_BYTES bytes. */
static bool take_string(struct cursor *cursor, char word[WORD_BYTES])
{
    size_t length = 0;

    skip_blanks(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"')) {
        return false;
    }
    unsigned char quote = *cursor->at++;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        unsigned char byte = *cursor->at++;
        if (byte < ' ' || byte > '~' || byte == '\\' || length + 1 == WORD_BYTES) {
            return false;
        }
        word[length++] = (char)byte;
    }
    word[length] = '\0';
    return take(cursor, quote);
}

static bool is_digit(unsigned char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Decimal digits, with the L that Python 2 wrote behind them. */
static enum status parse_extent(struct cursor *cursor, size_t *out)
{
    size_t value = 0;

    skip_blanks(cursor);
    if (cursor->at == cursor->end || !is_digit(*cursor->at)) {
        return damaged(cursor, "the shape holds something that is not a whole number");
    }
    for (; cursor->at < cursor->end && is_digit(*cursor->at); cursor->at++) {
        if (!size_mul(value, 10, &value) || !size_add(value, (size_t)(*cursor->at - '0'), &value)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                               "an extent of its shape is above %zu", SIZE_MAX);
        }
    }
    (void)take(cursor, 'L');
    *out = value;
    return STATUS_OK;
}

/* "(2, 3)", "(2,)": a single extent has its comma. */
static enum status parse_shape(struct cursor *cursor, struct shape *out)
{
    enum status status = STATUS_OK;
    bool comma = true;

    if (!take(cursor, '(')) {
        return damaged(cursor, "the shape is not a tuple");
    }
    while (!take(cursor, ')')) {
        if (!comma) {
            return damaged(cursor, "the shape is not a tuple");
        }
        if (out->rank == SHAPE_MAX_RANK) {
            return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name, "it has more than %d dimensions",
                               (int)SHAPE_MAX_RANK);
        }
        STATUS_TRY(parse_extent(cursor, &out->extent[out->rank]));
        out->rank++;
        comma = take(cursor, ',');
    }
    if (out->rank == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "it holds a scalar: its shape () has no dimension");
    }
    if (out->rank == 1 && !comma) {
        return damaged(cursor, "the shape is not a tuple");
    }
out:
    return status;
}

static enum status refuse_type(const char *name, const char *descr)
{
    enum status status;

    if (descr[0] == '>') {
        status = STATUS_FAIL(STATUS_BAD_INPUT, name, "its values are big-endian ('%s')", descr);
        status_hint("write it from NumPy as numpy.save(FILE, a.astype('<%s'))", descr + 1);
        return status;
    }
    status = STATUS_FAIL(STATUS_BAD_INPUT, name,
                         "its type '%s' is not taken: little-endian f16, f32 and f64 are "
                         "('<f2', '<f4', '<f8')",
                         descr);
    status_hint(strcmp(descr, "|b1") == 0
                    ? "a mask is added to the scores: numpy.save(FILE, numpy.where(a, 0.0, -inf))"
                    : "write it from NumPy as numpy.save(FILE, a.astype('<f4'))");
    return status;
}

static enum status parse_descr(struct cursor *cursor, struct header *header)
{
    char word[WORD_BYTES] = "";

    skip_blanks(cursor);
    if (cursor->at < cursor->end && (*cursor->at == '[' || *cursor->at == '(')) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "its values are structures; one f16, f32 or f64 array is needed");
    }
    if (!take_string(cursor, word)) {
        return damaged(cursor, "descr is not a string");
    }
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(word, types[i].descr) == 0) {
            header->type = (enum npy_type)i;
            return STATUS_OK;
        }
    }
    return refuse_type(cursor->name, word);
}

static enum status parse_order(struct cursor *cursor)
{
    if (take_word(cursor, "False")) {
        return STATUS_OK;
    }
    if (!take_word(cursor, "True")) {
        return damaged(cursor, "fortran_order is neither True nor False");
    }
    enum status status =
        STATUS_FAIL(STATUS_BAD_INPUT, cursor->name, "its values are in Fortran order");
    status_hint("write it from NumPy as numpy.save(FILE, numpy.ascontiguousarray(a))");
    return status;
}

/* The value of `key`, each of which comes once. */
static enum status parse_value(struct cursor *cursor, const char *key, struct header *header)
{
    bool *seen = strcmp(key, "descr") == 0           ? &header->has_descr
                 : strcmp(key, "fortran_order") == 0 ? &header->has_order
                 : strcmp(key, "shape") == 0         ? &header->has_shape
                                                     : NULL;

    if (seen == NULL) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "the .npy header is damaged: it has an unknown key '%s'", key);
    }
    if (*seen) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "the .npy header is damaged: the key '%s' comes twice", key);
    }
    *seen = true;
    if (seen == &header->has_descr) {
        return parse_descr(cursor, header);
    }
    return seen == &header->has_order ? parse_order(cursor) : parse_shape(cursor, &header->shape);
}

static enum status parse_dictionary(struct cursor *cursor, struct header *header)
{
    enum status status = STATUS_OK;
    bool comma = true;

    if (!take(cursor, '{')) {
        return damaged(cursor, "it is not a dictionary");
    }
    while (!take(cursor, '}')) {
        char key[WORD_BYTES] = "";
        if (!comma || !take_string(cursor, key) || !take(cursor, ':')) {
            return damaged(cursor, "it is not a dictionary of descr, fortran_order and shape");
        }
        STATUS_TRY(parse_value(cursor, key, header));
        comma = take(cursor, ',');
    }
    skip_blanks(cursor);
    if (cursor->at != cursor->end) {
        return damaged(cursor, "something stands behind its dictionary");
    }
    if (!header->has_descr || !header->has_order || !header->has_shape) {
        return damaged(cursor, "descr, fortran_order or shape is missing");
    }
out:
    return status;
}

/* The file ---------------------------------------------------------------------------------- */

static size_t little_endian(const unsigned char *bytes, size_t count)
{
    size_t value = 0;

    for (size_t i = count; i > 0; i--) {
        value = value << 8 | bytes[i - 1];
    }
    return value;
}

/* Finds the header: magic, version, length. */
static enum status find_header(const unsigned char *bytes, size_t size, struct cursor *cursor)
{
    const char *name = cursor->name;
    size_t start = MAGIC_BYTES + VERSION_BYTES;

    if (size < MAGIC_BYTES || memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name,
                           size == 0 ? "the file is empty"
                                     : "it is not a .npy file: it does not begin with \\x93NUMPY");
    }
    if (size < start) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name, "it is cut off within its .npy header");
    }
    unsigned major = bytes[MAGIC_BYTES];
    unsigned minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name,
                           "its .npy version %u.%u is not taken: 1.0, 2.0 and 3.0 are", major,
                           minor);
    }
    size_t length_bytes = major == 1 ? 2 : 4;
    if (size - start < length_bytes) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name, "it is cut off within its .npy header");
    }
    size_t length = little_endian(bytes + start, length_bytes);
    start += length_bytes;
    if (length > NPY_MAX_HEADER_BYTES) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name,
                           "its .npy header would be %zu bytes long, above the limit of %d", length,
                           (int)NPY_MAX_HEADER_BYTES);
    }
    if (length > size - start) {
        return STATUS_FAIL(
            STATUS_BAD_INPUT, name,
            "its .npy header would be %zu bytes long, but the file has only %zu more", length,
            size - start);
    }
    cursor->at = bytes + start;
    cursor->end = cursor->at + length;
    return STATUS_OK;
}

/* Whether the bytes behind the header are those of the shape, no fewer and no more. */
static enum status find_values(const struct cursor *cursor, size_t left, struct npy *npy)
{
    size_t bytes = 0;
    char text[NPY_SHAPE_BYTES];
    const char *shape = npy_shape_text(npy->shape, text);

    if (!shape_elems(npy->shape, &npy->elems) ||
        !size_mul(npy->elems, types[npy->type].bytes, &bytes)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "the bytes of its shape %s do not fit a 64-bit number", shape);
    }
    if (left < bytes) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "it is cut off: its shape %s of %s takes %zu bytes, but only %zu are "
                           "there",
                           shape, npy_type_name(npy->type), bytes, left);
    }
    if (left > bytes) {
        return STATUS_FAIL(STATUS_BAD_INPUT, cursor->name,
                           "%zu bytes stand behind the values: its shape %s of %s takes %zu",
                           left - bytes, shape, npy_type_name(npy->type), bytes);
    }
    npy->data = cursor->end;
    return STATUS_OK;
}

enum status npy_parse(const char *name, const unsigned char *bytes, size_t size, struct npy *out)
{
    enum status status = STATUS_OK;
    struct cursor cursor = {.name = name};
    struct header header = {.has_descr = false};

    *out = (struct npy){.elems = 0};
    STATUS_TRY(find_header(bytes, size, &cursor));
    STATUS_TRY(parse_dictionary(&cursor, &header));
    out->type = header.type;
    out->shape = header.shape;
    STATUS_TRY(find_values(&cursor, size - (size_t)(cursor.end - bytes), out));
out:
    if (status != STATUS_OK) {
        *out = (struct npy){.elems = 0};
    }
    return status;
}

static uint64_t bits_of(const unsigned char *bytes, size_t count)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        bits |= (uint64_t)bytes[i] << (8 * i);
    }
    return bits;
}

double npy_value(const struct npy *npy, size_t i)
{
    double f64;
    float f32;
    uint64_t bits;
    uint32_t word;

    switch (npy->type) {
    case NPY_F16:
        return (double)dtype_f32_from_f16((uint16_t)bits_of(npy->data + 2 * i, 2));
    case NPY_F32:
        word = (uint32_t)bits_of(npy->data + 4 * i, 4);
        memcpy(&f32, &word, sizeof f32);
        return (double)f32;
    case NPY_F64:
        bits = bits_of(npy->data + 8 * i, 8);
        memcpy(&f64, &bits, sizeof f64);
        return f64;
    }
    return 0.0;
}

const char *npy_shape_text(struct shape shape, char text[NPY_SHAPE_BYTES])
{
    struct text line = text_begin(text, NPY_SHAPE_BYTES);

    text_add(&line, "[");
    for (size_t i = 0; i < shape.rank; i++) {
        text_add(&line, "%s%zu", i == 0 ? "" : ", ", shape.extent[i]);
    }
    text_add(&line, "]");
    return text;
}

struct shape npy_index(struct shape shape, size_t i)
{
    struct shape index = {.rank = shape.rank};

    for (size_t axis = shape.rank; axis > 0; axis--) {
        size_t extent = size_max(shape.extent[axis - 1], 1);
        index.extent[axis - 1] = i % extent;
        i /= extent;
    }
    return index;
}

/* Reading ----------------------------------------------------------------------------------- */

static enum status fail_io(const char *path, const char *what)
{
    int code = errno;

    return status_record(STATUS_IO, code, NULL, __FILE__, __LINE__, path, "%s: %s", what,
                         strerror(code));
}

/* What a regular file has, no more: a device has no end, and a pipe's comes when its writer likes.
 */
static enum status file_bytes(const char *path, int fd, size_t *size)
{
    struct stat info;

    *size = 0;
    if (fstat(fd, &info) != 0) {
        return fail_io(path, "cannot be read");
    }
    if (!S_ISREG(info.st_mode)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, path,
                           "is not a regular file: save the array into one and name that");
    }
    if (info.st_size < 0 || (uintmax_t)info.st_size >= SIZE_MAX) {
        return STATUS_FAIL(STATUS_RANGE, path, "the file is too large");
    }
    *size = (size_t)info.st_size;
    return STATUS_OK;
}

static enum status read_all(const char *path, int fd, unsigned char **bytes, size_t *size)
{
    enum status status = STATUS_OK;
    size_t wanted = 0;

    STATUS_TRY(file_bytes(path, fd, &wanted));
    *bytes = malloc(size_max(wanted, 1));
    if (*bytes == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, path, "no memory for %zu bytes", wanted);
    }
    while (*size < wanted) {
        ssize_t got = read(fd, *bytes + *size, wanted - *size);
        if (got == 0) {
            return STATUS_OK; /* it has become shorter: the parser will say so */
        }
        if (got < 0 && errno != EINTR) {
            return fail_io(path, "cannot be read");
        }
        *size += got > 0 ? (size_t)got : 0;
    }
out:
    return status;
}

/* O_NONBLOCK: opening a pipe without a writer must not wait. */
enum status npy_read(const char *path, unsigned char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    *bytes = NULL;
    *size = 0;
    if (fd < 0) {
        return fail_io(path, "cannot be opened");
    }
    enum status status = read_all(path, fd, bytes, size);
    (void)close(fd);
    if (status != STATUS_OK) {
        free(*bytes);
        *bytes = NULL;
        *size = 0;
    }
    return status;
}

/* Writing ----------------------------------------------------------------------------------- */

enum { HEAD_BYTES = 256 };

/* Everything before the values, blanks up to a multiple of VALUE_ALIGNMENT; returns its length. */
static size_t render_head(struct shape shape, char head[HEAD_BYTES])
{
    const size_t start = MAGIC_BYTES + VERSION_BYTES + 2;
    struct text text = text_begin(head + start, HEAD_BYTES - start);

    text_add(&text, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < shape.rank; i++) {
        text_add(&text, "%s%zu", i == 0 ? "" : ", ", shape.extent[i]);
    }
    text_add(&text, shape.rank == 1 ? ",), }" : "), }");
    size_t end = start + text.used + 1;
    size_t padded = size_div_up(end, VALUE_ALIGNMENT) * VALUE_ALIGNMENT;
    memset(head + end - 1, ' ', padded - end);
    head[padded - 1] = '\n';
    memcpy(head, magic, MAGIC_BYTES);
    head[MAGIC_BYTES] = 1;
    head[MAGIC_BYTES + 1] = 0;
    head[MAGIC_BYTES + 2] = (char)((padded - start) & 0xFF);
    head[MAGIC_BYTES + 3] = (char)((padded - start) >> 8);
    return padded;
}

static void render_value(float value, char *bytes)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++) {
        bytes[i] = (char)(unsigned char)(bits >> (8 * i));
    }
}

enum status npy_render(struct shape shape, const float *values, char **bytes, size_t *size)
{
    char head[HEAD_BYTES];
    size_t head_bytes = render_head(shape, head);
    size_t elems = 0;
    size_t total = 0;

    *bytes = NULL;
    *size = 0;
    if (!shape_elems(shape, &elems) || !size_mul(elems, sizeof(float), &total) ||
        !size_add(total, head_bytes, &total)) {
        return STATUS_FAIL(STATUS_RANGE, ".npy", "an array of that shape does not fit memory");
    }
    char *all = malloc(total);
    if (all == NULL) {
        return STATUS_FAIL(STATUS_NO_MEMORY, ".npy", "no memory for %zu bytes", total);
    }
    memcpy(all, head, head_bytes);
    for (size_t i = 0; i < elems; i++) {
        render_value(values[i], all + head_bytes + i * sizeof(float));
    }
    *bytes = all;
    *size = total;
    return STATUS_OK;
}
