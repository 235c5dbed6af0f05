#include "app/spawn.h"

#include "app/cgroup.h"
#include "app/pidns.h"
#include "base/base.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child writes before it gives up; the exec closes the pipe without a word. */
struct refusal {
	int error;
	char step[16];
};

/* Everything the child needs, made before the fork: behind it nothing allocates. */
struct plan {
	const struct hd_spawn_options *o;
	char **env; /* NULL: environ */
	pid_t parent;
	int tell;   /* write end of the pipe */
	int listen; /* the parent's end of it */
};

void hd_spawn_options_init(struct hd_spawn_options *o)
{
	*o = (struct hd_spawn_options){
		.in = HD_SPAWN_INHERIT,
		.out = HD_SPAWN_INHERIT,
		.err = HD_SPAWN_INHERIT,
		.terminal = -1,
		.cgroup = -1,
	};
}

__attribute__((noreturn)) static void give_up(int tell, const char *step)
{
	struct refusal why = { .error = errno };

	strncpy(why.step, step, sizeof(why.step) - 1);
	(void)!write(tell, &why, sizeof(why));
	_exit(127);
}

/* ---- in the child ---- */

static void reset_signals(int tell)
{
	/* All zero is "default" in the kernel's own struct, whose size differs between machines.
	   The call is the kernel's too: libc keeps two signals from us that a parent may have
	   ignored. */
	static const char dfl[64];
	sigset_t none;

	/* Fails for KILL and STOP: as it should. */
	for (int sig = 1; sig < NSIG; sig++)
		(void)syscall(SYS_rt_sigaction, sig, dfl, NULL, NSIG / 8);
	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		give_up(tell, "signal mask");
}

static void become_user(const struct plan *p)
{
	const struct hd_spawn_options *o = p->o;

	if (o->as_user && (setgroups(1, &o->gid) != 0 || setresgid(o->gid, o->gid, o->gid) != 0 ||
	                   setresuid(o->uid, o->uid, o->uid) != 0))
		give_up(p->tell, "change of user");
	if (o->cwd != NULL && chdir(o->cwd) != 0)
		give_up(p->tell, "chdir");
}

/* A parent outside of our pid namespace has no number here; that it reads its pipe shows it. */
static bool parent_is_gone(const struct plan *p)
{
	struct pollfd pipe = { .fd = p->tell };

	if (!p->o->pidns)
		return getppid() != p->parent;
	return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

/* A change of user clears the death signal, so it is asked for after one. */
static void die_with_parent(const struct plan *p)
{
	if (p->o->death_signal == 0)
		return;
	if (prctl(PR_SET_PDEATHSIG, p->o->death_signal) != 0)
		give_up(p->tell, "death signal");
	/* A parent that was gone before will never send it. */
	if (parent_is_gone(p))
		_exit(127);
}

static void join_group(const struct plan *p)
{
	if (!p->o->own_group)
		return;
	if (setpgid(0, 0) != 0)
		give_up(p->tell, "process group");
	/* All signals are still blocked, or SIGTTOU would stop us here. */
	if (p->o->terminal >= 0)
		(void)tcsetpgrp(p->o->terminal, getpid());
}

/* A copy out of the way of every number that is about to be filled. */
static int lift(int tell, int fd, int above)
{
	int high = fd == HD_SPAWN_NULL ? open("/dev/null", O_RDWR | O_CLOEXEC) : fd;

	if (high >= 0)
		high = fcntl(high, F_DUPFD_CLOEXEC, above);
	if (high < 0)
		give_up(tell, "descriptors");
	return high;
}

static void place_descriptors(struct plan *p)
{
	const struct hd_spawn_options *o = p->o;
	struct hd_spawn_fd moves[HD_SPAWN_FDS_MAX + 3];
	const int streams[] = { o->in, o->out, o->err };
	size_t n = 0;
	int above = 3;

	for (int i = 0; i < 3; i++)
		if (streams[i] != HD_SPAWN_INHERIT)
			moves[n++] = (struct hd_spawn_fd){ streams[i], i };
	for (size_t i = 0; i < o->nfds; i++)
		moves[n++] = o->fds[i];
	for (size_t i = 0; i < n; i++)
		above = moves[i].to >= above ? moves[i].to + 1 : above;
	p->tell = lift(p->tell, p->tell, above);
	for (size_t i = 0; i < n; i++)
		moves[i].from = lift(p->tell, moves[i].from, above);
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		give_up(p->tell, "close_range");
	for (size_t i = 0; i < n; i++)
		if (dup2(moves[i].from, moves[i].to) < 0)
			give_up(p->tell, "descriptors");
}

__attribute__((noreturn)) static void child(struct plan *p)
{
	const struct hd_spawn_options *o = p->o;
	char *const *env = p->env != NULL ? p->env : environ;

	(void)close(p->listen);
	join_group(p);
	if (o->cgroup >= 0 && !hd_cgroup_join(o->cgroup))
		give_up(p->tell, "cgroup");
	place_descriptors(p);
	become_user(p);
	die_with_parent(p);
	if (o->pidns && hd_pidns_leave_init() != 0)
		give_up(p->tell, "fork");
	if (o->own_pid != NULL)
		(void)snprintf(o->own_pid, HD_SPAWN_PID_ROOM, "%d", (int)getpid());
	reset_signals(p->tell);
	if (o->path != NULL)
		(void)execve(o->path, o->argv, env);
	else
		(void)execvpe(o->argv[0], o->argv, env);
	give_up(p->tell, "exec");
}

/* ---- in the parent ---- */

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

/* Whether `changes` says something about the variable of `entry`. */
static bool is_changed(const char *entry, const char *const *changes)
{
	size_t n = name_length(entry);

	for (; *changes != NULL; changes++)
		if (name_length(*changes) == n && strncmp(*changes, entry, n) == 0)
			return true;
	return false;
}

/* An array of borrowed strings, to be freed; NULL when memory is out. */
static char **merge_environment(const char *const *changes)
{
	size_t n = 0, have = 0, more = 0;
	char **env;

	while (environ[have] != NULL)
		have++;
	while (changes[more] != NULL)
		more++;
	env = calloc(have + more + 1, sizeof(*env));
	if (env == NULL)
		return NULL;
	for (size_t i = 0; i < have; i++)
		if (!is_changed(environ[i], changes))
			env[n++] = environ[i];
	for (size_t i = 0; i < more; i++)
		if (strchr(changes[i], '=') != NULL)
			env[n++] = (char *)(uintptr_t)changes[i];
	return env;
}

static hd_status check_options(const struct hd_spawn_options *o, struct hd_error *err)
{
	if (o->argv == NULL || o->argv[0] == NULL)
		return hd_fail(err, HD_INVALID, "no program to start");
	if (o->nfds > HD_SPAWN_FDS_MAX)
		return hd_fail(err, HD_INVALID, "%zu descriptors for %s, at most %d", o->nfds,
		               o->argv[0], HD_SPAWN_FDS_MAX);
	for (size_t i = 0; i < o->nfds; i++)
		if (o->fds[i].from < 0 || o->fds[i].to < 3)
			return hd_fail(err, HD_INVALID, "descriptor %d can't be placed at %d",
			               o->fds[i].from, o->fds[i].to);
	return HD_OK;
}

/* With all signals blocked, so that none of the caller's handlers runs in the child. */
static pid_t fork_child(struct plan *p)
{
	sigset_t all, old;
	pid_t pid;
	int saved;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &old);
	pid = fork();
	saved = errno;
	if (pid == 0)
		child(p);
	/* Here as well as in the child: whoever comes first, the group exists from now on. */
	if (pid > 0 && p->o->own_group)
		(void)setpgid(pid, pid);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}

hd_status hd_spawn_begin(const struct hd_spawn_options *o, struct hd_child *ret,
                         struct hd_error *err)
{
	struct plan p = { .o = o, .parent = getpid() };
	struct hd_child c = { .pidfd = -1 };
	hd_status st = check_options(o, err);
	int pipefd[2];

	if (st != HD_OK)
		return st;
	if (o->env != NULL && (p.env = merge_environment(o->env)) == NULL)
		return hd_fail(err, HD_NOMEM, "no memory to start %s", o->argv[0]);
	if (pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) != 0) {
		free(p.env);
		return hd_fail_errno(err, HD_RETRY, "no pipe to start %s", o->argv[0]);
	}
	p.tell = pipefd[1];
	p.listen = pipefd[0];
	c.pid = fork_child(&p);
	free(p.env);
	(void)close(pipefd[1]);
	c.exec_fd = pipefd[0];
	if (c.pid < 0) {
		st = hd_fail_errno(err, HD_RETRY, "no process to start %s", o->argv[0]);
		(void)close(c.exec_fd);
		return st;
	}
	/* Not reaped yet, so the number is still its own. */
	c.pidfd = pidfd_open(c.pid, 0);
	if (c.pidfd < 0) {
		st = hd_fail_errno(err, HD_RETRY, "no pidfd for %s", o->argv[0]);
		(void)kill(c.pid, SIGKILL);
		(void)waitpid(c.pid, NULL, 0);
		(void)close(c.exec_fd);
		return st;
	}
	*ret = c;
	return HD_OK;
}

struct hd_spawn_result hd_spawn_settle(struct hd_child *child)
{
	struct hd_spawn_result result = { .settled = true };
	struct refusal why;
	ssize_t n;

	if (child->exec_fd < 0)
		return result;
	n = read(child->exec_fd, &why, sizeof(why));
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		result.settled = false;
		return result;
	}
	if (n == (ssize_t)sizeof(why)) {
		result.error = why.error;
		memcpy(result.step, why.step, sizeof(result.step));
	} else if (n < 0) {
		result.error = errno;
	}
	(void)close(child->exec_fd);
	child->exec_fd = -1;
	return result;
}

static bool poll_until(int fd, hd_mono deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, hd_ms_left(deadline));
	while ((n < 0 && errno == EINTR) || (n == 0 && hd_before(hd_now(), deadline)));
	return n > 0;
}

/*
 * Ends a child that never became the program. One that hangs in the kernel (an exec from a dead
 * file server) is not waited for longer than a second: it dies as soon as it can.
 */
static void discard(struct hd_child *c)
{
	hd_spawn_signal(c, SIGKILL);
	if (poll_until(c->pidfd, hd_after(hd_now(), 1000)))
		(void)waitpid(c->pid, NULL, WNOHANG);
	hd_spawn_close(c);
}

hd_status hd_spawn(const struct hd_spawn_options *o, hd_mono deadline, struct hd_child *ret,
                   int *ret_errno, struct hd_error *err)
{
	struct hd_child c;
	struct hd_spawn_result r;
	hd_status st = hd_spawn_begin(o, &c, err);

	if (st != HD_OK)
		return st;
	(void)poll_until(c.exec_fd, deadline);
	r = hd_spawn_settle(&c);
	if (r.settled && r.error == 0) {
		*ret = c;
		return HD_OK;
	}
	discard(&c);
	if (!r.settled)
		return hd_fail(err, HD_TIMEOUT, "%s did not start in time", o->argv[0]);
	if (ret_errno != NULL)
		*ret_errno = r.error;
	errno = r.error;
	return hd_fail_errno(err, HD_REFUSED, "%s can't be started (%s)", o->argv[0], r.step);
}

hd_status hd_spawn_wait(const struct hd_child *child, hd_mono deadline, int *ret_status,
                        struct hd_error *err)
{
	int status;
	pid_t got;

	if (!poll_until(child->pidfd, deadline))
		return hd_fail(err, HD_TIMEOUT, "process %d still runs", (int)child->pid);
	do
		got = waitpid(child->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return hd_fail_errno(err, HD_LOST, "no status of process %d", (int)child->pid);
	*ret_status = status;
	return HD_OK;
}

hd_status hd_spawn_kill(const struct hd_child *child, hd_mono deadline, int *ret_status,
                        struct hd_error *err)
{
	hd_spawn_signal(child, SIGKILL);
	return hd_spawn_wait(child, deadline, ret_status, err);
}

void hd_spawn_signal(const struct hd_child *child, int sig)
{
	if (child->pidfd >= 0)
		(void)pidfd_send_signal(child->pidfd, sig, NULL, 0);
}

void hd_spawn_close(struct hd_child *child)
{
	if (child->pid == 0)
		return;
	if (child->exec_fd >= 0)
		(void)close(child->exec_fd);
	if (child->pidfd >= 0)
		(void)close(child->pidfd);
	*child = (struct hd_child){ .pidfd = -1, .exec_fd = -1 };
}
