/*
 * leader_process.c - work that runs once among many processes, in the main loop of a program:
 * PGDATABASE=app ./a.out ROLE [LEASE_MS [lease]]. While it leads it writes to a table `ledger` and
 * says so.
 *
 *   cc leader_process.c $(pkg-config --cflags --libs howdah libpq)
 */
#include <howdah/leader.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = number;
}

static bool run(PGconn *db, const char *sql, const char *const *values)
{
	PGresult *r = PQexecParams(db, sql, values != NULL ? 2 : 0, NULL, values, NULL, NULL, 0);
	ExecStatusType status = PQresultStatus(r);
	bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;

	PQclear(r);
	return good;
}

/* A guarded write: the database refuses a token of the past, so a late leader changes nothing. */
static void work_a_bit(PGconn *db, const char *role, int64_t token)
{
	char number[24];
	const char *values[] = { role, number };
	int64_t at = hd_now().ns;

	(void)snprintf(number, sizeof(number), "%" PRId64, token);
	if (run(db, "BEGIN", NULL) &&
	    run(db, "SET LOCAL statement_timeout = 400", NULL) && /* less than step_ms */
	    run(db, "SELECT howdah.assert_leader($1, $2::bigint)", values) &&
	    run(db, "INSERT INTO ledger VALUES ($1, $2::bigint)", values) &&
	    run(db, "COMMIT", NULL))
		printf("work %" PRId64 " %" PRId64 " %d %d\n", token, at, getpid(), getpid());
	else
		(void)run(db, "ROLLBACK", NULL);
	if (PQstatus(db) != CONNECTION_OK)
		PQreset(db);
}

int main(int argc, char **argv)
{
	struct hd_leadership_options o;
	struct hd_leadership *l;
	struct hd_error err;
	int64_t token;
	hd_status s;
	PGconn *db;

	hd_leadership_options_init(&o);
	o.role = argc > 1 ? argv[1] : "poller";
	o.lease_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	o.heartbeat_ms = o.lease_ms / 5;
	o.margin_ms = o.lease_ms / 10;
	if (argc > 3 && strcmp(argv[3], "lease") == 0)
		o.election = HD_ELECTION_LEASE; /* also through a pooler that shares sessions */
	if (hd_leadership_open(&o, &l, &err) != HD_OK)
		return fprintf(stderr, "%s\n%s\n", err.message, err.hint), 1;
	db = PQconnectdb("");
	(void)signal(SIGTERM, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (!stop) {
		struct pollfd p = { hd_leadership_socket(l), (short)hd_leadership_wants(l), 0 };

		(void)poll(&p, 1, hd_leader_held(l) ? 20 : hd_leadership_timeout_ms(l));
		if (hd_leadership_step(l, hd_after(hd_now(), 2000), &err) != HD_OK)
			fprintf(stderr, "%s: %s\n", hd_leader_state(l), err.message);
		if ((token = hd_leader_token(l)) != 0)
			work_a_bit(db, o.role, token);
		else
			hd_leadership_stopped(l);
	}
	/* No work runs here, so it may be said: a successor starts at once. */
	s = hd_leadership_resign(l, "done", hd_after(hd_now(), 2000), &err);
	hd_leadership_close(l);
	PQfinish(db);
	return s != HD_OK;
}
