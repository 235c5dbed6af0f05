/*
 * view.h - what people look at: named queries, and the ways to render their rows.
 *
 * A view is a statement of sql/view/ whose columns follow three rules, so that one query serves all
 * renderers: times are text in UTC as in the logs; a length or an age is a bigint of milliseconds
 * in a column that ends in _ms; what a small table has no room for stands behind the first `ntext`
 * columns.
 */
#ifndef HD_VIEW_VIEW_H
#define HD_VIEW_VIEW_H

#include "base/buf.h"
#include "pg/exec.h"

#define HD_VIEW_COLUMNS_MAX 32
#define HD_AGE_TEXT         24

enum hd_view_shape {
	HD_TABLE,  /* text: a line a row; JSON: an array of objects */
	HD_RECORD, /* text: a line a column that is not null; JSON: one object, null without a row
	            */
};

struct hd_view {
	const char *name;
	enum hd_sql stmt;
	enum hd_view_shape shape;
	int ntext;         /* columns of the text table; 0: all */
	const char *empty; /* what a person should do when there are no rows */
};

enum hd_view_name {
	HD_VIEW_ROLES,   /* $1: null */
	HD_VIEW_ROLE,    /* $1: the role */
	HD_VIEW_HISTORY, /* $1: the role, $2: at most so many rows */
	HD_VIEW_NODES,
	HD_VIEW_SERVER,
	HD_VIEW_SCHEMA, /* $1: newest migration known, $2: checksum of the functions known */
};

extern const struct hd_view hd_views[]; /* by enum hd_view_name */

/* One rendering under way. */
struct hd_rendering {
	const struct hd_view *view;
	const struct hd_rows *rows;
	struct hd_buf *out;
	int most;    /* text: columns of the terminal; 0: lines may have any length */
	int columns; /* the rest is what begin works out for row and end */
	int folded;  /* text: a last column that has its own line below the others; 0: none */
	int width[HD_VIEW_COLUMNS_MAX];
};

struct hd_renderer {
	void (*begin)(struct hd_rendering *r);
	void (*row)(struct hd_rendering *r, int row);
	void (*end)(struct hd_rendering *r);
};

extern const struct hd_renderer hd_render_text; /* ends with a newline */
extern const struct hd_renderer hd_render_json; /* no newline: it may stand inside an object */

void hd_view_render(const struct hd_renderer *how, const struct hd_view *view,
                    const struct hd_rows *rows, int most, struct hd_buf *out);

/* How a value is written; by its type in PostgreSQL. */
enum hd_view_kind {
	HD_KIND_TEXT,
	HD_KIND_BOOL,
	HD_KIND_NUMBER,
	HD_KIND_JSON,
};

enum hd_view_kind hd_view_kind(const struct hd_rows *rows, int column);

/* The number of a column, -1 where the view has none of that name. */
int hd_view_column(const struct hd_rows *rows, const char *name);

/* The value under a name; NULL for null. The column exists. */
const char *hd_view_text(const struct hd_rows *rows, int row, const char *name);

/*
 * Adds `text` as it may stand on a terminal: control characters, characters that turn the direction
 * of a line and bytes that are no UTF-8 become visible (\n, \x1b, \u202e). What is wider than
 * `most` columns is cut and ends in an ellipsis (0: never). Returns the columns taken, by the width
 * tables of libpq; `out` may be NULL, to measure.
 */
int hd_text_add(struct hd_buf *out, const char *text, int most);

/*
 * Adds `text` in lines of at most `most` columns (0: one line), broken at blanks; lines behind the
 * first begin with `indent` blanks. The first one starts at column `at`. Adds no newline at the
 * end.
 */
void hd_text_wrap(struct hd_buf *out, const char *text, int at, int indent, int most);

/* A length of time at a glance, two units at most: "850ms", "45s", "3m20s", "2d4h". Returns `buf`.
 */
char *hd_age_format(int64_t ms, char buf[HD_AGE_TEXT]);

#endif
