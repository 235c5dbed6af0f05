/* leadership_step.c - one step of the machine: what happened, and what the table answers. */
#include "base/error.h"
#include "feature/leadership.h"
#include <limits.h>
#include <poll.h>
#include <stdio.h>

static bool keeps_role(enum hd_state s)
{
	return s == HD_ST_LEADING || s == HD_ST_STEPPING_DOWN || s == HD_ST_PAUSING;
}

static bool is_due(hd_mono due)
{
	return !hd_before(hd_now(), due);
}

/* When the heartbeat on which the trust rests was sent. */
static hd_mono trusted_from(const struct hd_leadership *l)
{
	const struct hd_trust_plan *p = &l->c.plan;

	return hd_after(l->c.trust.trusted_until, p->margin_ms - p->lease_ms);
}

static bool in_doubt(const struct hd_leadership *l)
{
	return hd_before(trusted_from(l), l->doubted_at);
}

/*
 * Two ends: that of the trust, before which the work must have stopped, and, where the server can
 * end the term by closing a session, that of what the last step has seen.
 */
void hd_leadership_publish(struct hd_leadership *l)
{
	hd_mono until =
	    hd_after(l->c.trust.trusted_until, -(l->stop_ms + (int64_t)HD_KILL_MARGIN_MS));

	if (hd_leadership_state(l) != HD_ST_LEADING || in_doubt(l))
		until.ns = 0;
	else if (l->c.by_session)
		until = hd_earlier(until, hd_after(hd_now(), l->step_ms));
	atomic_store(&l->held_until, until.ns);
}

static void trouble(struct hd_leadership *l, const struct hd_error *err)
{
	l->why = *err;
	l->trouble = err->status == HD_NOMEM ? HD_NOMEM : HD_RETRY;
}

static void connect_later(struct hd_leadership *l)
{
	l->connect_due = hd_after(hd_now(), hd_backoff_next(&l->connect_pause, hd_random64()));
}

/* A session if there is none; false: not yet, or *ret_event says why not. */
static bool connect(struct hd_leadership *l, hd_mono deadline, enum hd_event *ret_event)
{
	struct hd_error err = { 0 };
	hd_status st;

	*ret_event = HD_EV_NONE;
	if (l->c.leader != NULL && l->c.session != NULL)
		return true;
	if (!is_due(l->connect_due))
		return false;
	st = hd_candidate_connect(&l->c, deadline, &err);
	if (st == HD_OK) {
		l->attempt_due = hd_now();
		l->c.look_due = l->attempt_due;
		return false; /* that was this step's call */
	}
	trouble(l, &err);
	if (st == HD_REFUSED || st == HD_INVALID)
		*ret_event = HD_EV_REFUSED;
	else
		l->connect_due =
		    hd_after(hd_now(), hd_backoff_next(&l->connect_pause, hd_random64()));
	return false;
}

/* Whether the session lives, and whether it has something to tell. */
static enum hd_event take_in(struct hd_leadership *l, bool *ret_news)
{
	struct pollfd p = { .fd = hd_leadership_socket(l), .events = POLLIN };
	struct hd_error err = { 0 };

	*ret_news = poll(&p, 1, 0) > 0;
	if (hd_candidate_lives(&l->c, &err))
		return HD_EV_NONE;
	l->why = err;
	return HD_EV_LOSS;
}

static void keep_first(void *arg, const char *line)
{
	struct hd_error *err = arg;

	if (err->hint[0] == '\0')
		hd_hint(err, "held back by %s", line);
}

static enum hd_event unblock(struct hd_leadership *l, hd_mono deadline, struct hd_error *why)
{
	struct hd_error err = { 0 };
	int ended = 0;
	enum hd_event event;

	why->hint[0] = '\0';
	event = hd_candidate_unblock(&l->c, keep_first, why, deadline, &ended, &err);
	trouble(l, event == HD_EV_NONE ? why : &err);
	if (ended > 0)
		l->attempt_due = hd_now();
	return event;
}

static enum hd_event next_standby(struct hd_leadership *l, hd_mono deadline)
{
	struct hd_leader_answer answer = { 0 };
	struct hd_error err = { 0 };
	enum hd_event event;
	bool news;

	if (!connect(l, deadline, &event))
		return event;
	event = take_in(l, &news);
	if (event != HD_EV_NONE || l->c.session == NULL || (!news && !is_due(l->attempt_due)))
		return event;
	event = hd_candidate_attempt(&l->c, deadline, &answer, &err);
	l->attempt_due = hd_after(hd_now(), hd_jitter(l->c.retry_ms, hd_random64()));
	if (event == HD_EV_NONE && err.status == HD_RETRY)
		return unblock(l, deadline, &err);
	if (event == HD_EV_LOSS)
		connect_later(l); /* the next one may be as slow */
	else
		hd_backoff_reset(&l->connect_pause);
	if (event != HD_EV_NONE)
		l->why = err;
	else
		(void)hd_fail(&l->why, HD_OK, "held by %s",
		              answer.holder[0] != '\0' ? answer.holder : "nobody that is known");
	return event;
}

static enum hd_event next_paused(struct hd_leadership *l, hd_mono deadline)
{
	struct hd_error err = { 0 };
	enum hd_event event;
	bool news;

	if (!connect(l, deadline, &event))
		return event;
	event = take_in(l, &news);
	if (event == HD_EV_NONE && l->c.session != NULL)
		event = hd_candidate_look_paused(&l->c, deadline, &err);
	if (event == HD_EV_LOSS && err.message[0] != '\0')
		l->why = err;
	return event;
}

/* Heartbeat, then the look at the row: at most one of them in a step. */
static enum hd_event renew(struct hd_leadership *l, hd_mono deadline)
{
	struct hd_error err = { 0 };
	bool due = l->c.beat_owed || is_due(l->c.trust.beat_due);
	enum hd_event event = HD_EV_NONE;

	if (due)
		event = hd_candidate_beat(&l->c, deadline, &err);
	else if (hd_leadership_state(l) == HD_ST_WAITING)
		event = hd_candidate_look_waiting(&l->c, deadline, &err);
	else if (hd_leadership_state(l) == HD_ST_LEADING)
		event = hd_candidate_look(&l->c, deadline, &err);
	if (event == HD_EV_NONE && err.status == HD_RETRY)
		trouble(l, &err);
	else if (event != HD_EV_NONE)
		l->why = err;
	return event;
}

static enum hd_event next_waiting(struct hd_leadership *l, hd_mono deadline)
{
	bool news;
	enum hd_event event = take_in(l, &news);

	if (event != HD_EV_NONE)
		return event;
	return is_due(l->c.wait_until) ? HD_EV_WAIT_OVER : renew(l, deadline);
}

/*
 * A leader. After a step that came too late this process, or the machine, may have stood still:
 * then the database is asked before work may go on, by a heartbeat that is sent from now on.
 */
static enum hd_event next_term(struct hd_leadership *l, hd_mono deadline)
{
	hd_mono now = hd_now();
	enum hd_event event;
	bool news;

	if (l->stopped)
		return HD_EV_GONE;
	event = take_in(l, &news);
	if (event != HD_EV_NONE)
		return event;
	if (!hd_before(now, l->c.trust.trusted_until)) {
		(void)hd_fail(&l->why, HD_LOST, "no heartbeat was answered within the lease");
		return HD_EV_LOSS;
	}
	if (l->c.by_session && hd_before(hd_after(l->stepped, l->step_ms), now))
		l->doubted_at = now;
	if (in_doubt(l) && !l->c.beat_owed)
		l->c.trust.beat_due = now;
	if (l->c.by_session)
		deadline = hd_earlier(deadline, hd_after(now, l->step_ms / 2));
	return renew(l, deadline);
}

static enum hd_event next_resting(struct hd_leadership *l)
{
	bool news;

	return is_due(l->rest_until) ? HD_EV_REST_OVER : take_in(l, &news);
}

enum hd_event hd_leadership_next(struct hd_leadership *l, hd_mono deadline)
{
	switch (hd_leadership_state(l)) {
	case HD_ST_STANDBY:
		return next_standby(l, deadline);
	case HD_ST_WAITING:
		return next_waiting(l, deadline);
	case HD_ST_LEADING:
	case HD_ST_STEPPING_DOWN:
	case HD_ST_PAUSING:
		return next_term(l, deadline);
	case HD_ST_LOST:
		return l->stopped ? HD_EV_GONE : HD_EV_NONE;
	case HD_ST_RESTING:
		return next_resting(l);
	case HD_ST_PAUSED:
		return next_paused(l, deadline);
	default:
		return HD_EV_NONE;
	}
}

static const char *resign_reason(const struct hd_leadership *l)
{
	if (l->resign_reason[0] != '\0')
		return l->resign_reason;
	return l->why.message[0] != '\0' ? l->why.message : "asked to hand over";
}

static enum hd_event act_start(struct hd_leadership *l, hd_mono deadline)
{
	struct hd_error err = { 0 };

	if (!hd_candidate_led(&l->c, deadline, &err)) {
		l->why = err;
		return HD_EV_LOSS;
	}
	l->doubted_at.ns = 0;
	l->stepped = hd_now();
	atomic_store(&l->token, l->c.leader->token);
	return HD_EV_NONE;
}

/* HD_ACT_STOP and HD_ACT_END need nothing: what the table calls the command is the program's. */
static enum hd_event act(struct hd_leadership *l, enum hd_action action, hd_mono deadline)
{
	struct hd_error err = { 0 };
	bool told = true;

	switch (action) {
	case HD_ACT_START:
		return act_start(l, deadline);
	case HD_ACT_GIVE_UP:
	case HD_ACT_RELEASE:
		l->rest_until = hd_after(hd_now(), 2 * l->c.retry_ms);
		told = hd_candidate_resign(&l->c, action == HD_ACT_RELEASE, resign_reason(l),
		                           deadline, &err);
		break;
	case HD_ACT_NOTICE:
		(void)hd_candidate_bury(&l->c, deadline, &err);
		hd_candidate_disconnect(&l->c);
		break;
	case HD_ACT_DROP:
		hd_candidate_disconnect(&l->c);
		break;
	default:
		break;
	}
	if (!told)
		trouble(l, &err);
	return HD_EV_NONE;
}

/* Events whose reason stands in `why`; that of the others is the table's. */
static bool has_reason(enum hd_event event)
{
	return event == HD_EV_LOSS || event == HD_EV_TAKEN || event == HD_EV_REFUSED ||
	       event == HD_EV_PAUSE;
}

void hd_leadership_apply(struct hd_leadership *l, enum hd_event event, hd_mono deadline)
{
	while (event != HD_EV_NONE) {
		enum hd_state state = hd_leadership_state(l);
		const struct hd_transition *t = hd_election_step(state, event);

		if (t == NULL)
			return;
		/* Before anything else: no thread may see the role held that is not. */
		if (t->next != HD_ST_LEADING)
			atomic_store(&l->held_until, 0);
		atomic_store(&l->state, (int)t->next);
		l->stopped = false;
		if (!has_reason(event) || l->why.message[0] == '\0')
			(void)hd_fail(&l->why, HD_OK, "%s", t->why);
		if (event == HD_EV_LOSS)
			l->trouble = keeps_role(state) ? HD_LOST : HD_RETRY;
		event = act(l, t->action, deadline);
	}
}

int hd_leadership_socket(const struct hd_leadership *l)
{
	bool idle = hd_leadership_state(l) == HD_ST_LOST || l->c.session == NULL;

	return idle ? -1 : hd_session_socket(l->c.session);
}

int hd_leadership_wants(const struct hd_leadership *l)
{
	return hd_leadership_socket(l) >= 0 ? POLLIN : 0;
}

/* The next call; for an answer that is owed the socket tells, or the end of its time. */
static hd_mono renew_due(const struct hd_leadership *l, bool looks)
{
	hd_mono due = l->c.trust.beat_due;

	if (l->c.beat_owed)
		return hd_trust_beat_deadline(&l->c.trust);
	return looks ? hd_earlier(due, l->c.look_due) : due;
}

static hd_mono term_due(const struct hd_leadership *l)
{
	hd_mono due = renew_due(l, hd_leadership_state(l) == HD_ST_LEADING);

	return l->c.by_session ? hd_earlier(due, hd_after(l->stepped, l->step_ms / 2)) : due;
}

int hd_leadership_timeout_ms(const struct hd_leadership *l)
{
	bool connected = l->c.leader != NULL && l->c.session != NULL;

	if (l->stopped)
		return 0;
	switch (hd_leadership_state(l)) {
	case HD_ST_STANDBY:
		return hd_ms_left(connected ? l->attempt_due : l->connect_due);
	case HD_ST_PAUSED:
		return hd_ms_left(connected ? l->c.look_due : l->connect_due);
	case HD_ST_WAITING:
		return hd_ms_left(hd_earlier(l->c.wait_until, renew_due(l, true)));
	case HD_ST_RESTING:
		return hd_ms_left(l->rest_until);
	case HD_ST_LOST:
		return (int)l->step_ms; /* the word is asked for so often */
	case HD_ST_REFUSED:
		return INT_MAX;
	default:
		return hd_ms_left(term_due(l));
	}
}
