/* Every embedded statement is accepted by a real server, with as many parameters as the table says.
 */
#include "pg/exec.h"
#include "server.h"
#include "tap.h"
#include <howdah/session.h>
#include <libpq-fe.h>
#include <stdlib.h>

static PGconn *conn;

static void finish(void)
{
	PQfinish(conn);
	conn = NULL;
}

static void apply(const struct hd_script *scripts)
{
	for (; scripts->name; scripts++) {
		PGresult *res = PQexec(conn, scripts->text);
		bool ok = PQresultStatus(res) == PGRES_COMMAND_OK ||
		          PQresultStatus(res) == PGRES_TUPLES_OK;
		const char *why = test_format("%s", PQresultErrorMessage(res));

		PQclear(res);
		CHECK_MSG(ok, "%s: %s", scripts->name, why);
	}
}

static void schema_applies(void)
{
	/* As `init` does before the first migration. */
	PQclear(PQexec(conn, "create schema howdah"));
	apply(hd_migrations);
	apply(hd_functions);
	/* The functions are applied again whenever one of them has changed. */
	apply(hd_functions);
	/* The probe's statements are about this table. */
	PQclear(PQexec(conn, hd_stmts[HD_SQL_PROBE_TEMP_MAKE].text));
}

static void check_statement(const struct hd_stmt *s)
{
	PGresult *res = PQprepare(conn, "", s->text, 0, NULL);
	bool ok = PQresultStatus(res) == PGRES_COMMAND_OK;
	const char *why = test_format("%s", PQresultErrorMessage(res));
	int n;

	PQclear(res);
	CHECK_MSG(ok, "%s: %s", s->name, why);
	res = PQdescribePrepared(conn, "");
	n = PQnparams(res);
	PQclear(res);
	CHECK_MSG(n == s->nparams, "%s has %d parameters, not %d", s->name, n, s->nparams);
	CHECK_MSG(s->nparams <= HD_ARGS_MAX, "%s has %d parameters", s->name, s->nparams);
}

static void every_statement_prepares(void)
{
	CHECK(HD_SQL_COUNT > 0);
	for (int i = 0; i < HD_SQL_COUNT; i++) {
		CHECK(hd_stmts[i].name && hd_stmts[i].text);
		printf("# %s\n", hd_stmts[i].name);
		check_statement(&hd_stmts[i]);
	}
	CHECK(hd_stmts[HD_SQL_COUNT].name == NULL);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(schema_applies),
		TAP_TEST(every_statement_prepares),
	};

	conn = PQconnectdb(test_run("pgserver", "start", "a", NULL));
	(void)atexit(finish);
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
