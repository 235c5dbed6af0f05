/* Steps 1 and 2 of the probe: does a proxy show itself, is the backend at the other end. */
#include "base/buf.h"
#include "base/error.h"
#include "pg/probe_parts.h"
#include "pg/session.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Could the refusal be about the settings that were sent along? Not if it names another reason. */
static bool may_be_the_settings(const struct hd_error *e)
{
	static const char *const others[] = { "28", "3D", "53", "57" };

	if (e->sqlstate[0] == '\0')
		return false;
	for (size_t i = 0; i < HD_ARRAY_SIZE(others); i++)
		if (strncmp(e->sqlstate, others[i], 2) == 0)
			return false;
	return true;
}

hd_status hd_probe_open(struct hd_probe_run *p, struct hd_error *err)
{
	struct hd_session_options marked = *p->o;
	struct hd_error first = { 0 };
	HD_BUF options;
	hd_status status;

	hd_buf_init(&options);
	hd_buf_printf(&options, "%s -c howdah.probe=%s",
	              p->o->server_options ? p->o->server_options : "", hd_id_new(p->marker));
	if (!hd_buf_ok(&options))
		return hd_fail(err, HD_NOMEM, "out of memory");
	marked.server_options = options.data;
	status = hd_session_open(&marked, p->deadline, &p->a, &first);
	if (status != HD_OK && may_be_the_settings(&first)) {
		status = hd_session_open(p->o, p->deadline, &p->a, err);
		p->marker_refused = status == HD_OK;
		if (p->marker_refused)
			hd_finding(p, "settings", HD_FINDING_BAD,
			           "refused with the connection, so a proxy is in between: %s",
			           first.message);
	} else if (status != HD_OK && err) {
		*err = first;
	}
	return status;
}

static void judge_marker(struct hd_probe_run *p, const char *seen)
{
	bool came = seen && strcmp(seen, p->marker) == 0;

	p->report.proxy = !came;
	if (came)
		hd_finding(p, "settings", HD_FINDING_OK, "sent with the connection and found set");
	else if (!p->marker_refused)
		hd_finding(p, "settings", HD_FINDING_BAD,
		           "sent with the connection and swallowed: a proxy is in between");
}

static hd_status judge_server(struct hd_probe_run *p, const char *version, bool read_only,
                              struct hd_error *err)
{
	struct hd_probe_report *r = &p->report;

	if (r->server_version_num < HD_SERVER_OLDEST) {
		hd_fail(err, HD_REFUSED, "the server is PostgreSQL %s, which is too old", version);
		hd_hint(err, "Howdah needs PostgreSQL %d or newer", HD_SERVER_OLDEST / 10000);
		return HD_REFUSED;
	}
	if (r->in_recovery || read_only)
		r->verdict = HD_VERDICT_STANDBY;
	hd_finding(p, "server", r->in_recovery || read_only ? HD_FINDING_BAD : HD_FINDING_OK,
	           "PostgreSQL %s, %s", version,
	           r->in_recovery ? "in recovery: a standby"
	           : read_only    ? "read-only (default_transaction_read_only is on)"
	                          : "accepts writes");
	return HD_OK;
}

/* System identifier and timeline, where this role may read them. */
static hd_status read_identity(struct hd_probe_run *p, struct hd_error *err)
{
	HD_ROWS rows = { 0 };
	struct hd_error why;
	hd_status status;

	status = hd_exec(p->a, HD_SQL_PROBE_IDENTITY, NULL, p->deadline, &rows, &why);
	if (status == HD_OK) {
		const char *timeline = hd_rows_text(&rows, 0, 1);

		(void)snprintf(p->report.system_identifier, sizeof(p->report.system_identifier),
		               "%s", hd_rows_text(&rows, 0, 0));
		p->report.timeline = timeline ? strtoll(timeline, NULL, 16) : 0;
		hd_finding(p, "identity", HD_FINDING_OK, "system %s, timeline %lld",
		           p->report.system_identifier, (long long)p->report.timeline);
	} else if (hd_session_ok(p->a)) {
		hd_finding(p, "identity", HD_FINDING_SKIPPED, "not readable: %s", why.message);
		status = HD_OK;
	} else if (err) {
		*err = why;
	}
	return status;
}

hd_status hd_probe_facts(struct hd_probe_run *p, struct hd_error *err)
{
	struct hd_probe_report *r = &p->report;
	HD_ROWS rows = { 0 };
	hd_status status;
	hd_mono sent;

	status = hd_exec(p->a, HD_SQL_PROBE_FACTS, NULL, p->deadline, &rows, err);
	if (status != HD_OK)
		return status;
	r->backend_pid = (int)hd_rows_int(&rows, 0, 0);
	p->client_port = (int)hd_rows_int(&rows, 0, 1);
	r->server_version_num = (int)hd_rows_int(&rows, 0, 2);
	r->in_recovery = hd_rows_bool(&rows, 0, 3);
	judge_marker(p, hd_rows_text(&rows, 0, 5));
	status = judge_server(p, hd_rows_text(&rows, 0, 6), hd_rows_bool(&rows, 0, 4), err);
	sent = hd_now();
	if (status == HD_OK)
		status = hd_exec(p->a, HD_SQL_PING, NULL, p->deadline, NULL, err);
	r->round_trip_us = (hd_now().ns - sent.ns) / 1000;
	return status == HD_OK ? read_identity(p, err) : status;
}

/* The parent of a process; 0 when it can't be read (another machine's, or hidden). */
static int parent_of(int pid)
{
	char path[32], line[256];
	const char *end;
	FILE *f;
	int parent = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	/* "PID (name) S PPID ...": the name may hold anything, also parentheses. */
	if (fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) != NULL &&
	    sscanf(end, ") %*c %d", &parent) != 1)
		parent = 0;
	(void)fclose(f);
	return parent;
}

/* Is the other end of a unix socket the postmaster that made this backend? */
static bool peer_is_parent(int fd, int backend)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid > 0 &&
	       parent_of(backend) == peer.pid;
}

/* Does the server see our own end of the TCP connection? */
static bool port_is_ours(const struct sockaddr_storage *own, int client_port)
{
	in_port_t port = own->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)own)->sin6_port
	                                            : ((const struct sockaddr_in *)own)->sin_port;

	return client_port > 0 && ntohs(port) == client_port;
}

void hd_probe_direct(struct hd_probe_run *p)
{
	int fd = hd_session_socket(p->a);
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(own);
	bool same_pid = PQbackendPID(p->a->conn) == p->report.backend_pid;
	bool same_end = false;

	if (getsockname(fd, (struct sockaddr *)&own, &len) == 0)
		same_end = own.ss_family == AF_UNIX ? peer_is_parent(fd, p->report.backend_pid)
		                                    : port_is_ours(&own, p->client_port);
	p->direct = same_pid && same_end && !p->report.proxy;
	if (p->direct)
		hd_finding(p, "direct", HD_FINDING_OK, "backend %d is at the other end itself",
		           p->report.backend_pid);
	else if (!same_pid)
		hd_finding(p, "direct", HD_FINDING_SKIPPED,
		           "not proved: backend %d answers, %d was announced",
		           p->report.backend_pid, PQbackendPID(p->a->conn));
	else
		hd_finding(p, "direct", HD_FINDING_SKIPPED,
		           "not proved: the server does not see our end of the connection");
	p->report.proxy = p->report.proxy || !same_pid;
}
