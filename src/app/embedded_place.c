#include "app/embedded_parts.h"
#include "app/folder.h"
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SOCKET_PATH_MAX 107 /* struct sockaddr_un */
#define LOCK_STEP_NS    20000000

static const char *absolute(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] == '/' ? value : NULL;
}

static hd_status find_user(struct hd_place *p, struct hd_error *err)
{
	const struct passwd *pw;

	p->as_root = geteuid() == 0;
	if (p->as_root) {
		pw = getpwnam("postgres");
		if (pw == NULL)
			pw = getpwnam("nobody");
		if (pw == NULL || pw->pw_uid == 0) {
			hd_fail(err, HD_INVALID, "no user to run the private PostgreSQL server as");
			hd_hint(err, "PostgreSQL does not run as root: add a user named postgres");
			return HD_INVALID;
		}
	} else {
		pw = getpwuid(geteuid());
		if (pw == NULL) {
			hd_fail(err, HD_INVALID, "user %u has no name, and PostgreSQL needs one",
			        (unsigned int)geteuid());
			hd_hint(err,
			        "add the user to /etc/passwd, or name another database with --db");
			return HD_INVALID;
		}
	}
	p->uid = pw->pw_uid;
	p->gid = pw->pw_gid;
	(void)snprintf(p->user, sizeof(p->user), "%s", pw->pw_name);
	return HD_OK;
}

/* The state folder as text; longer ones than fit are refused by check_path. */
static hd_status find_state(struct hd_place *p, char *path, size_t size, struct hd_error *err)
{
	const char *wanted = getenv("HOWDAH_STATE");
	const char *home = absolute("HOME");
	const struct passwd *pw;

	if (wanted != NULL && wanted[0] != '\0') {
		if (wanted[0] != '/') {
			hd_fail(err, HD_INVALID, "HOWDAH_STATE is %s, not an absolute path",
			        wanted);
			hd_hint(err, "write it from the root, like /var/tmp/howdah");
			return HD_INVALID;
		}
		p->chosen = true;
		(void)snprintf(path, size, "%s", wanted);
	} else if (p->as_root) {
		(void)snprintf(path, size, "/var/lib/howdah");
	} else if (absolute("XDG_STATE_HOME") != NULL) {
		(void)snprintf(path, size, "%s/howdah", absolute("XDG_STATE_HOME"));
	} else {
		if (home == NULL && (pw = getpwuid(geteuid())) != NULL)
			home = pw->pw_dir;
		(void)snprintf(path, size, "%s/.local/state/howdah", home != NULL ? home : "");
	}
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	return HD_OK;
}

/* What a socket's address, PostgreSQL's list of socket folders and the shell of pg_ctl can take. */
static hd_status check_path(const char *state, struct hd_error *err)
{
	size_t most = SOCKET_PATH_MAX - strlen("/dev-server" HD_SOCKET_NAME);

	if (strlen(state) > most) {
		hd_fail(err, HD_INVALID,
		        "the state folder %s is too deep for a unix socket: %zu bytes, %zu at most",
		        state, strlen(state), most);
		hd_hint(err, "let HOWDAH_STATE name a folder with a shorter path");
		return HD_INVALID;
	}
	for (const char *c = state; *c != '\0'; c++) {
		if ((unsigned char)*c >= ' ' && strchr(",'\"\\$`", *c) == NULL)
			continue;
		hd_fail(err, HD_INVALID,
		        "the state folder %s has a character that PostgreSQL can't take in the "
		        "path of a "
		        "socket",
		        state);
		hd_hint(err, "let HOWDAH_STATE name a folder without , ' \" \\ $ ` in its path");
		return HD_INVALID;
	}
	return HD_OK;
}

hd_status hd_place_find(struct hd_place *ret, struct hd_error *err)
{
	struct hd_place p = { 0 };
	char state[PATH_MAX];
	hd_status st;

	st = find_user(&p, err);
	if (st == HD_OK)
		st = find_state(&p, state, sizeof(state), err);
	if (st == HD_OK)
		st = check_path(state, err);
	if (st != HD_OK)
		return st;
	/* Lengths were checked; the precisions only tell the compiler. */
	(void)snprintf(p.state, sizeof(p.state), "%.90s", state);
	(void)snprintf(p.folder, sizeof(p.folder), "%.90s/dev-server",
	               strcmp(state, "/") ? state : "");
	(void)snprintf(p.data, sizeof(p.data), "%s/data", p.folder);
	(void)snprintf(p.log, sizeof(p.log), "%s/server.log", p.folder);
	*ret = p;
	return HD_OK;
}

hd_status hd_place_check(const struct hd_place *p, bool *ret_exists, struct hd_error *err)
{
	struct stat s;

	if (lstat(p->folder, &s) != 0) {
		if (errno != ENOENT)
			return hd_fail_errno(err, HD_INVALID, "can't look at %s", p->folder);
		*ret_exists = false;
		return HD_OK;
	}
	/* Whoever owns this folder is who we would talk to. */
	if (!S_ISDIR(s.st_mode) || s.st_uid != p->uid || (s.st_mode & 077) != 0) {
		hd_fail(err, HD_INVALID, "%s is not a folder that only the user %s can enter",
		        p->folder, p->user);
		hd_hint(err, "remove it, or let HOWDAH_STATE name another state folder");
		return HD_INVALID;
	}
	*ret_exists = true;
	return HD_OK;
}

static bool can_pass(const struct hd_place *p, const struct stat *s)
{
	if (s->st_uid == p->uid)
		return (s->st_mode & S_IXUSR) != 0;
	return (s->st_mode & (s->st_gid == p->gid ? S_IXGRP : S_IXOTH)) != 0;
}

/*
 * Root can enter what the server's user can't. The state folder itself is opened for passing
 * through, since mktemp -d makes private ones; folders above it are somebody else's.
 */
static hd_status check_way(const struct hd_place *p, struct hd_error *err)
{
	char part[HD_EMBEDDED_FOLDER_SIZE];
	struct stat s;

	(void)snprintf(part, sizeof(part), "%s", p->folder);
	for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (stat(part, &s) != 0)
			return hd_fail_errno(err, HD_INVALID, "can't look at %s", part);
		if (!can_pass(p, &s) && strcmp(part, p->state) == 0 && s.st_uid == 0 &&
		    chmod(part, (s.st_mode & 07777) | S_IXOTH) == 0)
			(void)stat(part, &s);
		if (!can_pass(p, &s)) {
			hd_fail(err, HD_INVALID,
			        "the user %s, who runs the private server, can't pass through %s",
			        p->user, part);
			hd_hint(err, "let HOWDAH_STATE name another folder, or chmod o+x %s", part);
			return HD_INVALID;
		}
		*slash = '/';
	}
	return HD_OK;
}

/* Under a name of its own until it belongs to the server's user, so that it never looks foreign. */
static hd_status make_folder(const struct hd_place *p, struct hd_error *err)
{
	char name[HD_EMBEDDED_FOLDER_SIZE + 8];
	int failed;

	(void)snprintf(name, sizeof(name), "%s.XXXXXX", p->folder);
	if (mkdtemp(name) == NULL)
		return hd_fail_errno(err, HD_INVALID, "can't make a folder in %s", p->state);
	if (p->as_root && chown(name, p->uid, p->gid) != 0) {
		hd_fail_errno(err, HD_INVALID, "can't give %s to the user %s", name, p->user);
		(void)rmdir(name);
		return HD_INVALID;
	}
	failed = rename(name, p->folder) == 0 ? 0 : errno;
	if (failed == 0)
		return HD_OK;
	(void)rmdir(name);
	if (failed == ENOTEMPTY || failed == EEXIST) /* another process was first */
		return HD_OK;
	errno = failed;
	return hd_fail_errno(err, HD_INVALID, "can't make %s", p->folder);
}

static hd_status make(const struct hd_place *p, struct hd_error *err)
{
	hd_status st = hd_folder_make(p->state, p->as_root ? 0711 : 0700, err);

	if (st == HD_OK && p->as_root)
		st = check_way(p, err);
	if (st == HD_OK)
		st = make_folder(p, err);
	if (st == HD_OK || err == NULL)
		return st == HD_OK ? HD_OK : HD_INVALID;
	if (err->hint[0] == '\0')
		hd_hint(err, "let HOWDAH_STATE name a folder that can be written");
	return err->status = HD_INVALID;
}

static bool wait_for_lock(int fd, hd_mono deadline)
{
	static const struct timespec step = { 0, LOCK_STEP_NS };

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (!hd_before(hd_now(), deadline))
			return false;
		(void)nanosleep(&step, NULL);
	}
	return true;
}

/* HD_RETRY: another process removed the folder, and this lock file with it. */
static hd_status take_lock(const struct hd_place *p, hd_mono deadline, int *ret_fd,
                           struct hd_error *err)
{
	char path[HD_EMBEDDED_FOLDER_SIZE + 8];
	struct stat s;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/lock", p->folder);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ENOENT)
		return HD_RETRY;
	if (fd < 0)
		return hd_fail_errno(err, HD_INVALID, "can't open %s", path);
	if (!wait_for_lock(fd, deadline)) {
		(void)close(fd);
		hd_fail(err, HD_TIMEOUT,
		        "another howdah is still making, starting or stopping the server in %s",
		        p->folder);
		hd_hint(err, "try again; %s says what the server does", p->log);
		return HD_TIMEOUT;
	}
	if (fstat(fd, &s) == 0 && s.st_nlink > 0) {
		*ret_fd = fd;
		return HD_OK;
	}
	(void)close(fd);
	return HD_RETRY;
}

hd_status hd_place_lock(const struct hd_place *p, bool wanted, hd_mono deadline, int *ret_fd,
                        struct hd_error *err)
{
	do {
		bool exists = false;
		hd_status st = hd_place_check(p, &exists, err);

		if (st == HD_OK && !exists && !wanted) {
			*ret_fd = -1;
			return HD_OK;
		}
		if (st == HD_OK && !exists)
			st = make(p, err);
		if (st == HD_OK)
			st = take_lock(p, deadline, ret_fd, err);
		if (st != HD_RETRY)
			return st;
	} while (hd_before(hd_now(), deadline));
	return hd_fail(err, HD_TIMEOUT, "others made and removed %s again and again", p->folder);
}

static void close_folder(DIR **d)
{
	if (*d != NULL)
		(void)closedir(*d);
}

/* `keep` (NULL: nothing) stays. */
static hd_status clear(const struct hd_place *p, const char *prefix, const char *keep,
                       struct hd_error *err)
{
	HD_CLEANUP(close_folder) DIR *d = opendir(p->folder);
	hd_status st = HD_OK;
	const struct dirent *e;

	while (d != NULL && st == HD_OK && (e = readdir(d)) != NULL) {
		char path[sizeof(p->folder) + sizeof(e->d_name) + 1];

		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
		    strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    (keep != NULL && strcmp(e->d_name, keep) == 0))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", p->folder, e->d_name);
		st = hd_folder_remove(path, err);
	}
	return st;
}

void hd_place_clear(const struct hd_place *p, const char *prefix)
{
	(void)clear(p, prefix, NULL, NULL);
}

hd_status hd_place_remove(const struct hd_place *p, struct hd_error *err)
{
	char path[HD_EMBEDDED_FOLDER_SIZE + 16];
	hd_status st;

	hd_place_clear(p, "new.");
	/* Killed from here on, it leaves no half cluster under the name of a whole one. */
	(void)snprintf(path, sizeof(path), "%s/new.gone", p->folder);
	if (rename(p->data, path) != 0 && errno != ENOENT)
		return hd_fail_errno(err, HD_REFUSED, "can't remove %s", p->data);
	HD_POINT("dev.destroy");
	/* The lock goes last; who takes a new one from here on keeps the folder. */
	st = clear(p, "", "lock", err);
	if (st != HD_OK) {
		hd_fail_prefix(err, "in %s: ", p->folder);
		return st;
	}
	(void)snprintf(path, sizeof(path), "%s/lock", p->folder);
	(void)unlink(path);
	if (rmdir(p->folder) == 0 && !p->chosen)
		(void)rmdir(p->state); /* only when nothing else is in it */
	return HD_OK;
}
