/*
 * leader_loop.c - the same as leader_process.c in an event loop with other descriptors, the work in
 * a thread. It ends with its standard input.
 *   cc leader_loop.c $(pkg-config --cflags --libs howdah libpq) -pthread
 */
#include <howdah/leader.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *role;
static atomic_bool busy, quit;

/* Guarded in one statement: assert_leader raises when the token is of the past. */
static void work_a_bit(PGconn *db, int64_t token)
{
	const char *sql = "INSERT INTO ledger SELECT $1, $2 FROM howdah.assert_leader($1, $2)";
	char number[24];
	const char *values[] = { role, number };
	int64_t at = hd_now().ns;
	PGresult *r;

	(void)snprintf(number, sizeof(number), "%" PRId64, token);
	r = PQexecParams(db, sql, 2, NULL, values, NULL, NULL, 0);
	if (PQresultStatus(r) == PGRES_COMMAND_OK)
		printf("work %" PRId64 " %" PRId64 " %d %d\n", token, at, getpid(), getpid());
	PQclear(r);
}

static void *work(void *arg)
{
	struct hd_leadership *l = arg;
	PGconn *db = PQconnectdb("options='-c statement_timeout=400'"); /* less than stop_ms */
	int64_t token;

	for (; !quit; (void)poll(NULL, 0, 20)) {
		busy = true; /* before the question: so no work begins unseen */
		if ((token = hd_leader_token(l)) != 0)
			work_a_bit(db, token);
		busy = false;
	}
	return PQfinish(db), NULL;
}

int main(int argc, char **argv)
{
	struct hd_leadership_options o;
	struct hd_leadership *l;
	struct pollfd p[2] = { { STDIN_FILENO, POLLIN, 0 } };
	struct hd_error err;
	pthread_t worker;
	hd_status s;

	hd_leadership_options_init(&o);
	o.role = role = argc > 1 ? argv[1] : "poller";
	o.lease_ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	o.heartbeat_ms = o.lease_ms / 5;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (hd_leadership_open(&o, &l, &err) != HD_OK)
		return fprintf(stderr, "%s\n%s\n", err.message, err.hint), 1;
	(void)pthread_create(&worker, NULL, work, l);
	while (p[0].revents == 0) {
		p[1].fd = hd_leadership_socket(l);
		p[1].events = (short)hd_leadership_wants(l);
		(void)poll(p, 2, hd_leadership_timeout_ms(l));
		if (hd_leadership_step(l, hd_after(hd_now(), 2000), &err) != HD_OK)
			fprintf(stderr, "%s: %s\n", hd_leader_state(l), err.message);
		if (!hd_leader_held(l) && !busy)
			hd_leadership_stopped(l);
	}
	quit = true;
	(void)pthread_join(worker, NULL);
	s = hd_leadership_resign(l, "done", hd_after(hd_now(), 2000), &err);
	hd_leadership_close(l);
	return s != HD_OK;
}
