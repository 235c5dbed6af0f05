/* elector_term.c - while the command may run: heartbeats, the guard's reports, signals. */
#include "app/clock_step.h"
#include "app/exit.h"
#include "app/log.h"
#include "base/base.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/ids.h"
#include "run/elector.h"
#include "run/signals.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

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

	if (hd_candidate_lives(&e->c, &err))
		return true;
	hd_elector_because(e, "%s", err.message);
	return false;
}

/* What the candidate found out, as this node takes it. */
static enum hd_event taken_as(struct hd_elector *e, enum hd_event event, const struct hd_error *err)
{
	if (event != HD_EV_LOSS)
		return event;
	hd_elector_because(e, "%s", err->message);
	return loss(e);
}

enum hd_event hd_elector_beat_if_due(struct hd_elector *e)
{
	struct hd_error err;
	hd_mono until = e->c.trust.trusted_until;
	enum hd_event event;

	if (hd_before(hd_now(), e->c.trust.beat_due))
		return HD_EV_NONE;
	if (e->guarded && !hd_guard_answered(&e->guard)) {
		hd_elector_because(e, "the guard did not answer since the last heartbeat");
		e->guard_silent = true;
		return loss(e);
	}
	event = hd_candidate_beat(&e->c, hd_candidate_far(), &err);
	if (event == HD_EV_NONE && err.status == HD_RETRY)
		hd_log_error(HD_LOG_WARN, &err, "event", "heartbeat again", NULL);
	if (event != HD_EV_LOSS && e->guarded && hd_before(until, e->c.trust.trusted_until))
		e->guard_silent =
		    hd_guard_trust(&e->guard, e->c.trust.trusted_until, &err) != HD_OK;
	if (e->guard_silent) {
		hd_elector_because(e, "the guard can't be told: %s", err.message);
		return loss(e);
	}
	return taken_as(e, event, &err);
}

/* A leader does not listen: it reads the row for what an operator asks. */
static enum hd_event look_if_due(struct hd_elector *e)
{
	struct hd_error err;
	hd_mono deadline = hd_after(hd_now(), HD_CANDIDATE_CALL_MS);

	if (e->state != HD_ST_LEADING)
		return HD_EV_NONE;
	return taken_as(e, hd_candidate_look(&e->c, deadline, &err), &err);
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
	e->guard_silent = false; /* else the next term is lost at its first heartbeat */
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

static void command_started(struct hd_elector *e, long long pid)
{
	char text[24];

	e->started = hd_now();
	(void)snprintf(text, sizeof(text), "%lld", pid);
	hd_log(HD_LOG_INFO, "event", "command started", "pid", text, "contain",
	       hd_contain_word(e->contain), NULL);
}

/*
 * The command did not ping, and the guard is ending it: as if somebody had asked this node to hand
 * over. A one-shot node does not compete again, so it ends.
 */
static enum hd_event silent(struct hd_elector *e, int64_t interval_ms)
{
	char text[HD_DURATION_TEXT];

	if (e->state != HD_ST_LEADING)
		return HD_EV_NONE;
	e->guard_stops = true;
	if (interval_ms > 0)
		hd_elector_because(e, "watchdog: no ping for %s",
		                   hd_duration_format(interval_ms, text, sizeof(text)));
	else
		hd_elector_because(e, "watchdog: triggered by the command");
	if (!e->one_shot)
		return HD_EV_RESIGN;
	e->exit_code = HD_EXIT_LOST;
	return HD_EV_SIGNAL;
}

static enum hd_event reported(struct hd_elector *e, const struct hd_guard_message *m)
{
	switch ((enum hd_guard_report)m->kind) {
	case HD_GUARD_STARTED:
		command_started(e, (long long)m->value);
		return HD_EV_NONE;
	case HD_GUARD_SILENT:
		return silent(e, m->value);
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
	hd_mono until = losing(e) ? e->stop_until : e->c.trust.beat_due;

	if (e->state == HD_ST_LEADING)
		until = hd_earlier(until, e->c.look_due);
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
		{ .fd = losing(e) || e->c.session == NULL ? -1 : hd_session_socket(e->c.session),
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
		e->c.trust.beat_due = hd_now();
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
