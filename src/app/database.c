#include "app/database.h"

#include "base/base.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

#define EMBEDDED "dev"

/* The first of `names` that is set to something, or NULL. */
static const char *first_set(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && *value != '\0')
			return names[i];
	}
	return NULL;
}

hd_status hd_database_from(const struct hd_config *config, struct hd_database *ret,
                           struct hd_error *err)
{
	static const char *const servers[] = { "PGHOST", "PGHOSTADDR", "PGSERVICE" };
	static const char *const others[] = { "PGDATABASE", "PGPORT", "PGUSER", "PGSERVICEFILE" };
	const char *other = first_set(others, HD_ARRAY_SIZE(others));

	if (config->db != NULL) {
		ret->embedded = strcmp(config->db, EMBEDDED) == 0;
		ret->conninfo = ret->embedded ? NULL : config->db;
		return HD_OK;
	}
	if (first_set(servers, HD_ARRAY_SIZE(servers)) != NULL) {
		*ret = (struct hd_database){ .conninfo = NULL, .embedded = false };
		return HD_OK;
	}
	if (other != NULL)
		(void)hd_fail(err, HD_INVALID,
		              "no database is configured: %s alone names no server", other);
	else
		(void)hd_fail(err, HD_INVALID, "no database is configured");
	hd_hint(err, "name one with --db, HOWDAH_DB, db = in howdah.conf, or libpq's PGHOST or "
	             "PGSERVICE; --db dev is the embedded server of this machine");
	return HD_INVALID;
}
