/* One row a check: what is asked, and who judges the answer. */
#include "cli/doctor.h"
#include "view/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FEW_LEFT  10              /* connections: a deployment restarts several nodes at once */
#define LONG_MS   (5 * 60000)     /* a snapshot of so long is no mere query */
#define MANY_XIDS 1000000         /* so many transactions are worth a word whatever the time */
#define UNSEEN    INT64_C(100000) /* the same where the time can't be seen */

static void judge_access(struct hd_doctor *d, const char *subject, const struct hd_rows *rows)
{
	const char *user = hd_rows_text(rows, 0, 0);
	const char *roles = hd_rows_text(rows, 0, 6);
	bool super = hd_rows_bool(rows, 0, 1);
	bool use = hd_rows_bool(rows, 0, 2);

	if (super)
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "user %s is a superuser; a member of howdah_worker is enough", user);
	else if (use && hd_rows_bool(rows, 0, 4))
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL, "user %s may lead and act%s%s", user,
		              roles ? ", by " : "", roles ? roles : "");
	else if (use && hd_rows_bool(rows, 0, 3))
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "user %s may look, not lead%s%s; leading needs howdah_worker", user,
		              roles ? ", by " : "", roles ? roles : "");
	else
		hd_doctor_say(
		    d, HD_LEVEL_WARN, subject,
		    "behind howdah init: grant howdah_worker (to lead) or howdah_reader (to "
		    "look) to this user",
		    "user %s may not use schema howdah, or there is none", user);
	hd_doctor_say(
	    d, HD_LEVEL_OK, "blockers", NULL, "%s",
	    hd_rows_bool(rows, 0, 5)
		? "sessions that hold a take-over back can be ended"
		: "of the sessions that hold a take-over back only this user's own can be "
		  "ended; pg_signal_backend would allow the others'");
}

static int64_t left_of(const struct hd_rows *rows, int limit, int used, int64_t otherwise)
{
	int64_t left;

	if (hd_rows_text(rows, 0, limit) == NULL)
		return otherwise;
	left = hd_rows_int(rows, 0, limit) - hd_rows_int(rows, 0, used);
	return left < otherwise ? left : otherwise;
}

static void judge_connections(struct hd_doctor *d, const char *subject, const struct hd_rows *rows)
{
	int64_t most = hd_rows_int(rows, 0, 0);
	int64_t reserved = hd_rows_int(rows, 0, 1);
	int64_t used = hd_rows_int(rows, 0, 2);
	const char *parts = hd_rows_text(rows, 0, 4);
	int64_t left = most - reserved - used;

	left = left_of(rows, 5, 6, left);
	left = left_of(rows, 7, 8, left);
	hd_doctor_say(d, left < FEW_LEFT ? HD_LEVEL_WARN : HD_LEVEL_OK, subject,
	              left < FEW_LEFT ? "raise max_connections (or the limit of the role or "
	                                "database), or put the application behind a pooler"
	                              : NULL,
	              "%" PRId64 " of %" PRId64 " in use, %" PRId64
	              " kept for administrators, %" PRId64
	              " left for this user; Howdah has %" PRId64 "%s%s%s",
	              used, most, reserved, left > 0 ? left : 0, hd_rows_int(rows, 0, 3),
	              parts ? " (" : "", parts ? parts : "", parts ? ")" : "");
}

/* What to do about one who holds vacuum back; its name stands in between. */
static const struct {
	const char *kind, *before, *after;
} vacuum_advice[] = {
	{ "session", "end its transaction: select pg_terminate_backend(",
	  "); against the next one: idle_in_transaction_session_timeout" },
	{ "prepared transaction", "finish it: commit prepared (or rollback prepared) ", "" },
	{ "slot", "see why the consumer of ", " lags" },
	{ "unused slot", "start its consumer, or: select pg_drop_replication_slot(", ")" },
	{ "standby", "end the long query on ", ", or set hot_standby_feedback = off there" },
};

static void say_holder(struct hd_doctor *d, const char *subject, const struct hd_rows *rows,
                       int row)
{
	const char *kind = hd_rows_text(rows, row, 0);
	const char *name = hd_rows_text(rows, row, 1);
	bool timed = hd_rows_text(rows, row, 3) != NULL;
	char age[HD_AGE_TEXT];
	char advice[256] = "end it";

	for (size_t i = 0; i < HD_ARRAY_SIZE(vacuum_advice); i++)
		if (strcmp(vacuum_advice[i].kind, kind) == 0)
			(void)snprintf(advice, sizeof(advice), "%s%s%s", vacuum_advice[i].before,
			               name, vacuum_advice[i].after);
	hd_doctor_say(d, HD_LEVEL_WARN, subject, advice,
	              "held back by %s %s (%s)%s%s; its snapshot is %" PRId64 " transactions old",
	              kind, name, hd_rows_text(rows, row, 2), timed ? " for " : "",
	              timed ? hd_age_format(hd_rows_int(rows, row, 3), age) : "",
	              hd_rows_int(rows, row, 4));
}

static void judge_vacuum(struct hd_doctor *d, const char *subject, const struct hd_rows *rows)
{
	int said = 0;
	int64_t oldest = 0, hidden = 0;

	for (int row = 0; row < hd_rows_count(rows); row++) {
		bool timed = hd_rows_text(rows, row, 3) != NULL;
		int64_t xids = hd_rows_int(rows, row, 4);

		if (strcmp(hd_rows_text(rows, row, 0), "hidden") == 0) {
			hidden = xids;
			continue;
		}
		oldest = xids > oldest ? xids : oldest;
		if (xids < MANY_XIDS &&
		    (timed ? hd_rows_int(rows, row, 3) < LONG_MS : xids < UNSEEN))
			continue;
		said++;
		say_holder(d, subject, rows, row);
	}
	if (said == 0)
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "nobody holds it back for long; the oldest snapshot is %" PRId64
		              " transactions old",
		              oldest);
	if (hidden > 0)
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "sessions of other users: %" PRId64 "; since when they hold a "
		              "snapshot is hidden from this user, and shown to pg_read_all_stats",
		              hidden);
}

static void judge_replication(struct hd_doctor *d, const char *subject, const struct hd_rows *rows)
{
	const char *names = hd_rows_text(rows, 0, 0);
	int64_t standbys = hd_rows_int(rows, 0, 1);
	int64_t synchronous = hd_rows_int(rows, 0, 2);
	int64_t hidden = hd_rows_int(rows, 0, 3);
	bool waits = names != NULL && names[0] != '\0';

	if (hd_rows_bool(rows, 0, 4))
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL, "this server is a standby itself");
	else if (waits && synchronous == 0 && hidden == 0)
		hd_doctor_say(d, HD_LEVEL_WARN, subject,
		              "connect a standby of that name, or empty synchronous_standby_names",
		              "commits wait for %s, and no such standby is connected", names);
	else if (waits)
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "commits wait for %s; standbys connected: %" PRId64 "%s", names,
		              standbys,
		              hidden > 0 ? ", which of them count can't be seen by this user" : "");
	else if (standbys > 0)
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL,
		              "%" PRId64 " standbys, asynchronous: a fail-over may lose the last "
		              "commits%s",
		              standbys,
		              d->report.timeline > 0 ? "; tokens grow all the same, by the timeline"
		                                     : "");
	else
		hd_doctor_say(d, HD_LEVEL_OK, subject, NULL, "no standby is connected");
}

const struct hd_doctor_check hd_doctor_checks[] = {
	{ "settings", HD_SQL_DOCTOR_SETTINGS, hd_doctor_settings },
	{ "access", HD_SQL_DOCTOR_ACCESS, judge_access },
	{ "connections", HD_SQL_DOCTOR_CONNECTIONS, judge_connections },
	{ "vacuum", HD_SQL_DOCTOR_VACUUM, judge_vacuum },
	{ "replication", HD_SQL_DOCTOR_REPLICATION, judge_replication },
	{ NULL },
};
