/*
 * watchdog.h - the receiving end of sd_notify(3), for the watchdog alone.
 *
 * The socket has an abstract name, so nothing is left in any folder, whoever is killed, and a
 * command that changes its user or its root can still send. Not heard is what sends from another
 * network namespace.
 */
#ifndef HD_RUN_WATCHDOG_H
#define HD_RUN_WATCHDOG_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HD_WATCHDOG_LEAST_MS 100
#define HD_WATCHDOG_MOST_MS  (24 * 60 * 60 * 1000)

/* What a message says about the watchdog; all other assignments are somebody else's business. */
struct hd_watchdog_news {
	bool ping;           /* WATCHDOG=1 */
	bool trigger;        /* WATCHDOG=trigger: the sender knows itself that it is broken */
	int64_t interval_ms; /* WATCHDOG_USEC=…, within the bounds above; 0: none */
};

/* Lines NAME=value. Bytes that make no sense mean nothing. */
struct hd_watchdog_news hd_watchdog_parse(const char *text, size_t size);

struct hd_watchdog {
	int fd;              /* for poll(2); -1: there is no watchdog */
	int64_t interval_ms; /* without a ping */
	hd_mono due;         /* when the silence is too long */
	bool triggered;
	bool excused; /* once since the last ping, for time that passed unseen */
	char name[64];
};

HD_MUST_CHECK hd_status hd_watchdog_init(struct hd_watchdog *w, int64_t interval_ms,
                                         struct hd_error *err);
void hd_watchdog_release(struct hd_watchdog *w);

/* From now on there must be pings. */
void hd_watchdog_start(struct hd_watchdog *w);

/*
 * Reads what was sent, never blocking, a bounded number of messages. Only those of living
 * descendants of this process count, and of senders that are gone already and had this process's
 * user. False when the silence has been too long or the command has said that it is broken.
 */
bool hd_watchdog_good(struct hd_watchdog *w, hd_mono now);

/* Time passed in which nobody here could read or send: the silence begins again, once. */
bool hd_watchdog_excuse(struct hd_watchdog *w, hd_mono now);

#endif
