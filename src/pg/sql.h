/*
 * sql.h - the statements of sql/, embedded at build time by tools/embed-sql.
 *
 * sql/query/leader_look.sql becomes HD_SQL_LEADER_LOOK, sql/view/roles.sql HD_SQL_VIEW_ROLES.
 */
#ifndef HD_PG_SQL_H
#define HD_PG_SQL_H

#include "sql_names.h" /* generated: enum hd_sql { …, HD_SQL_COUNT } */

struct hd_stmt {
	const char *name; /* file name without folder and ending */
	int nparams;
	const char *text;
};

extern const struct hd_stmt hd_stmts[]; /* by enum hd_sql */

/* A migration or a file of server functions, in the order in which they are applied. */
struct hd_script {
	int version; /* migrations: the number in the name; functions: 0 */
	const char *name;
	const char *sha256; /* of the file, hexadecimal */
	const char *text;
};

extern const struct hd_script hd_migrations[]; /* ended by a row without name */
extern const struct hd_script hd_functions[];

extern const char hd_function_set[]; /* sha256 of the checksums of hd_functions, in their order */

#endif
