/* server.c - servers, their sessions, and the network between them and the nodes. */
#include "sim.h"

#define RESET_AFTER (30 * SECOND) /* TCP gives up on a peer that is not reached */

struct conn *conn_of(const struct hd_session *s)
{
	struct conn *c = &sim.conns[s->conn];

	return c->used && c->serial == s->serial ? c : NULL;
}

static int64_t latency(void)
{
	int64_t most = sim.slow_until > sim.now ? sim.slow_most : 0;

	return between(sim.latency / 2, sim.latency) + (most > 0 ? mostly_short(0, most) : 0);
}

bool server_answers(const struct node *n, int server)
{
	const struct server *s = &sim.servers[server];

	return s->up && (s->reach >> n->index & 1) != 0;
}

/* The older hosts of the list come first; one that isn't there any more is passed over. */
int conn_open(struct node *n, int server)
{
	for (int i = 0; i < CONNS; i++) {
		struct conn *c = &sim.conns[i];

		if (c->used)
			continue;
		*c = (struct conn){ .used = true,
			            .serial = ++sim.serials,
			            .node = n->index,
			            .server = server,
			            .client_open = true,
			            .server_open = true,
			            .idle_since = sim.now };
		c->session = (struct hd_session){ .conn = i, .serial = c->serial };
		return i;
	}
	violated("the simulator ran out of connections");
	return -1;
}

static void free_if_done(struct conn *c)
{
	if (!c->client_open && !c->guard_open && !c->server_open)
		c->used = false;
}

void conn_send(int i, const struct query *q)
{
	struct conn *c = &sim.conns[i];

	c->query = *q;
	c->call++;
	sim.statements++;
	schedule(sim.now + latency(), EV_QUERY, i, c->serial);
}

/* With a word of farewell, or when the last descriptor closes. */
void conn_hang_up(int i, bool terminate)
{
	struct conn *c = &sim.conns[i];

	c->client_open = false;
	if ((terminate || !c->guard_open) && c->server_open && sim.nodes[c->node].power)
		schedule(sim.now + latency(), EV_FIN_UP, i, c->serial);
	free_if_done(c);
}

void conn_guard_leaves(int i, uint32_t serial)
{
	struct conn *c = &sim.conns[i];

	if (!c->used || c->serial != serial)
		return;
	c->guard_open = false;
	if (!c->client_open && c->server_open && sim.nodes[c->node].power)
		schedule(sim.now + latency(), EV_FIN_UP, i, c->serial);
	free_if_done(c);
}

void server_unlock(struct server *s)
{
	s->lock = -1;
}

void server_notify(struct server *s)
{
	for (int i = 0; i < CONNS; i++) {
		struct conn *c = &sim.conns[i];

		if (c->used && c->server_open && c->listening && &sim.servers[c->server] == s)
			schedule(sim.now + latency(), EV_NOTICE, i, c->serial);
	}
}

/* Negative latency: without a word, as when the machine of the server vanished. */
void server_end_session(int i, int64_t wait)
{
	struct conn *c = &sim.conns[i];
	struct server *s = &sim.servers[c->server];

	if (!c->server_open)
		return;
	c->server_open = false;
	c->busy = c->blocked = c->listening = false;
	if (s->lock == i)
		server_unlock(s);
	if (wait >= 0)
		schedule(sim.now + wait, EV_FIN_DOWN, i, c->serial);
	else
		schedule(sim.now + RESET_AFTER, EV_FIN_DOWN, i, c->serial);
}

/* True when a message has to wait: TCP sends it again when the way is free. */
static bool held_up(const struct event *e, int64_t until)
{
	if (until <= sim.now)
		return false;
	schedule(until + latency(), e->kind, e->who, e->serial);
	return true;
}

static bool reaches(const struct conn *c)
{
	return (sim.servers[c->server].reach >> c->node & 1) != 0;
}

static void answer(int i, const struct answer *a)
{
	struct conn *c = &sim.conns[i];

	c->busy = c->blocked = false;
	c->sent = *a;
	c->idle_since = sim.now;
	schedule(sim.now + latency(), EV_ANSWER, i, c->serial);
	if (c->idle_ms > 0)
		schedule(sim.now + c->idle_ms * MS, EV_IDLE, i, c->serial);
	if (c->fin_pending)
		server_end_session(i, 0);
}

static void run(int i)
{
	struct conn *c = &sim.conns[i];
	struct answer a;

	switch (sql_run(&sim.servers[c->server], i, &c->query, &a)) {
	case SQL_DONE:
		answer(i, &a);
		return;
	case SQL_BLOCKED:
		if (!c->blocked)
			schedule(sim.now + sim.longest_lease_ms * MS, EV_BLOCKED_OUT, i, c->serial);
		c->blocked = true;
		return;
	case SQL_HANGS:
		return;
	}
}

void server_retry_blocked(int server)
{
	for (int i = 0; i < CONNS; i++)
		if (sim.conns[i].used && sim.conns[i].blocked && sim.conns[i].server == server)
			run(i);
}

static void on_query(const struct event *e)
{
	struct conn *c = &sim.conns[e->who];

	if (held_up(e, sim.nodes[c->node].cut_up_until) || !reaches(c))
		return;
	if (!c->server_open) {
		schedule(sim.now + latency(), EV_FIN_DOWN, e->who, c->serial);
		return;
	}
	c->busy = true;
	run(e->who);
}

static void on_answer(const struct event *e)
{
	struct conn *c = &sim.conns[e->who];

	if (held_up(e, sim.nodes[c->node].cut_down_until) || !reaches(c))
		return;
	c->answer = c->sent;
	c->answered = c->call;
	node_wake(&sim.nodes[c->node]);
}

static void on_fin_up(const struct event *e)
{
	struct conn *c = &sim.conns[e->who];

	if (held_up(e, sim.nodes[c->node].cut_up_until) || !reaches(c))
		return;
	if (c->busy)
		c->fin_pending = true;
	else
		server_end_session(e->who, 0);
}

static void on_fin_down(const struct event *e)
{
	struct conn *c = &sim.conns[e->who];

	if (held_up(e, sim.nodes[c->node].cut_down_until))
		return;
	c->closed = reaches(c);
	if (c->client_open)
		node_wake(&sim.nodes[c->node]);
	for (int g = 0; g < GUARDS && c->guard_open; g++)
		if (sim.guards[g].used && sim.guards[g].conn == e->who &&
		    sim.guards[g].conn_serial == c->serial)
			guard_wake(g);
	free_if_done(c);
}

static void on_idle(const struct event *e)
{
	const struct conn *c = &sim.conns[e->who];

	if (!c->server_open || c->busy || c->idle_since + c->idle_ms * MS > sim.now)
		return;
	say("server %d ends a session of node %d that was silent", c->server, c->node);
	server_end_session(e->who, latency());
}

/* A node that has been cut off for so long is given up by the server's keepalives. */
static void on_keepalive(const struct event *e)
{
	const struct conn *c = &sim.conns[e->who];
	const struct node *n = &sim.nodes[c->node];

	if (!c->server_open)
		return;
	if (n->cut_up_until > sim.now || n->cut_down_until > sim.now || !n->power || !reaches(c)) {
		say("server %d gives node %d up: its keepalives are short", c->server, c->node);
		server_end_session(e->who, latency());
		return;
	}
	schedule(sim.now + sim.keepalive_us, EV_KEEPALIVE, e->who, c->serial);
}

static void on_blocked_out(const struct event *e)
{
	static const struct answer cancelled = { .status = HD_RETRY };

	if (sim.conns[e->who].blocked)
		answer(e->who, &cancelled);
}

static void on_notice(const struct event *e)
{
	struct conn *c = &sim.conns[e->who];

	if (held_up(e, sim.nodes[c->node].cut_down_until) || !reaches(c))
		return;
	c->notice = true;
	node_wake(&sim.nodes[c->node]);
}

void server_event(const struct event *e)
{
	if (!sim.conns[e->who].used || sim.conns[e->who].serial != e->serial)
		return;
	switch (e->kind) {
	case EV_QUERY:
		on_query(e);
		break;
	case EV_ANSWER:
		on_answer(e);
		break;
	case EV_FIN_UP:
		on_fin_up(e);
		break;
	case EV_FIN_DOWN:
		on_fin_down(e);
		break;
	case EV_IDLE:
		on_idle(e);
		break;
	case EV_KEEPALIVE:
		on_keepalive(e);
		break;
	case EV_BLOCKED_OUT:
		on_blocked_out(e);
		break;
	case EV_NOTICE:
		on_notice(e);
		break;
	default:
		break;
	}
}

static void end_all(int server, bool silent)
{
	tx_abort_all(server);
	for (int i = 0; i < CONNS; i++)
		if (sim.conns[i].used && sim.conns[i].server == server)
			server_end_session(i, silent ? -1 : latency());
}

void server_restart(int64_t down)
{
	struct server *s = &sim.servers[sim.primary];

	say("server %d crashes and is back in %.3f s", sim.primary, (double)down / SECOND);
	end_all(sim.primary, false);
	s->up = false;
	schedule(sim.now + down, EV_SERVER_UP, sim.primary, 0);
}

/* The operator's last word: one primary, that everybody reaches. */
void server_mend(void)
{
	for (int i = 0; i < sim.nservers; i++) {
		if (i == sim.primary)
			continue;
		sim.servers[i].reach = ~0U;
		end_all(i, false);
		sim.servers[i].up = false;
	}
	sim.servers[sim.primary].reach = ~0U;
}

static struct row row_at(const struct server *s, int64_t at)
{
	struct row row = { 0 };
	uint64_t first = s->nversions > VERSIONS ? s->nversions - VERSIONS : 0;

	for (uint64_t i = first; i < s->nversions; i++)
		if (s->versions[i % VERSIONS].at <= at)
			row = s->versions[i % VERSIONS].row;
	return row;
}

/*
 * The standby becomes the primary, with what it had `lag` ago. The old one is dead, or goes on
 * alone with the nodes of `reach`.
 */
void server_promote(int64_t lag, bool killed, uint32_t reach)
{
	struct server *old = &sim.servers[sim.primary], *new = &sim.servers[sim.nservers];

	say("server %d is %s, server %d is promoted%s", sim.primary, killed ? "killed" : "cut off",
	    sim.nservers, lag > 0 ? " without the last commits" : "");
	*new = (struct server){ .up = true,
		                .reach = ~reach,
		                .timeline = old->timeline + 1,
		                .started = sim.now,
		                .lock = -1 };
	if (killed)
		new->reach = ~0U;
	new->row = lag > 0 ? row_at(old, sim.now - lag) : old->row;
	row_written(new);
	if (killed) {
		end_all(sim.primary, chance(50));
		old->up = false;
	} else {
		old->isolated = true;
		old->reach = reach;
	}
	sim.primary = sim.nservers++;
}
