/* The state of the machine when a run begins: what a reader of its times must know, and what cannot
 * be asked for afterwards. */
#ifndef HOST_APP_MACHINE_H
#define HOST_APP_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum { MACHINE_LOADS = 3, MACHINE_WORD_BYTES = 32 };

struct machine {
    double loads[MACHINE_LOADS];       /* averages of 1, 5 and 15 minutes */
    size_t load_count;                 /* 0 = unknown */
    char governor[MACHINE_WORD_BYTES]; /* of CPU 0's frequency; "" = none */
    double current_mhz;                /* of CPU 0; these three: 0 = unknown */
    double min_mhz;                    /* */
    double max_mhz;                    /* */
};

/* Reads the kernel's files below `root`: "" = this machine's. What is not there stays unknown. */
void machine_read(const char *root, struct machine *out);

#endif
