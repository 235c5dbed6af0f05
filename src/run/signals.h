/*
 * signals.h - the elector's signals.
 *
 * While no command runs, TERM, INT and QUIT end the process at once, even inside a name look-up
 * that nothing else can interrupt: the kernel closes the session, the server frees the lock. While
 * one runs they are forwarded to it by the handler itself, so that a hanging database call delays
 * nothing, and remembered: the loop begins a planned stop.
 */
#ifndef HD_RUN_SIGNALS_H
#define HD_RUN_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers. `farewell` is the last log line, rendered; borrowed for ever. */
void hd_signals_setup(char *farewell);

/*
 * Nothing runs under a role here: a stop signal ends the process with exit code 0. One that came
 * just before is still remembered: look at hd_signals_stop() afterwards.
 */
void hd_signals_exit_at_once(void);

/*
 * From now on stop signals are remembered; with a guard (`channel`, else -1) the handler tells it:
 * a stop signal is a planned stop with this grace, the others are to be forwarded.
 */
void hd_signals_forward(int channel, int64_t grace_ms);

/* For poll(2): readable after a signal. hd_signals_clear() empties it. */
int hd_signals_fd(void);
void hd_signals_clear(void);

/* For a part that must neither end nor stop for anybody's signal: blocks all but those of faults.
 */
void hd_signals_block(void);

/* The stop signal that came, 0 for none; and whether the guard has been told of it. */
int hd_signals_stop(void);
bool hd_signals_stop_sent(void);

#endif
