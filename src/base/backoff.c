#include "base/backoff.h"

void hd_backoff_init(struct hd_backoff *b, int64_t base_ms, int64_t cap_ms)
{
	*b = (struct hd_backoff){ .base_ms = base_ms, .cap_ms = cap_ms, .last_ms = 0 };
}

void hd_backoff_reset(struct hd_backoff *b)
{
	b->last_ms = 0;
}

int64_t hd_backoff_next(struct hd_backoff *b, uint64_t random)
{
	int64_t span = b->last_ms * 3 - b->base_ms;
	int64_t ms = b->base_ms + (span > 0 ? (int64_t)(random % (uint64_t)span) : 0);

	b->last_ms = ms > b->cap_ms ? b->cap_ms : ms;
	if (b->last_ms < b->base_ms)
		b->last_ms = b->base_ms;
	return b->last_ms;
}

int64_t hd_jitter(int64_t ms, uint64_t random)
{
	int64_t tenth = ms / 10;

	return tenth == 0 ? ms : ms - tenth + (int64_t)(random % (uint64_t)(2 * tenth + 1));
}
