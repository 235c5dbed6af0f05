/* migrate_text.h - the statements of a migration; each call adds some to `b`. */
#ifndef HD_PG_MIGRATE_TEXT_H
#define HD_PG_MIGRATE_TEXT_H

#include "pg/migrate.h"
#include "pg/sql.h"

/* The advisory lock of init. */
int64_t hd_migrate_key(void);

const char *hd_migrate_worker(const struct hd_migrate_options *o);
const char *hd_migrate_reader(const struct hd_migrate_options *o);

/* BEGIN and the settings of the transaction; in a message of its own, since settings of the lexer
 * count from the next one. */
void hd_migrate_put_begin(struct hd_buf *b, const struct hd_migrate_options *o);
/* Takes the lock and refuses what must be refused. */
void hd_migrate_put_check(struct hd_buf *b);
void hd_migrate_put_role(struct hd_buf *b, const char *role);
void hd_migrate_put_schema(struct hd_buf *b);
void hd_migrate_put_migration(struct hd_buf *b, const struct hd_script *m);
void hd_migrate_put_functions(struct hd_buf *b);

#endif
