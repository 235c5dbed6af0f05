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
		hd_guard_report(g, HD_GUARD_STARTED, g->command.pid);
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

void hd_guard_finish(struct hd_guard_state *g)
{
	pid_t survivors[SURVIVORS_NAMED];
	size_t n = 0;

	if (g->ending.phase == HD_ENDING_OVER)
		return;
	g->ending.phase = HD_ENDING_OVER;
	hd_held_set(&g->held, (hd_mono){ 0 });
	HD_POINT("guard-before-kill");
	g->survivors = !hd_tree_sweep(&g->tree, hd_after(hd_now(), g->plan->kill_margin_ms));
	HD_POINT("guard-after-kill");
	hd_guard_settle(g);
	if (g->survivors)
		n = hd_tree_living(&g->tree, survivors, SURVIVORS_NAMED);
	hd_terminal_restore(&g->terminal);
	report_end(g, survivors, n);
	HD_POINT("guard-after-gone");
}

/*
 * Time that passed unseen (a stopped process, a suspended machine) shows as a timer that fires much
 * too late.
 */
static enum hd_guard_loss why_trust_ended(const struct hd_guard_state *g, hd_mono now)
{
	hd_mono late = hd_after(g->armed, g->plan->kill_margin_ms / 2);

	return g->armed.ns != 0 && hd_before(late, now) ? HD_LOSS_FROZEN : HD_LOSS_TRUST_ENDED;
}

void hd_guard_on_time(struct hd_guard_state *g)
{
	hd_mono now = hd_now();

	if (hd_ending_trust_over(&g->ending, now))
		hd_guard_lost(g, why_trust_ended(g, now));
	if (hd_ending_kill_due(&g->ending, now))
		hd_guard_finish(g);
}
