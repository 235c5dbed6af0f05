#include "feature/candidate.h"

#include "base/error.h"
#include "pg/exec.h"

#define BEAT_AGAIN_MS 200

/* The claim is over, with a word about what was being done in front of the reason. */
static enum hd_event lost(struct hd_error *err, const char *what)
{
	hd_fail_prefix(err, "%s: ", what);
	return HD_EV_LOSS;
}

/* The callers live on the reasons, so there always is a place for them. */
static struct hd_error *clean(struct hd_error *err, struct hd_error *spare)
{
	if (err == NULL)
		err = spare;
	*err = (struct hd_error){ 0 };
	return err;
}

bool hd_candidate_lives(struct hd_candidate *c, struct hd_error *err)
{
	if (c->session == NULL || hd_session_check(c->session, err) == HD_OK)
		return true;
	if (!c->by_session) {
		hd_candidate_hang_up(c);
		c->trust.beat_due = hd_now(); /* another session, before the trust ends */
		return true;
	}
	hd_fail_prefix(err, "the session is lost: ");
	return false;
}

static void begin_wait(struct hd_candidate *c, const struct hd_leader_answer *answer,
                       struct hd_error *err)
{
	struct hd_takeover t = hd_takeover_wait(&answer->led, c->plan.lease_ms);
	hd_mono now = hd_now();

	hd_trust_begin(&c->trust, &c->plan, answer->sent);
	c->beat_owed = false;
	c->wait_until = hd_after(now, t.wait_ms);
	c->look_due = hd_after(now, c->retry_ms);
	(void)hd_fail(err, HD_OK, "%s", t.reason);
}

enum hd_event hd_candidate_attempt(struct hd_candidate *c, hd_mono deadline,
                                   struct hd_leader_answer *ret, struct hd_error *err)
{
	struct hd_error spare;
	hd_status st;

	err = clean(err, &spare);
	st = c->leader->ops->attempt(c->leader, deadline, ret, err);
	if (st == HD_REFUSED || st == HD_INVALID)
		return HD_EV_REFUSED;
	if (st == HD_RETRY)
		return HD_EV_NONE;
	if (st != HD_OK)
		return lost(err, "the session is lost");
	if (ret->taken) {
		begin_wait(c, ret, err);
		return HD_EV_TAKEN;
	}
	if (ret->paused) {
		(void)hd_fail(err, HD_OK, "paused: %s", ret->why);
		return HD_EV_PAUSE;
	}
	return HD_EV_NONE;
}

enum hd_event hd_candidate_unblock(struct hd_candidate *c, void (*say)(void *arg, const char *line),
                                   void *arg, hd_mono deadline, int *ret_ended,
                                   struct hd_error *err)
{
	if (hd_leader_unblock(c->leader, say, arg, deadline, ret_ended, err) == HD_OK)
		return HD_EV_NONE;
	return lost(err, "looking for what blocks the take-over");
}

static hd_status send_beat(struct hd_candidate *c, hd_mono deadline, hd_mono until,
                           struct hd_leader_answer *ret, struct hd_error *err)
{
	hd_status st = hd_candidate_reopen(c, hd_earlier(deadline, until), err);

	if (st == HD_OK) {
		hd_exec_be_patient(c->session, hd_before(deadline, until));
		st = c->leader->ops->attempt(c->leader, hd_earlier(deadline, until), ret, err);
		hd_exec_be_patient(c->session, false);
	}
	if (st != HD_OK && !c->by_session && (c->session == NULL || !hd_session_ok(c->session)))
		hd_candidate_hang_up(c);
	return st;
}

/* A statement that was cancelled costs nothing yet; a lease row survives its session as well. */
static bool may_beat_again(const struct hd_candidate *c, hd_status st)
{
	return st == HD_RETRY ||
	       (!c->by_session && st != HD_OK && st != HD_REFUSED && st != HD_INVALID);
}

static enum hd_event judge_beat(struct hd_candidate *c, hd_status st,
                                const struct hd_leader_answer *answer, struct hd_error *err)
{
	hd_mono now = hd_now();

	if (may_beat_again(c, st) && hd_before(now, c->trust.trusted_until)) {
		c->trust.beat_due = hd_after(now, BEAT_AGAIN_MS);
		err->status = HD_RETRY;
		return HD_EV_NONE;
	}
	if (st == HD_OK && !answer->held)
		(void)hd_fail(err, HD_LOST, "%s", answer->why);
	if (st != HD_OK || !answer->held)
		return lost(err, "heartbeat");
	if (!hd_trust_beat_good(&c->trust, now)) {
		(void)hd_fail(err, HD_LOST, "the heartbeat was answered after the lease had ended");
		return HD_EV_LOSS;
	}
	return answer->paused ? HD_EV_PAUSE : answer->resign ? HD_EV_RESIGN : HD_EV_NONE;
}

enum hd_event hd_candidate_beat(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	struct hd_leader_answer answer = { 0 };
	struct hd_error spare;
	hd_mono now = hd_now();
	hd_status st;

	err = clean(err, &spare);
	if (!c->beat_owed && hd_before(now, c->trust.beat_due))
		return HD_EV_NONE;
	if (!c->beat_owed)
		hd_trust_beat(&c->trust, now);
	st = send_beat(c, deadline, hd_trust_beat_deadline(&c->trust), &answer, err);
	c->beat_owed = st == HD_TIMEOUT && c->session != NULL && hd_session_ok(c->session);
	if (c->beat_owed)
		return HD_EV_NONE;
	return judge_beat(c, st, &answer, err);
}

/* Reads the row if that is due; false: nothing was read, and *ret_event says whether that hurts. */
static bool look(struct hd_candidate *c, hd_mono deadline, struct hd_leader_look *ret,
                 enum hd_event *ret_event, struct hd_error *err)
{
	hd_mono now = hd_now();
	hd_status st;

	*ret_event = HD_EV_NONE;
	if (c->beat_owed || hd_before(now, c->look_due))
		return false;
	c->look_due = hd_after(now, c->retry_ms);
	if (c->session == NULL)
		return false;
	hd_exec_be_patient(c->session, c->leader->held);
	st = hd_leader_look(c->leader, deadline, ret, err);
	hd_exec_be_patient(c->session, false);
	if (st == HD_OK)
		return true;
	/* Cancelled or late, say, while the role is ours: the heartbeat will tell. */
	if (c->leader->held && hd_session_ok(c->session))
		return false;
	if (c->leader->held && !c->by_session)
		hd_candidate_hang_up(c); /* a row outlives its session */
	else
		*ret_event = lost(err, "reading the role");
	return false;
}

enum hd_event hd_candidate_look(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	struct hd_leader_look seen;
	struct hd_error spare;
	enum hd_event event;

	err = clean(err, &spare);
	if (!look(c, hd_earlier(deadline, c->trust.trusted_until), &seen, &event, err))
		return event;
	if (!seen.owned_by_me || seen.closing) {
		(void)hd_fail(err, HD_LOST, "the role was taken over");
		return HD_EV_LOSS;
	}
	return seen.paused ? HD_EV_PAUSE : seen.resign ? HD_EV_RESIGN : HD_EV_NONE;
}

enum hd_event hd_candidate_look_waiting(struct hd_candidate *c, hd_mono deadline,
                                        struct hd_error *err)
{
	struct hd_leader_look seen;
	struct hd_error spare;
	enum hd_event event;

	err = clean(err, &spare);
	if (!look(c, deadline, &seen, &event, err))
		return event;
	if (seen.paused)
		return HD_EV_PAUSE;
	if (seen.resign)
		return HD_EV_RESIGN;
	return seen.clear ? HD_EV_WAIT_OVER : HD_EV_NONE;
}

enum hd_event hd_candidate_look_paused(struct hd_candidate *c, hd_mono deadline,
                                       struct hd_error *err)
{
	struct hd_leader_look seen;
	struct hd_error spare;
	enum hd_event event;

	err = clean(err, &spare);
	if (!look(c, deadline, &seen, &event, err))
		return event;
	return seen.paused ? HD_EV_NONE : HD_EV_RESUME;
}

bool hd_candidate_led(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	hd_status st;

	hd_trust_beat(&c->trust, hd_now());
	c->beat_owed = false;
	deadline = hd_earlier(deadline, hd_trust_beat_deadline(&c->trust));
	st = hd_candidate_reopen(c, deadline, err);
	if (st == HD_OK)
		st = hd_leader_led(c->leader, deadline, err);
	if (st == HD_OK && !hd_trust_beat_good(&c->trust, hd_now()))
		st = hd_fail(err, HD_LOST, "the lease ended while this node waited");
	return st == HD_OK;
}

bool hd_candidate_resign(struct hd_candidate *c, bool led, const char *reason, hd_mono deadline,
                         struct hd_error *err)
{
	int64_t token = c->leader->token;
	hd_status st = HD_LOST;

	if (c->session != NULL)
		st = c->leader->ops->resign(c->leader, reason, deadline, err);
	else
		(void)hd_fail(err, HD_LOST, "there is no session at this moment");
	c->beat_owed = false;
	if (st == HD_OK)
		return true;
	hd_candidate_disconnect(c);
	if (led)
		c->notice_token = token;
	return false;
}

bool hd_candidate_bury(struct hd_candidate *c, hd_mono deadline, struct hd_error *err)
{
	static const char why[] = "lost: its guard or its time ran out";

	if (c->leader == NULL)
		return false;
	if (c->leader->held && c->session != NULL && hd_session_ok(c->session))
		return hd_candidate_resign(c, true, why, deadline, err);
	c->notice_token = c->leader->token;
	hd_candidate_disconnect(c);
	return false;
}
