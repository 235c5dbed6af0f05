/* elector_term.c - while the command may run: heartbeats, the guard's reports, signals. */
#include "app/clock_step.h"
#include "app/exit.h"
#include "app/log.h"
#include "base/base.h"
#include "base/error.h"
#include "base/ids.h"
#include "run/elector.h"
#include "run/signals.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define CALL_MS              10000
#define BEAT_AGAIN_MS        200
#define SWEEP_AGAIN_MS       1000
#define OVERSLEPT_MS         1000
#define RESTART_FORGOTTEN_MS 60000 /* a command that ran this long did start well */

static bool losing(const struct hd_elector *e)
{
	return e->state == HD_ST_LOST || e->state == HD_ST_LOST_ENDING;
}

static enum hd_event loss(struct hd_elector *e)
{
	if (!e->one_shot || e->state == HD_ST_WAITING)
		return HD_EV_LOSS;
	e->exit_code = HD_EXIT_LOST;
	return HD_EV_LOSS_FINAL;
}

bool hd_elector_session_lives(struct hd_elector *e)
{
	struct hd_error err;

	if (e->session == NULL || hd_session_check(e->session, &err) == HD_OK)
		return true;
	if (!e->by_session) {
		hd_elector_hang_up(e);
		e->trust.beat_due = hd_now(); /* another session, before the trust ends */
		return true;
	}
	hd_elector_because(e, "the session is lost: %s", err.message);
	return false;
}

static hd_status beat(struct hd_elector *e, hd_mono deadline, struct hd_leader_answer *ret,
                      struct hd_error *err)
{
	hd_status st = HD_OK;

	if (e->session == NULL)
		st = hd_elector_call_again(e, deadline, err);
	if (st == HD_OK)
		st = e->leader->ops->attempt(e->leader, deadline, ret, err);
	if (st != HD_OK && !e->by_session && (e->session == NULL || !hd_session_ok(e->session)))
		hd_elector_hang_up(e);
	return st;
}

/* A statement that was cancelled costs nothing yet; a lease row survives its session as well. */
static bool may_beat_again(const struct hd_elector *e, hd_status st)
{
	return st == HD_RETRY ||
	       (!e->by_session && st != HD_OK && st != HD_REFUSED && st != HD_INVALID);
}

enum hd_event hd_elector_beat_if_due(struct hd_elector *e)
{
	struct hd_leader_answer answer = { 0 };
	struct hd_error err = { 0 };
	hd_mono now = hd_now();
	hd_status st;

	if (hd_before(now, e->trust.beat_due))
		return HD_EV_NONE;
	if (e->guarded && !hd_guard_answered(&e->guard)) {
		hd_elector_because(e, "the guard did not answer since the last heartbeat");
		e->guard_silent = true;
		return loss(e);
	}
	hd_trust_beat(&e->trust, now);
	st = beat(e, hd_trust_beat_deadline(&e->trust), &answer, &err);
	now = hd_now();
	if (may_beat_again(e, st) && hd_before(now, e->trust.trusted_until)) {
		hd_log_error(HD_LOG_WARN, &err, "event", "heartbeat again", NULL);
		e->trust.beat_due = hd_after(now, BEAT_AGAIN_MS);
		return HD_EV_NONE;
	}
	if (st != HD_OK || !answer.held) {
		hd_elector_because(e, "heartbeat: %s", st != HD_OK ? err.message : answer.why);
		return loss(e);
	}
	if (!hd_trust_beat_good(&e->trust, now)) {
		hd_elector_because(e, "the heartbeat was answered after the lease had ended");
		return loss(e);
	}
	if (e->guarded)
		e->guard_silent = hd_guard_trust(&e->guard, e->trust.trusted_until, &err) != HD_OK;
	if (e->guard_silent) {
		hd_elector_because(e, "the guard can't be told: %s", err.message);
		return loss(e);
	}
	return answer.paused ? HD_EV_PAUSE : answer.resign ? HD_EV_RESIGN : HD_EV_NONE;
}

/* A leader does not listen: it reads the row for what an operator asks. */
static enum hd_event look_if_due(struct hd_elector *e)
{
	struct hd_leader_look seen;
	struct hd_error err;

	if (e->state != HD_ST_LEADING || e->session == NULL || hd_before(hd_now(), e->look_due))
		return HD_EV_NONE;
	e->look_due = hd_after(hd_now(), e->config->retry_ms);
	if (hd_leader_look(e->leader,
	                   hd_earlier(hd_after(hd_now(), CALL_MS), e->trust.trusted_until), &seen,
	                   &err) != HD_OK) {
		/* Cancelled, say, or a session that a row outlives: the heartbeat will tell. */
		if (hd_session_ok(e->session) || !e->by_session)
			return HD_EV_NONE;
		hd_elector_because(e, "reading the role: %s", err.message);
		return loss(e);
	}
	if (!seen.owned_by_me || seen.closing) {
		hd_elector_because(e, "the role was taken over");
		return loss(e);
	}
	return seen.paused ? HD_EV_PAUSE : seen.resign ? HD_EV_RESIGN : HD_EV_NONE;
}

/* --restart: again, with a pause, unless it ended too often. False: this was the last time. */
static bool plan_restart(struct hd_elector *e)
{
	hd_mono now = hd_now();
	int slot = e->restart_count % HD_RESTARTS_MOST;
	char text[24];

	if (!e->config->restart || e->state != HD_ST_LEADING || e->cannot_run != 0)
		return false;
	if (e->restart_count >= HD_RESTARTS_MOST &&
	    hd_ms_between(e->restarts[slot], now) < HD_RESTARTS_MS) {
		hd_elector_because(
		    e, "the command ended %d times within 10m: the restart budget is used up",
		    HD_RESTARTS_MOST);
		return false;
	}
	if (hd_ms_between(e->started, now) > RESTART_FORGOTTEN_MS)
		hd_backoff_reset(&e->restart_pause);
	e->restarts[slot] = now;
	e->restart_count++;
	e->restarting = true;
	e->restart_due = hd_after(now, hd_backoff_next(&e->restart_pause, hd_random64()));
	(void)snprintf(text, sizeof(text), "%lldms", (long long)hd_ms_between(now, e->restart_due));
	hd_log(HD_LOG_WARN, "event", "command ended", "restart", text, NULL);
	return true;
}

static enum hd_event command_ended(struct hd_elector *e)
{
	if (plan_restart(e))
		return HD_EV_NONE;
	return e->state == HD_ST_LEADING ? HD_EV_COMMAND_ENDED : HD_EV_NONE;
}

static void name_survivor(long long pid)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", pid);
	hd_log(HD_LOG_ERROR, "event", "a process of the command can't be ended", "pid", text,
	       "hint", "nobody is told that this node is clear until it is gone: end it by hand",
	       NULL);
}

/* Nothing of the command is alive. */
static enum hd_event gone(struct hd_elector *e)
{
	e->guarded = false;
	e->sweeping = false;
	hd_elector_signals_forward(e);
	return e->restarting && e->state == HD_ST_LEADING ? HD_EV_NONE : HD_EV_GONE;
}

/*
 * Ends the guard, a dead, hung or silent one too, and what it left; again and again while something
 * of the command lives.
 */
static enum hd_event end_guard(struct hd_elector *e)
{
	struct hd_error err;
	hd_status st = hd_guard_end(&e->guard, hd_after(hd_now(), HD_KILL_MARGIN_MS), &err);

	if (st == HD_OK)
		return gone(e);
	for (size_t i = 0; i < e->guard.nsurvivors && !e->survivors_named; i++)
		name_survivor((long long)e->guard.survivors[i]);
	if (!e->survivors_named)
		hd_log_error(HD_LOG_ERROR, &err, "event", "the sweep goes on", NULL);
	e->survivors_named = true;
	e->sweep_due = hd_after(hd_now(), SWEEP_AGAIN_MS);
	e->sweeping = true;
	return HD_EV_NONE;
}

static const char *loss_text(int64_t how)
{
	static const char *const texts[] = {
		[HD_LOSS_TRUST_ENDED] = "the guard: no heartbeat came in time",
		[HD_LOSS_SESSION_CLOSED] = "the guard: the server closed the session",
		[HD_LOSS_ELECTOR_GONE] = "the guard: the elector was gone",
		[HD_LOSS_FROZEN] = "the guard: this machine stood still past the lease",
	};

	return how > 0 && how < (int64_t)HD_ARRAY_SIZE(texts) ? texts[how] : "the guard";
}

static enum hd_event reported(struct hd_elector *e, const struct hd_guard_message *m)
{
	char pid[24];

	switch ((enum hd_guard_report)m->kind) {
	case HD_GUARD_STARTED:
		e->started = hd_now();
		(void)snprintf(pid, sizeof(pid), "%lld", (long long)m->value);
		hd_log(HD_LOG_INFO, "event", "command started", "pid", pid, NULL);
		return HD_EV_NONE;
	case HD_GUARD_NO_START:
		e->cannot_run = (int)m->value;
		hd_elector_because(e, "can't run %s: %s", e->config->command[0],
		                   strerror(e->cannot_run));
		return command_ended(e);
	case HD_GUARD_EXITED:
		e->command_known = true;
		e->command_status = (int)m->value;
		return command_ended(e);
	case HD_GUARD_LOST:
		if (losing(e))
			return HD_EV_NONE;
		hd_elector_because(e, "%s", loss_text(m->value));
		return loss(e);
	case HD_GUARD_SURVIVOR:
		name_survivor((long long)m->value);
		e->survivors_named = true;
		return end_guard(e);
	case HD_GUARD_GONE:
		return end_guard(e);
	case HD_GUARD_ACK:
	default:
		return HD_EV_NONE;
	}
}

static enum hd_event guard_reports(struct hd_elector *e)
{
	struct hd_guard_message m;
	enum hd_event event;

	/* Bounded by what the channel can hold; one event ends the round. */
	while (e->guarded && !e->sweeping) {
		hd_status st = hd_guard_next(&e->guard, hd_now(), &m, NULL);

		if (st == HD_TIMEOUT)
			return HD_EV_NONE;
		if (st != HD_OK) {
			if (losing(e) || e->state != HD_ST_LEADING)
				return end_guard(e);
			hd_elector_because(e, "the guard died");
			e->guard_silent = true;
			return loss(e);
		}
		event = reported(e, &m);
		if (event != HD_EV_NONE)
			return event;
	}
	return HD_EV_NONE;
}

static enum hd_event overdue(struct hd_elector *e)
{
	if (!e->guarded)
		return e->state == HD_ST_LEADING ? HD_EV_NONE : HD_EV_GONE;
	if (e->sweeping)
		return hd_before(hd_now(), e->sweep_due) ? HD_EV_NONE : end_guard(e);
	if (losing(e) && e->guard_silent) {
		e->guard_silent = false;
		return end_guard(e);
	}
	if (e->state != HD_ST_LEADING && !hd_before(hd_now(), e->stop_until))
		return end_guard(e);
	return HD_EV_NONE;
}

static enum hd_event asked(struct hd_elector *e)
{
	static const struct {
		int number;
		const char *name;
	} names[] = { { SIGTERM, "SIGTERM" }, { SIGINT, "SIGINT" }, { SIGQUIT, "SIGQUIT" } };
	int number = hd_signals_stop();

	hd_signals_clear();
	for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++)
		if (number == names[i].number && e->state != HD_ST_STOPPING &&
		    e->state != HD_ST_LOST_ENDING) {
			hd_elector_because(e, "%s", names[i].name);
			return HD_EV_SIGNAL;
		}
	return HD_EV_NONE;
}

static hd_mono next_due(const struct hd_elector *e)
{
	hd_mono until = losing(e) ? e->stop_until : e->trust.beat_due;

	if (e->state == HD_ST_LEADING)
		until = hd_earlier(until, e->look_due);
	else if (e->guarded)
		until = hd_earlier(until, e->stop_until);
	if (e->sweeping)
		until = losing(e) ? e->sweep_due : hd_earlier(until, e->sweep_due);
	if (e->restarting && !e->guarded)
		until = hd_earlier(until, e->restart_due);
	return until;
}

/*
 * After a sleep that was much too long, or when the wall clock was set, this machine may have stood
 * still: then the database is asked before anything else.
 */
static void sleep_until_something(struct hd_elector *e)
{
	struct pollfd p[] = {
		{ .fd = hd_signals_fd(), .events = POLLIN },
		{ .fd = e->guarded && !e->sweeping ? e->guard.channel : -1, .events = POLLIN },
		{ .fd = losing(e) || e->session == NULL ? -1 : hd_session_socket(e->session),
		  .events = POLLIN },
		{ .fd = e->clock_step, .events = POLLIN },
	};
	hd_mono now = hd_now();
	hd_mono until = next_due(e);

	if (hd_before(until, now))
		until = now;
	(void)poll(p, HD_ARRAY_SIZE(p), hd_ms_left(until));
	if (hd_clock_step_seen(e->clock_step) || hd_ms_between(until, hd_now()) > OVERSLEPT_MS) {
		hd_log(HD_LOG_WARN, "event", "time stood still or was set", NULL);
		e->trust.beat_due = hd_now();
	}
}

enum hd_event hd_elector_term(struct hd_elector *e)
{
	enum hd_event event;

	hd_elector_reap(e);
	event = guard_reports(e);

	if (event == HD_EV_NONE)
		event = overdue(e);
	if (event == HD_EV_NONE)
		event = asked(e);
	if (event == HD_EV_NONE && !losing(e) && !hd_elector_session_lives(e))
		event = loss(e);
	if (event == HD_EV_NONE && !losing(e))
		event = hd_elector_beat_if_due(e);
	if (event == HD_EV_NONE)
		event = look_if_due(e);
	if (event == HD_EV_NONE && e->restarting && !e->guarded && e->state == HD_ST_LEADING &&
	    !hd_before(hd_now(), e->restart_due))
		(void)hd_elector_start_command(e, &event);
	if (event == HD_EV_NONE)
		sleep_until_something(e);
	return event;
}
