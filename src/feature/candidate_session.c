/* candidate_session.c - a probed, settled session and the claim on it. */
#include "base/error.h"
#include "feature/candidate.h"
#include "pg/settings.h"
#include <stdio.h>
#include <unistd.h>

void hd_candidate_node_name(const char *owner, char *ret, size_t size)
{
	char host[64] = "";

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(ret, size, "%s-%.8s", host[0] != '\0' ? host : "node", owner);
}

void hd_candidate_defaults(struct hd_trust_plan *plan, bool by_session)
{
	if (plan->heartbeat_ms == 0)
		plan->heartbeat_ms = by_session ? 15000 : 10000;
	if (plan->lease_ms == 0)
		plan->lease_ms = by_session ? 45000 : 30000;
	if (by_session)
		plan->margin_ms = 0;
}

void hd_candidate_hang_up(struct hd_candidate *c)
{
	if (c->leader != NULL)
		hd_leader_move(c->leader, NULL, false);
	hd_session_close(c->session);
	c->session = NULL;
	c->beat_owed = false;
}

void hd_candidate_disconnect(struct hd_candidate *c)
{
	if (c->leader != NULL)
		c->leader->held = false;
	if (c->by_session) {
		hd_leader_free(c->leader);
		c->leader = NULL;
	}
	hd_candidate_hang_up(c);
}

void hd_candidate_release(struct hd_candidate *c)
{
	hd_candidate_disconnect(c);
	hd_leader_free(c->leader);
	c->leader = NULL;
}

/* What the probe's verdict means for somebody who wants to lead here. */
static hd_status judge(const struct hd_candidate *c, struct hd_error *err)
{
	hd_status st;

	/* A row needs no session of its own, only a server that accepts writes. */
	if (!c->by_session && c->probe.verdict != HD_VERDICT_STANDBY)
		return HD_OK;
	st = hd_probe_judge(&c->probe, err);
	/* A standby may be promoted and a full pool may empty; a multiplexer stays one. */
	if (st != HD_REFUSED || c->probe.verdict == HD_VERDICT_MULTIPLEXED)
		return st;
	if (err != NULL)
		err->status = HD_RETRY;
	return HD_RETRY;
}

static struct hd_session_options session_options(const struct hd_candidate *c)
{
	struct hd_session_options o;

	hd_session_options_init(&o);
	o.conninfo = c->conninfo;
	o.application_name = c->application_name;
	return o;
}

/* The probe, then our settings: never the other way round, a shared session must stay clean. */
static hd_status open_session(struct hd_candidate *c, hd_mono deadline, bool *ret_pinned,
                              struct hd_error *err)
{
	struct hd_session_options o = session_options(c);
	struct hd_settings want;
	hd_status st = hd_probe(&o, c->trust_session, deadline, &c->session, &c->probe, err);

	if (st != HD_OK)
		return st;
	c->reached = true;
	st = judge(c, err);
	if (st != HD_OK)
		return st;
	if (c->session == NULL)
		return hd_fail(err, HD_LOST, "the session was lost during the probe");
	if (!c->by_session) {
		hd_session_share(c->session, c->plan.lease_ms);
		return HD_OK;
	}
	want = (struct hd_settings){
		.lease_ms = c->plan.lease_ms,
		.statement_timeout_ms = c->plan.lease_ms,
		.direct = c->probe.verdict == HD_VERDICT_DIRECT,
	};
	return hd_session_settle(c->session, &want, deadline, ret_pinned, err);
}

/* Whether what is listened to on this session stays with it. */
static bool is_own_session(const struct hd_candidate *c)
{
	return c->probe.verdict == HD_VERDICT_DIRECT ||
	       c->probe.verdict == HD_VERDICT_SESSION_POOLED;
}

static hd_status make_claim(struct hd_candidate *c, const struct hd_leader_options *o,
                            struct hd_error *err)
{
	hd_status st = HD_OK;

	if (c->by_session)
		return hd_leader_advisory_new(c->session, o, &c->leader, err);
	/* What a stand-by has watched so far outlives the session on which it did. */
	if (c->leader == NULL)
		st = hd_leader_lease_new(c->session, o, &c->leader, err);
	if (st == HD_OK)
		hd_leader_move(c->leader, c->session, is_own_session(c));
	return st;
}

static hd_status open_claim(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	bool pinned = false;
	struct hd_leader_options o;
	hd_status st = open_session(c, deadline, &pinned, err);

	if (st != HD_OK)
		return st;
	o = (struct hd_leader_options){
		.role = c->role,
		.key = c->key,
		.owner = c->owner,
		.node = c->node,
		.address = c->address,
		.plan = c->plan,
		.pinned = pinned,
		.verdict = hd_verdict_name(c->probe.verdict),
	};
	/* An undelivered death notice comes first: it may spare everybody a lease of waiting. */
	if (c->notice_token != 0) {
		st = hd_leader_notice(c->session, &o, c->notice_token, "delivered late", deadline,
		                      err);
		if (st == HD_OK)
			c->notice_token = 0;
	}
	return st == HD_OK ? make_claim(c, &o, err) : st;
}

hd_status hd_candidate_connect(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	hd_status st;

	if (c->leader != NULL && c->session != NULL)
		return HD_OK;
	st = open_claim(c, deadline, err);
	if (st != HD_OK)
		hd_candidate_disconnect(c);
	return st;
}

hd_status hd_candidate_reopen(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	struct hd_session_options o = session_options(c);
	hd_status st;

	if (c->session != NULL)
		return HD_OK;
	st = hd_session_open(&o, deadline, &c->session, err);
	if (st != HD_OK)
		return st;
	hd_session_share(c->session, c->plan.lease_ms);
	hd_leader_move(c->leader, c->session, false);
	return HD_OK;
}

hd_status hd_candidate_deliver(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	struct hd_session_options o = session_options(c);
	struct hd_leader_options lo = { .role = c->role, .owner = c->owner };
	struct hd_session *s = NULL;
	hd_status st = hd_session_open(&o, deadline, &s, err);

	if (st == HD_OK)
		st =
		    hd_leader_notice(s, &lo, c->notice_token, "the command is dead", deadline, err);
	if (st == HD_OK)
		c->notice_token = 0;
	hd_session_close(s);
	return st;
}
