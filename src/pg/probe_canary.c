/* Step 5 of the probe: an advisory lock stays with the session that took it, and with it alone. */
#include "pg/probe_parts.h"
#include <string.h>

static const char step[] = "advisory lock";

static void bad(struct hd_probe_run *p, const char *how)
{
	p->multiplexed = true;
	hd_finding(p, step, HD_FINDING_BAD, "%s", how);
}

/* One yes-or-no statement about the key. */
static hd_status ask(struct hd_session *s, enum hd_sql stmt, int64_t key, hd_mono deadline,
                     bool *ret, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status status;

	hd_arg_int(&args, key);
	status = hd_exec(s, stmt, &args, deadline, &rows, err);
	if (status == HD_OK)
		*ret = hd_rows_bool(&rows, 0, 0);
	return status;
}

/* The rival tries for the lock, in a transaction that is rolled back. False: it could not try. */
static bool rival_gets_it(struct hd_probe_run *p, int64_t key, bool *ret)
{
	hd_mono deadline = hd_earlier(p->deadline, hd_after(hd_now(), HD_RIVAL_MS));

	return hd_exec_text(p->b, "begin", NULL, deadline, NULL, NULL) == HD_OK &&
	       ask(p->b, HD_SQL_PROBE_CANARY_RIVAL, key, deadline, ret, NULL) == HD_OK &&
	       hd_exec_text(p->b, "rollback", NULL, deadline, NULL, NULL) == HD_OK;
}

hd_status hd_probe_canary(struct hd_probe_run *p, struct hd_error *err)
{
	int64_t key = (int64_t)hd_random64();
	bool locked = false, held = false, rivals = false, unlocked = false, tried = true;
	hd_status status;

	status = ask(p->a, HD_SQL_PROBE_CANARY_LOCK, key, p->deadline, &locked, err);
	if (status == HD_OK)
		status = ask(p->a, HD_SQL_PROBE_CANARY_LOOK, key, p->deadline, &held, err);
	if (status == HD_OK && p->b)
		tried = rival_gets_it(p, key, &rivals);
	if (status == HD_OK)
		status = ask(p->a, HD_SQL_PROBE_CANARY_UNLOCK, key, p->deadline, &unlocked, err);
	if (status != HD_OK)
		return status;
	if (!locked || !held || !unlocked)
		bad(p, "was gone by the next statement");
	else if (rivals)
		bad(p, "the second session got it too");
	else if (!tried)
		hd_finding(p, step, HD_FINDING_SKIPPED, "the second session could not try for it");
	else
		hd_finding(p, step, HD_FINDING_OK,
		           p->b ? "stayed, and the second session did not get it" : "stayed");
	p->doubtful = p->doubtful || !tried;
	return HD_OK;
}
