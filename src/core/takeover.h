/*
 * takeover.h - how long a node that got a role must wait before its command may start.
 *
 * A lock can be freed before the old leader can know. What the taker may conclude from the row of
 * the role is decided here and nowhere else; it is arithmetic, so that a simulator can run it.
 */
#ifndef HD_CORE_TAKEOVER_H
#define HD_CORE_TAKEOVER_H

#include <stdbool.h>
#include <stdint.h>

/* The last term whose command may have run, as howdah.leader_take() answers it. */
struct hd_led_term {
	int64_t led_token;     /* 0: nobody ever led */
	int64_t clear_token;   /* every holder up to this one is known to be dead */
	bool same_incarnation; /* system identifier and timeline of that term are today's */
	bool same_start;       /* and so is the start of the server */
	bool advisory;
	bool pinned; /* its keepalives could not free the lock early */
	bool direct; /* verdict of its probe */
	int64_t lease_ms;
	bool watched;    /* it held the role until now, and was silent for a whole lease */
	int64_t wait_ms; /* what it declared to need after a loss that both sides can see */
};

enum hd_takeover_case {
	HD_TAKEOVER_CLEAR, /* nobody can be running: start at once */
	HD_TAKEOVER_SEEN,  /* the old leader sees the loss as soon as the server does */
	HD_TAKEOVER_BLIND, /* it may not know for a whole lease */
};

struct hd_takeover {
	enum hd_takeover_case kind;
	int64_t wait_ms;    /* counted from when the role was got */
	const char *reason; /* for the log; static */
};

struct hd_takeover hd_takeover_wait(const struct hd_led_term *led, int64_t own_lease_ms);

#endif
