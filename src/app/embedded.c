#include "app/embedded.h"

#include "app/embedded_parts.h"
#include "app/log.h"
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include "pg/exec.h"
#include <howdah/session.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READY_STEP_NS     20000000
#define NO_SUCH_DATABASE  "3D000"
#define DATABASE_IS_THERE "42P04"

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* hostaddr is named, or a PGHOSTADDR of the environment would lead to another server. */
static void fill_conninfo(const struct hd_place *p, const char *database, char *buf, size_t size)
{
	const char *quote = strchr(p->folder, ' ') != NULL ? "'" : "";

	(void)snprintf(buf, size, "host=%s%s%s hostaddr='' port=5432 user=postgres dbname=%s",
	               quote, p->folder, quote, database);
}

static void fill(const struct hd_place *p, struct hd_embedded *e)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->folder, p->folder, sizeof(e->folder));
	memcpy(e->user, p->user, sizeof(e->user));
	fill_conninfo(p, "howdah", e->conninfo, sizeof(e->conninfo));
}

static hd_status look_at(const struct hd_place *p, struct hd_embedded *e, struct hd_error *err)
{
	hd_status st = hd_cluster_major(p, &e->major, err);

	if (st == HD_OK)
		e->pid = hd_cluster_pid(p);
	return st;
}

hd_status hd_embedded_look(struct hd_embedded *ret, struct hd_error *err)
{
	struct hd_embedded e;
	struct hd_place p;
	bool exists = false;
	hd_status st = hd_place_find(&p, err);

	if (st == HD_OK)
		st = hd_place_check(&p, &exists, err);
	if (st != HD_OK)
		return st;
	fill(&p, &e);
	if (exists)
		st = look_at(&p, &e, err);
	if (st == HD_OK)
		*ret = e;
	return st;
}

static hd_status open_session(const char *conninfo, hd_mono deadline, struct hd_session **ret,
                              struct hd_error *err)
{
	struct hd_session_options o;

	hd_session_options_init(&o);
	o.conninfo = conninfo;
	o.application_name = "howdah:dev";
	return hd_session_open(&o, deadline, ret, err);
}

/* Whoever made the cluster may have been killed before it made this. */
static hd_status create_database(const struct hd_place *p, hd_mono deadline, struct hd_error *err)
{
	char conninfo[HD_EMBEDDED_CONNINFO_SIZE];
	struct hd_session *s = NULL;
	hd_status st;

	HD_POINT("dev.database");
	fill_conninfo(p, "postgres", conninfo, sizeof(conninfo));
	st = open_session(conninfo, deadline, &s, err);
	if (st != HD_OK)
		return st;
	st = hd_exec(s, HD_SQL_DEV_CREATE_DATABASE, NULL, deadline, NULL, err);
	if (st == HD_REFUSED && strcmp(err->sqlstate, DATABASE_IS_THERE) == 0)
		st = HD_OK;
	hd_session_close(s);
	return st;
}

/* HD_RETRY: nobody answers there, or not yet; HD_REFUSED with 3D000: the database is missing. */
static hd_status reach(const struct hd_embedded *e, hd_mono deadline, struct hd_error *err)
{
	struct hd_session *s = NULL;
	hd_status st = open_session(e->conninfo, deadline, &s, err);

	hd_session_close(s);
	return st;
}

static bool lacks_database(hd_status st, const struct hd_error *err)
{
	return st == HD_REFUSED && strcmp(err->sqlstate, NO_SUCH_DATABASE) == 0;
}

static hd_status wait_ready(const struct hd_place *p, const struct hd_embedded *e, hd_mono deadline,
                            struct hd_error *err)
{
	static const struct timespec step = { 0, READY_STEP_NS };
	struct hd_error why = { 0 };

	do {
		hd_status st = reach(e, deadline, &why);

		if (lacks_database(st, &why)) {
			st = create_database(p, deadline, &why);
			if (st == HD_OK)
				continue;
		}
		if (st == HD_OK)
			return HD_OK;
		if (st != HD_RETRY && st != HD_TIMEOUT && st != HD_LOST)
			return hd_fail(err, st, "the private server in %s: %s", p->folder,
			               why.message);
		if (hd_cluster_pid(p) == 0) {
			hd_fail(err, HD_REFUSED, "the private server in %s has ended at once",
			        p->folder);
			hd_hint(err, "%s says why", p->log);
			return HD_REFUSED;
		}
		(void)nanosleep(&step, NULL);
	} while (hd_before(hd_now(), deadline));
	hd_fail(err, HD_TIMEOUT, "the private server runs, process %d, but does not answer: %s",
	        (int)hd_cluster_pid(p), why.message);
	hd_hint(err, "%s says what it does; howdah dev stop ends it", p->log);
	return HD_TIMEOUT;
}

static hd_status bring_up(const struct hd_place *p, struct hd_embedded *e, hd_mono deadline,
                          struct hd_error *err)
{
	struct hd_pgbin bin;
	hd_status st = look_at(p, e, err);

	if (st != HD_OK || e->pid != 0)
		return st;
	st = hd_pgbin_find(p, e->major, deadline, &bin, err);
	if (st == HD_OK && e->major == 0) {
		st = hd_cluster_make(p, &bin, deadline, err);
		e->made = st == HD_OK;
	}
	if (st != HD_OK)
		return st;
	st = hd_cluster_start(p, &bin, deadline, err);
	e->started = st == HD_OK;
	/* Otherwise the server's log would begin with an error. */
	return e->started && e->made ? create_database(p, deadline, err) : st;
}

static hd_status ensure_locked(const struct hd_place *p, struct hd_embedded *e, hd_mono deadline,
                               struct hd_error *err)
{
	HD_CLEANUP(close_fd) int lock = -1;
	hd_status st = hd_place_lock(p, true, deadline, &lock, err);

	if (st == HD_OK)
		st = bring_up(p, e, deadline, err);
	if (st == HD_OK)
		st = wait_ready(p, e, deadline, err);
	if (st == HD_OK)
		st = look_at(p, e, err);
	return st;
}

hd_status hd_embedded_ensure(hd_mono deadline, struct hd_embedded *ret, struct hd_error *err)
{
	struct hd_error spare;
	struct hd_embedded e;
	struct hd_place p;
	bool exists = false;
	hd_status st;

	err = err != NULL ? err : &spare;
	st = hd_place_find(&p, err);
	if (st == HD_OK)
		st = hd_place_check(&p, &exists, err);
	if (st != HD_OK)
		return st;
	fill(&p, &e);
	st = exists ? reach(&e, deadline, err) : HD_RETRY;
	if (st == HD_OK)
		st = look_at(&p, &e, err);
	else if (st == HD_RETRY || lacks_database(st, err))
		st = ensure_locked(&p, &e, deadline, err);
	if (st == HD_OK)
		*ret = e;
	return st;
}

/* What stop and destroy begin with. `ret_lock` is -1 when there is nothing. */
static hd_status enter(struct hd_place *p, struct hd_embedded *e, hd_mono deadline, int *ret_lock,
                       struct hd_error *err)
{
	hd_status st = hd_place_find(p, err);

	if (st != HD_OK)
		return st;
	fill(p, e);
	return hd_place_lock(p, false, deadline, ret_lock, err);
}

hd_status hd_embedded_stop(hd_mono deadline, struct hd_embedded *ret, struct hd_error *err)
{
	HD_CLEANUP(close_fd) int lock = -1;
	struct hd_embedded e;
	struct hd_place p;
	hd_status st = enter(&p, &e, deadline, &lock, err);

	if (st == HD_OK && lock >= 0) {
		e.pid = hd_cluster_pid(&p);
		st = hd_cluster_stop(&p, SIGINT, deadline, err);
	}
	if (st == HD_OK)
		*ret = e;
	return st;
}

hd_status hd_embedded_destroy(hd_mono deadline, struct hd_embedded *ret, struct hd_error *err)
{
	HD_CLEANUP(close_fd) int lock = -1;
	struct hd_embedded e;
	struct hd_place p;
	hd_status st = enter(&p, &e, deadline, &lock, err);

	if (st == HD_OK && lock >= 0) {
		e.pid = hd_cluster_pid(&p);
		(void)hd_cluster_major(&p, &e.major, NULL); /* broken data is removed too */
		st = hd_cluster_stop(&p, SIGQUIT, deadline, err);
		if (st == HD_OK) {
			hd_cluster_end_orphans(&p);
			st = hd_place_remove(&p, err);
		}
	}
	if (st == HD_OK) {
		e.made = lock >= 0;
		*ret = e;
	}
	return st;
}

hd_status hd_embedded_programs(hd_mono deadline, char *ret, size_t size, struct hd_error *err)
{
	struct hd_place p;
	struct hd_pgbin bin;
	int major = 0;
	hd_status st = hd_place_find(&p, err);

	if (st == HD_OK)
		st = hd_cluster_major(&p, &major, err);
	if (st == HD_OK)
		st = hd_pgbin_find(&p, major, deadline, &bin, err);
	if (st == HD_OK)
		(void)snprintf(ret, size, "%s", bin.folder);
	return st;
}

void hd_embedded_announce(const struct hd_embedded *e)
{
	char version[32];

	(void)snprintf(version, sizeof(version), "PostgreSQL %d", e->major);
	hd_log(HD_LOG_INFO, "database", "dev", "server", version, "note",
	       "private, for this machine only", "folder", e->folder, NULL);
}
