/* howdah leader, show, history: looking. */
#include "app/exit.h"
#include "cli/about.h"
#include "cli/command.h"
#include <string.h>

/* Behind the table, each state in it that needs a word, once. */
static void add_notes(const struct hd_rows *rows, struct hd_buf *out)
{
	bool first = true;

	for (int i = 0; i < hd_rows_count(rows); i++) {
		const char *state = hd_view_text(rows, i, "state");
		const char *note = hd_about_note(state);
		bool said = false;

		for (int k = 0; k < i; k++)
			said = said || strcmp(hd_view_text(rows, k, "state"), state) == 0;
		if (note == NULL || said)
			continue;
		hd_buf_printf(out, "%s%-9s  ", first ? "\n" : "", state);
		hd_text_wrap(out, note, 11, 11, hd_show_width());
		hd_buf_char(out, '\n');
		first = false;
	}
}

hd_status hd_show_roles(const struct hd_config *config, struct hd_session *s, hd_mono deadline,
                        struct hd_buf *out, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status st;

	hd_arg_text(&args, NULL);
	st = hd_exec(s, hd_views[HD_VIEW_ROLES].stmt, &args, deadline, &rows, err);
	if (st != HD_OK)
		return st;
	hd_show_add(config, HD_VIEW_ROLES, &rows, out);
	if (!config->json)
		add_notes(&rows, out);
	return HD_OK;
}

int hd_cmd_leader_list(const struct hd_config *config)
{
	hd_mono deadline = hd_after(hd_now(), config->timeout_ms);
	struct hd_session *s = NULL;
	struct hd_error err = { 0 };
	HD_BUF out;
	int code = hd_open_for_command(config, &s);

	hd_buf_init(&out);
	if (code == HD_EXIT_OK && hd_show_roles(config, s, deadline, &out, &err) != HD_OK)
		code = hd_show_complain(&err);
	hd_session_close(s);
	if (code != HD_EXIT_OK)
		return code;
	if (config->json)
		hd_buf_char(&out, '\n');
	return hd_show_end(&out, HD_EXIT_OK);
}

int hd_cmd_leader_show(const struct hd_config *config)
{
	struct hd_about a;
	HD_BUF out;
	int code = hd_about_open(&a, config);

	hd_buf_init(&out);
	if (code == HD_EXIT_OK) {
		const char *note = hd_about_note(hd_about_text(&a, "state"));

		hd_show_add(config, HD_VIEW_ROLE, &a.row, &out);
		if (config->json)
			hd_buf_char(&out, '\n');
		else if (note != NULL)
			hd_buf_printf(&out, "\n%s: %s\n", hd_about_text(&a, "state"), note);
		code = hd_rows_bool(&a.row, 0, hd_view_column(&a.row, "led")) ? HD_EXIT_OK
		                                                              : HD_EXIT_NOT_HELD;
		code = hd_show_end(&out, code);
	}
	hd_about_close(&a);
	return code;
}

int hd_cmd_leader_history(const struct hd_config *config)
{
	struct hd_about a;
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	HD_BUF out;
	int code = hd_about_open(&a, config);

	hd_buf_init(&out);
	hd_arg_text(&args, a.role);
	hd_arg_int(&args, config->limit);
	if (code == HD_EXIT_OK)
		code = hd_show_ask(a.session, HD_VIEW_HISTORY, &args, a.deadline, &rows);
	if (code == HD_EXIT_OK) {
		hd_show_add(config, HD_VIEW_HISTORY, &rows, &out);
		if (config->json)
			hd_buf_char(&out, '\n');
		code = hd_show_end(&out, HD_EXIT_OK);
	}
	hd_about_close(&a);
	return code;
}
