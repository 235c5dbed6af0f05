/* JSON: flat objects that every reader takes, whatever bytes come in. */
#include "base/json.h"

#include "tap.h"

static struct hd_buf b;

static const char *string_of(const char *text)
{
	hd_buf_release(&b);
	hd_json_string(&b, text);
	return b.data;
}

static void escapes_what_must_be(void)
{
	CHECK_TEXT(string_of("plain"), "\"plain\"");
	CHECK_TEXT(string_of("a\"b\\c"), "\"a\\\"b\\\\c\"");
	CHECK_TEXT(string_of("\n\r\t\x01\x1b\x7f"), "\"\\n\\r\\t\\u0001\\u001b\\u007f\"");
}

static void keeps_utf8_and_replaces_the_rest(void)
{
	CHECK_TEXT(string_of("\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\x98"),
	           "\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x90\x98\"");
	CHECK_TEXT(string_of("a\xff"), "\"a\xef\xbf\xbd\"");
	CHECK_TEXT(string_of("\xc3"), "\"\xef\xbf\xbd\"");
	/* overlong, surrogate, too high */
	CHECK_TEXT(string_of("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	CHECK_TEXT(string_of("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	CHECK_TEXT(string_of("\xf4\x90\x80\x80"),
	           "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void puts_commas_where_they_belong(void)
{
	hd_buf_release(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "a", "x");
	hd_json_text(&b, "b", NULL);
	hd_json_int(&b, "c", INT64_MIN);
	hd_json_bool(&b, "d", true);
	hd_json_name(&b, "e");
	hd_buf_char(&b, '[');
	hd_buf_text(&b, "{");
	hd_json_bool(&b, "f", false);
	hd_buf_text(&b, "}]}");
	CHECK_TEXT(b.data, "{\"a\":\"x\",\"b\":null,\"c\":-9223372036854775808,\"d\":true,"
	                   "\"e\":[{\"f\":false}]}");
}

static void a_value_that_ends_with_a_bracket_is_no_place_without_comma(void)
{
	hd_buf_release(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "a", "x{");
	hd_json_text(&b, "b", "y,");
	hd_buf_char(&b, '}');
	CHECK_TEXT(b.data, "{\"a\":\"x{\",\"b\":\"y,\"}");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(escapes_what_must_be),
		TAP_TEST(keeps_utf8_and_replaces_the_rest),
		TAP_TEST(puts_commas_where_they_belong),
		TAP_TEST(a_value_that_ends_with_a_bracket_is_no_place_without_comma),
	};
	int code;

	hd_buf_init(&b);
	code = tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
	hd_buf_release(&b);
	return code;
}
