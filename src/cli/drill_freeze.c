/* drill_freeze.c - a whole node stands still, as when its machine is paused: nothing of it may act.
 */
#include "app/procfs.h"
#include "base/error.h"
#include "cli/drill.h"
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#define PASSES_MOST 50 /* while it forks */

struct walk {
	int n;
	pid_t pid[HD_DRILL_FROZEN_MAX];
	bool full;
};

static void add(pid_t pid, void *arg)
{
	struct walk *w = arg;

	if (w->n == HD_DRILL_FROZEN_MAX)
		w->full = true;
	else
		w->pid[w->n++] = pid;
}

static bool is_stopped(pid_t pid)
{
	struct hd_procfs_stat st;

	return !hd_procfs_stat(pid, &st) || st.state == 'T' || st.state == 'Z' || st.state == 'X';
}

/* Stops those that are not yet; how many that were. Parents come first: one that stands still has
 * no new children. */
static int stop_all(const struct walk *w)
{
	int moving = 0;

	for (int i = 0; i < w->n; i++) {
		if (is_stopped(w->pid[i]))
			continue;
		(void)kill(w->pid[i], SIGSTOP);
		moving++;
	}
	return moving;
}

static void remember(struct hd_drill *d, const struct walk *w)
{
	for (int i = 0; i < w->n; i++) {
		int fd = pidfd_open(w->pid[i], 0);

		if (fd >= 0)
			d->frozen[d->nfrozen++] = fd;
	}
}

hd_status hd_drill_freeze(struct hd_drill *d, int node, struct hd_error *err)
{
	static struct walk w;

	for (int pass = 0; pass < PASSES_MOST; pass++) {
		w.n = 0;
		w.full = false;
		add(d->nodes[node].process.pid, &w);
		for (int i = 0; i < w.n; i++)
			hd_procfs_children(w.pid[i], add, &w);
		if (w.full)
			return hd_fail(err, HD_REFUSED,
			               "a node has more than %d processes: they are not stopped",
			               HD_DRILL_FROZEN_MAX);
		if (stop_all(&w) == 0) {
			remember(d, &w);
			return HD_OK;
		}
		(void)usleep(1000);
	}
	remember(d, &w);
	return hd_fail(err, HD_REFUSED, "the processes of a node can't be stopped");
}

/* The command first: it has the longest time to do what it must not. */
void hd_drill_thaw(struct hd_drill *d)
{
	for (int i = d->nfrozen - 1; i >= 0; i--) {
		(void)pidfd_send_signal(d->frozen[i], SIGCONT, NULL, 0);
		(void)close(d->frozen[i]);
	}
	d->nfrozen = 0;
}
