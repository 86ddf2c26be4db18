/* A text built piece by piece in a buffer of fixed size.
 *
 *     char line[80];
 *     struct text text = text_begin(line, sizeof line);
 *     text_add(&text, "%s needs %zu bytes", name, bytes);
 *     text_add(&text, " in tile %zu", tile);
 *
 * The buffer always ends in 0. What does not fit is cut, never inside a UTF-8 character, so that a
 * valid text stays one (a JSON writer refuses any other). */
#ifndef HOST_BASE_TEXT_H
#define HOST_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* borrowed */
    size_t size; /* bytes in the buffer, the final 0 included; 0 = nothing is written */
    size_t used; /* bytes before the final 0; 0..size - 1 */
    bool cut;    /* something did not fit; nothing more is added */
};

struct text text_begin(char *bytes, size_t size);

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_args(struct text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

#endif
