/* SIGINT and SIGTERM end a sweep after the launch under way; what was measured is kept. */
#ifndef HOST_APP_INTERRUPT_H
#define HOST_APP_INTERRUPT_H

#include <stdbool.h>

/* Catches both from now on. The second one ends the program at once, as if never caught. */
void interrupt_catch(void);

/* The signal that has arrived; 0 = none. */
int interrupt_signal(void);

#endif
