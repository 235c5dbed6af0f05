/* leadership.h - the inside of howdah/leader.h: a candidate, and what its program knows of it. */
#ifndef HD_FEATURE_LEADERSHIP_H
#define HD_FEATURE_LEADERSHIP_H

#include "base/backoff.h"
#include "base/ids.h"
#include "core/role.h"
#include "feature/candidate.h"
#include <howdah/leader.h>
#include <stdatomic.h>

struct hd_leadership {
	/* What it was told; owned. */
	char *conninfo;
	char *address;
	char role[HD_ROLE_MAX + 1];
	char node[96];
	char owner[HD_ID_TEXT];
	char application_name[80];
	int64_t step_ms;
	int64_t stop_ms;

	/* Where it is; the stepping thread's alone. */
	struct hd_candidate c;
	hd_mono attempt_due; /* STANDBY */
	hd_mono connect_due; /* without a session */
	hd_mono rest_until;  /* RESTING */
	hd_mono stepped;     /* end of the last step */
	hd_mono doubted_at;  /* a step came too late: a heartbeat sent before then proves nothing */
	struct hd_backoff connect_pause;
	bool stopped;        /* the program's word about the term that ended */
	hd_status trouble;   /* of this step */
	struct hd_error why; /* of the state, or the trouble */
	char resign_reason[200];

	/* For any thread. The token changes only while nothing is held. */
	_Atomic int state; /* enum hd_state */
	_Atomic int64_t token;
	_Atomic int64_t held_until; /* nanoseconds of hd_now(); 0: not held */
};

/* leadership_step.c: what happened, and one due call about it. */
enum hd_event hd_leadership_next(struct hd_leadership *l, hd_mono deadline);

/* One event through the table of core/election. */
void hd_leadership_apply(struct hd_leadership *l, enum hd_event event, hd_mono deadline);

/* Tells the other threads until when the role is held. */
void hd_leadership_publish(struct hd_leadership *l);

static inline enum hd_state hd_leadership_state(const struct hd_leadership *l)
{
	return (enum hd_state)atomic_load(&l->state);
}

#endif
