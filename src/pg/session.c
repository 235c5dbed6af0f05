#include "pg/session.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PARAMS_MAX 10

/* The parameters of one attempt, behind the connection string itself. */
struct params {
	int n;
	const char *keyword[PARAMS_MAX + 1];
	const char *value[PARAMS_MAX + 1];
};

/* All that the attempts of one hd_session_open share. */
struct attempt {
	const struct hd_session_options *o;
	const struct hd_hosts *hosts;
	const char *options;   /* for the server */
	struct hd_buf reasons; /* "HOST:PORT: why not", one behind the other */
};

void hd_session_options_init(struct hd_session_options *o)
{
	memset(o, 0, sizeof(*o));
	o->host_timeout_ms = 5000;
}

static void set(struct params *p, const char *keyword, const char *value)
{
	if (value == NULL)
		return;
	p->keyword[p->n] = keyword;
	p->value[p->n] = value;
	p->n++;
}

static void ignore_notice(void *arg, const PGresult *res)
{
	(void)arg;
	(void)res;
}

/*
 * What ends an idle session comes as a notice: by then its locks may be somebody else's. So does a
 * cancelled wait for the synchronous standby, behind which a commit counts on this server only, and
 * a promoted one knows nothing of it. No code of its own, and a translated text: the server's
 * function tells.
 */
static void hear_the_end(void *arg, const PGresult *res)
{
	struct hd_session *s = arg;
	const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *function = PQresultErrorField(res, PG_DIAG_SOURCE_FUNCTION);

	if (function != NULL && strcmp(function, "SyncRepWaitForLSN") == 0)
		s->local = s->broken = true;
	if (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
		s->broken = true;
}

/* Waits for events of poll(2); false when the deadline passed first. */
static bool wait_for(int fd, short events, hd_mono deadline)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int n = poll(&p, 1, hd_ms_left(deadline));

		if (n > 0)
			return true;
		/* Anything but a signal or the time is for the next read or write to tell. */
		if (n < 0 && errno != EINTR)
			return true;
		if (!hd_before(hd_now(), deadline))
			return false;
	}
}

bool hd_session_poll(const struct hd_session *s, short events, hd_mono deadline)
{
	int fd = PQsocket(s->conn);

	/* poll(2) would sleep on a descriptor that is gone; the next read tells. */
	return fd < 0 || wait_for(fd, events, deadline);
}

bool hd_session_consume(struct hd_session *s)
{
	PGnotify *n;

	if (PQconsumeInput(s->conn) == 0)
		return false;
	s->heard = hd_now();
	while ((n = PQnotifies(s->conn)) != NULL) {
		if (s->notified)
			s->notified(s->notified_arg, n);
		else
			PQfreemem(n);
	}
	return true;
}

/* What a server's SQLSTATE means for a connection attempt; everything else is HD_REFUSED. */
static hd_status refusal_status(const char *sqlstate, const char *message)
{
	static const char *const later[] = { "57P", "53", "08" };

	/* PgBouncer has this one code for what will pass (its server is down) and what will not. */
	if (strcmp(sqlstate, "08P01") == 0 && strstr(message, "unsupported startup parameter"))
		return HD_REFUSED;
	for (size_t i = 0; i < HD_ARRAY_SIZE(later); i++)
		if (strncmp(sqlstate, later[i], strlen(later[i])) == 0)
			return HD_RETRY;
	return HD_REFUSED;
}

/* libpq tells the SQLSTATE of a refused connection only inside its verbose text: "FATAL:  28P01: ".
 */
static const char *find_sqlstate(const char *message, char ret[6])
{
	static const char code[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *p = strstr(message, ":  "); p; p = strstr(p + 1, ":  ")) {
		p += 3;
		if (strspn(p, code) == 5 && p[5] == ':' && p[6] == ' ') {
			memcpy(ret, p, 5);
			ret[5] = '\0';
			return p + 7;
		}
	}
	ret[0] = '\0';
	return NULL;
}

/* Adds the reason of one failed attempt: the first line, without libpq's name of the server. */
static void add_reason(struct attempt *a, const struct hd_host *h, const char *reason)
{
	const char *failed = strstr(reason, " failed: ");

	if (failed)
		reason = failed + strlen(" failed: ");
	if (a->reasons.len > 0)
		hd_buf_text(&a->reasons, "; ");
	hd_buf_text(&a->reasons, h->host ? h->host : h->addr ? h->addr : "the default server");
	if (h->host && h->addr && strcmp(h->host, h->addr) != 0)
		hd_buf_printf(&a->reasons, " (%s)", h->addr);
	if (h->port)
		hd_buf_printf(&a->reasons, ":%s", h->port);
	hd_buf_text(&a->reasons, ": ");
	hd_buf_add(&a->reasons, reason, strcspn(reason, "\n"));
}

/* The status of a failed attempt, and its reason for the message. */
static hd_status judge_failure(struct attempt *a, const struct hd_host *h, PGconn *conn,
                               bool at_start, struct hd_error *err)
{
	const char *message = PQerrorMessage(conn);
	const char *named = h->addr ? h->addr : h->host;
	hd_status status = HD_RETRY;
	char sqlstate[6];
	const char *text = find_sqlstate(message, sqlstate);

	if (text)
		status = refusal_status(sqlstate, text);
	else if (PQconnectionNeedsPassword(conn))
		status = HD_REFUSED;
	else if (at_start && named && strstr(message, named) == NULL)
		status = HD_INVALID; /* an option is wrong: nothing was tried */
	add_reason(a, h, text ? text : message);
	hd_fail(err, status, "%s", a->reasons.data);
	if (err)
		memcpy(err->sqlstate, sqlstate, sizeof(sqlstate));
	return status;
}

static PGconn *start(const struct attempt *a, const struct hd_host *h)
{
	struct params p = { 0 };
	PGconn *conn;

	set(&p, "dbname", a->o->conninfo);
	if (!a->hosts->whole) {
		set(&p, "host", h->host);
		set(&p, "hostaddr", h->addr);
		set(&p, "port", h->port);
		set(&p, "target_session_attrs", a->hosts->attrs);
	}
	set(&p, "application_name", a->o->application_name);
	set(&p, "options", a->options);
	set(&p, "client_encoding", "UTF8");
	conn = PQconnectStartParams(p.keyword, p.value, 1);
	if (conn) {
		PQsetNoticeReceiver(conn, ignore_notice, NULL);
		PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	}
	return conn;
}

/* Drives a started connection to its end. HD_TIMEOUT: not connected when `until` came. */
static hd_status drive(struct attempt *a, const struct hd_host *h, PGconn *conn, hd_mono until,
                       struct hd_error *err)
{
	PostgresPollingStatusType want = PGRES_POLLING_WRITING;

	if (PQstatus(conn) == CONNECTION_BAD)
		return judge_failure(a, h, conn, true, err);
	while (want != PGRES_POLLING_OK) {
		short events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT;

		if (!wait_for(PQsocket(conn), events, until)) {
			add_reason(a, h, "no answer in time");
			return hd_fail(err, HD_TIMEOUT, "%s", a->reasons.data);
		}
		want = PQconnectPoll(conn);
		if (want == PGRES_POLLING_FAILED)
			return judge_failure(a, h, conn, false, err);
	}
	return HD_OK;
}

/* One attempt at one address. */
static hd_status try_address(struct attempt *a, const struct hd_host *h, hd_mono until,
                             struct hd_session **ret, struct hd_error *err)
{
	struct hd_session *s = calloc(1, sizeof(*s));
	hd_status status = HD_NOMEM;

	if (s == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	s->conn = start(a, h);
	if (s->conn)
		status = drive(a, h, s->conn, until, err);
	else
		hd_fail(err, HD_NOMEM, "out of memory");
	if (status == HD_OK)
		status = hd_host_copy(h, &s->host, err);
	if (status != HD_OK) {
		hd_session_close(s);
		return status;
	}
	(void)PQsetnonblocking(s->conn, 1);
	PQsetNoticeReceiver(s->conn, hear_the_end, s);
	PQsetErrorVerbosity(s->conn, PQERRORS_DEFAULT);
	s->heard = hd_now();
	*ret = s;
	return HD_OK;
}

/* An equal part of the time that is left, when `parts` more have to share it. */
static hd_mono share(hd_mono deadline, int parts)
{
	hd_mono now = hd_now();
	hd_mono until = now;

	if (hd_before(now, deadline))
		until.ns += (deadline.ns - now.ns) / parts;
	return until;
}

/* All addresses of one host. HD_RETRY and HD_TIMEOUT: none of them answered. */
static hd_status try_host(struct attempt *a, const struct hd_host *h, hd_mono until,
                          struct hd_session **ret, struct hd_error *err)
{
	char addresses[HD_ADDRESSES_MAX][HD_ADDRESS_TEXT];
	hd_status status;
	int n;

	status = a->hosts->whole ? HD_OK : hd_host_resolve(h, addresses, &n, err);
	if (status != HD_OK) {
		add_reason(a, h, err ? err->message : "the host name is not known");
		return hd_fail(err, status, "%s", a->reasons.data);
	}
	if (a->hosts->whole || n == 0)
		return try_address(a, h, until, ret, err);
	for (int i = 0; i < n; i++) {
		struct hd_host at = { h->host, addresses[i], h->port };

		status = try_address(a, &at, share(until, n - i), ret, err);
		if (status != HD_RETRY && status != HD_TIMEOUT)
			break;
	}
	return status;
}

/* The end of one host's time. A single one may use all there is. */
static hd_mono host_deadline(const struct attempt *a, int left, hd_mono deadline)
{
	int n = a->hosts->whole ? 1 : a->hosts->n;
	int ms = a->hosts->connect_timeout_ms;

	if (ms == 0 && n > 1)
		ms = a->o->host_timeout_ms;
	if (a->hosts->whole) {
		ms *= a->hosts->n;
		left = 1;
	}
	deadline = share(deadline, left);
	return ms > 0 ? hd_earlier(deadline, hd_after(hd_now(), ms)) : deadline;
}

static hd_status try_hosts(struct attempt *a, hd_mono deadline, struct hd_session **ret,
                           struct hd_error *err)
{
	int n = a->hosts->whole ? 1 : a->hosts->n;
	hd_status status = HD_RETRY;

	for (int i = 0; i < n; i++) {
		status = try_host(a, &a->hosts->at[i], host_deadline(a, n - i, deadline), ret, err);
		/* As libpq does: a server that refuses ends the search. */
		if (status != HD_RETRY && status != HD_TIMEOUT)
			return status;
	}
	status = hd_before(hd_now(), deadline) ? HD_RETRY : HD_TIMEOUT;
	return hd_fail(err, status, "no server could be reached: %s", a->reasons.data);
}

static hd_status open_at(const struct hd_hosts *hosts, const struct hd_session_options *o,
                         hd_mono deadline, struct hd_session **ret, struct hd_error *err)
{
	struct hd_error spare; /* the attempts hand their reasons on in it */
	HD_BUF options;
	struct attempt a = { .o = o, .hosts = hosts };
	hd_status status = HD_NOMEM;

	hd_buf_init(&options);
	hd_buf_init(&a.reasons);
	if (hosts->options)
		hd_buf_text(&options, hosts->options);
	if (o->server_options)
		hd_buf_printf(&options, " %s", o->server_options);
	a.options = options.len > 0 ? options.data : NULL;
	if (hd_buf_ok(&options))
		status = try_hosts(&a, deadline, ret, err ? err : &spare);
	else
		hd_fail(err, HD_NOMEM, "out of memory");
	hd_buf_release(&a.reasons);
	return status;
}

hd_status hd_session_open(const struct hd_session_options *o, hd_mono deadline,
                          struct hd_session **ret, struct hd_error *err)
{
	HD_CLEANUP(hd_hosts_release) struct hd_hosts hosts = { 0 };
	hd_status status;

	status = hd_hosts_read(o->conninfo, &hosts, err);
	return status == HD_OK ? open_at(&hosts, o, deadline, ret, err) : status;
}

hd_status hd_session_open_beside(const struct hd_session *like, const struct hd_session_options *o,
                                 hd_mono deadline, struct hd_session **ret, struct hd_error *err)
{
	HD_CLEANUP(hd_hosts_release) struct hd_hosts hosts = { 0 };
	hd_status status;

	status = hd_hosts_read(o->conninfo, &hosts, err);
	if (status == HD_OK && !hosts.whole) {
		for (int i = 0; i < hosts.n; i++)
			hd_host_release(&hosts.at[i]);
		hosts.n = 0;
		status = hd_host_copy(&like->host, &hosts.at[0], err);
		hosts.n = status == HD_OK;
	}
	return status == HD_OK ? open_at(&hosts, o, deadline, ret, err) : status;
}

void hd_session_close(struct hd_session *s)
{
	if (s == NULL)
		return;
	if (s->notified)
		s->notified(s->notified_arg, NULL);
	PQclear(s->kept);
	if (!s->leaked)
		PQfinish(s->conn);
	hd_host_release(&s->host);
	free(s);
}

/*
 * PQfinish would send Terminate, and shutdown(2) would reach the duplicate too. So libpq is left
 * with a dead socket in the place of the real one. Where there is no descriptor for that, the
 * connection leaks until the process ends, which is just as quiet.
 */
void hd_session_abandon(struct hd_session *s)
{
	int fd = PQsocket(s->conn);
	int dead;

	s->broken = true;
	if (fd < 0)
		return;
	dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->leaked = dead < 0 || dup3(dead, fd, O_CLOEXEC) < 0;
	if (dead >= 0)
		(void)close(dead);
}

int hd_session_socket(const struct hd_session *s)
{
	return hd_session_ok(s) ? PQsocket(s->conn) : -1;
}

bool hd_session_ok(const struct hd_session *s)
{
	return !s->broken && PQstatus(s->conn) == CONNECTION_OK;
}

hd_status hd_session_check(struct hd_session *s, struct hd_error *err)
{
	/* Bounded: a server that talks without end is none that a lock should be held on. */
	for (int i = 0; i < 64; i++) {
		if (!hd_session_ok(s))
			break;
		if (!hd_session_poll(s, POLLIN, hd_now()))
			return HD_OK;
		if (!hd_session_consume(s))
			break;
	}
	s->broken = true;
	return hd_fail(err, HD_LOST, "the server has closed the session");
}

void hd_session_share(struct hd_session *s, int64_t statement_timeout_ms)
{
	s->shared_timeout_ms = statement_timeout_ms > 0 ? statement_timeout_ms : 1;
}
