/* What the files of scratchscope profile share: profile.c runs it, profile_report.c writes it. */
#ifndef HOST_APP_PROFILE_H
#define HOST_APP_PROFILE_H

#include "bench/profile.h"
#include "host/app/context.h"
#include "host/app/format.h"

#include <stdio.h>

struct profile_report {
    const struct context *context; /* */
    const struct cell *cell;       /* planned */
    const struct profile *profile; /* parts that are done */
    bool utf8;                     /* of a table: marks beyond ASCII may be used */
};

/* STATUS_NO_MEMORY. */
enum status profile_write(const struct profile_report *report, enum format format,
                          FILE *file) STATUS_MUST_USE;

#endif
