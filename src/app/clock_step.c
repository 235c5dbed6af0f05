#include "app/clock_step.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int arm(int fd)
{
	/* Never due: only the cancellation matters. */
	struct itimerspec far = { .it_value = { .tv_sec = INT32_MAX } };

	return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
}

int hd_clock_step_open(void)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && arm(fd) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

bool hd_clock_step_seen(int fd)
{
	uint64_t expirations;

	if (fd < 0 || read(fd, &expirations, sizeof(expirations)) >= 0 || errno != ECANCELED)
		return false;
	(void)arm(fd);
	return true;
}
