#include "pg/migrate.h"

#include "base/backoff.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/point.h"
#include "pg/exec.h"
#include "pg/migrate_text.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LOCK_TIMEOUT_MS                                                                            \
	2000         /* one try; what waits in a queue for a table stops everybody behind it */
#define LEAST_MS 200 /* with less than this left no new try is begun */

struct migration {
	struct hd_session *s;
	const struct hd_migrate_options *o;
	hd_mono start;
	hd_mono deadline;
	struct hd_migrate_report report;
	struct hd_buf text; /* of the step at hand */
	char did[128];      /* words of the step, as sql/query/init_*.sql leave them */
	char blockers[300]; /* who was in the way last */
};

/* A step: what it adds to its transaction, and the crash points around its commit. */
struct step {
	const char *before_commit;
	const char *after_commit;
};
static const struct step role_step = { "init-role-before-commit", "init-role-after-commit" };
static const struct step migration_step = { "init-migration-before-commit",
	                                    "init-migration-after-commit" };
static const struct step functions_step = { "init-functions-before-commit",
	                                    "init-functions-after-commit" };

static bool did(const struct migration *m, const char *word)
{
	return strstr(m->did, word) != NULL;
}

/* Server-side bounds a little within the deadline, so that it gives up before we do; 0 would be
 * none. */
static int bound(int64_t left, int64_t less, int64_t most)
{
	int64_t ms = left - less < most ? left - less : most;

	return ms > 1 ? (int)ms : 1;
}

static hd_status begin(struct migration *m, struct hd_error *err)
{
	int64_t left = hd_ms_left(m->deadline);
	HD_BUF b;

	hd_buf_init(&b);
	hd_migrate_put_begin(&b, m->o);
	hd_buf_printf(&b,
	              "set local client_min_messages = error;\n"
	              "set local lock_timeout = %d;\n"
	              "set local statement_timeout = %d;\n",
	              bound(left, LEAST_MS / 2, LOCK_TIMEOUT_MS), bound(left, LEAST_MS / 4, left));
	if (!hd_buf_ok(&b) || !hd_buf_ok(&m->text))
		return hd_fail(err, HD_NOMEM, "out of memory");
	return hd_exec_text(m->s, b.data, NULL, m->deadline, NULL, err);
}

static hd_status try_step(struct migration *m, const struct step *step, struct hd_error *err)
{
	HD_ROWS rows = { 0 };
	hd_status st = begin(m, err);

	if (st == HD_OK)
		st = hd_exec_text(m->s, m->text.data, NULL, m->deadline, &rows, err);
	if (st == HD_OK) {
		(void)snprintf(m->did, sizeof(m->did), "%s", hd_rows_text(&rows, 0, 0));
		HD_POINT(step->before_commit);
		st = hd_exec_text(m->s, "commit", NULL, m->deadline, NULL, err);
		HD_POINT(step->after_commit);
	}
	if (st != HD_OK && hd_session_ok(m->s)) {
		hd_status undone = hd_exec_text(m->s, "rollback", NULL, m->deadline, NULL, NULL);

		(void)undone; /* the next call on this session says so */
	}
	return st;
}

/* lock_timeout, the lock of another init, statement_timeout, deadlock. */
static bool in_the_way(const struct hd_error *err)
{
	return err->status == HD_RETRY &&
	       (strcmp(err->sqlstate, "55P03") == 0 || strcmp(err->sqlstate, "57014") == 0 ||
	        strcmp(err->sqlstate, "40P01") == 0);
}

static void note_blockers(struct migration *m)
{
	hd_mono deadline = hd_after(hd_now(), 1000);
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };

	hd_arg_int(&args, hd_migrate_key());
	if (hd_exec(m->s, HD_SQL_INIT_BLOCKERS, &args, deadline, &rows, NULL) != HD_OK)
		return;
	if (hd_rows_text(&rows, 0, 0) != NULL)
		(void)snprintf(m->blockers, sizeof(m->blockers), "%s", hd_rows_text(&rows, 0, 0));
}

static hd_status give_up(const struct migration *m, struct hd_error *err)
{
	char spent[HD_DURATION_TEXT];
	char why[sizeof(err->message)];

	(void)snprintf(why, sizeof(why), "%s", err->message);
	hd_duration_format(hd_ms_between(m->start, m->deadline), spent, sizeof(spent));
	hd_fail(err, HD_RETRY, "not possible within %s: %s%s%s", spent, why,
	        m->blockers[0] != '\0' ? "; in the way: " : "", m->blockers);
	hd_hint(err, "let those transactions end, then run it again; --timeout gives it longer");
	return HD_RETRY;
}

/* Runs the step in m->text, again and again while others' locks are in the way. */
static hd_status run_step(struct migration *m, const struct step *step, struct hd_error *err)
{
	struct hd_backoff pause;

	hd_buf_text(&m->text, "select current_setting('howdah.init_did')");
	hd_backoff_init(&pause, 20, 500);
	for (;;) {
		hd_status st = try_step(m, step, err);
		int64_t ms = hd_backoff_next(&pause, hd_random64());

		if (st == HD_OK || !in_the_way(err))
			return st;
		note_blockers(m);
		if (!hd_session_ok(m->s) || hd_ms_left(m->deadline) < ms + LEAST_MS)
			return give_up(m, err);
		(void)poll(NULL, 0, (int)ms);
	}
}

static void new_step(struct migration *m)
{
	hd_buf_reset(&m->text);
	hd_migrate_put_check(&m->text);
}

static hd_status make_role(struct migration *m, const char *role, bool *ret_created,
                           struct hd_error *err)
{
	hd_status st;

	new_step(m);
	hd_migrate_put_role(&m->text, role);
	st = run_step(m, &role_step, err);
	if (st == HD_OK)
		*ret_created = did(m, "role;");
	return st;
}

static hd_status apply_migrations(struct migration *m, struct hd_error *err)
{
	hd_status st = HD_OK;

	for (const struct hd_script *x = hd_migrations; st == HD_OK && x->name != NULL; x++) {
		new_step(m);
		hd_migrate_put_schema(&m->text);
		hd_migrate_put_migration(&m->text, x);
		st = run_step(m, &migration_step, err);
		m->report.applied += st == HD_OK && did(m, "migration;");
	}
	return st;
}

static hd_status apply_functions(struct migration *m, struct hd_error *err)
{
	hd_status st;

	new_step(m);
	hd_migrate_put_schema(&m->text);
	hd_migrate_put_functions(&m->text);
	st = run_step(m, &functions_step, err);
	if (st == HD_OK) {
		m->report.functions = did(m, "functions;");
		m->report.functions_newer = did(m, "newer;");
		m->report.grants = did(m, "grants;");
	}
	return st;
}

static hd_status look_for_missing(struct migration *m, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status st;

	hd_arg_text(&args, hd_migrate_worker(m->o));
	hd_arg_text(&args, hd_migrate_reader(m->o));
	st = hd_exec(m->s, HD_SQL_INIT_MISSING, &args, m->deadline, &rows, err);
	for (int i = 0; st == HD_OK && i < hd_rows_count(&rows); i++)
		hd_buf_printf(&m->report.missing, "%s\n", hd_rows_text(&rows, i, 0));
	return st;
}

void hd_migrate_report_release(struct hd_migrate_report *r)
{
	hd_buf_release(&r->missing);
}

hd_status hd_migrate(struct hd_session *s, const struct hd_migrate_options *o, hd_mono deadline,
                     struct hd_migrate_report *ret, struct hd_error *err)
{
	struct migration m = { .s = s, .o = o, .start = hd_now(), .deadline = deadline };
	struct hd_error own = { 0 };
	hd_status st;

	if (err == NULL)
		err = &own;
	hd_buf_init(&m.text);
	hd_buf_init(&m.report.missing);
	m.report.version = hd_migrate_latest();
	st = make_role(&m, hd_migrate_worker(o), &m.report.worker_created, err);
	if (st == HD_OK)
		st = make_role(&m, hd_migrate_reader(o), &m.report.reader_created, err);
	if (st == HD_OK)
		st = apply_migrations(&m, err);
	if (st == HD_OK)
		st = apply_functions(&m, err);
	if (st == HD_OK)
		st = look_for_missing(&m, err);
	hd_buf_release(&m.text);
	if (st == HD_OK)
		*ret = m.report;
	else
		hd_migrate_report_release(&m.report);
	return st;
}
