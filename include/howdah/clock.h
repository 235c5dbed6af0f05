/*
 * howdah/clock.h - the one clock of deadlines.
 *
 * Every call that talks to the server takes a deadline: an instant, not a length. The clock is
 * CLOCK_BOOTTIME (clock_gettime(2)): it counts through a suspended machine and never steps. It is a
 * struct, so that seconds, lengths and wall-clock times can't be passed by mistake.
 */
#ifndef HOWDAH_CLOCK_H
#define HOWDAH_CLOCK_H

#include <howdah/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	int64_t ns; /* nanoseconds of CLOCK_BOOTTIME */
} hd_mono;

/* The present instant. Never fails. */
HD_API hd_mono hd_now(void);

/* The instant `ms` milliseconds after `t` (before it, when negative). */
static inline hd_mono hd_after(hd_mono t, int64_t ms)
{
	hd_mono r;

	r.ns = t.ns + ms * 1000000;
	return r;
}

static inline bool hd_before(hd_mono a, hd_mono b)
{
	return a.ns < b.ns;
}

static inline hd_mono hd_earlier(hd_mono a, hd_mono b)
{
	return a.ns < b.ns ? a : b;
}

/* Milliseconds from `from` to `to`, rounded up; negative when `to` comes first. */
static inline int64_t hd_ms_between(hd_mono from, hd_mono to)
{
	int64_t ns = to.ns - from.ns;

	return ns > 0 ? (ns + 999999) / 1000000 : ns / 1000000;
}

/* Milliseconds until `deadline` as poll(2) wants them: 0 when it has passed, INT_MAX at most. */
HD_API int hd_ms_left(hd_mono deadline);

#ifdef __cplusplus
}
#endif
#endif
