#include "host/app/grid.h"

#include "host/base/size.h"

#include <stdlib.h>
#include <string.h>

void grid_without(const struct grid_column *columns, size_t count, size_t skip,
                  struct grid_column *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i != skip) {
            *out++ = columns[i];
        }
    }
}

void grid_init(struct grid *grid, const struct grid_column *columns, size_t column_count)
{
    *grid =
        (struct grid){.columns = columns, .column_count = size_min(column_count, GRID_MAX_COLUMNS)};
}

void grid_fini(struct grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        for (size_t j = 0; j < GRID_MAX_COLUMNS; j++) {
            free(grid->lines[i].cells[j]);
        }
    }
    free(grid->lines);
    grid->lines = NULL;
    grid->count = 0;
    grid->room = 0;
}

static enum status no_memory(void)
{
    return STATUS_FAIL(STATUS_NO_MEMORY, "the table", "no memory left");
}

/* A new line at the end; NULL: no memory. */
static struct grid_line *add_line(struct grid *grid)
{
    if (grid->count == grid->room) {
        size_t room = grid->room == 0 ? 16 : grid->room * 2;
        struct grid_line *lines = realloc(grid->lines, room * sizeof *lines);
        if (lines == NULL) {
            return NULL;
        }
        grid->lines = lines;
        grid->room = room;
    }
    struct grid_line *line = &grid->lines[grid->count++];
    *line = (struct grid_line){.rule = false};
    return line;
}

enum status grid_row(struct grid *grid, char (*cells)[GRID_CELL_BYTES])
{
    struct grid_line *line = add_line(grid);

    for (size_t i = 0; line != NULL && i < grid->column_count; i++) {
        line->cells[i] = strdup(cells[i]);
        if (line->cells[i] == NULL) {
            return no_memory();
        }
    }
    return line != NULL ? STATUS_OK : no_memory();
}

enum status grid_rule(struct grid *grid, const char *label)
{
    struct grid_line *line = add_line(grid);

    if (line == NULL) {
        return no_memory();
    }
    line->rule = true;
    line->cells[0] = strdup(label);
    return line->cells[0] != NULL ? STATUS_OK : no_memory();
}

size_t grid_width(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80 ? 1 : 0;
    }
    return width;
}

static void find_widths(const struct grid *grid, size_t widths[GRID_MAX_COLUMNS])
{
    for (size_t j = 0; j < grid->column_count; j++) {
        widths[j] = grid_width(grid->columns[j].header);
        for (size_t i = 0; i < grid->count; i++) {
            if (!grid->lines[i].rule) {
                widths[j] = size_max(widths[j], grid_width(grid->lines[i].cells[j]));
            }
        }
    }
}

static void write_fill(FILE *file, const char *piece, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fputs(piece, file);
    }
}

/* A cell, padded; the last column is not, unless Markdown's bar follows. */
static void write_cell(const char *text, bool right, size_t width, bool pad, FILE *file)
{
    size_t own = grid_width(text);
    size_t rest = width > own ? width - own : 0;

    if (right) {
        write_fill(file, " ", rest);
    }
    (void)fputs(text, file);
    if (!right && pad) {
        write_fill(file, " ", rest);
    }
}

static void write_plain_row(const struct grid *grid, const char *const *cells, const size_t *widths,
                            FILE *file)
{
    for (size_t j = 0; j < grid->column_count; j++) {
        bool last = j + 1 == grid->column_count;
        (void)fputs("  ", file);
        write_cell(cells[j], grid->columns[j].right, widths[j], !last, file);
    }
    (void)fputc('\n', file);
}

static void write_markdown_row(const struct grid *grid, const char *const *cells,
                               const size_t *widths, FILE *file)
{
    for (size_t j = 0; j < grid->column_count; j++) {
        (void)fputs(j == 0 ? "| " : " | ", file);
        write_cell(cells[j], grid->columns[j].right, widths[j], true, file);
    }
    (void)fputs(" |\n", file);
}

static void write_markdown_head(const struct grid *grid, const size_t *widths, FILE *file)
{
    for (size_t j = 0; j < grid->column_count; j++) {
        (void)fputs("|", file);
        write_fill(file, "-", widths[j] + 1);
        (void)fputs(grid->columns[j].right ? ":" : "-", file);
    }
    (void)fputs("|\n", file);
}

static void write_plain_rule(const char *label, size_t width, const char *piece, FILE *file)
{
    size_t own = grid_width(label);

    (void)fputs("  ", file);
    if (own == 0) {
        write_fill(file, piece, width);
    } else {
        write_fill(file, piece, 4);
        (void)fprintf(file, " %s ", label);
        write_fill(file, piece, width > own + 6 ? width - own - 6 : 0);
    }
    (void)fputc('\n', file);
}

static void write_row(const struct grid *grid, const char *const *cells, const size_t *widths,
                      enum grid_style style, FILE *file)
{
    if (style == GRID_MARKDOWN) {
        write_markdown_row(grid, cells, widths, file);
    } else {
        write_plain_row(grid, cells, widths, file);
    }
}

static void write_rule(const struct grid *grid, const char *label, const size_t *widths,
                       enum grid_style style, FILE *file)
{
    size_t width = 2 * (grid->column_count - 1);

    for (size_t j = 0; j < grid->column_count; j++) {
        width += widths[j];
    }
    write_plain_rule(label, width, style == GRID_UTF8 ? "\xE2\x94\x80" : "-", file);
}

void grid_write(const struct grid *grid, enum grid_style style, FILE *file)
{
    size_t widths[GRID_MAX_COLUMNS] = {0};
    const char *headers[GRID_MAX_COLUMNS];

    find_widths(grid, widths);
    for (size_t j = 0; j < grid->column_count; j++) {
        headers[j] = grid->columns[j].header;
    }
    write_row(grid, headers, widths, style, file);
    if (style == GRID_MARKDOWN) {
        write_markdown_head(grid, widths, file);
    } else {
        write_rule(grid, "", widths, style, file);
    }
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_line *line = &grid->lines[i];
        if (line->rule && style != GRID_MARKDOWN) {
            write_rule(grid, line->cells[0], widths, style, file);
        } else if (!line->rule) {
            write_row(grid, (const char *const *)line->cells, widths, style, file);
        }
    }
}
