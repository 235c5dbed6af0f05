/* howdah/leader.h on a real server: one leader, an answer that is never late, and the word. */
#include "pg.h"
#include "pg/migrate.h"
#include <howdah/leader.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEASE_MS 5000

static const char *dsn, *proxied;
static struct hd_session *admin;
static struct hd_error err;

static struct hd_leadership_options options(const char *conninfo, const char *role)
{
	struct hd_leadership_options o;

	hd_leadership_options_init(&o);
	o.conninfo = conninfo;
	o.role = role;
	o.retry_ms = 300;
	o.heartbeat_ms = 1000;
	o.lease_ms = LEASE_MS;
	o.margin_ms = 500;
	o.step_ms = 300;
	o.stop_ms = 300;
	return o;
}

static struct hd_leadership *node_of(const struct hd_leadership_options *o)
{
	struct hd_leadership *l = NULL;

	CHECK_MSG(hd_leadership_open(o, &l, &err) == HD_OK, "%s", err.message);
	return l;
}

static struct hd_leadership *node(const char *conninfo, const char *role)
{
	struct hd_leadership_options o = options(conninfo, role);

	return node_of(&o);
}

/* One round of a loop: waits as it is told, then steps. */
static hd_status turn(struct hd_leadership *l, int most_ms)
{
	struct pollfd p = { hd_leadership_socket(l), (short)hd_leadership_wants(l), 0 };
	int ms = hd_leadership_timeout_ms(l);

	(void)poll(&p, 1, ms < most_ms ? ms : most_ms);
	return hd_leadership_step(l, in(3000), &err);
}

static bool is_state(const struct hd_leadership *l, const char *state)
{
	return strcmp(hd_leader_state(l), state) == 0;
}

/* Turns until the state is reached, for 20 s at most. */
static void reach(struct hd_leadership *l, const char *state)
{
	hd_mono end = in(20000);

	while (!is_state(l, state) && hd_before(hd_now(), end))
		(void)turn(l, 1000);
	CHECK_MSG(is_state(l, state), "%s, not %s: %s", hd_leader_state(l), state,
	          hd_leadership_reason(l));
}

static void lead(struct hd_leadership *l)
{
	CHECK_MSG(hd_leadership_wait_until_held(l, in(20000), &err) == HD_OK, "%s", err.message);
	CHECK(hd_leader_held(l) && hd_leader_token(l) > 0);
}

static void terminate(const char *role)
{
	test_sql(admin, test_format("select pg_terminate_backend(pid) from pg_stat_activity "
	                            "where application_name = 'howdah:elector:%s'",
	                            role));
}

static void wrong_options_are_refused(void)
{
	struct hd_leadership_options o = options(dsn, NULL);
	struct hd_leadership *l = NULL;

	CHECK_INT(hd_leadership_open(&o, &l, &err), HD_INVALID);
	CHECK_HAS(err.message, "no role");
	o.role = "a b";
	CHECK_INT(hd_leadership_open(&o, &l, &err), HD_INVALID);
	o.role = "a";
	o.stop_ms = LEASE_MS;
	CHECK_INT(hd_leadership_open(&o, &l, &err), HD_INVALID);
	CHECK_HAS(err.hint, "stop_ms");
	o.stop_ms = -1;
	CHECK_INT(hd_leadership_open(&o, &l, &err), HD_INVALID);
	CHECK_HAS(err.message, "stop_ms is -1");
	o.stop_ms = 0;
	o.election = (hd_election)7;
	CHECK_INT(hd_leadership_open(&o, &l, &err), HD_INVALID);
	CHECK(l == NULL);
	hd_leadership_close(NULL);
}

static void one_leads_and_hands_over(hd_election election, const char *role)
{
	struct hd_leadership_options o = options(dsn, role);
	struct hd_leadership *a, *b;
	int64_t token;
	hd_mono from;

	o.election = election;
	o.retry_ms = 20000; /* so that only the notice of a release can be quick */
	a = node_of(&o);
	b = node_of(&o);
	CHECK(!hd_leader_held(a) && hd_leader_token(a) == 0);
	lead(a);
	token = hd_leader_token(a);
	for (int i = 0; i < 20; i++) {
		CHECK_INT(turn(b, 50), HD_OK);
		CHECK_INT(turn(a, 50), HD_OK);
		CHECK(hd_leader_held(a) && !hd_leader_held(b));
	}
	CHECK_HAS(hd_leadership_reason(b), "held by");
	from = hd_now();
	CHECK_INT(hd_leadership_resign(a, "enough", in(3000), &err), HD_OK);
	CHECK(!hd_leader_held(a));
	CHECK(is_state(a, "standby"));
	lead(b);
	/* The release says that a's work is dead: no take-over wait, and no retry interval. */
	CHECK_MSG(hd_ms_between(from, hd_now()) < 1500, "after %lld ms",
	          (long long)hd_ms_between(from, hd_now()));
	CHECK(hd_leader_token(b) > token);
	CHECK_TEXT(test_one(admin, test_format("select reason from howdah.leadership_history where "
	                                       "role = '%s' and event = 'released'",
	                                       role)),
	           "enough");
	hd_leadership_close(a);
	hd_leadership_close(b);
}

static void advisory_hands_over(void)
{
	one_leads_and_hands_over(HD_ELECTION_ADVISORY, "hand-over");
}

static void lease_hands_over(void)
{
	one_leads_and_hands_over(HD_ELECTION_LEASE, "hand-over-row");
}

static void other_modes_and_keys_are_refused(void)
{
	struct hd_leadership_options o = options(dsn, "mixed");
	struct hd_leadership *a = node_of(&o), *b;

	lead(a);
	o.election = HD_ELECTION_LEASE;
	b = node_of(&o);
	CHECK_INT(hd_leadership_wait_until_held(b, in(10000), &err), HD_REFUSED);
	CHECK_HAS(err.message, "registered");
	CHECK(is_state(b, "refused"));
	CHECK_INT(hd_leadership_step(b, in(1000), &err), HD_REFUSED);
	hd_leadership_close(a);
	hd_leadership_close(b);
}

static void a_lost_term_waits_for_the_word(void)
{
	struct hd_leadership *l = node(dsn, "word");
	struct pollfd p;
	int64_t token;
	hd_status st = HD_OK;

	lead(l);
	token = hd_leader_token(l);
	terminate("word");
	p = (struct pollfd){ hd_leadership_socket(l), (short)hd_leadership_wants(l), 0 };
	CHECK_INT(poll(&p, 1, 10000), 1);
	/* The very next step tells. */
	CHECK_INT(hd_leadership_step(l, in(1000), &err), HD_LOST);
	CHECK(!hd_leader_held(l));
	CHECK_HAS(err.message, "session is lost");
	for (int i = 0; i < 20; i++)
		st = turn(l, 20);
	CHECK_INT(st, HD_OK);
	CHECK(is_state(l, "lost"));
	CHECK_INT(hd_leadership_socket(l), -1);
	hd_leadership_stopped(l);
	CHECK_INT(hd_leadership_timeout_ms(l), 0);
	reach(l, "leading");
	CHECK(hd_leader_token(l) > token);
	/* The word while leading has no effect. */
	hd_leadership_stopped(l);
	CHECK_INT(turn(l, 20), HD_OK);
	CHECK(hd_leader_held(l));
	CHECK_TEXT(test_one(admin, "select count(*) from howdah.leadership_history where role = "
	                           "'word' and event = 'ended'"),
	           "1");
	hd_leadership_close(l);
}

static void an_operator_is_obeyed(void)
{
	struct hd_leadership *l = node(dsn, "asked");

	lead(l);
	test_sql(admin, "select howdah.leader_resign('asked', 'go')");
	reach(l, "stopping");
	CHECK(!hd_leader_held(l));
	/* Still ours: the work has not stopped. */
	for (int i = 0; i < 30; i++)
		CHECK_INT(turn(l, 50), HD_OK);
	CHECK(is_state(l, "stopping"));
	hd_leadership_stopped(l);
	reach(l, "standby");
	lead(l);
	test_sql(admin, "select howdah.leader_pause('asked', 'tea')");
	reach(l, "stopping");
	hd_leadership_stopped(l);
	reach(l, "paused");
	CHECK_TEXT(test_one(admin, "select owner is null from howdah.leadership where role = "
	                           "'asked'"),
	           "t");
	test_sql(admin, "select howdah.leader_resume('asked', 'back')");
	lead(l);
	hd_leadership_close(l);
}

/* A process that did not step is not told that it leads, until the database said so. */
static void a_late_step_asks_first(void)
{
	struct hd_leadership *l = node(dsn, "late");
	const char *beat;
	hd_mono from;

	lead(l);
	beat = test_one(admin, "select beat from howdah.leadership where role = 'late'");
	from = hd_now();
	while (hd_leader_held(l))
		(void)poll(NULL, 0, 10);
	CHECK(hd_ms_between(from, hd_now()) < 2000); /* step_ms, not the lease */
	CHECK(hd_ms_between(hd_now(), hd_leader_trusted_until(l)) <= 0);
	CHECK(is_state(l, "leading"));
	CHECK_INT(hd_leadership_step(l, in(1000), &err), HD_OK);
	CHECK(hd_leader_held(l));
	CHECK(strcmp(test_one(admin, "select beat from howdah.leadership where role = 'late'"),
	             beat) != 0);
	hd_leadership_close(l);
}

static void a_stopped_process_holds_nothing(void)
{
	struct hd_leadership *l = node(dsn, "frozen");
	pid_t self = getpid(), waker;
	bool held;

	lead(l);
	waker = fork();
	if (waker == 0) {
		struct timespec t = { LEASE_MS / 1000 + 1, 0 };

		(void)nanosleep(&t, NULL);
		(void)kill(self, SIGCONT);
		_exit(0);
	}
	(void)kill(self, SIGSTOP);
	held = hd_leader_held(l); /* the first look */
	(void)waitpid(waker, NULL, 0);
	CHECK(!held);
	CHECK_INT(hd_leadership_step(l, in(1000), &err), HD_LOST);
	hd_leadership_close(l);
}

/* A silent network: no step is late, the answer is waited for, and given up before it is too late.
 */
static void silence(hd_election election, const char *role)
{
	struct hd_leadership_options o = options(proxied, role);
	struct hd_leadership *l;
	hd_mono end;
	hd_status st = HD_OK;

	o.election = election;
	test_blackhole_tell("hole", "flow"); /* whatever a test that failed has left */
	l = node_of(&o);
	lead(l);
	test_blackhole_tell("hole", "silent");
	/* A heartbeat falls into it, due after 1 s, and it ends before that is timed out, 1 s
	 * later: it costs nothing. */
	end = in(1200);
	while (hd_before(hd_now(), end)) {
		hd_mono from = hd_now();

		CHECK_INT(hd_leadership_step(l, hd_after(from, 20), &err), HD_OK);
		CHECK_MSG(hd_ms_between(from, hd_now()) < 1000, "a step took %lld ms",
		          (long long)hd_ms_between(from, hd_now()));
		CHECK(hd_leader_held(l));
	}
	test_blackhole_tell("hole", "flow");
	end = in(2500);
	while (hd_before(hd_now(), end)) {
		CHECK_INT(turn(l, 50), HD_OK);
		CHECK(hd_leader_held(l));
	}
	/* And longer: the term is over, a lease after the last good heartbeat at the latest. */
	test_blackhole_tell("hole", "silent");
	end = in(2 * LEASE_MS);
	while (st != HD_LOST && hd_before(hd_now(), end))
		st = turn(l, 50);
	CHECK_INT(st, HD_LOST);
	CHECK(!hd_leader_held(l));
	test_blackhole_tell("hole", "flow");
	lead(l);
	hd_leadership_close(l);
}

static void silence_of_an_advisory_leader(void)
{
	silence(HD_ELECTION_ADVISORY, "silence");
}

static void silence_of_a_lease(void)
{
	silence(HD_ELECTION_LEASE, "silence-row");
}

/* A row outlives its session: terminated ones cost nothing. */
static void a_lease_outlives_its_sessions(void)
{
	struct hd_leadership_options o = options(dsn, "outlives");
	struct hd_leadership *l;
	int64_t token;

	o.election = HD_ELECTION_LEASE;
	l = node_of(&o);
	lead(l);
	token = hd_leader_token(l);
	/* For longer than a lease. */
	for (int i = 0; i < 6; i++) {
		terminate("outlives");
		for (int j = 0; j < 20; j++) {
			hd_status st = turn(l, 50);

			CHECK_MSG(st == HD_OK || st == HD_RETRY, "%s", err.message);
			CHECK_INT(hd_leader_token(l), token);
		}
	}
	hd_leadership_close(l);
}

static void no_server_is_no_end(void)
{
	struct hd_leadership *l =
	    node(test_format("host=127.0.0.1 port=%d", test_port()), "nowhere");

	CHECK_INT(hd_leadership_step(l, in(1000), &err), HD_RETRY);
	CHECK_HAS(err.message, "refused");
	CHECK(hd_leadership_timeout_ms(l) > 0);
	CHECK_INT(hd_leadership_step(l, in(1000), &err), HD_OK); /* not due yet */
	CHECK_INT(hd_leadership_wait_until_held(l, in(300), &err), HD_TIMEOUT);
	CHECK_HAS(err.message, "refused");
	CHECK_INT(hd_leadership_resign(l, NULL, in(300), &err), HD_OK);
	hd_leadership_close(l);
}

static struct hd_leadership *shared;
static atomic_bool enough;
static _Atomic int64_t first_token;
static atomic_int foreign;

/* Tokens that a thread sees only grow, and none is seen before the first term. */
static void *ask(void *arg)
{
	int64_t last = 0;

	while (!enough) {
		int64_t token = hd_leader_token(shared);

		if (token != 0 && token < last)
			foreign++;
		if (token != 0)
			last = token;
		(void)hd_leader_state(shared);
		(void)hd_leader_trusted_until(shared);
	}
	first_token = last;
	return arg;
}

static void any_thread_may_ask(void)
{
	pthread_t t;
	int64_t token = 0;

	shared = node(dsn, "threads");
	enough = false;
	CHECK_INT(pthread_create(&t, NULL, ask, NULL), 0);
	for (int i = 0; i < 3; i++) {
		lead(shared);
		token = hd_leader_token(shared);
		for (int j = 0; j < 5; j++)
			CHECK_INT(turn(shared, 20), HD_OK);
		CHECK_INT(hd_leadership_resign(shared, NULL, in(3000), &err), HD_OK);
	}
	enough = true;
	(void)pthread_join(t, NULL);
	CHECK_INT(foreign, 0);
	CHECK_INT(first_token, token);
	hd_leadership_close(shared);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(wrong_options_are_refused),
		TAP_TEST(advisory_hands_over),
		TAP_TEST(lease_hands_over),
		TAP_TEST(other_modes_and_keys_are_refused),
		TAP_TEST(a_lost_term_waits_for_the_word),
		TAP_TEST(an_operator_is_obeyed),
		TAP_TEST(a_late_step_asks_first),
		TAP_TEST(a_stopped_process_holds_nothing),
		TAP_TEST(silence_of_an_advisory_leader),
		TAP_TEST(silence_of_a_lease),
		TAP_TEST(a_lease_outlives_its_sessions),
		TAP_TEST(no_server_is_no_end),
		TAP_TEST(any_thread_may_ask),
	};
	struct hd_migrate_options o = { 0 };
	HD_CLEANUP(hd_migrate_report_release) struct hd_migrate_report report = { 0 };
	int port = test_port();

	dsn = test_run("pgserver", "start", "s", test_format("-p %d", port));
	proxied = test_proxied("hole", "s", port);
	admin = test_open(dsn);
	CHECK_MSG(hd_migrate(admin, &o, in(30000), &report, &err) == HD_OK, "%s", err.message);
	return tap_main(tests, HD_ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
