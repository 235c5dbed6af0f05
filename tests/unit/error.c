/* Errors: one line each, cut to fit, nothing left over from the last one. */
#include "base/error.h"

#include "tap.h"
#include <errno.h>

static void fills_and_clears(void)
{
	struct hd_error err = { .sqlstate = "40001", .hint = "old" };

	CHECK_INT(hd_fail(&err, HD_REFUSED, "%s of %d", "key", 5), HD_REFUSED);
	CHECK_INT(err.status, HD_REFUSED);
	CHECK_TEXT(err.message, "key of 5");
	CHECK_TEXT(err.hint, "");
	CHECK_TEXT(err.sqlstate, "");
}

static void nobody_has_to_listen(void)
{
	CHECK_INT(hd_fail(NULL, HD_LOST, "x"), HD_LOST);
	CHECK_INT(hd_fail_errno(NULL, HD_RETRY, "x"), HD_RETRY);
	hd_hint(NULL, "x");
	hd_fail_prefix(NULL, "x");
}

static void stays_one_line(void)
{
	struct hd_error err;

	(void)hd_fail(&err, HD_INVALID, "a\nb\tc\x01");
	hd_hint(&err, "d\r\ne");
	CHECK_TEXT(err.message, "a b c ");
	CHECK_TEXT(err.hint, "d  e");
}

static void is_cut_to_fit(void)
{
	struct hd_error err;
	char text[2000];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void)hd_fail(&err, HD_INVALID, "%s", text);
	CHECK_INT(strlen(err.message), sizeof(err.message) - 1);
	errno = ENOENT;
	(void)hd_fail_errno(&err, HD_INVALID, "%s", text);
	CHECK_INT(strlen(err.message), sizeof(err.message) - 1);
	hd_hint(&err, "%s", text);
	CHECK_INT(strlen(err.hint), sizeof(err.hint) - 1);
}

static void adds_in_front_and_behind(void)
{
	struct hd_error err;

	errno = ENOENT;
	(void)hd_fail_errno(&err, HD_RETRY, "open %s", "f");
	hd_fail_prefix(&err, "file %d: ", 3);
	CHECK_TEXT(err.message, "file 3: open f: No such file or directory");
	CHECK_INT(err.status, HD_RETRY);
}

static void every_status_has_a_name(void)
{
	for (int i = HD_OK; i <= HD_NOMEM; i++)
		CHECK(strcmp(hd_status_name((hd_status)i), "unknown") != 0);
	CHECK_TEXT(hd_status_name((hd_status)99), "unknown");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(fills_and_clears),         TAP_TEST(nobody_has_to_listen),
		TAP_TEST(stays_one_line),           TAP_TEST(is_cut_to_fit),
		TAP_TEST(adds_in_front_and_behind), TAP_TEST(every_status_has_a_name),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
