/* demo_node.c - the nodes of the demo: each one `howdah run` of this very program. */
#include "base/base.h"
#include "base/error.h"
#include "cli/demo.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 5000
#define LEAVE_MS 3000 /* a node that was asked to stop */
#define SWEEP_MS 5000

/* Where this program lies: the name that ps shows for the commands. */
static hd_status own_path(char *ret, size_t size, struct hd_error *err)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	if (n <= 0 || (size_t)n >= size - 1)
		return hd_fail_errno(err, HD_REFUSED, "can't find this program in /proc/self/exe");
	ret[n] = '\0';
	return HD_OK;
}

static hd_status spawn_node(const struct hd_demo *d, char *self, int log, struct hd_child *ret,
                            struct hd_error *err)
{
	char *const argv[] = { (char[]){ "howdah" },
		               (char[]){ "run" },
		               (char[]){ "--role" },
		               (char[]){ HD_DEMO_ROLE },
		               (char[]){ "--log-format" },
		               (char[]){ "json" },
		               (char[]){ "--" },
		               self,
		               (char[]){ "part" },
		               (char[]){ "demo-worker" },
		               NULL };
	char db[sizeof(d->server.conninfo) + sizeof("HOWDAH_DB=")];
	const char *const env[] = { db, "HOWDAH_WORKERS=" HD_DEMO_ROLE, "HOWDAH_CONFIG=/dev/null",
		                    NULL };
	struct hd_spawn_options o;

	(void)snprintf(db, sizeof(db), "HOWDAH_DB=%s", d->server.conninfo);
	hd_spawn_options_init(&o);
	o.path = "/proc/self/exe";
	o.argv = argv;
	o.env = env;
	o.in = HD_SPAWN_NULL;
	o.out = d->reports_in;
	o.err = log;
	/* Ctrl-C is for the demo, which takes the nodes down in order. */
	o.own_group = true;
	o.death_signal = SIGKILL;
	return hd_spawn(&o, hd_after(hd_now(), START_MS), ret, NULL, err);
}

hd_status hd_demo_start(struct hd_demo *d, int node, struct hd_error *err)
{
	struct hd_demo_node *n = &d->nodes[node];
	char self[PATH_MAX];
	int pair[2];
	hd_status st = own_path(self, sizeof(self), err);

	if (st != HD_OK)
		return st;
	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0)
		return hd_fail_errno(err, HD_RETRY, "no pipe for a node's log");
	/* The node's end must block like any standard error. */
	(void)fcntl(pair[1], F_SETFL, 0);
	st = spawn_node(d, self, pair[1], &n->process, err);
	(void)close(pair[1]);
	if (st != HD_OK) {
		n->process = (struct hd_child){ .pidfd = -1, .exec_fd = -1 };
		(void)close(pair[0]);
		return st;
	}
	n->log = pair[0];
	return HD_OK;
}

void hd_demo_signal(struct hd_demo *d, int node, int sig)
{
	d->nodes[node].may_end = true;
	hd_spawn_signal(&d->nodes[node].process, sig);
}

static void end_node(struct hd_demo_node *n, hd_mono deadline)
{
	int status;

	if (n->process.pid != 0 && n->ended.ns == 0 &&
	    hd_spawn_wait(&n->process, deadline, &status, NULL) != HD_OK)
		(void)!hd_spawn_kill(&n->process, hd_after(hd_now(), SWEEP_MS), &status, NULL);
	hd_spawn_close(&n->process);
	if (n->log >= 0)
		(void)close(n->log);
	n->log = -1;
}

hd_status hd_demo_end_nodes(struct hd_demo *d, struct hd_error *err)
{
	hd_mono deadline = hd_after(hd_now(), LEAVE_MS);

	for (int i = 0; i < HD_DEMO_NODES; i++)
		hd_demo_signal(d, i, SIGTERM);
	for (int i = 0; i < HD_DEMO_NODES; i++)
		end_node(&d->nodes[i], deadline);
	for (int i = 0; i < d->nterms; i++)
		if (d->terms[i].pidfd >= 0)
			(void)close(d->terms[i].pidfd);
	d->nterms = 0;
	if (!hd_tree_sweep(&d->strangers, hd_after(hd_now(), SWEEP_MS)))
		return hd_fail(err, HD_TIMEOUT, "a process of a node can't be ended");
	return HD_OK;
}
