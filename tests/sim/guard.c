/*
 * guard.c - the guard of a term and its command. Its decisions are core/ending, as in
 * src/run/guard*.c; what is modelled is when its process runs, and what reaches it.
 */
#include "sim.h"
#include <signal.h>
#include <string.h>

static bool runs(const struct guard *g)
{
	return g->alive && !g->stopped && !sim.nodes[g->node].frozen;
}

/* The reports that an elector does not read any more are nobody's loss. */
static void report(struct guard *g, enum hd_guard_report kind, int64_t value)
{
	struct node *n = &sim.nodes[g->node];

	if (g->elector_gone || g->nout == INBOX)
		return;
	g->out[g->nout++] = (struct hd_guard_message){ .kind = (int32_t)kind, .value = value };
	node_wake(n);
}

static void arm(int i)
{
	const struct guard *g = &sim.guards[i];
	const struct node *n = &sim.nodes[g->node];
	int64_t at = when_local(n, hd_ending_due(&g->ending));

	if (planted(PLANT_GUARD_WITHOUT_DEADLINE) && hd_ending_held(&g->ending))
		return;
	if (g->alive && g->ending.phase != HD_ENDING_OVER)
		schedule(at + (n->guard_lag > 0 ? between(0, n->guard_lag) : 0), EV_GUARD, i,
		         g->serial);
}

void guard_wake(int i)
{
	const struct node *n = &sim.nodes[sim.guards[i].node];

	schedule(sim.now + (n->guard_lag > 0 ? between(0, n->guard_lag) : between(1, 50)), EV_GUARD,
	         i, sim.guards[i].serial);
}

static bool session_closed(const struct guard *g)
{
	const struct conn *c = &sim.conns[g->conn >= 0 ? g->conn : 0];

	return g->conn >= 0 && !planted(PLANT_GUARD_IGNORES_SESSION) && c->used &&
	       c->serial == g->conn_serial && c->closed;
}

/* On a machine that stood still meanwhile, or without a session, there is nothing to start any
 * more. */
static bool may_start(const struct guard *g)
{
	return !hd_ending_trust_over(&g->ending, local(&sim.nodes[g->node])) &&
	       (planted(PLANT_START_UNSEEN) || !session_closed(g));
}

int guard_new(struct node *n, const struct hd_guard_start *s)
{
	for (int i = 0; i < GUARDS; i++) {
		struct guard *g = &sim.guards[i];

		if (g->used || g->alive)
			continue;
		*g = (struct guard){ .used = true,
			             .alive = true,
			             .serial = ++sim.serials,
			             .node = n->index,
			             .conn = -1,
			             .token = s->token };
		g->ending =
		    (struct hd_ending){ .trusted_until = s->trusted_until,
			                .lost_grace_ms = s->lost_grace_ms,
			                .kill_margin_ms =
			                    planted(PLANT_MARGIN_DROPPED) ? 0 : s->kill_margin_ms };
		g->held = hd_ending_last(&g->ending);
		if (s->lease_fd >= 1000) {
			g->conn = s->lease_fd - 1000;
			g->conn_serial = sim.conns[g->conn].serial;
			sim.conns[g->conn].guard_open = true;
		}
		n->guard = i;
		g->command = (struct command){ .alive = may_start(g), .serial = ++sim.serials };
		if (g->command.alive)
			check_command_start(i);
		guard_order(i, HD_GUARD_TRUST, 0,
		            s->trusted_until.ns); /* the plan's is answered too */
		arm(i);
		if (chance(5))
			schedule(sim.now + mostly_short(MS, 20 * SECOND), EV_COMMAND_END, i,
			         g->command.serial);
		return i;
	}
	return -1;
}

void guard_order(int i, enum hd_guard_order kind, int sig, int64_t value)
{
	struct guard *g = &sim.guards[i];

	if (!g->alive || g->nin == INBOX)
		return;
	g->in[g->nin++] =
	    (struct hd_guard_message){ .kind = (int32_t)kind, .sig = sig, .value = value };
	guard_wake(i);
}

/* Most commands obey; some don't, and are killed. */
static void ask_to_end(int i)
{
	struct command *c = &sim.guards[i].command;

	c->stopped = false;
	if (c->alive && !c->ending && chance(80))
		schedule(sim.now + mostly_short(MS, SECOND), EV_COMMAND_END, i, c->serial);
	c->ending = true;
}

static void begin_loss(int i)
{
	struct guard *g = &sim.guards[i];

	g->held.ns = 0;
	if (hd_ending_lose(&g->ending, local(&sim.nodes[g->node])))
		ask_to_end(i);
}

static void lost(int i, enum hd_guard_loss how)
{
	struct guard *g = &sim.guards[i];

	if (!hd_ending_held(&g->ending))
		return;
	say("node %d guard: lost, %d", g->node, how);
	report(g, HD_GUARD_LOST, how);
	begin_loss(i);
}

/* Swept: nothing of the command is alive; then the process ends. */
static void finish(int i)
{
	struct guard *g = &sim.guards[i];

	if (g->ending.phase == HD_ENDING_OVER)
		return;
	say("node %d guard: the command of %lld is dead", g->node, (long long)g->token);
	g->ending.phase = HD_ENDING_OVER;
	g->held.ns = 0;
	g->command.alive = false;
	report(g, HD_GUARD_EXITED, 0);
	report(g, HD_GUARD_GONE, 0);
	guard_die(i);
}

static void obey(int i, const struct hd_guard_message *m)
{
	struct guard *g = &sim.guards[i];

	switch ((enum hd_guard_order)m->kind) {
	case HD_GUARD_TRUST:
		if (!hd_ending_held(&g->ending))
			return;
		hd_ending_trust(&g->ending, (hd_mono){ m->value });
		g->held = hd_ending_last(&g->ending);
		report(g, HD_GUARD_ACK, m->value);
		break;
	case HD_GUARD_STOP:
		if (!hd_ending_held(&g->ending))
			return;
		hd_ending_stop(&g->ending, m->value, local(&sim.nodes[g->node]));
		ask_to_end(i);
		break;
	case HD_GUARD_LOSE:
		if (hd_ending_held(&g->ending))
			begin_loss(i);
		break;
	default:
		break;
	}
}

void guard_run(int i)
{
	struct guard *g = &sim.guards[i];
	hd_mono now = local(&sim.nodes[g->node]);

	if (!runs(g))
		return;
	for (int m = 0; m < g->nin; m++)
		obey(i, &g->in[m]);
	g->nin = 0;
	if (!g->command.alive) {
		finish(i);
		return;
	}
	if (g->elector_gone)
		lost(i, HD_LOSS_ELECTOR_GONE);
	if (session_closed(g))
		lost(i, HD_LOSS_SESSION_CLOSED);
	if (hd_ending_trust_over(&g->ending, now) && !planted(PLANT_GUARD_WITHOUT_DEADLINE))
		lost(i, HD_LOSS_TRUST_ENDED);
	if (hd_ending_kill_due(&g->ending, now))
		finish(i);
	arm(i);
}

/* Its death kills the command, and closes its duplicate of the session's socket. */
void guard_die(int i)
{
	struct guard *g = &sim.guards[i];

	if (!g->alive)
		return;
	g->alive = false;
	g->command.alive = false;
	g->serial = ++sim.serials;
	if (g->conn >= 0)
		conn_guard_leaves(g->conn, g->conn_serial);
	if (g->elector_gone)
		g->used = false;
	else
		node_wake(&sim.nodes[g->node]);
}

void command_stop(int i, bool stop)
{
	struct guard *g = &sim.guards[i];

	if (!g->command.alive)
		return;
	g->command.stopped = stop;
	if (!stop)
		check_commands(i, "woken");
}

static void command_end(const struct event *e)
{
	struct guard *g = &sim.guards[e->who];

	if (g->command.serial != e->serial || !g->command.alive)
		return;
	if (g->command.stopped || sim.nodes[g->node].frozen) {
		schedule(sim.now + 100 * MS, e->kind, e->who, e->serial);
		return;
	}
	g->command.alive = false;
	guard_wake(e->who);
}

void guard_event(const struct event *e)
{
	struct guard *g = &sim.guards[e->who];

	if (e->kind == EV_COMMAND_END) {
		command_end(e);
		return;
	}
	if (g->serial != e->serial)
		return;
	switch (e->kind) {
	case EV_GUARD:
		guard_run(e->who);
		break;
	case EV_GUARD_CONT:
		g->stopped = false;
		guard_wake(e->who);
		break;
	case EV_COMMAND_CONT:
		command_stop(e->who, false);
		break;
	default:
		break;
	}
}
