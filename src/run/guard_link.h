/*
 * guard_link.h - the elector's side of a term: start a guard, give it orders, end it.
 *
 * A process has one link at a time, and is single-threaded. Nothing here blocks beyond a deadline.
 * Whatever has become of the guard, after hd_guard_end() answered HD_OK nothing of the command is
 * alive.
 */
#ifndef HD_RUN_GUARD_LINK_H
#define HD_RUN_GUARD_LINK_H

#include "app/spawn.h"
#include "app/terminal.h"
#include "app/tree.h"
#include "run/contain.h"
#include "run/term.h"

#define HD_GUARD_SURVIVORS_MAX 8

/* Borrowed until hd_guard_start returns. */
struct hd_guard_start {
	const char *binary; /* what runs as `… part guard`; NULL: this very program */
	char *const *argv;  /* the command */
	const char *role;
	const char *node;
	int64_t token;
	hd_mono trusted_until;
	int lost_grace_ms;
	int kill_margin_ms;
	int lease_fd;    /* the lease session's socket; -1: none */
	int watchdog_ms; /* longest silence of the command; 0: no watchdog */
	enum hd_contain contain;
};

struct hd_guard {
	int channel; /* for poll(2): readable when hd_guard_next has something */
	struct hd_child process;
	struct hd_tree tree; /* leader: the guard */
	struct hd_terminal terminal;
	int cgroup; /* the command's; -1: none */
	struct hd_child keeper;
	int64_t trust_sent;  /* the newest, ns */
	int64_t trust_acked; /* the newest, ns */
	bool over;           /* GONE or SURVIVOR was read */
	size_t nsurvivors;   /* after hd_guard_end: who can't be ended */
	pid_t survivors[HD_GUARD_SURVIVORS_MAX];
};

/*
 * Once, before the first guard: makes this process a child subreaper, lets it take the status of
 * its children, and keeps it from being stopped for writing to a terminal that it has lent.
 */
HD_MUST_CHECK hd_status hd_guard_prepare(struct hd_error *err);

/*
 * HD_RETRY, HD_NOMEM, HD_TIMEOUT: no guard was started. HD_INVALID: a name is too long, or there is
 * no command. HD_REFUSED: the binary can't be executed, or no control group be made. After HD_OK,
 * hd_guard_end() must follow.
 */
HD_MUST_CHECK hd_status hd_guard_start(const struct hd_guard_start *s, hd_mono deadline,
                                       struct hd_guard *ret, struct hd_error *err);

/*
 * The orders of run/term.h. None waits: HD_TIMEOUT says that the guard has not read for so long
 * that its channel is full, HD_LOST that there is no guard any more; in both cases end it.
 */
HD_MUST_CHECK hd_status hd_guard_trust(struct hd_guard *g, hd_mono until, struct hd_error *err);
HD_MUST_CHECK hd_status hd_guard_signal(struct hd_guard *g, int sig, struct hd_error *err);
HD_MUST_CHECK hd_status hd_guard_stop(struct hd_guard *g, int sig, int64_t grace_ms,
                                      struct hd_error *err);
HD_MUST_CHECK hd_status hd_guard_lose(struct hd_guard *g, struct hd_error *err);

/*
 * The next report. HD_TIMEOUT: none before the deadline (one that has passed: only looks). HD_LOST:
 * the guard's end of the channel is closed; without GONE before, it died, and must be ended.
 */
HD_MUST_CHECK hd_status hd_guard_next(struct hd_guard *g, hd_mono deadline,
                                      struct hd_guard_message *ret, struct hd_error *err);

/* Whether every TRUST sent so far, the plan's included, was answered: only then renew. */
bool hd_guard_answered(const struct hd_guard *g);

/*
 * Takes the status of all children that have ended, strangers that a process 1 adopted included; to
 * be called on SIGCHLD. Nothing else in the process may wait for "any child".
 */
void hd_guard_reap(struct hd_guard *g);

/*
 * Ends the term: a guard that has said GONE may leave by itself, any other is killed; then what it
 * left behind, which are this process's children now, is swept. HD_OK: nothing is alive.
 * HD_REFUSED: g->survivors are, and may be swept again. HD_TIMEOUT: the guard itself does not die.
 * After those two it may be called again; after HD_OK, `g` is released.
 */
HD_MUST_CHECK hd_status hd_guard_end(struct hd_guard *g, hd_mono deadline, struct hd_error *err);

/* The exit code for a NO_START with this errno: 127 no such command, 126 it can't be run. */
int hd_guard_exit_code(int64_t error);

#endif
