/* The listener: nothing that is committed after an attach is missed without a RESYNC. */
#include "pg/listener.h"
#include "base/buf.h"
#include "pg.h"
#include <stdlib.h>

static const char *dsn;
static int server_port;
static struct hd_error err;
static struct hd_notice notice;

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
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", "Two \"odd\" näme");
	hd_mono begin;

	attach(l, s);
	begin = hd_now();
	expect_kind(l, HD_NOTICE_NONE, 100);
	CHECK(hd_ms_between(begin, hd_now()) >= 100);
	test_sql(t, "notify one, 'first'; notify other, 'x'; notify \"Two \"\"odd\"\" näme\"");
	expect_message(l, "one", "first");
	CHECK(!notice.own);
	expect_message(l, "Two \"odd\" näme", "");
	test_sql(s, "notify one, 'mine'");
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
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", NULL);
	int got = 0;

	attach(l, s);
	for (int i = 0; i < 100; i++) {
		test_sql(t, test_format("notify one, '%d'", i));
		test_sql(s, "select 1");
	}
	for (; got < 100; got++)
		expect_message(l, "one", test_format("%d", got));
	hd_listener_free(l);
	test_sql(t, "notify one, 'late'");
	test_sql(s, "select 1");
	hd_session_close(s);
	hd_session_close(t);
}

static void a_flood_becomes_resync(void)
{
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", NULL);

	attach(l, s);
	test_sql(t, "select pg_notify('one', i::text) from generate_series(1, 1000) i");
	test_sql(s, "select pg_sleep(0.3)");
	test_sql(s, "select 1");
	for (int i = 1; i <= 1000; i++)
		expect_message(l, "one", test_format("%d", i));
	test_sql(t, "select pg_notify('one', i::text) from generate_series(1, 5000) i");
	test_sql(s, "select pg_sleep(0.3)");
	test_sql(s, "select 1");
	expect_kind(l, HD_NOTICE_RESYNC, 5000);
	test_sql(t, "notify one, 'after'");
	expect_message(l, "one", "after");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void channels_come_and_go(void)
{
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", "two");

	attach(l, s);
	CHECK_INT(hd_listener_add(l, "three", in(5000), &err), HD_OK);
	CHECK_INT(hd_listener_add(l, "one", in(5000), &err), HD_OK);
	expect_kind(l, HD_NOTICE_RESYNC, 0);
	expect_kind(l, HD_NOTICE_NONE, 0);
	test_sql(t, "notify one, '1'; notify two, '2'; notify three, '3'");
	expect_message(l, "one", "1");
	CHECK_INT(hd_listener_remove(l, "two", in(5000), &err), HD_OK);
	CHECK_INT(hd_listener_remove(l, "nothing", in(5000), &err), HD_OK);
	expect_message(l, "three", "3");
	test_sql(t, "notify two, '2'; notify three, '4'");
	expect_message(l, "three", "4");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void detaching_stops_it(void)
{
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", NULL);
	HD_ROWS rows = { 0 };

	CHECK_INT(hd_listener_next(l, in(0), &notice, &err), HD_LOST);
	CHECK_INT(hd_listener_detach(l, in(0), &err), HD_OK);
	attach(l, s);
	CHECK_INT(hd_listener_attach(l, t, in(5000), &err), HD_INVALID);
	test_sql(t, "notify one, 'unread'");
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
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	char longest[65];
	struct hd_listener *l;

	memset(longest, 'x', 64);
	longest[64] = '\0';
	l = listener(longest + 1, NULL);
	CHECK_INT(hd_listener_add(l, longest, in(0), &err), HD_INVALID);
	CHECK_INT(hd_listener_add(l, "", in(0), &err), HD_INVALID);
	attach(l, s);
	CHECK_INT(hd_listener_add(l, "\xff\xfe", in(5000), &err), HD_INVALID);
	test_sql(t, test_format("notify %s", longest + 1));
	expect_message(l, longest + 1, "");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void never_inside_a_transaction(void)
{
	struct hd_session *s = test_open(dsn);
	struct hd_listener *l = listener("one", NULL);

	test_sql(s, "begin");
	CHECK_INT(hd_listener_attach(l, s, in(5000), &err), HD_INVALID);
	test_sql(s, "rollback");
	attach(l, s);
	test_sql(s, "begin");
	CHECK_INT(hd_listener_add(l, "two", in(5000), &err), HD_INVALID);
	test_sql(s, "rollback");
	hd_listener_free(l);
	hd_session_close(s);
}

static void silence_is_questioned(void)
{
	struct hd_session *s = test_open(test_proxied("hole1", "a", server_port));
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
	struct hd_session *s = test_open(test_proxied("hole2", "a", server_port)),
			  *t = test_open(dsn);
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
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("one", NULL);
	HD_ROWS rows = { 0 };

	test_sql(t, "create table seen (n int); insert into seen values (0)");
	CHECK_INT(hd_listener_attach(l, s, in(5000), &err), HD_OK);
	test_sql(t, "begin; update seen set n = 1; notify one, '1'; commit");
	expect_kind(l, HD_NOTICE_RESYNC, 0);
	CHECK_INT(hd_exec_text(s, "select n from seen", NULL, in(5000), &rows, &err), HD_OK);
	CHECK_INT(hd_rows_int(&rows, 0, 0), 1);
	test_sql(t, "begin; update seen set n = 2; notify one, '2'; commit");
	do
		expect_kind(l, HD_NOTICE_MESSAGE, 10000);
	while (strcmp(notice.payload, "2") != 0);
	test_sql(t, "drop table seen");
	hd_listener_free(l);
	hd_session_close(s);
	hd_session_close(t);
}

static void many_channels(void)
{
	struct hd_session *s = test_open(dsn), *t = test_open(dsn);
	struct hd_listener *l = listener("c0", NULL);

	for (int i = 1; i < 500; i++)
		CHECK_INT(hd_listener_add(l, test_format("c%d", i), in(0), &err), HD_OK);
	attach(l, s);
	test_sql(t, "notify c0; notify c499, 'last'");
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
