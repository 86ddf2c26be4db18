#include "host/app/options.h"

#include "host/base/size.h"
#include "host/base/units.h"

#include <math.h>
#include <string.h>

enum { NAME_BYTES = 64, MAX_NAMES = 64, LIST_BYTES = 512, HELP_COLUMN = 28, HELP_WIDTH = 80 };

/* Parts of a "a|b|c" list ------------------------------------------------------------------ */

/* The next word of the list at *at, which moves on; false at its end. */
static bool next_word(const char **at, const char **word, size_t *length)
{
    if (*at == NULL || **at == '\0') {
        return false;
    }
    *word = *at;
    *length = strcspn(*at, "|");
    *at += *length + ((*at)[*length] == '|' ? 1 : 0);
    return true;
}

bool options_word(const char *words, const char *text, size_t *out)
{
    const char *word = NULL;
    size_t length = 0;
    size_t index = 0;

    for (const char *at = words; next_word(&at, &word, &length); index++) {
        if (strlen(text) == length && strncmp(text, word, length) == 0) {
            *out = index;
            return true;
        }
    }
    *out = 0;
    return false;
}

/* "a|b|c" -> "a, b, c". */
static void words_text(const char *words, char *text, size_t size)
{
    const char *word = NULL;
    size_t length = 0;
    size_t used = 0;

    text[0] = '\0';
    for (const char *at = words; next_word(&at, &word, &length) && used < size;) {
        int wrote =
            snprintf(text + used, size - used, "%s%.*s", used == 0 ? "" : ", ", (int)length, word);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* The nearest name -------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b, size_t c)
{
    return size_min(a, size_min(b, c));
}

/* Edits (insert, delete, replace) from a to b, names cut to NAME_BYTES - 1 letters. */
static size_t edits(const char *a, const char *b)
{
    size_t row[NAME_BYTES];
    size_t columns = size_min(strlen(b), NAME_BYTES - 1);

    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0' && i < NAME_BYTES - 1; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t above = row[j + 1];
            row[j + 1] = least(above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1));
            diagonal = above;
        }
    }
    return row[columns];
}

const char *options_nearest(const char *text, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t fewest = size_max(1, strlen(text) / 2) + 1;

    for (size_t i = 0; i < count; i++) {
        bool begins = strlen(text) >= 3 && strncmp(names[i], text, strlen(text)) == 0;
        size_t distance = begins ? 1 : edits(text, names[i]);
        if (distance < fewest) {
            fewest = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

static const char *nearest_option(const struct option_table *table, size_t command,
                                  const char *name)
{
    const char *names[MAX_NAMES];
    size_t count = 0;

    for (size_t i = 0; i < table->count && count < MAX_NAMES; i++) {
        if ((table->options[i].commands >> command & 1U) != 0) {
            names[count++] = table->options[i].name;
        }
    }
    return options_nearest(name, names, count);
}

/* Values ------------------------------------------------------------------------------------ */

static enum status bad_word(const struct option *option, const char *what, const char *text)
{
    char list[LIST_BYTES];

    words_text(option->words, list, sizeof list);
    return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not one of: %s", text, list);
}

static enum status parse_word(const struct option *option, const char *what, const char *text,
                              size_t *out)
{
    return options_word(option->words, text, out) ? STATUS_OK : bad_word(option, what, text);
}

static enum status parse_words(const struct option *option, const char *what, const char *text,
                               struct ranges *out)
{
    enum status status = STATUS_OK;

    ranges_fini(out);
    if (text[0] == '\0') {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "the list is empty");
    }
    for (const char *at = text; at != NULL;) {
        char word[NAME_BYTES];
        size_t length = strcspn(at, ",");
        size_t index = 0;
        (void)snprintf(word, sizeof word, "%.*s", (int)size_min(length, NAME_BYTES), at);
        STATUS_TRY(parse_word(option, what, word, &index));
        STATUS_TRY(ranges_add(what, out, index));
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
out:
    return status;
}

/* "TEXT is too large (at most N[: reason])". */
static enum status too_large(const struct option *option, const char *what, const char *text)
{
    return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is too large (at most %zu%s%s)", text,
                       option->maximum != 0 ? option->maximum : SIZE_MAX,
                       option->because != NULL ? ": " : "",
                       option->because != NULL ? option->because : "");
}

static enum status parse_count(const struct option *option, const char *what, const char *text,
                               size_t *out)
{
    size_t word = 0;
    size_t value = 0;

    if (option->words != NULL && options_word(option->words, text, &word)) {
        *out = 0;
        return STATUS_OK;
    }
    if (!units_parse_size(text, &value)) {
        return ranges_is_digits(text) ? too_large(option, what, text)
                                      : STATUS_FAIL(STATUS_BAD_INPUT, what,
                                                    "'%s' is not a whole number of %zu or more",
                                                    text, option->minimum);
    }
    if (value < option->minimum) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is below the least value, %zu", text,
                           option->minimum);
    }
    if (option->maximum != 0 && value > option->maximum) {
        return too_large(option, what, text);
    }
    *out = value;
    return STATUS_OK;
}

static enum status parse_counts(const struct option *option, const char *what, const char *text,
                                struct ranges *out)
{
    enum status status = STATUS_OK;

    STATUS_TRY(ranges_parse(what, text, option->minimum, out));
    for (size_t i = 0; option->maximum != 0 && i < out->count; i++) {
        if (out->values[i] > option->maximum) {
            char value[NAME_BYTES];
            (void)snprintf(value, sizeof value, "%zu", out->values[i]);
            return too_large(option, what, value);
        }
    }
out:
    return status;
}

static enum status parse_pool(const struct option *option, const char *what, const char *text,
                              struct options_pool *out)
{
    size_t bytes = 0;

    if (strcmp(text, "grow") == 0) {
        *out = (struct options_pool){.grow = true};
        return STATUS_OK;
    }
    if (!units_parse_bytes(text, &bytes)) {
        return STATUS_FAIL(
            STATUS_BAD_INPUT, what,
            "'%s' is not a number of bytes: write 65536, 48KiB, 1.5MiB or grow; units are "
            "KiB, MiB, GiB, and kB, MB, GB of 1000",
            text);
    }
    if (bytes < option->minimum) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "%zu bytes are less than the alignment of one allocation, %zu", bytes,
                           option->minimum);
    }
    *out = (struct options_pool){.bytes = bytes};
    return STATUS_OK;
}

static enum status parse_seconds(const struct option *option, const char *what, const char *text,
                                 double *out)
{
    double value = 0.0;

    if (!units_parse_seconds(text, &value) || !(value > 0.0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "'%s' is not a time above 0: write 0.5, 0.5s or 20ms", text);
    }
    if (option->maximum != 0 && value > (double)option->maximum) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is too long (at most %zu s)", text,
                           option->maximum);
    }
    *out = value;
    return STATUS_OK;
}

static enum status parse_factor(const struct option *option, const char *what, const char *text,
                                double *out)
{
    double value = 0.0;

    if (!units_parse_double(text, &value) || !isfinite(value) || value == 0.0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not a finite number other than 0",
                           text);
    }
    if (option->maximum != 0 && fabs(value) > (double)option->maximum) {
        return too_large(option, what, text);
    }
    *out = value;
    return STATUS_OK;
}

static enum status parse_limit(const char *what, const char *text, double *out)
{
    double value = 0.0;

    if (!units_parse_double(text, &value) || !isfinite(value) || !(value > 0.0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not a finite number above 0", text);
    }
    *out = value;
    return STATUS_OK;
}

/* One side of a window. *number: it is one, if perhaps too large. */
static bool parse_reach(const char *text, int64_t *out, bool *number)
{
    bool negative = text[0] == '-';
    bool taken = units_parse_int64(text, out);

    *number = ranges_is_digits(text + (negative ? 1 : 0));
    if (!taken && negative) {
        *out = INT64_MIN;
    }
    return taken;
}

static enum status parse_window(const char *what, const char *text, struct options_window *out)
{
    char left_text[NAME_BYTES];
    int64_t left = 0;
    int64_t right = 0;
    bool left_number = false;
    bool right_number = false;
    size_t length = strcspn(text, ",");
    const char *right_text = text + length + (text[length] == ',' ? 1 : 0);

    (void)snprintf(left_text, sizeof left_text, "%.*s", (int)size_min(length, NAME_BYTES), text);
    bool taken = parse_reach(left_text, &left, &left_number);
    taken = parse_reach(right_text, &right, &right_number) && taken;
    if (text[length] != ',' || !left_number || !right_number) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' is not LEFT,RIGHT in keys, such as 4096,0",
                           text);
    }
    if (left < -1 || right < -1) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "'%s' goes below -1, which means no bound",
                           text);
    }
    if (!taken) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "%s is too large (at most %lld on each side)",
                           text, (long long)INT64_MAX);
    }
    *out = (struct options_window){.left = left, .right = right, .given = true};
    return STATUS_OK;
}

static enum status parse_block(const char *what, const char *text, struct options_block *out)
{
    char rows_text[NAME_BYTES];
    const size_t length = strcspn(text, "x");
    size_t rows = 0;
    size_t keys = 0;

    if (strcmp(text, "auto") == 0) {
        *out = (struct options_block){.automatic = true};
        return STATUS_OK;
    }
    (void)snprintf(rows_text, sizeof rows_text, "%.*s", (int)size_min(length, NAME_BYTES), text);
    if (text[length] != 'x' || !units_parse_size(rows_text, &rows) ||
        !units_parse_size(text + length + 1, &keys) || rows == 0 || keys == 0) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what,
                           "'%s' is neither auto nor MxN, query rows by keys, each 1 or more, such "
                           "as 32x64",
                           text);
    }
    *out = (struct options_block){.rows = rows, .keys = keys};
    return STATUS_OK;
}

static enum status parse_text(const char *what, const char *text, const char **out)
{
    if (text[0] == '\0') {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "the value is empty");
    }
    *out = text;
    return STATUS_OK;
}

static enum status parse_texts(const char *what, const char *text, struct options_texts *out)
{
    if (out->count == OPTIONS_MAX_TEXTS) {
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "given more than %d times", OPTIONS_MAX_TEXTS);
    }
    enum status status = parse_text(what, text, &out->values[out->count]);
    out->count += status == STATUS_OK ? 1 : 0;
    return status;
}

static enum status parse_value(const struct option *option, const char *text, void *field)
{
    char what[NAME_BYTES + 2];

    (void)snprintf(what, sizeof what, "--%s", option->name);
    switch (option->type) {
    case OPTION_FLAG:
        return STATUS_FAIL(STATUS_BAD_INPUT, what, "it takes no value");
    case OPTION_COUNT:
        return parse_count(option, what, text, field);
    case OPTION_COUNTS:
        return parse_counts(option, what, text, field);
    case OPTION_POOL:
        return parse_pool(option, what, text, field);
    case OPTION_SECONDS:
        return parse_seconds(option, what, text, field);
    case OPTION_FACTOR:
        return parse_factor(option, what, text, field);
    case OPTION_LIMIT:
        return parse_limit(what, text, field);
    case OPTION_WINDOW:
        return parse_window(what, text, field);
    case OPTION_BLOCK:
        return parse_block(what, text, field);
    case OPTION_WORD:
        return parse_word(option, what, text, field);
    case OPTION_WORDS:
        return parse_words(option, what, text, field);
    case OPTION_TEXT:
        return parse_text(what, text, field);
    case OPTION_TEXTS:
        return parse_texts(what, text, field);
    }
    return STATUS_FAIL(STATUS_MISUSE, what, "no such type");
}

/* The command line -------------------------------------------------------------------------- */

/* The option of that name which the command takes, else one that another command takes. */
static const struct option *find_option(const struct option_table *table, size_t command,
                                        const char *name)
{
    const struct option *other = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if (strcmp(option->name, name) != 0) {
            continue;
        }
        if ((option->commands >> command & 1U) != 0) {
            return option;
        }
        other = other == NULL ? option : other; /* sweep's, if it has one: it stands first */
    }
    return other;
}

/* `name` stands in the table, but for other commands. */
static void refuse_here(const struct option_table *table, const struct option *option,
                        size_t command, const char *what)
{
    const char *owner = "";

    for (size_t bit = 0; owner[0] == '\0' && option->commands >> bit != 0; bit++) {
        owner = (option->commands >> bit & 1U) != 0 ? table->commands[bit] : "";
    }
    (void)STATUS_FAIL(STATUS_BAD_INPUT, what, "%s does not take it; it is an option of %s",
                      table->commands[command], owner);
}

static void refuse_unknown(const struct option_table *table, size_t command, const char *what)
{
    const char *nearest = nearest_option(table, command, what + 2);

    if (nearest != NULL) {
        (void)STATUS_FAIL(STATUS_BAD_INPUT, what, "no such option; the nearest one is --%s",
                          nearest);
    } else {
        (void)STATUS_FAIL(STATUS_BAD_INPUT, what, "no such option");
    }
}

/* The option that argument `text` ("--name" or "--name=value") names; NULL: STATUS_BAD_INPUT is
 * recorded. */
static const struct option *name_option(const struct option_table *table, size_t command,
                                        const char *text)
{
    char what[NAME_BYTES];

    if (strncmp(text, "--", 2) != 0 || text[2] == '\0') {
        (void)STATUS_FAIL(STATUS_BAD_INPUT, text[0] == '\0' ? "an empty argument" : text,
                          "not an option; options are long, such as --help");
        return NULL;
    }
    (void)snprintf(what, sizeof what, "%.*s", (int)size_min(strcspn(text, "="), sizeof what), text);
    const struct option *option = find_option(table, command, what + 2);
    if (option == NULL) {
        refuse_unknown(table, command, what);
        return NULL;
    }
    if ((option->commands >> command & 1U) == 0) {
        refuse_here(table, option, command, what);
        return NULL;
    }
    return option;
}

enum status options_parse(const struct option_table *table, size_t command, int argc, char **argv,
                          void *target, bool *help)
{
    enum status status = STATUS_OK;

    *help = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            *help = true;
            return STATUS_OK;
        }
        if (strncmp(argv[i], "--help=", strlen("--help=")) == 0) {
            status = STATUS_FAIL(STATUS_BAD_INPUT, "--help", "it takes no value");
            goto out;
        }
        const struct option *option = name_option(table, command, argv[i]);
        if (option == NULL) {
            status = STATUS_BAD_INPUT;
            goto out;
        }
        void *field = (char *)target + option->offset;
        const char *value = strchr(argv[i], '=');
        if (value != NULL) {
            STATUS_TRY(parse_value(option, value + 1, field));
        } else if (option->type == OPTION_FLAG) {
            *(bool *)field = true;
        } else if (i + 1 == argc) {
            status =
                STATUS_FAIL(STATUS_BAD_INPUT, argv[i], "its value %s is missing", option->argument);
            goto out;
        } else {
            STATUS_TRY(parse_value(option, argv[++i], field));
        }
    }
out:
    if (status == STATUS_BAD_INPUT) {
        status_hint("scratchscope %s --help lists the options", table->commands[command]);
    }
    return status;
}

/* --help ------------------------------------------------------------------------------------ */

/* Prints words of `text` from column HELP_COLUMN on, wrapped; the line stands at `column`. */
static void print_wrapped(FILE *file, const char *text, size_t column)
{
    bool fresh = true;

    if (column + 2 > HELP_COLUMN) {
        (void)fprintf(file, "\n");
        column = 0;
    }
    (void)fprintf(file, "%*s", (int)(HELP_COLUMN - column), "");
    column = HELP_COLUMN;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (!fresh && column + 1 + length > HELP_WIDTH) {
            (void)fprintf(file, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
            fresh = true;
        }
        (void)fprintf(file, "%s%.*s", fresh ? "" : " ", (int)length, at);
        column += length + (fresh ? 0 : 1);
        fresh = false;
        at += length;
        at += strspn(at, " ");
    }
    (void)fprintf(file, "\n");
}

static void print_option(FILE *file, const struct option *option)
{
    char text[1024];
    int column = fprintf(file, "  --%s%s%s", option->name, option->argument != NULL ? " " : "",
                         option->argument != NULL ? option->argument : "");

    (void)snprintf(
        text, sizeof text, "%s%s%s%s", option->help, option->standard != NULL ? " [" : "",
        option->standard != NULL ? option->standard : "", option->standard != NULL ? "]" : "");
    print_wrapped(file, text, column > 0 ? (size_t)column : 0);
}

void options_help(const struct option_table *table, size_t command, FILE *file)
{
    const char *section = "";

    for (size_t i = 0; i < table->count; i++) {
        const struct option *option = &table->options[i];
        if ((option->commands >> command & 1U) == 0) {
            continue;
        }
        if (strcmp(section, option->section) != 0) {
            section = option->section;
            (void)fprintf(file, "\n%s\n", section);
        }
        print_option(file, option);
    }
}
