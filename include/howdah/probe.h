/*
 * howdah/probe.h - is this session what it seems? Whether a lock or a LISTEN taken on it would stay
 * with it, or whether a pooler hands its server connection to others between two statements.
 *
 * The probe runs before anything is set, listened to or locked, since all three would land on
 * somebody else's session behind a multiplexing pooler.
 */
#ifndef HOWDAH_PROBE_H
#define HOWDAH_PROBE_H

#include <howdah/session.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_PROBE_MS      10000 /* the usual time for a probe */
#define HD_FINDINGS_MAX  12
#define HD_SERVER_OLDEST 140000 /* server_version_num */

typedef enum {
	HD_VERDICT_INCONCLUSIVE = 0, /* could not be told: refuse, unless trusted */
	HD_VERDICT_DIRECT,           /* the backend itself is at the other end */
	HD_VERDICT_SESSION_POOLED,   /* something is in between, and leaves the session alone */
	HD_VERDICT_MULTIPLEXED, /* statements of others run on the same server session: refuse */
	HD_VERDICT_STANDBY,     /* in recovery or read-only: nothing was tried */
} hd_verdict;

typedef enum {
	HD_FINDING_OK,
	HD_FINDING_BAD,
	HD_FINDING_SKIPPED
} hd_finding_state;

struct hd_finding {
	const char *step; /* "settings", "server", "direct", "temporary table", ...; static */
	hd_finding_state state;
	char text[256]; /* one line */
};

struct hd_probe_report {
	hd_verdict verdict;
	bool trusted; /* inconclusive, and the caller said that it trusts the session */
	bool proxy;   /* something between us and the server showed itself */
	int server_version_num;
	bool in_recovery;
	int backend_pid;            /* as pg_backend_pid() says */
	char system_identifier[24]; /* "" when not readable */
	int64_t timeline;           /* 0 when not readable, or in recovery */
	int64_t round_trip_us;      /* of one short statement */
	int nfindings;
	struct hd_finding finding[HD_FINDINGS_MAX]; /* in the order of the steps */
};

/*
 * Connects with `o` and probes. HD_OK whatever the verdict is; *ret_session is the probed session,
 * which the caller closes, or NULL when it was lost on the way. A second session is opened beside
 * it for a while unless the first proves direct. HD_REFUSED also for a server older than PostgreSQL
 * 14, which is named.
 */
HD_API HD_MUST_CHECK hd_status hd_probe(const struct hd_session_options *o, bool trust_session,
                                        hd_mono deadline, struct hd_session **ret_session,
                                        struct hd_probe_report *ret, struct hd_error *err);

/* HD_OK when the session may be used for locks and LISTEN; else HD_REFUSED, with the way out. */
HD_API HD_MUST_CHECK hd_status hd_probe_judge(const struct hd_probe_report *r,
                                              struct hd_error *err);

/* "direct", "session-pooled", "multiplexed", "standby", "inconclusive". Never NULL. */
HD_API const char *hd_verdict_name(hd_verdict v);

/* "ok", "bad", "skipped". Never NULL. */
HD_API const char *hd_finding_state_name(hd_finding_state state);

#ifdef __cplusplus
}
#endif
#endif
