/* follow_change.c - from lines of the history, and the view of the role, to changes of leadership.
 */
#include "base/base.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utc.h"
#include "cli/ending.h"
#include "cli/follow.h"
#include "view/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 10 /* history, view, history again: until both say the same */

/* Anew for each statement: a command may have run for long in between. */
static hd_mono soon(const struct hd_follow *f)
{
	return hd_after(hd_now(), f->config->timeout_ms);
}

static void copy_text(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from != NULL ? from : "");
}

static const char *or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

static void add_json(const struct hd_follow *f, const char *at, struct hd_buf *b)
{
	hd_buf_char(b, '{');
	hd_json_text(b, "time", at);
	hd_json_text(b, "role", f->role);
	hd_json_text(b, "state", f->led ? "led" : "free");
	hd_json_text(b, "node", or_null(f->node));
	if (f->token != 0)
		hd_json_int(b, "token", f->token);
	else
		hd_json_text(b, "token", NULL);
	hd_json_text(b, "address", or_null(f->address));
	hd_buf_text(b, "}\n");
}

static void add_text(const struct hd_follow *f, const char *at, struct hd_buf *b)
{
	hd_buf_printf(b, "%s  %-4s  ", at, f->led ? "led" : "free");
	hd_text_add(b, f->node[0] != '\0' ? f->node : "-", 0);
	if (f->token != 0)
		hd_buf_printf(b, "  %" PRId64 "  ", f->token);
	else
		hd_buf_text(b, "  -  ");
	hd_text_add(b, f->address[0] != '\0' ? f->address : "-", 0);
	hd_buf_char(b, '\n');
}

/* One change: its line, then its command. */
static void tell(struct hd_follow *f, const char *at)
{
	char now[HD_UTC_TEXT];
	HD_BUF b;

	hd_buf_init(&b);
	hd_utc_now(now);
	(f->config->json ? add_json : add_text)(f, at != NULL ? at : now, &b);
	f->known = true;
	hd_ending_hold();
	(void)fwrite(b.data, 1, b.len, stdout);
	f->ended = fflush(stdout) != 0;
	if (!f->ended)
		hd_follow_exec(f);
	hd_ending_allow();
}

static void now_led(struct hd_follow *f, int64_t token, const char *node, const char *address,
                    const char *at)
{
	f->led = true;
	f->token = token;
	copy_text(f->node, sizeof(f->node), node);
	copy_text(f->address, sizeof(f->address), address);
	tell(f, at);
}

static void now_free(struct hd_follow *f, const char *at)
{
	f->led = false;
	tell(f, at);
}

static void take_line(struct hd_follow *f, const struct hd_rows *rows, int row)
{
	const char *event = hd_view_text(rows, row, "event");
	const char *at = hd_view_text(rows, row, "at");
	int64_t token = hd_rows_int(rows, row, hd_view_column(rows, "token"));

	/* A term leads once, so a token that is not larger was told before. */
	if (strcmp(event, "leading") == 0 && token > f->token)
		now_led(f, token, hd_view_text(rows, row, "node"),
		        hd_view_text(rows, row, "address"), at);
	else if (strcmp(event, "taken") == 0 && f->led && token > f->token)
		now_free(f, at);
	else if ((strcmp(event, "released") == 0 || strcmp(event, "ended") == 0) && f->led &&
	         token == f->token)
		now_free(f, at);
}

static hd_status read_history(struct hd_follow *f, struct hd_session *s, int *ret_lines,
                              struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status st;

	hd_arg_text(&args, f->role);
	hd_arg_int(&args, f->last);
	st = hd_exec(s, HD_SQL_LEADER_CHANGES, &args, soon(f), &rows, err);
	if (st != HD_OK)
		return st;
	*ret_lines = hd_rows_count(&rows);
	for (int i = 0; i < hd_rows_count(&rows) && !f->ended; i++) {
		take_line(f, &rows, i);
		f->last = hd_rows_int(&rows, i, hd_view_column(&rows, "id"));
	}
	return HD_OK;
}

/* Where the history begins for us: what is older is in the view. */
static hd_status find_end(struct hd_follow *f, struct hd_session *s, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS rows = { 0 };
	hd_status st;

	hd_arg_text(&args, f->role);
	hd_arg_text(&args, NULL);
	st = hd_exec(s, HD_SQL_LEADER_CHANGES, &args, soon(f), &rows, err);
	if (st == HD_OK)
		f->last = hd_rows_count(&rows) > 0
		              ? hd_rows_int(&rows, 0, hd_view_column(&rows, "id"))
		              : 0;
	return st;
}

static bool view_led(const struct hd_rows *v)
{
	return hd_rows_count(v) > 0 && hd_rows_bool(v, 0, hd_view_column(v, "led"));
}

/*
 * A term that was over is over for good. That the view may call it led once more, while the next
 * node has the lock and has not taken the row yet, is nothing to tell.
 */
static bool agrees(const struct hd_follow *f, const struct hd_rows *v)
{
	if (view_led(v))
		return hd_rows_int(v, 0, hd_view_column(v, "token")) <= f->token;
	return f->known && !f->led;
}

static void tell_first_free(struct hd_follow *f, const struct hd_rows *v)
{
	f->token = hd_rows_int(v, 0, hd_view_column(v, "led_token"));
	if (f->token != 0 && f->token == hd_rows_int(v, 0, hd_view_column(v, "token")))
		copy_text(f->node, sizeof(f->node), hd_view_text(v, 0, "last_node"));
	now_free(f, NULL);
}

/* What the view says and no history does. */
static void take_view(struct hd_follow *f, const struct hd_rows *v)
{
	if (view_led(v))
		now_led(f, hd_rows_int(v, 0, hd_view_column(v, "token")),
		        hd_view_text(v, 0, "node"), hd_view_text(v, 0, "address"),
		        f->known ? NULL : hd_view_text(v, 0, "since"));
	else if (f->known)
		now_free(f, NULL);
	else
		tell_first_free(f, v);
}

static hd_status read_view(struct hd_follow *f, struct hd_session *s, struct hd_rows *ret,
                           struct hd_error *err)
{
	struct hd_args args = { 0 };

	hd_arg_text(&args, f->role);
	return hd_exec(s, hd_views[HD_VIEW_ROLE].stmt, &args, soon(f), ret, err);
}

static hd_status unknown(struct hd_follow *f, struct hd_error *err)
{
	/* A row that was there and is not: whoever led it does no longer. */
	if (f->led)
		now_free(f, NULL);
	return hd_fail(err, HD_INVALID, "no node has run the role \"%s\" yet", f->role);
}

hd_status hd_follow_read(struct hd_follow *f, struct hd_session *s, struct hd_error *err)
{
	hd_status st = f->last < 0 ? find_end(f, s, err) : HD_OK;

	for (int round = 0; st == HD_OK && round < ROUNDS && !f->ended; round++) {
		HD_ROWS view = { 0 };
		int lines = 0;

		st = read_view(f, s, &view, err);
		/* Behind the view: what it may know already must not be told as a surprise. */
		if (st == HD_OK)
			st = read_history(f, s, &lines, err);
		if (st != HD_OK || lines > 0)
			continue;
		if (hd_rows_count(&view) == 0)
			return unknown(f, err);
		if (!agrees(f, &view))
			take_view(f, &view);
		return HD_OK;
	}
	return st;
}
