/* demo_worker.c - the command that the demo's nodes run: it says that it is alive. */
#include "app/exit.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/demo.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 20000000

static bool report(enum hd_demo_kind kind, int64_t token)
{
	struct hd_demo_report r = {
		.at = hd_now(),
		.token = token,
		.pid = (int32_t)getpid(),
		.kind = (int32_t)kind,
	};

	return write(STDOUT_FILENO, &r, sizeof(r)) == (ssize_t)sizeof(r);
}

/*
 * A record lock on the pipe itself: it belongs to the process, not to the descriptor that all
 * commands inherit, and the kernel takes it away when the process is dead and not before.
 */
static bool alone(void)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(STDOUT_FILENO, F_SETLK, &all) == 0;
}

int hd_demo_worker_main(void)
{
	static const struct timespec period = { 0, PERIOD_NS };
	const char *text = getenv("HOWDAH_TOKEN");
	int64_t token = text != NULL ? strtoll(text, NULL, 10) : 0;
	struct hd_error err = { 0 };
	bool only;

	if (token == 0 || isatty(STDOUT_FILENO)) {
		(void)hd_fail(&err, HD_REFUSED, "demo-worker is a command of `howdah demo`");
		return hd_complain(&err);
	}
	only = alone();
	if (!report(only ? HD_DEMO_UP : HD_DEMO_SECOND, token) || !only)
		return HD_EXIT_BUG;
	while (report(HD_DEMO_ALIVE, token))
		(void)nanosleep(&period, NULL);
	return HD_EXIT_BUG;
}
