/* The election machine, the take-over arithmetic and the times of a term: pure, so all of it. */
#include "core/election.h"
#include "core/takeover.h"
#include "core/trust.h"
#include "tap.h"

static bool may_run(enum hd_state state)
{
	return state == HD_ST_LEADING || state == HD_ST_STOPPING || state == HD_ST_STEPPING_DOWN ||
	       state == HD_ST_PAUSING || state == HD_ST_LOST || state == HD_ST_LOST_ENDING;
}

static void one_row_for_state_and_event(void)
{
	for (const struct hd_transition *a = hd_transitions; a->state != HD_ST_COUNT; a++) {
		CHECK_MSG(hd_election_step(a->state, a->event) == a, "%s + %s stands twice",
		          hd_state_word(a->state), hd_event_word(a->event));
		CHECK(a->why != NULL && a->why[0] != '\0');
	}
}

/* A command may start in one way only, and the states in which it may run are left in one way only.
 */
static void nothing_is_released_before_the_tree_is_gone(void)
{
	for (const struct hd_transition *t = hd_transitions; t->state != HD_ST_COUNT; t++) {
		bool hands_over = t->action == HD_ACT_RELEASE || t->action == HD_ACT_NOTICE;

		CHECK(hands_over == (may_run(t->state) && t->event == HD_EV_GONE));
		if (may_run(t->state) && !may_run(t->next))
			CHECK_MSG(t->event == HD_EV_GONE, "%s is left on %s",
			          hd_state_word(t->state), hd_event_word(t->event));
		if (!may_run(t->state) && may_run(t->next))
			CHECK(t->state == HD_ST_WAITING && t->event == HD_EV_WAIT_OVER &&
			      t->action == HD_ACT_START);
		/* A node that waits knows nothing of its predecessor: it may only give up. */
		if (t->state == HD_ST_WAITING)
			CHECK(!hands_over);
	}
}

static void a_loss_ends_the_command_from_every_state(void)
{
	for (int s = 0; s < HD_ST_COUNT; s++) {
		const struct hd_transition *t = hd_election_step((enum hd_state)s, HD_EV_LOSS);

		if (!may_run((enum hd_state)s) || s == HD_ST_LOST || s == HD_ST_LOST_ENDING)
			continue;
		CHECK(t != NULL && t->action == HD_ACT_END);
	}
}

/* From every state some events lead to the end, and a signal always does. */
static void a_signal_ends_every_state(void)
{
	for (int s = 0; s < HD_ST_COUNT; s++) {
		enum hd_state state = (enum hd_state)s;

		for (int steps = 0; steps < 5; steps++) {
			const struct hd_transition *t = hd_election_step(state, HD_EV_SIGNAL);

			if (t == NULL)
				t = hd_election_step(state, HD_EV_GONE);
			if (t == NULL)
				break;
			state = t->next;
		}
		CHECK_MSG(state == HD_ST_ENDED || state == HD_ST_REFUSED,
		          "%s does not end on a signal", hd_state_word((enum hd_state)s));
	}
}

static struct hd_led_term led(void)
{
	return (struct hd_led_term){
		.led_token = 7,
		.clear_token = 6,
		.same_incarnation = true,
		.same_start = true,
		.advisory = true,
		.pinned = true,
		.direct = true,
		.lease_ms = 45000,
		.wait_ms = 1000,
	};
}

static void a_clear_role_starts_at_once(void)
{
	struct hd_led_term t = led();

	t.clear_token = 7;
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 0);
	t.clear_token = 9;
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 0);
	/* A restart since then changes nothing: the dead stay dead. */
	t.same_start = false;
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 0);
	/* But on another timeline the word "clear" may be about another history. */
	t.same_incarnation = false;
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 45000);
}

static void a_seen_loss_waits_what_was_declared(void)
{
	struct hd_led_term t = led();

	CHECK_INT(hd_takeover_wait(&t, 30000).kind, HD_TAKEOVER_SEEN);
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 1000);
	t.wait_ms = 2500;
	CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 2500);
}

static void each_doubt_alone_costs_a_whole_lease(void)
{
	for (int doubt = 0; doubt < 5; doubt++) {
		struct hd_led_term t = led();
		bool *const fields[] = { &t.same_incarnation, &t.same_start, &t.advisory, &t.pinned,
			                 &t.direct };

		*fields[doubt] = false;
		CHECK_INT(hd_takeover_wait(&t, 30000).kind, HD_TAKEOVER_BLIND);
		CHECK_INT(hd_takeover_wait(&t, 30000).wait_ms, 45000);
		CHECK_INT(hd_takeover_wait(&t, 60000).wait_ms, 60000);
		CHECK(hd_takeover_wait(&t, 60000).reason != NULL);
	}
}

static void the_first_term_waits_only_where_one_may_be_lost(void)
{
	struct hd_led_term t = { .same_incarnation = true };

	CHECK_INT(hd_takeover_wait(&t, 45000).wait_ms, 0);
	t.same_incarnation = false;
	CHECK_INT(hd_takeover_wait(&t, 45000).wait_ms, 45000);
}

static const struct hd_trust_plan plan = { .lease_ms = 45000,
	                                   .heartbeat_ms = 15000,
	                                   .lost_grace_ms = 500 };

static hd_mono at(int64_t ms)
{
	return hd_after((hd_mono){ 0 }, ms);
}

static void the_budget_must_fit_into_the_lease(void)
{
	struct hd_trust_plan p = plan;
	struct hd_error err;

	CHECK_INT(hd_trust_check(&p, &err), HD_OK);
	p.lease_ms = 26000; /* 15 s + 10 s + 500 ms + 500 ms */
	CHECK_INT(hd_trust_check(&p, &err), HD_OK);
	p.lease_ms = 25999;
	CHECK_INT(hd_trust_check(&p, &err), HD_INVALID);
	CHECK(strstr(err.message, "26000ms") != NULL && err.hint[0] != '\0');
	p = (struct hd_trust_plan){ .lease_ms = 5000, .heartbeat_ms = 2000, .lost_grace_ms = 0 };
	CHECK_INT(hd_trust_check(&p, &err),
	          HD_OK); /* 2 s + 2 s + 500 ms: the timeout is the heartbeat */
}

static void trust_counts_from_sending(void)
{
	struct hd_trust t;

	hd_trust_begin(&t, &plan, at(1000));
	CHECK(t.trusted_until.ns == at(46000).ns);
	CHECK(t.beat_due.ns == at(16000).ns);
	hd_trust_beat(&t, at(16000));
	CHECK(t.trusted_until.ns == at(46000).ns); /* sent is not answered */
	CHECK(hd_trust_beat_deadline(&t).ns == at(26000).ns);
	CHECK(hd_trust_beat_good(&t, at(20000)));
	CHECK(t.trusted_until.ns == at(61000).ns);
}

static void an_answer_after_the_end_is_none(void)
{
	struct hd_trust t;

	hd_trust_begin(&t, &plan, at(0));
	hd_trust_beat(&t, at(44000));
	CHECK(hd_trust_beat_deadline(&t).ns ==
	      at(45000).ns); /* the trust ends before the timeout */
	CHECK(!hd_trust_beat_good(&t, at(45000)));
	CHECK(t.trusted_until.ns == at(45000).ns);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(one_row_for_state_and_event),
		TAP_TEST(nothing_is_released_before_the_tree_is_gone),
		TAP_TEST(a_loss_ends_the_command_from_every_state),
		TAP_TEST(a_signal_ends_every_state),
		TAP_TEST(a_clear_role_starts_at_once),
		TAP_TEST(a_seen_loss_waits_what_was_declared),
		TAP_TEST(each_doubt_alone_costs_a_whole_lease),
		TAP_TEST(the_first_term_waits_only_where_one_may_be_lost),
		TAP_TEST(the_budget_must_fit_into_the_lease),
		TAP_TEST(trust_counts_from_sending),
		TAP_TEST(an_answer_after_the_end_is_none),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
