/* drill_watch.c - what the nodes and their commands do, as it happens; and whether they may. */
#include "app/log_field.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/drill.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORTS_AT_ONCE 64

static struct hd_drill_term *term_of(struct hd_drill *d, int64_t token)
{
	for (int i = 0; i < d->nterms; i++)
		if (d->terms[i].token == token)
			return &d->terms[i];
	return NULL;
}

/* A term begins in the log of the node that got the lock or with the report of its command. */
static hd_status term_begin(struct hd_drill *d, int64_t token, struct hd_drill_term **ret,
                            struct hd_error *err)
{
	struct hd_drill_term *t = term_of(d, token);

	if (t == NULL) {
		if (d->nterms > 0 && hd_drill_last(d)->token >= token)
			return hd_fail(err, HD_REFUSED,
			               "a token did not grow: %" PRId64 " came after %" PRId64,
			               token, hd_drill_last(d)->token);
		if (d->nterms == HD_DRILL_TERMS_MAX)
			return hd_fail(err, HD_REFUSED, "the role changed hands %d times",
			               d->nterms);
		t = &d->terms[d->nterms++];
		*t = (struct hd_drill_term){ .token = token, .node = HD_DRILL_NOBODY, .pidfd = -1 };
	}
	*ret = t;
	return HD_OK;
}

static hd_status on_taken(struct hd_drill *d, int node, const char *line, hd_mono now,
                          struct hd_error *err)
{
	struct hd_drill_term *t;
	char token[24];
	hd_status st;

	(void)hd_log_field(line, "token", token, sizeof(token));
	st = term_begin(d, strtoll(token, NULL, 10), &t, err);
	if (st != HD_OK)
		return st;
	t->node = node;
	t->taken = now;
	(void)hd_log_field(line, "wait", t->wait, sizeof(t->wait));
	(void)hd_log_field(line, "reason", t->reason, sizeof(t->reason));
	if (strcmp(t->wait, "0ms") == 0)
		hd_drill_note(d, now, node, t->token, "has the role");
	else
		hd_drill_note(d, now, node, t->token, "has the role, waits %s", t->wait);
	return HD_OK;
}

static hd_status on_line(struct hd_drill *d, int node, const char *line, hd_mono now,
                         struct hd_error *err)
{
	struct hd_drill_node *n = &d->nodes[node];
	char text[sizeof(n->trouble)];

	if (line[0] != '{') { /* of the command */
		(void)snprintf(n->trouble, sizeof(n->trouble), "%s", line);
		return HD_OK;
	}
	if (hd_log_field(line, "event", text, sizeof(text)) && strcmp(text, "connected") == 0)
		n->ready = hd_log_field(line, "verdict", n->verdict, sizeof(n->verdict));
	if (hd_log_field(line, "error", text, sizeof(text)))
		(void)snprintf(n->trouble, sizeof(n->trouble), "%s", text);
	if (!hd_log_field(line, "state", text, sizeof(text)))
		return HD_OK;
	if (strcmp(text, "waiting") == 0)
		return on_taken(d, node, line, now, err);
	if (strcmp(text, "lost") == 0) {
		(void)hd_log_field(line, "reason", text, sizeof(text));
		hd_drill_note(d, now, node, 0, "lost the role");
		if (n->may_lose)
			return HD_OK;
		return hd_fail(err, HD_REFUSED, "node %c lost the role: %s", hd_drill_letter(node),
		               text);
	}
	return HD_OK;
}

/* Whole lines of what a node has written; the rest stays for the next time. */
static hd_status read_log(struct hd_drill *d, int node, hd_mono now, struct hd_error *err)
{
	struct hd_drill_node *n = &d->nodes[node];
	ssize_t got = read(n->log, n->line + n->len, sizeof(n->line) - n->len);
	hd_status st = HD_OK;
	char *end;

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
		(void)close(n->log);
		n->log = -1;
	}
	if (got <= 0)
		return HD_OK;
	n->len += (size_t)got;
	while (st == HD_OK && (end = memchr(n->line, '\n', n->len)) != NULL) {
		*end = '\0';
		st = on_line(d, node, n->line, now, err);
		n->len -= (size_t)(end + 1 - n->line);
		memmove(n->line, end + 1, n->len);
	}
	if (n->len == sizeof(n->line))
		n->len = 0; /* no line of ours */
	return st;
}

static void over(struct hd_drill *d, struct hd_drill_term *t, hd_mono now)
{
	t->over = now;
	if (t->pidfd >= 0)
		(void)close(t->pidfd);
	t->pidfd = -1;
	hd_drill_note(d, now, t->node, t->token, "its command is dead");
}

static hd_status on_up(struct hd_drill *d, const struct hd_drill_report *r, struct hd_error *err)
{
	struct hd_drill_term *t;
	hd_status st = term_begin(d, r->token, &t, err);

	if (st != HD_OK)
		return st;
	t->up = r->at;
	t->pid = r->pid;
	hd_drill_note(d, r->at, t->node, t->token, "its command starts");
	t->pidfd = pidfd_open(r->pid, 0);
	if (t->pidfd < 0)
		over(d, t, hd_now());
	return HD_OK;
}

/* All reports come through one pipe, so their order is that in which they were written. */
static hd_status on_report(struct hd_drill *d, const struct hd_drill_report *r,
                           struct hd_error *err)
{
	const struct hd_drill_term *last = d->nterms > 0 ? hd_drill_last(d) : NULL;

	if (r->kind == HD_DRILL_SECOND)
		return hd_fail(err, HD_REFUSED,
		               "two commands at once: the one with token %" PRId64
		               " started while another one lived",
		               r->token);
	if (r->kind == HD_DRILL_UP)
		return on_up(d, r, err);
	if (last == NULL ||
	    (last->up.ns != 0 && r->token != last->token && hd_before(last->up, r->at)))
		return hd_fail(err, HD_REFUSED,
		               "two commands at once: the one with token %" PRId64
		               " acted after a newer one had started",
		               r->token);
	d->alive++;
	return HD_OK;
}

static hd_status read_reports(struct hd_drill *d, struct hd_error *err)
{
	struct hd_drill_report r[REPORTS_AT_ONCE];
	ssize_t got = read(d->reports, r, sizeof(r));
	hd_status st = HD_OK;

	for (size_t i = 0; got > 0 && st == HD_OK && i < (size_t)got / sizeof(r[0]); i++)
		st = on_report(d, &r[i], err);
	return st;
}

static hd_status on_end(struct hd_drill *d, int node, hd_mono now, struct hd_error *err)
{
	struct hd_drill_node *n = &d->nodes[node];
	int status = 0;

	n->ended = now;
	(void)!hd_spawn_wait(&n->process, now, &status, NULL);
	n->status = status;
	hd_drill_note(d, now, node, 0, "the node has ended");
	if (n->may_end)
		return HD_OK;
	(void)hd_fail(err, HD_REFUSED, "node %c ended by itself, with %s %d", hd_drill_letter(node),
	              WIFSIGNALED(status) ? "signal" : "code",
	              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (n->trouble[0] != '\0')
		hd_hint(err, "its last complaint: %s", n->trouble);
	return HD_REFUSED;
}

static hd_status on_signal(struct hd_drill *d, struct hd_error *err)
{
	struct signalfd_siginfo info;

	if (read(d->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return HD_OK;
	d->told_to_end = (int)info.ssi_signo;
	return hd_fail(err, HD_LOST, "stopped by %s", strsignal(d->told_to_end));
}

/* What poll(2) watches, in the order in which it is dealt with. */
struct watch {
	struct pollfd fd[2 + 2 * HD_DRILL_NODES + HD_DRILL_TERMS_MAX];
	nfds_t n;
};

static void fill(const struct hd_drill *d, struct watch *w)
{
	w->n = 0;
	w->fd[w->n++] = (struct pollfd){ .fd = d->signals, .events = POLLIN };
	for (int i = 0; i < HD_DRILL_NODES; i++)
		w->fd[w->n++] = (struct pollfd){ .fd = d->nodes[i].log, .events = POLLIN };
	w->fd[w->n++] = (struct pollfd){ .fd = d->reports, .events = POLLIN };
	for (int i = 0; i < d->nterms; i++)
		w->fd[w->n++] = (struct pollfd){ .fd = d->terms[i].pidfd, .events = POLLIN };
	for (int i = 0; i < HD_DRILL_NODES; i++)
		w->fd[w->n++] = (struct pollfd){
			.fd = d->nodes[i].ended.ns == 0 ? d->nodes[i].process.pidfd : -1,
			.events = POLLIN,
		};
}

static hd_status deal(struct hd_drill *d, const struct watch *w, int nterms, hd_mono now,
                      struct hd_error *err)
{
	const struct pollfd *p = w->fd;
	hd_status st = p++->revents != 0 ? on_signal(d, err) : HD_OK;

	/* Logs come first, asked for or not: whose command it is stands there. */
	for (int i = 0; i < HD_DRILL_NODES; i++, p++)
		if (st == HD_OK && d->nodes[i].log >= 0)
			st = read_log(d, i, now, err);
	if (st == HD_OK && p->revents != 0)
		st = read_reports(d, err);
	p++;
	for (int i = 0; i < nterms; i++, p++)
		if (p->revents != 0)
			over(d, &d->terms[i], now);
	for (int i = 0; i < HD_DRILL_NODES; i++, p++)
		if (st == HD_OK && p->revents != 0)
			st = on_end(d, i, now, err);
	return st;
}

hd_status hd_drill_watch(struct hd_drill *d, hd_drill_done_fn done, int64_t ms,
                         struct hd_error *err)
{
	hd_mono deadline = hd_after(hd_now(), ms);
	struct watch w;
	hd_status st;

	while (done == NULL || !done(d)) {
		int nterms = d->nterms;

		fill(d, &w);
		if (poll(w.fd, w.n, hd_ms_left(deadline)) < 0 && errno != EINTR)
			return hd_fail_errno(err, HD_REFUSED, "poll");
		st = deal(d, &w, nterms, hd_now(), err);
		if (st != HD_OK)
			return st;
		if (!hd_before(hd_now(), deadline))
			return done == NULL || done(d)
			           ? HD_OK
			           : hd_fail(err, HD_TIMEOUT, "nothing happened for %" PRId64 " s",
			                     ms / 1000);
	}
	return HD_OK;
}
