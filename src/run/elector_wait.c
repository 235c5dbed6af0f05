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

/* The exit code of a one-shot node whose time is up. */
static void time_is_up(struct hd_elector *e)
{
	e->exit_code = e->state == HD_ST_PAUSED ? HD_EXIT_REFUSED
	               : !e->c.reached          ? HD_EXIT_UNAVAILABLE
	               : e->c.probe.verdict == HD_VERDICT_STANDBY ||
	                       e->c.probe.verdict == HD_VERDICT_INCONCLUSIVE
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
	if (e->c.session != NULL)
		p.fd = hd_session_socket(e->c.session);
	while (poll(&p, 1, hd_ms_left(until)) < 0 && errno == EINTR)
		hd_elector_reap(e);
	hd_elector_reap(e);
}

static enum hd_event because(struct hd_elector *e, enum hd_event event, const struct hd_error *err)
{
	if (err->message[0] != '\0')
		hd_elector_because(e, "%s", err->message);
	return event;
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
	enum hd_event event;

	hd_log_error(HD_LOG_WARN, why, "event", "take-over blocked", NULL);
	event = hd_candidate_unblock(&e->c, say_blocker, NULL,
	                             hd_after(hd_now(), HD_CANDIDATE_CALL_MS), &ended, &err);
	if (event != HD_EV_NONE)
		return because(e, event, &err);
	if (ended == 0)
		doze(e, hd_after(hd_now(), e->config->retry_ms));
	return HD_EV_NONE;
}

static enum hd_event attempt(struct hd_elector *e, struct hd_leader_answer *ret)
{
	struct hd_error err;
	/* The server bounds a take-over by statement_timeout, one lease; the client a little later.
	 */
	hd_mono deadline = hd_after(hd_now(), e->c.plan.lease_ms + HD_CANDIDATE_CALL_MS);
	enum hd_event event = hd_candidate_attempt(&e->c, deadline, ret, &err);

	if (event == HD_EV_NONE && err.status == HD_RETRY)
		return unblock(e, &err);
	if (event == HD_EV_REFUSED)
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
	return because(e, event, &err);
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
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	doze(e, hd_after(hd_now(), hd_jitter(e->config->retry_ms, hd_random64())));
	return HD_EV_NONE;
}

static enum hd_event next_paused(struct hd_elector *e)
{
	struct hd_error err;
	enum hd_event event;

	if (is_time_up(e))
		return HD_EV_TIME_UP;
	if (!hd_elector_connect(e, &event)) {
		if (event == HD_EV_NONE)
			doze(e, e->connect_due);
		return event;
	}
	e->c.look_due = hd_now();
	event = hd_candidate_look_paused(&e->c, hd_after(hd_now(), HD_CANDIDATE_CALL_MS), &err);
	if (event != HD_EV_NONE)
		return because(e, event, &err);
	doze(e, e->c.look_due);
	return HD_EV_NONE;
}

static enum hd_event next_resting(struct hd_elector *e)
{
	if (!hd_before(hd_now(), e->rest_until))
		return HD_EV_REST_OVER;
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	doze(e, e->rest_until);
	return hd_elector_session_lives(e) ? HD_EV_NONE : HD_EV_LOSS;
}

/* The role is ours, no command runs: heartbeats keep it while the old leader may still run. */
static enum hd_event next_waiting(struct hd_elector *e)
{
	struct hd_error err;
	enum hd_event event;

	if (!hd_before(hd_now(), e->c.wait_until))
		return HD_EV_WAIT_OVER;
	if (is_time_up(e))
		return HD_EV_TIME_UP;
	event = hd_elector_beat_if_due(e);
	if (event != HD_EV_NONE)
		return event;
	event = hd_candidate_look_waiting(&e->c, hd_after(hd_now(), HD_CANDIDATE_CALL_MS), &err);
	if (event != HD_EV_NONE)
		return because(e, event, &err);
	doze(e, hd_earlier(e->c.wait_until, hd_earlier(e->c.look_due, e->c.trust.beat_due)));
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
