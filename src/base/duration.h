/* duration.h - lengths of time as people write them: 500ms 2s 5m 1h 1d. */
#ifndef HD_BASE_DURATION_H
#define HD_BASE_DURATION_H

#include <howdah/error.h>
#include <stddef.h>
#include <stdint.h>

#define HD_DURATION_MAX_MS (INT64_C(366) * 24 * 3600 * 1000)
#define HD_DURATION_TEXT   24

/*
 * Reads one duration, from 0 to 366 days, in milliseconds. A number needs its unit, so that "30" is
 * never taken for the wrong one; a lone "0" is fine. HD_INVALID names what is wrong with `text`.
 */
hd_status hd_duration_parse(const char *text, int64_t *ret_ms, struct hd_error *err);

/* Writes the shortest exact form ("90s", "1500ms") into `buf` of HD_DURATION_TEXT. Returns `buf`.
 */
char *hd_duration_format(int64_t ms, char *buf, size_t size);

#endif
