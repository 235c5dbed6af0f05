/*
 * held.h - until when a command may trust its leadership: eight bytes that it can read at any time.
 *
 * A memfd holds one int64_t: nanoseconds of CLOCK_BOOTTIME, 0 once leadership is over. The guard
 * writes it; the command inherits a descriptor that can't write, and seals keep it from opening one
 * that can.
 */
#ifndef HD_APP_HELD_H
#define HD_APP_HELD_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stdint.h>

/* In the command: the variable that names the descriptor, and its number. Shells use the low ones
 * for themselves, and scripts those of one digit. */
#define HD_HELD_ENV    "HOWDAH_HELD_FD"
#define HD_HELD_NUMBER 43

struct hd_held {
	int fd;                    /* read-only, close-on-exec; to be passed on */
	_Atomic int64_t *deadline; /* shared mapping */
};

HD_MUST_CHECK hd_status hd_held_init(struct hd_held *h, struct hd_error *err);
void hd_held_release(struct hd_held *h);

/* One aligned store: a reader sees the old value or the new one. {0} is "not held". */
void hd_held_set(struct hd_held *h, hd_mono deadline);

/*
 * Reads the descriptor that HOWDAH_HELD_FD names. HD_INVALID: the variable is missing, or what it
 * names was not made by hd_held_init.
 */
HD_MUST_CHECK hd_status hd_held_read(hd_mono *ret_deadline, struct hd_error *err);

#endif
