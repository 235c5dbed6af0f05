#include "core/watch.h"

static bool same_value(const struct hd_watch_value *a, const struct hd_watch_value *b)
{
	return a->system == b->system && a->timeline == b->timeline && a->started == b->started &&
	       a->token == b->token && a->beat == b->beat;
}

void hd_watch_see(struct hd_watch *w, const struct hd_watch_value *value, hd_mono arrived)
{
	if (w->seen && same_value(&w->value, value))
		return;
	*w = (struct hd_watch){ .value = *value, .since = arrived, .seen = true };
}

bool hd_watch_over(const struct hd_watch *w, int64_t lease_ms, hd_mono now)
{
	return w->seen && !hd_before(now, hd_after(w->since, lease_ms));
}
