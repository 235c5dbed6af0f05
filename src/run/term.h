/*
 * term.h - what elector and guard say to each other during one term.
 *
 * One SOCK_SEQPACKET socketpair, fixed-size messages, no answer is ever waited for without a
 * deadline. The elector spawns the guard with hd_guard_start(); the guard process is
 * `howdah part guard`, its state is in the inherited descriptors named below.
 *
 * Life of a term: the elector writes `led` on the leadership row, starts the guard, sends TRUST
 * after each good heartbeat, and in the end waits for GONE: then, and only then, nothing of the
 * command is alive and the role may be released.
 */
#ifndef HD_RUN_TERM_H
#define HD_RUN_TERM_H

#include <howdah/clock.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptors that a guard finds open; everything else is close-on-exec. */
enum {
	HD_GUARD_FD_CHANNEL = 3, /* the socketpair */
	HD_GUARD_FD_PLAN = 4,    /* memfd: struct hd_guard_plan, then argv as NUL-ended strings */
	HD_GUARD_FD_LEASE =
	    5, /* duplicate of the lease session's socket: only watched for closing */
};

/* The fixed part of the plan. Lengths in milliseconds. */
struct hd_guard_plan {
	uint32_t argc;          /* strings that follow: the command and its arguments */
	int32_t lost_grace_ms;  /* TERM to KILL after an unplanned loss */
	int32_t kill_margin_ms; /* everything must be dead this long before the trust ends */
	int64_t token;
	hd_mono trusted_until; /* the first TRUST */
	char role[64];
	char node[33]; /* identity of the elector: HOWDAH_NODE */
};

/* Elector to guard. */
enum hd_guard_order {
	HD_GUARD_TRUST = 1, /* value: trusted until, ns of CLOCK_BOOTTIME; answered by ACK */
	HD_GUARD_SIGNAL,    /* value: signal number, forwarded to the command's process group */
	HD_GUARD_STOP,      /* value: grace in ms; a planned stop: TERM now unless a signal was just
	                       forwarded, KILL of the whole tree when the grace is over */
	HD_GUARD_LOSE,      /* the lease is lost: TERM now, KILL after lost_grace, or earlier where
	                       the trust ends earlier */
};

/* Guard to elector. */
enum hd_guard_report {
	HD_GUARD_ACK = 1,  /* value: that of the TRUST */
	HD_GUARD_STARTED,  /* value: pid of the command */
	HD_GUARD_NO_START, /* value: errno of execve; 126/127 are the elector's to give */
	HD_GUARD_EXITED,   /* value: wait status of the command; the sweep has begun */
	HD_GUARD_LOST,     /* the guard itself saw the loss: value says how (enum hd_guard_loss) */
	HD_GUARD_GONE,     /* the tree is empty; value: 0. The last message of a good term */
	HD_GUARD_SURVIVOR, /* value: pid of a process that the sweep can't end; no GONE follows */
};

enum hd_guard_loss {
	HD_LOSS_TRUST_ENDED = 1, /* no TRUST came in time */
	HD_LOSS_SESSION_CLOSED,  /* the server closed the lease session */
	HD_LOSS_ELECTOR_GONE,    /* end-of-file on the channel */
	HD_LOSS_FROZEN,          /* this machine or process stood still past the trust */
};

struct hd_guard_message {
	int32_t kind; /* hd_guard_order or hd_guard_report */
	int32_t reserved;
	int64_t value;
};

#endif
