#include "view/view.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define GAP       2  /* blanks between columns */
#define NARROWEST 8  /* a column that must give way keeps so much */
#define FOLD      4  /* blanks in front of a folded column */
#define LABEL_MAX 64 /* PostgreSQL's names are shorter */

static bool is_number(const struct hd_rows *rows, int column)
{
	return hd_view_kind(rows, column) == HD_KIND_NUMBER;
}

/* The name of an age or length without its _ms; false when it is none. */
static bool length_name(const struct hd_rows *rows, int column, char label[LABEL_MAX])
{
	const char *name = PQfname(rows->res, column);
	size_t n = strlen(name);
	bool length = n > 3 && strcmp(name + n - 3, "_ms") == 0;

	snprintf(label, LABEL_MAX, "%.*s", (int)(length ? n - 3 : n), name);
	return length;
}

/* What a person reads in a cell. */
static const char *cell(const struct hd_rows *rows, int row, int column, char buf[HD_AGE_TEXT])
{
	const char *text = hd_rows_text(rows, row, column);
	char label[LABEL_MAX];

	if (text == NULL)
		return "-";
	if (hd_view_kind(rows, column) == HD_KIND_BOOL)
		return hd_rows_bool(rows, row, column) ? "yes" : "no";
	if (length_name(rows, column, label))
		return hd_age_format(hd_rows_int(rows, row, column), buf);
	return text;
}

static int total_width(const struct hd_rendering *r)
{
	int total = GAP * (r->columns - 1);

	for (int c = 0; c < r->columns; c++)
		total += r->width[c];
	return total;
}

/* Takes columns from the widest text, and from the first one last: it says what the row is about.
 */
static bool give_way(struct hd_rendering *r)
{
	int widest = 0;

	for (int c = 1; c < r->columns; c++)
		if (!is_number(r->rows, c) && r->width[c] > NARROWEST &&
		    (widest == 0 || r->width[c] > r->width[widest]))
			widest = c;
	if (r->width[widest] <= NARROWEST || is_number(r->rows, widest))
		return false;
	r->width[widest]--;
	return true;
}

/* A last column of text gets a line of its own before anything is cut. */
static void fit(struct hd_rendering *r)
{
	if (r->most <= 0 || total_width(r) <= r->most)
		return;
	if (r->columns > 1 && !is_number(r->rows, r->columns - 1))
		r->folded = --r->columns;
	while (total_width(r) > r->most && give_way(r))
		;
}

static void add_folded(struct hd_rendering *r, const char *text)
{
	hd_buf_printf(r->out, "%*s", FOLD, "");
	hd_text_wrap(r->out, text, FOLD, FOLD, r->most);
	hd_buf_char(r->out, '\n');
}

static void add_cell(struct hd_rendering *r, int column, const char *text)
{
	int width = r->width[column];
	bool last = column == r->columns - 1;
	int used;

	if (column > 0)
		hd_buf_printf(r->out, "%*s", GAP, "");
	if (is_number(r->rows, column))
		hd_buf_printf(r->out, "%*s", width - hd_text_add(NULL, text, width), "");
	used = hd_text_add(r->out, text, width);
	if (!is_number(r->rows, column) && !last)
		hd_buf_printf(r->out, "%*s", width - used, "");
	if (last)
		hd_buf_char(r->out, '\n');
}

static void heading(const struct hd_rows *rows, int column, char label[LABEL_MAX])
{
	length_name(rows, column, label);
	for (char *p = label; *p != '\0'; p++)
		*p = *p == '_' ? ' ' : (char)toupper((unsigned char)*p);
}

static void table_begin(struct hd_rendering *r)
{
	char label[LABEL_MAX];
	char age[HD_AGE_TEXT];

	for (int c = 0; c < r->columns; c++) {
		heading(r->rows, c, label);
		r->width[c] = (int)strlen(label);
		for (int row = 0; row < hd_rows_count(r->rows); row++) {
			int width = hd_text_add(NULL, cell(r->rows, row, c, age), 0);

			if (width > r->width[c])
				r->width[c] = width;
		}
	}
	fit(r);
	for (int c = 0; c < r->columns; c++) {
		heading(r->rows, c, label);
		add_cell(r, c, label);
	}
	if (r->folded > 0) {
		heading(r->rows, r->folded, label);
		add_folded(r, label);
	}
}

static void text_begin(struct hd_rendering *r)
{
	int all = PQnfields(r->rows->res);

	r->columns = r->view->ntext > 0 && r->view->ntext < all ? r->view->ntext : all;
	if (hd_rows_count(r->rows) == 0)
		return;
	if (r->view->shape == HD_TABLE) {
		table_begin(r);
		return;
	}
	for (int c = 0; c < r->columns; c++) {
		char label[LABEL_MAX];

		length_name(r->rows, c, label);
		if ((int)strlen(label) > r->width[0])
			r->width[0] = (int)strlen(label);
	}
}

/* A line of a record; the age of a time stands behind the time, not in a line of its own. */
static void record_line(struct hd_rendering *r, int row, int column)
{
	char label[LABEL_MAX];
	char age[HD_AGE_TEXT];
	char pair[LABEL_MAX + 3];
	int at = r->width[0] + GAP;
	int age_column;

	if (length_name(r->rows, column, label) && hd_view_column(r->rows, label) >= 0)
		return;
	snprintf(pair, sizeof(pair), "%s_ms", label);
	age_column = hd_view_column(r->rows, pair);
	for (char *p = label; *p != '\0'; p++)
		*p = *p == '_' ? ' ' : *p;
	hd_buf_printf(r->out, "%-*s", at, label);
	hd_text_wrap(r->out, cell(r->rows, row, column, age), at, at, r->most);
	if (age_column >= 0 && age_column != column &&
	    hd_rows_text(r->rows, row, age_column) != NULL)
		hd_buf_printf(r->out, " (%s ago)", cell(r->rows, row, age_column, age));
	hd_buf_char(r->out, '\n');
}

static void text_row(struct hd_rendering *r, int row)
{
	char age[HD_AGE_TEXT];

	if (r->view->shape == HD_TABLE) {
		for (int c = 0; c < r->columns; c++)
			add_cell(r, c, cell(r->rows, row, c, age));
		if (r->folded > 0 && hd_rows_text(r->rows, row, r->folded) != NULL)
			add_folded(r, cell(r->rows, row, r->folded, age));
		return;
	}
	for (int c = 0; c < r->columns; c++)
		if (hd_rows_text(r->rows, row, c) != NULL)
			record_line(r, row, c);
}

static void text_end(struct hd_rendering *r)
{
	if (hd_rows_count(r->rows) == 0)
		hd_buf_printf(r->out, "%s\n", r->view->empty);
}

const struct hd_renderer hd_render_text = { text_begin, text_row, text_end };
