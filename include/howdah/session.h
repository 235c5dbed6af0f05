/*
 * howdah/session.h - one connection to PostgreSQL on which every call has a deadline.
 *
 * A session is used by one thread at a time. It never reconnects, retries, logs or sets anything by
 * itself. After HD_TIMEOUT or HD_LOST it is broken: each later call answers HD_LOST at once, and
 * all that is left is to close it, since the server may still be working on the last statement.
 */
#ifndef HOWDAH_SESSION_H
#define HOWDAH_SESSION_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hd_session; /* opaque */

struct hd_session_options {
	const char *conninfo;         /* key=value or URI, as libpq reads it; "" or NULL: libpq's
	                                 environment. Borrowed until hd_session_open returns */
	const char *application_name; /* "howdah:PART:NAME"; NULL leaves it to conninfo */
	const char
	    *server_options; /* "-c name=value ...", behind the `options` of conninfo; NULL: none */
	int host_timeout_ms; /* share of one host of a list, where conninfo has no connect_timeout
	                      */
};

/* Every default: no names, 5 s a host. */
HD_API void hd_session_options_init(struct hd_session_options *o);

/*
 * Connects: the hosts of `conninfo` in their order, each resolved anew and given its own share of
 * the time, so that a black hole never eats it all. The name look-up itself is the system's and
 * can't be bounded. A list of hosts without target_session_attrs means `primary`; `prefer-standby`
 * is left to libpq as a whole. No message ever holds a part of `conninfo` that may be a password.
 * HD_RETRY: nobody could be reached, the message names each host's reason. HD_REFUSED: a server
 * refused (password, database, startup parameter), with SQLSTATE where it sent one. HD_INVALID: the
 * string can't be read. HD_TIMEOUT: the deadline passed.
 */
HD_API HD_MUST_CHECK hd_status hd_session_open(const struct hd_session_options *o, hd_mono deadline,
                                               struct hd_session **ret, struct hd_error *err);

/* Says goodbye to the server and frees. NULL is fine. */
HD_API void hd_session_close(struct hd_session *s);

/*
 * Gives the connection up without a word to the server: our descriptor is closed, no Terminate is
 * sent. For a session whose socket another process has a duplicate of: the server keeps the session
 * and its locks until the last duplicate closes. The session is broken; hd_session_close frees it.
 */
HD_API void hd_session_abandon(struct hd_session *s);

/* The socket, for poll(2); -1 when broken. Borrowed; the next call may change it. */
HD_API int hd_session_socket(const struct hd_session *s);

/* False once a call has answered HD_TIMEOUT or HD_LOST, or the connection is known to be gone. */
HD_API bool hd_session_ok(const struct hd_session *s);

/*
 * From now on the session counts as shared with others, as behind a pooler that multiplexes: each
 * embedded statement brings its own transaction and settings, in one round trip, and nothing is set
 * on the session. `statement_timeout_ms` bounds each on the server.
 */
HD_API void hd_session_share(struct hd_session *s, int64_t statement_timeout_ms);

/*
 * Takes in what has arrived, without waiting: HD_LOST when the server has closed the session. For
 * the loop that polls hd_session_socket() and has nothing to ask.
 */
HD_API HD_MUST_CHECK hd_status hd_session_check(struct hd_session *s, struct hd_error *err);

#ifdef __cplusplus
}
#endif
#endif
