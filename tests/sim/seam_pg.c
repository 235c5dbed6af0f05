/*
 * seam_pg.c - what the elector calls of src/pg, answered by the world: sessions, the probe,
 * statements, LISTEN. Waiting is the fiber's.
 */
#include "base/error.h"
#include "base/ids.h"
#include "feature/leader_notice.h"
#include "pg/settings.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sessions ---- */

void hd_session_options_init(struct hd_session_options *o)
{
	*o = (struct hd_session_options){ 0 };
}

static int pick_server(const struct node *n)
{
	for (int i = 0; i < sim.nservers; i++)
		if (server_answers(n, i))
			return i;
	return -1;
}

/* Round trips of a connection and a probe; a node that is cut off waits until the deadline. */
static hd_status wait_for_link(struct node *n, hd_mono deadline)
{
	int64_t end = when_local(n, deadline);
	int64_t ready = sim.now + between(3 * sim.latency, 8 * sim.latency);

	fiber_stall();
	while (sim.now < end) {
		if (n->cut_up_until > ready)
			ready = n->cut_up_until + between(0, SECOND);
		if (n->cut_down_until > ready)
			ready = n->cut_down_until + between(0, SECOND);
		if (sim.now >= ready)
			return HD_OK;
		fiber_wait(ready < end ? ready : end);
	}
	return HD_TIMEOUT;
}

hd_status hd_session_open(const struct hd_session_options *o, hd_mono deadline,
                          struct hd_session **ret, struct hd_error *err)
{
	struct node *n = fiber_node();
	int server, c;

	(void)o;
	if (wait_for_link(n, deadline) != HD_OK)
		return hd_fail(err, HD_TIMEOUT, "no server was reached in time");
	server = pick_server(n);
	if (server < 0)
		return hd_fail(err, HD_RETRY, "no server is up");
	c = conn_open(n, server);
	if (c < 0)
		return hd_fail(err, HD_NOMEM, "no connection is left");
	*ret = &sim.conns[c].session;
	return HD_OK;
}

void hd_session_close(struct hd_session *s)
{
	struct conn *c = s != NULL ? conn_of(s) : NULL;

	if (c != NULL && c->client_open)
		conn_hang_up(s->conn, true);
}

bool hd_session_ok(const struct hd_session *s)
{
	return !s->broken;
}

int hd_session_socket(const struct hd_session *s)
{
	return s->broken ? -1 : 1000 + s->conn;
}

/* Nothing of it is settled, and nobody else's settings are touched. */
void hd_session_share(struct hd_session *s, int64_t statement_timeout_ms)
{
	(void)s;
	(void)statement_timeout_ms;
}

hd_status hd_session_check(struct hd_session *s, struct hd_error *err)
{
	struct conn *c = conn_of(s);

	fiber_stall();
	if (s->broken || c == NULL || c->closed) {
		s->broken = true;
		return hd_fail(err, HD_LOST, "the server closed the session");
	}
	c->notice = false;
	return HD_OK;
}

hd_status hd_session_settle(struct hd_session *s, const struct hd_settings *want, hd_mono deadline,
                            bool *ret_pinned, struct hd_error *err)
{
	struct conn *c = conn_of(s);

	(void)deadline;
	if (c == NULL || c->closed)
		return hd_fail(err, HD_LOST, "the server closed the session");
	c->idle_ms = want->lease_ms;
	c->idle_since = sim.now;
	c->pinned = sim.pinned;
	schedule(sim.now + c->idle_ms * MS, EV_IDLE, s->conn, c->serial);
	if (!c->pinned)
		schedule(sim.now + sim.keepalive_us, EV_KEEPALIVE, s->conn, c->serial);
	*ret_pinned = sim.pinned || planted(PLANT_PINNING_UNCHECKED);
	return HD_OK;
}

hd_status hd_probe(const struct hd_session_options *o, bool trust_session, hd_mono deadline,
                   struct hd_session **ret_session, struct hd_probe_report *ret,
                   struct hd_error *err)
{
	hd_status st = hd_session_open(o, deadline, ret_session, err);

	(void)trust_session;
	if (st != HD_OK)
		return st;
	*ret = (struct hd_probe_report){ .verdict = sim.lease_mode ? HD_VERDICT_MULTIPLEXED
		                                    : sim.direct   ? HD_VERDICT_DIRECT
		                                                   : HD_VERDICT_SESSION_POOLED };
	return HD_OK;
}

hd_status hd_probe_judge(const struct hd_probe_report *r, struct hd_error *err)
{
	if (r->verdict == HD_VERDICT_DIRECT || r->verdict == HD_VERDICT_SESSION_POOLED)
		return HD_OK;
	return hd_fail(err, HD_REFUSED, "sessions are shared");
}

const char *hd_verdict_name(hd_verdict v)
{
	return v == HD_VERDICT_DIRECT ? "direct" : "session-pooled";
}

/* ---- statements ---- */

static hd_status await(struct hd_session *s, struct conn *c, hd_mono deadline, struct hd_error *err)
{
	int64_t end = when_local(fiber_node(), deadline);

	while (c->answered != c->call && !c->closed) {
		if (sim.now >= end) {
			s->broken = !s->patient;
			return hd_fail(err, HD_TIMEOUT, "no answer in time");
		}
		fiber_wait(end);
	}
	fiber_stall();
	if (c->answered == c->call)
		return HD_OK;
	s->broken = true;
	return hd_fail(err, HD_LOST, "the server closed the session");
}

static void make_rows(const struct answer *a, struct hd_rows *rows)
{
	static char name[] = "c";
	PGresAttDesc columns[24];

	hd_rows_release(rows);
	rows->res = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	memset(columns, 0, sizeof(columns));
	for (int i = 0; i < a->columns; i++)
		columns[i].name = name;
	(void)PQsetResultAttrs(rows->res, a->columns, columns);
	for (int i = 0; i < a->columns && a->rows > 0; i++)
		(void)PQsetvalue(rows->res, 0, i, a->null[i] ? NULL : (char *)(uintptr_t)a->text[i],
		                 a->null[i] ? -1 : (int)strlen(a->text[i]));
}

static hd_status send_query(struct hd_session *s, const struct conn *c, enum hd_sql stmt,
                            const struct hd_args *args)
{
	struct node *n = fiber_node();
	struct query q = { .stmt = stmt, .expires_at = wall(n) + n->e.c.plan.lease_ms * MS };

	(void)c;
	for (int i = 0; args != NULL && i < args->n; i++)
		q.a[i] = read_arg(args->value[i]);
	n->sent = local(n);
	fiber_stall();
	conn_send(s->conn, &q);
	return HD_OK;
}

void hd_exec_be_patient(struct hd_session *s, bool on)
{
	s->patient = on;
}

hd_status hd_exec(struct hd_session *s, enum hd_sql stmt, const struct hd_args *args,
                  hd_mono deadline, struct hd_rows *rows, struct hd_error *err)
{
	struct conn *c = conn_of(s);
	hd_status st;

	if (s->broken || c == NULL)
		return hd_fail(err, HD_LOST, "the session is broken");
	c->notice = false;
	if (s->owed != 0 && s->owed != (int)stmt + 1) { /* the answer to another one comes first */
		st = await(s, c, deadline, err);
		if (st != HD_OK)
			return st;
		s->owed = 0;
	}
	if (s->owed == 0 && send_query(s, c, stmt, args) != HD_OK)
		return hd_fail(err, HD_LOST, "the session is broken");
	s->owed = (int)stmt + 1;
	st = await(s, c, deadline, err);
	if (st != HD_OK)
		return st;
	s->owed = 0;
	if (c->answer.status != HD_OK)
		return hd_fail(err, c->answer.status, "the server refused or cancelled it");
	if (rows != NULL)
		make_rows(&c->answer, rows);
	return HD_OK;
}

/* ---- LISTEN: a round trip, then notices wake the node ---- */

struct hd_listener {
	struct hd_session *s;
};

hd_status hd_listener_new(struct hd_listener **ret, struct hd_error *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret != NULL ? HD_OK : hd_fail(err, HD_NOMEM, "out of memory");
}

void hd_listener_free(struct hd_listener *l)
{
	free(l);
}

hd_status hd_listener_add(struct hd_listener *l, const char *channel, hd_mono deadline,
                          struct hd_error *err)
{
	(void)l;
	(void)channel;
	(void)deadline;
	(void)err;
	return HD_OK;
}

/* Any statement that changes nothing will do for the way there and back. */
static hd_status listen(struct hd_session *s, bool on, hd_mono deadline, struct hd_error *err)
{
	hd_status st = hd_exec(s, HD_SQL_LEADER_BLOCKERS, NULL, deadline, NULL, err);
	struct conn *c = conn_of(s);

	if (st == HD_OK && c != NULL)
		c->listening = on;
	return st;
}

hd_status hd_listener_attach(struct hd_listener *l, struct hd_session *s, hd_mono deadline,
                             struct hd_error *err)
{
	l->s = s;
	return listen(s, true, deadline, err);
}

hd_status hd_listener_detach(struct hd_listener *l, hd_mono deadline, struct hd_error *err)
{
	return l->s != NULL && conn_of(l->s) != NULL ? listen(l->s, false, deadline, err) : HD_OK;
}
