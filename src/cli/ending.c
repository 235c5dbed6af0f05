#include "cli/ending.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t ends;
static int fd = -1;

/* Nothing has to be put in order: what was printed is out, and the server sees the socket close. */
static void end(int sig)
{
	(void)sig;
	_exit(0);
}

void hd_ending_setup(void)
{
	struct sigaction action = { .sa_handler = end };

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	hd_ending_allow();
}

void hd_ending_hold(void)
{
	(void)sigprocmask(SIG_BLOCK, &ends, NULL);
}

void hd_ending_allow(void)
{
	(void)sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

int hd_ending_fd(void)
{
	return fd;
}

void hd_ending_sleep(hd_mono until)
{
	while (hd_before(hd_now(), until) &&
	       (poll(NULL, 0, hd_ms_left(until)) >= 0 || errno == EINTR))
		;
}
