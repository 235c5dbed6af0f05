#include "pg/listener.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "pg/exec.h"
#include "pg/session.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS_MAX 4096
#define CHANNEL_TEXT 63 /* the server would cut a longer name, silently */
#define UNREAD_MAX   1000

struct hd_listener {
	struct hd_session *session; /* borrowed; NULL when detached */
	char **channel;
	int nchannels, room;
	PGnotify *unread[UNREAD_MAX]; /* a ring */
	int first, count;
	PGnotify *current; /* what the last notice borrows from */
	bool resync;
	int pid; /* the server's; behind a pooler libpq knows another */
	int64_t silence_ms, answer_ms;
};

hd_status hd_listener_new(struct hd_listener **ret, struct hd_error *err)
{
	struct hd_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	hd_listener_set_patience(l, 30000, 5000);
	*ret = l;
	return HD_OK;
}

void hd_listener_set_patience(struct hd_listener *l, int64_t silence_ms, int64_t answer_ms)
{
	l->silence_ms = silence_ms;
	l->answer_ms = answer_ms;
}

static PGnotify *pop(struct hd_listener *l)
{
	PGnotify *n = l->unread[l->first];

	l->first = (l->first + 1) % UNREAD_MAX;
	l->count--;
	return n;
}

static void drop_unread(struct hd_listener *l)
{
	while (l->count > 0)
		PQfreemem(pop(l));
}

static void forget_session(struct hd_listener *l)
{
	if (l->session) {
		l->session->notified = NULL;
		l->session->notified_arg = NULL;
	}
	l->session = NULL;
	l->resync = false;
	drop_unread(l);
}

/* Called by the session for each notification, also while other statements run on it. */
static void take(void *arg, PGnotify *n)
{
	struct hd_listener *l = arg;

	if (n == NULL) {
		forget_session(l);
		return;
	}
	/* After RESYNC everything is read anyway: what was sent before tells nothing more. */
	if (l->count == UNREAD_MAX) {
		drop_unread(l);
		l->resync = true;
	}
	if (l->resync)
		PQfreemem(n);
	else
		l->unread[(l->first + l->count++) % UNREAD_MAX] = n;
}

void hd_listener_free(struct hd_listener *l)
{
	if (l == NULL)
		return;
	forget_session(l);
	PQfreemem(l->current);
	for (int i = 0; i < l->nchannels; i++)
		free(l->channel[i]);
	free(l->channel);
	free(l);
}

static int find(const struct hd_listener *l, const char *channel)
{
	for (int i = 0; i < l->nchannels; i++)
		if (strcmp(l->channel[i], channel) == 0)
			return i;
	return -1;
}

/* "VERB "channel";" for one channel, its name quoted by libpq. */
static bool add_statement(const struct hd_session *s, struct hd_buf *sql, const char *verb,
                          const char *channel)
{
	char *quoted = PQescapeIdentifier(s->conn, channel, strlen(channel));

	if (quoted == NULL)
		return false;
	hd_buf_printf(sql, "%s %s;", verb, quoted);
	PQfreemem(quoted);
	return hd_buf_ok(sql);
}

/* LISTEN or UNLISTEN for channels from..to-1 in one round trip, committed when it returns. */
static hd_status tell(const struct hd_listener *l, struct hd_session *s, const char *verb, int from,
                      int to, hd_mono deadline, int *ret_pid, struct hd_error *err)
{
	HD_ROWS rows = { 0 };
	HD_BUF sql;
	hd_status status;

	hd_buf_init(&sql);
	if (hd_session_ok(s) && PQtransactionStatus(s->conn) != PQTRANS_IDLE)
		return hd_fail(err, HD_INVALID,
		               "%s inside a transaction would miss what commits "
		               "before its end",
		               verb);
	for (int i = from; i < to; i++)
		if (!add_statement(s, &sql, verb, l->channel[i]))
			return hd_fail(err, HD_INVALID, "a channel's name is not valid UTF-8");
	hd_buf_text(&sql, "select pg_catalog.pg_backend_pid()");
	status = hd_exec_text(s, sql.data, NULL, deadline, &rows, err);
	if (status == HD_OK && ret_pid)
		*ret_pid = (int)hd_rows_int(&rows, 0, 0);
	return status;
}

static hd_status remember(struct hd_listener *l, const char *channel, struct hd_error *err)
{
	size_t len = strlen(channel);

	if (len == 0 || len > CHANNEL_TEXT)
		return hd_fail(err, HD_INVALID, "a channel's name has 1 to %d bytes, not %zu",
		               CHANNEL_TEXT, len);
	if (l->nchannels == CHANNELS_MAX)
		return hd_fail(err, HD_INVALID, "more than %d channels", CHANNELS_MAX);
	if (l->nchannels == l->room) {
		int room = l->room ? 2 * l->room : 8;
		char **more = realloc(l->channel, (size_t)room * sizeof(*more));

		if (more == NULL)
			return hd_fail(err, HD_NOMEM, "out of memory");
		l->channel = more;
		l->room = room;
	}
	l->channel[l->nchannels] = strdup(channel);
	if (l->channel[l->nchannels] == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	l->nchannels++;
	return HD_OK;
}

static void drop_channel(struct hd_listener *l, int i)
{
	free(l->channel[i]);
	l->channel[i] = l->channel[--l->nchannels];
}

static void missed_something(struct hd_listener *l)
{
	drop_unread(l);
	l->resync = true;
}

hd_status hd_listener_add(struct hd_listener *l, const char *channel, hd_mono deadline,
                          struct hd_error *err)
{
	hd_status status;

	if (find(l, channel) >= 0)
		return HD_OK;
	status = remember(l, channel, err);
	if (status != HD_OK || l->session == NULL)
		return status;
	status = tell(l, l->session, "listen", l->nchannels - 1, l->nchannels, deadline, NULL, err);
	if (status == HD_OK)
		missed_something(l);
	else
		drop_channel(l, l->nchannels - 1);
	return status;
}

/* Takes the unread messages of one channel out of the ring; the others keep their order. */
static void drop_unread_of(struct hd_listener *l, const char *channel)
{
	for (int left = l->count; left > 0; left--) {
		PGnotify *n = pop(l);

		if (strcmp(n->relname, channel) == 0)
			PQfreemem(n);
		else
			l->unread[(l->first + l->count++) % UNREAD_MAX] = n;
	}
}

hd_status hd_listener_remove(struct hd_listener *l, const char *channel, hd_mono deadline,
                             struct hd_error *err)
{
	int i = find(l, channel);
	hd_status status = HD_OK;

	if (i < 0)
		return HD_OK;
	if (l->session)
		status = tell(l, l->session, "unlisten", i, i + 1, deadline, NULL, err);
	if (status == HD_OK) {
		drop_unread_of(l, l->channel[i]);
		drop_channel(l, i);
	}
	return status;
}

hd_status hd_listener_attach(struct hd_listener *l, struct hd_session *s, hd_mono deadline,
                             struct hd_error *err)
{
	hd_status status;

	if (l->session || s->notified)
		return hd_fail(err, HD_INVALID, "the listener or the session is attached already");
	status = tell(l, s, "listen", 0, l->nchannels, deadline, &l->pid, err);
	if (status != HD_OK)
		return status;
	l->session = s;
	s->notified = take;
	s->notified_arg = l;
	l->resync = true;
	return HD_OK;
}

hd_status hd_listener_detach(struct hd_listener *l, hd_mono deadline, struct hd_error *err)
{
	struct hd_session *s = l->session;

	if (s == NULL)
		return HD_OK;
	forget_session(l);
	if (!hd_session_ok(s))
		return HD_OK;
	return tell(l, s, "unlisten", 0, l->nchannels, deadline, NULL, err);
}

static void fill(struct hd_listener *l, struct hd_notice *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (l->resync) {
		drop_unread(l);
		l->resync = false;
		ret->kind = HD_NOTICE_RESYNC;
		return;
	}
	if (l->count == 0)
		return;
	l->current = pop(l);
	ret->kind = HD_NOTICE_MESSAGE;
	ret->channel = l->current->relname;
	ret->payload = l->current->extra;
	ret->own = l->current->be_pid == l->pid;
}

/* A connection that died without a word looks like one on which nothing happens: ask. */
static hd_status ask_for_life(struct hd_listener *l, struct hd_error *err)
{
	hd_status status;

	status =
	    hd_exec(l->session, HD_SQL_PING, NULL, hd_after(hd_now(), l->answer_ms), NULL, err);
	if (status == HD_OK)
		return HD_OK;
	l->session->broken = true;
	hd_fail_prefix(err, "no sign of life from the server: ");
	if (err)
		err->status = HD_LOST;
	return HD_LOST;
}

/* Takes in what comes until there is something to tell. */
static hd_status wait_for_notice(struct hd_listener *l, hd_mono deadline, struct hd_error *err)
{
	struct hd_session *s = l->session;

	while (!l->resync && l->count == 0) {
		hd_mono silence = hd_after(s->heard, l->silence_ms);

		if (!hd_before(hd_now(), silence)) {
			hd_status status = ask_for_life(l, err);

			if (status != HD_OK)
				return status;
			continue;
		}
		if (!hd_session_poll(s, POLLIN, hd_earlier(deadline, silence))) {
			if (!hd_before(hd_now(), deadline))
				break;
			continue;
		}
		if (!hd_session_consume(s) || !hd_session_ok(s)) {
			const char *why = PQerrorMessage(s->conn);

			s->broken = true;
			return hd_fail(err, HD_LOST, "the connection is lost: %s", why);
		}
	}
	return HD_OK;
}

hd_status hd_listener_next(struct hd_listener *l, hd_mono deadline, struct hd_notice *ret,
                           struct hd_error *err)
{
	hd_status status;

	PQfreemem(l->current);
	l->current = NULL;
	if (l->session == NULL || !hd_session_ok(l->session))
		return hd_fail(err, HD_LOST, "no live session is attached to the listener");
	status = wait_for_notice(l, deadline, err);
	if (status == HD_OK)
		fill(l, ret);
	return status;
}
