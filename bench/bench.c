#include "bench.h"

#include "app/log_field.h"
#include "app/procfs.h"
#include "app/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PATIENCE_MS 60000
#define LINE_MAX_   4096

static int stream = -1, stream_in = -1;
static char text[2 * LINE_MAX_];
static size_t len;
static struct hd_tree orphans;

/* What hides in stopped nodes too; the process is their subreaper. */
static void end_all(void)
{
	if (!hd_tree_sweep(&orphans, hd_after(hd_now(), 5000)))
		(void)fprintf(stderr, "bench: a process could not be ended\n");
}

void bench_die(const char *format, ...)
{
	va_list args;

	(void)fputs("bench: ", stderr);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
	exit(1);
}

static volatile sig_atomic_t told;

static void on_signal(int sig)
{
	told = sig;
}

void bench_init(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	int pair[2];

	(void)sigaction(SIGINT, &act, NULL);
	(void)sigaction(SIGTERM, &act, NULL);
	(void)sigaction(SIGHUP, &act, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || pipe2(pair, O_CLOEXEC) != 0)
		bench_die("no subreaper or no pipe");
	(void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
	stream = pair[0];
	stream_in = pair[1];
	(void)atexit(end_all);
}

struct hd_child bench_start(char *const *argv)
{
	struct hd_spawn_options o;
	struct hd_child child;
	struct hd_error err;

	hd_spawn_options_init(&o);
	o.argv = argv;
	o.in = HD_SPAWN_NULL;
	o.out = stream_in;
	o.err = stream_in;
	o.own_group = true;
	o.death_signal = SIGKILL;
	if (hd_spawn(&o, hd_after(hd_now(), PATIENCE_MS), &child, NULL, &err) != HD_OK)
		bench_die("%s", err.message);
	return child;
}

/* More of the stream; false when there is none before the deadline. */
static bool more(hd_mono deadline)
{
	struct pollfd p = { .fd = stream, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, hd_ms_left(deadline)) <= 0)
		return false;
	n = read(stream, text + len, sizeof(text) - len);
	if (n <= 0)
		return false;
	len += (size_t)n;
	return true;
}

static int64_t number(const char *line, const char *name)
{
	char value[32];

	return hd_log_field(line, name, value, sizeof(value)) ? strtoll(value, NULL, 10) : 0;
}

static bool matches(const char *line, const char *name, const char *value, struct bench_line *ret)
{
	char have[64];

	if (!hd_log_field(line, name, have, sizeof(have)) || strcmp(have, value) != 0)
		return false;
	ret->at = hd_now();
	ret->pid = (pid_t)number(line, "pid");
	ret->token = number(line, "token");
	if (strcmp(value, "up") == 0)
		ret->at.ns = number(line, "at");
	return true;
}

struct bench_line bench_await(const char *name, const char *value)
{
	hd_mono deadline = hd_after(hd_now(), PATIENCE_MS);
	struct bench_line ret;

	for (;;) {
		char *end = memchr(text, '\n', len);
		bool found = false;

		if (end != NULL) {
			*end = '\0';
			found = matches(text, name, value, &ret);
			if (!found && getenv("BENCH_VERBOSE") != NULL)
				(void)fprintf(stderr, "%s\n", text);
			len -= (size_t)(end + 1 - text);
			memmove(text, end + 1, len);
		} else if (!more(deadline) && (told || !hd_before(hd_now(), deadline))) {
			bench_die(told ? "stopped, before %s=%s" : "%s=%s never came", name, value);
		}
		if (found)
			return ret;
	}
}

void bench_settle(int ms)
{
	(void)poll(NULL, 0, ms);
}

void bench_end(struct hd_child *node, bool kill)
{
	hd_mono deadline = hd_after(hd_now(), PATIENCE_MS);
	struct hd_error err;
	int status;
	hd_status st = kill ? hd_spawn_kill(node, deadline, &status, &err)
	                    : hd_spawn_wait(node, deadline, &status, &err);

	if (st != HD_OK)
		bench_die("%s", err.message);
	hd_spawn_close(node);
}

pid_t bench_parent(pid_t pid)
{
	struct hd_procfs_stat s;

	if (!hd_procfs_stat(pid, &s))
		bench_die("process %d is gone", (int)pid);
	return s.parent;
}

void bench_add(struct bench_samples *s, hd_mono from, hd_mono to)
{
	if (s->n < BENCH_SAMPLES_MAX)
		s->ms[s->n++] = (double)(to.ns - from.ns) / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that `percent` of them do not exceed. */
static double percentile(const struct bench_samples *s, int percent)
{
	int at = (s->n * percent + 99) / 100;

	return s->ms[at > 0 ? at - 1 : 0];
}

void bench_result(const char *what, struct bench_samples *s, double budget_ms)
{
	qsort(s->ms, (size_t)s->n, sizeof(s->ms[0]), compare);
	printf("{\"what\":\"%s\",\"unit\":\"ms\",\"n\":%d,\"p50\":%.1f,\"p99\":%.1f,\"budget\":",
	       what, s->n, percentile(s, 50), percentile(s, 99));
	if (budget_ms > 0)
		printf("%.0f}\n", budget_ms);
	else
		printf("null}\n");
	(void)fflush(stdout);
}
