/* run.c - one seed: a world is made, lives, and is judged. */
#include "sim.h"
#include <string.h>

#define STEPS_MOST 2000000 /* a world has some thousands */

static char *command[] = { (char[]){ "work" }, NULL };

/* As `howdah run` would accept them. */
static struct hd_config choose_config(void)
{
	struct hd_config c = {
		.role = "sim",
		.election = sim.lease_mode ? "lease" : "advisory",
		.contain = "none",
		.command = command,
		.retry_ms = chance(25) ? between(100, 200) : between(200, 1000),
		.heartbeat_ms = between(400, 2500),
		.lost_grace_ms = chance(65) ? between(100, 300) : between(300, 2000),
		.grace_ms = between(200, 3000),
		.margin_ms = !sim.lease_mode ? 0
		             : chance(50)    ? between(100, 400)
		                             : between(400, 1500),
	};

	c.lease_ms = 2 * c.heartbeat_ms + c.lost_grace_ms + 500 + c.margin_ms +
	             (chance(50) ? 0 : between(0, 1000));
	return c;
}

/*
 * Nodes may differ, as during a rolling deployment. Not with an asynchronous standby: a term that
 * is lost with its commits takes the length of its lease with it, a stated limit.
 */
static void make_nodes(void)
{
	struct hd_config usual = choose_config();
	bool alike = !sim.sync || chance(60);

	for (int i = 0; i < sim.nnodes; i++) {
		struct node *n = &sim.nodes[i];

		n->index = i;
		n->power = true;
		n->guard = -1;
		n->offset_ns = between(1, 1000000) * 1000000000;
		n->wall_us = between(-3600, 3600) * SECOND;
		n->ppm = (int)between(-500, 500);
		n->config = alike ? usual : choose_config();
		if (n->config.lease_ms > sim.longest_lease_ms)
			sim.longest_lease_ms = n->config.lease_ms;
		schedule(between(0, 2 * SECOND), EV_START, i, 0);
	}
}

static void make_world(uint64_t seed, enum plant plant, bool trace)
{
	memset(&sim, 0, sizeof(sim));
	sim.seed = seed;
	sim.random = seed * 0x2545f4914f6cdd1du + 1;
	sim.plant = plant;
	sim.trace = trace;
	sim.lease_mode = chance(50);
	if (plant_kinds[plant].place != ANYWHERE)
		sim.lease_mode = plant_kinds[plant].place == WITH_ROWS;
	sim.sync = chance(40);
	sim.pinned = chance(70);
	sim.direct = chance(85);
	sim.may_unblock = chance(70);
	sim.calm = chance(4);
	sim.latency = mostly_short(200, 20 * MS);
	sim.keepalive_us = mostly_short(300 * MS, 3 * SECOND);
	sim.nnodes = chance(80) ? (int)between(2, 4) : (int)between(5, NODES);
	sim.nservers = 1;
	sim.servers[0] = (struct server){
		.up = true, .reach = ~0U, .timeline = chance(80) ? 1 : 3, .started = 1, .lock = -1
	};
	make_nodes();
	tx_schedule();
	faults_plan();
	say("seed %llu: %s, %d nodes, lease %lld ms, %s, %s", (unsigned long long)seed,
	    sim.lease_mode ? "lease" : "advisory", sim.nnodes, (long long)sim.longest_lease_ms,
	    sim.sync ? "synchronous" : "asynchronous", sim.pinned ? "pinned" : "not pinned");
}

static void dispatch(const struct event *e)
{
	switch (e->kind) {
	case EV_QUERY:
	case EV_ANSWER:
	case EV_FIN_UP:
	case EV_FIN_DOWN:
	case EV_IDLE:
	case EV_KEEPALIVE:
	case EV_BLOCKED_OUT:
	case EV_NOTICE:
		server_event(e);
		break;
	case EV_ELECTOR:
	case EV_START:
	case EV_ELECTOR_CONT:
		elector_event(e);
		break;
	case EV_GUARD:
	case EV_COMMAND_END:
	case EV_GUARD_CONT:
	case EV_COMMAND_CONT:
		guard_event(e);
		break;
	case EV_TX_BEGIN:
	case EV_TX_END:
		tx_event(e);
		break;
	default:
		faults_event(e);
		break;
	}
}

/* Every process ends, so that the next world finds nothing of this one. */
static void tear_down(void)
{
	sim.done = true;
	for (int i = 0; i < sim.nnodes; i++)
		elector_die(&sim.nodes[i]);
}

bool run_seed(uint64_t seed, enum plant plant, bool trace)
{
	struct event e;

	make_world(seed, plant, trace);
	while (!sim.failed && next_event(&e) && e.kind != EV_END) {
		if (e.order > STEPS_MOST)
			violated("it does not come to rest");
		sim.now = e.at;
		dispatch(&e);
		if (!sim.quiet)
			continue;
		check_led();
		/* Led for a while after the last fault: that is what was promised. */
		if (is_led() && sim.now > sim.quiet_at + 3 * SECOND)
			break;
	}
	tear_down();
	return !sim.failed;
}
