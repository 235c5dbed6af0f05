/*
 * cgroup.h - a control group (cgroups(7), version 2) of one's own, to end all processes in at once.
 *
 * It is made inside the group that this process is in, and needs no controller. Its descriptor is
 * its lock as well (flock(2)): while anybody has it open it belongs to somebody, and one that is
 * free was left behind. Nothing is written but cgroup.procs and cgroup.kill.
 */
#ifndef HD_APP_CGROUP_H
#define HD_APP_CGROUP_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A new empty one: the caller's folder descriptor, close-on-exec and locked. HD_REFUSED: this
 * process may not make one, or the kernel can't end one (Linux 5.14 can); the hint says what to do.
 */
HD_MUST_CHECK hd_status hd_cgroup_make(int *ret_fd, struct hd_error *err);

/* A second descriptor, which does not share the lock of the first; -1: see errno. */
int hd_cgroup_open_again(int fd);

/* Makes one, has a process join it, ends it. HD_REFUSED as above. */
HD_MUST_CHECK hd_status hd_cgroup_try(struct hd_error *err);

/* This process joins; only a call or two, for a child before its exec. False: see errno. */
bool hd_cgroup_join(int fd);

/* SIGKILL to everything in it and below, again until it is empty (true) or the deadline passes. */
bool hd_cgroup_end(int fd, hd_mono deadline);

/* Processes in it (not below), at most `max`; how many were found. */
size_t hd_cgroup_living(int fd, pid_t *ret_pids, size_t max);

/* Takes an empty one away, with those that were made below; closes `fd`. -1 is fine. */
void hd_cgroup_remove(int fd);

/* Ends and removes those beside us that are nobody's any more; how many there were. */
int hd_cgroup_clean_up(void);

#endif
