/* elector_act.c - what the table asks for. */
#include "app/exit.h"
#include "app/log.h"
#include "base/base.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/point.h"
#include "run/elector.h"
#include "run/signals.h"
#include <signal.h>

#define RELEASE_MS     5000
#define GUARD_START_MS 5000
#define GUARD_SLACK_MS 2000 /* a guard that has not answered this long after it should is hung */

static void deliver_notice(struct hd_elector *e)
{
	struct hd_error err;

	/* A name look-up can't be bounded: from here on a signal ends it. */
	hd_signals_exit_at_once();
	if (hd_candidate_deliver(&e->c, hd_after(hd_now(), RELEASE_MS), &err) != HD_OK)
		hd_log_error(HD_LOG_WARN, &err, "event", "death notice not delivered", NULL);
}

/* Gives the role back. What can't be said on this session becomes a death notice. */
static bool release(struct hd_elector *e, bool led, const char *reason)
{
	struct hd_error err;

	HD_POINT("elector-before-release");
	if (hd_candidate_resign(&e->c, led, reason, hd_after(hd_now(), RELEASE_MS), &err))
		return true;
	hd_log_error(HD_LOG_WARN, &err, "event", "release failed", NULL);
	return false;
}

static bool act_start(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err;

	HD_POINT("elector-before-led");
	if (!hd_candidate_led(&e->c, hd_candidate_far(), &err)) {
		hd_elector_because(e, "%s", err.message);
		*ret_event = HD_EV_LOSS;
		return true;
	}
	HD_POINT("elector-after-led");
	if (e->config->command == NULL)
		return false;
	return hd_elector_start_command(e, ret_event);
}

bool hd_elector_start_command(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_guard_start start = {
		.argv = e->config->command,
		.role = e->config->role,
		.node = e->node,
		.token = e->c.leader->token,
		.trusted_until = e->c.trust.trusted_until,
		.lost_grace_ms = (int)e->c.plan.lost_grace_ms,
		.kill_margin_ms = HD_KILL_MARGIN_MS,
		/* A row outlives its session: only the trust counts. */
		.lease_fd = e->c.by_session ? hd_session_socket(e->c.session) : -1,
		.watchdog_ms = (int)e->config->watchdog_ms,
		.contain = e->contain,
	};
	struct hd_error err;

	e->restarting = false;
	e->guard_stops = false;
	if (hd_guard_start(&start,
	                   hd_earlier(hd_after(hd_now(), GUARD_START_MS), e->c.trust.trusted_until),
	                   &e->guard, &err) == HD_OK) {
		e->guarded = true;
		e->guard_silent = false;
		e->survivors_named = false;
		hd_elector_signals_forward(e);
		return false;
	}
	hd_log_error(HD_LOG_ERROR, &err, "event", "guard not started", NULL);
	hd_elector_because(e, "%s", err.message);
	e->exit_code = HD_EXIT_BUG;
	*ret_event = HD_EV_COMMAND_ENDED;
	return true;
}

static bool act_give_up(struct hd_elector *e, enum hd_event *ret_event)
{
	(void)ret_event;
	(void)release(e, false, "given up while waiting");
	e->rest_until = hd_after(hd_now(), 2 * e->config->retry_ms);
	return false;
}

static bool act_drop(struct hd_elector *e, enum hd_event *ret_event)
{
	(void)ret_event;
	hd_candidate_disconnect(&e->c);
	return false;
}

/* A guard that can't be told is ended by hand. */
static void send_order(struct hd_elector *e, hd_status st, const struct hd_error *err)
{
	if (st == HD_OK)
		return;
	hd_log_error(HD_LOG_WARN, err, "event", "guard unreachable", NULL);
	e->stop_until = hd_now();
}

static bool act_stop(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err;

	(void)ret_event;
	if (!e->guarded)
		return false;
	e->stop_until =
	    hd_after(hd_now(), e->config->grace_ms + HD_KILL_MARGIN_MS + GUARD_SLACK_MS);
	/* A signal that came while a guard lived was passed on by its handler. */
	if (!hd_signals_stop_sent() && !e->guard_stops)
		send_order(e,
		           hd_guard_stop(&e->guard,
		                         hd_signals_stop() != 0 ? hd_signals_stop() : SIGTERM,
		                         e->config->grace_ms, &err),
		           &err);
	return false;
}

static bool act_end(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err;

	(void)ret_event;
	if (!e->guarded)
		return false;
	/* Whoever takes the role may wait no longer than lost-grace and the kill margin: a guard
	   that hangs is ended early enough for the sweep to be over by then. So may nobody who
	   takes a row that stood still, and waits for nothing: the trust ends before that. */
	e->stop_until =
	    hd_earlier(hd_after(hd_now(), e->c.plan.lost_grace_ms + HD_KILL_MARGIN_MS / 2),
	               hd_after(e->c.trust.trusted_until, -HD_KILL_MARGIN_MS / 2));
	send_order(e, hd_guard_lose(&e->guard, &err), &err);
	return false;
}

static bool act_release(struct hd_elector *e, enum hd_event *ret_event)
{
	(void)ret_event;
	e->rest_until = hd_after(hd_now(), 2 * e->config->retry_ms);
	if (!release(e, true, e->stop_reason))
		deliver_notice(e);
	return false;
}

/* The tree is dead and the role is lost. */
static bool act_notice(struct hd_elector *e, enum hd_event *ret_event)
{
	struct hd_error err = { 0 };

	(void)ret_event;
	if (hd_candidate_bury(&e->c, hd_after(hd_now(), RELEASE_MS), &err)) {
		if (e->state == HD_ST_STANDBY)
			hd_candidate_disconnect(&e->c);
		return false;
	}
	if (err.message[0] != '\0')
		hd_log_error(HD_LOG_WARN, &err, "event", "release failed", NULL);
	if (e->state == HD_ST_ENDED && e->c.notice_token != 0)
		deliver_notice(e);
	return false;
}

bool hd_elector_do(struct hd_elector *e, enum hd_action action, enum hd_event *ret_event)
{
	static bool (*const acts[HD_ACT_COUNT])(struct hd_elector *, enum hd_event *) = {
		[HD_ACT_START] = act_start,   [HD_ACT_GIVE_UP] = act_give_up,
		[HD_ACT_DROP] = act_drop,     [HD_ACT_STOP] = act_stop,
		[HD_ACT_END] = act_end,       [HD_ACT_RELEASE] = act_release,
		[HD_ACT_NOTICE] = act_notice,
	};

	return acts[action] != NULL && acts[action](e, ret_event);
}
