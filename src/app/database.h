/* database.h - which database a command talks to. */
#ifndef HD_APP_DATABASE_H
#define HD_APP_DATABASE_H

#include "app/config.h"

struct hd_database {
	const char *conninfo; /* for hd_session_open; NULL: libpq's own environment names it */
	bool embedded;        /* "dev": the embedded server, whose conninfo is known once it runs */
};

/*
 * --db, HOWDAH_DB or the file; else libpq's PGHOST, PGHOSTADDR or PGSERVICE. Nothing else names a
 * server: PGDATABASE or PGPORT alone would mean the local socket, and a node that lost its address
 * must not lead alone there. HD_INVALID: nothing is configured, with the ways; to be answered with
 * HD_EXIT_CONFIG.
 */
HD_MUST_CHECK hd_status hd_database_from(const struct hd_config *config, struct hd_database *ret,
                                         struct hd_error *err);

#endif
