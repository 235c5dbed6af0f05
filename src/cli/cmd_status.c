#include "app/embedded.h"
#include "app/exit.h"
#include "base/backoff.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/utc.h"
#include "cli/about.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "pg/migrate.h"
#include <stdio.h>
#include <string.h>

#define AWAY_MS      250 /* the first pause while the database is away, and the longest */
#define AWAY_MOST_MS 10000

/* The sections of a status, each as far as it could be read; `code` is what the command ends with.
 */
struct status {
	const struct hd_config *config;
	struct hd_session *session;
	hd_mono deadline;
	struct hd_buf out;
	struct hd_buf troubles; /* what could not be read, for people; shown behind a picture */
	struct hd_error first;  /* the first of them */
	bool reached;           /* the database, once at least */
	int code;
};

static bool reads(struct status *s, hd_status st, struct hd_error *err)
{
	int code;

	if (st == HD_OK)
		return true;
	code = hd_show_explain(err);
	if (s->code == HD_EXIT_OK)
		s->code = code;
	if (s->troubles.len == 0)
		s->first = *err;
	if (s->config->watch)
		hd_complaint_add(&s->troubles, err);
	else
		(void)hd_complain_with(err, code);
	return false;
}

/* The rows of a view; a failure is told. */
static bool ask(struct status *s, enum hd_view_name view, const struct hd_args *args,
                struct hd_rows *ret)
{
	struct hd_error err = { 0 };
	hd_status st = hd_exec(s->session, hd_views[view].stmt, args, s->deadline, ret, &err);

	return reads(s, st, &err);
}

static void line(struct status *s, const char *label, const char *text)
{
	hd_buf_printf(&s->out, "%-8s  ", label);
	hd_text_wrap(&s->out, text, 10, 10, hd_show_width());
	hd_buf_char(&s->out, '\n');
}

static void server(struct status *s)
{
	char up[HD_AGE_TEXT];
	HD_ROWS rows = { 0 };
	HD_BUF text;

	hd_buf_init(&text);
	if (!ask(s, HD_VIEW_SERVER, NULL, &rows))
		return;
	if (s->config->json) {
		hd_json_name(&s->out, "server");
		hd_show_add(s->config, HD_VIEW_SERVER, &rows, &s->out);
		return;
	}
	hd_buf_printf(&text, "PostgreSQL %s, %s, up %s", hd_view_text(&rows, 0, "version"),
	              hd_rows_bool(&rows, 0, hd_view_column(&rows, "in_recovery")) ? "standby"
	                                                                           : "primary",
	              hd_age_format(hd_rows_int(&rows, 0, hd_view_column(&rows, "up_ms")), up));
	line(s, "server", text.data);
	hd_buf_reset(&text);
	hd_buf_printf(&text, "%s at %s, as user %s", hd_view_text(&rows, 0, "database"),
	              hd_view_text(&rows, 0, "address"), hd_view_text(&rows, 0, "user"));
	line(s, "database", text.data);
}

static void say_schema(struct status *s, const struct hd_rows *rows)
{
	const char *version = hd_view_text(rows, 0, "version");
	const char *program = hd_view_text(rows, 0, "program");
	const char *functions = hd_view_text(rows, 0, "functions");
	const char *state = hd_view_text(rows, 0, "state");
	bool newer = state != NULL && strcmp(state, "newer") == 0;
	bool current = state != NULL && strcmp(state, "current") == 0;
	HD_BUF text;

	hd_buf_init(&text);
	hd_buf_printf(&text, "version %s", version ? version : "none");
	if (current)
		hd_buf_text(&text, ", as this howdah knows it");
	else if (newer)
		hd_buf_printf(
		    &text,
		    ", made by howdah %s and newer than the %d that this howdah knows: use "
		    "that one; what follows may be incomplete",
		    program ? program : "?", hd_migrate_latest());
	else
		hd_buf_printf(&text, ", older than the %d of this howdah: howdah init",
		              hd_migrate_latest());
	if (!newer && (functions == NULL || strcmp(functions, "current") != 0))
		hd_buf_text(&text,
		            "; the server functions are those of another howdah: howdah init");
	line(s, "schema", text.data);
}

static bool no_schema(struct status *s, int code, const char *state, const char *text)
{
	if (s->config->json) {
		hd_json_name(&s->out, "schema");
		hd_buf_char(&s->out, '{');
		hd_json_text(&s->out, "state", state);
		hd_buf_char(&s->out, '}');
	} else {
		line(s, "schema", text);
	}
	if (s->code == HD_EXIT_OK)
		s->code = code;
	return false;
}

/* Whether roles can be asked for. */
static bool schema(struct status *s)
{
	struct hd_args args = { 0 };
	struct hd_error err = { 0 };
	HD_ROWS present = { 0 };
	HD_ROWS rows = { 0 };
	hd_status st =
	    hd_exec(s->session, HD_SQL_SCHEMA_PRESENT, NULL, s->deadline, &present, &err);

	if (!reads(s, st, &err))
		return false;
	if (!hd_rows_bool(&present, 0, 0))
		return no_schema(s, HD_EXIT_CONFIG, "missing",
		                 "missing in this database; create it: howdah init");
	if (!hd_rows_bool(&present, 0, 1))
		return no_schema(s, HD_EXIT_REFUSED, "hidden",
		                 "there, but not for this user; grant it howdah_reader or "
		                 "howdah_worker");
	hd_arg_int(&args, hd_migrate_latest());
	hd_arg_text(&args, hd_function_set);
	if (!ask(s, HD_VIEW_SCHEMA, &args, &rows))
		return false;
	if (s->config->json) {
		hd_json_name(&s->out, "schema");
		hd_show_add(s->config, HD_VIEW_SCHEMA, &rows, &s->out);
	} else {
		say_schema(s, &rows);
	}
	return true;
}

static void heading(struct status *s, const char *name)
{
	if (s->config->json)
		hd_json_name(&s->out, name);
	else
		hd_buf_char(&s->out, '\n');
}

static void roles(struct status *s, bool readable)
{
	struct hd_error err = { 0 };
	hd_status st;

	if (readable)
		heading(s, "roles");
	else if (s->config->json)
		hd_json_text(&s->out, "roles", NULL);
	if (!readable)
		return;
	st = hd_show_roles(s->config, s->session, s->deadline, &s->out, &err);
	if (!reads(s, st, &err))
		hd_buf_text(&s->out, s->config->json ? "null" : "The roles can't be read.\n");
}

static void nodes(struct status *s)
{
	HD_ROWS rows = { 0 };

	heading(s, "nodes");
	if (ask(s, HD_VIEW_NODES, NULL, &rows))
		hd_show_add(s->config, HD_VIEW_NODES, &rows, &s->out);
	else
		hd_buf_text(&s->out, s->config->json ? "null" : "");
}

/* The first members or lines; a picture begins with its time. */
static void begin(struct status *s)
{
	char time[HD_UTC_TEXT];

	hd_buf_reset(&s->out);
	hd_buf_reset(&s->troubles);
	hd_utc_now(time);
	if (s->config->json)
		hd_buf_char(&s->out, '{');
	if (s->config->json && s->config->watch)
		hd_json_text(&s->out, "time", time);
	else if (s->config->watch)
		line(s, "time", time);
	if (s->config->json)
		hd_json_text(&s->out, "howdah", HD_VERSION);
	else
		line(s, "howdah", HD_VERSION);
}

static void end(struct status *s)
{
	if (s->config->json && s->troubles.len > 0)
		hd_json_text(&s->out, "trouble", s->troubles.data);
	else if (s->troubles.len > 0)
		hd_buf_printf(&s->out, "\n%s", s->troubles.data);
	if (s->config->json)
		hd_buf_text(&s->out, "}\n");
}

static void render(struct status *s)
{
	begin(s);
	server(s);
	roles(s, schema(s));
	nodes(s);
	end(s);
}

static void render_away(struct status *s, const struct hd_error *err, int64_t pause_ms)
{
	char pause[HD_DURATION_TEXT];

	begin(s);
	hd_complaint_add(&s->troubles, err);
	(void)hd_duration_format(pause_ms, pause, sizeof(pause));
	hd_buf_printf(&s->troubles, "The database is away; it is tried again in %s.\n", pause);
	end(s);
}

/* Connects where that is needed and makes the next picture; answers how long it is to stand, -1:
 * there will be none. */
static int64_t picture(struct status *s, const struct hd_session_options *o,
                       struct hd_backoff *away)
{
	struct hd_error err = { 0 };
	hd_status st = HD_OK;
	int64_t pause;

	s->deadline = hd_after(hd_now(), s->config->timeout_ms);
	if (s->session == NULL)
		st = hd_session_open(o, s->deadline, &s->session, &err);
	/* What is wrong from the beginning is for whoever started this. */
	if (!s->reached && (st == HD_REFUSED || st == HD_INVALID)) {
		s->code =
		    hd_complain_with(&err, st == HD_INVALID ? HD_EXIT_CONFIG : HD_EXIT_REFUSED);
		return -1;
	}
	if (st == HD_OK) {
		s->reached = true;
		render(s);
		if (hd_session_ok(s->session)) {
			hd_backoff_reset(away);
			return s->config->interval_ms;
		}
		hd_session_close(s->session);
		s->session = NULL;
		err = s->first;
	}
	pause = hd_backoff_next(away, hd_random64());
	render_away(s, &err, pause);
	return pause;
}

static int watch(struct status *s)
{
	struct hd_session_options options;
	struct hd_embedded embedded;
	struct hd_backoff away;
	int code = hd_options_for_command(s->config, &embedded, &options);
	bool shown = true;

	if (code != HD_EXIT_OK)
		return code;
	hd_backoff_init(&away, AWAY_MS, AWAY_MOST_MS);
	hd_ending_setup();
	for (bool first = true; shown; first = false) {
		hd_mono began = hd_now();
		int64_t stands = picture(s, &options, &away);

		if (stands < 0)
			return s->code;
		hd_ending_hold();
		shown = hd_show_picture(s->config, &s->out, first);
		hd_ending_allow();
		if (shown)
			hd_ending_sleep(hd_after(began, stands));
	}
	return HD_EXIT_BUG;
}

static int once(struct status *s)
{
	int code = hd_open_for_command(s->config, &s->session);

	if (code != HD_EXIT_OK)
		return code;
	render(s);
	return hd_show_end(&s->out, s->code);
}

int hd_cmd_status(const struct hd_config *config)
{
	struct status s = { .config = config, .deadline = hd_after(hd_now(), config->timeout_ms) };
	int code;

	hd_buf_init(&s.out);
	hd_buf_init(&s.troubles);
	code = config->watch ? watch(&s) : once(&s);
	hd_session_close(s.session);
	hd_buf_release(&s.out);
	hd_buf_release(&s.troubles);
	return code;
}
