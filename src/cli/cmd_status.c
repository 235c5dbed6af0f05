#include "app/exit.h"
#include "base/json.h"
#include "cli/about.h"
#include "cli/command.h"
#include "pg/migrate.h"
#include <string.h>

/* The sections of a status, each as far as it could be read; `code` is what the command ends with.
 */
struct status {
	const struct hd_config *config;
	struct hd_session *session;
	hd_mono deadline;
	struct hd_buf out;
	int code;
};

static bool reads(struct status *s, int code)
{
	if (code != HD_EXIT_OK && s->code == HD_EXIT_OK)
		s->code = code;
	return code == HD_EXIT_OK;
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
	if (!reads(s, hd_show_ask(s->session, HD_VIEW_SERVER, NULL, s->deadline, &rows)))
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
	return reads(s, code);
}

/* Whether roles can be asked for. */
static bool schema(struct status *s)
{
	struct hd_args args = { 0 };
	struct hd_error err = { 0 };
	HD_ROWS present = { 0 };
	HD_ROWS rows = { 0 };

	if (hd_exec(s->session, HD_SQL_SCHEMA_PRESENT, NULL, s->deadline, &present, &err) != HD_OK)
		return reads(s, hd_complain(&err));
	if (!hd_rows_bool(&present, 0, 0))
		return no_schema(s, HD_EXIT_CONFIG, "missing",
		                 "missing in this database; create it: howdah init");
	if (!hd_rows_bool(&present, 0, 1))
		return no_schema(s, HD_EXIT_REFUSED, "hidden",
		                 "there, but not for this user; grant it howdah_reader or "
		                 "howdah_worker");
	hd_arg_int(&args, hd_migrate_latest());
	hd_arg_text(&args, hd_function_set);
	if (!reads(s, hd_show_ask(s->session, HD_VIEW_SCHEMA, &args, s->deadline, &rows)))
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
	if (readable)
		heading(s, "roles");
	else if (s->config->json)
		hd_json_text(&s->out, "roles", NULL);
	if (!readable || reads(s, hd_show_roles(s->config, s->session, s->deadline, &s->out)))
		return;
	hd_buf_text(&s->out, s->config->json ? "null" : "The roles can't be read.\n");
}

static void nodes(struct status *s)
{
	HD_ROWS rows = { 0 };

	heading(s, "nodes");
	if (reads(s, hd_show_ask(s->session, HD_VIEW_NODES, NULL, s->deadline, &rows)))
		hd_show_add(s->config, HD_VIEW_NODES, &rows, &s->out);
	else
		hd_buf_text(&s->out, s->config->json ? "null" : "");
}

int hd_cmd_status(const struct hd_config *config)
{
	struct status s = { .config = config, .deadline = hd_after(hd_now(), config->timeout_ms) };
	int code = hd_open_for_command(config, &s.session);

	if (code != HD_EXIT_OK)
		return code;
	hd_buf_init(&s.out);
	if (config->json) {
		hd_buf_char(&s.out, '{');
		hd_json_text(&s.out, "howdah", HD_VERSION);
	} else {
		line(&s, "howdah", HD_VERSION);
	}
	server(&s);
	roles(&s, schema(&s));
	nodes(&s);
	if (config->json)
		hd_buf_text(&s.out, "}\n");
	hd_session_close(s.session);
	code = hd_show_end(&s.out, s.code);
	hd_buf_release(&s.out);
	return code;
}
