#include "pg/exec.h"

#include "base/buf.h"
#include "base/error.h"
#include "pg/enclosed.h"
#include "pg/session.h"
#include <assert.h>
#include <poll.h>
#include <string.h>

/* What an error of the server means for the caller; first match of the beginning, else HD_REFUSED.
 */
static const struct {
	const char *sqlstate;
	hd_status status;
} meanings[] = {
	{ "40001", HD_RETRY },   /* serialization failure */
	{ "40P01", HD_RETRY },   /* deadlock */
	{ "55P03", HD_RETRY },   /* lock_timeout, NOWAIT */
	{ "57014", HD_RETRY },   /* statement_timeout, cancelled */
	{ "53", HD_RETRY },      /* out of connections, memory, disk */
	{ "40003", HD_TIMEOUT }, /* completion unknown */
	{ "08", HD_LOST },       /* connection */
	{ "57P", HD_LOST },      /* terminated, shut down, idle_session_timeout */
	{ "25006", HD_LOST },    /* read-only: this is no primary any more */
};

static hd_status meaning(const char *sqlstate)
{
	for (size_t i = 0; i < HD_ARRAY_SIZE(meanings); i++)
		if (strncmp(sqlstate, meanings[i].sqlstate, strlen(meanings[i].sqlstate)) == 0)
			return meanings[i].status;
	return HD_REFUSED;
}

static hd_status lost(struct hd_session *s, struct hd_error *err)
{
	const char *why = PQerrorMessage(s->conn);

	s->broken = true;
	return hd_fail(err, HD_LOST, "the connection is lost: %s",
	               why[0] != '\0' ? why : "closed by the server");
}

static hd_status late(struct hd_session *s, struct hd_error *err)
{
	if (s->patient)
		return hd_fail(err, HD_TIMEOUT, "the server has not answered yet");
	s->broken = true;
	return hd_fail(err, HD_TIMEOUT, "the server did not answer in time");
}

/* A failed result in words, with the status that its SQLSTATE stands for. */
static hd_status explain(struct hd_session *s, const PGresult *res, struct hd_error *err)
{
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *message = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(res, PG_DIAG_MESSAGE_HINT);
	hd_status status;

	if (sqlstate == NULL) { /* made by libpq itself */
		if (PQstatus(s->conn) != CONNECTION_OK)
			return lost(s, err);
		return hd_fail(err, HD_REFUSED, "%s", PQresultErrorMessage(res));
	}
	status = meaning(sqlstate);
	/* Whatever its code, the server ends the session after one of these. */
	if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
		status = HD_LOST;
	if (status == HD_LOST || status == HD_TIMEOUT)
		s->broken = true;
	hd_fail(err, status, "%s%s%s%s", message ? message : "error", detail ? " (" : "",
	        detail ? detail : "", detail ? ")" : "");
	if (hint)
		hd_hint(err, "%s", hint);
	if (err) {
		memcpy(err->sqlstate, sqlstate, strnlen(sqlstate, 5));
		err->sqlstate[5] = '\0';
	}
	return status;
}

/* Sends what libpq still holds. The server may be sending too: both ways must move. */
static hd_status flush(struct hd_session *s, hd_mono deadline, struct hd_error *err)
{
	int more;

	while ((more = PQflush(s->conn)) > 0) {
		if (!hd_session_poll(s, POLLIN | POLLOUT, deadline))
			return late(s, err);
		if (!hd_session_consume(s))
			return lost(s, err);
	}
	/* A failed write is no end yet: the server may have said why before it closed. */
	return HD_OK;
}

bool hd_exec_ready(struct hd_session *s, hd_mono deadline)
{
	while (PQisBusy(s->conn)) {
		if (!hd_session_poll(s, POLLIN, deadline))
			return false;
		if (!hd_session_consume(s))
			return true; /* the reading of the result tells what happened */
	}
	return true;
}

/*
 * COPY waits for the client, in either direction; leaving it would take messages with no end of
 * their own. Nothing here starts one knowingly, so the session is given up.
 */
static hd_status refuse_copy(struct hd_session *s, struct hd_error *err)
{
	s->broken = true;
	return hd_fail(err, HD_REFUSED, "COPY is not possible here");
}

static bool is_copy(ExecStatusType t)
{
	return t == PGRES_COPY_IN || t == PGRES_COPY_OUT || t == PGRES_COPY_BOTH;
}

hd_status hd_exec_finish(struct hd_session *s, hd_mono deadline, struct hd_rows *rows,
                         struct hd_error *err)
{
	HD_ROWS last = { s->kept };
	hd_status status = flush(s, deadline, err);

	s->kept = NULL;

	/* All results are read: a deferred constraint fails behind the statement's own success. */
	while (status != HD_LOST && status != HD_TIMEOUT) {
		HD_ROWS next = { 0 };
		ExecStatusType t;

		if (!hd_exec_ready(s, deadline)) {
			s->kept = last.res;
			last.res = NULL;
			return late(s, err);
		}
		next.res = PQgetResult(s->conn);
		if (next.res == NULL)
			break;
		t = PQresultStatus(next.res);
		if (is_copy(t))
			return refuse_copy(s, err);
		if (t == PGRES_TUPLES_OK || t == PGRES_COMMAND_OK || t == PGRES_EMPTY_QUERY) {
			PGresult *old;

			if (t != PGRES_TUPLES_OK && PQresultStatus(last.res) == PGRES_TUPLES_OK)
				continue; /* the COMMIT behind the rows */
			old = last.res;

			last.res = next.res;
			next.res = old;
		} else if (status == HD_OK) {
			status = explain(s, next.res, err);
		}
	}
	if (status == HD_OK && s->local)
		return hd_fail(err, HD_LOST, "the synchronous standby did not confirm the commit");
	if (status == HD_OK && PQstatus(s->conn) != CONNECTION_OK)
		return lost(s, err);
	if (status == HD_OK && rows) {
		hd_rows_release(rows);
		*rows = last;
		last.res = NULL;
	}
	return status;
}

hd_status hd_exec_start(struct hd_session *s, const char *sql, const struct hd_args *args,
                        struct hd_error *err)
{
	int sent;

	if (!hd_session_ok(s)) {
		s->broken = true;
		return hd_fail(err, HD_LOST, "the session is gone");
	}
	if (args)
		sent = PQsendQueryParams(s->conn, sql, args->n, NULL, args->value, NULL, NULL, 0);
	else
		sent = PQsendQuery(s->conn, sql);
	return sent ? HD_OK : lost(s, err);
}

hd_status hd_exec_text(struct hd_session *s, const char *sql, const struct hd_args *args,
                       hd_mono deadline, struct hd_rows *rows, struct hd_error *err)
{
	hd_status status = hd_exec_start(s, sql, args, err);

	return status == HD_OK ? hd_exec_finish(s, deadline, rows, err) : status;
}

void hd_exec_be_patient(struct hd_session *s, bool on)
{
	s->patient = on;
}

static bool is_owed(const struct hd_session *s, hd_status st)
{
	return st == HD_TIMEOUT && hd_session_ok(s);
}

static hd_status send_stmt(struct hd_session *s, enum hd_sql stmt, const struct hd_args *args,
                           struct hd_error *err)
{
	static const struct hd_args none;
	HD_BUF enclosed;
	hd_status st;

	hd_buf_init(&enclosed);
	if (s->shared_timeout_ms == 0)
		return hd_exec_start(s, hd_stmts[stmt].text, args ? args : &none, err);
	if (!hd_session_ok(s))
		return lost(s, err);
	st = hd_enclose(s, &hd_stmts[stmt], args, &enclosed, err);
	return st == HD_OK ? hd_exec_start(s, enclosed.data, NULL, err) : st;
}

/* The end of the statement that is owed, and of the transaction around it. */
static hd_status settle_debt(struct hd_session *s, hd_mono deadline, struct hd_rows *rows,
                             struct hd_error *err)
{
	hd_status st = hd_exec_finish(s, deadline, rows, err);

	if (is_owed(s, st))
		return st;
	s->owed = 0;
	if (st != HD_OK && s->shared_timeout_ms != 0)
		hd_enclosed_end(s, deadline);
	return st;
}

hd_status hd_exec(struct hd_session *s, enum hd_sql stmt, const struct hd_args *args,
                  hd_mono deadline, struct hd_rows *rows, struct hd_error *err)
{
	hd_status st;

	assert((unsigned int)stmt < HD_SQL_COUNT);
	assert(hd_stmts[stmt].nparams == (args ? args->n : 0));
	if (s->owed == (int)stmt + 1)
		return settle_debt(s, deadline, rows, err);
	if (s->owed != 0) {
		st = settle_debt(s, deadline, NULL, err);
		if (is_owed(s, st) || !hd_session_ok(s))
			return st;
	}
	st = send_stmt(s, stmt, args, err);
	if (st != HD_OK)
		return st;
	s->owed = (int)stmt + 1;
	return settle_debt(s, deadline, rows, err);
}
