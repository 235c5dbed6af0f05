#include "app/pidns.h"

#include "app/exit.h"
#include "base/base.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = errno;
	(void)close(fd);
	return error;
}

/* Nobody but ourselves, under our own numbers. */
static int map_ourselves(uid_t uid, gid_t gid)
{
	char users[64], groups[64];
	const struct {
		const char *path;
		const char *text;
	} maps[] = { { "/proc/self/uid_map", users },
		     { "/proc/self/setgroups", "deny" },
		     { "/proc/self/gid_map", groups } };
	int error = 0;

	(void)snprintf(users, sizeof(users), "%u %u 1", uid, uid);
	(void)snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
	for (size_t i = 0; i < HD_ARRAY_SIZE(maps) && error == 0; i++)
		error = write_map(maps[i].path, maps[i].text);
	return error;
}

int hd_pidns_enter(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int death_signal = 0, error;

	if (unshare(CLONE_NEWPID) == 0)
		return 0;
	if (errno != EPERM)
		return errno;
	/* A change of credentials may clear it. */
	(void)prctl(PR_GET_PDEATHSIG, &death_signal);
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		return errno;
	error = map_ourselves(uid, gid);
	if (error == 0 && prctl(PR_SET_PDEATHSIG, death_signal) != 0)
		error = errno;
	return error;
}

static int fork_and_wait(int (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(child());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int do_nothing(void)
{
	return 0;
}

static int enter_and_fork(void)
{
	int error = hd_pidns_enter();

	return error != 0 ? error : fork_and_wait(do_nothing);
}

int hd_pidns_try(void)
{
	return fork_and_wait(enter_and_fork);
}

__attribute__((noreturn)) static void be_init(pid_t command)
{
	sigset_t all;
	int status;
	pid_t pid;

	/* Signals to the process group are the command's. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	/* Or whoever reads the command's output would wait for us as well. */
	(void)close_range(0, ~0U, 0);
	(void)prctl(PR_SET_NAME, "howdah-init");
	do
		pid = waitpid(-1, &status, 0);
	while (pid != command && (pid > 0 || errno == EINTR));
	if (pid < 0)
		_exit(HD_EXIT_BUG);
	_exit(WIFSIGNALED(status) ? HD_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status));
}

int hd_pidns_leave_init(void)
{
	pid_t pid = fork();

	if (pid > 0)
		be_init(pid);
	return pid < 0 ? -1 : 0;
}
