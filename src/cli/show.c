#include "cli/show.h"

#include "app/exit.h"
#include "base/error.h"
#include "cli/command.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* All zero: there is no terminal. */
static struct winsize terminal_size(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return (struct winsize){ 0 };
	return size;
}

int hd_show_width(void)
{
	return terminal_size().ws_col;
}

static bool can_clear(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

/* How much of the text fits into so many lines; the cursor stands in one below. */
static size_t fitting(const struct hd_buf *picture, int lines)
{
	const char *p = picture->data;

	for (int i = 1; lines > 0 && i < lines && (p = strchr(p, '\n')) != NULL; i++)
		p++;
	return lines > 0 && p != NULL ? (size_t)(p - picture->data) : picture->len;
}

bool hd_show_picture(const struct hd_config *config, const struct hd_buf *picture, bool first)
{
	size_t n = picture->len;

	if (!hd_buf_ok(picture))
		return false;
	if (!config->json && can_clear()) {
		(void)fputs("\033[H\033[J", stdout);
		n = fitting(picture, terminal_size().ws_row);
	} else if (!config->json && !first) {
		(void)fputc('\n', stdout);
	}
	(void)fwrite(picture->data, 1, n, stdout);
	return fflush(stdout) == 0;
}

int hd_show_ask(struct hd_session *s, enum hd_view_name view, const struct hd_args *args,
                hd_mono deadline, struct hd_rows *ret)
{
	struct hd_error err = { 0 };

	if (hd_exec(s, hd_views[view].stmt, args, deadline, ret, &err) == HD_OK)
		return HD_EXIT_OK;
	return hd_show_complain(&err);
}

void hd_show_add(const struct hd_config *config, enum hd_view_name view, const struct hd_rows *rows,
                 struct hd_buf *out)
{
	hd_view_render(config->json ? &hd_render_json : &hd_render_text, &hd_views[view], rows,
	               hd_show_width(), out);
}

int hd_show_end(const struct hd_buf *out, int code)
{
	struct hd_error err = { 0 };

	if (hd_buf_ok(out)) {
		(void)fwrite(out->data, 1, out->len, stdout);
		return code;
	}
	(void)hd_fail(&err, HD_NOMEM, "no memory for the output");
	return hd_complain(&err);
}

int hd_show_explain(struct hd_error *err)
{
	/* No such schema, table, function, column: the beginnings and ends of an upgrade. */
	static const char *const missing[] = { "3F000", "42P01", "42883", "42703" };
	char said[sizeof(err->message)];

	for (size_t i = 0; i < HD_ARRAY_SIZE(missing); i++) {
		if (strcmp(err->sqlstate, missing[i]) != 0)
			continue;
		memcpy(said, err->message, sizeof(said));
		(void)hd_fail(err, HD_REFUSED,
		              "schema howdah is missing in this database, or older than this "
		              "program: %.300s",
		              said);
		hd_hint(err, "create or upgrade it: howdah init");
		return HD_EXIT_CONFIG;
	}
	if (strcmp(err->sqlstate, "42501") == 0)
		hd_hint(err, "grant the database role howdah_reader (to look) or howdah_worker (to "
		             "lead and to act) to this user");
	return hd_exit_of(err->status);
}

int hd_show_complain(struct hd_error *err)
{
	return hd_complain_with(err, hd_show_explain(err));
}
