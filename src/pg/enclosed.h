/*
 * enclosed.h - a statement for a session that is shared with others.
 *
 * Behind a pooler that multiplexes, nothing may be set on the session and two statements may meet
 * two servers. So a call becomes one simple query that brings its own transaction and settings:
 * BEGIN; SET LOCAL ...; call; COMMIT.
 */
#ifndef HD_PG_ENCLOSED_H
#define HD_PG_ENCLOSED_H

#include "base/buf.h"
#include "pg/exec.h"

/* Adds the query for `stmt` to `b`, its parameters as quoted literals. */
HD_MUST_CHECK hd_status hd_enclose(struct hd_session *s, const struct hd_stmt *stmt,
                                   const struct hd_args *args, struct hd_buf *b,
                                   struct hd_error *err);

/* After an error: the transaction is still open, and a pooler keeps its server for it. */
void hd_enclosed_end(struct hd_session *s, hd_mono deadline);

#endif
