/*
 * demo.h - what the files of `howdah demo` share; nobody else includes it.
 *
 * Three nodes of `howdah run` on a private server. What the demo tells is what it saw: the nodes'
 * log lines, the reports of their commands, the ends of processes, all stamped with one clock.
 */
#ifndef HD_CLI_DEMO_H
#define HD_CLI_DEMO_H

#include "app/embedded.h"
#include "app/spawn.h"
#include "app/tree.h"
#include <howdah/session.h>
#include <stdint.h>

#define HD_DEMO_ROLE       "demo"
#define HD_DEMO_NODES      3
#define HD_DEMO_TERMS_MAX  16
#define HD_DEMO_EVENTS_MAX 64
#define HD_DEMO_LINE_MAX   4096 /* of a log line: see log.h */
#define HD_DEMO_NOBODY     (-1) /* an event of the demo itself */

/* What a command writes to its standard output, a pipe that all commands share: one write(2). */
struct hd_demo_report {
	hd_mono at;
	int64_t token;
	int32_t pid;
	int32_t kind; /* enum hd_demo_kind */
};

enum hd_demo_kind {
	HD_DEMO_UP = 1, /* its first instruction */
	HD_DEMO_ALIVE,  /* again and again */
	HD_DEMO_SECOND, /* another command was still alive when it started */
};

/* One leadership, from the lock to the death of its command. */
struct hd_demo_term {
	int64_t token;
	int node;
	hd_mono taken;    /* the node got the lock */
	char wait[24];    /* as it announced it: "1000ms" */
	char reason[160]; /* why it waited, or why not */
	hd_mono up;       /* the command's first instruction; 0: not yet */
	hd_mono over;     /* the command is dead; 0: not yet */
	pid_t pid;
	int pidfd; /* of the command; -1: none */
};

struct hd_demo_node {
	struct hd_child process; /* pid 0: none */
	int log;                 /* its stderr; -1: closed */
	char line[HD_DEMO_LINE_MAX];
	size_t len;
	bool ready;    /* connected: it competes */
	bool may_end;  /* we killed or stopped it */
	hd_mono ended; /* 0: it runs */
	char trouble[256];
};

struct hd_demo_event {
	hd_mono at;
	int node;
	int64_t token; /* 0: none */
	char what[96];
};

struct hd_demo {
	hd_mono began;
	int signals;     /* signalfd of what ends a program */
	int told_to_end; /* the signal that came; 0: none */

	char folder[64]; /* "" until it is made */
	struct hd_embedded server;
	struct hd_tree strangers; /* orphans of killed nodes: their guards and commands */
	struct hd_session *session;

	struct hd_demo_node nodes[HD_DEMO_NODES];
	int reports;    /* the pipe's read end; -1: none */
	int reports_in; /* its write end, for the nodes */
	int64_t alive;  /* how many signs of life */

	int nterms;
	struct hd_demo_term terms[HD_DEMO_TERMS_MAX];
	int nevents;
	struct hd_demo_event events[HD_DEMO_EVENTS_MAX];
};

/* demo_stage.c: environment, folder, server, schema; and all of it away again. */
hd_status hd_demo_build(struct hd_demo *d, struct hd_error *err);
hd_status hd_demo_strike(struct hd_demo *d, struct hd_error *err);

/* demo_node.c */
hd_status hd_demo_start(struct hd_demo *d, int node, struct hd_error *err);
void hd_demo_signal(struct hd_demo *d, int node, int sig);
/* Every node and all that descends from it is dead. HD_TIMEOUT: not in time. */
hd_status hd_demo_end_nodes(struct hd_demo *d, struct hd_error *err);

/*
 * demo_watch.c: looks on until `done` (NULL: never), for `ms` at most. HD_TIMEOUT when the time is
 * up, HD_REFUSED when a promise was broken or a node ended by itself, HD_LOST when a signal came.
 */
typedef bool (*hd_demo_done_fn)(const struct hd_demo *d);
hd_status hd_demo_watch(struct hd_demo *d, hd_demo_done_fn done, int64_t ms, struct hd_error *err);
hd_status hd_demo_reports_open(struct hd_demo *d, struct hd_error *err);

/* The newest term; there must be one. */
static inline struct hd_demo_term *hd_demo_last(struct hd_demo *d)
{
	return &d->terms[d->nterms - 1];
}

/* demo_tell.c: everything that is printed. */
void hd_demo_note(struct hd_demo *d, hd_mono at, int node, int64_t token, const char *format, ...)
    HD_PRINTF(5, 6);
void hd_demo_head(const char *format, ...) HD_PRINTF(1, 2);
void hd_demo_say(const char *format, ...) HD_PRINTF(1, 2);
void hd_demo_timeline(const struct hd_demo *d);
char hd_demo_letter(int node);
double hd_demo_seconds(hd_mono from, hd_mono to);

/* demo_worker.c: the command of the nodes, as `howdah part demo-worker`. */
int hd_demo_worker_main(void);

#endif
