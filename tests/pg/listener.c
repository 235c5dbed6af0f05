/* The listener: nothing that is committed after an attach is missed without a RESYNC. */
#include "pg/listener.h"
#include "base/buf.h"
#include "pg/exec.h"
#include "server.h"
#include "tap.h"
#include <stdlib.h>

static const char *dsn;
static int server_port;
static struct hd_error err;
static struct hd_notice notice;

static hd_mono in(int ms)
{
	return hd_after(hd_now(), ms);
}

static struct hd_session *open_session(const char *conninfo)
{
	struct hd_session_options o;
	struct hd_session *s = NULL;

	hd_session_options_init(&o);
	o.conninfo = conninfo;
	CHECK_MSG(hd_session_open(&o, in(10000), &s, &err) == HD_OK, "%s", err.message);
	return s;
}

static hd_status run(struct hd_session *s, const char *sql)
{
	return hd_exec_text(s, sql, NULL, in(20000), NULL, &err);
}

static struct hd_listener *listener(const char *a, const char *b)
{
	struct hd_listener *l = NULL;

	CHECK_INT(hd_listener_new(&l, &err), HD_OK);
	CHECK_INT(hd_listener_add(l, a, in(5000), &err), HD_OK);
	CHECK(b == NULL || hd_listener_add(l, b, in(5000), &err) == HD_OK);
	return l;
}

static void expect_kind(struct hd_listener *l, hd_notice_kind want, int ms)
{
	hd_status status = hd_listener_next(l, in(ms), &notice, &err);

	CHECK_MSG(status == HD_OK, "%s: %s", hd_status_name(status), err.message);
	CHECK_INT(notice.kind, want);
}

static void expect_message(struct hd_listener *l, const char *channel, const char *payload)
{
	expect_kind(l, HD_NOTICE_MESSAGE, 10000);
	CHECK_TEXT(notice.channel, channel);
	CHECK_TEXT(notice.payload, payload);
}

static void attach(struct hd_listener *l, struct hd_session *s)
{
	CHECK_MSG(hd_listener_attach(l, s, in(5000), &err) == HD_OK, "%s", err.message);
	expect_kind(l, HD_NOTICE_RESYNC, 0);
}

static void messages_arrive(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", "Two \"odd\" näme");
	hd_mono begin;

	attach(l, s);
	begin = hd_now();
	expect_kind(l, HD_NOTICE_NONE, 100);
	CHECK(hd_ms_between(begin, hd_now()) >= 100);
	CHECK_INT(run(t, "notify one, 'first'; notify other, 'x'; notify \"Two \"\"odd\"\" näme\""),
	          HD_OK);
	expect_message(l, "one", "first");
	CHECK(!notice.own);
	expect_message(l, "Two \"odd\" näme", "");
	CHECK_INT(run(s, "notify one, 'mine'"), HD_OK);
	expect_message(l, "one", "mine");
	CHECK(notice.own);
	expect_kind(l, HD_NOTICE_NONE, 0);
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

/* Other statements on the session neither lose messages nor are disturbed by them. */
static void statements_in_between(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);
	int got = 0;

	attach(l, s);
	for (int i = 0; i < 100; i++) {
		CHECK_INT(run(t, test_format("notify one, '%d'", i)), HD_OK);
		CHECK_INT(run(s, "select 1"), HD_OK);
	}
	for (; got < 100; got++)
		expect_message(l, "one", test_format("%d", got));
	hd_listener_free(l);
	CHECK_INT(run(t, "notify one, 'late'"), HD_OK);
	CHECK_INT(run(s, "select 1"), HD_OK);
	hd_session_close(s);
	hd_session_close(t);
}

static void a_flood_becomes_resync(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);

	attach(l, s);
	CHECK_INT(run(t, "select pg_notify('one', i::text) from generate_series(1, 1000) i"),
	          HD_OK);
	CHECK_INT(run(s, "select pg_sleep(0.3)"), HD_OK);
	CHECK_INT(run(s, "select 1"), HD_OK);
	for (int i = 1; i <= 1000; i++)
		expect_message(l, "one", test_format("%d", i));
	CHECK_INT(run(t, "select pg_notify('one', i::text) from generate_series(1, 5000) i"),
	          HD_OK);
	CHECK_INT(run(s, "select pg_sleep(0.3)"), HD_OK);
	CHECK_INT(run(s, "select 1"), HD_OK);
	expect_kind(l, HD_NOTICE_RESYNC, 5000);
	CHECK_INT(run(t, "notify one, 'after'"), HD_OK);
	expect_message(l, "one", "after");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void channels_come_and_go(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", "two");

	attach(l, s);
	CHECK_INT(hd_listener_add(l, "three", in(5000), &err), HD_OK);
	CHECK_INT(hd_listener_add(l, "one", in(5000), &err), HD_OK);
	expect_kind(l, HD_NOTICE_RESYNC, 0);
	expect_kind(l, HD_NOTICE_NONE, 0);
	CHECK_INT(run(t, "notify one, '1'; notify two, '2'; notify three, '3'"), HD_OK);
	expect_message(l, "one", "1");
	CHECK_INT(hd_listener_remove(l, "two", in(5000), &err), HD_OK);
	CHECK_INT(hd_listener_remove(l, "nothing", in(5000), &err), HD_OK);
	expect_message(l, "three", "3");
	CHECK_INT(run(t, "notify two, '2'; notify three, '4'"), HD_OK);
	expect_message(l, "three", "4");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void detaching_stops_it(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);
	HD_ROWS rows = { 0 };

	CHECK_INT(hd_listener_next(l, in(0), &notice, &err), HD_LOST);
	CHECK_INT(hd_listener_detach(l, in(0), &err), HD_OK);
	attach(l, s);
	CHECK_INT(hd_listener_attach(l, t, in(5000), &err), HD_INVALID);
	CHECK_INT(run(t, "notify one, 'unread'"), HD_OK);
	CHECK_INT(hd_listener_detach(l, in(5000), &err), HD_OK);
	CHECK_INT(hd_exec_text(s, "select count(*) from pg_listening_channels()", NULL, in(5000),
	                       &rows, &err),
	          HD_OK);
	CHECK_INT(hd_rows_int(&rows, 0, 0), 0);
	CHECK_INT(hd_listener_next(l, in(0), &notice, &err), HD_LOST);
	/* Each attach begins with RESYNC, not the first alone. */
	attach(l, t);
	expect_kind(l, HD_NOTICE_NONE, 0);
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void names_have_limits(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	char longest[65];
	struct hd_listener *l;

	memset(longest, 'x', 64);
	longest[64] = '\0';
	l = listener(longest + 1, NULL);
	CHECK_INT(hd_listener_add(l, longest, in(0), &err), HD_INVALID);
	CHECK_INT(hd_listener_add(l, "", in(0), &err), HD_INVALID);
	attach(l, s);
	CHECK_INT(hd_listener_add(l, "\xff\xfe", in(5000), &err), HD_INVALID);
	CHECK_INT(run(t, test_format("notify %s", longest + 1)), HD_OK);
	expect_message(l, longest + 1, "");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void never_inside_a_transaction(void)
{
	struct hd_session *s = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);

	CHECK_INT(run(s, "begin"), HD_OK);
	CHECK_INT(hd_listener_attach(l, s, in(5000), &err), HD_INVALID);
	CHECK_INT(run(s, "rollback"), HD_OK);
	attach(l, s);
	CHECK_INT(run(s, "begin"), HD_OK);
	CHECK_INT(hd_listener_add(l, "two", in(5000), &err), HD_INVALID);
	CHECK_INT(run(s, "rollback"), HD_OK);
	hd_listener_free(l);
	hd_session_close(s);
}

static struct hd_session *through_a_proxy(const char *name)
{
	int port = test_port();

	test_blackhole(name, test_format("%d", port),
	               test_format("%s/.s.PGSQL.%d", test_path("a"), server_port));
	return open_session(test_format("host=127.0.0.1 port=%d user=postgres", port));
}

static void silence_is_questioned(void)
{
	struct hd_session *s = through_a_proxy("hole1");
	struct hd_listener *l = listener("one", NULL);
	hd_mono begin;

	hd_listener_set_patience(l, 200, 300);
	attach(l, s);
	/* A quiet server that lives is only quiet. */
	expect_kind(l, HD_NOTICE_NONE, 1000);
	test_blackhole_tell("hole1", "silent down");
	begin = hd_now();
	CHECK_INT(hd_listener_next(l, in(60000), &notice, &err), HD_LOST);
	CHECK_INT(err.status, HD_LOST);
	CHECK(hd_ms_between(begin, hd_now()) < 20000);
	CHECK(!hd_session_ok(s));
	CHECK_INT(hd_listener_next(l, in(0), &notice, &err), HD_LOST);
	CHECK_INT(hd_listener_detach(l, in(0), &err), HD_OK);
	hd_listener_free(l);
	hd_session_close(s);
}

/* A message that came together with the answer to the question is not lost. */
static void a_closed_connection_is_lost(void)
{
	struct hd_session *s = through_a_proxy("hole2"), *t = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);

	attach(l, s);
	test_blackhole_tell("hole2", "reset");
	CHECK_INT(hd_listener_next(l, in(20000), &notice, &err), HD_LOST);
	hd_session_close(s);
	CHECK_INT(hd_listener_detach(l, in(0), &err), HD_OK);
	hd_listener_free(l);
	hd_session_close(t);
}

/* What is committed between LISTEN and the reading after RESYNC must arrive as a message. */
static void nothing_falls_between(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("one", NULL);
	HD_ROWS rows = { 0 };

	CHECK_INT(run(t, "create table seen (n int); insert into seen values (0)"), HD_OK);
	CHECK_INT(hd_listener_attach(l, s, in(5000), &err), HD_OK);
	CHECK_INT(run(t, "begin; update seen set n = 1; notify one, '1'; commit"), HD_OK);
	expect_kind(l, HD_NOTICE_RESYNC, 0);
	CHECK_INT(hd_exec_text(s, "select n from seen", NULL, in(5000), &rows, &err), HD_OK);
	CHECK_INT(hd_rows_int(&rows, 0, 0), 1);
	CHECK_INT(run(t, "begin; update seen set n = 2; notify one, '2'; commit"), HD_OK);
	do
		expect_kind(l, HD_NOTICE_MESSAGE, 10000);
	while (strcmp(notice.payload, "2") != 0);
	CHECK_INT(run(t, "drop table seen"), HD_OK);
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void many_channels(void)
{
	struct hd_session *s = open_session(dsn), *t = open_session(dsn);
	struct hd_listener *l = listener("c0", NULL);

	for (int i = 1; i < 500; i++)
		CHECK_INT(hd_listener_add(l, test_format("c%d", i), in(0), &err), HD_OK);
	attach(l, s);
	CHECK_INT(run(t, "notify c0; notify c499, 'last'"), HD_OK);
	expect_message(l, "c0", "");
	expect_message(l, "c499", "last");
	hd_listener_free(l);
	hd_listener_free(NULL);
	hd_session_close(s);
	hd_session_close(t);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(messages_arrive),
		TAP_TEST(statements_in_between),
		TAP_TEST(a_flood_becomes_resync),
		TAP_TEST(channels_come_and_go),
		TAP_TEST(detaching_stops_it),
		TAP_TEST(names_have_limits),
		TAP_TEST(never_inside_a_transaction),
		TAP_TEST(silence_is_questioned),
		TAP_TEST(a_closed_connection_is_lost),
		TAP_TEST(nothing_falls_between),
		TAP_TEST(many_channels),
	};

	server_port = test_port();
	dsn = test_run("pgserver", "start", "a", test_format("-p %d", server_port));
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
