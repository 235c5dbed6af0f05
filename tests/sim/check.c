/* check.c - what must hold after each step, and the guarded transactions that try the fence. */
#include "sim.h"

/*
 * Whether the command of a guard acts at this instant. After its guard was stopped, or the machine
 * was, only what it may read counts: a stated limit.
 */
static bool acts(const struct guard *g)
{
	const struct node *n = &sim.nodes[g->node];

	if (!g->command.alive || g->command.stopped || n->frozen || !n->power)
		return false;
	return !g->was_frozen || hd_before(local(n), g->held);
}

void check_commands(int i, const char *what)
{
	const struct guard *mine = &sim.guards[i];

	if (!acts(mine))
		return;
	for (int g = 0; g < GUARDS; g++)
		if (g != i && acts(&sim.guards[g]))
			violated("two commands: %lld on node %d (%s) and %lld on node %d",
			         (long long)mine->token, mine->node, what,
			         (long long)sim.guards[g].token, sim.guards[g].node);
}

void check_token(int64_t token, int node)
{
	say("token %lld granted to node %d", (long long)token, node);
	sim.takes++;
	if (token <= sim.last_token)
		violated("token %lld was granted after %lld", (long long)token,
		         (long long)sim.last_token);
	sim.last_token = token;
	/* Trouble likes a change of hands: faults that meet one find more than those that don't. */
	if (!sim.calm && !sim.quiet && chance(40))
		for (int i = 0; i < 3; i++)
			schedule(sim.now + mostly_short(MS, 2 * SECOND), EV_FAULT, 1, 0);
}

void check_command_start(int i)
{
	const struct guard *g = &sim.guards[i];

	say("node %d guard: the command of %lld starts", g->node, (long long)g->token);
	sim.commands++;
	if (g->token <= sim.started_token)
		violated("the command of token %lld started after that of %lld",
		         (long long)g->token, (long long)sim.started_token);
	sim.started_token = g->token;
	sim.known[sim.nknown++ % 16] = g->token;
	check_commands(i, "started");
}

bool is_led(void)
{
	for (int g = 0; g < GUARDS; g++)
		if (acts(&sim.guards[g]) && !sim.guards[g].command.ending)
			return true;
	return false;
}

/* From the last fault on: sessions time out, back-offs end, a watch or a wait or both. */
int64_t led_budget(void)
{
	return (5 * sim.longest_lease_ms + 45000) * MS;
}

void check_led(void)
{
	if (is_led())
		sim.led_at = sim.now;
	else if (sim.now - sim.quiet_at > led_budget())
		violated("nobody leads %.1f s after the last fault",
		         (double)(sim.now - sim.quiet_at) / SECOND);
}

/* ---- guarded transactions ---- */

bool tx_blocks(int server)
{
	for (int i = 0; i < TXS; i++)
		if (sim.txs[i].used && sim.txs[i].server == server)
			return true;
	return false;
}

void tx_abort_all(int server)
{
	for (int i = 0; i < TXS; i++)
		if (sim.txs[i].server == server)
			sim.txs[i].used = false;
}

/* As howdah.assert_leader() judges. A node that reaches no server has nothing to begin. */
static void tx_begin(void)
{
	const struct server *s = &sim.servers[sim.primary];
	int64_t token =
	    sim.nknown > 0 ? sim.known[rnd() % (uint64_t)(sim.nknown < 16 ? sim.nknown : 16)] : 0;

	if (sim.nknown > 0 && chance(60))
		token = sim.started_token;
	if (!s->up || token == 0 || s->row.token != token || s->row.closing)
		return;
	for (int i = 0; i < TXS; i++) {
		if (sim.txs[i].used)
			continue;
		sim.txs[i] = (struct tx){ true, ++sim.serials, sim.primary, token };
		schedule(sim.now + mostly_short(MS, sim.longest_lease_ms * MS), EV_TX_END, i,
		         sim.txs[i].serial);
		return;
	}
}

static void tx_end(int i, uint32_t serial)
{
	struct tx *t = &sim.txs[i];

	if (!t->used || t->serial != serial)
		return;
	t->used = false;
	sim.commits++;
	if (sim.servers[t->server].row.token != t->token)
		violated("a guarded transaction of %lld committed when the token was %lld",
		         (long long)t->token, (long long)sim.servers[t->server].row.token);
	server_retry_blocked(t->server);
}

void tx_schedule(void)
{
	schedule(sim.now + mostly_short(50 * MS, 5 * SECOND), EV_TX_BEGIN, 0, 0);
}

void tx_event(const struct event *e)
{
	if (e->kind == EV_TX_END) {
		tx_end(e->who, e->serial);
		return;
	}
	tx_begin();
	if (!sim.quiet)
		tx_schedule();
}
