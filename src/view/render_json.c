#include "base/json.h"
#include "view/view.h"

#include <ctype.h>

/* NaN and Infinity are numbers in PostgreSQL and none in JSON. */
static bool is_finite(const char *text)
{
	return isdigit((unsigned char)text[text[0] == '-']);
}

static void value(struct hd_buf *out, enum hd_view_kind kind, const char *text)
{
	if (text == NULL)
		hd_buf_text(out, "null");
	else if (kind == HD_KIND_BOOL)
		hd_buf_text(out, text[0] == 't' ? "true" : "false");
	else if (kind == HD_KIND_JSON || (kind == HD_KIND_NUMBER && is_finite(text)))
		hd_buf_text(out, text);
	else
		hd_json_string(out, text);
}

static void json_begin(struct hd_rendering *r)
{
	if (r->view->shape == HD_TABLE)
		hd_buf_char(r->out, '[');
	else if (hd_rows_count(r->rows) == 0)
		hd_buf_text(r->out, "null");
}

static void json_row(struct hd_rendering *r, int row)
{
	hd_buf_text(r->out, row > 0 ? ",{" : "{");
	for (int c = 0; c < PQnfields(r->rows->res); c++) {
		hd_json_name(r->out, PQfname(r->rows->res, c));
		value(r->out, hd_view_kind(r->rows, c), hd_rows_text(r->rows, row, c));
	}
	hd_buf_char(r->out, '}');
}

static void json_end(struct hd_rendering *r)
{
	if (r->view->shape == HD_TABLE)
		hd_buf_char(r->out, ']');
}

const struct hd_renderer hd_render_json = { json_begin, json_row, json_end };
