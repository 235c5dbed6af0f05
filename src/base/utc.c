#include "base/utc.h"

#include <string.h>

struct date {
	int year, month, day;
};

/*
 * A year that begins in March has its odd day at the end, so that months have lengths by a formula;
 * 719468 days lie between 0000-03-01 and 1970-01-01, 146097 in 400 years.
 */
static struct date date_of(long days)
{
	long shifted = days + 719468;
	long era = shifted / 146097;
	long in_era = shifted % 146097;
	long year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	long in_year = in_era - (365 * year + year / 4 - year / 100);
	long march_month = (5 * in_year + 2) / 153;
	struct date d = {
		.year = (int)(year + era * 400),
		.month = (int)(march_month < 10 ? march_month + 3 : march_month - 9),
		.day = (int)(in_year - (153 * march_month + 2) / 5 + 1),
	};

	d.year += d.month <= 2;
	return d;
}

static void put(char *at, int digits, long value)
{
	while (digits-- > 0) {
		at[digits] = (char)('0' + value % 10);
		value /= 10;
	}
}

void hd_utc_format(const struct timespec *t, char text[HD_UTC_TEXT])
{
	struct date d = date_of((long)(t->tv_sec / 86400));
	long second = (long)(t->tv_sec % 86400);

	memcpy(text, "0000-00-00T00:00:00.000Z", HD_UTC_TEXT);
	put(text, 4, d.year);
	put(text + 5, 2, d.month);
	put(text + 8, 2, d.day);
	put(text + 11, 2, second / 3600);
	put(text + 14, 2, second / 60 % 60);
	put(text + 17, 2, second % 60);
	put(text + 20, 3, t->tv_nsec / 1000000);
}

void hd_utc_now(char text[HD_UTC_TEXT])
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	hd_utc_format(&now, text);
}
