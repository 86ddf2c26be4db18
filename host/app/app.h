/* The program: its commands, exit codes, and the one place that prints errors. */
#ifndef HOST_APP_APP_H
#define HOST_APP_APP_H

#include "host/base/status.h"
#include "host/device/device.h"

enum app_exit {
    APP_DONE = 0,
    APP_WRONG = 1,  /* wrong numbers */
    APP_USAGE = 2,  /* usage, bad input, a file that cannot be written */
    APP_DEVICE = 3, /* no usable device, or an OpenCL failure */
    /* 130, 143: interrupted by SIGINT, SIGTERM */
};

/* Runs the program; the result is its exit code. */
int app_main(int argc, char **argv);

/* The commands: argv[0] is the command's name, `program` that of the program. */
int app_sweep(const char *program, int argc, char **argv);
int app_plan(const char *program, int argc, char **argv);
int app_devices(const char *program, int argc, char **argv);
int app_attend(const char *program, int argc, char **argv);
int app_roofline(const char *program, int argc, char **argv);
int app_profile(const char *program, int argc, char **argv);
int app_tune(const char *program, int argc, char **argv);

/* Prints the recorded error to stderr, `scratchscope: error: WHAT: WHY`, with its hint and detail,
 * and gives the exit code of `status`. STATUS_OK prints nothing; STATUS_INTERRUPTED, whose code is
 * 128 + the signal, a line that says so, with the reason if one is recorded. */
int app_finish(enum status status);

/* Prints --help of a command. */
int app_help(int command);

/* Whether the locale of the environment is UTF-8 (LC_ALL, LC_CTYPE, LANG, by hand: the program
 * never sets a locale, so that numbers look alike everywhere). */
bool app_utf8(void);

/* Lists the devices. STATUS_NO_DEVICE, in one line, where there is no platform at all. */
enum status app_list_devices(struct device_list *list) STATUS_MUST_USE;

#endif
