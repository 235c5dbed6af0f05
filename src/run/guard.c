#include "run/guard.h"

#include "app/exit.h"
#include "app/log.h"
#include "app/pidns.h"
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include "run/guard_plan.h"
#include "run/guard_state.h"
#include "run/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int open_deaths(void)
{
	sigset_t chld;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	return signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* An inherited descriptor, close-on-exec from here on; -1 when it is not open. */
static int adopt(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

static hd_status setup(struct hd_guard_state *g, struct hd_error *err)
{
	hd_status st;

	*g = (struct hd_guard_state){ .timer = -1, .deaths = -1 };
	g->command = (struct hd_child){ .pidfd = -1, .exec_fd = -1 };
	g->held.fd = -1;
	g->watchdog.fd = -1;
	g->channel = adopt(HD_GUARD_FD_CHANNEL);
	g->lease = adopt(HD_GUARD_FD_LEASE);
	g->cgroup = adopt(HD_GUARD_FD_CGROUP);
	/* The elector forwards what matters. */
	hd_signals_block();
	if (g->channel < 0)
		return hd_fail(err, HD_INVALID, "a guard is started by an elector, not by hand");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return hd_fail_errno(err, HD_REFUSED, "the guard can't be a subreaper");
	st = hd_guard_plan_read(HD_GUARD_FD_PLAN, &g->plan, &g->argv, err);
	if (st != HD_OK)
		return st;
	(void)close(HD_GUARD_FD_PLAN);
	g->ending = (struct hd_ending){
		.trusted_until = g->plan->trusted_until,
		.lost_grace_ms = g->plan->lost_grace_ms,
		.kill_margin_ms = g->plan->kill_margin_ms,
	};
	if (g->plan->contain == HD_CONTAIN_PIDNS && (errno = hd_pidns_enter()) != 0)
		return hd_fail_errno(err, HD_REFUSED, "no pid namespace for the command");
	if (g->plan->watchdog_ms > 0)
		st = hd_watchdog_init(&g->watchdog, g->plan->watchdog_ms, err);
	if (st != HD_OK)
		return st;
	hd_terminal_init(&g->terminal, g->plan->terminal_owner);
	g->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	g->deaths = open_deaths();
	if (g->timer < 0 || g->deaths < 0)
		return hd_fail_errno(err, HD_RETRY, "no descriptors for the guard");
	return hd_held_init(&g->held, err);
}

/* What the command finds in its environment; the pid is written when it has one. */
struct variables {
	char role[80], node[64], token[64], held_fd[64];
	char notify[96], usec[64], pid[32 + HD_SPAWN_PID_ROOM];
	const char *list[8];
};

#define PID_VARIABLE "WATCHDOG_PID="

static void fill_variables(const struct hd_guard_state *g, struct variables *v)
{
	size_t n = 0;

	(void)snprintf(v->role, sizeof(v->role), "HOWDAH_ROLE=%s", g->plan->role);
	(void)snprintf(v->node, sizeof(v->node), "HOWDAH_NODE=%s", g->plan->node);
	(void)snprintf(v->token, sizeof(v->token), "HOWDAH_TOKEN=%" PRId64, g->plan->token);
	(void)snprintf(v->held_fd, sizeof(v->held_fd), HD_HELD_ENV "=%d", HD_HELD_NUMBER);
	v->list[n++] = v->role;
	v->list[n++] = v->node;
	v->list[n++] = v->token;
	v->list[n++] = v->held_fd;
	if (g->watchdog.fd >= 0) {
		(void)snprintf(v->notify, sizeof(v->notify), "NOTIFY_SOCKET=%s", g->watchdog.name);
		(void)snprintf(v->usec, sizeof(v->usec), "WATCHDOG_USEC=%" PRId64,
		               g->watchdog.interval_ms * 1000);
		(void)snprintf(v->pid, sizeof(v->pid), PID_VARIABLE);
		v->list[n++] = v->notify;
		v->list[n++] = v->usec;
		v->list[n++] = v->pid;
	}
	v->list[n] = NULL;
}

static void start_command(struct hd_guard_state *g)
{
	const struct hd_spawn_fd held = { g->held.fd, HD_HELD_NUMBER };
	struct hd_spawn_options o;
	struct variables v;

	fill_variables(g, &v);
	hd_spawn_options_init(&o);
	o.argv = g->argv;
	o.env = v.list;
	o.own_pid = g->watchdog.fd >= 0 ? v.pid + strlen(PID_VARIABLE) : NULL;
	o.fds = &held;
	o.nfds = 1;
	o.own_group = true;
	o.terminal = g->terminal.fd;
	o.death_signal = SIGKILL;
	o.cgroup = g->cgroup;
	o.pidns = g->plan->contain == HD_CONTAIN_PIDNS;
	HD_POINT("guard-before-spawn");
	hd_watchdog_start(&g->watchdog);
	if (hd_spawn_begin(&o, &g->command, NULL) != HD_OK) {
		g->start_error = EAGAIN;
		return;
	}
	g->tree.leader = g->command.pid;
	g->tree.group = true;
	HD_POINT("guard-after-spawn");
}

/* Set again only when it changed: a timer that needs no care wakes nobody. */
static void arm_timer(struct hd_guard_state *g)
{
	hd_mono due = hd_guard_due(g);
	struct itimerspec at = { 0 };

	if (due.ns == g->armed.ns)
		return;
	g->armed = due;
	if (due.ns < 1)
		due.ns = 1; /* 0 would switch it off */
	at.it_value.tv_sec = due.ns / 1000000000;
	at.it_value.tv_nsec = due.ns % 1000000000;
	(void)timerfd_settime(g->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void on_channel(struct hd_guard_state *g)
{
	struct hd_guard_message m;
	ssize_t n;

	while ((n = recv(g->channel, &m, sizeof(m), MSG_DONTWAIT)) == (ssize_t)sizeof(m))
		hd_guard_do(g, &m);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)close(g->channel);
	g->channel = -1;
	hd_guard_lost(g, HD_LOSS_ELECTOR_GONE);
}

static void on_lease(struct hd_guard_state *g)
{
	/* Still open: the server's side is gone, the elector's session is the elector's matter. */
	g->lease = -1;
	hd_guard_lost(g, HD_LOSS_SESSION_CLOSED);
}

static void on_timer(struct hd_guard_state *g)
{
	uint64_t times;

	(void)!read(g->timer, &times, sizeof(times));
}

/* Orphans of the command's tree end here; the command's own end shows in its pidfd. */
static void on_deaths(struct hd_guard_state *g)
{
	struct signalfd_siginfo info;

	while (read(g->deaths, &info, sizeof(info)) > 0)
		continue;
	(void)hd_tree_reap(&g->tree, true);
}

/* Only wakes: hd_guard_on_time() reads, and judges. */
static void on_notify(HD_UNUSED struct hd_guard_state *g)
{
}

static void watch(struct hd_guard_state *g, int timeout_ms)
{
	static void (*const acts[])(struct hd_guard_state *) = {
		on_channel, on_lease,        on_timer,        on_deaths,
		on_notify,  hd_guard_settle, hd_guard_finish,
	};
	struct pollfd fds[HD_ARRAY_SIZE(acts)] = {
		{ .fd = g->channel, .events = POLLIN },
		{ .fd = g->lease, .events = POLLRDHUP },
		{ .fd = g->timer, .events = POLLIN },
		{ .fd = g->deaths, .events = POLLIN },
		{ .fd = g->ending.phase == HD_ENDING_NONE ? g->watchdog.fd : -1, .events = POLLIN },
		{ .fd = g->command.exec_fd, .events = POLLIN },
		{ .fd = g->command.pidfd, .events = POLLIN },
	};

	if (poll(fds, HD_ARRAY_SIZE(fds), timeout_ms) < 0)
		return;
	for (size_t i = 0; i < HD_ARRAY_SIZE(fds); i++)
		if (fds[i].revents != 0)
			acts[i](g);
}

static void release(struct hd_guard_state *g)
{
	hd_spawn_close(&g->command);
	hd_held_release(&g->held);
	hd_watchdog_release(&g->watchdog);
	free(g->argv);
}

int hd_guard_main(void)
{
	struct hd_guard_state g;
	struct hd_error err;

	if (setup(&g, &err) != HD_OK) {
		hd_log_error(HD_LOG_ERROR, &err, "part", "guard", NULL);
		release(&g);
		return HD_EXIT_BUG;
	}
	hd_held_set(&g.held, hd_ending_last(&g.ending));
	hd_guard_report(&g, HD_GUARD_ACK, g.ending.trusted_until.ns);
	/* On a machine that stood still meanwhile, or when the session is gone, there is nothing to
	   start any more: the elector may have been stopped between its word and our start. */
	watch(&g, 0);
	hd_guard_on_time(&g);
	if (g.ending.phase == HD_ENDING_NONE)
		start_command(&g);
	while (g.ending.phase != HD_ENDING_OVER) {
		if (g.start_error != 0)
			hd_guard_finish(&g);
		else
			hd_guard_on_time(&g);
		if (g.ending.phase == HD_ENDING_OVER)
			break;
		arm_timer(&g);
		watch(&g, -1);
	}
	release(&g);
	/* With this process the lease socket closes, and with it the lock is freed: nothing that
	   other libraries or a sanitizer do at exit may delay that. */
	_exit(g.survivors ? HD_EXIT_FAILURE : HD_EXIT_OK);
}
