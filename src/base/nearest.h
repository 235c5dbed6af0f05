/* nearest.h - "did you mean": the closest of some names to a mistyped one. */
#ifndef HD_BASE_NEAREST_H
#define HD_BASE_NEAREST_H

/*
 * Remembers the nearest of the names it was shown, by edit distance (a letter added, left out,
 * changed, or two swapped). A name further away than a third of its length is no suggestion.
 */
struct hd_nearest {
	const char *wanted;
	const char *best; /* borrowed; NULL while nothing is near */
	int distance;
};

void hd_nearest_init(struct hd_nearest *n, const char *wanted);
void hd_nearest_offer(struct hd_nearest *n, const char *name);

#endif
