#include "cli/about.h"

#include "app/exit.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "core/role.h"
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 20

static const struct {
	const char *state;
	bool held;
	const char *note;
} states[] = {
	{ "leading", true, NULL },
	{ "waiting", true,
	  "holds the role; its command starts when the last leader can't be running" },
	{ "pausing", true, "told to stop; undo: howdah leader resume ROLE" },
	{ "changing", false, "a node is taking it over" },
	{ "foreign", false, "its lock is held by a session outside Howdah" },
	{ "paused", false, "stopped on all nodes; undo: howdah leader resume ROLE" },
	{ "lost", false, "its holder is gone without a word; a stand-by takes it over" },
	{ "free", false, "nobody holds it; the first node that runs it takes it" },
	{ "forgotten", false, "its key and mode are cleared; the next run registers them anew" },
};

const char *hd_about_note(const char *state)
{
	for (size_t i = 0; i < HD_ARRAY_SIZE(states); i++)
		if (strcmp(states[i].state, state) == 0)
			return states[i].note;
	return NULL;
}

bool hd_about_held(const struct hd_about *a)
{
	const char *state = hd_about_text(a, "state");

	for (size_t i = 0; i < HD_ARRAY_SIZE(states); i++)
		if (state != NULL && strcmp(states[i].state, state) == 0)
			return states[i].held;
	return false;
}

const char *hd_about_text(const struct hd_about *a, const char *column)
{
	return hd_view_text(&a->row, 0, column);
}

/* Names the nearest of the known roles, or the first few of them. */
static int unknown(struct hd_about *a)
{
	struct hd_args args = { 0 };
	struct hd_error err = { 0 };
	struct hd_nearest near;
	HD_ROWS all = { 0 };
	HD_BUF names;
	int code;

	hd_buf_init(&names);
	hd_nearest_init(&near, a->role);
	hd_arg_text(&args, NULL);
	code = hd_show_ask(a->session, HD_VIEW_ROLES, &args, a->deadline, &all);
	if (code != HD_EXIT_OK)
		return code;
	for (int i = 0; i < hd_rows_count(&all); i++) {
		const char *name = hd_view_text(&all, i, "role");

		hd_nearest_offer(&near, name);
		if (i < NAMES_MAX)
			hd_buf_printf(&names, "%s%s", i > 0 ? ", " : "", name);
	}
	(void)hd_fail(&err, HD_REFUSED, "no node has ever run a role \"%s\"", a->role);
	if (near.best != NULL)
		hd_hint(&err, "did you mean \"%s\"?", near.best);
	else if (names.len > 0)
		hd_hint(&err, "known roles: %s%s", names.data,
		        hd_rows_count(&all) > NAMES_MAX ? ", ..." : "");
	else
		hd_hint(&err, "no role has been run yet: howdah run --role %s -- COMMAND", a->role);
	if (a->config->json)
		(void)fputs("null\n", stdout);
	return hd_complain_with(&err, HD_EXIT_NOT_HELD);
}

int hd_about_read(struct hd_about *a)
{
	struct hd_args args = { 0 };
	struct hd_rows fresh = { 0 };
	int code;

	hd_arg_text(&args, a->role);
	code = hd_show_ask(a->session, HD_VIEW_ROLE, &args, a->deadline, &fresh);
	if (code != HD_EXIT_OK)
		return code;
	hd_rows_release(&a->row);
	a->row = fresh;
	return hd_rows_count(&a->row) > 0 ? HD_EXIT_OK : unknown(a);
}

int hd_about_open(struct hd_about *a, const struct hd_config *config)
{
	struct hd_error err = { 0 };
	int code;

	memset(a, 0, sizeof(*a));
	a->config = config;
	a->role = config->operand[0];
	if (hd_role_check(a->role, &err) != HD_OK)
		return hd_complain(&err);
	a->deadline = hd_after(hd_now(), config->timeout_ms);
	code = hd_open_for_command(config, &a->session);
	return code != HD_EXIT_OK ? code : hd_about_read(a);
}

void hd_about_close(struct hd_about *a)
{
	hd_rows_release(&a->row);
	hd_session_close(a->session);
	a->session = NULL;
}
