#include "core/ending.h"

bool hd_ending_held(const struct hd_ending *e)
{
	return e->phase == HD_ENDING_NONE || e->phase == HD_ENDING_PLANNED;
}

hd_mono hd_ending_last(const struct hd_ending *e)
{
	return hd_after(e->trusted_until, -e->kill_margin_ms);
}

/* When to give up on a next word of trust, so that the command still has its grace. */
static hd_mono loss_instant(const struct hd_ending *e)
{
	return hd_after(hd_ending_last(e), -e->lost_grace_ms);
}

hd_mono hd_ending_due(const struct hd_ending *e)
{
	switch (e->phase) {
	case HD_ENDING_NONE:
		return loss_instant(e);
	case HD_ENDING_PLANNED:
		return hd_earlier(e->kill_at, loss_instant(e));
	case HD_ENDING_LOST:
	case HD_ENDING_OVER:
		break;
	}
	return e->kill_at;
}

bool hd_ending_trust_over(const struct hd_ending *e, hd_mono now)
{
	return hd_ending_held(e) && !hd_before(now, loss_instant(e));
}

bool hd_ending_kill_due(const struct hd_ending *e, hd_mono now)
{
	return (e->phase == HD_ENDING_PLANNED || e->phase == HD_ENDING_LOST) &&
	       !hd_before(now, e->kill_at);
}

void hd_ending_trust(struct hd_ending *e, hd_mono until)
{
	if (hd_before(e->trusted_until, until))
		e->trusted_until = until;
}

/* What was promised before still counts: an end can only come earlier. */
static void kill_at(struct hd_ending *e, hd_mono at)
{
	e->kill_at = e->phase == HD_ENDING_PLANNED ? hd_earlier(e->kill_at, at) : at;
}

void hd_ending_stop(struct hd_ending *e, int64_t grace_ms, hd_mono now)
{
	kill_at(e, hd_after(now, grace_ms > 0 ? grace_ms : 0));
	e->phase = HD_ENDING_PLANNED;
}

bool hd_ending_lose(struct hd_ending *e, hd_mono now)
{
	kill_at(e, hd_earlier(hd_after(now, e->lost_grace_ms), hd_ending_last(e)));
	e->phase = HD_ENDING_LOST;
	return hd_before(now, e->kill_at);
}
