/* The probe's report, clock and round trip, and schema howdah, as findings. */
#include "cli/doctor.h"
#include "pg/migrate.h"
#include "view/view.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCK_ROUNDS 5
#define SKEW_US      1000000
#define SLOW_US      500000

/* What to do about a step of the probe that failed or could not be done; NULL: nothing. */
static const char *step_advice(const struct hd_finding *f)
{
	static const struct {
		const char *step;
		hd_finding_state state;
		const char *advice;
	} advice[] = {
		{ "identity", HD_FINDING_SKIPPED,
		  "grant execute on pg_control_system(), pg_current_wal_lsn() and "
		  "pg_walfile_name(pg_lsn); until then the fencing token is a counter alone, and "
		  "may "
		  "repeat after a fail-over that lost commits" },
		{ "temporary table", HD_FINDING_SKIPPED,
		  "grant temporary on the database, so that the probe can use this test too" },
		{ "direct", HD_FINDING_SKIPPED, NULL },
	};

	for (size_t i = 0; i < HD_ARRAY_SIZE(advice); i++)
		if (strcmp(advice[i].step, f->step) == 0 && advice[i].state == f->state)
			return advice[i].advice;
	return "see the verdict on the session";
}

static void say_verdict(struct hd_doctor *d)
{
	static const char *const means[] = {
		[HD_VERDICT_INCONCLUSIVE] =
		    "whether a pooler shares its server session could not be "
		    "told",
		[HD_VERDICT_DIRECT] = "the server itself is at the other end",
		[HD_VERDICT_SESSION_POOLED] =
		    "a pooler is in between, and leaves the session alone",
		[HD_VERDICT_MULTIPLEXED] = "a pooler gives its server session to others between "
					   "statements: a lock would not stay with its holder",
		[HD_VERDICT_STANDBY] = "this server takes no writes, so nobody can lead here",
	};
	const struct hd_probe_report *r = &d->report;
	struct hd_error err = { 0 };

	if (hd_probe_judge(r, &err) != HD_OK)
		hd_doctor_say(d, HD_LEVEL_FAIL, "session", err.hint, "%s: %s",
		              hd_verdict_name(r->verdict), means[r->verdict]);
	else if (r->trusted)
		hd_doctor_say(d, HD_LEVEL_WARN, "session",
		              "give the pool one more connection, or name the server's own "
		              "address, so that the probe can tell",
		              "%s: %s; trusted, since --trust-session says so",
		              hd_verdict_name(r->verdict), means[r->verdict]);
	else
		hd_doctor_say(d, HD_LEVEL_OK, "session", NULL, "%s: %s",
		              hd_verdict_name(r->verdict), means[r->verdict]);
}

void hd_doctor_probe(struct hd_doctor *d)
{
	const struct hd_probe_report *r = &d->report;

	say_verdict(d);
	for (int i = 0; i < r->nfindings; i++) {
		const struct hd_finding *f = &r->finding[i];
		const char *advice = f->state == HD_FINDING_OK ? NULL : step_advice(f);

		hd_doctor_say(d, advice == NULL ? HD_LEVEL_OK : HD_LEVEL_WARN, f->step, advice,
		              "%s", f->text);
	}
}

static int64_t wall_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The quickest of a few rounds bounds the error best: half of its round trip. */
void hd_doctor_clock(struct hd_doctor *d)
{
	int64_t best_us = INT64_MAX, skew_us = 0;

	for (int i = 0; i < CLOCK_ROUNDS; i++) {
		HD_ROWS rows = { 0 };
		hd_mono before = hd_now();
		int64_t wall = wall_us();
		int64_t trip_us;

		if (!hd_doctor_ask(d, "clock", HD_SQL_DOCTOR_CLOCK, NULL, &rows))
			return;
		trip_us = (hd_now().ns - before.ns) / 1000;
		if (trip_us >= best_us)
			continue;
		best_us = trip_us;
		skew_us = hd_rows_int(&rows, 0, 0) - (wall + trip_us / 2);
	}
	hd_doctor_say(d, best_us > SLOW_US ? HD_LEVEL_WARN : HD_LEVEL_OK, "round trip",
	              best_us > SLOW_US
	                  ? "run Howdah nearer to its database: a heartbeat is such a "
	                    "round trip"
	                  : NULL,
	              "%.2f ms, the best of %d", (double)best_us / 1000, CLOCK_ROUNDS);
	hd_doctor_say(
	    d, llabs(skew_us) - best_us / 2 > SKEW_US ? HD_LEVEL_WARN : HD_LEVEL_OK, "clock",
	    llabs(skew_us) - best_us / 2 > SKEW_US
		? "set both by NTP; leadership compares no clocks, but people read the times"
		: NULL,
	    "the server's is %.2f ms %s of this machine's, give or take %.2f ms",
	    (double)llabs(skew_us) / 1000, skew_us < 0 ? "behind" : "ahead",
	    (double)best_us / 2000);
}

static void judge_schema(struct hd_doctor *d, const struct hd_rows *rows)
{
	const char *state = hd_view_text(rows, 0, "state");
	const char *version = hd_view_text(rows, 0, "version");
	const char *functions = hd_view_text(rows, 0, "functions");
	const char *program = hd_view_text(rows, 0, "program");
	const char *advice = NULL;

	if (state != NULL && strcmp(state, "newer") == 0)
		advice = "use the howdah that made it, or a newer one";
	else if (version == NULL || state == NULL || strcmp(state, "older") == 0 ||
	         functions == NULL || strcmp(functions, "current") != 0)
		advice = "bring it up to date: howdah init";
	hd_doctor_say(d, advice ? HD_LEVEL_WARN : HD_LEVEL_OK, "schema", advice,
	              "version %s by howdah %s, this howdah knows %d; server functions: %s",
	              version ? version : "none", program ? program : "?", hd_migrate_latest(),
	              functions ? functions : "none");
}

void hd_doctor_schema(struct hd_doctor *d)
{
	static const char subject[] = "schema";
	struct hd_args args = { 0 };
	HD_ROWS present = { 0 };
	HD_ROWS rows = { 0 };

	if (!hd_doctor_ask(d, subject, HD_SQL_SCHEMA_PRESENT, NULL, &present))
		return;
	if (!hd_rows_bool(&present, 0, 0)) {
		hd_doctor_say(d, HD_LEVEL_WARN, subject, "create it: howdah init",
		              "there is none in this database");
		return;
	}
	if (!hd_rows_bool(&present, 0, 1)) {
		hd_doctor_say(d, HD_LEVEL_WARN, subject,
		              "grant this user howdah_worker (to lead) or howdah_reader (to look)",
		              "there is one, and this user may not look into it");
		return;
	}
	hd_arg_int(&args, hd_migrate_latest());
	hd_arg_text(&args, hd_function_set);
	if (hd_doctor_ask(d, subject, HD_SQL_VIEW_SCHEMA, &args, &rows))
		judge_schema(d, &rows);
}
