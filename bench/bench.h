/* bench.h - nodes for a measurement, and their words: one stream of log lines and stamps. */
#ifndef BENCH_H
#define BENCH_H

#include "app/spawn.h"
#include <stdint.h>

#define BENCH_SAMPLES_MAX 200

struct bench_samples {
	int n;
	double ms[BENCH_SAMPLES_MAX];
};

/* What a node or its command said. */
struct bench_line {
	hd_mono at; /* of arrival; of the first instruction for "up" */
	pid_t pid;  /* of the command */
	int64_t token;
};

/* Ends the program with a message; the nodes die with it. */
void bench_die(const char *format, ...) __attribute__((noreturn)) HD_PRINTF(1, 2);

/* Once, at the beginning. */
void bench_init(void);

/* `argv` with stdout and stderr in the stream. */
struct hd_child bench_start(char *const *argv);

/* Waits for the next line whose field `name` is `value`; others are passed over. */
struct bench_line bench_await(const char *name, const char *value);

/* Time for what happens without a line. */
void bench_settle(int ms);

/* Waits for the end of a node; `kill`: with SIGKILL. Nothing of it is left then. */
void bench_end(struct hd_child *node, bool kill);

pid_t bench_parent(pid_t pid);
void bench_add(struct bench_samples *s, hd_mono from, hd_mono to);

/* One result as a JSON object on a line of its own. budget 0: none. */
void bench_result(const char *what, struct bench_samples *s, double budget_ms);

#endif
