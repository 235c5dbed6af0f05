#include "app/tree.h"

#include "app/procfs.h"
#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One pass over the tree, breadth first. What does not fit is met by the next pass. */
#define WALK_MAX 4096

struct walk {
	const struct hd_tree *tree;
	size_t n;
	size_t direct; /* the first so many are children of this process */
	pid_t parent;  /* whose children are being read */
	pid_t pids[WALK_MAX];
	pid_t parents[WALK_MAX];
};

/* Too large for a stack, and there is one thread. */
static struct walk walk;

static bool is_spared(const struct hd_tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nspared; i++)
		if (t->spared[i] == pid)
			return true;
	return false;
}

static void forget_spared(struct hd_tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nspared; i++)
		if (t->spared[i] == pid)
			t->spared[i] = t->spared[--t->nspared];
}

static void add_to_walk(pid_t pid, void *arg)
{
	struct walk *w = arg;

	if (w->n == WALK_MAX || (w->parent == getpid() && is_spared(w->tree, pid)))
		return;
	w->parents[w->n] = w->parent;
	w->pids[w->n++] = pid;
}

static void add_children(struct walk *w, pid_t parent)
{
	w->parent = parent;
	hd_procfs_children(parent, add_to_walk, w);
}

static void walk_begin(struct walk *w, const struct hd_tree *t)
{
	w->tree = t;
	w->n = 0;
	add_children(w, getpid());
	w->direct = w->n;
}

static bool in_leader_group(const struct hd_tree *t, const struct hd_procfs_stat *st)
{
	return t->group && !t->ended && st->group == t->leader;
}

/*
 * The number of a process that is not our child can pass to a stranger at any moment, so the signal
 * goes through a pidfd that was opened before its parent was looked at.
 */
static void signal_deeper(const struct walk *w, size_t i, int sig)
{
	struct hd_procfs_stat st;
	int fd = pidfd_open(w->pids[i], 0);

	if (fd < 0)
		return;
	if (hd_procfs_stat(w->pids[i], &st) &&
	    (st.parent == w->parents[i] || st.parent == getpid()) && !in_leader_group(w->tree, &st))
		(void)pidfd_send_signal(fd, sig, NULL, 0);
	(void)close(fd);
}

/* A child keeps its number: only hd_tree_reap() takes its status. */
static void signal_child(const struct walk *w, size_t i, int sig)
{
	struct hd_procfs_stat st;

	if (!w->tree->group || (hd_procfs_stat(w->pids[i], &st) && !in_leader_group(w->tree, &st)))
		(void)kill(w->pids[i], sig);
}

/* From the first on: reads their children as well, which makes the list longer. */
static void walk_deeper(struct walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		add_children(w, w->pids[i]);
}

/* At once what is found, or those that fork all the time are always gone when their turn comes. */
static void kill_pass(struct walk *w, const struct hd_tree *t)
{
	size_t killed;

	walk_begin(w, t);
	for (killed = 0; killed < w->n; killed++)
		(void)kill(w->pids[killed], SIGKILL);
	for (size_t i = 0; i < w->n; i++) {
		add_children(w, w->pids[i]);
		for (; killed < w->n; killed++)
			signal_deeper(w, killed, SIGKILL);
	}
}

void hd_tree_spare_children(struct hd_tree *t)
{
	t->nspared = 0;
	walk_begin(&walk, t);
	for (size_t i = 0; i < walk.n && t->nspared < HD_TREE_SPARED_MAX; i++)
		if (walk.pids[i] != t->leader)
			t->spared[t->nspared++] = walk.pids[i];
}

/* One call for the whole group: none of its members can fork in between. */
static void signal_group(const struct hd_tree *t, int sig)
{
	if (t->group && !t->ended)
		(void)kill(-t->leader, sig);
}

/* The whole tree is known before the first signal, which may make it fall apart. */
void hd_tree_signal(const struct hd_tree *t, int sig)
{
	walk_begin(&walk, t);
	walk_deeper(&walk);
	signal_group(t, sig);
	for (size_t i = 0; i < walk.n; i++)
		if (i < walk.direct)
			signal_child(&walk, i, sig);
		else
			signal_deeper(&walk, i, sig);
}

bool hd_tree_reap(struct hd_tree *t, bool keep_leader)
{
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
			return errno == ECHILD;
		if (info.si_pid == 0 || (info.si_pid == t->leader && keep_leader))
			return false;
		if (waitpid(info.si_pid, &status, WNOHANG) != info.si_pid)
			continue;
		forget_spared(t, info.si_pid);
		if (info.si_pid == t->leader && !t->ended) {
			t->status = status;
			t->ended = true;
		}
	}
}

/* Until a child ends, or a little while for those that are nobody's child yet. */
static void wait_for_a_death(const sigset_t *chld)
{
	const struct timespec pause = { .tv_nsec = 5 * 1000000 };

	(void)sigtimedwait(chld, NULL, &pause);
}

/* Children that were spared are no reason to go on. */
static bool nothing_left(struct hd_tree *t)
{
	if (hd_tree_reap(t, false))
		return true;
	if (t->nspared == 0)
		return false;
	walk_begin(&walk, t);
	return walk.n == 0;
}

bool hd_tree_sweep(struct hd_tree *t, hd_mono deadline)
{
	sigset_t chld, old;
	bool empty = false;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, &old);
	for (;;) {
		signal_group(t, SIGKILL);
		kill_pass(&walk, t);
		empty = nothing_left(t);
		if (empty || !hd_before(hd_now(), deadline))
			break;
		wait_for_a_death(&chld);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return empty;
}

size_t hd_tree_living(const struct hd_tree *t, pid_t *ret_pids, size_t max)
{
	struct hd_procfs_stat st;
	size_t n = 0;

	walk_begin(&walk, t);
	walk_deeper(&walk);
	for (size_t i = 0; i < walk.n && n < max; i++)
		if (hd_procfs_stat(walk.pids[i], &st) && st.state != 'Z' && st.state != 'X')
			ret_pids[n++] = walk.pids[i];
	return n;
}
