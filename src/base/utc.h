/* utc.h - an instant of the wall clock as text, without the C library's time zones. */
#ifndef HD_BASE_UTC_H
#define HD_BASE_UTC_H

#include <time.h>

#define HD_UTC_TEXT 25 /* "2026-11-30T21:40:42.123Z" and its end */

/*
 * The time now, in UTC with milliseconds, for the years 1970 to 9999. May be called from a signal
 * handler, which gmtime_r(3) and strftime(3) may not.
 */
void hd_utc_now(char text[HD_UTC_TEXT]);

/* The same for any time: days are counted as in the proleptic Gregorian calendar. */
void hd_utc_format(const struct timespec *t, char text[HD_UTC_TEXT]);

#endif
