/*
 * embedded_pid.c - which process is our postmaster.
 *
 * postmaster.pid outlives a crash, and its number may belong to somebody else by then: after a
 * boot, or in a container, where numbers are small. PostgreSQL refuses to start when a process of
 * the same user has it. So the process is believed only when its command line names our data
 * folder.
 */
#include "app/embedded_parts.h"
#include "base/base.h"
#include "base/error.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHMEM_LINE 7 /* of postmaster.pid: key and id of the shared memory */

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static void close_folder(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

/* The start of a small file, ended by NUL; its length, 0 when it can't be read. */
static size_t read_start(const char *path, char *buf, size_t size)
{
	HD_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void pidfile_path(const struct hd_place *p, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s/postmaster.pid", p->data);
}

enum owner {
	NOBODY, /* no such process */
	OURS,
	FOREIGN, /* the number belongs to another program */
};

/* Compared by file, not by name: the state folder may be reached through a link. */
static bool names_data(const struct hd_place *p, const char *args, size_t len)
{
	struct stat ours, theirs;

	if (stat(p->data, &ours) != 0)
		return false;
	for (const char *a = args; a < args + len; a += strlen(a) + 1)
		if (a[0] == '/' && stat(a, &theirs) == 0 && theirs.st_dev == ours.st_dev &&
		    theirs.st_ino == ours.st_ino)
			return true;
	return false;
}

static enum owner whose(const struct hd_place *p, pid_t pid)
{
	char path[64], args[4096];
	struct stat s;
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &s) != 0)
		return NOBODY;
	if (s.st_uid != p->uid)
		return FOREIGN;
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	len = read_start(path, args, sizeof(args));
	if (len == 0) /* a zombie, which PostgreSQL takes for a living one */
		return FOREIGN;
	return names_data(p, args, len) ? OURS : FOREIGN;
}

static pid_t pid_of(const char *text)
{
	long pid = strtol(text, NULL, 10);

	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

pid_t hd_cluster_pid(const struct hd_place *p)
{
	char path[sizeof(p->data) + 16], text[512];
	pid_t pid;

	pidfile_path(p, path, sizeof(path));
	if (read_start(path, text, sizeof(text)) == 0)
		return 0;
	pid = pid_of(text);
	return pid != 0 && whose(p, pid) == OURS ? pid : 0;
}

/* Backends of a dead postmaster may still write to the data. */
static bool memory_in_use(const char *pidfile_text)
{
	const char *line = pidfile_text;
	struct shmid_ds ds;
	char *id = NULL;

	for (int i = 1; i < SHMEM_LINE && line != NULL; i++) {
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	if (line == NULL || strtoll(line, &id, 10) == 0)
		return false; /* it died before it had any */
	if (shmctl((int)strtol(id, NULL, 10), IPC_STAT, &ds) == 0)
		return ds.shm_nattch > 0;
	return errno != EINVAL && errno != EIDRM;
}

void hd_cluster_forget(const struct hd_place *p)
{
	char path[sizeof(p->data) + 16], text[512];
	char socket_lock[sizeof(p->folder) + sizeof(HD_SOCKET_NAME) + 8];
	pid_t pid;

	pidfile_path(p, path, sizeof(path));
	if (read_start(path, text, sizeof(text)) == 0)
		return;
	pid = pid_of(text);
	if (pid == 0 || whose(p, pid) != FOREIGN || memory_in_use(text))
		return;
	(void)snprintf(socket_lock, sizeof(socket_lock), "%s" HD_SOCKET_NAME ".lock", p->folder);
	(void)unlink(socket_lock);
	(void)unlink(path); /* last: without it we would not look again */
}

static bool works_on(const struct hd_place *p, pid_t pid)
{
	char path[64], name[16];
	struct stat ours, theirs, process;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &process) != 0 || process.st_uid != p->uid)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (read_start(path, name, sizeof(name)) == 0 || strcmp(name, "postgres\n") != 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	return stat(path, &theirs) == 0 && stat(p->data, &ours) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static void end_orphan(const struct hd_place *p, pid_t pid)
{
	HD_CLEANUP(close_fd) int fd = works_on(p, pid) ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (fd >= 0 && works_on(p, pid))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

void hd_cluster_end_orphans(const struct hd_place *p)
{
	HD_CLEANUP(close_folder) DIR *proc = NULL;
	char path[sizeof(p->data) + 16], text[512];
	const struct dirent *e;

	pidfile_path(p, path, sizeof(path));
	/* A negative number is that of a single-user server, somebody's repair. */
	if (read_start(path, text, sizeof(text)) == 0 || pid_of(text) == 0 ||
	    hd_cluster_pid(p) != 0)
		return;
	proc = opendir("/proc");
	while (proc != NULL && (e = readdir(proc)) != NULL)
		if (pid_of(e->d_name) != 0)
			end_orphan(p, pid_of(e->d_name));
}

hd_status hd_cluster_stop(const struct hd_place *p, int sig, hd_mono deadline, struct hd_error *err)
{
	pid_t pid = hd_cluster_pid(p);
	HD_CLEANUP(close_fd) int fd = -1;
	struct pollfd end = { .events = POLLIN };
	int n;

	if (pid == 0)
		return HD_OK;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno == ESRCH)
		return HD_OK;
	if (fd < 0 || hd_cluster_pid(p) != pid ||
	    syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) != 0)
		return hd_fail_errno(err, HD_REFUSED, "can't stop the server, process %d",
		                     (int)pid);
	end.fd = fd;
	do {
		n = poll(&end, 1, hd_ms_left(deadline));
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		return HD_OK;
	hd_fail(err, HD_TIMEOUT, "the server, process %d, has not stopped yet", (int)pid);
	hd_hint(err, "%s says what it waits for", p->log);
	return HD_TIMEOUT;
}
