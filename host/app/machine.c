#include "host/app/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256, PATH_BYTES = 512 };

static FILE *open_below(const char *root, const char *path)
{
    char whole[PATH_BYTES];

    (void)snprintf(whole, sizeof whole, "%s%s", root, path);
    return fopen(whole, "re");
}

/* First line of a small file of the kernel's; false (and "") where there is none. */
static bool read_line(const char *root, const char *path, char text[LINE_BYTES])
{
    FILE *file = open_below(root, path);
    bool read = file != NULL && fgets(text, LINE_BYTES, file) != NULL;

    if (!read) {
        text[0] = '\0';
    }
    text[strcspn(text, "\n")] = '\0';
    if (file != NULL) {
        (void)fclose(file);
    }
    return read;
}

/* cpufreq counts in kHz; 0 = unknown. */
static double read_mhz(const char *root, const char *name)
{
    char path[PATH_BYTES];
    char text[LINE_BYTES];

    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpufreq/%s", name);
    return read_line(root, path, text) ? strtod(text, NULL) / 1000.0 : 0.0;
}

/* "cpu MHz" of the first CPU, what it runs at now; 0 = unknown. */
static double cpuinfo_mhz(const char *root)
{
    char text[LINE_BYTES];
    double mhz = 0.0;
    FILE *file = open_below(root, "/proc/cpuinfo");

    while (file != NULL && mhz == 0.0 && fgets(text, sizeof text, file) != NULL) {
        const char *colon = strchr(text, ':');
        if (strncmp(text, "cpu MHz", 7) == 0 && colon != NULL) {
            mhz = strtod(colon + 1, NULL);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return mhz;
}

static void read_loads(const char *root, struct machine *out)
{
    char text[LINE_BYTES];

    if (!read_line(root, "/proc/loadavg", text)) {
        return;
    }
    char *at = text;
    char *end = NULL;
    for (size_t i = 0; i < MACHINE_LOADS; i++, at = end) {
        double load = strtod(at, &end);
        if (end == at) {
            return;
        }
        out->loads[out->load_count++] = load;
    }
}

void machine_read(const char *root, struct machine *out)
{
    char text[LINE_BYTES];

    *out = (struct machine){.load_count = 0};
    read_loads(root, out);
    if (read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text)) {
        (void)snprintf(out->governor, sizeof out->governor, "%.31s", text);
    }
    out->current_mhz = read_mhz(root, "scaling_cur_freq");
    if (out->current_mhz == 0.0) {
        out->current_mhz = cpuinfo_mhz(root);
    }
    out->min_mhz = read_mhz(root, "cpuinfo_min_freq");
    out->max_mhz = read_mhz(root, "cpuinfo_max_freq");
}
