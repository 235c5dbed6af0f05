/* Step 3 of the probe: a temporary table with a row is still there for the next statement. */
#include "pg/probe_parts.h"
#include <string.h>

static const char step[] = "temporary table";

static void gone(struct hd_probe_run *p)
{
	p->multiplexed = true;
	hd_finding(p, step, HD_FINDING_BAD, "another backend answered, without our row");
}

/* A refused statement: of a missing table it means one thing, else the step can't be done. */
static hd_status refused(struct hd_probe_run *p, const struct hd_error *why, struct hd_error *err)
{
	if (!hd_session_ok(p->a)) {
		if (err)
			*err = *why;
		return why->status;
	}
	if (strcmp(why->sqlstate, "42P01") == 0)
		gone(p);
	else
		hd_finding(p, step, HD_FINDING_SKIPPED, "not possible: %s", why->message);
	return HD_OK;
}

hd_status hd_probe_table(struct hd_probe_run *p, struct hd_error *err)
{
	int64_t canary = (int64_t)hd_random64();
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	struct hd_error why = { 0 };
	hd_status status;
	int pid = 0;

	hd_arg_int(&args, canary);
	status = hd_probe_pid(p->a, p->deadline, &pid, &why);
	if (status == HD_OK)
		status = hd_exec(p->a, HD_SQL_PROBE_TEMP_MAKE, NULL, p->deadline, NULL, &why);
	if (status == HD_OK)
		status = hd_exec(p->a, HD_SQL_PROBE_TEMP_PUT, &args, p->deadline, NULL, &why);
	if (status == HD_OK)
		status = hd_exec(p->a, HD_SQL_PROBE_TEMP_LOOK, &args, p->deadline, &rows, &why);
	if (status != HD_OK)
		return refused(p, &why, err);
	if (hd_rows_int(&rows, 0, 0) != pid || pid != p->report.backend_pid ||
	    !hd_rows_bool(&rows, 0, 1))
		gone(p);
	else
		hd_finding(p, step, HD_FINDING_OK, "its row was still there, from backend %d", pid);
	status = hd_exec(p->a, HD_SQL_PROBE_TEMP_DROP, NULL, p->deadline, NULL, &why);
	if (status != HD_OK && !hd_session_ok(p->a))
		return refused(p, &why, err);
	return HD_OK;
}
