/*
 * follow.h - what the files of `howdah leader watch` share: who led last, and what to do at a
 * change.
 *
 * The history has every change of hands in its order; the row and the lock say how it is now, and
 * with that what no history tells: that a leader is gone without a word.
 */
#ifndef HD_CLI_FOLLOW_H
#define HD_CLI_FOLLOW_H

#include "app/config.h"
#include "pg/exec.h"

struct hd_follow {
	const struct hd_config *config;
	const char *role;
	bool known; /* a first line was printed */
	bool led;
	int64_t token; /* of who leads, or led last; 0: nobody ever did */
	char node[96];
	char address[256];
	int64_t last; /* the line of the history that was read last; -1: none yet */
	bool ended;   /* standard output is gone */
};

/*
 * Reads what is new and tells it: its line, then its command. HD_INVALID: nobody has run the role
 * yet.
 */
hd_status hd_follow_read(struct hd_follow *f, struct hd_session *s, struct hd_error *err);

/*
 * follow_exec.c: runs the command of a change, if there is one, until it has ended. Signals are
 * held; one that comes ends the command as well.
 */
void hd_follow_exec(const struct hd_follow *f);

#endif
