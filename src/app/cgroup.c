#include "app/cgroup.h"

#include "base/base.h"
#include "base/error.h"
#include "base/ids.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_PREFIX   "howdah-"
#define PATH_ROOM     1024
#define LOOK_AGAIN_MS 2
#define CLEAN_UP_MS   1000
#define CLEAN_UP_MOST 256
#define BELOW_MOST    16 /* descriptors for walking down */

/* ---- where ---- */

/* The line of /proc/self/cgroup is "0::/path" for version 2. */
static bool own_path(char *ret, size_t room)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_ROOM];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "0::/", 4) == 0 && strlen(line + 3) < room;
		if (found)
			(void)snprintf(ret, room, "%s", line + 3);
	}
	if (f != NULL)
		(void)fclose(f);
	/* "/.." is a group that lies outside of our namespace. */
	return found && strstr(ret, "/..") == NULL;
}

/* Where a mount of the root `root` at `at` shows the group `own`; false: it doesn't. */
static bool place(const char *root, const char *at, const char *own, char *ret, size_t room)
{
	size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(root, own, n) != 0 || (own[n] != '/' && own[n] != '\0') ||
	    strchr(at, '\\') != NULL)
		return false;
	return (size_t)snprintf(ret, room, "%s%s", at, strcmp(own + n, "/") != 0 ? own + n : "") <
	       room;
}

/* The folder of the group that this process is in. */
static hd_status find_own(char *ret, size_t room, struct hd_error *err)
{
	char own[PATH_ROOM], line[3 * PATH_ROOM], root[PATH_ROOM], at[PATH_ROOM];
	bool known = own_path(own, sizeof(own)), found = false;
	FILE *f = known ? fopen("/proc/self/mountinfo", "re") : NULL;

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, " - cgroup2 ") != NULL &&
		        sscanf(line, "%*d %*d %*s %1023s %1023s", root, at) == 2 &&
		        place(root, at, own, ret, room);
	if (f != NULL)
		(void)fclose(f);
	if (found)
		return HD_OK;
	(void)hd_fail(err, HD_REFUSED,
	              "this process is in no control group of version 2 that it "
	              "can see");
	hd_hint(err, "mount cgroup2 (containers: a writable one), or use --contain none");
	return HD_REFUSED;
}

/* ---- one group ---- */

static bool write_file(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	(void)close(fd);
	return good;
}

/* A short file, as text; "" when it can't be read. */
static void read_file(int folder, const char *name, char *ret, size_t room)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ret, room - 1) : 0;

	ret[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static bool is_empty(int fd)
{
	char events[256];

	read_file(fd, "cgroup.events", events, sizeof(events));
	return strstr(events, "populated 1") == NULL;
}

bool hd_cgroup_join(int fd)
{
	return write_file(fd, "cgroup.procs", "0");
}

bool hd_cgroup_end(int fd, hd_mono deadline)
{
	for (;;) {
		(void)write_file(fd, "cgroup.kill", "1");
		if (is_empty(fd))
			return true;
		if (!hd_before(hd_now(), deadline))
			return false;
		(void)poll(NULL, 0, LOOK_AGAIN_MS);
	}
}

size_t hd_cgroup_living(int fd, pid_t *ret_pids, size_t max)
{
	char text[4096], *at = text, *end;
	size_t n = 0;

	read_file(fd, "cgroup.procs", text, sizeof(text));
	for (; n < max; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		ret_pids[n++] = (pid_t)pid;
	}
	return n;
}

static int remove_folder(const char *path, const struct stat *sb, int kind, struct FTW *ftw)
{
	(void)sb;
	(void)ftw;
	if (kind == FTW_DP)
		(void)rmdir(path);
	return 0;
}

void hd_cgroup_remove(int fd)
{
	char link[64], path[PATH_ROOM];
	ssize_t n;

	if (fd < 0)
		return;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n > 0) {
		path[n] = '\0';
		(void)nftw(path, remove_folder, BELOW_MOST, FTW_DEPTH | FTW_PHYS);
	}
	(void)close(fd);
}

/* ---- making ---- */

static hd_status no_group(const char *folder, struct hd_error *err)
{
	(void)hd_fail_errno(err, HD_REFUSED, "no control group can be made in %s", folder);
	hd_hint(err,
	        "have a group delegated (systemd: Delegate=yes; containers: a writable cgroup2 "
	        "mount), or use --contain none");
	return HD_REFUSED;
}

/*
 * Open and locked, or -1. Whoever cleans up may have seen it before we had the lock, and taken it
 * away: then the name is free, or means another folder.
 */
static int open_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat mine, there;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
	    mine.st_ino == there.st_ino)
		return fd;
	(void)close(fd);
	return -1;
}

/* By its name in /proc: a copy would be the same open folder, with the same lock. */
int hd_cgroup_open_again(int fd)
{
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

hd_status hd_cgroup_make(int *ret_fd, struct hd_error *err)
{
	char folder[PATH_ROOM], path[PATH_ROOM + 64], id[HD_ID_TEXT];
	hd_status st = find_own(folder, sizeof(folder), err);
	int fd = -1;

	for (int i = 0; st == HD_OK && fd < 0 && i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/" NAME_PREFIX "%s", folder, hd_id_new(id));
		if (mkdir(path, 0755) != 0)
			return no_group(folder, err);
		fd = open_locked(path);
	}
	if (st != HD_OK)
		return st;
	if (fd < 0)
		return no_group(folder, err);
	if (faccessat(fd, "cgroup.kill", W_OK, AT_EACCESS) != 0) {
		(void)hd_fail_errno(err, HD_REFUSED, "a control group in %s can't be ended",
		                    folder);
		hd_hint(err, "that needs Linux 5.14, and a group that is not threaded; or use "
		             "--contain none");
		hd_cgroup_remove(fd);
		return HD_REFUSED;
	}
	*ret_fd = fd;
	return HD_OK;
}

/* 0, or the errno with which a child could not join. */
static int try_to_join(int fd)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(hd_cgroup_join(fd) ? 0 : errno);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

hd_status hd_cgroup_try(struct hd_error *err)
{
	int fd;
	hd_status st = hd_cgroup_make(&fd, err);

	if (st != HD_OK)
		return st;
	errno = try_to_join(fd);
	if (errno != 0) {
		st =
		    hd_fail_errno(err, HD_REFUSED, "a control group was made, but can't be joined");
		hd_hint(err, "the group of this process must be delegated as well, cgroup.procs "
		             "included (systemd: Delegate=yes); or use --contain none");
	}
	hd_cgroup_remove(fd);
	return st;
}

/* ---- what others have left ---- */

static bool clean_up_one(const char *path)
{
	int fd = open_locked(path);

	if (fd < 0)
		return false;
	(void)hd_cgroup_end(fd, hd_after(hd_now(), CLEAN_UP_MS));
	hd_cgroup_remove(fd);
	return true;
}

int hd_cgroup_clean_up(void)
{
	char folder[PATH_ROOM], path[2 * PATH_ROOM];
	DIR *d = find_own(folder, sizeof(folder), NULL) == HD_OK ? opendir(folder) : NULL;
	const struct dirent *entry;
	int n = 0;

	while (d != NULL && n < CLEAN_UP_MOST && (entry = readdir(d)) != NULL) {
		if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0 ||
		    strlen(entry->d_name) != strlen(NAME_PREFIX) + HD_ID_TEXT - 1)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		n += clean_up_one(path);
	}
	if (d != NULL)
		(void)closedir(d);
	return n;
}
