/* command.h - the one table of commands. */
#ifndef HD_CLI_COMMAND_H
#define HD_CLI_COMMAND_H

#include "app/config.h"
#include <stdbool.h>

struct hd_command {
	const char *name;     /* "leader", or "leader pause" for a command of two words */
	const char *operands; /* "ROLE", "[-- COMMAND…]"; "" for none */
	int least, most;      /* how many operands */
	unsigned int groups;  /* enum hd_option_group, or-ed */
	int (*run)(const struct hd_config *config); /* answers the exit code */
	bool hidden;                                /* not in --help: parts */
	const char *summary;                        /* one line */
	const char *details; /* paragraphs for `howdah COMMAND --help` and the man page */
};

extern const struct hd_command hd_commands[]; /* ended by a row without name */

/* One function a command, each in src/cli/cmd_NAME.c. */
int hd_cmd_init(const struct hd_config *config);
int hd_cmd_doctor(const struct hd_config *config);
int hd_cmd_run(const struct hd_config *config);
int hd_cmd_leader_list(const struct hd_config *config);
int hd_cmd_leader_show(const struct hd_config *config);
int hd_cmd_leader_resign(const struct hd_config *config);
int hd_cmd_leader_pause(const struct hd_config *config);
int hd_cmd_leader_resume(const struct hd_config *config);
int hd_cmd_leader_history(const struct hd_config *config);
int hd_cmd_leader_forget(const struct hd_config *config);
int hd_cmd_held(const struct hd_config *config);
int hd_cmd_dev(const struct hd_config *config);
int hd_cmd_demo(const struct hd_config *config);
int hd_cmd_status(const struct hd_config *config);
int hd_cmd_version(const struct hd_config *config);
int hd_cmd_part(const struct hd_config *config);

/*
 * How a command ends with an error: prints "howdah: message" and "  hint: …" on stderr, answers the
 * exit code that belongs to the status (LOST and RETRY 69, TIMEOUT 69, REFUSED 77, INVALID 64).
 */
int hd_complain(const struct hd_error *err);

/*
 * A session as `howdah COMMAND` needs one: the database of --db, HOWDAH_DB or libpq's own settings;
 * "dev" is the embedded server, started when it must be. Nothing configured: complains with the
 * ways to name one and answers 78. On success 0 and an open session.
 */
struct hd_session;
int hd_open_for_command(const struct hd_config *config, struct hd_session **ret);

#endif
