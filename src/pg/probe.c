#include <howdah/probe.h>

#include "base/base.h"
#include "base/error.h"
#include "pg/probe_parts.h"
#include <stdarg.h>
#include <stdio.h>

const char *hd_verdict_name(hd_verdict v)
{
	static const char *const names[] = {
		[HD_VERDICT_INCONCLUSIVE] = "inconclusive",
		[HD_VERDICT_DIRECT] = "direct",
		[HD_VERDICT_SESSION_POOLED] = "session-pooled",
		[HD_VERDICT_MULTIPLEXED] = "multiplexed",
		[HD_VERDICT_STANDBY] = "standby",
	};

	return (unsigned int)v < HD_ARRAY_SIZE(names) ? names[v] : "unknown";
}

const char *hd_finding_state_name(hd_finding_state state)
{
	static const char *const names[] = { "ok", "bad", "skipped" };

	return (unsigned int)state < HD_ARRAY_SIZE(names) ? names[state] : "unknown";
}

void hd_finding(struct hd_probe_run *p, const char *step, hd_finding_state state,
                const char *format, ...)
{
	struct hd_finding *f;
	va_list args;

	if (p->report.nfindings == HD_FINDINGS_MAX)
		return;
	f = &p->report.finding[p->report.nfindings++];
	f->step = step;
	f->state = state;
	va_start(args, format);
	(void)vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
}

hd_status hd_probe_pid(struct hd_session *s, hd_mono deadline, int *ret, struct hd_error *err)
{
	HD_ROWS rows = { 0 };
	hd_status status = hd_exec(s, HD_SQL_PROBE_PID, NULL, deadline, &rows, err);

	if (status == HD_OK)
		*ret = (int)hd_rows_int(&rows, 0, 0);
	return status;
}

static hd_verdict verdict(const struct hd_probe_run *p)
{
	if (p->multiplexed)
		return HD_VERDICT_MULTIPLEXED;
	if (p->doubtful)
		return HD_VERDICT_INCONCLUSIVE;
	return p->direct ? HD_VERDICT_DIRECT : HD_VERDICT_SESSION_POOLED;
}

/* The steps that change something, each only while the ones before found the session whole. */
static hd_status try_session(struct hd_probe_run *p, struct hd_error *err)
{
	hd_status status;

	hd_probe_direct(p);
	status = hd_probe_table(p, err);
	if (status == HD_OK && !p->multiplexed && !p->direct)
		status = hd_probe_rival(p, err);
	if (status == HD_OK && !p->multiplexed)
		status = hd_probe_canary(p, err);
	p->report.verdict = verdict(p);
	return status;
}

static hd_status run(struct hd_probe_run *p, struct hd_error *err)
{
	hd_status status = hd_probe_open(p, err);

	if (status == HD_OK)
		status = hd_probe_facts(p, err);
	if (status == HD_OK && p->report.verdict != HD_VERDICT_STANDBY)
		status = try_session(p, err);
	return status;
}

hd_status hd_probe(const struct hd_session_options *o, bool trust_session, hd_mono deadline,
                   struct hd_session **ret_session, struct hd_probe_report *ret,
                   struct hd_error *err)
{
	struct hd_probe_run p = { .o = o, .deadline = deadline };
	hd_status status = run(&p, err);

	hd_session_close(p.b);
	if (status != HD_OK || !hd_session_ok(p.a)) {
		hd_session_close(p.a);
		p.a = NULL;
	}
	if (status != HD_OK)
		return status;
	p.report.trusted = trust_session && p.report.verdict == HD_VERDICT_INCONCLUSIVE;
	*ret = p.report;
	*ret_session = p.a;
	return HD_OK;
}

hd_status hd_probe_judge(const struct hd_probe_report *r, struct hd_error *err)
{
	static const struct {
		const char *message, *hint;
	} refusals[] = {
		[HD_VERDICT_MULTIPLEXED] = { "a pooler gives this session's server connection to "
		                             "others between statements: "
		                             "a lock would not stay with its holder",
		                             "name the server's own address or a pool in session "
		                             "mode; leadership needs neither with --election "
		                             "lease" },
		[HD_VERDICT_STANDBY] = { "this server is a standby or read-only",
		                         "name the primary, or all hosts with "
		                         "target_session_attrs=read-write" },
		[HD_VERDICT_INCONCLUSIVE] = { "whether a pooler shares this session's server "
		                              "connection could not be told",
		                              "name the server's own address, give the pool one "
		                              "more connection, or say "
		                              "--trust-session" },
	};

	if (r->verdict == HD_VERDICT_DIRECT || r->verdict == HD_VERDICT_SESSION_POOLED ||
	    r->trusted)
		return HD_OK;
	hd_fail(err, HD_REFUSED, "%s", refusals[r->verdict].message);
	hd_hint(err, "%s", refusals[r->verdict].hint);
	return HD_REFUSED;
}
