/* guard_faults.c - what is killed, stopped, cut off or out of time: the command's tree must end. */
#include "term_kit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* The tree of the term that is being tested: the command, and who left its session. */
static int command;
static int outsider;

static void lead_with_outsider(const char *way, const char *outsiders_word)
{
	kit_lead(way, NULL);
	command = kit_watch("self");
	outsider = kit_watch(outsiders_word);
}

static bool all_dead(void)
{
	return kit_dead(command) && kit_dead(outsider);
}

static void stop_guard(void)
{
	hd_spawn_signal(&kit.guard.process, SIGSTOP);
	kit_await_state(kit.guard.process.pid, 'T');
}

static void await_instant(hd_mono t)
{
	while (hd_before(hd_now(), t))
		(void)poll(NULL, 0, hd_ms_left(t));
}

/* ---- the guard ---- */

static void killed_guard(void)
{
	struct hd_guard_message m;

	kit_begin();
	lead_with_outsider("setsid", "child");
	hd_spawn_signal(&kit.guard.process, SIGKILL);
	kit_await_dead(command); /* by its death signal, before anybody sweeps */
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_LOST);
	CHECK(!kit_dead(outsider));
	kit_end();
	CHECK(all_dead());
}

static void stopped_guard(void)
{
	struct hd_guard_message m;

	kit_begin();
	lead_with_outsider("double-fork", "orphan");
	stop_guard();
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 1), NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, hd_after(hd_now(), 200), &m, NULL) == HD_TIMEOUT);
	CHECK(!hd_guard_answered(&kit.guard));
	CHECK(!kit_dead(outsider));
	kit_end();
	CHECK(all_dead());
}

static void guard_that_does_not_read(void)
{
	hd_status st = HD_OK;

	kit_begin();
	kit_lead("plain", NULL);
	stop_guard();
	for (int i = 0; i < 100000 && st == HD_OK; i++)
		st = hd_guard_trust(&kit.guard, kit.trusted_until, NULL);
	CHECK_INT(st, HD_TIMEOUT);
	kit_end();
}

static void signals_to_the_guard_change_nothing(void)
{
	static const int signals[] = { SIGTERM, SIGINT,  SIGQUIT, SIGHUP,  SIGUSR1,
		                       SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE,
		                       SIGALRM, SIGCHLD, SIGCONT, SIGIO };
	struct hd_guard_message m;

	kit_begin();
	kit_lead("tell-signals", NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		hd_spawn_signal(&kit.guard.process, signals[i]);
	hd_spawn_signal(&kit.guard.process, SIGRTMIN);
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 1), NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	CHECK_INT(kit_word_now("got"), -1);
	kit_end();
}

static void crash_points(void)
{
	static const char *const points[] = { "guard-before-spawn",     "guard-after-spawn",
		                              "guard-before-kill",      "guard-after-kill",
		                              "guard-after-gone",       "guard-before-spawn:stop",
		                              "guard-after-spawn:stop", "guard-before-kill:stop",
		                              "guard-after-kill:stop" };
	struct hd_guard_message m;
	struct hd_tree tree = { 0 };
	hd_mono end;

#ifndef HD_CRASH_POINTS
	SKIP("built without crash points");
#endif
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		kit_begin();
		(void)setenv("HOWDAH_CRASH_AT", points[i], 1);
		kit_start_stubborn("setsid", NULL);
		(void)unsetenv("HOWDAH_CRASH_AT");
		/* Told before it has begun, it would begin nothing. */
		if (strstr(points[i], "spawn") == NULL)
			(void)!hd_guard_stop(&kit.guard, SIGTERM, 0, NULL);
		/* A stopped one says nothing, a killed one closes its channel. */
		end = strchr(points[i], ':') != NULL ? hd_after(hd_now(), 500) : patience();
		while (hd_guard_next(&kit.guard, end, &m, NULL) == HD_OK)
			continue;
		CHECK_INT(kit.guard.over, strcmp(points[i], "guard-after-gone") == 0);
		kit_end();
		CHECK_MSG(hd_tree_reap(&tree, false), "%s left something", points[i]);
	}
}

/* ---- the elector ---- */

static void elector_killed(bool stop_the_guard, const char *way)
{
	pid_t elector, guard;

	kit_begin();
	kit.lost_grace_ms = 50;
	elector = kit_elector(way, &guard);
	command = kit_watch("self");
	outsider = kit_watch(strcmp(way, "setsid") == 0 ? "child" : "orphan");
	kit_kill_elector(elector, guard, stop_the_guard);
	CHECK(all_dead());
}

static void killed_elector(void)
{
	elector_killed(false, "setsid");
	elector_killed(false, "double-fork");
}

static void killed_elector_of_a_stopped_guard(void)
{
	elector_killed(true, "setsid");
	elector_killed(true, "double-fork");
}

/* ---- loss ---- */

static void trust_runs_out(void)
{
	kit_begin();
	kit.trust_ms = 10000;
	kit.lost_grace_ms = 3000;
	lead_with_outsider("setsid-telling", "child");
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_TRUST_ENDED);
	CHECK_INT(kit_word("got"), SIGTERM);
	CHECK(!kit_dead(command)); /* it ignores TERM, and has its grace */
	CHECK_INT(kit_expect(HD_GUARD_EXITED), SIGKILL);
	(void)kit_expect(HD_GUARD_GONE);
	CHECK(all_dead());
	CHECK(hd_before(hd_now(), kit.trusted_until));
	kit_end();
}

static void trust_runs_out_while_stopping(void)
{
	kit_begin();
	kit.trust_ms = 6000;
	kit_lead("ignore", NULL);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 10 * 60 * 1000, NULL) == HD_OK);
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_TRUST_ENDED);
	kit_expect_end(SIGKILL);
	CHECK(hd_before(hd_now(), kit.trusted_until));
}

static void lost_by_order(void)
{
	kit_begin();
	kit.lost_grace_ms = 300;
	kit_lead("ignore", NULL);
	CHECK(hd_guard_lose(&kit.guard, NULL) == HD_OK);
	kit_expect_end(SIGKILL);
	kit_begin();
	kit.lost_grace_ms = PATIENCE_MS;
	kit_lead("polite", NULL);
	CHECK(hd_guard_lose(&kit.guard, NULL) == HD_OK);
	kit_expect_end(EXITED(7));
}

static void held_is_75_after_a_loss(void)
{
	kit_begin();
	kit.lost_grace_ms = PATIENCE_MS;
	kit_lead("ask-held-ignoring", kit_howdah);
	CHECK_INT(kit_word("held"), 0);
	CHECK(hd_guard_lose(&kit.guard, NULL) == HD_OK);
	CHECK(kit_word("not-held") == 75);
	kit_end();
}

static void server_closes_the_session(void)
{
	int pair[2];

	kit_begin();
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	kit.lease_fd = pair[0];
	kit_lead("polite", NULL);
	(void)close(pair[1]);
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_SESSION_CLOSED);
	kit_expect_end(EXITED(7));
	(void)close(pair[0]);
}

/* The elector was stopped after its word, and the session ended before there was a guard. */
static void session_closed_before_the_start(void)
{
	int pair[2];

	kit_begin();
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	kit.lease_fd = pair[0];
	(void)close(pair[1]);
	kit_start_stubborn("plain", NULL);
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_SESSION_CLOSED);
	(void)kit_expect(HD_GUARD_GONE); /* and nothing was started in between */
	kit_end();
	(void)close(pair[0]);
}

static void tcp_pair(int pair[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *)&a, size) == 0 && listen(listener, 1) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&a, &size) == 0);
	CHECK(connect(pair[0], (struct sockaddr *)&a, size) == 0);
	pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(pair[1] >= 0);
	(void)close(listener);
}

/* What the server sends is the elector's to read; only the end of it counts. */
static void server_speaks_and_closes(void)
{
	struct hd_guard_message m;
	char got[8] = "";
	int pair[2];

	kit_begin();
	tcp_pair(pair);
	kit.lease_fd = pair[0];
	kit_lead("polite", NULL);
	CHECK(write(pair[1], "notice", 6) == 6);
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 1), NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	CHECK(shutdown(pair[1], SHUT_WR) == 0);
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_SESSION_CLOSED);
	CHECK_INT(read(pair[0], got, sizeof(got)), 6);
	kit_expect_end(EXITED(7));
	(void)close(pair[0]);
	(void)close(pair[1]);
}

/* ---- time that passed unseen ---- */

static void frozen_past_the_trust(void)
{
	struct hd_guard_message m;

	kit_begin();
	kit.trust_ms = 6000;
	kit.kill_margin_ms = 1000;
	kit.lost_grace_ms = 2000;
	kit_lead("ask-held", kit_howdah);
	CHECK_INT(kit_word("held"), 0);
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 1), NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	stop_guard();
	CHECK_INT(kit_word("not-held"), 75);
	await_instant(hd_after(kit.trusted_until, 1));
	hd_spawn_signal(&kit.guard.process, SIGCONT);
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_FROZEN);
	kit_expect_end(SIGKILL); /* TERM would have ended it too */
}

static void frozen_but_renewed(void)
{
	struct hd_guard_message m;

	kit_begin();
	kit.trust_ms = 4000;
	kit_lead("plain", NULL);
	stop_guard();
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 600000), NULL) == HD_OK);
	await_instant(kit.trusted_until);
	hd_spawn_signal(&kit.guard.process, SIGCONT);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	CHECK(hd_guard_stop(&kit.guard, SIGUSR1, PATIENCE_MS, NULL) == HD_OK);
	kit_expect_end(SIGUSR1);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(killed_guard),
		TAP_TEST(stopped_guard),
		TAP_TEST(guard_that_does_not_read),
		TAP_TEST(signals_to_the_guard_change_nothing),
		TAP_TEST(crash_points),
		TAP_TEST(killed_elector),
		TAP_TEST(killed_elector_of_a_stopped_guard),
		TAP_TEST(trust_runs_out),
		TAP_TEST(trust_runs_out_while_stopping),
		TAP_TEST(lost_by_order),
		TAP_TEST(held_is_75_after_a_loss),
		TAP_TEST(server_closes_the_session),
		TAP_TEST(session_closed_before_the_start),
		TAP_TEST(server_speaks_and_closes),
		TAP_TEST(frozen_past_the_trust),
		TAP_TEST(frozen_but_renewed),
	};

	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
