/* session.h - the inside of a session, for the files of this folder. */
#ifndef HD_PG_SESSION_H
#define HD_PG_SESSION_H

#include "pg/hosts.h"
#include <howdah/session.h>
#include <libpq-fe.h>

struct hd_session {
	PGconn *conn;
	bool broken;
	bool local;  /* a commit was not confirmed by the synchronous standby; broken with it */
	bool leaked; /* abandoned, but the descriptor could not be taken away from libpq */
	int64_t shared_timeout_ms; /* statements are enclosed, with this time-out; 0: not */
	bool patient;              /* a deadline that passes leaves the answer to a later call */
	int owed;                  /* the statement that is not answered yet, plus one; 0: none */
	PGresult *kept;            /* what came of its answer so far; owned */
	hd_mono heard;             /* when the server's last bytes arrived */
	struct hd_host host;       /* the one that answered, with its address */

	/*
	 * Owns each notification (PQfreemem); NULL says that the session is about to be freed.
	 * Without it notifications are thrown away.
	 */
	void (*notified)(void *arg, PGnotify *n);
	void *notified_arg;
};

/* Opens another session at the very address of `like`, with the rest from `o`. */
HD_MUST_CHECK hd_status hd_session_open_beside(const struct hd_session *like,
                                               const struct hd_session_options *o, hd_mono deadline,
                                               struct hd_session **ret, struct hd_error *err);

/* Waits for events of poll(2) on the session's socket; false when the deadline passed first. */
bool hd_session_poll(const struct hd_session *s, short events, hd_mono deadline);

/* Takes in what the socket has and hands out the notifications; false: the connection is gone. */
bool hd_session_consume(struct hd_session *s);

#endif
