/* The probe against every way to reach a server: the right verdict each time, within its time. */
#include "pg.h"
#include "pg/settings.h"
#include <howdah/probe.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 3

static const char *dsn;
static int server_port;
static struct hd_error err;
static struct hd_probe_report report;

/* An application that keeps the pool moving: short transactions, now and then a new connection. */
static pid_t start_client(const char *conninfo)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (int i = 0; i < 100000; i++) {
		struct hd_session_options o;
		struct hd_session *s = NULL;

		hd_session_options_init(&o);
		o.conninfo = conninfo;
		if (hd_session_open(&o, in(20000), &s, NULL) != HD_OK)
			continue;
		for (int j = 0; j < 20; j++)
			if (hd_exec_text(s, "begin; select pg_sleep(0.003); commit", NULL,
			                 in(20000), NULL, NULL) != HD_OK)
				break;
		hd_session_close(s);
	}
	_exit(0);
}

static void stop_clients(pid_t *pids)
{
	for (int i = 0; i < CLIENTS; i++) {
		if (pids[i] <= 0)
			continue;
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
}

static void print_report(void)
{
	for (int i = 0; i < report.nfindings; i++)
		printf("#   %s %s: %s\n", report.finding[i].step,
		       hd_finding_state_name(report.finding[i].state), report.finding[i].text);
}

static hd_status probe(const char *conninfo, bool trust, struct hd_session **ret)
{
	struct hd_session_options o;

	hd_session_options_init(&o);
	o.conninfo = conninfo;
	o.application_name = "howdah:test:probe";
	memset(&report, 0, sizeof(report));
	memset(&err, 0, sizeof(err));
	return hd_probe(&o, trust, in(HD_PROBE_MS), ret, &report, &err);
}

static void expect(const char *what, const char *conninfo, hd_verdict want, bool busy)
{
	pid_t pids[CLIENTS] = { 0 };
	struct hd_session *s = NULL;
	hd_mono begin;
	hd_status status;
	int64_t took;

	for (int i = 0; busy && i < CLIENTS; i++)
		pids[i] = start_client(conninfo);
	begin = hd_now();
	status = probe(conninfo, false, &s);
	took = hd_ms_between(begin, hd_now());
	stop_clients(pids);
	hd_session_close(s);
	printf("# %s%s: %s, %lld ms\n", what, busy ? ", busy" : "",
	       status == HD_OK ? hd_verdict_name(report.verdict) : err.message, (long long)took);
	if (status == HD_OK && report.verdict != want)
		print_report();
	CHECK_MSG(status == HD_OK, "%s: %s", what, err.message);
	CHECK_MSG(report.verdict == want, "%s: %s, not %s", what, hd_verdict_name(report.verdict),
	          hd_verdict_name(want));
	CHECK_MSG(took < HD_PROBE_MS, "%s took %lld ms", what, (long long)took);
}

/* The lock of a session that was found whole must be its own. */
static void expect_usable(const char *conninfo)
{
	struct hd_session *s = NULL, *other = test_open(dsn);

	CHECK_INT(probe(conninfo, false, &s), HD_OK);
	CHECK_TEXT(test_one(s, "select pg_try_advisory_lock(5)"), "t");
	CHECK_TEXT(test_one(other, "select pg_try_advisory_lock(5)"), "f");
	CHECK_TEXT(test_one(s, "select pg_advisory_unlock(5)"), "t");
	/* The probe leaves nothing behind. */
	CHECK_TEXT(test_one(other, "select count(*) from pg_locks where locktype = 'advisory'"),
	           "0");
	CHECK_TEXT(test_one(s, "select count(*) from pg_class where relname = 'howdah_probe'"),
	           "0");
	hd_session_close(s);
	hd_session_close(other);
}

static void direct(void)
{
	struct hd_session *s;
	const char *tcp =
	    test_format("host=127.0.0.1 port=%d user=postgres dbname=postgres", server_port);

	for (int busy = 0; busy < 2; busy++) {
		expect("direct, unix", dsn, HD_VERDICT_DIRECT, busy);
		expect("direct, TCP", tcp, HD_VERDICT_DIRECT, busy);
	}
	expect("direct, IPv4 by name",
	       test_format("host=localhost port=%d user=postgres", server_port), HD_VERDICT_DIRECT,
	       false);
	expect_usable(tcp);
	CHECK(!report.proxy && !report.in_recovery && !report.trusted);
	CHECK(report.backend_pid > 0 && report.round_trip_us > 0);
	CHECK_INT(report.timeline, 1);
	s = test_open(dsn);
	CHECK_TEXT(report.system_identifier,
	           test_one(s, "select system_identifier from pg_control_system()"));
	hd_session_close(s);
	CHECK(report.server_version_num >= HD_SERVER_OLDEST);
	CHECK_INT(hd_probe_judge(&report, &err), HD_OK);
}

static const char *pooler_tcp(int port)
{
	return test_format("host=127.0.0.1 port=%d user=postgres dbname=postgres", port);
}

static const char *pooler_unix(const char *name, int port)
{
	return test_format("host=%s port=%d user=postgres dbname=postgres", test_path(name), port);
}

/* The step that found an idle pooler out must be the one meant for it: the others would do too. */
static void expect_finding(const char *text)
{
	bool found = false;

	for (int i = 0; i < report.nfindings; i++)
		found = found || (report.finding[i].state == HD_FINDING_BAD &&
		                  strstr(report.finding[i].text, text));
	if (!found)
		print_report();
	CHECK_MSG(found, "no finding says \"%s\"", text);
}

/* One pooler, over TCP and over its unix socket, idle and busy. */
static void try_pooler(const char *script, const char *what, const char *settings, hd_verdict want,
                       const char *idle_finding)
{
	static int number;
	const char *name = test_format("pool%d", ++number);
	int port = test_port();

	test_run(script, "start", name, test_format("%s -p %d %s", test_path("a"), port, settings));
	expect(test_format("%s, TCP", what), pooler_tcp(port), want, false);
	expect(test_format("%s, unix", what), pooler_unix(name, port), want, false);
	if (idle_finding)
		expect_finding(idle_finding);
	expect(test_format("%s, TCP", what), pooler_tcp(port), want, true);
	expect(test_format("%s, unix", what), pooler_unix(name, port), want, true);
	if (want == HD_VERDICT_SESSION_POOLED)
		expect_usable(pooler_tcp(port));
	CHECK(want != HD_VERDICT_MULTIPLEXED || hd_probe_judge(&report, &err) == HD_REFUSED);
	test_run(script, "stop", name, NULL);
}

static void bouncer_session(void)
{
	try_pooler("pgbouncer", "PgBouncer session 5", "pool_mode=session default_pool_size=5",
	           HD_VERDICT_SESSION_POOLED, "refused with the connection");
}

static void bouncer_session_of_one(void)
{
	try_pooler("pgbouncer", "PgBouncer session 1", "pool_mode=session default_pool_size=1",
	           HD_VERDICT_INCONCLUSIVE, NULL);
}

static void bouncer_transaction(void)
{
	try_pooler("pgbouncer", "PgBouncer transaction 5",
	           "pool_mode=transaction default_pool_size=5", HD_VERDICT_MULTIPLEXED,
	           "by one backend");
}

static void bouncer_transaction_of_one(void)
{
	try_pooler("pgbouncer", "PgBouncer transaction 1",
	           "pool_mode=transaction default_pool_size=1", HD_VERDICT_MULTIPLEXED,
	           "had to wait");
}

static void bouncer_round_robin(void)
{
	try_pooler("pgbouncer", "PgBouncer transaction 5, round robin",
	           "pool_mode=transaction default_pool_size=5 min_pool_size=3 server_round_robin=1",
	           HD_VERDICT_MULTIPLEXED, NULL);
}

static void bouncer_statement(void)
{
	try_pooler("pgbouncer", "PgBouncer statement 5", "pool_mode=statement default_pool_size=5",
	           HD_VERDICT_MULTIPLEXED, "statement pooling");
}

static void bouncer_statement_of_one(void)
{
	try_pooler("pgbouncer", "PgBouncer statement 1", "pool_mode=statement default_pool_size=1",
	           HD_VERDICT_MULTIPLEXED, "statement pooling");
}

static void bouncer_that_swallows_options(void)
{
	try_pooler("pgbouncer", "PgBouncer transaction 5, options ignored",
	           "pool_mode=transaction default_pool_size=5 ignore_startup_parameters=options",
	           HD_VERDICT_MULTIPLEXED, "swallowed");
	try_pooler("pgbouncer", "PgBouncer session 5, options ignored",
	           "pool_mode=session default_pool_size=5 ignore_startup_parameters=options",
	           HD_VERDICT_SESSION_POOLED, "swallowed");
	CHECK(report.proxy);
	CHECK_INT(report.finding[0].state, HD_FINDING_BAD);
	CHECK_MSG(strstr(report.finding[0].text, "swallowed"), "%s", report.finding[0].text);
}

static void pgpool(void)
{
	try_pooler("pgpool", "pgpool-II", "", HD_VERDICT_SESSION_POOLED, NULL);
}

static void a_plain_proxy_is_stable(void)
{
	expect("plain TCP proxy", test_proxied("proxy", "a", server_port),
	       HD_VERDICT_SESSION_POOLED, false);
}

static void standby(void)
{
	const char *sb = test_run("pgserver", "standby", "sb", test_path("a"));
	int port = test_port();

	expect("standby", sb, HD_VERDICT_STANDBY, false);
	CHECK(report.in_recovery);
	CHECK_INT(hd_probe_judge(&report, &err), HD_REFUSED);
	test_run("pgbouncer", "start", "sbpool",
	         test_format("%s -p %d pool_mode=transaction", test_path("sb"), port));
	expect("standby behind PgBouncer", pooler_tcp(port), HD_VERDICT_STANDBY, false);
	test_run("pgbouncer", "stop", "sbpool", NULL);
	test_run("pgserver", "promote", "sb", NULL);
	expect("promoted", sb, HD_VERDICT_DIRECT, false);
	CHECK_INT(report.timeline, 2);
	test_run("pgserver", "destroy", "sb", NULL);
	expect("read-only", test_format("%s options='-c default_transaction_read_only=on'", dsn),
	       HD_VERDICT_STANDBY, false);
}

static void trust_helps_the_inconclusive_only(void)
{
	struct hd_session *s = NULL;
	int port = test_port();

	test_run(
	    "pgbouncer", "start", "one",
	    test_format("%s -p %d pool_mode=session default_pool_size=1", test_path("a"), port));
	CHECK_INT(probe(pooler_tcp(port), false, &s), HD_OK);
	hd_session_close(s);
	CHECK_INT(hd_probe_judge(&report, &err), HD_REFUSED);
	CHECK_MSG(strstr(err.hint, "--trust-session"), "%s", err.hint);
	CHECK_INT(probe(pooler_tcp(port), true, &s), HD_OK);
	CHECK_INT(report.verdict, HD_VERDICT_INCONCLUSIVE);
	CHECK(report.trusted && s);
	CHECK_INT(hd_probe_judge(&report, &err), HD_OK);
	CHECK_TEXT(test_one(s, "select 'usable'"), "usable");
	hd_session_close(s);
	test_run("pgbouncer", "stop", "one", NULL);
	test_run("pgbouncer", "start", "many",
	         test_format("%s -p %d pool_mode=transaction", test_path("a"), port));
	CHECK_INT(probe(pooler_tcp(port), true, &s), HD_OK);
	hd_session_close(s);
	CHECK(!report.trusted);
	CHECK_INT(hd_probe_judge(&report, &err), HD_REFUSED);
	test_run("pgbouncer", "stop", "many", NULL);
}

/* A role without TEMP and without the control functions is probed all the same. */
static void an_ordinary_role(void)
{
	struct hd_session *s = test_open(dsn), *t = NULL;
	int skipped = 0;

	test_sql(s, "create role plain login; revoke temporary on database postgres from public;"
	            "revoke execute on function pg_control_system() from public");
	CHECK_INT(probe(test_format("%s user=plain", dsn), false, &t), HD_OK);
	CHECK_INT(report.verdict, HD_VERDICT_DIRECT);
	for (int i = 0; i < report.nfindings; i++)
		skipped += report.finding[i].state == HD_FINDING_SKIPPED &&
		           (strcmp(report.finding[i].step, "identity") == 0 ||
		            strcmp(report.finding[i].step, "temporary table") == 0);
	CHECK_INT(skipped, 2);
	CHECK_TEXT(report.system_identifier, "");
	hd_session_close(t);
	test_sql(s, "grant temporary on database postgres to public;"
	            "grant execute on function pg_control_system() to public; drop role plain");
	hd_session_close(s);
}

static void failures_are_failures(void)
{
	struct hd_session *s = NULL;

	CHECK_INT(probe(pooler_tcp(test_port()), false, &s), HD_RETRY);
	CHECK_INT(probe(test_format("%s dbname=none", dsn), false, &s), HD_REFUSED);
	CHECK_TEXT(err.sqlstate, "3D000");
	CHECK(s == NULL);
}

static void the_deadline_holds(void)
{
	struct hd_session_options o;
	struct hd_session *s = NULL;
	hd_mono begin;

	hd_session_options_init(&o);
	o.conninfo = test_proxied("mute", "a", server_port);
	test_blackhole_tell("mute", "silent down");
	begin = hd_now();
	CHECK_INT(hd_probe(&o, false, in(500), &s, &report, &err), HD_TIMEOUT);
	CHECK(s == NULL && hd_ms_between(begin, hd_now()) < 8000);
}

static bool settle(const char *conninfo, const struct hd_settings *want)
{
	struct hd_session *s = test_open(conninfo);
	bool pinned = false;

	CHECK_MSG(hd_session_settle(s, want, in(5000), &pinned, &err) == HD_OK, "%s", err.message);
	CHECK_TEXT(
	    test_one(s, "select concat_ws(' ', current_setting('default_transaction_isolation'),"
	                "current_setting('jit'), current_setting('client_min_messages'),"
	                "current_setting('search_path'), current_setting('idle_session_timeout'),"
	                "current_setting('idle_in_transaction_session_timeout'),"
	                "current_setting('statement_timeout'))"),
	    want->lease_ms ? "read committed off warning pg_catalog 4500ms 4500ms 3s"
			   : "read committed off warning pg_catalog 0 0 3s");
	if (want->lease_ms && strstr(conninfo, "127.0.0.1")) {
		CHECK_TEXT(test_one(s, "show tcp_user_timeout"), "4500");
		CHECK_TEXT(test_one(s, "show tcp_keepalives_idle"), "5");
	}
	hd_session_close(s);
	return pinned;
}

static void a_session_settles(void)
{
	struct hd_settings want = { .lease_ms = 4500,
		                    .statement_timeout_ms = 3000,
		                    .direct = true };
	const char *tcp = pooler_tcp(server_port);

	CHECK(settle(dsn, &want));
	CHECK(settle(tcp, &want));
	/* A server set to lose its peers early must not be able to. */
	CHECK(settle(
	    test_format("%s options='-c tcp_user_timeout=1000 -c tcp_keepalives_idle=1'", tcp),
	    &want));
	want.direct = false;
	CHECK(!settle(dsn, &want));
	CHECK(!settle(tcp, &want));
	want.lease_ms = 0;
	want.direct = true;
	CHECK(!settle(tcp, &want));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(direct),
		TAP_TEST(bouncer_session),
		TAP_TEST(bouncer_session_of_one),
		TAP_TEST(bouncer_transaction),
		TAP_TEST(bouncer_transaction_of_one),
		TAP_TEST(bouncer_round_robin),
		TAP_TEST(bouncer_statement),
		TAP_TEST(bouncer_statement_of_one),
		TAP_TEST(bouncer_that_swallows_options),
		TAP_TEST(pgpool),
		TAP_TEST(a_plain_proxy_is_stable),
		TAP_TEST(standby),
		TAP_TEST(trust_helps_the_inconclusive_only),
		TAP_TEST(an_ordinary_role),
		TAP_TEST(failures_are_failures),
		TAP_TEST(the_deadline_holds),
		TAP_TEST(a_session_settles),
	};

	server_port = test_port();
	dsn = test_run("pgserver", "start", "a", test_format("-p %d", server_port));
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
