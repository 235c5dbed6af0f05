/* elector_session.c - a probed, settled session for the elector, or when to try again. */
#include "app/exit.h"
#include "app/log.h"
#include "base/error.h"
#include "base/ids.h"
#include "pg/settings.h"
#include "run/elector.h"
#include <stdio.h>
#include <string.h>

#define CONNECT_MS 15000
#define NOTICE_MS  5000

void hd_elector_hang_up(struct hd_elector *e)
{
	if (e->leader != NULL)
		hd_leader_move(e->leader, NULL, false);
	hd_session_close(e->session);
	e->session = NULL;
}

void hd_elector_disconnect(struct hd_elector *e)
{
	if (e->leader != NULL)
		e->leader->held = false;
	if (e->by_session) {
		hd_leader_free(e->leader);
		e->leader = NULL;
	}
	hd_elector_hang_up(e);
}

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

/* What the probe's verdict means for somebody who wants to lead here. */
static hd_status judge(const struct hd_elector *e, struct hd_error *err)
{
	hd_status st;

	/* A row needs no session of its own, only a server that accepts writes. */
	if (!e->by_session && e->probe.verdict != HD_VERDICT_STANDBY)
		return HD_OK;
	st = hd_probe_judge(&e->probe, err);
	/* A standby may be promoted and a full pool may empty; a multiplexer stays one. */
	if (st != HD_REFUSED || e->probe.verdict == HD_VERDICT_MULTIPLEXED)
		return st;
	err->status = HD_RETRY;
	return HD_RETRY;
}

/* The probe, then our settings: never the other way round, a shared session must stay clean. */
static hd_status open_session(struct hd_elector *e, bool *ret_pinned, struct hd_error *err)
{
	struct hd_session_options o;
	hd_mono deadline = hd_after(hd_now(), CONNECT_MS);
	struct hd_settings want;
	hd_status st;

	hd_session_options_init(&o);
	o.conninfo = e->conninfo;
	o.application_name = e->application_name;
	st = hd_probe(&o, e->config->trust_session, deadline, &e->session, &e->probe, err);
	if (st != HD_OK)
		return st;
	e->reached = true;
	st = judge(e, err);
	if (st != HD_OK)
		return st;
	if (e->session == NULL)
		return hd_fail(err, HD_LOST, "the session was lost during the probe");
	if (!e->by_session) {
		hd_session_share(e->session, e->plan.lease_ms);
		return HD_OK;
	}
	want = (struct hd_settings){
		.lease_ms = e->plan.lease_ms,
		.statement_timeout_ms = e->plan.lease_ms,
		.direct = e->probe.verdict == HD_VERDICT_DIRECT,
	};
	return hd_session_settle(e->session, &want, hd_after(hd_now(), CONNECT_MS), ret_pinned,
	                         err);
}

/* Whether what is listened to on this session stays with it. */
static bool is_own_session(const struct hd_elector *e)
{
	return e->probe.verdict == HD_VERDICT_DIRECT ||
	       e->probe.verdict == HD_VERDICT_SESSION_POOLED;
}

static hd_status make_claim(struct hd_elector *e, const struct hd_leader_options *o,
                            struct hd_error *err)
{
	hd_status st = HD_OK;

	if (e->by_session)
		return hd_leader_advisory_new(e->session, o, &e->leader, err);
	/* What a stand-by has watched so far outlives the session on which it did. */
	if (e->leader == NULL)
		st = hd_leader_lease_new(e->session, o, &e->leader, err);
	if (st == HD_OK)
		hd_leader_move(e->leader, e->session, is_own_session(e));
	return st;
}

hd_status hd_elector_call_again(struct hd_elector *e, hd_mono deadline, struct hd_error *err)
{
	struct hd_session_options o;
	hd_status st;

	hd_session_options_init(&o);
	o.conninfo = e->conninfo;
	o.application_name = e->application_name;
	st = hd_session_open(&o, deadline, &e->session, err);
	if (st != HD_OK)
		return st;
	hd_session_share(e->session, e->plan.lease_ms);
	hd_leader_move(e->leader, e->session, false);
	return HD_OK;
}

static hd_status open_claim(struct hd_elector *e, struct hd_error *err)
{
	bool pinned = false;
	struct hd_leader_options o;
	hd_status st = open_session(e, &pinned, err);

	if (st != HD_OK)
		return st;
	o = (struct hd_leader_options){
		.role = e->config->role,
		.key = e->key,
		.owner = e->id,
		.node = e->node,
		.address = e->config->address,
		.plan = e->plan,
		.pinned = pinned,
		.verdict = hd_verdict_name(e->probe.verdict),
	};
	/* An undelivered death notice comes first: it may spare everybody a lease of waiting. */
	if (e->notice_token != 0) {
		st = hd_leader_notice(e->session, &o, e->notice_token, "delivered late",
		                      hd_after(hd_now(), NOTICE_MS), err);
		if (st == HD_OK)
			e->notice_token = 0;
	}
	if (st == HD_OK)
		st = make_claim(e, &o, err);
	return st;
}

bool hd_elector_connect(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err;
	hd_status st;

	*ret_event = HD_EV_NONE;
	if (e->leader != NULL && e->session != NULL)
		return true;
	if (hd_before(hd_now(), e->connect_due))
		return false;
	st = open_claim(e, &err);
	if (st == HD_OK) {
		hd_backoff_reset(&e->connect_pause);
		hd_log(HD_LOG_INFO, "event", "connected", "verdict",
		       hd_verdict_name(e->probe.verdict), NULL);
		return true;
	}
	hd_elector_disconnect(e);
	if (st == HD_REFUSED || st == HD_INVALID) {
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		hd_elector_because(e, "%s", err.message);
		*ret_event = HD_EV_REFUSED;
	} else {
		try_later(e, e->probe.verdict == HD_VERDICT_STANDBY ? "refused" : "standby", &err);
	}
	return false;
}
