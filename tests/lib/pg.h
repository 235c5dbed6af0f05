/* pg.h - sessions in C tests: whatever fails ends the test, with the reason. */
#ifndef TEST_PG_H
#define TEST_PG_H

#include "pg/exec.h"
#include "server.h"
#include "tap.h"
#include <howdah/session.h>

static inline hd_mono in(int ms)
{
	return hd_after(hd_now(), ms);
}

static inline struct hd_session *test_open(const char *conninfo)
{
	struct hd_session_options o;
	struct hd_session *s = NULL;
	struct hd_error err;

	hd_session_options_init(&o);
	o.conninfo = conninfo;
	o.application_name = "howdah:test";
	CHECK_MSG(hd_session_open(&o, in(20000), &s, &err) == HD_OK, "%s: %s", conninfo,
	          err.message);
	return s;
}

/* Statements that must work. */
static inline void test_sql(struct hd_session *s, const char *sql)
{
	struct hd_error err;

	CHECK_MSG(hd_exec_text(s, sql, NULL, in(20000), NULL, &err) == HD_OK, "%s: %s", sql,
	          err.message);
}

/* The first value of a statement's first row, kept until the end of the program. */
static inline const char *test_one(struct hd_session *s, const char *sql)
{
	struct hd_rows rows = { 0 };
	struct hd_error err;
	const char *text;

	CHECK_MSG(hd_exec_text(s, sql, NULL, in(20000), &rows, &err) == HD_OK, "%s: %s", sql,
	          err.message);
	text = test_format("%s", hd_rows_text(&rows, 0, 0));
	hd_rows_release(&rows);
	return text;
}

/* A proxy (blackhole.c) in front of a server's unix socket; returns the DSN through it. */
static inline const char *test_proxied(const char *name, const char *server, int server_port)
{
	int port = test_port();

	test_blackhole(name, test_format("%d", port),
	               test_format("%s/.s.PGSQL.%d", test_path(server), server_port));
	return test_format("host=127.0.0.1 port=%d user=postgres dbname=postgres", port);
}

#endif
