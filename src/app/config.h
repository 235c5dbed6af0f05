/* config.h - the values of all options, after command line, environment, file and defaults. */
#ifndef HD_APP_CONFIG_H
#define HD_APP_CONFIG_H

#include "base/buf.h"
#include <howdah/error.h>
#include <stdbool.h>
#include <stdint.h>

#define HD_OPERANDS_MAX 8

struct hd_config {
	/* all commands */
	bool help;
	bool version;
	bool man;
	const char *config_file;
	const char *log_format;
	bool quiet;
	bool verbose;

	/* whatever talks to a server */
	const char *db;     /* NULL: not given; libpq's own environment may still name one */
	int64_t timeout_ms; /* of one command's conversation */
	bool json;
	bool trust_session;
	const char *reason;
	int64_t limit; /* rows of a history */

	/* init */
	bool print;
	const char *worker_role;
	const char *reader_role;

	/* run; [role.NAME] in a file */
	const char *role;
	bool key_given;
	int64_t key;
	const char *election;
	const char *wait; /* NULL: stand by for ever; else a checked duration, "0": one attempt */
	bool restart;
	int64_t retry_ms;
	int64_t heartbeat_ms;
	int64_t lease_ms;
	int64_t grace_ms;
	int64_t lost_grace_ms;
	int64_t margin_ms;
	const char *contain;
	const char *address;
	const char *workers; /* HOWDAH_WORKERS: the run-time gate; NULL or "": inert */

	/* what is left of the command line */
	int noperands;
	const char *operand[HD_OPERANDS_MAX];
	char **command; /* NULL-ended, borrowed from argv; NULL when there was no "--" */

	struct hd_buf file; /* memory of values that came from a file */
};

#endif
