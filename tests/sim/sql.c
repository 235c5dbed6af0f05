/*
 * sql.c - the functions of sql/function/2*.sql as one server would run them, each at one instant:
 * what they read and write of the row, no more. A change there has to be made here as well.
 */
#include "base/ids.h"
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers, identities (which are numbers here) and yes or no. */
int64_t read_arg(const char *text)
{
	if (text == NULL)
		return 0;
	if (strcmp(text, "direct") == 0 || strcmp(text, "t") == 0)
		return 1;
	return strtoll(text, NULL, 10);
}

static void put(struct answer *a, int column, int64_t value)
{
	(void)snprintf(a->text[column], sizeof(a->text[0]), "%lld", (long long)value);
	a->null[column] = false;
}

static void put_text(struct answer *a, int column, const char *text)
{
	a->null[column] = text == NULL;
	(void)snprintf(a->text[column], sizeof(a->text[0]), "%s", text != NULL ? text : "");
}

static void put_bool(struct answer *a, int column, bool value)
{
	put_text(a, column, value ? "t" : "f");
}

static void columns(struct answer *a, int n)
{
	a->rows = 1;
	a->columns = n;
	for (int i = 0; i < n; i++)
		a->null[i] = true;
}

void row_written(struct server *s)
{
	size_t i = s->nversions++ % VERSIONS;

	s->versions[i].at = sim.now;
	s->versions[i].row = s->row;
}

static const char *mode(void)
{
	return sim.lease_mode ? "lease" : "advisory";
}

static bool same_incarnation(const struct server *s)
{
	return s->row.led_known && s->row.led_timeline == s->timeline;
}

/* On a server that was never promoted nobody can have led before the row existed. */
static void do_register(struct server *s, struct answer *a)
{
	if (!s->row.exists) {
		s->row = (struct row){ .exists = true,
			               .closing = true,
			               .node = -1,
			               .led_known = s->timeline == 1,
			               .led_timeline = s->timeline };
		row_written(s);
	}
	columns(a, 1);
	put(a, 0, 1);
}

static void do_look(const struct server *s, struct answer *a)
{
	const struct row *r = &s->row;

	columns(a, 14);
	put_bool(a, 0, r->exists);
	put(a, 1, hd_hash64("sim"));
	put_text(a, 2, mode());
	put(a, 3, r->token);
	if (r->owner != 0)
		put(a, 4, r->owner);
	put_bool(a, 6, r->closing);
	put(a, 7, r->beat);
	put_bool(a, 8, r->resign_token != 0 && r->resign_token == r->token);
	put_bool(a, 9, r->paused);
	if (s->lock >= 0)
		put(a, 11, s->lock);
	put_bool(a, 12, false);
	put_bool(a, 13, r->exists && r->clear_token >= r->led_token && same_incarnation(s));
}

static void do_close(struct server *s, const struct query *q, struct answer *a)
{
	bool found = s->row.token == q->a[1] && s->row.beat == q->a[2];

	if (found) {
		s->row.closing = true;
		row_written(s);
	}
	columns(a, 1);
	put_bool(a, 0, found);
}

static void overwrite_led(struct server *s, int64_t lease_ms)
{
	s->row.led_token = s->row.token;
	s->row.led_known = true;
	s->row.led_timeline = s->timeline;
	s->row.led_started = s->started;
	s->row.led_lease_ms = lease_ms;
	s->row.led_wait_ms = 1000;
}

/* leader_take, with the first ten columns that every take answers. */
static enum sql_run take(struct server *s, int node, int64_t seen_token, int64_t seen_beat,
                         int64_t owner, int64_t lease_ms, struct answer *a)
{
	struct row *r = &s->row;
	int64_t least = planted(PLANT_TOKEN_WITHOUT_TIMELINE) ? 0 : s->timeline << 40;

	if (r->token != seen_token || r->beat != seen_beat || !r->closing || r->paused)
		return SQL_DONE;
	if (tx_blocks((int)(s - sim.servers)) && !planted(PLANT_ASSERTS_NOT_WAITED_FOR))
		return SQL_BLOCKED;
	r->token = r->token + 1 > least ? r->token + 1 : least;
	r->owner = owner;
	r->node = node;
	r->lease_ms = lease_ms;
	r->beat++;
	r->resign_token = 0;
	r->closing = false;
	put(a, 0, r->token);
	put(a, 1, r->led_token);
	put(a, 2, r->clear_token);
	put_bool(a, 3, same_incarnation(s));
	put_bool(a, 4, planted(PLANT_RESTART_UNSEEN) || r->led_started == s->started);
	put_text(a, 5, r->led_token == 0 ? NULL : r->led_advisory ? "advisory" : "lease");
	put_bool(a, 6, r->led_pinned);
	put_text(a, 7, r->led_direct ? "direct" : "session-pooled");
	put(a, 8, r->led_lease_ms);
	put(a, 9, r->led_wait_ms);
	if (planted(PLANT_LED_OVERWRITTEN))
		overwrite_led(s, lease_ms);
	row_written(s);
	if (s == &sim.servers[sim.primary]) /* one that is cut off grants to nobody */
		check_token(r->token, node);
	return SQL_DONE;
}

static enum sql_run do_take(struct server *s, int conn, const struct query *q, struct answer *a)
{
	columns(a, 10);
	if (!sim.lease_mode && s->lock != conn) {
		a->status = HD_REFUSED;
		return SQL_DONE;
	}
	return take(s, sim.conns[conn].node, q->a[3], q->a[4], q->a[5], q->a[8], a);
}

static void do_led(struct server *s, int conn, const struct query *q, struct answer *a)
{
	struct row *r = &s->row;
	bool mine = r->owner == q->a[2] && r->token == q->a[3] && !r->closing && !r->paused &&
	            (sim.lease_mode || s->lock == conn);

	if (mine) {
		r->led_token = r->token;
		r->led_advisory = !sim.lease_mode;
		r->led_known = true;
		r->led_timeline = s->timeline;
		r->led_started = s->started;
		r->led_lease_ms = r->lease_ms;
		r->led_wait_ms = q->a[4];
		r->led_pinned = q->a[5] != 0;
		r->led_direct = q->a[6] != 0;
		r->beat++;
		row_written(s);
	}
	columns(a, 1);
	put_bool(a, 0, mine);
}

static bool beat(struct server *s, int conn, int64_t owner, int64_t token)
{
	struct row *r = &s->row;

	if (r->owner != owner || r->token != token || r->closing ||
	    (!sim.lease_mode && s->lock != conn))
		return false;
	r->beat++;
	row_written(s);
	return true;
}

static void put_beat(const struct server *s, bool held, struct answer *a)
{
	put_bool(a, 0, held);
	put_text(a, 1, held ? NULL : "not ours");
	put_bool(a, 2, held && s->row.resign_token != 0 && s->row.resign_token == s->row.token);
	put_bool(a, 3, held && s->row.paused);
}

static void do_beat(struct server *s, int conn, const struct query *q, struct answer *a)
{
	columns(a, 7);
	put_beat(s, beat(s, conn, q->a[2], q->a[3]), a);
	put(a, 4, sim.conns[conn].serial);
	put(a, 5, sim.conns[conn].serial);
	put_bool(a, 6, false);
}

static void do_renew(struct server *s, int conn, const struct query *q, struct answer *a)
{
	bool held = beat(s, conn, q->a[1], q->a[2]);

	if (held)
		s->row.expires_at = q->expires_at;
	columns(a, 4);
	put_beat(s, held, a);
}

static void do_release(struct server *s, const struct query *q, struct answer *a)
{
	struct row *r = &s->row;
	bool mine = r->owner == q->a[1] && r->token == q->a[2];

	if (mine) {
		if ((r->led_token == r->token || planted(PLANT_CLEAR_WHILE_WAITING)) &&
		    r->clear_token < r->token)
			r->clear_token = r->token;
		r->owner = 0;
		r->closing = true;
		r->beat++;
		row_written(s);
	}
	columns(a, 1);
	put_bool(a, 0, mine);
}

static void do_notice(struct server *s, const struct query *q, struct answer *a)
{
	struct row *r = &s->row;
	bool matters = r->led_token == q->a[2] && r->clear_token < q->a[2];

	if (matters) {
		r->clear_token = q->a[2];
		if (r->owner == q->a[1] && r->token == q->a[2]) {
			r->owner = 0;
			r->closing = true;
		}
		row_written(s);
		server_notify(s);
	}
	columns(a, 1);
	put_bool(a, 0, matters);
}

/* The value that a stand-by watches, read with the server that answers. */
static void put_watched(const struct server *s, struct answer *a)
{
	bool stored = planted(PLANT_STORED_INCARNATION);

	put(a, 10, s->row.token);
	put(a, 11, s->row.beat);
	put(a, 12, s->row.lease_ms);
	put_bool(a, 13, s->row.closing);
	put(a, 14, 1);
	put(a, 15, stored ? s->row.led_timeline : s->timeline);
	put(a, 16, stored ? s->row.led_started : s->started);
	put_bool(a, 17, false);
	put_bool(a, 18, s->row.paused);
}

static enum sql_run do_attempt(struct server *s, int conn, const struct query *q, struct answer *a)
{
	struct answer ignored;
	struct row *r = &s->row;
	int node = sim.conns[conn].node;
	bool mine = planted(PLANT_RENEWAL_BY_NAME) && r->owner != 0 && r->node == node;
	bool expired = planted(PLANT_EXPIRY_COMPARED) && r->owner != 0 &&
	               r->expires_at < wall(&sim.nodes[node]);
	enum sql_run ran = SQL_DONE;

	do_register(s, &ignored);
	columns(a, 21);
	put_watched(s, a);
	if (mine || expired)
		r->closing = true;
	if (((r->owner == 0 && r->closing) || mine || expired) && !r->paused)
		ran = take(s, node, r->token, r->beat, q->a[2], q->a[5], a);
	if (ran == SQL_DONE && !a->null[0]) {
		r->expires_at = q->expires_at;
		if (mine || expired) /* "it is mine already", "nobody has it" */
			put(a, 2, r->led_token);
	}
	return ran;
}

static enum sql_run do_take_over(struct server *s, int conn, const struct query *q,
                                 struct answer *a)
{
	columns(a, 10);
	if (!planted(PLANT_STORED_INCARNATION) && (q->a[5] != s->timeline || q->a[6] != s->started))
		return SQL_DONE;
	return take(s, sim.conns[conn].node, q->a[2], q->a[3], q->a[7], q->a[10], a);
}

static void do_unblock(struct server *s, struct answer *a)
{
	columns(a, 2);
	a->rows = 0;
	if (!sim.may_unblock || !tx_blocks((int)(s - sim.servers)))
		return;
	a->rows = 1;
	put(a, 0, 1);
	put_bool(a, 1, true);
	tx_abort_all((int)(s - sim.servers));
}

static void do_lock(struct server *s, int conn, struct answer *a)
{
	if (s->lock < 0)
		s->lock = conn;
	columns(a, 1);
	put_bool(a, 0, s->lock == conn);
}

static void do_unlock(struct server *s, int conn, struct answer *a)
{
	columns(a, 1);
	put_bool(a, 0, s->lock == conn);
	if (s->lock == conn)
		server_unlock(s);
	server_notify(s);
}

/* What needs a commit that the synchronous standby has as well. */
static bool writes(const struct server *s, const struct query *q)
{
	switch ((int)q->stmt) {
	case HD_SQL_LEADER_LOOK:
	case HD_SQL_LEADER_LOCK:
	case HD_SQL_LEADER_UNLOCK:
	case HD_SQL_LEADER_BLOCKERS:
	case HD_SQL_LEADER_UNBLOCK:
	case HD_SQL_LEADER_ANNOUNCE:
		return false;
	case HD_SQL_LEADER_BEAT:
	case HD_SQL_LEASE_RENEW:
		return !planted(PLANT_READING_HEARTBEAT);
	case HD_SQL_LEASE_ATTEMPT:
		return !s->row.exists || (s->row.owner == 0 && s->row.closing);
	default:
		return true;
	}
}

enum sql_run sql_run(struct server *s, int conn, const struct query *q, struct answer *ret)
{
	*ret = (struct answer){ .status = HD_OK };
	if (s->isolated && sim.sync && writes(s, q))
		return SQL_HANGS;
	switch ((int)q->stmt) {
	case HD_SQL_LEADER_REGISTER:
		do_register(s, ret);
		break;
	case HD_SQL_LEADER_LOOK:
		do_look(s, ret);
		break;
	case HD_SQL_LEADER_LOCK:
		do_lock(s, conn, ret);
		break;
	case HD_SQL_LEADER_UNLOCK:
		do_unlock(s, conn, ret);
		break;
	case HD_SQL_LEADER_CLOSE:
		do_close(s, q, ret);
		break;
	case HD_SQL_LEADER_TAKE:
		return do_take(s, conn, q, ret);
	case HD_SQL_LEADER_LED:
		do_led(s, conn, q, ret);
		break;
	case HD_SQL_LEADER_BEAT:
		do_beat(s, conn, q, ret);
		break;
	case HD_SQL_LEASE_RENEW:
		do_renew(s, conn, q, ret);
		break;
	case HD_SQL_LEADER_RELEASE:
		do_release(s, q, ret);
		break;
	case HD_SQL_LEADER_NOTICE:
		do_notice(s, q, ret);
		break;
	case HD_SQL_LEADER_ANNOUNCE:
		server_notify(s);
		break;
	case HD_SQL_LEADER_UNBLOCK:
		do_unblock(s, ret);
		break;
	case HD_SQL_LEASE_ATTEMPT:
		return do_attempt(s, conn, q, ret);
	case HD_SQL_LEASE_TAKE_OVER:
		return do_take_over(s, conn, q, ret);
	default:
		break; /* listens, blockers: nothing that matters here */
	}
	return SQL_DONE;
}
