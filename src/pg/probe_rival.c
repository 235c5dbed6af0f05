/*
 * Step 4 of the probe. An idle pool hands back the same backend every time, so a session alone
 * never sees that it is shared. A rival with an open transaction takes a backend out of the pool:
 * then the two meet on one, or the first has to move, or to wait. Pools are LIFO or round robin and
 * may be busy, hence several rounds.
 */
#include "pg/probe_parts.h"
#include "pg/session.h"
#include <string.h>

#define ROUNDS     3
#define BLOCKED_MS 1000

static const char step[] = "second session";

static hd_mono rival_deadline(const struct hd_probe_run *p)
{
	return hd_earlier(p->deadline, hd_after(hd_now(), HD_RIVAL_MS));
}

static void multiplexed(struct hd_probe_run *p, const char *how)
{
	p->multiplexed = true;
	hd_finding(p, step, HD_FINDING_BAD, "%s", how);
}

/* Drops connections, never cancels: behind a pooler a cancel request can hit another's statement.
 */
static void drop_rival(struct hd_probe_run *p)
{
	hd_session_close(p->b);
	p->b = NULL;
}

/* The rival failed in a way that proves nothing: does the first session still answer, and alone? */
static hd_status without_rival(struct hd_probe_run *p, const struct hd_error *why,
                               struct hd_error *err)
{
	int pid = 0;
	hd_status status = hd_probe_pid(p->a, p->deadline, &pid, err);

	drop_rival(p);
	p->doubtful = true;
	if (status != HD_OK)
		return status;
	if (pid != p->report.backend_pid)
		multiplexed(p, "the backend changed between two statements");
	else
		hd_finding(p, step, HD_FINDING_SKIPPED, "could not be had beside the first: %s",
		           why->message);
	return HD_OK;
}

/* BEGIN on the rival. False: it was refused, and what that means has been noted. */
static bool begin(struct hd_probe_run *p, hd_status *status, struct hd_error *err)
{
	struct hd_error why = { 0 };
	hd_status got = hd_exec_text(p->b, "begin", NULL, rival_deadline(p), NULL, &why);

	*status = HD_OK;
	if (got == HD_OK)
		return true;
	/* A statement went through just before: only a transaction is too much. */
	if (got == HD_REFUSED || (got == HD_LOST && strncmp(why.sqlstate, "57", 2) != 0)) {
		multiplexed(p, "a transaction is refused: statement pooling");
		drop_rival(p);
	} else {
		*status = without_rival(p, &why, err);
	}
	return false;
}

/* The first session reads its pid while the rival holds a transaction; *ret_waited: it had to wait.
 */
static hd_status pid_meanwhile(struct hd_probe_run *p, int *ret_pid, bool *ret_waited,
                               struct hd_error *err)
{
	HD_ROWS rows = { 0 };
	struct hd_args none = { 0 };
	hd_status status;

	status = hd_exec_start(p->a, hd_stmts[HD_SQL_PROBE_PID].text, &none, err);
	if (status != HD_OK)
		return status;
	*ret_waited = !hd_exec_ready(p->a, hd_earlier(p->deadline, hd_after(hd_now(), BLOCKED_MS)));
	/* Ends the transaction in any case; a rival that does not answer is dropped. */
	if (hd_exec_text(p->b, "rollback", NULL, rival_deadline(p), NULL, NULL) != HD_OK)
		drop_rival(p);
	status = hd_exec_finish(p->a, p->deadline, &rows, err);
	if (status == HD_OK)
		*ret_pid = (int)hd_rows_int(&rows, 0, 0);
	return status;
}

static hd_status one_round(struct hd_probe_run *p, struct hd_error *err)
{
	int before = 0, rival_before = 0, rival = 0, after = 0;
	struct hd_error why = { 0 };
	bool waited = false;
	hd_status status;

	status = hd_probe_pid(p->a, p->deadline, &before, err);
	if (status != HD_OK)
		return status;
	if (hd_probe_pid(p->b, rival_deadline(p), &rival_before, &why) != HD_OK)
		return without_rival(p, &why, err);
	if (!begin(p, &status, err))
		return status;
	if (hd_probe_pid(p->b, rival_deadline(p), &rival, &why) != HD_OK)
		return without_rival(p, &why, err);
	status = pid_meanwhile(p, &after, &waited, err);
	if (status != HD_OK)
		return status;
	if (waited)
		multiplexed(p, "a statement had to wait for the other session's transaction");
	else if (before == rival_before || before == rival || after == rival)
		multiplexed(p, "both sessions were served by one backend");
	else if (before != after || before != p->report.backend_pid || rival_before != rival)
		multiplexed(p, "the backend changed between two statements");
	return HD_OK;
}

hd_status hd_probe_rival(struct hd_probe_run *p, struct hd_error *err)
{
	struct hd_error why = { 0 };
	hd_status status = HD_OK;

	if (hd_session_open_beside(p->a, p->o, rival_deadline(p), &p->b, &why) != HD_OK)
		return without_rival(p, &why, err);
	for (int i = 0; i < ROUNDS && status == HD_OK && p->b && !p->multiplexed; i++)
		status = one_round(p, err);
	if (status == HD_OK && p->b && !p->multiplexed)
		hd_finding(p, step, HD_FINDING_OK, "had a backend of its own, %d times", ROUNDS);
	else if (status == HD_OK && !p->b && !p->multiplexed && !p->doubtful) {
		p->doubtful = true;
		hd_finding(p, step, HD_FINDING_SKIPPED, "was lost on the way");
	}
	return status;
}
