/* faults.c - what goes wrong, when, and when all of it is over. */
#include "base/base.h"
#include "sim.h"
#include <signal.h>

static int64_t lease_us(void)
{
	return sim.longest_lease_ms * MS;
}

/* From an instant to much longer than a lease. */
static int64_t a_while(void)
{
	return mostly_short(20 * MS, 3 * lease_us());
}

/* Most faults meet the leader, or whoever is about to be: there they can do harm. */
static struct node *victim(void)
{
	const struct row *row = &sim.servers[sim.primary].row;

	if (row->owner != 0 && chance(35))
		return &sim.nodes[row->node];
	if (chance(50))
		for (int g = 0; g < GUARDS; g++)
			if (sim.guards[g].command.alive)
				return &sim.nodes[sim.guards[g].node];
	return &sim.nodes[rnd() % (uint64_t)sim.nnodes];
}

static struct guard *guard_at(const struct node *n)
{
	struct guard *g = n->guard >= 0 ? &sim.guards[n->guard] : NULL;

	return g != NULL && g->alive ? g : NULL;
}

static bool is_cut(const struct node *n)
{
	return n->cut_up_until > sim.now || n->cut_down_until > sim.now;
}

/* Guard and elector both don't run: then only `held` and the fence stop the command, a stated
 * limit. */
static void note_helpless(const struct node *n)
{
	struct guard *g = guard_at(n);

	if (g != NULL && g->stopped && (n->stopped || n->elector_lag > 0))
		g->was_frozen = true;
}

static void kill_elector(struct node *n)
{
	say("node %d: elector killed", n->index);
	elector_die(n);
}

static void kill_guard(struct node *n)
{
	if (guard_at(n) == NULL)
		return;
	say("node %d: guard killed", n->index);
	guard_die(n->guard);
}

static void kill_command(struct node *n)
{
	struct guard *g = guard_at(n);

	if (g != NULL)
		schedule(sim.now, EV_COMMAND_END, n->guard, g->command.serial);
}

static void stop_elector(struct node *n)
{
	if (!n->alive || n->busy_fault || n->frozen)
		return;
	say("node %d: elector stopped", n->index);
	n->stopped = n->busy_fault = true;
	note_helpless(n);
	schedule(sim.now + a_while(), EV_ELECTOR_CONT, n->index, 0);
}

static void stop_guard(struct node *n)
{
	struct guard *g = guard_at(n);

	if (g == NULL || n->frozen)
		return;
	say("node %d: guard stopped", n->index);
	g->stopped = true;
	note_helpless(n);
	schedule(sim.now + a_while(), EV_GUARD_CONT, n->guard, g->serial);
}

static void stop_command(struct node *n)
{
	struct guard *g = guard_at(n);

	if (g == NULL || g->command.stopped)
		return;
	say("node %d: command stopped", n->index);
	command_stop(n->guard, true);
	schedule(sim.now + a_while(), EV_COMMAND_CONT, n->guard, g->serial);
}

static void freeze(struct node *n)
{
	if (n->frozen || n->busy_fault || !n->power)
		return;
	say("node %d: frozen", n->index);
	n->frozen = n->busy_fault = true;
	for (int g = 0; g < GUARDS; g++)
		if (sim.guards[g].alive && sim.guards[g].node == n->index)
			sim.guards[g].was_frozen = true;
	schedule(sim.now + a_while(), EV_THAW, n->index, 0);
}

static void thaw(struct node *n)
{
	say("node %d: thawed", n->index);
	n->frozen = n->busy_fault = false;
	node_wake(n);
	n->woken = false;
	for (int g = 0; g < GUARDS; g++)
		if (sim.guards[g].alive && sim.guards[g].node == n->index) {
			check_commands(g, "thawed");
			guard_wake(g);
		}
}

/* Nothing says farewell. */
static void power_off(struct node *n)
{
	if (!n->power || n->frozen)
		return;
	say("node %d: power cut", n->index);
	n->power = false;
	n->busy_fault = false;
	for (int g = 0; g < GUARDS; g++)
		if (sim.guards[g].alive && sim.guards[g].node == n->index)
			guard_die(g);
	elector_die(n);
}

static void cut(struct node *n)
{
	int64_t until = sim.now + a_while();
	int which = (int)(rnd() % 4);

	say("node %d: cut off, %s, for %.3f s", n->index,
	    which == 0   ? "what it sends"
	    : which == 1 ? "what it gets"
	                 : "both ways",
	    (double)(until - sim.now) / SECOND);
	if (which != 1)
		n->cut_up_until = until;
	if (which != 0)
		n->cut_down_until = until;
}

/* A guard may lag by what the kill margin and the margin of a lease row are for, and no more. */
static void lag(struct node *n)
{
	int64_t room = sim.lease_mode ? (n->config.margin_ms + 500) * 95 / 100 : 140;

	n->guard_lag = chance(60) ? room * MS : between(0, room * MS);
	n->elector_lag = chance(40) ? lease_us() : mostly_short(10 * MS, lease_us());
	note_helpless(n);
	schedule(sim.now + between(lease_us() / 2, 4 * lease_us()), EV_LAG_END, n->index, 0);
}

/*
 * By an operator. A holder that is cut off from the word of it, or whose guard and elector both do
 * not run, is a stated limit.
 */
static void terminate(struct node *n)
{
	struct server *s = &sim.servers[sim.primary];
	int c = s->lock;

	(void)n;
	if (c < 0)
		c = (int)(rnd() % CONNS);
	if (!sim.conns[c].used || !sim.conns[c].server_open || sim.conns[c].server != sim.primary)
		return;
	n = &sim.nodes[sim.conns[c].node];
	if (is_cut(n) || n->frozen || (guard_at(n) != NULL && guard_at(n)->stopped) ||
	    !server_answers(n, sim.primary))
		return;
	say("node %d: session terminated", n->index);
	n->told_until = sim.now + 60 * MS;
	server_end_session(c, between(MS, 50 * MS));
}

static void restart_server(struct node *n)
{
	(void)n;
	if (sim.servers[sim.primary].up)
		server_restart(mostly_short(50 * MS, lease_us()));
}

/*
 * A primary that goes on beside the promoted one keeps only nodes that can do no harm there: none,
 * when it commits alone. Two writable primaries are a stated limit.
 */
static void promote(struct node *n)
{
	bool killed = chance(50);
	int64_t lag = sim.sync || chance(30) ? 0 : mostly_short(MS, 2 * lease_us());
	uint32_t reach = sim.sync && chance(70) ? 1U << n->index : 0;

	if (sim.nservers < SERVERS && sim.servers[sim.primary].up)
		server_promote(lag, killed, reach);
}

static void slow(struct node *n)
{
	(void)n;
	sim.slow_most = mostly_short(100 * MS, lease_us());
	sim.slow_until = sim.now + between(lease_us() / 2, 4 * lease_us());
	say("the network is slow, by %.3f s at most", (double)sim.slow_most / SECOND);
}

static void signal_elector(struct node *n)
{
	if (!n->alive)
		return;
	say("node %d: told to stop", n->index);
	if (!n->forward) {
		elector_die(n);
		return;
	}
	n->signal = SIGTERM;
	n->signal_unread = true;
	if (n->guard >= 0) {
		guard_order(n->guard, HD_GUARD_STOP, SIGTERM, n->config.grace_ms);
		n->signal_sent = true;
	}
	node_wake(n);
}

/* An operator's word, in the row. */
static void operate(struct node *n)
{
	struct server *s = &sim.servers[sim.primary];

	(void)n;
	if (!s->up || !s->row.exists)
		return;
	if (s->row.paused || chance(50)) {
		s->row.paused = !s->row.paused;
		say("role %s", s->row.paused ? "paused" : "resumed");
	} else {
		s->row.resign_token = s->row.token;
		say("leader asked to resign");
	}
	row_written(s);
}

/* The wall clock is set, up to an hour forth or back. */
static void set_clock(struct node *n)
{
	n->wall_us += between(-3600, 3600) * SECOND;
	n->clock_stepped = true;
	node_wake(n);
}

static const struct {
	void (*strike)(struct node *n);
	int usual;
} faults[] = {
	{ kill_elector, 12 }, { kill_guard, 6 },   { kill_command, 3 },   { stop_elector, 10 },
	{ stop_guard, 6 },    { stop_command, 3 }, { freeze, 6 },         { power_off, 4 },
	{ cut, 16 },          { lag, 14 },         { terminate, 12 },     { restart_server, 5 },
	{ promote, 4 },       { slow, 14 },        { signal_elector, 4 }, { operate, 7 },
	{ set_clock, 2 },
};

static void strike(void)
{
	int sum = 0, at;

	for (size_t i = 0; i < HD_ARRAY_SIZE(faults); i++)
		sum += sim.weight[i];
	at = (int)(rnd() % (uint64_t)sum);
	for (size_t i = 0; i < HD_ARRAY_SIZE(faults); i++) {
		at -= sim.weight[i];
		if (at >= 0)
			continue;
		struct node *n = victim();

		if (n->told_until < sim.now)
			faults[i].strike(n);
		return;
	}
}

/* Faults come in bursts: the worst ones are two or three at once. */
static void next_fault(void)
{
	int64_t pause = chance(50) ? mostly_short(MS, 500 * MS) : between(MS, 2 * lease_us());

	if (sim.now + pause < sim.faults_end)
		schedule(sim.now + pause, EV_FAULT, 0, 0);
}

/* Each world has faults of its own liking, so that the rare ones meet often somewhere. */
void faults_plan(void)
{
	for (size_t i = 0; i < HD_ARRAY_SIZE(faults); i++)
		sim.weight[i] = faults[i].usual * (chance(30) ? 0 : chance(20) ? 6 : 1) + 1;
	sim.faults_end = between(6, 16) * lease_us();
	if (!sim.calm)
		next_fault();
	schedule(sim.faults_end, EV_QUIET, 0, 0);
}

/* Everything is mended, and nothing breaks any more. */
static void quiet(void)
{
	sim.quiet = true;
	sim.quiet_at = sim.led_at = sim.now;
	sim.slow_until = 0;
	say("quiet from here on");
	server_mend();
	for (int i = 0; i < sim.nnodes; i++) {
		struct node *n = &sim.nodes[i];

		n->cut_up_until = n->cut_down_until = 0;
		n->elector_lag = n->guard_lag = 0;
		if (n->frozen)
			thaw(n);
		n->stopped = n->busy_fault = false;
		n->woken = false;
		node_wake(n);
	}
	for (int g = 0; g < GUARDS; g++)
		if (sim.guards[g].alive) {
			sim.guards[g].stopped = false;
			guard_wake(g);
			command_stop(g, false);
		}
	sim.servers[sim.primary].row.paused = false;
	row_written(&sim.servers[sim.primary]);
	schedule(sim.now + led_budget() + SECOND, EV_END, 0, 0);
}

void faults_event(const struct event *e)
{
	struct node *n = &sim.nodes[e->who < NODES ? e->who : 0];

	switch (e->kind) {
	case EV_FAULT:
		if (sim.quiet)
			break;
		strike();
		if (e->who == 0)
			next_fault();
		break;
	case EV_THAW:
		if (n->frozen)
			thaw(n);
		break;
	case EV_LAG_END:
		n->elector_lag = n->guard_lag = 0;
		break;
	case EV_SERVER_UP:
		say("server %d is up again", e->who);
		sim.servers[e->who].up = true;
		sim.servers[e->who].started = sim.now;
		break;
	case EV_QUIET:
		quiet();
		break;
	default:
		break;
	}
}
