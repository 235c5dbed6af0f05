/*
 * lead CASE HOWDAH STAMP CONNINFO [FAR CUT] - the times of leadership, a line of JSON a figure.
 *
 *   hand-over   SIGTERM to the leader, until the next command's first instruction
 *   bare        the same with bench-bare in the place of HOWDAH
 *   elector     SIGKILL of the leader's elector      (lock, command)
 *   node        SIGKILL of elector, guard and command (lock, command)
 *   stopped     SIGSTOP of all three                  (lock, command)
 *   cut         CUT cuts off the leader, which FAR starts elsewhere; "CUT heal" undoes it
 */
#include "base/base.h"
#include "bench.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SETTLE_MS  150  /* a stand-by that has said "connected" listens soon after */
#define WAIT_MS    1000 /* take-over wait of a loss that both sides see */
#define START_MS   50   /* guard and command, twice an exec */
#define BEAT       1000
#define CUT_LEASE  4000
#define CUT_RETRY  500
#define KILL_RETRY 2000

struct kind {
	const char *name;
	const char *label; /* after "CASE: " */
	int n;
	bool bare;
	const char *const *times; /* options of howdah run; NULL: its defaults */
	int lock_budget;          /* ms; 0: no lock is measured */
	int budget;
	int spread; /* rounds begin at different moments of this interval, ms */
	void (*hurt)(pid_t elector, pid_t guard, pid_t command);
};

static char *howdah, *stamp, *conninfo, *far, *cut;

static struct hd_child start_node(const struct kind *k, char *program)
{
	static char dashes[] = "--";
	char *argv[24];
	int n = 0;
	char *const run[] = { (char[]){ "run" },
		              (char[]){ "--role" },
		              (char[]){ "bench" },
		              (char[]){ "--db" },
		              conninfo,
		              (char[]){ "--log-format" },
		              (char[]){ "json" } };

	argv[n++] = program;
	if (k->bare) {
		argv[n++] = conninfo;
	} else {
		for (size_t i = 0; i < HD_ARRAY_SIZE(run); i++)
			argv[n++] = run[i];
		for (int i = 0; k->times != NULL && k->times[i] != NULL; i++)
			argv[n++] = (char *)(uintptr_t)k->times[i];
		argv[n++] = dashes;
	}
	argv[n++] = stamp;
	argv[n] = NULL;
	return bench_start(argv);
}

/* In step with the stand-by, every round would measure the same moment of its interval. */
static struct hd_child start_standby(const struct kind *k, int round)
{
	struct hd_child node = start_node(k, howdah);

	(void)bench_await("event", "connected");
	bench_settle(SETTLE_MS + k->spread * round / k->n);
	return node;
}

static void hand_over(const struct kind *k)
{
	struct bench_samples s = { 0 };
	struct hd_child leader = start_node(k, howdah), next;

	(void)bench_await("event", "up");
	for (int i = 0; i < k->n; i++) {
		hd_mono told;

		next = start_standby(k, i);
		told = hd_now();
		hd_spawn_signal(&leader, SIGTERM);
		bench_add(&s, told, bench_await("event", "up").at);
		bench_end(&leader, false);
		leader = next;
	}
	hd_spawn_signal(&leader, SIGTERM);
	bench_end(&leader, false);
	bench_result(k->label, &s, k->budget);
}

static void result(const struct kind *k, const char *until, struct bench_samples *s, int budget)
{
	char what[128];

	(void)snprintf(what, sizeof(what), "%s: until the next node has %s", k->label, until);
	bench_result(what, s, budget);
}

/* A leader is hurt, another takes over, and leads the next round. */
static void take_over(const struct kind *k)
{
	struct bench_samples lock = { 0 }, command = { 0 };
	struct hd_child leader = start_node(k, howdah), next;
	struct bench_line up = bench_await("event", "up");

	for (int i = 0; i < k->n; i++) {
		pid_t guard = bench_parent(up.pid), elector = bench_parent(guard);
		pid_t old = up.pid;
		hd_mono hurt;

		next = start_standby(k, i);
		hurt = hd_now();
		k->hurt(elector, guard, old);
		bench_add(&lock, hurt, bench_await("state", "waiting").at);
		up = bench_await("event", "up");
		bench_add(&command, hurt, up.at);
		/* A stopped node must not wake up; its guard and command follow. */
		bench_end(&leader, true);
		leader = next;
	}
	bench_end(&leader, true);
	result(k, "the lock", &lock, k->lock_budget);
	result(k, "its command", &command, k->budget);
}

static void shell(const char *argument)
{
	char *argv[] = { cut, (char *)(uintptr_t)argument, NULL };
	struct hd_child child = bench_start(argv);

	bench_end(&child, false);
}

static void cut_off(const struct kind *k)
{
	struct bench_samples lock = { 0 }, command = { 0 };

	for (int i = 0; i < k->n; i++) {
		struct hd_child away = start_node(k, far), next;
		hd_mono hurt;

		(void)bench_await("event", "up");
		next = start_standby(k, i);
		hurt = hd_now();
		shell("cut");
		bench_add(&lock, hurt, bench_await("state", "waiting").at);
		bench_add(&command, hurt, bench_await("event", "up").at);
		/* Before the network is whole again, so that it can't come back as a stand-by. */
		bench_end(&away, true);
		shell("heal");
		hd_spawn_signal(&next, SIGTERM);
		bench_end(&next, false);
	}
	result(k, "the lock", &lock, k->lock_budget);
	result(k, "its command", &command, k->budget);
}

static void kill_elector(pid_t elector, HD_UNUSED pid_t guard, HD_UNUSED pid_t command)
{
	(void)kill(elector, SIGKILL);
}

static void kill_node(pid_t elector, pid_t guard, pid_t command)
{
	(void)kill(elector, SIGKILL);
	(void)kill(guard, SIGKILL);
	(void)kill(command, SIGKILL);
}

static void stop_node(pid_t elector, pid_t guard, pid_t command)
{
	(void)kill(elector, SIGSTOP);
	(void)kill(guard, SIGSTOP);
	(void)kill(command, SIGSTOP);
}

static const char *const short_lease[] = { "--heartbeat", "1s",    "--lease", "4s",
	                                   "--retry",     "500ms", NULL };

static const struct kind kinds[] = {
	{ "hand-over", "hand-over (SIGTERM)", 30, false, NULL, 0, 50, 0, NULL },
	{ "bare", "hand-over, bare advisory lock and NOTIFY", 30, true, NULL, 0, 0, 0, NULL },
	{ "elector", "elector killed", 6, false, NULL, KILL_RETRY + 100,
	  KILL_RETRY + 100 + WAIT_MS + START_MS, KILL_RETRY, kill_elector },
	{ "node", "whole node killed", 6, false, NULL, KILL_RETRY + 100,
	  KILL_RETRY + 100 + WAIT_MS + START_MS, KILL_RETRY, kill_node },
	{ "stopped", "node stopped, lease 4s", 4, false, short_lease, CUT_LEASE + CUT_RETRY,
	  CUT_LEASE + CUT_RETRY + WAIT_MS, BEAT, stop_node },
	{ "cut", "node cut off, lease 4s", 4, false, short_lease, CUT_LEASE + CUT_RETRY,
	  CUT_LEASE + CUT_RETRY + WAIT_MS, BEAT, NULL },
};

int main(int argc, char **argv)
{
	if (argc != 5 && argc != 7)
		bench_die("lead CASE HOWDAH STAMP CONNINFO [FAR CUT]");
	howdah = argv[2];
	stamp = argv[3];
	conninfo = argv[4];
	far = argc == 7 ? argv[5] : NULL;
	cut = argc == 7 ? argv[6] : NULL;
	bench_init();
	for (size_t i = 0; i < HD_ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];

		if (strcmp(k->name, argv[1]) != 0)
			continue;
		if (k->hurt != NULL)
			take_over(k);
		else if (k->lock_budget > 0)
			cut_off(k);
		else
			hand_over(k);
		return 0;
	}
	bench_die("no case %s", argv[1]);
}
