/* Rendering: the same rows as text for people and as JSON for programs. */
#include "view/view.h"

#include "tap.h"
#include <stdlib.h>

#define TEXT_OID  25
#define BOOL_OID  16
#define INT8_OID  20
#define FLOAT_OID 701
#define JSONB_OID 3802

struct column {
	const char *name;
	Oid type;
};

static void rows_make(struct hd_rows *r, int n, const struct column *columns)
{
	PGresAttDesc attrs[HD_VIEW_COLUMNS_MAX] = { { NULL } };
	char names[HD_VIEW_COLUMNS_MAX][32];

	r->res = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	for (int i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%s", columns[i].name);
		attrs[i].name = names[i];
		attrs[i].typid = columns[i].type;
	}
	CHECK(PQsetResultAttrs(r->res, n, attrs));
}

static void put(struct hd_rows *r, int row, int column, const char *text)
{
	char value[512];

	(void)snprintf(value, sizeof(value), "%s", text ? text : "");
	CHECK(PQsetvalue(r->res, row, column, text ? value : NULL, text ? (int)strlen(text) : -1));
}

static const struct hd_view table = { "t", 0, HD_TABLE, 0, "Nothing yet: do this" };
static const struct hd_view narrow = { "n", 0, HD_TABLE, 2, "" };
static const struct hd_view record = { "r", 0, HD_RECORD, 0, "" };

static void check(const struct hd_renderer *how, const struct hd_view *view,
                  const struct hd_rows *rows, int most, const char *want)
{
	HD_BUF out;

	hd_buf_init(&out);
	hd_view_render(how, view, rows, most, &out);
	CHECK_TEXT(out.data, want);
}

static void two_rows(struct hd_rows *r)
{
	static const struct column columns[] = { { "role", TEXT_OID },
		                                 { "token", INT8_OID },
		                                 { "led", BOOL_OID },
		                                 { "seen_ms", INT8_OID } };

	rows_make(r, 4, columns);
	put(r, 0, 0, "poller");
	put(r, 0, 1, "7");
	put(r, 0, 2, "t");
	put(r, 0, 3, "200000");
	put(r, 1, 0, "nightly");
	put(r, 1, 1, NULL);
	put(r, 1, 2, "f");
	put(r, 1, 3, NULL);
}

static void table_is_aligned(void)
{
	HD_ROWS r = { 0 };

	two_rows(&r);
	check(&hd_render_text, &table, &r, 0,
	      "ROLE     TOKEN  LED   SEEN\n"
	      "poller       7  yes  3m20s\n"
	      "nightly      -  no       -\n");
	check(&hd_render_text, &narrow, &r, 0, "ROLE     TOKEN\npoller       7\nnightly      -\n");
}

static void json_has_types(void)
{
	HD_ROWS r = { 0 };

	two_rows(&r);
	check(&hd_render_json, &table, &r, 0,
	      "[{\"role\":\"poller\",\"token\":7,\"led\":true,\"seen_ms\":200000},"
	      "{\"role\":\"nightly\",\"token\":null,\"led\":false,\"seen_ms\":null}]");
}

static void json_passes_json_and_quotes_nan(void)
{
	static const struct column columns[] = {
		{ "doc", JSONB_OID }, { "a", FLOAT_OID }, { "b", FLOAT_OID }, { "c", TEXT_OID }
	};
	HD_ROWS r = { 0 };

	rows_make(&r, 4, columns);
	put(&r, 0, 0, "{\"x\": [1]}");
	put(&r, 0, 1, "NaN");
	put(&r, 0, 2, "-1.5e-07");
	put(&r, 0, 3, "a\"b\n\x01");
	check(&hd_render_json, &record, &r, 0,
	      "{\"doc\":{\"x\": [1]},\"a\":\"NaN\",\"b\":-1.5e-07,\"c\":\"a\\\"b\\n\\u0001\"}");
}

static void record_skips_null_and_joins_ages(void)
{
	static const struct column columns[] = { { "role", TEXT_OID },
		                                 { "since", TEXT_OID },
		                                 { "since_ms", INT8_OID },
		                                 { "lease_ms", INT8_OID },
		                                 { "paused_by", TEXT_OID } };
	HD_ROWS r = { 0 };

	rows_make(&r, 5, columns);
	put(&r, 0, 0, "poller");
	put(&r, 0, 1, "2026-11-30T21:40:42.123Z");
	put(&r, 0, 2, "45000");
	put(&r, 0, 3, "45000");
	put(&r, 0, 4, NULL);
	check(&hd_render_text, &record, &r, 0,
	      "role       poller\n"
	      "since      2026-11-30T21:40:42.123Z (45s ago)\n"
	      "lease      45s\n");
}

static void nothing_says_what_to_do(void)
{
	static const struct column columns[] = { { "role", TEXT_OID } };
	HD_ROWS r = { 0 };

	rows_make(&r, 1, columns);
	check(&hd_render_text, &table, &r, 80, "Nothing yet: do this\n");
	check(&hd_render_json, &table, &r, 80, "[]");
	check(&hd_render_json, &record, &r, 80, "null");
}

static void three_texts(struct hd_rows *r, const char *node)
{
	static const struct column columns[] = {
		{ "role", TEXT_OID }, { "node", TEXT_OID }, { "n", INT8_OID }, { "why", TEXT_OID }
	};

	rows_make(r, 4, columns);
	put(r, 0, 0, "nightly-job");
	put(r, 0, 1, node);
	put(r, 0, 2, "123456789012");
	put(r, 0, 3, "asked to hand over by an operator");
}

static void last_text_gets_a_line_of_its_own(void)
{
	HD_ROWS r = { 0 };

	three_texts(&r, "0123456789abcdef");
	put(&r, 1, 0, "x");
	put(&r, 1, 1, NULL);
	put(&r, 1, 2, NULL);
	put(&r, 1, 3, NULL);
	check(&hd_render_text, &table, &r, 43,
	      "ROLE         NODE                         N\n"
	      "    WHY\n"
	      "nightly-job  0123456789abcdef  123456789012\n"
	      "    asked to hand over by an operator\n"
	      "x            -                            -\n");
}

static void first_column_gives_way_last(void)
{
	HD_ROWS r = { 0 };

	three_texts(&r, "0123456789abcdef");
	check(&hd_render_text, &table, &r, 37,
	      "ROLE         NODE                   N\n"
	      "    WHY\n"
	      "nightly-job  012345678\xe2\x80\xa6  123456789012\n"
	      "    asked to hand over by an operator\n");
	check(&hd_render_text, &table, &r, 30,
	      "ROLE      NODE                 N\n"
	      "    WHY\n"
	      "nightly\xe2\x80\xa6  0123456\xe2\x80\xa6  123456789012\n"
	      "    asked to hand over by an\n"
	      "    operator\n");
}

/* A wide character that does not fit leaves a column empty, and what follows stays aligned. */
static void wide_characters_keep_columns_aligned(void)
{
	HD_ROWS r = { 0 };

	three_texts(&r, "a\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5");
	check(&hd_render_text, &table, &r, 37,
	      "ROLE         NODE                   N\n"
	      "    WHY\n"
	      "nightly-job  a\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe2\x80\xa6  "
	      "123456789012\n"
	      "    asked to hand over by an operator\n");
	check(&hd_render_text, &table, &r, 36,
	      "ROLE         NODE                  N\n"
	      "    WHY\n"
	      "nightly-job  a\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5\xe2\x80\xa6   123456789012\n"
	      "    asked to hand over by an\n    operator\n");
}

static void width(const char *text, int most, const char *want, int columns)
{
	HD_BUF out;

	hd_buf_init(&out);
	CHECK_INT(hd_text_add(NULL, text, most), columns);
	CHECK_INT(hd_text_add(&out, text, most), columns);
	CHECK_TEXT(out.data, want);
}

static void text_is_as_wide_as_it_looks(void)
{
	width("abc", 0, "abc", 3);
	width("h\xc3\xa9", 0, "h\xc3\xa9", 2);
	width("e\xcc\x81", 0, "e\xcc\x81", 1);                               /* combining accent */
	width("\xe6\x97\xa5\xe6\x9c\xac", 0, "\xe6\x97\xa5\xe6\x9c\xac", 4); /* wide */
	width("\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5\xe2\x80\xa6", 3);
	width("abcdef", 4, "abc\xe2\x80\xa6", 4);
	width("abcd", 4, "abcd", 4);
}

static void nothing_reaches_the_terminal_unseen(void)
{
	width("a\nb\x1b[2J", 0, "a\\nb\\x1b[2J", 11);
	width("\x7f", 0, "\\x7f", 4);
	width("\xc2\x9b", 0, "\\u009b", 6);     /* CSI as one character */
	width("\xe2\x80\xae", 0, "\\u202e", 6); /* right to left */
	width("\xff\xc0\xaf", 0, "\\xff\\xc0\\xaf", 12);
	width("\xe2\x82", 0, "\\xe2\\x82", 8); /* cut short */
}

static void wrap(const char *text, int most, const char *want)
{
	HD_BUF out;

	hd_buf_init(&out);
	hd_text_wrap(&out, text, 2, 2, most);
	CHECK_TEXT(out.data, want);
}

static void lines_break_at_blanks(void)
{
	wrap("aa bb cc", 0, "aa bb cc");
	wrap("aa bb cc", 7, "aa bb\n  cc");
	wrap("aaaaaaaaaa b", 6, "aaaaaaaaaa\n  b");
	wrap("", 6, "");
}

static void age(int64_t ms, const char *want)
{
	char buf[HD_AGE_TEXT];

	CHECK_TEXT(hd_age_format(ms, buf), want);
}

static void ages_read_at_a_glance(void)
{
	age(0, "0ms");
	age(999, "999ms");
	age(1000, "1s");
	age(59999, "59s");
	age(60000, "1m");
	age(200000, "3m20s");
	age(3600000, "1h");
	age(7500000, "2h5m");
	age(86400000, "1d");
	age(INT64_C(187200000) + 1, "2d4h");
	age(-1500, "-1s");
	age(INT64_MIN, "-106751991167d7h");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(table_is_aligned),
		TAP_TEST(json_has_types),
		TAP_TEST(json_passes_json_and_quotes_nan),
		TAP_TEST(record_skips_null_and_joins_ages),
		TAP_TEST(nothing_says_what_to_do),
		TAP_TEST(last_text_gets_a_line_of_its_own),
		TAP_TEST(first_column_gives_way_last),
		TAP_TEST(wide_characters_keep_columns_aligned),
		TAP_TEST(text_is_as_wide_as_it_looks),
		TAP_TEST(nothing_reaches_the_terminal_unseen),
		TAP_TEST(lines_break_at_blanks),
		TAP_TEST(ages_read_at_a_glance),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
