/*
 * candidate.h - one node that competes for one role: its session, its claim, the times of its term.
 *
 * What `howdah run` and the C interface have in common: every call here asks the database one thing
 * and answers with an event of core/election. When to call, what runs meanwhile, and who is told is
 * the caller's. Nothing here waits but for the server, and never past a deadline (a name look-up
 * excepted).
 */
#ifndef HD_FEATURE_CANDIDATE_H
#define HD_FEATURE_CANDIDATE_H

#include "core/election.h"
#include "core/trust.h"
#include "feature/leader.h"
#include <howdah/probe.h>

#define HD_EV_NONE HD_EV_COUNT /* nothing happened */

#define HD_CANDIDATE_CALL_MS 10000 /* the usual time of a call that has no other bound */

struct hd_candidate {
	/* What it was told; borrowed. */
	const char *conninfo;
	const char *application_name;
	const char *role;
	const char *owner;   /* identity of this process start */
	const char *node;    /* for people */
	const char *address; /* for people; may be NULL */
	int64_t key;
	int64_t retry_ms;
	struct hd_trust_plan plan;
	bool by_session; /* the claim dies with its session: advisory */
	bool trust_session;

	/* Where it is. */
	struct hd_session *session; /* NULL: none at this moment */
	struct hd_probe_report probe;
	struct hd_leader *leader;
	struct hd_trust trust;
	hd_mono wait_until;   /* WAITING: the take-over wait */
	hd_mono look_due;     /* the next read of the row */
	int64_t notice_token; /* a death notice that could not be delivered yet; 0: none */
	bool reached;         /* the database, once at least */
	bool beat_owed;       /* the deadline of a caller passed before the answer came */
};

/* A deadline for calls that have a bound of their own. */
static inline hd_mono hd_candidate_far(void)
{
	hd_mono far = { INT64_MAX };

	return far;
}

/* A name for people: the host and enough of the identity to tell two processes apart. */
void hd_candidate_node_name(const char *owner, char *ret, size_t size);

/* Defaults of a way of election where `plan` has 0: 15 s and 45 s, or 10 s and 30 s. */
void hd_candidate_defaults(struct hd_trust_plan *plan, bool by_session);

/*
 * A probed, settled session and a claim on it, if there is none. An undelivered death notice goes
 * first. HD_REFUSED, HD_INVALID: this node may not compete. Anything else passes; afterwards there
 * is no session.
 */
hd_status hd_candidate_connect(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);
void hd_candidate_disconnect(struct hd_candidate *c); /* the claim is over */
void hd_candidate_hang_up(struct hd_candidate *c);    /* only the session is: for lease rows */
/* Another session for a lease row that is held and has none: at once, without a probe. */
hd_status hd_candidate_reopen(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);
void hd_candidate_release(struct hd_candidate *c); /* frees everything */

/* Takes in what has arrived. False: the claim is lost with its session, as `err` says. */
bool hd_candidate_lives(struct hd_candidate *c, struct hd_error *err);

/*
 * STANDBY: one attempt. TAKEN begins the wait, its reason in err->message; PAUSE, REFUSED and LOSS
 * have theirs there. HD_EV_NONE: somebody else has the role, unless err->status is HD_RETRY: a
 * take-over is held back, and hd_candidate_unblock is due.
 */
enum hd_event hd_candidate_attempt(struct hd_candidate *c, hd_mono deadline,
                                   struct hd_leader_answer *ret, struct hd_error *err);

/* Names who holds a take-over back through `say`, and ends them if permitted; see leader.h. */
enum hd_event hd_candidate_unblock(struct hd_candidate *c, void (*say)(void *arg, const char *line),
                                   void *arg, hd_mono deadline, int *ret_ended,
                                   struct hd_error *err);

/*
 * A heartbeat, if one is due, or the rest of one: when `deadline` comes before the answer must, the
 * answer stays owed, and the next call goes on waiting. Otherwise the heartbeat has its own bound.
 * NONE with err->status HD_RETRY: it failed, and is due again soon. LOSS, PAUSE, RESIGN.
 */
enum hd_event hd_candidate_beat(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);

/* LEADING: reads the row, if that is due, for what an operator asks. LOSS, PAUSE, RESIGN. */
enum hd_event hd_candidate_look(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);

/* WAITING: the same; WAIT_OVER when nobody needs to be waited for any more. */
enum hd_event hd_candidate_look_waiting(struct hd_candidate *c, hd_mono deadline,
                                        struct hd_error *err);

/* PAUSED: the same; RESUME. */
enum hd_event hd_candidate_look_paused(struct hd_candidate *c, hd_mono deadline,
                                       struct hd_error *err);

/* Writes that the wait is over: from its commit on the work may run. False: the role is lost. */
bool hd_candidate_led(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);

/*
 * Gives the role up; the work is dead or never ran. What can't be said on this session becomes an
 * undelivered death notice, if the term led, and false is answered.
 */
bool hd_candidate_resign(struct hd_candidate *c, bool led, const char *reason, hd_mono deadline,
                         struct hd_error *err);

/*
 * The work of a lost term is dead. When the session still lives, an ordinary release says more than
 * a notice. False: disconnected, with a death notice for a later session.
 */
bool hd_candidate_bury(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);

/* Delivers the death notice on a session of its own: nothing but one statement is sent on it. */
hd_status hd_candidate_deliver(struct hd_candidate *c, hd_mono deadline, struct hd_error *err);

#endif
