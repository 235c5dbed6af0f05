/*
 * contain.h - what keeps hold of a command's descendants beyond the sweep of its tree.
 *
 * The sweep (app/tree.h) needs somebody to do it. A control group and a pid namespace end
 * everything also when the guard is killed together with the elector, or while that is stopped: the
 * first by a keeper, a third process that waits for the guard to be gone, the second by the kernel.
 */
#ifndef HD_RUN_CONTAIN_H
#define HD_RUN_CONTAIN_H

#include <howdah/error.h>

enum hd_contain {
	HD_CONTAIN_NONE,
	HD_CONTAIN_CGROUP,
	HD_CONTAIN_PIDNS,
};

const char *hd_contain_word(enum hd_contain contain);

/*
 * What --contain WORD means here. "auto" is a control group where one may be made, since the
 * command does not notice it, and else nothing: a pid namespace changes what the command sees, so
 * it must be asked for. HD_REFUSED: what was asked for is not possible here; the hint says what to
 * do. Ends what dead electors have left in control groups beside ours.
 */
HD_MUST_CHECK hd_status hd_contain_choose(const char *word, enum hd_contain *ret,
                                          struct hd_error *err);

/* The descriptor that a keeper finds open: a control group, locked by the guard. */
#define HD_KEEPER_FD_CGROUP 3

/* `howdah part keeper`: when nobody has the group locked any more, ends and removes it. */
int hd_keeper_main(void);

#endif
