/*
 * leader.h - leader election over the SQL protocol: one answer, several ways.
 *
 * A leader is one node's claim to one role, on one probed session. It never reconnects: a lost
 * session is a lost claim. It is free of process and clock policy: the elector says when to
 * attempt, and what may happen before and after is the table of core/election.
 */
#ifndef HD_FEATURE_LEADER_H
#define HD_FEATURE_LEADER_H

#include "core/takeover.h"
#include "core/trust.h"
#include <howdah/session.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HD_LEADER_CHANNEL "howdah_leader" /* payload: the role that became free */

/* Texts are borrowed for the life of the leader. */
struct hd_leader_options {
	const char *role;
	int64_t key;
	const char *owner;   /* identity of this process start */
	const char *node;    /* for people */
	const char *address; /* for people; may be NULL */
	struct hd_trust_plan plan;
	bool pinned;         /* the session's keepalives can't free the lock early */
	const char *verdict; /* of the probe */
};

/* What one attempt found out. */
struct hd_leader_answer {
	bool held;
	bool taken; /* by this very attempt: `led` says what the taker must know */
	bool paused;
	bool resign; /* the holder is asked to hand over */
	int64_t token;
	hd_mono sent; /* when the statement that `held` rests on was sent */
	struct hd_led_term led;
	char holder[64]; /* node that holds the role while we don't; "" unknown */
	char why[200];   /* held no longer: the reason; paused: the operator's words */
	int roles;       /* how many the database knows, where the attempt registered; else 0 */
};

struct hd_leader;

struct hd_leader_ops {
	const char *name; /* the mode, as registered */
	bool
	    session_bound; /* the claim dies with its session; else hd_leader_move may replace it */
	/*
	 * Not held: reads, competes once. Held: one heartbeat. Neither "somebody else has it" nor
	 * "lost" is an error: they are in the answer. HD_REFUSED: registration conflict, standby,
	 * too many roles. HD_RETRY: a take-over did not end within its bound (see
	 * hd_leader_blockers).
	 */
	hd_status (*attempt)(struct hd_leader *l, hd_mono deadline, struct hd_leader_answer *ret,
	                     struct hd_error *err);
	/* Gives the role up; the command is dead or never ran. */
	hd_status (*resign)(struct hd_leader *l, const char *reason, hd_mono deadline,
	                    struct hd_error *err);
	void (*free)(struct hd_leader *l);
};

/* Common head; a way of election puts its own struct around it. */
struct hd_leader {
	const struct hd_leader_ops *ops;
	struct hd_leader_options o;
	struct hd_session *session; /* borrowed */
	bool held;
	int64_t token;
	bool listens;        /* the session is ours alone */
	int64_t backend_pid; /* as the first heartbeat saw it; 0 before */
	char backend_start[32];
};

/* A lease row: any session will do, also one that is shared; see hd_leader_move. */
hd_status hd_leader_lease_new(struct hd_session *s, const struct hd_leader_options *o,
                              struct hd_leader **ret, struct hd_error *err);

hd_status hd_leader_advisory_new(struct hd_session *s, const struct hd_leader_options *o,
                                 struct hd_leader **ret, struct hd_error *err);

static inline void hd_leader_free(struct hd_leader *l)
{
	if (l != NULL)
		l->ops->free(l);
}

/*
 * Another session for a claim that is not bound to one; the old one is forgotten. `listens`: it is
 * not shared, so a stand-by may listen for the release notice on it.
 */
void hd_leader_move(struct hd_leader *l, struct hd_session *s, bool listens);

/* The row of the role, as everybody may read it; writes nothing. */
struct hd_leader_look {
	bool registered;
	bool paused;
	bool resign;
	bool closing;
	bool in_recovery;
	bool clear;     /* nobody who led before can be running: a late death notice ends a wait */
	bool lock_free; /* nobody holds the advisory lock */
	int64_t token;
	int64_t beat;
	bool owned_by_me; /* the row still names our owner and token */
	char holder[64];
	char pause_reason[200];
};
hd_status hd_leader_look(struct hd_leader *l, hd_mono deadline, struct hd_leader_look *ret,
                         struct hd_error *err);

/* Ends the take-over wait: from its commit on the command may run. HD_LOST when it is not ours. */
hd_status hd_leader_led(struct hd_leader *l, hd_mono deadline, struct hd_error *err);

/* The death notice, on any session: the command of `token` is known to be dead. */
hd_status hd_leader_notice(struct hd_session *s, const struct hd_leader_options *o, int64_t token,
                           const char *reason, hd_mono deadline, struct hd_error *err);

/*
 * Who holds a take-over back, as one line each ("pid 812, user app, psql, for 12s"), through `say`;
 * then ends those sessions as far as the caller may. Answers how many were ended.
 */
hd_status hd_leader_unblock(struct hd_leader *l, void (*say)(void *arg, const char *line),
                            void *arg, hd_mono deadline, int *ret_ended, struct hd_error *err);

/* For the ways of election: the statements that all of them share. */
hd_status hd_leader_register(struct hd_leader *l, hd_mono deadline, int *ret_roles,
                             struct hd_error *err);
hd_status hd_leader_take(struct hd_leader *l, const struct hd_leader_look *seen, hd_mono deadline,
                         struct hd_leader_answer *ret, struct hd_error *err);
hd_status hd_leader_beat(struct hd_leader *l, hd_mono deadline, struct hd_leader_answer *ret,
                         struct hd_error *err);
hd_status hd_leader_release(struct hd_leader *l, const char *reason, hd_mono deadline,
                            struct hd_error *err);

#endif
