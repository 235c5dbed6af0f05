#include "pg/migrate_text.h"

#include "base/ids.h"
#include <inttypes.h>

/* Around scripts, which have dollar quotes of their own. */
#define QUOTE "$howdah_script$"

int64_t hd_migrate_key(void)
{
	return hd_hash64("howdah:init");
}

int hd_migrate_latest(void)
{
	int latest = 0;

	for (const struct hd_script *m = hd_migrations; m->name != NULL; m++)
		if (m->version > latest)
			latest = m->version;
	return latest;
}

const char *hd_migrate_worker(const struct hd_migrate_options *o)
{
	return o->worker_role != NULL ? o->worker_role : HD_WORKER_ROLE;
}

const char *hd_migrate_reader(const struct hd_migrate_options *o)
{
	return o->reader_role != NULL ? o->reader_role : HD_READER_ROLE;
}

static void put_statement(struct hd_buf *b, enum hd_sql stmt)
{
	hd_buf_text(b, hd_stmts[stmt].text);
	hd_buf_text(b, ";\n");
}

/* E'...' reads the same whatever standard_conforming_strings says. */
static void put_setting(struct hd_buf *b, const char *name, const char *value)
{
	hd_buf_printf(b, "set local howdah.init_%s = E'", name);
	for (const char *p = value; *p != '\0'; p++) {
		if (*p == '\'' || *p == '\\')
			hd_buf_char(b, *p);
		hd_buf_char(b, *p);
	}
	hd_buf_text(b, "';\n");
}

static void put_number(struct hd_buf *b, const char *name, int64_t value)
{
	hd_buf_printf(b, "set local howdah.init_%s = '%" PRId64 "';\n", name, value);
}

void hd_migrate_put_begin(struct hd_buf *b, const struct hd_migrate_options *o)
{
	hd_buf_text(b, "begin isolation level read committed;\n"
	               "set local search_path = pg_catalog, pg_temp;\n"
	               "set local standard_conforming_strings = on;\n"
	               "set local check_function_bodies = on;\n");
	put_setting(b, "program", HD_VERSION);
	put_number(b, "key", hd_migrate_key());
	put_number(b, "latest", hd_migrate_latest());
	hd_buf_text(b, "set local howdah.init_sums = '{");
	for (const struct hd_script *m = hd_migrations; m->name != NULL; m++)
		hd_buf_printf(b, "%s%s", m == hd_migrations ? "" : ",", m->sha256);
	hd_buf_text(b, "}';\n");
	put_setting(b, "worker", hd_migrate_worker(o));
	put_setting(b, "reader", hd_migrate_reader(o));
}

void hd_migrate_put_check(struct hd_buf *b)
{
	put_statement(b, HD_SQL_INIT_CHECK);
}

void hd_migrate_put_role(struct hd_buf *b, const char *role)
{
	put_setting(b, "role", role);
	put_statement(b, HD_SQL_INIT_ROLE);
}

void hd_migrate_put_schema(struct hd_buf *b)
{
	put_statement(b, HD_SQL_INIT_SCHEMA);
}

void hd_migrate_put_migration(struct hd_buf *b, const struct hd_script *m)
{
	put_number(b, "version", m->version);
	put_setting(b, "name", m->name);
	put_setting(b, "sha256", m->sha256);
	hd_buf_printf(b, "set local howdah.init_script = " QUOTE "\n%s" QUOTE ";\n", m->text);
	put_statement(b, HD_SQL_INIT_MIGRATION);
}

void hd_migrate_put_functions(struct hd_buf *b)
{
	put_setting(b, "sha256", hd_function_set);
	hd_buf_text(b, "set local howdah.init_script = " QUOTE "\n");
	for (const struct hd_script *f = hd_functions; f->name != NULL; f++)
		hd_buf_text(b, f->text);
	hd_buf_text(b, QUOTE ";\n");
	put_statement(b, HD_SQL_INIT_FUNCTIONS);
	put_statement(b, HD_SQL_INIT_GRANTS);
}

void hd_migrate_print(const struct hd_migrate_options *o, struct hd_buf *out)
{
	hd_buf_printf(
	    out,
	    "-- Schema howdah, version %d, by howdah %s; written by: howdah init --print\n"
	    "--\n"
	    "-- One transaction. It makes the schema or brings an older one up to date, and\n"
	    "-- does nothing where it is in place; it refuses a newer one. Run it as the\n"
	    "-- role that shall own the schema, in the database of the application.\n",
	    hd_migrate_latest(), HD_VERSION);
	hd_migrate_put_begin(out, o);
	hd_buf_text(out, "set local lock_timeout = '10s';\n");
	hd_migrate_put_check(out);
	hd_migrate_put_role(out, hd_migrate_worker(o));
	hd_migrate_put_role(out, hd_migrate_reader(o));
	hd_migrate_put_schema(out);
	for (const struct hd_script *m = hd_migrations; m->name != NULL; m++)
		hd_migrate_put_migration(out, m);
	hd_migrate_put_functions(out);
	hd_buf_text(out, "commit;\n");
}
