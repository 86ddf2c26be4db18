/* The part of gbench.h that deals with flags. One table says which are taken, and what to use
 * instead of those that are not. */
#include "bench/gbench_flags.h"

#include "bench/gbench.h"
#include "host/base/units.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FLAG_PREFIX "--benchmark_"

static struct gbench_flags given;

typedef enum status flag_reader(const char *flag, const char *text, struct gbench_flags *out);

static bool word_is_in(const char *word, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcasecmp(word, *list) == 0) {
            return true;
        }
    }
    return false;
}

/* A flag without a value means yes. */
static enum status read_bool(const char *flag, const char *text, bool *out)
{
    static const char *const yes[] = {"", "1", "t", "true", "y", "yes", "on", NULL};
    static const char *const no[] = {"0", "f", "false", "n", "no", "off", NULL};
    *out = text == NULL || word_is_in(text, yes);
    if (*out || word_is_in(text, no)) {
        return STATUS_OK;
    }
    return STATUS_FAIL(STATUS_BAD_INPUT, flag, "\"%s\" is neither true nor false", text);
}

static enum status read_interleaving(const char *flag, const char *text, struct gbench_flags *out)
{
    return read_bool(flag, text, &out->random_interleaving);
}

static enum status read_aggregates_only(const char *flag, const char *text,
                                        struct gbench_flags *out)
{
    return read_bool(flag, text, &out->aggregates_only);
}

static enum status read_dry_run(const char *flag, const char *text, struct gbench_flags *out)
{
    return read_bool(flag, text, &out->dry_run);
}

static enum status read_repetitions(const char *flag, const char *text, struct gbench_flags *out)
{
    size_t count = 0;
    if (!units_parse_size(text, &count) || count < 1 || count > INT_MAX) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "\"%s\" is not a number from 1 to %d", text,
                           INT_MAX);
    }
    out->repetitions = count;
    return STATUS_OK;
}

/* "100x" */
static bool parse_iterations(const char *text, uint64_t *out)
{
    char digits[32];
    size_t count = 0;
    const size_t length = strlen(text);
    if (length < 2 || length > sizeof digits || text[length - 1] != 'x') {
        return false;
    }
    memcpy(digits, text, length - 1);
    digits[length - 1] = '\0';
    if (!units_parse_size(digits, &count) || count < 1 || count > INT64_MAX) {
        return false;
    }
    *out = count;
    return true;
}

static enum status read_min_time(const char *flag, const char *text, struct gbench_flags *out)
{
    out->iterations = 0;
    out->min_time_s = 0;
    if (parse_iterations(text, &out->iterations)) {
        return STATUS_OK;
    }
    if (!units_parse_seconds(text, &out->min_time_s) || !(out->min_time_s > 0)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag,
                           "\"%s\" is not a time above 0 in seconds (0.5 or 0.5s), nor a number "
                           "of iterations (100x)",
                           text);
    }
    return STATUS_OK;
}

static enum status read_warmup(const char *flag, const char *text, struct gbench_flags *out)
{
    if (!units_parse_seconds(text, &out->warmup_s)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "\"%s\" is not a time in seconds, 0 or more",
                           text);
    }
    return STATUS_OK;
}

static enum status no_memory(const char *flag)
{
    return STATUS_FAIL(STATUS_NO_MEMORY, flag, "the host has no memory left");
}

static void drop_filter(struct gbench_flags *flags)
{
    if (flags->filter != NULL) {
        regfree(flags->filter);
        free(flags->filter);
    }
    flags->filter = NULL;
    flags->filter_negated = false;
}

static enum status read_filter(const char *flag, const char *text, struct gbench_flags *out)
{
    char reason[128];
    regex_t *regex = NULL;
    int code = 0;
    drop_filter(out);
    if (strcmp(text, "") == 0 || strcmp(text, "all") == 0) {
        return STATUS_OK;
    }
    regex = malloc(sizeof *regex);
    if (regex == NULL) {
        return no_memory(flag);
    }
    code = regcomp(regex, text[0] == '-' ? text + 1 : text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        (void)regerror(code, regex, reason, sizeof reason);
        free(regex);
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "\"%s\" is not a regular expression: %s", text,
                           reason);
    }
    out->filter = regex;
    out->filter_negated = text[0] == '-';
    return STATUS_OK;
}

/* Takes ownership of text: KEY=VALUE with a key that is not there yet. */
static bool add_context(struct gbench_flags *flags, char *text)
{
    char *equals = strchr(text, '=');
    bool good = flags->context_count < GBENCH_MAX_CONTEXT && equals != NULL && equals != text &&
                strchr(equals + 1, '=') == NULL;
    if (good) {
        *equals = '\0';
        for (size_t i = 0; i < flags->context_count; i++) {
            good = good && strcmp(flags->context[i].key, text) != 0;
        }
    }
    if (!good) {
        free(text);
        return false;
    }
    flags->context[flags->context_count].key = text;
    flags->context[flags->context_count].value = equals + 1;
    flags->context_count++;
    return true;
}

static enum status read_context(const char *flag, const char *text, struct gbench_flags *out)
{
    for (const char *first = text;; first++) {
        const size_t length = strcspn(first, ",");
        char *pair = strndup(first, length);
        if (pair == NULL) {
            return no_memory(flag);
        }
        if (!add_context(out, pair)) {
            return STATUS_FAIL(STATUS_BAD_INPUT, flag,
                               "\"%s\" is not KEY=VALUE,... with different keys, %d at most", text,
                               GBENCH_MAX_CONTEXT);
        }
        first += length;
        if (*first == '\0') {
            return STATUS_OK;
        }
    }
}

struct flag_rule {
    const char *name;    /* behind --benchmark_ */
    flag_reader *read;   /* NULL: not taken ... */
    const char *instead; /* ... and what to do; NULL = taken */
    bool alone;          /* may stand without =VALUE */
};

static const struct flag_rule flag_rules[] = {
    {"filter", read_filter, NULL, false},
    {"repetitions", read_repetitions, NULL, false},
    {"min_time", read_min_time, NULL, false},
    {"min_warmup_time", read_warmup, NULL, false},
    {"enable_random_interleaving", read_interleaving, NULL, true},
    {"report_aggregates_only", read_aggregates_only, NULL, true},
    {"dry_run", read_dry_run, NULL, true},
    {"context", read_context, NULL, false},
    {"format", NULL, "use --format", false},
    {"out", NULL, "use --output", false},
    {"out_format", NULL, "use --format, or an --output whose extension says it", false},
    {"list_tests", NULL, "use the command plan, which lists the rows and runs none", false},
    {"color", NULL, "use --format", false},
    {"counters_tabular", NULL, "use --format table", false},
    {"display_aggregates_only", NULL, "use --benchmark_report_aggregates_only", false},
    {"time_unit", NULL, "use the unit that the results name (time_unit)", false},
    {"perf_counters", NULL, "use perf stat: Debian builds the library without it", false},
};

static const struct flag_rule *find_rule(const char *name)
{
    for (size_t i = 0; i < sizeof flag_rules / sizeof flag_rules[0]; i++) {
        if (strcmp(name, flag_rules[i].name) == 0) {
            return &flag_rules[i];
        }
    }
    return NULL;
}

/* flag: the argument up to its '='; text: what stands behind it, NULL = no '='. */
static enum status read_split_flag(const char *flag, const char *text, struct gbench_flags *out)
{
    const struct flag_rule *rule = find_rule(flag + strlen(FLAG_PREFIX));
    if (rule == NULL) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "Google Benchmark has no such flag");
    }
    if (rule->read == NULL) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "not taken here: %s", rule->instead);
    }
    if (text == NULL && !rule->alone) {
        return STATUS_FAIL(STATUS_BAD_INPUT, flag, "it needs a value: %s=VALUE", flag);
    }
    return rule->read(flag, text, out);
}

static enum status read_flag(const char *argument, struct gbench_flags *out)
{
    const char *equals = strchr(argument, '=');
    char *flag = strndup(argument, strcspn(argument, "="));
    enum status status = STATUS_OK;
    if (flag == NULL) {
        return no_memory(FLAG_PREFIX);
    }
    status = read_split_flag(flag, equals != NULL ? equals + 1 : NULL, out);
    free(flag);
    return status;
}

static void flags_fini(struct gbench_flags *flags)
{
    drop_filter(flags);
    for (size_t i = 0; i < flags->context_count; i++) {
        free(flags->context[i].key);
    }
    memset(flags, 0, sizeof *flags);
}

static bool is_ours(const char *argument)
{
    return strncmp(argument, FLAG_PREFIX, strlen(FLAG_PREFIX)) == 0;
}

/* Index one past the last argument that may be a flag: that of "--", else argc. */
static int options_end(int argc, char **argv)
{
    int end = 0;
    while (end < argc && (end == 0 || strcmp(argv[end], "--") != 0)) {
        end++;
    }
    return end;
}

enum status gbench_init(int *argc, char **argv)
{
    struct gbench_flags flags = {0};
    int end = 0;
    int kept = 0;
    if (argc == NULL || argv == NULL) {
        return STATUS_FAIL(STATUS_MISUSE, "gbench_init", "no arguments");
    }
    end = options_end(*argc, argv);
    for (int i = 1; i < end; i++) {
        const enum status status = is_ours(argv[i]) ? read_flag(argv[i], &flags) : STATUS_OK;
        if (status != STATUS_OK) {
            flags_fini(&flags);
            return status;
        }
    }
    for (int i = 0; i < *argc; i++) {
        if (i == 0 || i >= end || !is_ours(argv[i])) {
            argv[kept++] = argv[i];
        }
    }
    if (kept < *argc) {
        argv[kept] = NULL;
    }
    *argc = kept;
    flags_fini(&given);
    given = flags;
    return STATUS_OK;
}

const struct gbench_flags *gbench_flags_given(void)
{
    return &given;
}

bool gbench_filter_matches(const char *name)
{
    return given.filter == NULL ||
           (regexec(given.filter, name, 0, NULL, 0) == 0) != given.filter_negated;
}

size_t gbench_flag_repetitions(void)
{
    return given.repetitions;
}

double gbench_flag_min_time_s(void)
{
    return given.min_time_s;
}

uint64_t gbench_flag_iterations(void)
{
    return given.iterations;
}

bool gbench_flag_dry_run(void)
{
    return given.dry_run;
}

bool gbench_flag_context(size_t index, const char **key, const char **value)
{
    const bool found = index < given.context_count;
    *key = found ? given.context[index].key : "";
    *value = found ? given.context[index].value : "";
    return found;
}
