/*
 * watch.h - take-over of a lease row: has the row stood still for a whole lease?
 *
 * Nobody compares clocks. A stand-by watches what the row says and how long it went on saying it,
 * on its own clock. The watch begins when the *answer* that first showed the value arrived: the
 * holder counts from when it *sent* the renewal that made the value, so it always gives up first.
 */
#ifndef HD_CORE_WATCH_H
#define HD_CORE_WATCH_H

#include <howdah/clock.h>

/*
 * System, timeline and start are those of the server that answered, read in the statement that read
 * the row, never what the row has stored of them: a row travels to a promoted standby, and what it
 * says there may be an older moment of the same term. What a server does not tell is 0.
 */
struct hd_watch_value {
	int64_t system;
	int64_t timeline;
	int64_t started; /* microseconds since 1970 */
	int64_t token;
	int64_t beat;
};

/* All zero: nothing was seen yet. */
struct hd_watch {
	struct hd_watch_value value;
	hd_mono since;
	bool seen;
};

/* A value was read, and its answer arrived at `arrived`: any change restarts the watch. */
void hd_watch_see(struct hd_watch *w, const struct hd_watch_value *value, hd_mono arrived);

/*
 * Whether the take-over may be sent at `now`. `lease_ms`: the larger of the row's lease and one's
 * own.
 */
bool hd_watch_over(const struct hd_watch *w, int64_t lease_ms, hd_mono now);

#endif
