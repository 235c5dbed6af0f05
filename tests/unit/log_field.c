/* The reader of our own log lines: what the log writes comes back, and nothing else passes. */
#include "app/log_field.h"

#include "base/json.h"
#include "tap.h"

static const char line[] = "{\"time\":\"t\",\"state\":\"waiting\",\"reason\":\"a \\\"b\\\" \\\\ \\n"
			   "\\u0001\",\"state\":\"later\",\"empty\":\"\"}";

static const char *field(const char *text, const char *name)
{
	static char ret[32];

	return hd_log_field(text, name, ret, sizeof(ret)) ? ret : NULL;
}

static void finds_a_field_by_its_whole_name(void)
{
	CHECK_TEXT(field(line, "time"), "t");
	CHECK_TEXT(field(line, "state"), "waiting"); /* the first one */
	CHECK_TEXT(field(line, "reason"), "a \"b\" \\ \n\x01");
	CHECK_TEXT(field(line, "empty"), "");
	CHECK(field(line, "stat") == NULL);
	CHECK(field(line, "states") == NULL);
}

static void takes_what_the_writer_wrote(void)
{
	static const char text[] = "\"\\\n\t\r\x02 /{}:, \xc3\xa4";
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "a", text);
	hd_json_text(&b, "b", "behind");
	hd_buf_char(&b, '}');
	CHECK_TEXT(field(b.data, "a"), text);
	CHECK_TEXT(field(b.data, "b"), "behind");
}

static void cuts_to_fit(void)
{
	char four[4];

	CHECK(hd_log_field(line, "state", four, sizeof(four)));
	CHECK_TEXT(four, "wai");
}

/* Every beginning of a line, and what is no line of ours. */
static void takes_nothing_that_is_not_whole(void)
{
	static const char *const wrong[] = { "",
		                             "{",
		                             "{}",
		                             "[\"a\"]",
		                             "{\"a\"}",
		                             "{\"a\":1,\"b\":\"x\"}",
		                             "{\"a\":\"\\x\",\"b\":\"x\"}",
		                             "{\"a\":\"\\u00\",\"b\":\"x\"}",
		                             "b" };
	char part[sizeof(line)], ret[8];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!hd_log_field(wrong[i], "b", ret, sizeof(ret)) && ret[0] == '\0');
	for (size_t n = 0; n < sizeof(line) - 1; n++) {
		memcpy(part, line, n);
		part[n] = '\0';
		CHECK(hd_log_field(part, "empty", ret, sizeof(ret)) == (n == sizeof(line) - 2));
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(finds_a_field_by_its_whole_name),
		TAP_TEST(takes_what_the_writer_wrote),
		TAP_TEST(cuts_to_fit),
		TAP_TEST(takes_nothing_that_is_not_whole),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
