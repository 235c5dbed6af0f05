/*
 * ending.h - how a command that looks on ends: INT and TERM end it with 0, wherever it waits, but
 * not within a line of its output. QUIT and HUP stay what they are.
 */
#ifndef HD_CLI_ENDING_H
#define HD_CLI_ENDING_H

#include <howdah/clock.h>

void hd_ending_setup(void);

/* From here on a signal that comes is kept, until it is allowed to end the program. */
void hd_ending_hold(void);
void hd_ending_allow(void);

/* For poll(2) while held: readable once a signal has come; -1 where there was no descriptor. */
int hd_ending_fd(void);

/* Sleeps. */
void hd_ending_sleep(hd_mono until);

#endif
