/*
 * tree.h - signalling and ending all processes that descend from this one.
 *
 * The caller is a child subreaper (prctl(2)), so whatever its descendants do (setsid, double fork),
 * they stay its descendants, and an empty list of children means that nothing is left. Nothing here
 * allocates.
 */
#ifndef HD_APP_TREE_H
#define HD_APP_TREE_H

#include <howdah/clock.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HD_TREE_SPARED_MAX 256

struct hd_tree {
	pid_t leader; /* the child whose wait status is wanted; 0: none */
	bool group;   /* the leader leads a process group, which is signalled as one */
	bool ended;   /* the leader was reaped: its number means nothing any more */
	int status;   /* of the leader, once ended */

	/* Children that are none of our business, with all their descendants: those that a shell
	   had before it executed us, or that a process 1 adopted. */
	size_t nspared;
	pid_t spared[HD_TREE_SPARED_MAX];
};

/* Spares all present children but the leader. */
void hd_tree_spare_children(struct hd_tree *t);

/* `sig` to the leader's group and to every other descendant, once. */
void hd_tree_signal(const struct hd_tree *t, int sig);

/*
 * Takes the wait status of every child that has ended; the only place that may, since it keeps the
 * leader's. With `keep_leader` an ended leader is left a zombie, which keeps its group's number
 * from being given to strangers. True when no child is left at all.
 */
bool hd_tree_reap(struct hd_tree *t, bool keep_leader);

/* SIGKILL to all, reaping, until nothing is left (true) or the deadline passes. */
bool hd_tree_sweep(struct hd_tree *t, hd_mono deadline);

/* Living descendants, at most `max`; how many were found. */
size_t hd_tree_living(const struct hd_tree *t, pid_t *ret_pids, size_t max);

#endif
