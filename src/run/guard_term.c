#include "app/cgroup.h"
#include "app/procfs.h"
#include "base/base.h"
#include "base/point.h"
#include "run/guard_state.h"
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#define SURVIVORS_NAMED 8

void hd_guard_report(const struct hd_guard_state *g, enum hd_guard_report kind, int64_t value)
{
	struct hd_guard_message m = { .kind = (int32_t)kind, .value = value };

	/* An elector that can't take it has other troubles; the end of the guard tells it all. */
	if (g->channel >= 0)
		(void)send(g->channel, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* CONT behind it: a stopped process could not act on it. */
static void ask_to_end(const struct hd_guard_state *g, int sig)
{
	hd_tree_signal(&g->tree, sig);
	hd_tree_signal(&g->tree, SIGCONT);
}

static void begin_loss(struct hd_guard_state *g)
{
	hd_held_set(&g->held, (hd_mono){ 0 });
	if (hd_ending_lose(&g->ending, hd_now()))
		ask_to_end(g, SIGTERM);
}

void hd_guard_lost(struct hd_guard_state *g, enum hd_guard_loss how)
{
	if (!hd_ending_held(&g->ending))
		return;
	hd_guard_report(g, HD_GUARD_LOST, how);
	begin_loss(g);
}

static void on_trust(struct hd_guard_state *g, const struct hd_guard_message *m)
{
	if (!hd_ending_held(&g->ending))
		return;
	hd_ending_trust(&g->ending, (hd_mono){ .ns = m->value });
	hd_held_set(&g->held, hd_ending_last(&g->ending));
	hd_guard_report(g, HD_GUARD_ACK, m->value);
}

static void on_signal(struct hd_guard_state *g, const struct hd_guard_message *m)
{
	if (g->command.pid > 0 && m->sig > 0 && m->sig < NSIG)
		(void)kill(-g->command.pid, m->sig);
}

static void on_stop(struct hd_guard_state *g, const struct hd_guard_message *m)
{
	if (!hd_ending_held(&g->ending))
		return;
	hd_ending_stop(&g->ending, m->value, hd_now());
	ask_to_end(g, m->sig > 0 && m->sig < NSIG ? m->sig : SIGTERM);
}

static void on_lose(struct hd_guard_state *g, HD_UNUSED const struct hd_guard_message *m)
{
	if (hd_ending_held(&g->ending))
		begin_loss(g);
}

void hd_guard_do(struct hd_guard_state *g, const struct hd_guard_message *order)
{
	static void (*const acts[])(struct hd_guard_state *, const struct hd_guard_message *) = {
		[HD_GUARD_TRUST] = on_trust,
		[HD_GUARD_SIGNAL] = on_signal,
		[HD_GUARD_STOP] = on_stop,
		[HD_GUARD_LOSE] = on_lose,
	};

	if (order->kind > 0 && (size_t)order->kind < HD_ARRAY_SIZE(acts))
		acts[order->kind](g, order);
}

static void keep_first(pid_t child, void *arg)
{
	pid_t *first = arg;

	if (*first == 0)
		*first = child;
}

/* In a pid namespace the command is the first child of the process that stays behind as its 1. */
static pid_t program_pid(const struct hd_guard_state *g)
{
	pid_t first = 0;

	if (g->plan->contain == HD_CONTAIN_PIDNS)
		hd_procfs_children(g->command.pid, keep_first, &first);
	return first != 0 ? first : g->command.pid;
}

void hd_guard_settle(struct hd_guard_state *g)
{
	struct hd_spawn_result r;

	if (g->command.pid == 0 || g->started || g->start_error != 0)
		return;
	r = hd_spawn_settle(&g->command);
	if (!r.settled)
		return;
	g->start_error = r.error;
	g->started = r.error == 0;
	if (g->started)
		hd_guard_report(g, HD_GUARD_STARTED, program_pid(g));
}

/* What the term came to, when nothing more will happen. */
static void report_end(const struct hd_guard_state *g, const pid_t *survivors, size_t n)
{
	if (g->start_error != 0)
		hd_guard_report(g, HD_GUARD_NO_START, g->start_error);
	else if (g->tree.ended)
		hd_guard_report(g, HD_GUARD_EXITED, g->tree.status);
	for (size_t i = 0; i < n; i++)
		hd_guard_report(g, HD_GUARD_SURVIVOR, survivors[i]);
	if (!g->survivors)
		hd_guard_report(g, HD_GUARD_GONE, 0);
	else if (n == 0)
		hd_guard_report(g, HD_GUARD_SURVIVOR, 0);
}

/* The group at one blow, which nothing can fork away from; the tree is still to be reaped. */
static bool sweep(struct hd_guard_state *g, hd_mono deadline)
{
	if (g->cgroup >= 0)
		(void)hd_cgroup_end(g->cgroup, (hd_mono){ 0 });
	return hd_tree_sweep(&g->tree, deadline) &&
	       (g->cgroup < 0 || hd_cgroup_end(g->cgroup, deadline));
}

void hd_guard_finish(struct hd_guard_state *g)
{
	pid_t survivors[SURVIVORS_NAMED];
	size_t n = 0;

	if (g->ending.phase == HD_ENDING_OVER)
		return;
	g->ending.phase = HD_ENDING_OVER;
	hd_held_set(&g->held, (hd_mono){ 0 });
	HD_POINT("guard-before-kill");
	g->survivors = !sweep(g, hd_after(hd_now(), g->plan->kill_margin_ms));
	HD_POINT("guard-after-kill");
	hd_guard_settle(g);
	if (g->survivors)
		n = hd_tree_living(&g->tree, survivors, SURVIVORS_NAMED);
	if (g->survivors && n == 0 && g->cgroup >= 0)
		n = hd_cgroup_living(g->cgroup, survivors, SURVIVORS_NAMED);
	hd_terminal_restore(&g->terminal);
	report_end(g, survivors, n);
	HD_POINT("guard-after-gone");
}

/*
 * Time that passed unseen (a stopped process, a suspended machine) shows as a timer that fires much
 * too late.
 */
static bool stood_still(const struct hd_guard_state *g, hd_mono now)
{
	hd_mono late = hd_after(g->armed, g->plan->kill_margin_ms / 2);

	return g->armed.ns != 0 && hd_before(late, now);
}

static bool watched(const struct hd_guard_state *g)
{
	return g->watchdog.fd >= 0 && g->command.pid > 0 && g->ending.phase == HD_ENDING_NONE;
}

/* The role is still ours: a planned stop, but without the patience of one. */
static void judge_silence(struct hd_guard_state *g, hd_mono now)
{
	struct hd_watchdog *w = &g->watchdog;

	if (hd_watchdog_good(w, now) || (stood_still(g, now) && hd_watchdog_excuse(w, now)))
		return;
	/* It may have been quicker to say something than we to see that it runs. */
	hd_guard_settle(g);
	if (g->start_error != 0)
		return;
	hd_guard_report(g, HD_GUARD_SILENT, w->triggered ? 0 : w->interval_ms);
	hd_ending_stop(&g->ending, g->plan->lost_grace_ms, now);
	ask_to_end(g, SIGTERM);
}

hd_mono hd_guard_due(const struct hd_guard_state *g)
{
	hd_mono due = hd_ending_due(&g->ending);

	return watched(g) ? hd_earlier(due, g->watchdog.due) : due;
}

void hd_guard_on_time(struct hd_guard_state *g)
{
	hd_mono now = hd_now();

	if (hd_ending_trust_over(&g->ending, now))
		hd_guard_lost(g, stood_still(g, now) ? HD_LOSS_FROZEN : HD_LOSS_TRUST_ENDED);
	if (watched(g))
		judge_silence(g, now);
	if (hd_ending_kill_due(&g->ending, now))
		hd_guard_finish(g);
}
