#include "host/app/format.h"

#include <stddef.h>
#include <string.h>

bool format_of_path(const char *path, enum format *out)
{
    static const struct {
        const char *suffix;
        enum format format;
    } known[] = {
        {".txt", FORMAT_TABLE}, {".json", FORMAT_JSON}, {".csv", FORMAT_CSV}, {".md", FORMAT_MD}};
    const char *dot = strrchr(path, '.');

    *out = FORMAT_TABLE;
    for (size_t i = 0; dot != NULL && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(dot, known[i].suffix) == 0) {
            *out = known[i].format;
            return true;
        }
    }
    return false;
}
