/* libFuzzer on the .npy reader: whatever the bytes are, nothing past them is read, a file that is
 * taken has just the values of its shape, and one that is refused says why. */
#include "host/app/npy.h"
#include "host/base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int holds)
{
    if (!holds) {
        abort();
    }
}

static size_t value_bytes(enum npy_type type)
{
    return type == NPY_F16 ? 2 : type == NPY_F32 ? 4 : 8;
}

/* The values as f32 come back, bit for bit, from a file that we write. */
static void write_and_read(const struct npy *npy)
{
    float *values = calloc(npy->elems + 1, sizeof *values);
    struct npy copy;
    char *file = NULL;
    size_t size = 0;

    require(values != NULL);
    for (size_t i = 0; i < npy->elems; i++) {
        values[i] = (float)npy_value(npy, i);
    }
    require(npy_render(npy->shape, values, &file, &size) == STATUS_OK);
    require(npy_parse("copy", (const unsigned char *)file, size, &copy) == STATUS_OK);
    require(copy.type == NPY_F32 && shape_equal(copy.shape, npy->shape));
    for (size_t i = 0; i < npy->elems; i++) {
        float value = (float)npy_value(&copy, i);
        require(memcmp(&value, &values[i], sizeof value) == 0 || value != value);
    }
    free(file);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct npy npy;

    status_clear();
    if (npy_parse("input", bytes, size, &npy) != STATUS_OK) {
        require(npy.data == NULL && status_last()->why[0] != '\0');
        return 0;
    }
    require(npy.shape.rank >= 1 && npy.shape.rank <= SHAPE_MAX_RANK);
    require(npy.data + npy.elems * value_bytes(npy.type) == bytes + size);
    write_and_read(&npy);
    return 0;
}
