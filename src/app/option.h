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
	HD_OPT_FLAG,     /* bool; on or off */
	HD_OPT_TEXT,     /* const char *, never empty */
	HD_OPT_DURATION, /* int64_t, milliseconds */
	HD_OPT_PERIOD,   /* const char *: a duration that is checked and kept as text */
	HD_OPT_INT,      /* int64_t */
	HD_OPT_CHOICE,   /* const char *, one of `arg` split at '|' */
};

/* Which commands take an option: bits, named after the commands or groups of them. */
enum hd_option_group {
	HD_FOR_ALL = 1 << 0,      /* --help --config --log-format -q -v */
	HD_FOR_DB = 1 << 1,       /* --db, --timeout: whatever talks to a server */
	HD_FOR_JSON = 1 << 2,     /* --json: whatever prints a view */
	HD_FOR_RUN = 1 << 3,      /* howdah run */
	HD_FOR_INIT = 1 << 4,     /* howdah init */
	HD_FOR_PROBE = 1 << 5,    /* --trust-session: doctor and run */
	HD_FOR_WHY = 1 << 6,      /* --reason: leader pause, resign, resume */
	HD_FOR_HISTORY = 1 << 7,  /* --limit: leader history */
	HD_FOR_HELP = 1 << 8,     /* howdah help */
	HD_FOR_MACHINE = 1 << 10, /* --dot: leader machine */
	HD_FOR_WATCH = 1 << 11,   /* --exec, --retry: leader watch */
	HD_FOR_STATUS = 1 << 12,  /* --watch, --interval: status */
	HD_FOR_VERIFY = 1 << 13,  /* --pooler, --election, --grace: verify */
	HD_NO_FILE = 1 << 9,      /* of a command: no file is read, so a broken one can't stop it */
};

struct hd_option {
	const char *name;
	char letter;         /* 0: none */
	const char *arg;     /* NULL for a flag */
	const char *env;     /* NULL: not from the environment */
	bool env_only;       /* not on the command line */
	const char *section; /* file: NULL not there, "" top level, "role" in [role.NAME] */
	const char *def;     /* text, as a user would write it; NULL: unset */
	enum hd_option_type type;
	size_t at;           /* offsetof(struct hd_config, ...) */
	size_t given;        /* offset of a bool that says a value was given; 0: none */
	int64_t least, most; /* of numbers and durations; both 0: no bound */
	unsigned int groups;
	const char *help; /* one sentence, no full stop; default is added. NULL: hidden */
};

#define HD_OPTIONS_MAX 64

extern const struct hd_option hd_options[]; /* ended by a row without name */

/* The row of a name on the command line (without "--"), or NULL. */
const struct hd_option *hd_option_find(const char *name);

/* Parses `text` and stores it in `config`, which borrows it. HD_INVALID says what is wrong with it.
 */
hd_status hd_option_set(struct hd_config *config, const struct hd_option *o, const char *text,
                        struct hd_error *err);

/* What stands behind "howdah": options with values, words, and what follows "--". Borrows argv. */
struct hd_command_line {
	int nsettings;
	struct hd_setting {
		const struct hd_option *option;
		const char *value;
	} setting[HD_OPTIONS_MAX];
	int nwords; /* the command's words, then operands */
	const char *word[HD_OPERANDS_MAX + 2];
	char **command; /* NULL: no "--" */
};

/*
 * Splits and checks argv, which is NULL-ended (argv[0] is the first word behind "howdah").
 * HD_INVALID: an unknown option, with the nearest; a value that is missing, too much, or can't be
 * read.
 */
hd_status hd_command_line_read(struct hd_command_line *line, char **argv, struct hd_error *err);

/* Stores the settings of a command line that was read; for what must not look at a file. */
void hd_config_apply(struct hd_config *config, const struct hd_command_line *line);

/*
 * Fills `config` with what `groups` take: defaults, file, environment, command line. It borrows
 * from all of them; release it when done. HD_INVALID: the file or the environment is wrong, the
 * message names the line or the variable. On failure there is nothing to release.
 */
hd_status hd_config_load(struct hd_config *config, unsigned int groups,
                         const struct hd_command_line *line, struct hd_error *err);
void hd_config_release(struct hd_config *config);

#endif
