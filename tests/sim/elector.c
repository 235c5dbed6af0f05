/* elector.c - the processes of a node: they start, die, stop and go on. */
#include "sim.h"
#include <signal.h>

static void run(struct node *n)
{
	(void)hd_elector_run(&n->e, "");
	say("node %d elector: ended", n->index);
}

/* What the end of its process closes, whatever the end was. */
static void leave(struct node *n)
{
	struct guard *g = n->guard >= 0 ? &sim.guards[n->guard] : NULL;

	n->alive = n->stopped = n->forward = false;
	n->wake_serial = ++sim.serials;
	n->signal = 0;
	n->signal_sent = n->signal_unread = false;
	for (int i = 0; i < CONNS; i++)
		if (sim.conns[i].used && sim.conns[i].client_open && sim.conns[i].node == n->index)
			conn_hang_up(i, false);
	if (g != NULL) {
		/* Its death signal is CONT: a stopped guard sees the end-of-file too. */
		g->elector_gone = true;
		g->stopped = false;
		if (g->alive)
			guard_wake(n->guard);
		else
			g->used = false;
	}
	n->guard = -1;
	hd_candidate_release(&n->e.c);
}

void elector_die(struct node *n)
{
	if (!n->alive)
		return;
	fiber_drop(n);
	leave(n);
	if (!sim.done)
		schedule(sim.now + mostly_short(5 * MS, 4 * SECOND), EV_START, n->index, 0);
}

void elector_start(struct node *n)
{
	struct hd_error err;

	if (n->alive || !n->power)
		return;
	n->alive = true;
	n->guard = -1;
	n->wake_at = FOREVER;
	if (hd_elector_init(&n->e, &n->config, &err) != HD_OK) {
		violated("the elector does not start: %s", err.message);
		return;
	}
	say("node %d elector: starts", n->index);
	fiber_start(n, run);
	node_wake(n);
}

void elector_event(const struct event *e)
{
	struct node *n = &sim.nodes[e->who];

	switch (e->kind) {
	case EV_START:
		n->power = true;
		elector_start(n);
		break;
	case EV_ELECTOR:
		if (!n->alive || e->serial != n->wake_serial)
			return;
		node_run(n);
		if (n->alive && n->fiber == NULL && !n->woken) {
			leave(n);
			schedule(sim.now + mostly_short(5 * MS, 4 * SECOND), EV_START, n->index, 0);
		}
		break;
	case EV_ELECTOR_CONT:
		n->stopped = n->busy_fault = false;
		if (n->woken)
			node_wake(n);
		n->woken = false;
		break;
	default:
		break;
	}
}
