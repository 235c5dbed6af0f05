#include <howdah/clock.h>
#include <limits.h>
#include <time.h>

hd_mono hd_now(void)
{
	struct timespec ts;
	hd_mono now;

	/* Can't fail: the clock exists since Linux 2.6.39 and the pointer is ours. */
	(void)clock_gettime(CLOCK_BOOTTIME, &ts);
	now.ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	return now;
}

int hd_ms_left(hd_mono deadline)
{
	int64_t ms = hd_ms_between(hd_now(), deadline);

	if (ms <= 0)
		return 0;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}
