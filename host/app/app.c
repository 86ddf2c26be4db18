#include "host/app/app.h"

#include "host/app/attend.h"
#include "host/app/context.h"
#include "host/app/interrupt.h"
#include "host/app/output.h"
#include "host/app/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char usage[] =
    "Usage: scratchscope COMMAND [OPTION...]\n"
    "\n"
    "How many bytes of scratch memory one processing element needs for S key/value\n"
    "tiles of attention: never freed (unscoped), one scope a tile (scoped), scopes\n"
    "within the tile (nested). Where does it stop fitting, is the result still right,\n"
    "and what does recycling cost in time on this device?\n"
    "\n"
    "Commands:\n"
    "  sweep      run every row on an OpenCL device: check it, measure it, time it\n"
    "  plan       the same rows from the recorded program alone, with no device\n"
    "  attend     attention of your own tensors in .npy files, with its footprint\n"
    "  devices    list the OpenCL devices, and this machine\n"
    "  roofline   measure the device's FMA peak and read bandwidth\n"
    "  profile    where the time of a tile goes, and what the arena costs\n"
    "  tune       find the fastest tile that fits a pool, under each policy\n"
    "\n"
    "scratchscope COMMAND --help lists a command's options.\n"
    "\n"
    "  --help     print this help\n"
    "  --version  print the version\n"
    "\n"
    "Exit: 0 done; 1 wrong numbers; 2 usage or bad input; 3 no usable device or an\n"
    "OpenCL failure; 130 and 143 interrupted by SIGINT and SIGTERM.\n";

static const char sweep_intro[] =
    "Usage: scratchscope sweep [OPTION...]\n"
    "\n"
    "Runs flash attention on an OpenCL device, one row for each S, type and policy.\n"
    "Each row is first checked against a double-precision reference and its scratch\n"
    "measured (planned and measured bytes must agree); then it is timed. Policies of\n"
    "one S are timed in pairs, so that ratios between them can be trusted. A row that\n"
    "does not fit its pool is a result: it says which temporary of which tile asked\n"
    "for how much.\n";

static const char sweep_outro[] =
    "\n"
    "Google Benchmark's own flags are taken too: --benchmark_filter=REGEX (rows by\n"
    "name), --benchmark_repetitions=N and --benchmark_min_time=SECONDS (as ours).\n"
    "\n"
    "With --output, stdout still gets the table; with several, --format is stdout's.\n"
    "An interrupted sweep keeps its finished rows; --resume goes on from them.\n"
    "\n"
    "Examples:\n"
    "  scratchscope sweep\n"
    "  scratchscope sweep --tiles 1:64:x2 --dtype f16,f32 --output sweep.json\n"
    "  scratchscope sweep --pool grow --tiles 64 --device cpu --format json\n"
    "\n"
    "Exit: 0 done, rows that overflow included; 1 wrong numbers; 2 usage or bad input;\n"
    "3 no usable device or an OpenCL failure; 130, 143 interrupted.\n";

static const char plan_intro[] =
    "Usage: scratchscope plan [OPTION...]\n"
    "\n"
    "The rows of a sweep without a device and without times: footprint, least possible\n"
    "footprint, overflow, and exact traffic, all from the recorded program.\n";

static const char plan_outro[] =
    "\n"
    "--benchmark_filter=REGEX picks rows by name.\n"
    "\n"
    "Examples:\n"
    "  scratchscope plan --tiles 1,16,17,1024\n"
    "  scratchscope plan --block-m 16:128:x2 --block-n 16:128:x2 --tiles 8 --format csv\n"
    "\n"
    "Exit: 0 done, rows that overflow included; 2 usage or bad input.\n";

static const char attend_intro[] =
    "Usage: scratchscope attend --q Q.npy --k K.npy --v V.npy --out O.npy --lse L.npy\n"
    "                           [OPTION...]\n"
    "\n"
    "Attention of your own tensors, as NumPy saves them: f16, f32 or f64, in C\n"
    "order, [seq, dim], [heads, seq, dim] or [batch, heads, seq, dim]. The result and\n"
    "its LSE (natural log) are written as f32 files of the matching rank, whole or\n"
    "not at all; planned and measured scratch, the error and the time of a launch are\n"
    "printed. A problem that does not fit its pool writes nothing, and says what to\n"
    "change.\n";

static const char attend_outro[] =
    "\n"
    "A few rows are always checked against a double-precision reference; --verify\n"
    "checks all of them, or a large sample of a large problem. A wrong result is\n"
    "written, and said.\n"
    "\n"
    "Example:\n"
    "  python3 -c \"import numpy as n; [n.save(f, n.random.rand(8, 99, 64)) for f in 'qkv']\"\n"
    "  scratchscope attend --q q.npy --k k.npy --v v.npy --out o.npy --lse l.npy\n"
    "\n"
    "Exit: 0 done; 1 wrong numbers; 2 usage, bad input, a pool that is too small;\n"
    "3 no usable device or an OpenCL failure; 130, 143 interrupted.\n";

static const char devices_intro[] =
    "Usage: scratchscope devices [OPTION...]\n"
    "\n"
    "Lists the OpenCL platforms and devices with their limits, what each kernel style\n"
    "supports there, and this machine's cores and caches. The index is what\n"
    "sweep --device takes.\n";

static const char devices_outro[] = "\nExit: 0 done; 3 no OpenCL platform or device.\n";

static const char roofline_intro[] =
    "Usage: scratchscope roofline [OPTION...]\n"
    "\n"
    "Measures what the device can do at most, on all PEs: f32 multiply-adds, and reads\n"
    "of sizes that fit each cache (on a CPU) and of one that only memory holds. A sweep\n"
    "measures the same at its start; its rows tell their share of it. About a second.\n";

static const char roofline_outro[] =
    "\nExit: 0 done; 2 usage; 3 no usable device or an OpenCL failure; 130, 143 interrupted.\n";

static const char profile_intro[] =
    "Usage: scratchscope profile [OPTION...]\n"
    "\n"
    "Where the time of a tile goes: each stage is done twice, or left out, in a build\n"
    "of its own, and timed in pairs with the plain one. And what the arena costs: the\n"
    "offset table, staging v in the arena, and copy_to, each against a shortcut past\n"
    "it. The plain build and every variant that must be right are checked first. The\n"
    "variants are timing aids, never a policy. One value an option.\n";

static const char profile_outro[] =
    "\n"
    "A share is of the plain build's time, with a 95 % interval and the noise floor of\n"
    "plain against plain. Stages that overlap need not add up to 100 %.\n"
    "\n"
    "Examples:\n"
    "  scratchscope profile\n"
    "  scratchscope profile --preset square4096 --dtype f32 --output profile.json\n"
    "\n"
    "Exit: 0 done; 1 wrong numbers; 2 usage, bad input, a pool that is too small;\n"
    "3 no usable device or an OpenCL failure; 130, 143 interrupted (what was measured\n"
    "is kept).\n";

static const char tune_intro[] =
    "Usage: scratchscope tune [OPTION...]\n"
    "\n"
    "Finds the fastest tile (query rows x keys) for one problem in a pool, under each\n"
    "policy: tiles whose planned peak fits are timed on the device, the promising ones\n"
    "first, the slow ones not for long. The fastest of each policy is checked against\n"
    "the double-precision reference and its scratch measured; then those are timed in\n"
    "pairs, which is what scoping buys in this pool. A tile's speed is measured once,\n"
    "for all policies; only the fastest are timed under each. Of a list option one\n"
    "value is taken.\n";

static const char tune_outro[] =
    "\n"
    "The result is kept for this device, problem and pool in $SCRATCHSCOPE_CACHE_DIR,\n"
    "else $XDG_CACHE_HOME/scratchscope, else ~/.cache/scratchscope, and taken from\n"
    "there by --block auto of sweep, plan, profile and attend. An interrupted search\n"
    "prints what it has.\n"
    "\n"
    "Examples:\n"
    "  scratchscope tune\n"
    "  scratchscope tune --preset square4096 --dtype f32 --pool 512KiB --time-limit 30\n"
    "  scratchscope sweep --preset square4096 --dtype f32 --pool 512KiB --block auto\n"
    "\n"
    "Exit: 0 done, no tile that fits included; 1 a fast tile was wrong; 2 usage or bad\n"
    "input; 3 no usable device or an OpenCL failure; 130, 143 interrupted.\n";

static const struct command_text {
    const char *intro;
    const char *outro;
    int (*run)(const char *program, int argc, char **argv);
    void (*options)(FILE *file); /* NULL: settings_help */
} commands[COMMAND_COUNT] = {
    [COMMAND_SWEEP] = {sweep_intro, sweep_outro, app_sweep, NULL},
    [COMMAND_PLAN] = {plan_intro, plan_outro, app_plan, NULL},
    [COMMAND_DEVICES] = {devices_intro, devices_outro, app_devices, NULL},
    [COMMAND_ATTEND] = {attend_intro, attend_outro, app_attend, attend_settings_help},
    [COMMAND_ROOFLINE] = {roofline_intro, roofline_outro, app_roofline, NULL},
    [COMMAND_PROFILE] = {profile_intro, profile_outro, app_profile, NULL},
    [COMMAND_TUNE] = {tune_intro, tune_outro, app_tune, NULL},
};

/* Errors ------------------------------------------------------------------------------------ */

static int exit_code(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return APP_DONE;
    case STATUS_WRONG:
        return APP_WRONG;
    case STATUS_NO_DEVICE:
    case STATUS_OPENCL:
    case STATUS_NO_SPACE: /* of the device: a pool that overflows is a row */
        return APP_DEVICE;
    case STATUS_INTERRUPTED:
        return 128 + (interrupt_signal() != 0 ? interrupt_signal() : SIGINT);
    case STATUS_MISUSE:
    case STATUS_STALE:
    case STATUS_RANGE:
    case STATUS_BAD_INPUT:
    case STATUS_NO_MEMORY:
    case STATUS_IO:
        return APP_USAGE;
    }
    return APP_USAGE;
}

/* A text of an error, which may echo an argument: control characters as \xNN. */
static void print_escaped(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        (void)fprintf(stderr, byte < 0x20 || byte == 0x7F ? "\\x%02X" : "%c", byte);
    }
}

static void print_record(const struct status_record *record)
{
    (void)fputs("scratchscope: error: ", stderr);
    print_escaped(record->what);
    (void)fputs(": ", stderr);
    print_escaped(record->why);
    if (record->hint[0] != '\0') {
        (void)fputs("\nscratchscope: hint: ", stderr);
        print_escaped(record->hint);
    }
    (void)fputc('\n', stderr);
    if (record->detail != NULL && record->detail[0] != '\0') {
        const char *end = record->detail[strlen(record->detail) - 1] == '\n' ? "" : "\n";
        (void)fprintf(stderr, "%s%s", record->detail, end);
    }
}

/* Reasons begin with the word. A report of what was measured has forgotten the reason. */
static void print_interrupted(const struct status_record *record)
{
    const bool told = record->status == STATUS_INTERRUPTED;

    (void)fputs("scratchscope: ", stderr);
    print_escaped(told ? record->why : status_name(STATUS_INTERRUPTED));
    (void)fputc('\n', stderr);
}

int app_finish(enum status status)
{
    if (status == STATUS_INTERRUPTED) {
        print_interrupted(status_last());
    } else if (status != STATUS_OK) {
        print_record(status_last());
    }
    status_clear();
    return exit_code(status);
}

enum status app_list_devices(struct device_list *list)
{
    enum status status = device_list_init(list);

    if (status == STATUS_OK && list->platform_count == 0) {
        status = STATUS_FAIL(STATUS_NO_DEVICE, "OpenCL",
                             "no platform is installed here; install one, such as "
                             "pocl-opencl-icd (apt install pocl-opencl-icd) or your GPU's driver");
    }
    return status;
}

bool app_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') {
            const char *set = strchr(value, '.');
            return set != NULL &&
                   (strncasecmp(set + 1, "UTF-8", 5) == 0 || strncasecmp(set + 1, "UTF8", 4) == 0);
        }
    }
    return false;
}

/* Help and dispatch ------------------------------------------------------------------------- */

static enum status print_text(const char *text)
{
    return output_write(1, "stdout", text, strlen(text));
}

int app_help(int command)
{
    enum status status = STATUS_OK;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    if (file == NULL) {
        return app_finish(STATUS_FAIL(STATUS_NO_MEMORY, "--help", "no memory left"));
    }
    (void)fputs(commands[command].intro, file);
    if (commands[command].options != NULL) {
        commands[command].options(file);
    } else {
        settings_help((enum command)command, file);
    }
    (void)fputs(commands[command].outro, file);
    if (fclose(file) == 0) {
        status = print_text(text);
    }
    free(text);
    return app_finish(status);
}

static int print_version(void)
{
    char text[256];
    const char *commit = context_commit();

    (void)snprintf(text, sizeof text, "scratchscope %s%s%s%s\n", context_version(),
                   commit[0] != '\0' ? " (" : "", commit, commit[0] != '\0' ? ")" : "");
    return app_finish(print_text(text));
}

static enum status refuse_command(const char *name)
{
    const char *names[COMMAND_COUNT];

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = command_name((enum command)i);
    }
    const char *nearest = options_nearest(name, names, COMMAND_COUNT);
    const bool empty = name[0] == '\0';
    name = empty ? "the command" : name;
    enum status status =
        nearest != NULL
            ? STATUS_FAIL(STATUS_BAD_INPUT, name, "no such command; the nearest one is %s", nearest)
            : STATUS_FAIL(STATUS_BAD_INPUT, name, "%s", empty ? "it is empty" : "no such command");
    status_hint("scratchscope --help lists the commands");
    return status;
}

int app_main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        enum status status = STATUS_FAIL(STATUS_BAD_INPUT, "usage", "a command is missing");
        status_hint("scratchscope --help lists the commands");
        return app_finish(status);
    }
    if (strcmp(argv[1], "--help") == 0) {
        return app_finish(print_text(usage));
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version();
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], command_name((enum command)i)) == 0) {
            return commands[i].run(argv[0], argc - 1, argv + 1);
        }
    }
    return app_finish(refuse_command(argv[1]));
}
