#include "app/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 64

/* Reads numbers between blanks, also where one is cut by the end of a read. */
static void read_numbers(int fd, void (*each)(pid_t, void *), void *arg)
{
	char buf[4096];
	pid_t pid = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (isdigit((unsigned char)buf[i]) && pid <= (INT_MAX - 9) / 10) {
				pid = pid * 10 + (buf[i] - '0');
			} else if (pid > 0) {
				each(pid, arg);
				pid = 0;
			}
		}
	}
	if (pid > 0)
		each(pid, arg);
}

static void children_of_thread(int task, const char *tid, void (*each)(pid_t, void *), void *arg)
{
	char path[PATH_ROOM];
	int fd;

	if (!isdigit((unsigned char)tid[0]))
		return;
	(void)snprintf(path, sizeof(path), "%.32s/children", tid);
	fd = openat(task, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	read_numbers(fd, each, arg);
	(void)close(fd);
}

void hd_procfs_children(pid_t pid, void (*each)(pid_t child, void *arg), void *arg)
{
	_Alignas(struct dirent64) char entries[2048];
	char path[PATH_ROOM];
	ssize_t n;
	int task;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	task = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (task < 0)
		return;
	/* Not readdir(3): that one allocates. */
	while ((n = getdents64(task, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(entries + at);

			children_of_thread(task, d->d_name, each, arg);
			at += d->d_reclen;
		}
	}
	(void)close(task);
}

bool hd_procfs_stat(pid_t pid, struct hd_procfs_stat *ret)
{
	char path[PATH_ROOM], buf[512];
	const char *behind;
	char state;
	int parent, group, fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	/* The name in front may hold anything, brackets included. */
	behind = strrchr(buf, ')');
	if (behind == NULL || sscanf(behind + 1, " %c %d %d", &state, &parent, &group) != 3)
		return false;
	*ret = (struct hd_procfs_stat){ .state = state, .parent = parent, .group = group };
	return true;
}
