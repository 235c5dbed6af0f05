/*
 * trust.h - the times of one term: until when it may be trusted, when the next heartbeat is due.
 *
 * Every instant comes from the caller, on one clock, its own. A heartbeat counts from the moment it
 * was *sent*: the server's own count starts later, so the holder always gives up first.
 */
#ifndef HD_CORE_TRUST_H
#define HD_CORE_TRUST_H

#include <howdah/clock.h>

/* All lengths in milliseconds. */
struct hd_trust_plan {
	int64_t lease_ms;
	int64_t heartbeat_ms;
	int64_t lost_grace_ms;
	int64_t margin_ms; /* lease row: how much earlier than the lease the holder gives up */
};

#define HD_KILL_MARGIN_MS 500

/* A heartbeat that is not answered by then is a lost one. */
int64_t hd_trust_beat_timeout_ms(const struct hd_trust_plan *plan);

/* What a term needs between a loss that both sides see and the death of its command. */
int64_t hd_trust_wait_ms(const struct hd_trust_plan *plan);

/*
 * heartbeat + its timeout + lost-grace + kill margin must fit into the lease: else a command could
 * outlive it. HD_INVALID names the sum.
 */
hd_status hd_trust_check(const struct hd_trust_plan *plan, struct hd_error *err);

struct hd_trust {
	struct hd_trust_plan plan;
	hd_mono trusted_until;
	hd_mono beat_sent; /* of the heartbeat in flight, or the last one */
	hd_mono beat_due;
};

/* The term begins with the statement that was sent at `sent` and gave the role. */
void hd_trust_begin(struct hd_trust *t, const struct hd_trust_plan *plan, hd_mono sent);
void hd_trust_beat(struct hd_trust *t, hd_mono now);

/*
 * The heartbeat was answered at `now`. False when that was after the trust had ended: then the term
 * is over, whatever the answer said.
 */
bool hd_trust_beat_good(struct hd_trust *t, hd_mono now);

/* When the answer to the heartbeat in flight must have come: its timeout, or the end of the trust.
 */
hd_mono hd_trust_beat_deadline(const struct hd_trust *t);

#endif
