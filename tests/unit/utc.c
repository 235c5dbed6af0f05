/* UTC as text, against the C library over all the years it is used for. */
#include "base/utc.h"
#include "tap.h"

static void agrees_with_the_c_library(void)
{
	for (long day = 0; day < 365L * 400; day++) {
		struct timespec t = { .tv_sec = day * 86400 + day % 86400, .tv_nsec = 987654321 };
		char want[HD_UTC_TEXT];
		char got[HD_UTC_TEXT];
		struct tm tm;

		CHECK(gmtime_r(&t.tv_sec, &tm) != NULL);
		CHECK(strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.987Z", &tm) > 0);
		hd_utc_format(&t, got);
		CHECK_TEXT(got, want);
	}
}

static void knows_the_ends_of_months(void)
{
	static const struct {
		time_t at;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 951782399, "2000-02-28T23:59:59.000Z" },
		{ 951782400, "2000-02-29T00:00:00.000Z" },
		{ 951868800, "2000-03-01T00:00:00.000Z" },
		{ 4107542399, "2100-02-28T23:59:59.000Z" },
		{ 4107542400, "2100-03-01T00:00:00.000Z" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct timespec t = { .tv_sec = rows[i].at };
		char text[HD_UTC_TEXT];

		hd_utc_format(&t, text);
		CHECK_TEXT(text, rows[i].text);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(agrees_with_the_c_library),
		TAP_TEST(knows_the_ends_of_months),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
