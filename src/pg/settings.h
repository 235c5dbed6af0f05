/* settings.h - what a probed session sets for itself. */
#ifndef HD_PG_SETTINGS_H
#define HD_PG_SETTINGS_H

#include <howdah/session.h>
#include <stdint.h>

struct hd_settings {
	int64_t lease_ms; /* the server ends the session after such a silence; 0: leaves it */
	int64_t statement_timeout_ms; /* 0: leaves it */
	bool direct;                  /* the probe's verdict: nothing in between */
};

/*
 * Only after a verdict of direct or session-pooled: one statement sets READ COMMITTED, jit off, an
 * empty search path, quiet notices, and with a lease the idle time-outs and TCP settings that bound
 * the session's life. *ret_pinned: the server will not free a silent session's locks before the
 * lease has passed. That needs a direct connection, since keepalives guard one hop, and a server
 * that took them; over a unix socket no peer is lost silently.
 */
HD_MUST_CHECK hd_status hd_session_settle(struct hd_session *s, const struct hd_settings *want,
                                          hd_mono deadline, bool *ret_pinned, struct hd_error *err);

#endif
