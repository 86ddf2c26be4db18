#include "host/app/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t arrived = 0;

static void note(int signal_number)
{
    arrived = signal_number;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

int interrupt_signal(void)
{
    return (int)arrived;
}
