/*
 * ending.h - when a guarded command must end: the guard's decisions without the guard's processes.
 *
 * Every instant comes from the caller, on its own clock. The guard does what it is told here and a
 * simulator runs the same under virtual time.
 */
#ifndef HD_CORE_ENDING_H
#define HD_CORE_ENDING_H

#include <howdah/clock.h>

enum hd_ending_phase {
	HD_ENDING_NONE,    /* the command runs */
	HD_ENDING_PLANNED, /* until kill_at, or the end of the trust */
	HD_ENDING_LOST,    /* until kill_at; trust that comes now is too late */
	HD_ENDING_OVER,    /* swept; nothing is left to do */
};

/* Lengths in milliseconds. Zero but for trusted_until and the lengths when the command starts. */
struct hd_ending {
	enum hd_ending_phase phase;
	hd_mono trusted_until;
	hd_mono kill_at; /* while PLANNED or LOST */
	int64_t lost_grace_ms;
	int64_t kill_margin_ms;
};

/* Nothing of a loss has been seen yet. */
bool hd_ending_held(const struct hd_ending *e);

/* The last instant at which anything of the command may be alive. */
hd_mono hd_ending_last(const struct hd_ending *e);

/* When the next of the two below becomes true. */
hd_mono hd_ending_due(const struct hd_ending *e);
bool hd_ending_trust_over(const struct hd_ending *e, hd_mono now); /* then lose it */
bool hd_ending_kill_due(const struct hd_ending *e, hd_mono now);   /* then kill and sweep */

/* An older one than before changes nothing. */
void hd_ending_trust(struct hd_ending *e, hd_mono until);

/* A planned stop; a second one can only shorten the grace. */
void hd_ending_stop(struct hd_ending *e, int64_t grace_ms, hd_mono now);

/* The lease is lost. True when there is time to ask the command to end before it is killed. */
bool hd_ending_lose(struct hd_ending *e, hd_mono now);

#endif
