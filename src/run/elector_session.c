/* elector_session.c - a probed, settled session for the elector, or when to try again. */
#include "app/exit.h"
#include "app/log.h"
#include "base/ids.h"
#include "run/elector.h"
#include <stdio.h>
#include <string.h>

#define CONNECT_MS 15000

/* Not this time: says why once for each new reason, and when to try again. */
static void try_later(struct hd_elector *e, const char *state, const struct hd_error *err)
{
	static char last[sizeof(err->message)];
	int64_t pause = hd_backoff_next(&e->connect_pause, hd_random64());
	char text[24];

	(void)snprintf(text, sizeof(text), "%lldms", (long long)pause);
	hd_log_error(strcmp(last, err->message) == 0 ? HD_LOG_DEBUG : HD_LOG_WARN, err,
	             HD_LOG_PAIR("state", state), HD_LOG_PAIR("retry", text), NULL);
	(void)snprintf(last, sizeof(last), "%s", err->message);
	e->connect_due = hd_after(hd_now(), pause);
}

bool hd_elector_connect(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err;
	hd_status st;

	*ret_event = HD_EV_NONE;
	if (e->c.leader != NULL && e->c.session != NULL)
		return true;
	if (hd_before(hd_now(), e->connect_due))
		return false;
	st = hd_candidate_connect(&e->c, hd_after(hd_now(), CONNECT_MS), &err);
	if (st == HD_OK) {
		hd_backoff_reset(&e->connect_pause);
		hd_log(HD_LOG_INFO, "event", "connected", "verdict",
		       hd_verdict_name(e->c.probe.verdict), NULL);
		return true;
	}
	if (st == HD_REFUSED || st == HD_INVALID) {
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		hd_elector_because(e, "%s", err.message);
		*ret_event = HD_EV_REFUSED;
	} else {
		try_later(e, e->c.probe.verdict == HD_VERDICT_STANDBY ? "refused" : "standby",
		          &err);
	}
	return false;
}
