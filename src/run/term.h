/*
 * term.h - what elector and guard say to each other during one term.
 *
 * One SOCK_SEQPACKET socketpair, fixed-size messages, no answer is ever waited for without a
 * deadline. The elector starts the guard with hd_guard_start(); the guard process is
 * `howdah part guard`, its state is in the inherited descriptors named below.
 *
 * Life of a term: the elector writes `led` on the leadership row, starts the guard, sends TRUST
 * after each good heartbeat, and in the end waits for GONE: then, and only then, nothing of the
 * command is alive and the role may be released.
 */
#ifndef HD_RUN_TERM_H
#define HD_RUN_TERM_H

#include <howdah/clock.h>
#include <stdint.h>

/* Descriptors that a guard finds open; everything else was close-on-exec. */
enum {
	HD_GUARD_FD_CHANNEL = 3, /* the socketpair */
	HD_GUARD_FD_PLAN = 4,    /* memfd: struct hd_guard_plan, then argv as NUL-ended strings */
	HD_GUARD_FD_LEASE = 5,   /* duplicate of the lease session's socket, only watched for
	                            closing; may be absent */
	HD_GUARD_FD_CGROUP = 6,  /* the command's control group; absent without one */
};

/* The fixed part of the plan. Lengths in milliseconds. */
struct hd_guard_plan {
	uint32_t argc;          /* strings that follow: the command and its arguments */
	int32_t lost_grace_ms;  /* TERM to KILL after an unplanned loss */
	int32_t kill_margin_ms; /* everything must be dead this long before the trust ends */
	int32_t terminal_owner; /* process group that lends its terminal; 0: none */
	int32_t watchdog_ms;    /* longest silence of the command; 0: no watchdog */
	int32_t contain;        /* enum hd_contain */
	int64_t token;
	hd_mono trusted_until; /* the first TRUST; answered by ACK like the others */
	char role[64];
	char node[40]; /* identity of the elector: HOWDAH_NODE */
};

/* Elector to guard. */
enum hd_guard_order {
	HD_GUARD_TRUST = 1, /* value: trusted until, ns of CLOCK_BOOTTIME; answered by ACK. An
	                       older one than before changes nothing */
	HD_GUARD_SIGNAL,    /* sig: forwarded to the command's process group */
	HD_GUARD_STOP,      /* a planned stop: sig to the whole tree now, KILL when value, a grace
	                       in ms, is over. TRUST is still taken, and its end still obeyed. A
	                       second one can only shorten the grace */
	HD_GUARD_LOSE,      /* the lease is lost: TERM now, KILL after lost_grace, or earlier where
	                       the trust ends earlier. TRUST is not answered from here on */
};

/*
 * Guard to elector. A term is reported as
 *   STARTED, [SILENT], [LOST], EXITED, GONE   or   NO_START, GONE
 * with SURVIVOR, once or more, in place of GONE when there are any. ACK comes in between.
 */
enum hd_guard_report {
	HD_GUARD_ACK = 1,  /* value: that of the TRUST */
	HD_GUARD_STARTED,  /* value: pid of the command */
	HD_GUARD_NO_START, /* value: errno of the exec; hd_guard_exit_code() makes 126 or 127 */
	HD_GUARD_LOST,     /* the guard itself saw the loss: value says how (enum hd_guard_loss) */
	HD_GUARD_EXITED,   /* value: wait status of the command; what it left was swept */
	HD_GUARD_GONE,     /* the tree is empty. The last message of a good term */
	HD_GUARD_SILENT,   /* the watchdog: no ping for value ms, or 0: the command says itself
	                      that it is broken. A stop has begun, TERM and then KILL after
	                      lost_grace, in which TRUST is still taken */
	HD_GUARD_SURVIVOR, /* value: pid of a process that the sweep can't end; 0: unknown */
};

enum hd_guard_loss {
	HD_LOSS_TRUST_ENDED = 1, /* no TRUST came in time */
	HD_LOSS_SESSION_CLOSED,  /* the server closed the lease session */
	HD_LOSS_ELECTOR_GONE,    /* end-of-file on the channel */
	HD_LOSS_FROZEN,          /* this machine or process stood still past the trust */
};

struct hd_guard_message {
	int32_t kind; /* hd_guard_order or hd_guard_report */
	int32_t sig;
	int64_t value;
};

#endif
