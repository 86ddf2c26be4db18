#include "host/base/text.h"

#include <stdio.h>

struct text text_begin(char *bytes, size_t size)
{
    if (size > 0) {
        bytes[0] = '\0';
    }
    return (struct text){.bytes = bytes, .size = size};
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0U) == 0x80U;
}

/* How many bytes a UTF-8 character has, by its first one. */
static size_t character_bytes(char first)
{
    unsigned char byte = (unsigned char)first;
    if (byte < 0xC0U) {
        return 1;
    }
    return byte < 0xE0U ? 2 : byte < 0xF0U ? 3 : 4;
}

/* Takes a character away whose last bytes did not fit. */
static void drop_partial_character(struct text *text)
{
    size_t start = text->used;
    while (start > 0 && is_continuation(text->bytes[start - 1])) {
        start--;
    }
    if (start > 0 && text->used - (start - 1) < character_bytes(text->bytes[start - 1])) {
        text->used = start - 1;
    }
    text->bytes[text->used] = '\0';
}

void text_add_args(struct text *text, const char *format, va_list args)
{
    if (text->size == 0 || text->cut) {
        return;
    }
    size_t room = text->size - text->used;
    int length = vsnprintf(text->bytes + text->used, room, format, args);
    if (length < 0) {
        text->bytes[text->used] = '\0';
        return;
    }
    text->cut = (size_t)length >= room;
    text->used += text->cut ? room - 1 : (size_t)length;
    if (text->cut) {
        drop_partial_character(text);
    }
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add_args(text, format, args);
    va_end(args);
}
