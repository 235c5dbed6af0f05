#include "app/exit.h"
#include "cli/command.h"
#include "pg/migrate.h"
#include <stdio.h>

static int print_sql(const struct hd_migrate_options *o)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_migrate_print(o, &b);
	if (!hd_buf_ok(&b) || fputs(b.data, stdout) == EOF || fflush(stdout) == EOF) {
		(void)fprintf(stderr, "howdah: the SQL could not be written\n");
		return HD_EXIT_BUG;
	}
	return HD_EXIT_OK;
}

static const char *name_or(const char *given, const char *otherwise)
{
	return given != NULL ? given : otherwise;
}

/* What was done, or that nothing was; then what an administrator must do. */
static void tell(const struct hd_migrate_report *r, const struct hd_migrate_options *o)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_printf(&b, "schema howdah: version %d", r->version);
	if (r->applied > 0)
		hd_buf_printf(&b, ", migrations applied: %d", r->applied);
	if (r->functions)
		hd_buf_text(&b, "; functions updated");
	if (r->worker_created)
		hd_buf_printf(&b, "; role %s created", name_or(o->worker_role, HD_WORKER_ROLE));
	if (r->reader_created)
		hd_buf_printf(&b, "; role %s created", name_or(o->reader_role, HD_READER_ROLE));
	if (r->grants)
		hd_buf_text(&b, "; grants updated");
	if (r->applied == 0 && !r->functions && !r->worker_created && !r->reader_created &&
	    !r->grants)
		hd_buf_text(&b, "; nothing to do");
	if (r->functions_newer)
		hd_buf_text(&b, "; functions of a newer howdah are in place and stay");
	hd_buf_char(&b, '\n');
	if (r->missing.len > 0)
		hd_buf_printf(&b,
		              "roles are missing that this user may not create; an administrator "
		              "runs in this database:\n%s",
		              r->missing.data);
	(void)fputs(b.data, stdout);
}

int hd_cmd_init(const struct hd_config *config)
{
	struct hd_migrate_options options = { .worker_role = config->worker_role,
		                              .reader_role = config->reader_role };
	struct hd_migrate_report report;
	struct hd_error err = { 0 };
	struct hd_session *s;
	hd_status st;
	int code;

	if (config->print)
		return print_sql(&options);
	code = hd_open_for_command(config, &s);
	if (code != HD_EXIT_OK)
		return code;
	st = hd_migrate(s, &options, hd_after(hd_now(), config->timeout_ms), &report, &err);
	hd_session_close(s);
	if (st != HD_OK)
		return hd_complain(&err);
	tell(&report, &options);
	hd_migrate_report_release(&report);
	return HD_EXIT_OK;
}
