/* command.h - the one table of commands. */
#ifndef HD_CLI_COMMAND_H
#define HD_CLI_COMMAND_H

#include "app/config.h"
#include <stdbool.h>

struct hd_command {
	const char *name;     /* "leader", or "leader pause" for a command of two words */
	const char *operands; /* "ROLE", "[-- COMMAND...]"; "" for none */
	int least, most;      /* how many operands */
	bool takes_command;   /* words behind "--" */
	unsigned int groups;  /* enum hd_option_group, or-ed */
	int (*run)(const struct hd_config *config); /* answers the exit code */
	bool hidden;                                /* not in --help: parts */
	const char *summary;                        /* one line */
	/* Paragraphs for `howdah COMMAND --help` and the man page, separated by a blank line; lines
	 * that begin with two blanks are kept as they are. NULL: the summary says all. */
	const char *details;
};

extern const struct hd_command hd_commands[]; /* ended by a row without name */

/* The command that the first words name, `ret_words` of them; NULL: none. */
const struct hd_command *hd_command_find(const char *const *word, int nwords, int *ret_words);

/* Whether `c` is "NAME something" for this NAME. */
bool hd_command_is_under(const struct hd_command *c, const char *name);

/* Whether there are commands "NAME something" for its name. */
bool hd_command_has_parts(const struct hd_command *c);

/* Adds the names of the commands that take an option of `groups`, separated by commas. */
void hd_command_takers(unsigned int groups, struct hd_buf *b);

/* HD_INVALID in `err`: no command has these words, with the nearest. */
void hd_command_unknown(const char *const *word, int nwords, struct hd_error *err);

/* Prints help on stdout; NULL: the overview. */
void hd_help(const struct hd_command *command);

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
int hd_cmd_leader_watch(const struct hd_config *config);
int hd_cmd_leader_machine(const struct hd_config *config);
int hd_cmd_verify(const struct hd_config *config);
int hd_cmd_held(const struct hd_config *config);
int hd_cmd_dev(const struct hd_config *config);
int hd_cmd_demo(const struct hd_config *config);
int hd_cmd_status(const struct hd_config *config);
int hd_cmd_version(const struct hd_config *config);
int hd_cmd_help(const struct hd_config *config);
int hd_cmd_part(const struct hd_config *config);

/*
 * How a command ends with an error: prints "howdah: message" and "  hint: ..." on stderr, answers
 * the exit code that belongs to the status (LOST, RETRY and TIMEOUT 69, REFUSED 77, INVALID 64).
 */
int hd_complain(const struct hd_error *err);

/* The same where the exit code is another one; answers `code`. */
int hd_complain_with(const struct hd_error *err, int code);

/* The two halves of it: the exit code of a status, and the lines. */
int hd_exit_of(hd_status status);
void hd_complaint_add(struct hd_buf *b, const struct hd_error *err);

/*
 * A session as `howdah COMMAND` needs one: the database of --db, HOWDAH_DB or libpq's own settings;
 * "dev" is the embedded server, started when it must be. Nothing configured: complains with the
 * ways to name one and answers 78. On success 0 and an open session.
 */
struct hd_session;
int hd_open_for_command(const struct hd_config *config, struct hd_session **ret);

/* The first half of it: how such a session is opened. `room` holds what `ret` borrows. */
struct hd_embedded;
struct hd_session_options;
int hd_options_for_command(const struct hd_config *config, struct hd_embedded *room,
                           struct hd_session_options *ret);

#endif
