#include "app/exit.h"
#include "cli/manual.h"
#include <stdio.h>
#include <string.h>

#define OPTION_COLUMN  27
#define COMMAND_COLUMN 12
#define PART_COLUMN    18
#define EXAMPLE_COLUMN 34

/* Begins a row: two blanks, the name, then blanks up to `column`, on a line of its own when long.
 */
static void begin_row(struct hd_buf *b, const char *name, size_t column)
{
	hd_buf_printf(b, "  %-*s", (int)column - 2, name);
	if (strlen(name) + 3 > column)
		hd_buf_printf(b, "\n%*s", (int)column, "");
}

static void add_row(struct hd_buf *b, const char *name, const char *text, size_t column)
{
	begin_row(b, name, column);
	hd_wrap(b, column, text);
}

static void add_option(struct hd_buf *b, const struct hd_option *o)
{
	HD_BUF name;
	HD_BUF text;

	hd_buf_init(&name);
	hd_buf_init(&text);
	hd_option_usage(&name, o);
	hd_option_help(&text, o);
	add_row(b, name.data, text.data, OPTION_COLUMN);
}

static void add_options(struct hd_buf *b, unsigned int groups)
{
	for (const struct hd_option *o = hd_options; o->name != NULL; o++) {
		if ((o->groups & groups) != 0 && o->help != NULL && !o->env_only)
			add_option(b, o);
	}
}

static void add_environment(struct hd_buf *b, unsigned int groups)
{
	for (const struct hd_option *o = hd_options; o->name != NULL; o++) {
		if ((o->groups & groups) == 0 || !o->env_only)
			continue;
		hd_buf_text(b, "\nEnvironment:\n");
		add_row(b, o->env, o->help, OPTION_COLUMN);
	}
}

static void add_commands(struct hd_buf *b, const char *under)
{
	for (const struct hd_command *c = hd_commands; c->name != NULL; c++) {
		bool sub = strchr(c->name, ' ') != NULL;

		if (c->hidden || (under == NULL ? sub : !hd_command_is_under(c, under)))
			continue;
		add_row(b, c->name, c->summary, under == NULL ? COMMAND_COLUMN : PART_COLUMN);
	}
}

static void add_overview(struct hd_buf *b)
{
	hd_buf_text(b, "Usage: howdah [OPTION]... COMMAND [OPTION]... [OPERAND]...\n\n");
	hd_wrap(b, 0, hd_introduction);
	hd_buf_text(b, "\nCommands:\n");
	add_commands(b, NULL);
	hd_buf_text(b, "\nWhen something is wrong:\n");
	for (const struct hd_fact *f = hd_examples; f->name != NULL; f++)
		add_row(b, f->text, f->name, EXAMPLE_COLUMN);
	hd_buf_text(b, "\nWhich database:\n");
	add_options(b, HD_FOR_DB);
	hd_buf_text(b, "\nOptions of all commands:\n");
	add_options(b, HD_FOR_ALL);
	hd_buf_text(b, "\n");
	hd_wrap(b, 0,
	        "`howdah help COMMAND` shows the rest. Options stand before or behind the command; "
	        "each is taken from the command line, the environment, the file of settings or its "
	        "default, in this order. Durations are written 500ms, 2s, 5m, 1h or 1d.");
}

static void add_exit_codes(struct hd_buf *b)
{
	hd_buf_text(b, "\nExit codes:\n");
	for (const struct hd_fact *f = hd_exit_codes; f->name != NULL; f++)
		add_row(b, f->name, f->text, 9);
}

static void add_usage(struct hd_buf *b, const struct hd_command *c)
{
	hd_buf_printf(b, "Usage: howdah %s%s [OPTION]...%s%s\n", c->name,
	              hd_command_has_parts(c) ? " [COMMAND]" : "",
	              c->operands[0] != '\0' ? " " : "", c->operands);
}

static void add_command_help(struct hd_buf *b, const struct hd_command *c)
{
	unsigned int own = c->groups & ~(unsigned int)(HD_FOR_ALL | HD_NO_FILE);

	add_usage(b, c);
	hd_buf_char(b, '\n');
	hd_wrap_paragraphs(b, 0, c->details != NULL ? c->details : c->summary);
	if (hd_command_has_parts(c)) {
		hd_buf_text(b, "\nCommands:\n");
		add_commands(b, c->name);
	}
	if (own != 0) {
		hd_buf_text(b, "\nOptions:\n");
		add_options(b, own & ~(unsigned int)HD_FOR_DB);
		add_options(b, own & HD_FOR_DB);
	}
	add_environment(b, own);
	if (c->takes_command && (own & HD_FOR_RUN) != 0)
		add_exit_codes(b);
	hd_buf_text(b, "\n");
	hd_wrap(
	    b, 0,
	    "Options of all commands: --config FILE, --log-format text|json, -q, -v, --help; see "
	    "`howdah --help`.");
}

void hd_help(const struct hd_command *command)
{
	HD_BUF b;

	hd_buf_init(&b);
	if (command == NULL)
		add_overview(&b);
	else
		add_command_help(&b, command);
	(void)fputs(b.data, stdout);
}

int hd_cmd_help(const struct hd_config *config)
{
	const struct hd_command *command = NULL;
	struct hd_error err;
	int words = 0;

	if (config->man) {
		HD_BUF b;

		hd_buf_init(&b);
		hd_man_page(&b);
		(void)fputs(b.data, stdout);
		return HD_EXIT_OK;
	}
	if (config->noperands > 0) {
		command = hd_command_find(config->operand, config->noperands, &words);
		if (command == NULL || words < config->noperands) {
			hd_command_unknown(config->operand, config->noperands, &err);
			return hd_complain(&err);
		}
	}
	hd_help(command);
	return HD_EXIT_OK;
}
