#include "app/embedded_parts.h"
#include "app/spawn.h"
#include "base/base.h"
#include "base/error.h"
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAJOR_LEAST    14
#define CANDIDATES_MAX 64

/* Where distributions put the server; PATH comes last. */
static const char *const patterns[] = {
	"/usr/lib/postgresql/*/bin",   /* Debian */
	"/usr/pgsql-*/bin",            /* the packages of postgresql.org for Red Hat */
	"/usr/lib64/postgresql-*/bin", /* Gentoo */
	"/usr/libexec/postgresql*",    /* Alpine */
	"/usr/lib/postgresql*/bin",    /* SUSE */
	"/usr/local/pgsql/bin",        /* built from source */
	"/usr/local/lib/postgresql/bin",
};

struct search {
	const struct hd_place *place;
	hd_mono deadline;
	int wanted; /* major; 0: the newest */
	int looked;
	int newest_seen; /* of all, also of those that don't fit */
	struct hd_pgbin best;
};

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

hd_status hd_place_run(const struct hd_place *p, const char *const argv[], int out,
                       hd_mono deadline, struct hd_error *err)
{
	/* A server must not tell systemd that our service is ready, nor keep our password. */
	static const char *const env[] = { "LC_ALL=C", "NOTIFY_SOCKET", "PGPASSWORD", "PGDATA",
		                           NULL };
	HD_CLEANUP(hd_spawn_close) struct hd_child child = { 0 };
	struct hd_spawn_options o;
	hd_status st;
	int status = 0;

	hd_spawn_options_init(&o);
	o.argv = (char *const *)argv;
	o.env = env;
	o.cwd = "/";
	o.as_user = p->as_root;
	o.uid = p->uid;
	o.gid = p->gid;
	o.in = HD_SPAWN_NULL;
	o.out = o.err = out;
	o.death_signal = SIGKILL;
	st = hd_spawn(&o, deadline, &child, NULL, err);
	if (st != HD_OK)
		return st;
	st = hd_spawn_wait(&child, deadline, &status, err);
	if (st == HD_TIMEOUT) {
		st = hd_spawn_kill(&child, hd_after(hd_now(), 1000), &status, NULL);
		return hd_fail(err, HD_TIMEOUT, "%s took too long%s", argv[0],
		               st == HD_OK ? "" : " and can't be killed");
	}
	if (st == HD_OK && WIFSIGNALED(status))
		return hd_fail(err, HD_REFUSED, "%s was ended by signal %d", argv[0],
		               WTERMSIG(status));
	if (st == HD_OK && WEXITSTATUS(status) != 0)
		return hd_fail(err, HD_REFUSED, "%s ended with %d", argv[0], WEXITSTATUS(status));
	return st;
}

static bool has_programs(const char *folder)
{
	static const char *const names[] = { "postgres", "initdb", "pg_ctl" };

	for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++) {
		char path[PATH_MAX];

		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, names[i]) >=
		        sizeof(path) ||
		    access(path, X_OK) != 0)
			return false;
	}
	return true;
}

/* Reads "postgres (PostgreSQL) 15.18 (Debian …)". */
static hd_status ask_major(const struct search *s, const char *folder, int *ret,
                           struct hd_error *err)
{
	HD_CLEANUP(close_fd) int out = memfd_create("version", MFD_CLOEXEC);
	char path[PATH_MAX + 16], text[128];
	const char *argv[] = { path, "--version", NULL };
	const char *number;
	hd_status st;
	ssize_t n;

	if (out < 0)
		return hd_fail_errno(err, HD_RETRY, "no memory file for the answer of postgres");
	(void)snprintf(path, sizeof(path), "%s/postgres", folder);
	st = hd_place_run(s->place, argv, out, s->deadline, err);
	if (st != HD_OK)
		return st;
	n = pread(out, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	number = strstr(text, "(PostgreSQL) ");
	if (number == NULL)
		return hd_fail(err, HD_REFUSED, "%s does not say its version", path);
	*ret = (int)strtol(number + strlen("(PostgreSQL) "), NULL, 10);
	return HD_OK;
}

/* Keeps the folder when it is better than what was found. A broken one is passed over. */
static hd_status offer(struct search *s, const char *folder, struct hd_error *err)
{
	hd_status st;
	int major = 0;

	if (!has_programs(folder) || s->looked == CANDIDATES_MAX)
		return HD_OK;
	s->looked++;
	st = ask_major(s, folder, &major, err);
	if (st != HD_OK)
		return st == HD_TIMEOUT ? st : HD_OK;
	if (major > s->newest_seen)
		s->newest_seen = major;
	if (major < MAJOR_LEAST || (s->wanted != 0 && major != s->wanted) || major <= s->best.major)
		return HD_OK;
	s->best.major = major;
	(void)snprintf(s->best.folder, sizeof(s->best.folder), "%s", folder);
	return HD_OK;
}

static hd_status offer_pattern(struct search *s, const char *pattern, struct hd_error *err)
{
	HD_CLEANUP(globfree) glob_t found = { 0 };
	hd_status st = HD_OK;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return HD_OK;
	for (size_t i = 0; i < found.gl_pathc && st == HD_OK; i++)
		st = offer(s, found.gl_pathv[i], err);
	return st;
}

static hd_status offer_path(struct search *s, struct hd_error *err)
{
	const char *at = getenv("PATH");
	hd_status st = HD_OK;

	while (at != NULL && st == HD_OK) {
		size_t n = strcspn(at, ":");
		char folder[PATH_MAX];

		if (at[0] == '/' && n < sizeof(folder)) {
			(void)snprintf(folder, sizeof(folder), "%.*s", (int)n, at);
			st = offer(s, folder, err);
		}
		at = at[n] == ':' ? at + n + 1 : NULL;
	}
	return st;
}

/* The one that HOWDAH_PGBIN names, and no other: a wrong one is an error, not passed over. */
static hd_status named(struct search *s, const char *folder, struct hd_error *err)
{
	int major = 0;
	hd_status st;

	if (folder[0] != '/' || !has_programs(folder)) {
		hd_fail(err, HD_INVALID,
		        "HOWDAH_PGBIN is %s, where postgres, initdb and pg_ctl are not", folder);
		hd_hint(err,
		        "name the folder of a server's programs, like /usr/lib/postgresql/15/bin");
		return HD_INVALID;
	}
	st = ask_major(s, folder, &major, err);
	if (st == HD_OK && major < MAJOR_LEAST)
		st = hd_fail(err, HD_INVALID, "it is PostgreSQL %d, and Howdah needs %d or newer",
		             major, MAJOR_LEAST);
	if (st != HD_OK) {
		hd_fail_prefix(err, "HOWDAH_PGBIN is %s: ", folder);
		hd_hint(err, "name the folder of a server's programs that the user %s can run",
		        s->place->user);
		return st == HD_REFUSED ? HD_INVALID : st;
	}
	s->newest_seen = major;
	if (s->wanted == 0 || s->wanted == major) {
		s->best.major = major;
		(void)snprintf(s->best.folder, sizeof(s->best.folder), "%s", folder);
	}
	return HD_OK;
}

static hd_status nothing_fits(const struct search *s, struct hd_error *err)
{
	if (s->wanted != 0) {
		hd_fail(err, HD_INVALID,
		        "the server in %s was made by PostgreSQL %d, whose programs are gone",
		        s->place->folder, s->wanted);
		hd_hint(err, "install postgresql-%d, or give its data up with howdah dev destroy",
		        s->wanted);
	} else if (s->newest_seen != 0) {
		hd_fail(err, HD_INVALID,
		        "the newest PostgreSQL server here is %d, Howdah needs %d or newer",
		        s->newest_seen, MAJOR_LEAST);
		hd_hint(err, "install a newer one; HOWDAH_PGBIN names the folder of its programs");
	} else {
		hd_fail(err, HD_INVALID, "no programs of a PostgreSQL server on this machine");
		hd_hint(
		    err,
		    "install the package postgresql; HOWDAH_PGBIN names their folder elsewhere");
	}
	return HD_INVALID;
}

hd_status hd_pgbin_find(const struct hd_place *p, int major, hd_mono deadline, struct hd_pgbin *ret,
                        struct hd_error *err)
{
	struct search s = { .place = p, .deadline = deadline, .wanted = major };
	const char *folder = getenv("HOWDAH_PGBIN");
	hd_status st = HD_OK;

	if (folder != NULL && folder[0] != '\0') {
		st = named(&s, folder, err);
	} else {
		for (size_t i = 0; i < HD_ARRAY_SIZE(patterns) && st == HD_OK; i++)
			st = offer_pattern(&s, patterns[i], err);
		if (st == HD_OK)
			st = offer_path(&s, err);
	}
	if (st != HD_OK)
		return st;
	if (s.best.major == 0)
		return nothing_fits(&s, err);
	*ret = s.best;
	return HD_OK;
}
