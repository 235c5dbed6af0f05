/*
 * drill.h - nodes of `howdah run` under somebody who looks on: what `howdah demo` shows and `howdah
 * verify` checks.
 *
 * What a drill tells is what it saw: the nodes' log lines, the reports of their commands, the ends
 * of processes, all stamped with one clock.
 */
#ifndef HD_CLI_DRILL_H
#define HD_CLI_DRILL_H

#include "app/spawn.h"
#include "app/tree.h"
#include "base/buf.h"
#include <howdah/clock.h>
#include <stdint.h>

#define HD_DRILL_NODES      4 /* the most */
#define HD_DRILL_TERMS_MAX  16
#define HD_DRILL_EVENTS_MAX 128
#define HD_DRILL_LINE_MAX   4096 /* of a log line: see log.h */
#define HD_DRILL_FROZEN_MAX 256  /* processes of a node that can be stopped */
#define HD_DRILL_NOBODY     (-1) /* an event of the drill itself */

/* What a command writes to a pipe that all commands share: one write(2). */
struct hd_drill_report {
	hd_mono at;
	int64_t token;
	int32_t pid;
	int32_t kind; /* enum hd_drill_kind */
};

enum hd_drill_kind {
	HD_DRILL_UP = 1, /* its first instruction */
	HD_DRILL_ALIVE,  /* again and again, while leadership is trusted */
	HD_DRILL_SECOND, /* another command was still alive when it started */
};

/* One leadership, from the lock to the death of its command. */
struct hd_drill_term {
	int64_t token;
	int node;
	hd_mono taken;    /* the node got the role */
	char wait[24];    /* as it announced it: "1000ms" */
	char reason[160]; /* why it waited, or why not */
	hd_mono up;       /* the command's first instruction; 0: not yet */
	hd_mono over;     /* the command is dead; 0: not yet */
	pid_t pid;
	int pidfd; /* of the command; -1: none */
};

struct hd_drill_node {
	const char *conninfo;    /* NULL: libpq's environment names the database */
	struct hd_child process; /* pid 0: none */
	int log;                 /* its stderr; -1: closed */
	char line[HD_DRILL_LINE_MAX];
	size_t len;
	bool ready;       /* connected: it competes */
	char verdict[32]; /* of its probe, once it is ready */
	bool may_end;     /* we killed it, or asked it to stop, or expect it to refuse */
	bool may_lose;    /* we take its leadership away */
	hd_mono ended;    /* 0: it runs */
	int status;       /* as waitpid(2) has it, once ended */
	char trouble[256];
};

struct hd_drill_event {
	hd_mono at;
	int node;
	int64_t token; /* 0: none */
	char what[96];
};

struct hd_drill {
	/* How its nodes run; borrowed. */
	const char *role;
	const char *const *options; /* of `howdah run`, ended by NULL */
	char *const *command;       /* NULL: one that only says that it is alive */
	int64_t leave_ms;           /* time for a node that was asked to stop */

	hd_mono began;
	int signals;     /* signalfd of what ends a program */
	int told_to_end; /* the signal that came; 0: none */

	struct hd_tree strangers; /* orphans of killed nodes: their guards and commands */
	struct hd_drill_node nodes[HD_DRILL_NODES];
	int reports;    /* the pipe's read end; -1: none */
	int reports_in; /* its write end, for the nodes */
	int64_t alive;  /* how many signs of life */

	int nfrozen; /* the processes of one node that stand still, in the order of descent */
	int frozen[HD_DRILL_FROZEN_MAX]; /* pidfds */

	int nterms;
	struct hd_drill_term terms[HD_DRILL_TERMS_MAX];
	int nevents;
	struct hd_drill_event events[HD_DRILL_EVENTS_MAX];
};

/* drill_node.c */
void hd_drill_init(struct hd_drill *d);
/* Signals and the pipe of the reports. This process becomes a subreaper: its children are spared.
 */
hd_status hd_drill_open(struct hd_drill *d, struct hd_error *err);
/* Every node and all that descends from it is dead. HD_TIMEOUT: not in time. */
hd_status hd_drill_close(struct hd_drill *d, struct hd_error *err);
/* A node that has ended may be started again. */
hd_status hd_drill_start(struct hd_drill *d, int node, struct hd_error *err);
void hd_drill_signal(struct hd_drill *d, int node, int sig);

/* drill_freeze.c: SIGSTOP to a node, its guard, and all of its command; and SIGCONT to them. */
hd_status hd_drill_freeze(struct hd_drill *d, int node, struct hd_error *err);
void hd_drill_thaw(struct hd_drill *d);

/*
 * drill_watch.c: looks on until `done` (NULL: never), for `ms` at most. HD_TIMEOUT when the time is
 * up, HD_REFUSED when a promise was broken or a node ended by itself, HD_LOST when a signal came.
 */
typedef bool (*hd_drill_done_fn)(const struct hd_drill *d);
hd_status hd_drill_watch(struct hd_drill *d, hd_drill_done_fn done, int64_t ms,
                         struct hd_error *err);

/* The newest term; there must be one. */
static inline struct hd_drill_term *hd_drill_last(struct hd_drill *d)
{
	return &d->terms[d->nterms - 1];
}

/* drill_tell.c: the record that the timeline is made of, and what is printed. */
void hd_drill_note(struct hd_drill *d, hd_mono at, int node, int64_t token, const char *format, ...)
    HD_PRINTF(5, 6);
void hd_drill_head(const char *format, ...) HD_PRINTF(1, 2);
void hd_drill_say(const char *format, ...) HD_PRINTF(1, 2);
void hd_drill_timeline(const struct hd_drill *d);
void hd_drill_timeline_json(const struct hd_drill *d, struct hd_buf *out); /* an array */
char hd_drill_letter(int node);
double hd_drill_seconds(hd_mono from, hd_mono to);

/* drill_worker.c: the command of the nodes, as `howdah part drill-worker [-- COMMAND...]`. */
int hd_drill_worker_main(char *const *command);

#endif
