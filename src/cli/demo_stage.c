/* demo_stage.c - where the demo plays: a folder, a private server in it; and all of it away again.
 */
#include "app/folder.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/demo.h"
#include "pg/migrate.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA_MS 30000
#define STRIKE_MS 20000
#define TMP_MOST  40 /* longer ones leave no room for the path of a socket */

extern char **environ;

/* What the user's environment says about databases and roles is not for the demo. */
static bool is_foreign(const char *variable)
{
	static const char pgbin[] = "HOWDAH_PGBIN=";

	return strncmp(variable, "PG", 2) == 0 ||
	       (strncmp(variable, "HOWDAH_", 7) == 0 &&
	        strncmp(variable, pgbin, sizeof(pgbin) - 1) != 0);
}

static hd_status clean_environment(struct hd_error *err)
{
	HD_BUF name;

	hd_buf_init(&name);
	for (char **v = environ; *v != NULL;) {
		hd_buf_reset(&name);
		hd_buf_add(&name, *v, strcspn(*v, "="));
		if (!hd_buf_ok(&name))
			return hd_fail(err, HD_NOMEM, "no memory for the environment");
		if (!is_foreign(*v) || unsetenv(name.data) != 0)
			v++;
		else
			v = environ;
	}
	return HD_OK;
}

static hd_status make_folder(struct hd_demo *d, struct hd_error *err)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || tmp[0] != '/' || strlen(tmp) > TMP_MOST)
		tmp = "/tmp";
	(void)snprintf(d->folder, sizeof(d->folder), "%s/howdah-demo.XXXXXX", tmp);
	if (mkdtemp(d->folder) == NULL) {
		(void)hd_fail_errno(err, HD_REFUSED, "can't make a folder in %s", tmp);
		hd_hint(err, "TMPDIR names another place for temporary files");
		d->folder[0] = '\0';
		return HD_REFUSED;
	}
	/* Root runs the server as another user, who has to pass. */
	if (geteuid() == 0 && chmod(d->folder, 0711) != 0)
		return hd_fail_errno(err, HD_REFUSED, "can't open %s for the server", d->folder);
	if (setenv("HOWDAH_STATE", d->folder, 1) != 0)
		return hd_fail(err, HD_NOMEM, "no memory for the environment");
	return HD_OK;
}

static hd_status make_schema(struct hd_demo *d, struct hd_error *err)
{
	struct hd_session_options so;
	struct hd_migrate_options mo = { 0 };
	struct hd_migrate_report report;
	hd_mono deadline = hd_after(hd_now(), SCHEMA_MS);
	hd_status st;

	hd_session_options_init(&so);
	so.conninfo = d->server.conninfo;
	so.application_name = "howdah:demo:";
	st = hd_session_open(&so, deadline, &d->session, err);
	if (st == HD_OK)
		st = hd_migrate(d->session, &mo, deadline, &report, err);
	if (st == HD_OK)
		hd_migrate_report_release(&report);
	return st;
}

hd_status hd_demo_build(struct hd_demo *d, struct hd_error *err)
{
	hd_status st = clean_environment(err);

	if (st == HD_OK)
		st = make_folder(d, err);
	if (st == HD_OK)
		st = hd_embedded_ensure(hd_after(hd_now(), HD_EMBEDDED_PATIENCE_MS), &d->server,
		                        err);
	if (st == HD_OK)
		st = make_schema(d, err);
	return st;
}

/* Everything is tried, whatever fails on the way; the first failure is told. */
hd_status hd_demo_strike(struct hd_demo *d, struct hd_error *err)
{
	struct hd_embedded was;
	struct hd_error more;
	hd_status st = hd_drill_close(&d->drill, err);

	hd_session_close(d->session);
	d->session = NULL;
	if (d->folder[0] == '\0')
		return st;
	if (hd_embedded_destroy(hd_after(hd_now(), STRIKE_MS), &was, &more) != HD_OK &&
	    st == HD_OK) {
		st = more.status;
		*err = more;
	}
	if (hd_folder_remove(d->folder, &more) != HD_OK && st == HD_OK) {
		st = more.status;
		*err = more;
	}
	return st;
}
