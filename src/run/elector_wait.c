/* elector_wait.c - what happened: the next event of each state. */
#include "app/exit.h"
#include "app/log.h"
#include "base/error.h"
#include "base/ids.h"
#include "run/elector.h"
#include "run/signals.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#define CALL_MS 10000 /* one call of a stand-by; a leader's heartbeat has its own deadline */

/* The exit code of a one-shot node whose time is up. */
static void time_is_up(struct hd_elector *e)
{
	e->exit_code =
	    e->state == HD_ST_PAUSED ? HD_EXIT_REFUSED
	    : !e->reached            ? HD_EXIT_UNAVAILABLE
	    : e->probe.verdict == HD_VERDICT_STANDBY || e->probe.verdict == HD_VERDICT_INCONCLUSIVE
		? HD_EXIT_REFUSED
		: HD_EXIT_NOT_HELD;
	hd_elector_because(e, "no command was started within --wait %s", e->config->wait);
}

static bool is_time_up(struct hd_elector *e)
{
	if (!e->one_shot || hd_before(hd_now(), e->one_shot_until))
		return false;
	time_is_up(e);
	return true;
}

/* Sleeps until `until`, a release notice, or the end of --wait; the session's closing wakes it. */
static void doze(struct hd_elector *e, hd_mono until)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };

	if (e->one_shot)
		until = hd_earlier(until, e->one_shot_until);
	if (e->session != NULL)
		p.fd = hd_session_socket(e->session);
	while (poll(&p, 1, hd_ms_left(until)) < 0 && errno == EINTR)
		hd_elector_reap(e);
	hd_elector_reap(e);
}

static enum hd_event lost(struct hd_elector *e, const char *what, const struct hd_error *err)
{
	hd_elector_because(e, "%s: %s", what, err->message);
	return HD_EV_LOSS;
}

static void say_blocker(void *arg, const char *line)
{
	(void)arg;
	hd_log(HD_LOG_WARN, "event", "take-over blocked", "by", line, NULL);
}

/* A take-over waits for transactions that asserted the old token; at its bound they are ended. */
static enum hd_event unblock(struct hd_elector *e, const struct hd_error *why)
{
	struct hd_error err;
	int ended = 0;

	hd_log_error(HD_LOG_WARN, why, "event", "take-over blocked", NULL);
	if (hd_leader_unblock(e->leader, say_blocker, NULL, hd_after(hd_now(), CALL_MS), &ended,
	                      &err) != HD_OK)
		return lost(e, "looking for what blocks the take-over", &err);
	if (ended == 0)
		doze(e, hd_after(hd_now(), e->config->retry_ms));
	return HD_EV_NONE;
}

static enum hd_event attempt(struct hd_elector *e, struct hd_leader_answer *ret)
{
	struct hd_error err = { 0 };
	/* The server bounds a take-over by statement_timeout, one lease; the client a little later.
	 */
	hd_mono deadline = hd_after(hd_now(), e->plan.lease_ms + CALL_MS);
	hd_status st = e->leader->ops->attempt(e->leader, deadline, ret, &err);

	switch (st) {
	case HD_OK:
		return HD_EV_NONE;
	case HD_RETRY:
		return unblock(e, &err);
	case HD_REFUSED:
	case HD_INVALID:
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		hd_elector_because(e, "%s", err.message);
		return HD_EV_REFUSED;
	default:
		return lost(e, "the session is lost", &err);
	}
}

static void begin_wait(struct hd_elector *e, const struct hd_leader_answer *answer)
{
	struct hd_takeover t = hd_takeover_wait(&answer->led, e->plan.lease_ms);
	hd_mono now = hd_now();

	hd_trust_begin(&e->trust, &e->plan, answer->sent);
	e->wait_until = hd_after(now, t.wait_ms);
	e->look_due = hd_after(now, e->config->retry_ms);
	hd_elector_because(e, "%s", t.reason);
}

static void warn_of_many(int roles)
{
	char text[16];

	if (roles < 33)
		return;
	(void)snprintf(text, sizeof(text), "%d", roles);
	hd_log(HD_LOG_WARN, "event", "many roles", "roles", text, "hint",
	       "a role is a handful per application, never one per tenant or record; 256 at most",
	       NULL);
}

static enum hd_event next_standby(struct hd_elector *e)
{
	struct hd_leader_answer answer = { 0 };
	enum hd_event event;

	if (!hd_elector_connect(e, &event)) {
		if (event != HD_EV_NONE)
			return event;
		if (is_time_up(e))
			return HD_EV_TIME_UP;
		doze(e, e->connect_due);
		return HD_EV_NONE;
	}
	event = attempt(e, &answer);
	warn_of_many(answer.roles);
	if (event != HD_EV_NONE)
		return event;
	if (answer.taken) {
		begin_wait(e, &answer);
		return HD_EV_TAKEN;
	}
	if (answer.paused) {
		hd_elector_because(e, "paused: %s", answer.why);
		return HD_EV_PAUSE;
	}
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	doze(e, hd_after(hd_now(), hd_jitter(e->config->retry_ms, hd_random64())));
	return HD_EV_NONE;
}

/* Reads the row; a lost session is an event, anything else in it is for the caller. */
static enum hd_event look(struct hd_elector *e, struct hd_leader_look *ret)
{
	struct hd_error err;
	hd_status st = hd_leader_look(e->leader, hd_after(hd_now(), CALL_MS), ret, &err);

	e->look_due = hd_after(hd_now(), e->config->retry_ms);
	if (st == HD_OK)
		return HD_EV_NONE;
	/* A row that is held outlives its session; the heartbeat opens another one. */
	if (e->by_session || !e->leader->held)
		return lost(e, "reading the role", &err);
	*ret = (struct hd_leader_look){ 0 };
	if (!hd_session_ok(e->session))
		hd_elector_hang_up(e);
	return HD_EV_NONE;
}

static enum hd_event next_paused(struct hd_elector *e)
{
	struct hd_leader_look seen;
	enum hd_event event;

	if (is_time_up(e))
		return HD_EV_TIME_UP;
	if (!hd_elector_connect(e, &event)) {
		if (event == HD_EV_NONE)
			doze(e, e->connect_due);
		return event;
	}
	event = look(e, &seen);
	if (event != HD_EV_NONE)
		return event;
	if (!seen.paused)
		return HD_EV_RESUME;
	doze(e, e->look_due);
	return HD_EV_NONE;
}

static enum hd_event next_resting(struct hd_elector *e)
{
	if (!hd_before(hd_now(), e->rest_until))
		return HD_EV_REST_OVER;
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	doze(e, e->rest_until);
	return e->session == NULL || hd_elector_session_lives(e) ? HD_EV_NONE : HD_EV_LOSS;
}

/* The role is ours, no command runs: heartbeats keep it while the old leader may still run. */
static enum hd_event next_waiting(struct hd_elector *e)
{
	struct hd_leader_look seen;
	enum hd_event event;

	if (!hd_before(hd_now(), e->wait_until))
		return HD_EV_WAIT_OVER;
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	event = hd_elector_beat_if_due(e);
	if (event != HD_EV_NONE)
		return event;
	if (e->session != NULL && !hd_before(hd_now(), e->look_due)) {
		event = look(e, &seen);
		if (event != HD_EV_NONE)
			return event;
		if (seen.paused)
			return HD_EV_PAUSE;
		if (seen.resign)
			return HD_EV_RESIGN;
		if (seen.clear)
			return HD_EV_WAIT_OVER;
	}
	doze(e, hd_earlier(e->wait_until, hd_earlier(e->look_due, e->trust.beat_due)));
	return hd_elector_session_lives(e) ? HD_EV_NONE : HD_EV_LOSS;
}

enum hd_event hd_elector_next(struct hd_elector *e)
{
	switch (e->state) {
	case HD_ST_STANDBY:
		return next_standby(e);
	case HD_ST_PAUSED:
		return next_paused(e);
	case HD_ST_RESTING:
		return next_resting(e);
	case HD_ST_WAITING:
		return next_waiting(e);
	default:
		return hd_elector_term(e);
	}
}
