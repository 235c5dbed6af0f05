/*
 * election.h - the life of one node in one role, as a table of state, event and action.
 *
 * The elector and, under virtual time, a simulator run this table; both election modes share it.
 * There is no clock and no I/O here: the caller says what happened and does what it is told.
 */
#ifndef HD_CORE_ELECTION_H
#define HD_CORE_ELECTION_H

#include <stddef.h>

enum hd_state {
	HD_ST_STANDBY,       /* competes */
	HD_ST_WAITING,       /* has the role; the old leader's command may still run */
	HD_ST_LEADING,       /* its command may run */
	HD_ST_STOPPING,      /* planned stop, then the end */
	HD_ST_STEPPING_DOWN, /* planned stop because somebody asked, then a rest */
	HD_ST_PAUSING,       /* planned stop because the role was paused */
	HD_ST_LOST,        /* the lease is lost; the command's tree is being ended, then stand by */
	HD_ST_LOST_ENDING, /* the same, then the end */
	HD_ST_RESTING,     /* does not compete for a while after it resigned */
	HD_ST_PAUSED,      /* the role is paused everywhere */
	HD_ST_REFUSED,     /* this node may not compete */
	HD_ST_ENDED,
	HD_ST_COUNT,
};

enum hd_event {
	HD_EV_TAKEN,         /* the role was got; the take-over wait begins */
	HD_EV_WAIT_OVER,     /* and is over */
	HD_EV_LOSS,          /* role, lock, session or trust is gone */
	HD_EV_LOSS_FINAL,    /* the same for a one-shot node, which does not compete again */
	HD_EV_SIGNAL,        /* TERM, INT or QUIT */
	HD_EV_COMMAND_ENDED, /* by itself */
	HD_EV_RESIGN,        /* asked to hand over */
	HD_EV_PAUSE,         /* the row says paused */
	HD_EV_RESUME,        /* it no longer does */
	HD_EV_GONE,          /* nothing of the command is alive */
	HD_EV_REST_OVER,
	HD_EV_TIME_UP, /* --wait is over, no command was started */
	HD_EV_REFUSED, /* pooler, standby, key or mode conflict */
	HD_EV_COUNT,
};

enum hd_action {
	HD_ACT_NONE,
	HD_ACT_START,   /* write that we lead, then start the command */
	HD_ACT_GIVE_UP, /* hand back a role that never led here: no word about the dead */
	HD_ACT_DROP,    /* the session is lost and no command runs: close it */
	HD_ACT_STOP,    /* planned: TERM, the grace, KILL; renewals go on */
	HD_ACT_END,     /* unplanned: TERM and KILL before the trust ends */
	HD_ACT_RELEASE, /* the command is dead: clear, then unlock */
	HD_ACT_NOTICE,  /* the command is dead and the session is lost: tell the others */
	HD_ACT_COUNT,
};

struct hd_transition {
	enum hd_state state;
	enum hd_event event;
	enum hd_state next;
	enum hd_action action;
	const char *why; /* for the picture and the log */
};

extern const struct hd_transition hd_transitions[]; /* ended by a row with state HD_ST_COUNT */

/* The row for an event in a state; NULL: nothing changes (a late or a repeated event). */
const struct hd_transition *hd_election_step(enum hd_state state, enum hd_event event);

/* One name a state, for the picture: what the log calls stopping is three of them. */
const char *hd_state_name(enum hd_state state);

/* The word of the log: standby, waiting, leading, stopping, lost, paused, refused, ended. */
const char *hd_state_word(enum hd_state state);
const char *hd_event_word(enum hd_event event);
const char *hd_action_word(enum hd_action action);

#endif
