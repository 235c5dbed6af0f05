/*
 * migrate.h - brings schema howdah up to what this program knows.
 *
 * The same statements serve `howdah init` and the file howdah.sql: migrate_text.c writes them,
 * migrate.c runs them step by step. What may be refused is decided in sql/query/init_check.sql.
 */
#ifndef HD_PG_MIGRATE_H
#define HD_PG_MIGRATE_H

#include "base/buf.h"
#include <howdah/session.h>
#include <stdbool.h>

#define HD_WORKER_ROLE "howdah_worker"
#define HD_READER_ROLE "howdah_reader"

struct hd_migrate_options {
	const char *worker_role; /* NULL: HD_WORKER_ROLE */
	const char *reader_role; /* NULL: HD_READER_ROLE */
};

/* What was done, and what is left to an administrator. */
struct hd_migrate_report {
	int version;          /* of the schema, afterwards */
	int applied;          /* migrations */
	bool functions;       /* the set of server functions was replaced */
	bool functions_newer; /* a newer program's set is in place and stays */
	bool grants;          /* something was granted or revoked */
	bool worker_created;
	bool reader_created;
	struct hd_buf missing; /* a statement a line; empty: both roles exist. Owned */
};

void hd_migrate_report_release(struct hd_migrate_report *r);

/*
 * Each migration is one transaction with its record, all functions and grants are another; each
 * begins with the transaction advisory lock of init, by try, so it works behind any pooler and a
 * killed init leaves nothing but whole steps. A second run writes nothing.
 *
 * HD_REFUSED: server too old, standby, schema newer than this program, a recorded migration with
 * another checksum, no privilege; nothing was written. HD_RETRY: somebody else's locks were in the
 * way until shortly before the deadline; the message names them. `ret` is to be released on HD_OK.
 */
HD_MUST_CHECK hd_status hd_migrate(struct hd_session *s, const struct hd_migrate_options *o,
                                   hd_mono deadline, struct hd_migrate_report *ret,
                                   struct hd_error *err);

/* The whole as one file for other tools: one transaction, safe to run again, upgrades what is
 * older. */
void hd_migrate_print(const struct hd_migrate_options *o, struct hd_buf *out);

/* The newest schema that this program knows. */
int hd_migrate_latest(void);

#endif
