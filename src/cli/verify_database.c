/* verify_database.c - what verify itself asks of the database. */
#include "app/exit.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/show.h"
#include "cli/verify.h"
#include "pg/exec.h"
#include <howdah/probe.h>
#include <time.h>

#define SCRAP_MS 15000 /* a server may take a while to see that its clients are dead */

static struct hd_args about_role(const struct hd_verify *v)
{
	struct hd_args args = { 0 };

	hd_arg_text(&args, v->role);
	return args;
}

/* The scratch role does not exist yet: what this finds out is whether the schema is ours, and new
 * enough, and whether this user may. */
static int fit_for_workers(struct hd_verify *v, struct hd_session *s)
{
	struct hd_args args = about_role(v);
	struct hd_error err = { 0 };

	if (hd_exec(s, HD_SQL_VERIFY_SCRAP, &args, hd_after(hd_now(), v->config->timeout_ms), NULL,
	            &err) == HD_OK)
		return HD_EXIT_OK;
	return hd_show_complain(&err);
}

int hd_verify_fit(struct hd_verify *v)
{
	struct hd_probe_report report;
	struct hd_session *s = NULL;
	struct hd_error err = { 0 };
	hd_status st = hd_probe(&v->database, v->config->trust_session,
	                        hd_after(hd_now(), v->config->timeout_ms), &s, &report, &err);
	int code;

	if (st == HD_OK && s == NULL)
		st = hd_fail(&err, HD_LOST, "the session was lost during the probe");
	if (st == HD_OK && (!v->lease || report.verdict == HD_VERDICT_STANDBY))
		st = hd_probe_judge(&report, &err);
	if (st == HD_INVALID)
		code = hd_complain_with(&err, HD_EXIT_CONFIG);
	else
		code = st == HD_OK ? fit_for_workers(v, s) : hd_complain(&err);
	hd_session_close(s);
	return code;
}

hd_status hd_verify_terminate(struct hd_verify *v, int *ret_n, struct hd_error *err)
{
	hd_mono deadline = hd_after(hd_now(), v->config->timeout_ms);
	struct hd_args args = about_role(v);
	struct hd_session *s = NULL;
	HD_ROWS rows = { 0 };
	hd_status st = hd_session_open(&v->database, deadline, &s, err);

	if (st == HD_OK)
		st = hd_exec(s, HD_SQL_VERIFY_TERMINATE, &args, deadline, &rows, err);
	if (st == HD_OK)
		*ret_n = hd_rows_count(&rows);
	hd_session_close(s);
	return st;
}

/* HD_RETRY: somebody still holds it. */
static hd_status scrap(struct hd_verify *v, struct hd_session *s, hd_mono deadline,
                       struct hd_error *err)
{
	struct hd_args args = about_role(v);
	HD_ROWS rows = { 0 };
	hd_status st = hd_exec(s, HD_SQL_VERIFY_CLEAR, &args, deadline, NULL, err);

	if (st == HD_OK)
		st = hd_exec(s, HD_SQL_VERIFY_SCRAP, &args, deadline, &rows, err);
	if (st != HD_OK)
		return st;
	if (hd_rows_count(&rows) == 0 && v->drill.nterms > 0)
		return hd_fail(err, HD_REFUSED,
		               "its role %s is not here, so this address leads to more than one",
		               v->role);
	if (hd_rows_count(&rows) == 0 || hd_rows_bool(&rows, 0, 1))
		return HD_OK;
	return hd_fail(err, HD_RETRY, "its role %s is still held", v->role);
}

hd_status hd_verify_scrap(struct hd_verify *v, struct hd_error *err)
{
	static const struct timespec pause = { 0, 100000000 };
	hd_mono deadline = hd_after(hd_now(), SCRAP_MS);
	hd_status st;

	for (;;) {
		struct hd_session *s = NULL;

		st = hd_session_open(&v->database, deadline, &s, err);
		if (st == HD_OK)
			st = scrap(v, s, deadline, err);
		hd_session_close(s);
		if (st == HD_OK || st == HD_REFUSED || !hd_before(hd_now(), deadline))
			return st;
		(void)nanosleep(&pause, NULL);
	}
}
