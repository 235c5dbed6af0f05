#include "app/database.h"
#include "app/embedded.h"
#include "app/exit.h"
#include "cli/command.h"
#include <howdah/session.h>
#include <stddef.h>

#define NAME "howdah:command" /* application_name: people see in pg_stat_activity who that is */

/* Starts the embedded server when it is the one; `ret` has its conninfo. */
static int start_embedded(struct hd_embedded *ret)
{
	struct hd_error err = { 0 };
	hd_status st = hd_embedded_ensure(hd_after(hd_now(), HD_EMBEDDED_PATIENCE_MS), ret, &err);

	if (st == HD_INVALID)
		return hd_complain_with(&err, HD_EXIT_CONFIG);
	if (st != HD_OK)
		return hd_complain(&err);
	hd_embedded_announce(ret);
	return HD_EXIT_OK;
}

int hd_options_for_command(const struct hd_config *config, struct hd_embedded *room,
                           struct hd_session_options *ret)
{
	struct hd_database database;
	struct hd_error err = { 0 };
	int code = HD_EXIT_OK;

	if (hd_database_from(config, &database, &err) != HD_OK)
		return hd_complain_with(&err, HD_EXIT_CONFIG);
	hd_session_options_init(ret);
	ret->application_name = NAME;
	ret->conninfo = database.conninfo;
	if (database.embedded) {
		code = start_embedded(room);
		ret->conninfo = room->conninfo;
	}
	return code;
}

int hd_open_for_command(const struct hd_config *config, struct hd_session **ret)
{
	struct hd_session_options options;
	struct hd_embedded embedded;
	struct hd_error err = { 0 };
	hd_status st;
	int code = hd_options_for_command(config, &embedded, &options);

	if (code != HD_EXIT_OK)
		return code;
	st = hd_session_open(&options, hd_after(hd_now(), config->timeout_ms), ret, &err);
	/* A string that can't be read is a setting, wherever it came from. */
	if (st == HD_INVALID)
		return hd_complain_with(&err, HD_EXIT_CONFIG);
	return st == HD_OK ? HD_EXIT_OK : hd_complain(&err);
}
