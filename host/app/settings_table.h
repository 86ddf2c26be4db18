/* What settings_table.c shares with settings.c: the option table of all commands but attend. */
#ifndef HOST_APP_SETTINGS_TABLE_H
#define HOST_APP_SETTINGS_TABLE_H

#include "host/app/settings.h"

/* Its offsets are into struct settings, its commands are enum command. */
extern const struct option_table settings_table;

#endif
