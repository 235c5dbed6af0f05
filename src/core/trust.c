#include "core/trust.h"

#include "base/error.h"
#include <inttypes.h>

#define BEAT_TIMEOUT_MOST_MS 10000

int64_t hd_trust_beat_timeout_ms(const struct hd_trust_plan *plan)
{
	return plan->heartbeat_ms < BEAT_TIMEOUT_MOST_MS ? plan->heartbeat_ms
	                                                 : BEAT_TIMEOUT_MOST_MS;
}

int64_t hd_trust_wait_ms(const struct hd_trust_plan *plan)
{
	return plan->lost_grace_ms + HD_KILL_MARGIN_MS;
}

hd_status hd_trust_check(const struct hd_trust_plan *plan, struct hd_error *err)
{
	int64_t timeout = hd_trust_beat_timeout_ms(plan);
	int64_t sum = plan->heartbeat_ms + timeout + hd_trust_wait_ms(plan);

	if (plan->heartbeat_ms < 100)
		return hd_fail(err, HD_INVALID,
		               "a heartbeat of %" PRId64 "ms is too short: 100ms at least",
		               plan->heartbeat_ms);
	if (sum <= plan->lease_ms - plan->margin_ms)
		return HD_OK;
	(void)hd_fail(err, HD_INVALID,
	              "a lease of %" PRId64 "ms is too short: heartbeat %" PRId64
	              "ms + its timeout %" PRId64 "ms + lost-grace %" PRId64
	              "ms + kill margin %dms = %" PRId64 "ms must fit into it",
	              plan->lease_ms, plan->heartbeat_ms, timeout, plan->lost_grace_ms,
	              HD_KILL_MARGIN_MS, sum);
	hd_hint(err, "raise --lease, or lower --heartbeat or --lost-grace");
	return HD_INVALID;
}

void hd_trust_begin(struct hd_trust *t, const struct hd_trust_plan *plan, hd_mono sent)
{
	t->plan = *plan;
	t->beat_sent = sent;
	t->beat_due = hd_after(sent, plan->heartbeat_ms);
	t->trusted_until = hd_after(sent, plan->lease_ms - plan->margin_ms);
}

void hd_trust_beat(struct hd_trust *t, hd_mono now)
{
	t->beat_sent = now;
	t->beat_due = hd_after(now, t->plan.heartbeat_ms);
}

bool hd_trust_beat_good(struct hd_trust *t, hd_mono now)
{
	if (!hd_before(now, t->trusted_until))
		return false;
	t->trusted_until = hd_after(t->beat_sent, t->plan.lease_ms - t->plan.margin_ms);
	return true;
}

hd_mono hd_trust_beat_deadline(const struct hd_trust *t)
{
	return hd_earlier(hd_after(t->beat_sent, hd_trust_beat_timeout_ms(&t->plan)),
	                  t->trusted_until);
}
