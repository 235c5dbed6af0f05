#include "pg/enclosed.h"

#include "base/error.h"
#include "pg/session.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static hd_status put_literal(struct hd_session *s, const char *text, struct hd_buf *b,
                             struct hd_error *err)
{
	char *quoted;

	if (text == NULL) {
		hd_buf_text(b, "null");
		return HD_OK;
	}
	quoted = PQescapeLiteral(s->conn, text, strlen(text));
	if (quoted == NULL)
		return hd_fail(err, HD_INVALID, "%s", PQerrorMessage(s->conn));
	hd_buf_text(b, quoted);
	PQfreemem(quoted);
	return HD_OK;
}

/* The embedded statements have no '$' but those of their parameters; a test looks. */
static hd_status put_statement(struct hd_session *s, const char *sql, const struct hd_args *args,
                               struct hd_buf *b, struct hd_error *err)
{
	for (const char *p = sql; *p != '\0';) {
		char *end;
		long n;
		hd_status st;

		if (*p != '$') {
			hd_buf_char(b, *p++);
			continue;
		}
		n = strtol(p + 1, &end, 10);
		if (args == NULL || n < 1 || n > args->n)
			return hd_fail(err, HD_INVALID, "a statement has no parameter $%ld", n);
		st = put_literal(s, args->value[n - 1], b, err);
		if (st != HD_OK)
			return st;
		p = end;
	}
	return HD_OK;
}

hd_status hd_enclose(struct hd_session *s, const struct hd_stmt *stmt, const struct hd_args *args,
                     struct hd_buf *b, struct hd_error *err)
{
	hd_status st;

	hd_buf_printf(b,
	              "begin isolation level read committed; set local jit = off; "
	              "set local statement_timeout = %" PRId64 "; ",
	              s->shared_timeout_ms);
	st = put_statement(s, stmt->text, args, b, err);
	hd_buf_text(b, "; commit");
	if (st == HD_OK && !hd_buf_ok(b))
		return hd_fail(err, HD_NOMEM, "out of memory");
	return st;
}

void hd_enclosed_end(struct hd_session *s, hd_mono deadline)
{
	if (!hd_session_ok(s) || PQtransactionStatus(s->conn) == PQTRANS_IDLE)
		return;
	if (hd_exec_text(s, "rollback", NULL, deadline, NULL, NULL) != HD_OK)
		s->broken = true;
}
