/*
 * backoff.h - how long to wait before the next try.
 *
 * Decorrelated jitter: each pause is drawn between the base and three times the last one, up to a
 * cap, so that nodes that failed together do not come back together.
 */
#ifndef HD_BASE_BACKOFF_H
#define HD_BASE_BACKOFF_H

#include <stdint.h>

struct hd_backoff {
	int64_t base_ms;
	int64_t cap_ms;
	int64_t last_ms;
};

void hd_backoff_init(struct hd_backoff *b, int64_t base_ms, int64_t cap_ms);
void hd_backoff_reset(struct hd_backoff *b);

/* The next pause, from the random number given: pure, so that tests can replay it. */
int64_t hd_backoff_next(struct hd_backoff *b, uint64_t random);

/* `ms` with up to a tenth taken off or added. */
int64_t hd_jitter(int64_t ms, uint64_t random);

#endif
