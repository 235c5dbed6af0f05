/* drill_worker.c - the command of a drill's nodes: says that it is alive, or becomes another one.
 */
#include "app/exit.h"
#include "app/held.h"
#include "app/procfs.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/drill.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS   20000000
#define LOCK_NUMBER 44 /* shells use the low ones for themselves */
#define PID_MOST    4194304

static bool report(enum hd_drill_kind kind, int64_t token)
{
	struct hd_drill_report r = {
		.at = hd_now(),
		.token = token,
		.pid = (int32_t)getpid(),
		.kind = (int32_t)kind,
	};

	return write(STDOUT_FILENO, &r, sizeof(r)) == (ssize_t)sizeof(r);
}

/*
 * A lock on the pipe, at the byte of our number, through an open file of our own: the kernel takes
 * it away when this process and all that inherit its descriptor are dead, and not before.
 */
static int lock_own(void)
{
	struct flock own = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = getpid(), .l_len = 1
	};
	int opened = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	int fd = opened >= 0 ? fcntl(opened, F_DUPFD, LOCK_NUMBER) : -1;

	if (opened >= 0)
		(void)close(opened);
	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &own) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Stopped, so that it does nothing: a lease may well be over while it is. */
static bool stands_still(off_t pid)
{
	struct hd_procfs_stat st;

	return hd_procfs_stat((pid_t)pid, &st) && st.state == 'T';
}

/* No other command holds a lock between these bytes, but for those that stand still. */
static bool alone(int fd, off_t from, off_t to)
{
	struct flock other = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from + 1
	};

	if (from > to)
		return true;
	if (fcntl(fd, F_OFD_GETLK, &other) != 0)
		return false;
	if (other.l_type == F_UNLCK)
		return true;
	return stands_still(other.l_start) && alone(fd, from, other.l_start - 1) &&
	       alone(fd, other.l_start + 1, to);
}

static bool trusted(void)
{
	hd_mono deadline;

	return hd_held_read(&deadline, NULL) == HD_OK && hd_before(hd_now(), deadline);
}

static int live(int64_t token)
{
	static const struct timespec period = { 0, PERIOD_NS };

	while (!trusted() || report(HD_DRILL_ALIVE, token))
		(void)nanosleep(&period, NULL);
	return HD_EXIT_BUG;
}

/* What it prints is nobody's business here; what it complains of is read by the drill. */
static int become(char *const *command)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct hd_error err = { 0 };
	int code;

	if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		(void)execvp(command[0], command);
	code = errno == ENOENT ? HD_EXIT_NOT_FOUND : HD_EXIT_CANNOT_RUN;
	(void)hd_fail_errno(&err, HD_REFUSED, "%s can't be started", command[0]);
	return hd_complain_with(&err, code);
}

int hd_drill_worker_main(char *const *command)
{
	const char *text = getenv("HOWDAH_TOKEN");
	int64_t token = text != NULL ? strtoll(text, NULL, 10) : 0;
	struct hd_error err = { 0 };
	bool only;
	int lock;

	if (token == 0 || isatty(STDOUT_FILENO)) {
		(void)hd_fail(&err, HD_REFUSED,
		              "drill-worker is a command of `howdah demo` and `howdah verify`");
		return hd_complain(&err);
	}
	lock = lock_own();
	only = lock >= 0 && alone(lock, 1, PID_MOST);
	if (!report(only ? HD_DRILL_UP : HD_DRILL_SECOND, token) || !only)
		return HD_EXIT_BUG;
	return command != NULL ? become(command) : live(token);
}
