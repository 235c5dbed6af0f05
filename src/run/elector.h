/*
 * elector.h - one node, one role: `howdah run` itself.
 *
 * One session, straight-line code, a deadline on every call. The table of core/election says what
 * follows what; elector_wait.c finds out what happened, elector_act.c does what the table answers.
 */
#ifndef HD_RUN_ELECTOR_H
#define HD_RUN_ELECTOR_H

#include "app/config.h"
#include "base/backoff.h"
#include "core/election.h"
#include "core/trust.h"
#include "feature/leader.h"
#include "run/guard_link.h"
#include <howdah/probe.h>

#define HD_RESTARTS_MOST 10 /* of the command, within HD_RESTARTS_MS */
#define HD_RESTARTS_MS   (10 * 60 * 1000)

struct hd_elector {
	/* What it was told. */
	const struct hd_config *config;
	const char *conninfo; /* NULL: libpq's environment */
	int64_t key;
	struct hd_trust_plan plan;
	bool by_session; /* --election advisory: the claim dies with its session */
	bool one_shot;   /* --wait */
	hd_mono one_shot_until;
	char id[33];
	char node[96];
	char application_name[80];

	/* Where it is. */
	enum hd_state state;
	char reason[256];     /* of the last change, for the log */
	hd_mono wait_until;   /* WAITING: the take-over wait */
	hd_mono rest_until;   /* RESTING */
	hd_mono look_due;     /* the next read of the row */
	int64_t notice_token; /* a death notice that could not be delivered yet; 0: none */

	/* The claim. */
	struct hd_session *session;
	struct hd_probe_report probe;
	struct hd_leader *leader;
	struct hd_trust trust;
	bool reached;   /* the database, once at least */
	int clock_step; /* readable when the wall clock was set; -1: none */
	struct hd_backoff connect_pause;
	hd_mono connect_due;

	/* The command. */
	struct hd_guard guard;
	bool guarded;      /* a guard lives, or left something behind */
	bool guard_silent; /* it died or hangs: end it and sweep at once */
	bool survivors_named;
	bool sweeping; /* something of the command could not be ended yet */
	hd_mono sweep_due;
	bool command_known;    /* command_status is that of this term's command */
	int command_status;    /* as waitpid(2) has it */
	int cannot_run;        /* errno of the exec that failed; 0: none */
	hd_mono stop_until;    /* the guard must have answered */
	char stop_reason[256]; /* why the planned stop; for the history */

	/* --restart */
	hd_mono started;
	bool restarting;
	hd_mono restart_due;
	struct hd_backoff restart_pause;
	hd_mono restarts[HD_RESTARTS_MOST];
	int restart_count;

	int exit_code;
	const char *exit_source; /* "howdah" or "command" */
};

/*
 * Fills what does not change and takes the signals over. HD_INVALID when the numbers don't fit
 * together.
 */
hd_status hd_elector_init(struct hd_elector *e, const struct hd_config *config,
                          struct hd_error *err);

/* Until it ends; answers the exit code. `conninfo` NULL: libpq's environment. */
int hd_elector_run(struct hd_elector *e, const char *conninfo);

/* Sets the reason of the next log line. */
void hd_elector_because(struct hd_elector *e, const char *format, ...) HD_PRINTF(2, 3);

void hd_elector_signals_forward(struct hd_elector *e);
void hd_elector_reap(struct hd_elector *e);

/* elector_session.c: false when there is none yet; then connect_due says when to try again. */
bool hd_elector_connect(struct hd_elector *e, enum hd_event *ret_event);
void hd_elector_disconnect(struct hd_elector *e); /* the claim is over */
void hd_elector_hang_up(struct hd_elector *e);    /* only the session is: for lease rows */
/* Another session for a lease row that is held: at once, without a probe. */
hd_status hd_elector_call_again(struct hd_elector *e, hd_mono deadline, struct hd_error *err);

/* elector_wait.c: waits for the next event of the present state. */
enum hd_event hd_elector_next(struct hd_elector *e);

/* elector_act.c: true with an event when the action has one as its consequence. */
bool hd_elector_do(struct hd_elector *e, enum hd_action action, enum hd_event *ret_event);
bool hd_elector_start_command(struct hd_elector *e, enum hd_event *ret_event);

/* elector_term.c: the heartbeat and the guard's reports while the command may run. */
enum hd_event hd_elector_term(struct hd_elector *e);
enum hd_event hd_elector_beat_if_due(struct hd_elector *e);
bool hd_elector_session_lives(struct hd_elector *e); /* false: `reason` says why */

#define HD_EV_NONE HD_EV_COUNT

#endif
