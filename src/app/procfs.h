/* procfs.h - what /proc says about processes; no call allocates. */
#ifndef HD_APP_PROCFS_H
#define HD_APP_PROCFS_H

#include <stdbool.h>
#include <sys/types.h>

struct hd_procfs_stat {
	char state; /* R S D T Z X … as proc(5) has them */
	pid_t parent;
	pid_t group;
};

/*
 * Shows the children of all threads of `pid` to `each`. A moment's picture: while children come and
 * go some can be missed, so whoever must meet all of them looks again.
 */
void hd_procfs_children(pid_t pid, void (*each)(pid_t child, void *arg), void *arg);

/* False when there is no such process. */
bool hd_procfs_stat(pid_t pid, struct hd_procfs_stat *ret);

#endif
