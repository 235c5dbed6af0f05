/*
 * verify.h - what the files of `howdah verify` share: a drill on the user's own database, and the
 * verdicts about what was seen in it.
 */
#ifndef HD_CLI_VERIFY_H
#define HD_CLI_VERIFY_H

#include "app/config.h"
#include "cli/drill.h"
#include <howdah/session.h>

#define HD_VERIFY_NODES      3
#define HD_VERIFY_POOLED     HD_VERIFY_NODES /* the node behind --pooler */
#define HD_VERIFY_CHECKS_MAX 16

/* Short, so that a lease passes in seconds. Options of every node, in milliseconds where they are.
 */
#define HD_VERIFY_LEASE_MS 4000

enum hd_result {
	HD_RESULT_OK,
	HD_RESULT_FAIL,
	HD_RESULT_SKIP,
};

struct hd_check {
	const char *name; /* of JSON; static */
	enum hd_result result;
	char text[640];
	/* Seconds from the fault: the old command was dead, another node had the role, and its
	   command ran; negative: not measured. */
	double dead, lock, command;
};

struct hd_verify {
	struct hd_drill drill;
	const struct hd_config *config;
	struct hd_session_options database;
	char role[32];
	char grace[24]; /* as the nodes get it */
	const char *options[20];
	bool lease; /* the mode: by a lease row, which needs no session */

	int hurt; /* the term whose node was hurt last */
	int nchecks;
	struct hd_check checks[HD_VERIFY_CHECKS_MAX];
};

/* A new verdict, OK until somebody says otherwise. */
struct hd_check *hd_verify_check(struct hd_verify *v, const char *name);
/* Completes it: text, and for people a line at once. */
void hd_verify_say(struct hd_verify *v, struct hd_check *c, enum hd_result result,
                   const char *format, ...) HD_PRINTF(4, 5);
int hd_verify_failed(const struct hd_verify *v); /* how many */
/* Timeline and last line, or the object of --json. */
void hd_verify_report(const struct hd_verify *v);

/*
 * verify_scenes.c: every fault, one after the other. After a broken promise the rest is skipped;
 * HD_LOST: a signal came. Everything else is in the checks.
 */
hd_status hd_verify_play(struct hd_verify *v, struct hd_error *err);

/* verify_pooler.c: a node behind the address of --pooler. */
hd_status hd_verify_pooler(struct hd_verify *v, struct hd_check *c, struct hd_error *err);

/* verify_database.c: sessions of its own, each opened for one purpose. */
/* Whether the database is fit: an exit code, after a complaint. */
int hd_verify_fit(struct hd_verify *v);
/* HD_REFUSED with SQLSTATE 42501 where that is not permitted; `ret_n`: sessions that were ended. */
hd_status hd_verify_terminate(struct hd_verify *v, int *ret_n, struct hd_error *err);
/* The role is gone, with its history; every process of it is dead already. */
hd_status hd_verify_scrap(struct hd_verify *v, struct hd_error *err);

#endif
