/* Durations: what people write, what is refused, and that writing and reading agree. */
#include "base/duration.h"

#include "base/base.h"
#include "base/ids.h"
#include "tap.h"

static void reads_every_unit(void)
{
	static const struct {
		const char *text;
		long long ms;
	} good[] = {
		{ "0", 0 },         { "0ms", 0 },      { "500ms", 500 },
		{ "2s", 2000 },     { "5m", 300000 },  { "1h", 3600000 },
		{ "1d", 86400000 }, { "090s", 90000 }, { "366d", HD_DURATION_MAX_MS },
	};

	for (size_t i = 0; i < HD_ARRAY_SIZE(good); i++) {
		int64_t ms = -1;

		CHECK_INT(hd_duration_parse(good[i].text, &ms, NULL), HD_OK);
		CHECK_MSG(ms == good[i].ms, "%s", good[i].text);
	}
}

static void refuses_the_rest_and_says_why(void)
{
	static const char *const bad[] = {
		"",   "30",   "s",   "-1s", "1.5s",  "1 s",  " 1s",
		"1S", "1sec", "1s ", "+1s", "1h30m", "367d", "99999999999999999999s",
		"1w", "0x1s"
	};

	for (size_t i = 0; i < HD_ARRAY_SIZE(bad); i++) {
		struct hd_error err = { 0 };
		int64_t ms = 77;

		CHECK_MSG(hd_duration_parse(bad[i], &ms, &err) == HD_INVALID, "%s", bad[i]);
		CHECK_INT(ms, 77);
		CHECK_HAS(err.message, bad[i]);
	}
}

static void writes_what_it_reads(void)
{
	char text[HD_DURATION_TEXT];

	CHECK_TEXT(hd_duration_format(90000, text, sizeof(text)), "90s");
	CHECK_TEXT(hd_duration_format(1500, text, sizeof(text)), "1500ms");
	CHECK_TEXT(hd_duration_format(7200000, text, sizeof(text)), "2h");
	for (int i = 0; i < 20000; i++) {
		int64_t ms = (int64_t)(hd_random64() % (uint64_t)HD_DURATION_MAX_MS);
		int64_t again = -1;

		ms -= i % 3 == 0 ? ms % 1000 : i % 3 == 1 ? ms % 3600000 : 0;
		CHECK_INT(
		    hd_duration_parse(hd_duration_format(ms, text, sizeof(text)), &again, NULL),
		    HD_OK);
		CHECK_INT(again, ms);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(reads_every_unit),
		TAP_TEST(refuses_the_rest_and_says_why),
		TAP_TEST(writes_what_it_reads),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
