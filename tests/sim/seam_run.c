/*
 * seam_run.c - what the elector calls of the system: clocks, poll(2), signals, the guard's link,
 * the log.
 */
#include "app/clock_step.h"
#include "app/log.h"
#include "base/error.h"
#include "base/ids.h"
#include "run/contain.h"
#include "run/signals.h"
#include "sim.h"
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define FD_SESSION 1000
#define FD_GUARD   2000
#define FD_SIGNALS 3000
#define FD_CLOCK   3001

/* ---- clocks and chance ---- */

hd_mono hd_now(void)
{
	const struct node *n = fiber_node();

	return n != NULL ? local(n) : (hd_mono){ sim.now * 1000 };
}

int hd_ms_left(hd_mono deadline)
{
	int64_t ms = hd_ms_between(hd_now(), deadline);

	return ms <= 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

int sim_clock_gettime(clockid_t clock, struct timespec *t);
int sim_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(wall(fiber_node()) / SECOND);
	t->tv_nsec = 0;
	return 0;
}

uint64_t hd_random64(void)
{
	return rnd();
}

/* An identity is a number here. */
char *hd_id_new(char *buf)
{
	(void)snprintf(buf, HD_ID_TEXT, "%lld", (long long)++sim.owners);
	return buf;
}

int64_t hd_hash64(const char *name)
{
	return (int64_t)strlen(name);
}

/* ---- poll(2) ---- */

static bool ready(const struct node *n, int fd)
{
	const struct guard *g;

	if (fd == FD_SIGNALS)
		return n->signal_unread;
	if (fd == FD_CLOCK)
		return n->clock_stepped;
	if (fd >= FD_GUARD) {
		g = &sim.guards[fd - FD_GUARD];
		return g->nout > 0 || !g->alive;
	}
	if (fd >= FD_SESSION)
		return sim.conns[fd - FD_SESSION].closed || sim.conns[fd - FD_SESSION].notice;
	return false;
}

int sim_poll(struct pollfd *p, nfds_t n, int ms);
int sim_poll(struct pollfd *p, nfds_t n, int ms)
{
	struct node *node = fiber_node();
	int64_t end = ms < 0 ? FOREVER : when_local(node, hd_after(local(node), ms));
	int found;

	fiber_stall();
	for (;;) {
		found = 0;
		for (nfds_t i = 0; i < n; i++) {
			p[i].revents = p[i].fd >= 0 && ready(node, p[i].fd) ? POLLIN : 0;
			found += p[i].revents != 0;
		}
		if (found > 0 || sim.now >= end)
			return found;
		fiber_wait(end);
	}
}

/* ---- signals and children ---- */

pid_t sim_waitpid(pid_t pid, int *status, int options);
pid_t sim_waitpid(pid_t pid, int *status, int options)
{
	(void)pid;
	(void)status;
	(void)options;
	return 0;
}

void hd_signals_setup(char *farewell)
{
	(void)farewell;
}

void hd_signals_exit_at_once(void)
{
	fiber_node()->forward = false;
}

void hd_signals_forward(int channel, int64_t grace_ms)
{
	(void)channel;
	(void)grace_ms;
	fiber_node()->forward = true;
}

int hd_signals_fd(void)
{
	return FD_SIGNALS;
}

void hd_signals_clear(void)
{
	fiber_node()->signal_unread = false;
}

int hd_signals_stop(void)
{
	return fiber_node()->signal;
}

bool hd_signals_stop_sent(void)
{
	return fiber_node()->signal_sent;
}

int hd_clock_step_open(void)
{
	return FD_CLOCK;
}

bool hd_clock_step_seen(int fd)
{
	struct node *n = fiber_node();
	bool seen = n->clock_stepped;

	(void)fd;
	n->clock_stepped = false;
	return seen;
}

hd_status hd_contain_choose(const char *word, enum hd_contain *ret, struct hd_error *err)
{
	(void)word;
	(void)err;
	*ret = HD_CONTAIN_NONE;
	return HD_OK;
}

const char *hd_contain_word(enum hd_contain contain)
{
	(void)contain;
	return "none";
}

/* ---- the guard's link ---- */

static struct guard *guard_of(const struct hd_guard *g)
{
	return &sim.guards[g->channel - FD_GUARD];
}

hd_status hd_guard_prepare(struct hd_error *err)
{
	(void)err;
	return HD_OK;
}

hd_status hd_guard_start(const struct hd_guard_start *s, hd_mono deadline, struct hd_guard *ret,
                         struct hd_error *err)
{
	struct node *n = fiber_node();
	int64_t end = sim.now + (chance(80) ? between(5 * MS, 40 * MS) : between(MS, SECOND));
	int g;

	(void)deadline;
	fiber_stall();
	while (sim.now < end)
		fiber_wait(end);
	g = guard_new(n, s);
	if (g < 0)
		return hd_fail(err, HD_RETRY, "no guard is left");
	*ret = (struct hd_guard){ .channel = FD_GUARD + g, .trust_sent = s->trusted_until.ns };
	return HD_OK;
}

static hd_status order(struct hd_guard *g, enum hd_guard_order kind, int sig, int64_t value,
                       struct hd_error *err)
{
	fiber_stall();
	if (!guard_of(g)->alive)
		return hd_fail(err, HD_LOST, "the guard is gone");
	guard_order(g->channel - FD_GUARD, kind, sig, value);
	return HD_OK;
}

hd_status hd_guard_trust(struct hd_guard *g, hd_mono until, struct hd_error *err)
{
	if (until.ns > g->trust_sent)
		g->trust_sent = until.ns;
	return order(g, HD_GUARD_TRUST, 0, until.ns, err);
}

hd_status hd_guard_stop(struct hd_guard *g, int sig, int64_t grace_ms, struct hd_error *err)
{
	return order(g, HD_GUARD_STOP, sig, grace_ms, err);
}

hd_status hd_guard_lose(struct hd_guard *g, struct hd_error *err)
{
	return order(g, HD_GUARD_LOSE, 0, 0, err);
}

hd_status hd_guard_next(struct hd_guard *g, hd_mono deadline, struct hd_guard_message *ret,
                        struct hd_error *err)
{
	struct guard *guard = guard_of(g);

	(void)deadline;
	if (guard->nout > 0) {
		*ret = guard->out[0];
		memmove(guard->out, guard->out + 1, sizeof(guard->out[0]) * (size_t)--guard->nout);
		if (ret->kind == HD_GUARD_ACK && ret->value > g->trust_acked)
			g->trust_acked = ret->value;
		return HD_OK;
	}
	if (!guard->alive)
		return hd_fail(err, HD_LOST, "the guard is gone");
	return hd_fail(err, HD_TIMEOUT, "no report of the guard");
}

bool hd_guard_answered(const struct hd_guard *g)
{
	return g->trust_acked >= g->trust_sent;
}

void hd_guard_reap(struct hd_guard *g)
{
	(void)g;
}

/* SIGKILL for the guard, whatever it is doing, then the sweep. */
hd_status hd_guard_end(struct hd_guard *g, hd_mono deadline, struct hd_error *err)
{
	struct node *n = fiber_node();
	int64_t end = sim.now + between(MS, 10 * MS);

	(void)deadline;
	(void)err;
	guard_die(g->channel - FD_GUARD);
	while (sim.now < end)
		fiber_wait(end);
	sim.guards[g->channel - FD_GUARD].used = false;
	n->guard = -1;
	*g = (struct hd_guard){ .channel = -1 };
	return HD_OK;
}

int hd_guard_exit_code(int64_t error)
{
	return (int)error;
}

/* ---- the log ---- */

void hd_log_context(const char *name, const char *value)
{
	(void)name;
	(void)value;
}

void hd_log_render(char *buf, size_t size, enum hd_log_level level, ...)
{
	(void)level;
	(void)snprintf(buf, size, "-");
}

static void log_pairs(const struct hd_error *err, va_list args)
{
	char line[512] = "";
	size_t n = 0;

	for (const char *name;
	     n < sizeof(line) - 1 && (name = va_arg(args, const char *)) != NULL;) {
		const char *value = va_arg(args, const char *);

		if (value[0] != '\0')
			n += (size_t)snprintf(line + n, sizeof(line) - n, " %s=%s", name, value);
	}
	say("node %d elector:%s%s%s", fiber_node() != NULL ? fiber_node()->index : -1, line,
	    err != NULL ? " error=" : "", err != NULL ? err->message : "");
}

void hd_log(enum hd_log_level level, ...)
{
	va_list args;

	(void)level;
	if (!sim.trace)
		return;
	va_start(args, level);
	log_pairs(NULL, args);
	va_end(args);
}

void hd_log_error(enum hd_log_level level, const struct hd_error *err, ...)
{
	va_list args;

	(void)level;
	if (!sim.trace)
		return;
	va_start(args, err);
	log_pairs(err, args);
	va_end(args);
}
