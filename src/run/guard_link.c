#include "run/guard_link.h"

#include "app/cgroup.h"
#include "app/exit.h"
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include "run/guard_plan.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long a guard that has said its last word may take to leave. */
#define LEAVE_MS 1000

hd_status hd_guard_prepare(struct hd_error *err)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL }, ignore = { .sa_handler = SIG_IGN }, old;

	/* Inherited as ignored, the kernel would throw the statuses away. */
	if (sigaction(SIGCHLD, NULL, &old) == 0 && old.sa_handler == SIG_IGN)
		(void)sigaction(SIGCHLD, &dfl, NULL);
	(void)sigaction(SIGTTOU, &ignore, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return hd_fail_errno(err, HD_REFUSED, "this process can't be a subreaper");
	return HD_OK;
}

static hd_status copy_name(char *to, size_t room, const char *from, struct hd_error *err)
{
	if (strlen(from) >= room)
		return hd_fail(err, HD_INVALID, "\"%s\" is longer than %zu characters", from,
		               room - 1);
	(void)snprintf(to, room, "%s", from);
	return HD_OK;
}

static hd_status make_plan(const struct hd_guard_start *s, pid_t terminal_owner, int *ret_fd,
                           struct hd_error *err)
{
	struct hd_guard_plan plan = {
		.lost_grace_ms = s->lost_grace_ms,
		.kill_margin_ms = s->kill_margin_ms,
		.terminal_owner = terminal_owner,
		.watchdog_ms = s->watchdog_ms,
		.contain = (int32_t)s->contain,
		.token = s->token,
		.trusted_until = s->trusted_until,
	};
	hd_status st;

	if (s->argv == NULL || s->argv[0] == NULL)
		return hd_fail(err, HD_INVALID, "no command to guard");
	st = copy_name(plan.role, sizeof(plan.role), s->role, err);
	if (st == HD_OK)
		st = copy_name(plan.node, sizeof(plan.node), s->node, err);
	return st == HD_OK ? hd_guard_plan_write(&plan, s->argv, ret_fd, err) : st;
}

static const char *binary_of(const struct hd_guard_start *s)
{
	return s->binary != NULL ? s->binary : "/proc/self/exe";
}

/* Ends the control group when the guard is dead, whatever has become of us. */
static hd_status spawn_keeper(const struct hd_guard_start *s, int cgroup, hd_mono deadline,
                              struct hd_child *ret, struct hd_error *err)
{
	char *const argv[] = { (char[]){ "howdah" }, (char[]){ "part" }, (char[]){ "keeper" },
		               NULL };
	const struct hd_spawn_fd fd = { cgroup, HD_KEEPER_FD_CGROUP };
	struct hd_spawn_options o;

	hd_spawn_options_init(&o);
	o.path = binary_of(s);
	o.argv = argv;
	o.in = o.out = o.err = HD_SPAWN_NULL;
	o.fds = &fd;
	o.nfds = 1;
	o.own_group = true;
	o.death_signal = SIGCONT;
	return hd_spawn(&o, deadline, ret, NULL, err);
}

static hd_status make_cgroup(const struct hd_guard_start *s, hd_mono deadline, struct hd_guard *g,
                             struct hd_error *err)
{
	hd_status st;

	if (s->contain != HD_CONTAIN_CGROUP)
		return HD_OK;
	st = hd_cgroup_make(&g->cgroup, err);
	return st == HD_OK ? spawn_keeper(s, g->cgroup, deadline, &g->keeper, err) : st;
}

/* With an empty group: what the keeper would do, and the keeper's end. */
static void drop_cgroup(struct hd_guard *g)
{
	hd_spawn_signal(&g->keeper, SIGKILL);
	hd_spawn_close(&g->keeper);
	hd_cgroup_remove(g->cgroup);
	g->cgroup = -1;
}

static hd_status spawn_guard(const struct hd_guard_start *s, int channel, int plan, int cgroup,
                             hd_mono deadline, struct hd_child *ret, struct hd_error *err)
{
	char *const argv[] = { (char[]){ "howdah" }, (char[]){ "part" }, (char[]){ "guard" },
		               NULL };
	struct hd_spawn_fd fds[4] = { { channel, HD_GUARD_FD_CHANNEL },
		                      { plan, HD_GUARD_FD_PLAN } };
	struct hd_spawn_options o;

	hd_spawn_options_init(&o);
	o.path = binary_of(s);
	o.argv = argv;
	o.fds = fds;
	o.nfds = 2;
	if (s->lease_fd >= 0)
		fds[o.nfds++] = (struct hd_spawn_fd){ s->lease_fd, HD_GUARD_FD_LEASE };
	if (cgroup >= 0)
		fds[o.nfds++] = (struct hd_spawn_fd){ cgroup, HD_GUARD_FD_CGROUP };
	o.own_group = true;
	/* Wakes a guard that was stopped, to see the end-of-file that our death has left. */
	o.death_signal = SIGCONT;
	return hd_spawn(&o, deadline, ret, NULL, err);
}

/* From now on it is the guard's alone: the keeper waits for it. */
static void leave_lock(struct hd_guard *g)
{
	int fd = g->cgroup >= 0 ? hd_cgroup_open_again(g->cgroup) : -1;

	if (fd < 0)
		return;
	(void)close(g->cgroup);
	g->cgroup = fd;
}

static hd_status start(const struct hd_guard_start *s, int plan, hd_mono deadline,
                       struct hd_guard *g, struct hd_error *err)
{
	int pair[2];
	hd_status st;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return hd_fail_errno(err, HD_RETRY, "no socket for a guard");
	st = make_cgroup(s, deadline, g, err);
	hd_tree_spare_children(&g->tree);
	if (st == HD_OK)
		st = spawn_guard(s, pair[1], plan, g->cgroup, deadline, &g->process, err);
	(void)close(pair[1]);
	if (st != HD_OK) {
		(void)close(pair[0]);
		drop_cgroup(g);
		return st;
	}
	leave_lock(g);
	g->channel = pair[0];
	g->tree.leader = g->process.pid;
	return HD_OK;
}

hd_status hd_guard_start(const struct hd_guard_start *s, hd_mono deadline, struct hd_guard *ret,
                         struct hd_error *err)
{
	struct hd_guard g = { .trust_sent = s->trusted_until.ns,
		              .cgroup = -1,
		              .keeper = { .pidfd = -1, .exec_fd = -1 } };
	hd_status st;
	int plan;

	hd_terminal_init(&g.terminal, getpgrp());
	st = make_plan(s, g.terminal.fd >= 0 ? g.terminal.owner : 0, &plan, err);
	if (st != HD_OK)
		return st;
	st = start(s, plan, deadline, &g, err);
	(void)close(plan);
	if (st != HD_OK)
		return st;
	*ret = g;
	HD_POINT("elector-after-guard-start");
	return HD_OK;
}

static hd_status order(struct hd_guard *g, enum hd_guard_order kind, int sig, int64_t value,
                       struct hd_error *err)
{
	struct hd_guard_message m = { .kind = (int32_t)kind, .sig = sig, .value = value };

	if (send(g->channel, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(m))
		return HD_OK;
	if (errno == EAGAIN)
		return hd_fail(err, HD_TIMEOUT, "the guard does not read its orders");
	return hd_fail_errno(err, HD_LOST, "the guard is gone");
}

hd_status hd_guard_trust(struct hd_guard *g, hd_mono until, struct hd_error *err)
{
	if (until.ns > g->trust_sent)
		g->trust_sent = until.ns;
	return order(g, HD_GUARD_TRUST, 0, until.ns, err);
}

hd_status hd_guard_signal(struct hd_guard *g, int sig, struct hd_error *err)
{
	return order(g, HD_GUARD_SIGNAL, sig, 0, err);
}

hd_status hd_guard_stop(struct hd_guard *g, int sig, int64_t grace_ms, struct hd_error *err)
{
	return order(g, HD_GUARD_STOP, sig, grace_ms, err);
}

hd_status hd_guard_lose(struct hd_guard *g, struct hd_error *err)
{
	return order(g, HD_GUARD_LOSE, 0, 0, err);
}

/* What the link itself learns from a report. */
static void note(struct hd_guard *g, const struct hd_guard_message *m)
{
	if (m->kind == HD_GUARD_ACK && m->value > g->trust_acked)
		g->trust_acked = m->value;
	if (m->kind == HD_GUARD_GONE || m->kind == HD_GUARD_SURVIVOR)
		g->over = true;
}

hd_status hd_guard_next(struct hd_guard *g, hd_mono deadline, struct hd_guard_message *ret,
                        struct hd_error *err)
{
	struct pollfd p = { .fd = g->channel, .events = POLLIN };
	struct hd_guard_message m;
	ssize_t n;

	for (;;) {
		n = recv(g->channel, &m, sizeof(m), MSG_DONTWAIT);
		if (n == (ssize_t)sizeof(m)) {
			note(g, &m);
			*ret = m;
			return HD_OK;
		}
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return hd_fail(err, HD_LOST, "the guard is gone");
		if (!hd_before(hd_now(), deadline))
			return hd_fail(err, HD_TIMEOUT, "no report of the guard");
		(void)poll(&p, 1, hd_ms_left(deadline));
	}
}

bool hd_guard_answered(const struct hd_guard *g)
{
	return g->trust_acked >= g->trust_sent;
}

void hd_guard_reap(struct hd_guard *g)
{
	(void)hd_tree_reap(&g->tree, false);
}

static bool wait_dead(struct hd_guard *g, hd_mono deadline)
{
	struct pollfd p = { .fd = g->process.pidfd, .events = POLLIN };

	while (poll(&p, 1, hd_ms_left(deadline)) <= 0)
		if (!hd_before(hd_now(), deadline))
			return false;
	return true;
}

/*
 * While a guard lives all that is not the guard is not the command's either: our other children are
 * spared. When it died unseen nobody can tell any more, and only those from before the term are.
 */
static bool kill_guard(struct hd_guard *g, hd_mono deadline)
{
	hd_mono leave = hd_earlier(deadline, hd_after(hd_now(), LEAVE_MS));

	if (g->over && wait_dead(g, leave))
		return true;
	if (!g->tree.ended && !wait_dead(g, (hd_mono){ 0 }))
		hd_tree_spare_children(&g->tree);
	hd_spawn_signal(&g->process, SIGKILL);
	return wait_dead(g, deadline);
}

static hd_status complain_of_survivors(struct hd_guard *g, struct hd_error *err)
{
	hd_status st;

	g->nsurvivors = hd_tree_living(&g->tree, g->survivors, HD_GUARD_SURVIVORS_MAX);
	if (g->nsurvivors == 0 && g->cgroup >= 0)
		g->nsurvivors = hd_cgroup_living(g->cgroup, g->survivors, HD_GUARD_SURVIVORS_MAX);
	st = hd_fail(err, HD_REFUSED, "process %d of the command can't be ended",
	             g->nsurvivors > 0 ? (int)g->survivors[0] : 0);
	hd_hint(err, "it hangs in the kernel or belongs to another user: look at it with ps, end "
	             "it, and only then let another node lead");
	return st;
}

hd_status hd_guard_end(struct hd_guard *g, hd_mono deadline, struct hd_error *err)
{
	if (!kill_guard(g, deadline))
		return hd_fail(err, HD_TIMEOUT, "the guard, process %d, does not die",
		               (int)g->process.pid);
	HD_POINT("elector-after-guard-kill");
	if (g->cgroup >= 0)
		(void)hd_cgroup_end(g->cgroup, (hd_mono){ 0 });
	if (!hd_tree_sweep(&g->tree, deadline) ||
	    (g->cgroup >= 0 && !hd_cgroup_end(g->cgroup, deadline)))
		return complain_of_survivors(g, err);
	drop_cgroup(g);
	hd_terminal_restore(&g->terminal);
	(void)close(g->channel);
	hd_spawn_close(&g->process);
	*g = (struct hd_guard){ .channel = -1,
		                .cgroup = -1,
		                .process = { .pidfd = -1, .exec_fd = -1 },
		                .keeper = { .pidfd = -1, .exec_fd = -1 } };
	return HD_OK;
}

int hd_guard_exit_code(int64_t error)
{
	return error == ENOENT || error == ENOTDIR ? HD_EXIT_NOT_FOUND : HD_EXIT_CANNOT_RUN;
}
