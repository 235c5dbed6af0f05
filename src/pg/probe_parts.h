/* probe_parts.h - the steps of the probe, in their order; see probe.c. */
#ifndef HD_PG_PROBE_PARTS_H
#define HD_PG_PROBE_PARTS_H

#include "base/ids.h"
#include "pg/exec.h"
#include <howdah/probe.h>

/* A probe under way. */
struct hd_probe_run {
	const struct hd_session_options *o;
	hd_mono deadline;
	struct hd_session *a; /* the session that is probed */
	struct hd_session *b; /* its rival; NULL when there is none, or it could not be had */
	bool direct;
	bool multiplexed;
	bool doubtful;   /* something needed for a verdict could not be done */
	int client_port; /* as the server sees it; 0: a unix socket */
	char marker[HD_ID_TEXT];
	bool marker_refused;
	struct hd_probe_report report;
};

/* Adds a line to the report. */
void hd_finding(struct hd_probe_run *p, const char *step, hd_finding_state state,
                const char *format, ...) HD_PRINTF(4, 5);

/* The pid of the backend that answers now. */
HD_MUST_CHECK hd_status hd_probe_pid(struct hd_session *s, hd_mono deadline, int *ret,
                                     struct hd_error *err);

/*
 * Each returns an error only when the session itself fails; what it found is in `p`.
 * open: connects with a marker among the settings. facts: version, recovery, was the marker
 * swallowed. direct: is the backend at the other end of our socket. table: a temporary table with a
 * row. rival: a second session, against which pids are compared. canary: an advisory lock.
 */
HD_MUST_CHECK hd_status hd_probe_open(struct hd_probe_run *p, struct hd_error *err);
HD_MUST_CHECK hd_status hd_probe_facts(struct hd_probe_run *p, struct hd_error *err);
void hd_probe_direct(struct hd_probe_run *p);
HD_MUST_CHECK hd_status hd_probe_table(struct hd_probe_run *p, struct hd_error *err);
HD_MUST_CHECK hd_status hd_probe_rival(struct hd_probe_run *p, struct hd_error *err);
HD_MUST_CHECK hd_status hd_probe_canary(struct hd_probe_run *p, struct hd_error *err);

/* How long the rival may take for what it does. */
#define HD_RIVAL_MS 2000

#endif
