/* doctor.h - findings about a connection and its server, and the checks that make them. */
#ifndef HD_CLI_DOCTOR_H
#define HD_CLI_DOCTOR_H

#include "app/config.h"
#include "pg/exec.h"
#include <howdah/probe.h>

#define HD_DOCTOR_MAX 64 /* findings; more than all checks can make */

enum hd_level {
	HD_LEVEL_OK,
	HD_LEVEL_WARN,
	HD_LEVEL_FAIL, /* Howdah can't work like this */
};

struct hd_doctor_finding {
	enum hd_level level;
	const char *subject; /* static */
	char text[512];
	char advice[512]; /* what to do; "" for HD_LEVEL_OK */
};

struct hd_doctor {
	const struct hd_config *config;
	struct hd_session *session; /* NULL: none could be had, or it was lost */
	hd_mono deadline;
	struct hd_probe_report report;
	int n;
	struct hd_doctor_finding finding[HD_DOCTOR_MAX];
};

/* Adds a finding; `advice` is NULL for HD_LEVEL_OK. */
void hd_doctor_say(struct hd_doctor *d, enum hd_level level, const char *subject,
                   const char *advice, const char *format, ...) HD_PRINTF(5, 6);

/*
 * Asks for the rows of one check. False when there is no answer; then that is a finding already,
 * and a session that broke is closed.
 */
bool hd_doctor_ask(struct hd_doctor *d, const char *subject, enum hd_sql stmt,
                   const struct hd_args *args, struct hd_rows *ret);

struct hd_doctor_check {
	const char *subject;
	enum hd_sql stmt;
	void (*judge)(struct hd_doctor *d, const char *subject, const struct hd_rows *rows);
};

extern const struct hd_doctor_check hd_doctor_checks[]; /* in order; ended by one without subject */

/* What is no single statement. */
void hd_doctor_probe(struct hd_doctor *d);
void hd_doctor_clock(struct hd_doctor *d);
void hd_doctor_schema(struct hd_doctor *d);

/* The judges that are tables of their own. */
void hd_doctor_settings(struct hd_doctor *d, const char *subject, const struct hd_rows *rows);

#endif
