/* howdah leader resign, pause, resume, forget: the operator's hand. */
#include "app/exit.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/about.h"
#include "cli/command.h"

/* Calls the server function of an action: (role, reason), or (role) alone. */
static int act(struct hd_about *a, enum hd_sql stmt, bool with_reason, struct hd_rows *ret)
{
	struct hd_args args = { 0 };
	struct hd_error err = { 0 };

	hd_arg_text(&args, a->role);
	if (with_reason)
		hd_arg_text(&args, a->config->reason);
	if (hd_exec(a->session, stmt, &args, a->deadline, ret, &err) == HD_OK)
		return HD_EXIT_OK;
	return hd_show_complain(&err);
}

/* How every action ends: JSON with the role as it is now, or the sentences in `said`. */
static int done(struct hd_about *a, const char *action, bool changed, const struct hd_buf *said)
{
	HD_BUF out;

	hd_buf_init(&out);
	if (!a->config->json)
		return hd_show_end(said, HD_EXIT_OK);
	hd_buf_char(&out, '{');
	hd_json_text(&out, "action", action);
	hd_json_bool(&out, "changed", changed);
	hd_json_name(&out, "role");
	hd_show_add(a->config, HD_VIEW_ROLE, &a->row, &out);
	hd_buf_text(&out, "}\n");
	return hd_show_end(&out, HD_EXIT_OK);
}

static int nobody_holds(const struct hd_about *a)
{
	const char *state = hd_about_text(a, "state");
	const char *note = hd_about_note(state);
	struct hd_error err = { 0 };

	(void)hd_fail(&err, HD_REFUSED,
	              "no node holds role \"%s\", so nobody can be asked to resign", a->role);
	hd_hint(&err, "it is %s%s%s", state, note ? ": " : "", note ? note : "");
	return hd_complain_with(&err, HD_EXIT_NOT_HELD);
}

static int resign(struct hd_about *a, struct hd_buf *said)
{
	HD_ROWS rows = { 0 };
	const char *node = hd_about_text(a, "node");
	int code;

	if (!hd_about_held(a))
		return nobody_holds(a);
	code = act(a, HD_SQL_LEADER_RESIGN, true, &rows);
	if (code != HD_EXIT_OK)
		return code;
	if (hd_rows_text(&rows, 0, 0) == NULL)
		return nobody_holds(a);
	hd_buf_printf(said, "Node %s, which holds %s with token %s, is asked to hand over.\n",
	              node ? node : "?", a->role, hd_rows_text(&rows, 0, 0));
	hd_buf_printf(said, "Who has it next: howdah leader show %s\n", a->role);
	code = hd_about_read(a);
	return code == HD_EXIT_OK ? done(a, "resign", true, said) : code;
}

static void say_paused_already(const struct hd_about *a, struct hd_buf *said)
{
	const char *why = hd_about_text(a, "pause_reason");
	const char *when = hd_about_text(a, "paused");
	const char *who = hd_about_text(a, "paused_by");

	hd_buf_printf(said, "%s is paused already, since %s by %s", a->role, when ? when : "?",
	              who ? who : "?");
	if (why != NULL) {
		hd_buf_text(said, ": ");
		hd_text_add(said, why, 0);
	}
	hd_buf_char(said, '\n');
}

static int pause_role(struct hd_about *a, struct hd_buf *said)
{
	HD_ROWS rows = { 0 };
	bool changed;
	int code = act(a, HD_SQL_LEADER_PAUSE, true, &rows);

	if (code == HD_EXIT_OK)
		code = hd_about_read(a);
	if (code != HD_EXIT_OK)
		return code;
	changed = hd_rows_bool(&rows, 0, 0);
	if (!changed)
		say_paused_already(a, said);
	else if (hd_about_held(a))
		hd_buf_printf(
		    said, "%s is paused: node %s is told to stop, and no node starts it again.\n",
		    a->role, hd_about_text(a, "node"));
	else
		hd_buf_printf(said, "%s is paused: no node starts it.\n", a->role);
	hd_buf_printf(said, "Undo: howdah leader resume %s\n", a->role);
	return done(a, "pause", changed, said);
}

static int resume(struct hd_about *a, struct hd_buf *said)
{
	HD_ROWS rows = { 0 };
	bool changed;
	int code = act(a, HD_SQL_LEADER_RESUME, true, &rows);

	if (code == HD_EXIT_OK)
		code = hd_about_read(a);
	if (code != HD_EXIT_OK)
		return code;
	changed = hd_rows_bool(&rows, 0, 0);
	hd_buf_printf(said,
	              changed ? "%s may be led again; nodes connected for it: %s\n"
	                      : "%s was not paused; nodes connected for it: %s\n",
	              a->role, hd_about_text(a, "nodes"));
	return done(a, "resume", changed, said);
}

static int forget(struct hd_about *a, struct hd_buf *said)
{
	HD_ROWS rows = { 0 };
	bool changed = hd_about_text(a, "key") != NULL;
	int code = HD_EXIT_OK;

	if (!changed) {
		hd_buf_printf(said, "%s was forgotten already.\n", a->role);
		return done(a, "forget", false, said);
	}
	hd_buf_printf(said, "%s is forgotten: key %s and mode %s are free again.\n", a->role,
	              hd_about_text(a, "key"), hd_about_text(a, "mode"));
	hd_buf_printf(said, "The next run registers it anew; its token goes on from %s.\n",
	              hd_about_text(a, "token") ? hd_about_text(a, "token") : "0");
	code = act(a, HD_SQL_LEADER_FORGET, false, &rows);
	if (code == HD_EXIT_OK)
		code = hd_about_read(a);
	return code == HD_EXIT_OK ? done(a, "forget", true, said) : code;
}

static int run(const struct hd_config *config,
               int (*action)(struct hd_about *a, struct hd_buf *said))
{
	struct hd_about a;
	HD_BUF said;
	int code = hd_about_open(&a, config);

	hd_buf_init(&said);
	if (code == HD_EXIT_OK)
		code = action(&a, &said);
	hd_about_close(&a);
	return code;
}

int hd_cmd_leader_resign(const struct hd_config *config)
{
	return run(config, resign);
}

int hd_cmd_leader_pause(const struct hd_config *config)
{
	return run(config, pause_role);
}

int hd_cmd_leader_resume(const struct hd_config *config)
{
	return run(config, resume);
}

int hd_cmd_leader_forget(const struct hd_config *config)
{
	return run(config, forget);
}
