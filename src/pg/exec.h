/* exec.h - sending one statement and waiting for its answer, never past a deadline. */
#ifndef HD_PG_EXEC_H
#define HD_PG_EXEC_H

#include "base/base.h"
#include "pg/sql.h"
#include <howdah/session.h>
#include <libpq-fe.h>
#include <stdint.h>

#define HD_ARGS_MAX 16

/* Text parameters of a statement, made without allocation. Texts are borrowed until the call ends.
 */
struct hd_args {
	int n;
	const char *value[HD_ARGS_MAX];
	char number[HD_ARGS_MAX][24];
};

void hd_arg_text(struct hd_args *a, const char *text); /* NULL is SQL's null */
void hd_arg_int(struct hd_args *a, int64_t value);
void hd_arg_bool(struct hd_args *a, bool value);

/* An answer; owned by the caller, released by scope: HD_ROWS rows = { 0 }; */
struct hd_rows {
	PGresult *res;
};

void hd_rows_release(struct hd_rows *r);
#define HD_ROWS HD_CLEANUP(hd_rows_release) struct hd_rows

int hd_rows_count(const struct hd_rows *r);
/* Borrowed until the release; NULL for SQL's null. Asserts that row and column exist. */
const char *hd_rows_text(const struct hd_rows *r, int row, int column);
int64_t hd_rows_int(const struct hd_rows *r, int row, int column); /* 0 for null */
bool hd_rows_bool(const struct hd_rows *r, int row, int column);   /* false for null */

/*
 * Runs an embedded statement with its parameters (`args` may be NULL). The last result with rows
 * is kept in `rows`, else the last one (NULL: thrown away). Errors: the SQLSTATE decides (table in
 * exec.c); HD_TIMEOUT when the deadline passed, after which the session is broken.
 */
HD_MUST_CHECK hd_status hd_exec(struct hd_session *s, enum hd_sql stmt, const struct hd_args *args,
                                hd_mono deadline, struct hd_rows *rows, struct hd_error *err);

/*
 * The same for text: several statements separated by semicolons when `args` is NULL (simple query
 * protocol, one implicit transaction), one statement with parameters otherwise. For what can't be a
 * file in sql/: LISTEN, transaction control, migrations.
 */
HD_MUST_CHECK hd_status hd_exec_text(struct hd_session *s, const char *sql,
                                     const struct hd_args *args, hd_mono deadline,
                                     struct hd_rows *rows, struct hd_error *err);

/*
 * hd_exec_text in two halves, for a caller that has something to do in between. After a start comes
 * a finish, before anything else on this session. hd_exec_ready waits for the answer without
 * breaking the session: false when there is none yet. COPY is refused and breaks the session.
 */
HD_MUST_CHECK hd_status hd_exec_start(struct hd_session *s, const char *sql,
                                      const struct hd_args *args, struct hd_error *err);
bool hd_exec_ready(struct hd_session *s, hd_mono deadline);
HD_MUST_CHECK hd_status hd_exec_finish(struct hd_session *s, hd_mono deadline, struct hd_rows *rows,
                                       struct hd_error *err);

#endif
