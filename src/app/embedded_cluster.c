#include "app/embedded_parts.h"
#include "app/folder.h"
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG_MOST        (10 * 1024 * 1024)
#define TAIL_SIZE       400
#define UNCLEAN_TRIES   10
#define UNCLEAN_STEP_NS 200000000

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

hd_status hd_cluster_major(const struct hd_place *p, int *ret, struct hd_error *err)
{
	char path[sizeof(p->data) + 16], text[16] = "";
	HD_CLEANUP(close_fd) int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/PG_VERSION", p->data);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && access(p->data, F_OK) != 0) {
		*ret = 0;
		return HD_OK;
	}
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n > 0 && strtol(text, NULL, 10) > 0) {
		*ret = (int)strtol(text, NULL, 10);
		return HD_OK;
	}
	hd_fail(err, HD_INVALID, "%s is not the data of a PostgreSQL server", p->data);
	hd_hint(err, "howdah dev destroy removes it; the next use makes a new one");
	return HD_INVALID;
}

/*
 * The log of the server and of the programs that make and start it, which is emptied here when it
 * has become long. Root must not be led to another file by the server's user.
 */
static hd_status open_log(const struct hd_place *p, int *ret_fd, struct hd_error *err)
{
	int fd = open(p->log, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat s;

	if (fd < 0)
		return hd_fail_errno(err, HD_INVALID, "can't open %s", p->log);
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink == 1 &&
	    (!p->as_root || fchown(fd, p->uid, p->gid) == 0) &&
	    (s.st_size <= LOG_MOST || ftruncate(fd, 0) == 0)) {
		*ret_fd = fd;
		return HD_OK;
	}
	(void)close(fd);
	return hd_fail(err, HD_INVALID, "%s is not a file of its own", p->log);
}

static off_t end_of(int fd)
{
	off_t at = lseek(fd, 0, SEEK_END);

	return at > 0 ? at : 0;
}

/* What a failed program wrote since `from` becomes the hint. */
static void explain(const struct hd_place *p, int log, off_t from, struct hd_error *err)
{
	char text[TAIL_SIZE + 1];
	off_t end = end_of(log);
	const char *start = text;
	ssize_t n;

	if (end - from > TAIL_SIZE)
		from = end - TAIL_SIZE;
	n = pread(log, text, TAIL_SIZE, from);
	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	if (n >= TAIL_SIZE - 1 && strchr(text, '\n') != NULL)
		start = strchr(text, '\n') + 1; /* a cut line says little */
	hd_hint(err, "%.80s ends: %s", p->log, start[0] != '\0' ? start : "(nothing)");
}

static hd_status sync_folder(const char *path, struct hd_error *err)
{
	HD_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		return hd_fail_errno(err, HD_REFUSED, "can't write %s to the disk", path);
	return HD_OK;
}

/* One name a try: an initdb that outlives its killed howdah must not write into the next one's. */
static hd_status init_in(const struct hd_place *p, const struct hd_pgbin *bin, const char *name,
                         hd_mono deadline, struct hd_error *err)
{
	char program[PATH_MAX + 16];
	const char *argv[] = { program,
		               "-D",
		               name,
		               "-U",
		               "postgres",
		               "--auth-local=trust",
		               "--auth-host=reject",
		               "--no-locale",
		               "-E",
		               "UTF8",
		               "--no-instructions",
		               NULL };
	HD_CLEANUP(close_fd) int log = -1;
	hd_status st = open_log(p, &log, err);
	off_t from;

	if (st != HD_OK)
		return st;
	from = end_of(log);
	(void)snprintf(program, sizeof(program), "%s/initdb", bin->folder);
	st = hd_place_run(p, argv, log, deadline, err);
	if (st != HD_OK) {
		hd_fail_prefix(err, "can't make the private server in %s: ", p->folder);
		explain(p, log, from, err);
		return st;
	}
	HD_POINT("dev.initdb");
	if (rename(name, p->data) != 0)
		return hd_fail_errno(err, HD_REFUSED, "can't make %s", p->data);
	return sync_folder(p->folder, err);
}

hd_status hd_cluster_make(const struct hd_place *p, const struct hd_pgbin *bin, hd_mono deadline,
                          struct hd_error *err)
{
	char name[sizeof(p->folder) + 16];
	hd_status st;

	hd_place_clear(p, "new."); /* what a killed process left half made */
	(void)snprintf(name, sizeof(name), "%s/new.XXXXXX", p->folder);
	if (mkdtemp(name) == NULL)
		return hd_fail_errno(err, HD_INVALID, "can't make a folder in %s", p->folder);
	if (p->as_root && lchown(name, p->uid, p->gid) != 0)
		return hd_fail_errno(err, HD_INVALID, "can't give %s to the user %s", name,
		                     p->user);
	HD_POINT("dev.folder");
	st = init_in(p, bin, name, deadline, err);
	if (st != HD_OK)
		(void)hd_folder_remove(name, NULL);
	return st;
}

static hd_status start_once(const struct hd_place *p, const struct hd_pgbin *bin, int log,
                            hd_mono deadline, struct hd_error *err)
{
	char program[PATH_MAX + 16], seconds[16], options[512];
	const char *argv[] = { program, "start", "-D", p->data, "-l", p->log, "-o",
		               options, "-w",    "-t", seconds, "-s", NULL };

	(void)snprintf(program, sizeof(program), "%s/pg_ctl", bin->folder);
	(void)snprintf(seconds, sizeof(seconds), "%d", hd_ms_left(deadline) / 1000 + 1);
	/* On the command line, since they must be true whatever a user writes into the files. */
	(void)snprintf(options, sizeof(options),
	               "-c listen_addresses= -c port=5432 -c 'unix_socket_directories=\"%s\"' "
	               "-c unix_socket_permissions=0700 -c fsync=on -c shared_buffers=32MB "
	               "-c max_connections=200 -c max_prepared_transactions=10 "
	               "-c cluster_name=howdah-dev",
	               p->folder);
	return hd_place_run(p, argv, log, deadline, err);
}

hd_status hd_cluster_start(const struct hd_place *p, const struct hd_pgbin *bin, hd_mono deadline,
                           struct hd_error *err)
{
	static const struct timespec step = { 0, UNCLEAN_STEP_NS };
	HD_CLEANUP(close_fd) int log = -1;
	char pidfile[sizeof(p->data) + 16];
	hd_status st = open_log(p, &log, err);
	off_t from = 0;
	int tries;

	if (st != HD_OK)
		return st;
	(void)snprintf(pidfile, sizeof(pidfile), "%s/postmaster.pid", p->data);
	tries = access(pidfile, F_OK) == 0 ? UNCLEAN_TRIES : 1;
	for (; tries > 0; tries--) {
		hd_cluster_forget(p);
		from = end_of(log);
		st = start_once(p, bin, log, deadline, err);
		/* Running all the same: started by a howdah that was killed while it waited. */
		if (st != HD_REFUSED || hd_cluster_pid(p) != 0)
			return st == HD_REFUSED ? HD_OK : st;
		if (tries > 1) {
			hd_cluster_end_orphans(p);
			(void)nanosleep(&step, NULL);
		}
	}
	hd_fail_prefix(err, "can't start the private server in %s: ", p->folder);
	explain(p, log, from, err);
	return st;
}
