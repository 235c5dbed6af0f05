/*
 * clock_step.h - noticing that the wall clock was set.
 *
 * A virtual machine that is paused from outside does not count the pause; the first sign of it is
 * often that its wall clock is put right. The descriptor costs no wake-up until then
 * (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
 */
#ifndef HD_APP_CLOCK_STEP_H
#define HD_APP_CLOCK_STEP_H

#include <stdbool.h>

/* A descriptor for poll(2), readable after a step; -1 where the kernel has none. */
int hd_clock_step_open(void);

/* Whether the clock was set since the last call; arms it again. */
bool hd_clock_step_seen(int fd);

#endif
