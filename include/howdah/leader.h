/*
 * howdah/leader.h - the leader election of `howdah run` inside a C program.
 *
 * One leadership is one node's part in the election of one role: its own session, and a machine
 * that the program drives from its loop. No thread is started, nothing is logged, no signal is
 * touched.
 *
 *   struct hd_leadership_options o;
 *   hd_leadership_options_init(&o);
 *   o.role = "poller";
 *   hd_leadership_open(&o, &l, &err)
 *   for (;;) {
 *           hd_leadership_step(l, hd_after(hd_now(), 2000), &err);
 *           if (hd_leader_held(l))
 *                   work_a_bit();
 *           else
 *                   hd_leadership_stopped(l);
 *           ... poll(2): hd_leadership_socket(), _wants(), _timeout_ms()
 *   }
 *
 * `howdah run` ends its command when the role is lost. A library can't: the program itself must
 * stop its work. What it promises, in options that other nodes rely on:
 *
 *   - it steps at least every `step_ms` while it leads. A promise that is broken costs nothing but
 *     work: hd_leader_held() is false until a step has asked the database;
 *   - its work looks at hd_leader_held() so often that all of it has stopped `stop_ms` after the
 *     answer became false. Nothing can enforce that. For what must not be written twice, call
 *     howdah.assert_leader(role, token) first in the transaction that writes it: the database then
 *     refuses a leader of the past, however late it comes.
 *
 * Threads: hd_leader_...() may be called by any thread at any time between open and close.
 * hd_leadership_...() belong to one thread at a time. After fork(2) the child must not use the
 * leadership at all, not even close it: leave with _exit(2) or exec.
 *
 * Times are milliseconds. Instants are on the clock of hd_now().
 */
#ifndef HOWDAH_LEADER_H
#define HOWDAH_LEADER_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_leadership; /* opaque */

/* All nodes of a role use the same; another one is refused. */
typedef enum {
	HD_ELECTION_ADVISORY = 0, /* a session advisory lock: quick, needs a session of its own */
	HD_ELECTION_LEASE,        /* a row: works through any pooler, slower to fail over */
} hd_election;

/* Texts are copied by hd_leadership_open. 0 and NULL stand for the default. */
struct hd_leadership_options {
	const char *conninfo; /* as libpq reads it; NULL or "": libpq's environment */
	const char *role;     /* 1 to 63 letters, digits, '.', '_', '-'; no default */
	bool key_given;       /* else the key is a fixed hash of the role */
	int64_t key;          /* of the advisory lock; all nodes of a role use the same */
	hd_election election;
	bool trust_session;   /* of a probe that can't tell: take the session for one of our own */
	int64_t retry_ms;     /* a stand-by tries this often; 2 000 */
	int64_t heartbeat_ms; /* 15 000; lease: 10 000 */
	int64_t lease_ms;     /* 45 000; lease: 30 000 */
	int64_t margin_ms;    /* lease: how much earlier the holder gives up; 5 000 */
	int64_t step_ms;      /* see above; 500, at least 50 */
	int64_t stop_ms;      /* see above; 1 000 */
	const char *node;     /* name for people; the host's with a few random digits */
	const char *address;  /* where the leader can be reached, for people; none */
};

/* Every default. The role must be set afterwards. */
HD_API void hd_leadership_options_init(struct hd_leadership_options *o);

/*
 * Checks the options; does not connect yet. HD_INVALID names what is wrong. The times must fit:
 * heartbeat + its time-out (the same, 10 s at most) + stop_ms + step_ms + 500 ms <= lease - margin.
 * When the server ends the leader's session, its successor waits stop_ms + step_ms + 500 ms.
 */
HD_API HD_MUST_CHECK hd_status hd_leadership_open(const struct hd_leadership_options *o,
                                                  struct hd_leadership **ret, struct hd_error *err);

/*
 * Frees; NULL is fine. No thread may be in a call with it, or begin one. A role that is held is let
 * go by the closing session, after which others wait as if this process had been killed: say
 * hd_leadership_resign() before, once the work has stopped.
 */
HD_API void hd_leadership_close(struct hd_leadership *l);

/*
 * For poll(2), asked anew after each call that may have changed it: the descriptor (-1: none at
 * this moment, which poll(2) passes over), the events to wait for, and the longest time to wait.
 */
HD_API int hd_leadership_socket(const struct hd_leadership *l);
HD_API int hd_leadership_wants(const struct hd_leadership *l);
HD_API int hd_leadership_timeout_ms(const struct hd_leadership *l);

/*
 * One step: finds out what happened, and makes at most one call that is due: connect and probe,
 * compete, a heartbeat, a look at the row. When nothing is due it does not wait at all. Call it
 * when the socket is ready or the time-out has passed; more often does no harm.
 *
 * It never waits longer than `deadline` (a look-up of a host name is the system's and excepted;
 * name an address where that matters). For a stand-by the whole call has to fit, or it is given up
 * with its session and tried again later: 2 s is plenty where the server is near. A leader's
 * heartbeat is not hurt by a short deadline: its answer is waited for by the steps that follow, and
 * none of them waits longer than step_ms / 2 for it (lease: than the deadline). A program whose
 * loop must never wait at all steps in a thread of its own.
 *
 * HD_OK: whatever the state is now. HD_RETRY: trouble that passes, for the log: the database was
 * not reached, or somebody holds a take-over back; go on stepping. HD_LOST: the role was lost in
 * this step; stop the work, call hd_leadership_stopped(), go on stepping. HD_REFUSED: this node may
 * not compete and never will (a pooler that shares sessions, another key or mode); each later step
 * says the same. HD_NOMEM.
 */
HD_API HD_MUST_CHECK hd_status hd_leadership_step(struct hd_leadership *l, hd_mono deadline,
                                                  struct hd_error *err);

/*
 * The program's word that nothing of an ended term's work is running. After hd_leader_held() became
 * false for good (state "lost" or "stopping") the machine stands still until it is said: the role
 * is neither given back nor competed for. In every other state it has no effect, so a loop may say
 * it whenever it is idle. The next step acts on it.
 */
HD_API void hd_leadership_stopped(struct hd_leadership *l);

/*
 * For programs without a loop: steps until the role is held or `deadline` has passed. Calling it
 * says that no work is running. HD_OK: held. HD_TIMEOUT: not held; err tells the last trouble.
 * HD_REFUSED: as of hd_leadership_step. The work that follows has to step as well.
 */
HD_API HD_MUST_CHECK hd_status hd_leadership_wait_until_held(struct hd_leadership *l,
                                                             hd_mono deadline,
                                                             struct hd_error *err);

/*
 * Hands the role over: calling it says that the work has stopped. A successor starts at once. This
 * node does not compete for 2 * retry_ms. `reason` goes into the history; NULL: none. Not the
 * leader: HD_OK, nothing is done. HD_TIMEOUT, HD_LOST, HD_RETRY: nobody could be told; others wait
 * as after a crash, and later steps tell them.
 */
HD_API HD_MUST_CHECK hd_status hd_leadership_resign(struct hd_leadership *l, const char *reason,
                                                    hd_mono deadline, struct hd_error *err);

/*
 * Why the machine is in its state, or what its last trouble was: one line, "" before the first
 * step. Borrowed until the next call with `l`.
 */
HD_API const char *hd_leadership_reason(const struct hd_leadership *l);

/* --- From any thread. None of these waits, locks or asks the server. --- */

/*
 * Whether work may run at this instant: a clock read. It becomes false by itself stop_ms + 500 ms
 * before another node may start, also when this process was stopped in between, or does not step.
 */
HD_API bool hd_leader_held(const struct hd_leadership *l);

/*
 * The token of the term while hd_leader_held(), else 0; for howdah.assert_leader(role, token). It
 * grows from term to term of all nodes, and stays below 2^53. A thread that keeps the token with
 * which it began stops when this is another one: a term may have ended and a new one begun.
 */
HD_API int64_t hd_leader_token(const struct hd_leadership *l);

/*
 * Until when hd_leader_held() stays true if no step comes: an instant, also one that has passed;
 * 0 ns while not leading.
 */
HD_API hd_mono hd_leader_trusted_until(const struct hd_leadership *l);

/* "standby", "waiting", "leading", "stopping", "lost", "paused", "refused". Never NULL; static. */
HD_API const char *hd_leader_state(const struct hd_leadership *l);

#ifdef __cplusplus
}
#endif
#endif
