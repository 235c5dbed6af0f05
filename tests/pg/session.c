/* Statements on a session: what they answer, and that nothing outlasts its deadline. */
#include "base/buf.h"
#include "pg.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *dsn, *tcp;
static int server_port;
static struct hd_error err;

static hd_status run(struct hd_session *s, const char *sql, struct hd_rows *rows)
{
	memset(&err, 0, sizeof(err));
	return hd_exec_text(s, sql, NULL, in(10000), rows, &err);
}

static void a_silent_server_is_a_timeout(void)
{
	struct hd_session *s = test_open(test_proxied("hole3", "a", server_port));
	HD_ROWS rows = { 0 };
	hd_mono begin;

	CHECK_TEXT(test_one(s, "select 'here'"), "here");
	test_blackhole_tell("hole3", "silent down");
	begin = hd_now();
	CHECK_INT(hd_exec(s, HD_SQL_PING, NULL, in(300), &rows, &err), HD_TIMEOUT);
	CHECK(hd_ms_between(begin, hd_now()) >= 300 && hd_ms_between(begin, hd_now()) < 5000);
	CHECK(!hd_session_ok(s));
	CHECK_INT(hd_session_socket(s), -1);
	test_blackhole_tell("hole3", "flow");
	CHECK_INT(hd_exec(s, HD_SQL_PING, NULL, in(3000), &rows, &err), HD_LOST);
	hd_session_close(s);
	s = test_open(test_proxied("hole4", "a", server_port));
	test_blackhole_tell("hole4", "reset");
	CHECK_INT(hd_exec(s, HD_SQL_PING, NULL, in(3000), &rows, &err), HD_LOST);
	hd_session_close(s);
}

static void a_big_statement_does_not_outlast_it_either(void)
{
	struct hd_session *s = test_open(test_proxied("hole5", "a", server_port));
	HD_BUF sql;

	hd_buf_init(&sql);
	hd_buf_text(&sql, "select length('");
	for (int i = 0; i < 200000; i++)
		hd_buf_text(&sql, "0123456789012345678901234567890123456789");
	hd_buf_text(&sql, "')");
	CHECK_TEXT(test_one(s, sql.data), "8000000");
	test_blackhole_tell("hole5", "silent up");
	CHECK_INT(hd_exec_text(s, sql.data, NULL, in(300), NULL, &err), HD_TIMEOUT);
	hd_session_close(s);
}

static void a_slow_line_works(void)
{
	struct hd_session *s = test_open(test_proxied("slow", "a", server_port));
	hd_mono begin;

	test_blackhole_tell("slow", "delay 50");
	begin = hd_now();
	CHECK_TEXT(test_one(s, "select 1"), "1");
	CHECK(hd_ms_between(begin, hd_now()) >= 100);
	hd_session_close(s);
}

static void a_terminated_session_is_lost(void)
{
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	const char *pid = test_one(s, "select pg_backend_pid()");

	(void)test_one(t, test_format("select pg_terminate_backend(%s, 10000)", pid));
	CHECK_INT(run(s, "select 1", NULL), HD_LOST);
	CHECK_TEXT(err.sqlstate, "57P01");
	CHECK_INT(run(s, "select 1", NULL), HD_LOST);
	CHECK_MSG(strstr(err.message, "gone"), "%s", err.message);
	hd_session_close(s);
	hd_session_close(t);
}

static void idle_sessions_end_as_lost(void)
{
	struct hd_session *s = test_open(dsn);

	CHECK_INT(run(s, "set idle_in_transaction_session_timeout = 50; ", NULL), HD_OK);
	CHECK_INT(run(s, "begin", NULL), HD_OK);
	CHECK(hd_session_socket(s) >= 0);
	while (recv(hd_session_socket(s), &(char){ 0 }, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		(void)usleep(1000);
	CHECK_INT(run(s, "select 1", NULL), HD_LOST);
	CHECK_TEXT(err.sqlstate, "25P03");
	hd_session_close(s);
}

static void errors_have_their_status(void)
{
	static const struct {
		const char *sqlstate;
		hd_status status;
	} want[] = {
		{ "40001", HD_RETRY },   { "40P01", HD_RETRY },   { "55P03", HD_RETRY },
		{ "57014", HD_RETRY },   { "53100", HD_RETRY },   { "53300", HD_RETRY },
		{ "40003", HD_TIMEOUT }, { "08006", HD_LOST },    { "57P01", HD_LOST },
		{ "25006", HD_LOST },    { "23505", HD_REFUSED }, { "42P01", HD_REFUSED },
		{ "25P02", HD_REFUSED },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct hd_session *s = test_open(dsn);
		hd_status status;
		bool broken;

		status = run(s,
		             test_format("do $$ begin raise sqlstate '%s' using detail = "
		                         "E'the\\ndetail', hint = E'do\\nthis', message = "
		                         "E'one\\n\\ttwo'; end $$",
		                         want[i].sqlstate),
		             NULL);
		broken = status == HD_LOST || status == HD_TIMEOUT;
		CHECK_MSG(status == want[i].status, "%s: %s", want[i].sqlstate,
		          hd_status_name(status));
		CHECK_TEXT(err.sqlstate, want[i].sqlstate);
		CHECK_TEXT(err.message, "one  two (the detail)");
		CHECK_TEXT(err.hint, "do this");
		CHECK_INT(hd_session_ok(s), !broken);
		CHECK_INT(run(s, "select 1", NULL), broken ? HD_LOST : HD_OK);
		hd_session_close(s);
	}
}

static void a_deferred_constraint_is_seen(void)
{
	struct hd_session *s = test_open(dsn);
	struct hd_args args = { 0 };

	CHECK_INT(run(s,
	              "create temporary table once(a int unique deferrable initially deferred);"
	              "insert into once values (1)",
	              NULL),
	          HD_OK);
	hd_arg_int(&args, 1);
	CHECK_INT(hd_exec_text(s, "insert into once values ($1)", &args, in(5000), NULL, &err),
	          HD_REFUSED);
	CHECK_TEXT(err.sqlstate, "23505");
	CHECK_INT(run(s, "insert into once values (1)", NULL), HD_REFUSED);
	CHECK_INT(run(s, "begin; insert into once values (1); commit", NULL), HD_REFUSED);
	CHECK_TEXT(test_one(s, "select count(*) from once"), "1");
	hd_session_close(s);
}

static void rows_and_arguments(void)
{
	struct hd_session *s = test_open(dsn);
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };

	hd_arg_text(&args, NULL);
	hd_arg_text(&args, "it's");
	hd_arg_int(&args, INT64_MIN);
	hd_arg_bool(&args, true);
	CHECK_INT(hd_exec_text(s,
	                       "select $1::text, $2::text, $3::bigint, $4::boolean, null::bigint",
	                       &args, in(5000), &rows, &err),
	          HD_OK);
	CHECK_INT(hd_rows_count(&rows), 1);
	CHECK(hd_rows_text(&rows, 0, 0) == NULL);
	CHECK_TEXT(hd_rows_text(&rows, 0, 1), "it's");
	CHECK(hd_rows_int(&rows, 0, 2) == INT64_MIN);
	CHECK(hd_rows_bool(&rows, 0, 3));
	CHECK(hd_rows_int(&rows, 0, 4) == 0 && !hd_rows_bool(&rows, 0, 4));
	/* A failed call leaves the old rows. */
	CHECK_INT(hd_exec_text(s, "select nonsense", NULL, in(5000), &rows, &err), HD_REFUSED);
	CHECK_INT(hd_rows_count(&rows), 1);
	/* Of several results the last one. */
	CHECK_TEXT(test_one(s, "select 1; select 2"), "2");
	hd_session_close(s);
}

static void copy_is_refused(void)
{
	static const char *const copies[] = { "copy (select 1) to stdout",
		                              "copy pg_temp.t from stdin" };

	for (int i = 0; i < 2; i++) {
		struct hd_session *s = test_open(dsn);

		CHECK_INT(run(s, "create temporary table t (a int)", NULL), HD_OK);
		CHECK_INT(run(s, copies[i], NULL), HD_REFUSED);
		CHECK_INT(run(s, "select 1", NULL), HD_LOST);
		hd_session_close(s);
	}
}

static void notices_go_nowhere(void)
{
	struct hd_session *s = test_open(dsn);
	int saved = dup(2), file = open(test_path("stderr"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	hd_status status;
	off_t size;

	(void)dup2(file, 2);
	status = run(s, "do $$ begin raise warning 'noise'; end $$", NULL);
	(void)dup2(saved, 2);
	size = lseek(file, 0, SEEK_END);
	(void)close(file);
	(void)close(saved);
	hd_session_close(s);
	CHECK_INT(status, HD_OK);
	CHECK_INT(size, 0);
}

static bool lock_is_free(struct hd_session *s, int key)
{
	const char *got = test_one(s, test_format("select pg_try_advisory_lock(%d)", key));

	if (got[0] == 't')
		(void)test_one(s, test_format("select pg_advisory_unlock(%d)", key));
	return got[0] == 't';
}

/* The lock of a session lives as long as any duplicate of its socket. */
static void an_abandoned_session_keeps_its_lock(void)
{
	const char *const dsns[] = { dsn, tcp };

	for (int i = 0; i < 2; i++) {
		struct hd_session *s = test_open(dsns[i]), *other = test_open(dsn);
		const char *pid = test_one(s, "select pg_backend_pid()");
		const char *alive =
		    test_format("select count(*) from pg_stat_activity where pid = %s", pid);
		int guard, tries = 0;

		CHECK_TEXT(test_one(s, "select pg_try_advisory_lock(77)"), "t");
		guard = fcntl(hd_session_socket(s), F_DUPFD_CLOEXEC, 3);
		CHECK(guard >= 0);
		hd_session_abandon(s);
		CHECK(!hd_session_ok(s));
		CHECK_INT(run(s, "select 1", NULL), HD_LOST);
		hd_session_close(s);
		for (int j = 0; j < 20; j++) {
			CHECK(!lock_is_free(other, 77));
			(void)usleep(10000);
		}
		CHECK_TEXT(test_one(other, alive), "1");
		(void)close(guard);
		while (!lock_is_free(other, 77) && ++tries < 1000)
			(void)usleep(10000);
		CHECK(tries < 1000);
		hd_session_close(other);
	}
}

static void closing_frees_the_lock_in_spite_of_a_duplicate(void)
{
	struct hd_session *s = test_open(dsn), *other = test_open(dsn);
	int guard, tries = 0;

	CHECK_TEXT(test_one(s, "select pg_try_advisory_lock(78)"), "t");
	guard = fcntl(hd_session_socket(s), F_DUPFD_CLOEXEC, 3);
	hd_session_close(s);
	while (!lock_is_free(other, 78) && ++tries < 1000)
		(void)usleep(10000);
	(void)close(guard);
	hd_session_close(other);
	CHECK(tries < 1000);
}

static void descriptors_are_close_on_exec(void)
{
	struct hd_session *s = test_open(tcp);
	int flags = fcntl(hd_session_socket(s), F_GETFD);

	hd_session_close(s);
	CHECK(flags & FD_CLOEXEC);
}

static void closing_nothing_is_fine(void)
{
	hd_session_close(NULL);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(a_silent_server_is_a_timeout),
		TAP_TEST(a_big_statement_does_not_outlast_it_either),
		TAP_TEST(a_slow_line_works),
		TAP_TEST(a_terminated_session_is_lost),
		TAP_TEST(idle_sessions_end_as_lost),
		TAP_TEST(errors_have_their_status),
		TAP_TEST(a_deferred_constraint_is_seen),
		TAP_TEST(rows_and_arguments),
		TAP_TEST(copy_is_refused),
		TAP_TEST(notices_go_nowhere),
		TAP_TEST(an_abandoned_session_keeps_its_lock),
		TAP_TEST(closing_frees_the_lock_in_spite_of_a_duplicate),
		TAP_TEST(descriptors_are_close_on_exec),
		TAP_TEST(closing_nothing_is_fine),
	};
	server_port = test_port();
	dsn = test_run("pgserver", "start", "a", test_format("-p %d", server_port));
	tcp = test_format("host=127.0.0.1 port=%d user=postgres dbname=postgres", server_port);
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
