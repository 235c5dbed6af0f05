/*
 * option.h - the one table of options: command line, environment, file, --help and man page.
 *
 * Precedence: command line, environment, file, default. Every value goes through the same parser,
 * defaults included. Options may stand before or behind the command's name.
 */
#ifndef HD_APP_OPTION_H
#define HD_APP_OPTION_H

#include "app/config.h"
#include <stddef.h>

enum hd_option_type {
	HD_OPT_FLAG,     /* bool; in a file: on or off */
	HD_OPT_TEXT,     /* const char * */
	HD_OPT_DURATION, /* int64_t, milliseconds */
	HD_OPT_INT,      /* int64_t */
	HD_OPT_CHOICE,   /* const char *, one of `arg` split at '|' */
};

/* Which commands take an option: bits, named after the commands or groups of them. */
enum hd_option_group {
	HD_FOR_ALL = 1 << 0,   /* --help --config --log-format -q -v */
	HD_FOR_DB = 1 << 1,    /* --db, --timeout: whatever talks to a server */
	HD_FOR_JSON = 1 << 2,  /* --json: whatever prints a view */
	HD_FOR_RUN = 1 << 3,   /* howdah run */
	HD_FOR_INIT = 1 << 4,  /* howdah init */
	HD_FOR_PROBE = 1 << 5, /* --trust-session: doctor and run */
	HD_FOR_WHY = 1 << 6,   /* --reason: leader pause, resign */
};

struct hd_option {
	const char *name;
	char letter;         /* 0: none */
	const char *arg;     /* NULL for a flag */
	const char *env;     /* NULL: not from the environment */
	const char *section; /* file: NULL not there, "" top level, "role" in [role.NAME] */
	const char *def;     /* text, as a user would write it; NULL: unset */
	enum hd_option_type type;
	size_t at; /* offsetof(struct hd_config, …) */
	unsigned int groups;
	const char *help; /* one sentence, no full stop; default and unit are added */
};

extern const struct hd_option hd_options[]; /* ended by a row without name */

struct hd_command;

/*
 * Fills `config` for `command` from argv (what stands behind "howdah", the command's words taken
 * out), environment and file. Operands go to config->operand, what follows "--" to config->command.
 * HD_INVALID: message and hint name the word, the line, the nearest option.
 */
hd_status hd_config_load(struct hd_config *config, unsigned int groups, int argc, char **argv,
                         struct hd_error *err);
void hd_config_release(struct hd_config *config);

#endif
