/*
 * pidns.h - a pid namespace (pid_namespaces(7)) for one child and all that descends from it.
 *
 * The kernel ends everything in it when its first process ends, and that one has this process's
 * death as its death signal. /proc stays as it was mounted: it shows the numbers of outside.
 */
#ifndef HD_APP_PIDNS_H
#define HD_APP_PIDNS_H

/*
 * The next child that is forked is the first of a new pid namespace; where that needs a privilege
 * which this process has not, of a new user namespace as well, which has only its own user and
 * group, and which this process enters. 0, or the errno.
 */
int hd_pidns_enter(void);

/* Whether hd_pidns_enter() and the fork behind it would work; leaves no trace. 0, or the errno. */
int hd_pidns_try(void);

/*
 * In the first process: forks and returns in the new process. The first one stays behind with no
 * descriptor, takes the status of orphans, and ends as the new one does: with its exit code, or 128
 * and its signal. -1: see errno.
 */
int hd_pidns_leave_init(void);

#endif
