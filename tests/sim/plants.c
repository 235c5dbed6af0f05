/*
 * plants.c - planted bugs. Those in decisions replace a function of src/ by a wrong one (the linker
 * sends each call here first: --wrap); the others are in the model, where planted() is asked.
 */
#include "core/watch.h"
#include "sim.h"

const struct plant_kind plant_kinds[PLANT_COUNT] = {
	[PLANT_NONE] = { "none", ANYWHERE },
	[PLANT_MARGIN_DROPPED] = { "margin-dropped", WITH_ROWS },
	[PLANT_RENEWAL_BY_NAME] = { "renewal-by-name", WITH_ROWS },
	[PLANT_DEADLINE_FROM_ARRIVAL] = { "deadline-from-arrival", ANYWHERE },
	[PLANT_RELEASE_BEFORE_DEATH] = { "release-before-death", ANYWHERE },
	[PLANT_CLEAR_ACROSS_INCARNATIONS] = { "clear-across-incarnations", ANYWHERE },
	[PLANT_LED_OVERWRITTEN] = { "led-overwritten", WITH_LOCKS },
	[PLANT_WATCH_FROM_SENDING] = { "watch-from-sending", WITH_ROWS },
	[PLANT_STORED_INCARNATION] = { "stored-incarnation", WITH_ROWS },
	[PLANT_CLEAR_WHILE_WAITING] = { "clear-while-waiting", WITH_LOCKS },
	[PLANT_NO_WAIT] = { "no-wait", ANYWHERE },
	[PLANT_BEAT_NOT_WATCHED] = { "beat-not-watched", WITH_ROWS },
	[PLANT_PINNING_UNCHECKED] = { "pinning-unchecked", WITH_LOCKS },
	[PLANT_GUARD_IGNORES_SESSION] = { "guard-ignores-session", WITH_LOCKS },
	[PLANT_READING_HEARTBEAT] = { "reading-heartbeat", ANYWHERE },
	[PLANT_TOKEN_WITHOUT_TIMELINE] = { "token-without-timeline", ANYWHERE },
	[PLANT_GUARD_WITHOUT_DEADLINE] = { "guard-without-deadline", ANYWHERE },
	[PLANT_RESTART_UNSEEN] = { "restart-unseen", WITH_LOCKS },
	[PLANT_ASSERTS_NOT_WAITED_FOR] = { "asserts-not-waited-for", ANYWHERE },
	[PLANT_EXPIRY_COMPARED] = { "expiry-compared", WITH_ROWS },
	[PLANT_START_UNSEEN] = { "start-unseen", WITH_LOCKS },
	[PLANT_HUNG_GUARD_HAS_GRACE] = { "hung-guard-has-grace", WITH_ROWS },
	[PLANT_SILENCE_KEPT] = { "silence-kept", ANYWHERE },
};

void __real_hd_trust_begin(struct hd_trust *t, const struct hd_trust_plan *plan, hd_mono sent);
void __wrap_hd_trust_begin(struct hd_trust *t, const struct hd_trust_plan *plan, hd_mono sent);
bool __real_hd_trust_beat_good(struct hd_trust *t, hd_mono now);
bool __wrap_hd_trust_beat_good(struct hd_trust *t, hd_mono now);
void __real_hd_watch_see(struct hd_watch *w, const struct hd_watch_value *v, hd_mono arrived);
void __wrap_hd_watch_see(struct hd_watch *w, const struct hd_watch_value *v, hd_mono arrived);
struct hd_takeover __real_hd_takeover_wait(const struct hd_led_term *led, int64_t own_lease_ms);
struct hd_takeover __wrap_hd_takeover_wait(const struct hd_led_term *led, int64_t own_lease_ms);
bool __real_hd_elector_do(struct hd_elector *e, enum hd_action action, enum hd_event *ret_event);
bool __wrap_hd_elector_do(struct hd_elector *e, enum hd_action action, enum hd_event *ret_event);

void __wrap_hd_trust_begin(struct hd_trust *t, const struct hd_trust_plan *plan, hd_mono sent)
{
	struct hd_trust_plan p = *plan;

	if (planted(PLANT_MARGIN_DROPPED))
		p.margin_ms = 0;
	__real_hd_trust_begin(t, &p, planted(PLANT_DEADLINE_FROM_ARRIVAL) ? hd_now() : sent);
}

bool __wrap_hd_trust_beat_good(struct hd_trust *t, hd_mono now)
{
	if (planted(PLANT_DEADLINE_FROM_ARRIVAL) && hd_before(now, t->trusted_until))
		t->beat_sent = now;
	return __real_hd_trust_beat_good(t, now);
}

void __wrap_hd_watch_see(struct hd_watch *w, const struct hd_watch_value *v, hd_mono arrived)
{
	struct hd_watch_value seen = *v;
	struct node *n = fiber_node();

	if (planted(PLANT_BEAT_NOT_WATCHED) && w->seen && w->value.token == v->token) {
		hd_mono since = w->since;

		__real_hd_watch_see(w, &seen, arrived);
		w->since = since;
		return;
	}
	__real_hd_watch_see(w, &seen, planted(PLANT_WATCH_FROM_SENDING) ? n->sent : arrived);
}

struct hd_takeover __wrap_hd_takeover_wait(const struct hd_led_term *led, int64_t own_lease_ms)
{
	struct hd_led_term wrong = *led;
	struct hd_takeover none = { HD_TAKEOVER_CLEAR, 0, "planted" };

	if (planted(PLANT_NO_WAIT))
		return none;
	if (planted(PLANT_CLEAR_ACROSS_INCARNATIONS))
		wrong.same_incarnation = true;
	return __real_hd_takeover_wait(&wrong, own_lease_ms);
}

bool __wrap_hd_elector_do(struct hd_elector *e, enum hd_action action, enum hd_event *ret_event)
{
	bool silent = e->guard_silent, more;
	struct hd_error err;

	if (planted(PLANT_RELEASE_BEFORE_DEATH) && action == HD_ACT_STOP && e->c.session != NULL)
		(void)e->c.leader->ops->resign(e->c.leader, "planted", hd_after(hd_now(), 5000),
		                               &err);
	more = __real_hd_elector_do(e, action, ret_event);
	if (planted(PLANT_HUNG_GUARD_HAS_GRACE) && action == HD_ACT_END && e->guarded)
		e->stop_until = hd_after(hd_now(), e->c.plan.lost_grace_ms + 250);
	if (planted(PLANT_SILENCE_KEPT) && (action == HD_ACT_NOTICE || silent))
		e->guard_silent = true;
	return more;
}
