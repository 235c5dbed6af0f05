/* howdah(1) as mdoc(7), from the same tables as the program itself. */
#include "base/base.h"
#include "cli/manual.h"

#include <string.h>

#define DATE "November 30, 2026"

/* One character of running text; '-' would become a hyphen that can't be copied into a shell. */
static void put_char(struct hd_buf *b, char c)
{
	if (c == '\\')
		hd_buf_text(b, "\\e");
	else if (c == '-')
		hd_buf_text(b, "\\-");
	else if (c == '`')
		hd_buf_text(b, "\\(ga");
	else
		hd_buf_char(b, c);
}

/*
 * Running text on lines of its own: not too long ones, and a new sentence begins a new line, as
 * mdoc wants it. A line that would begin like a macro is guarded.
 */
static void put_text(struct hd_buf *b, const char *text, size_t n)
{
	size_t start = b->len;

	for (size_t i = 0; i < n; i++) {
		bool sentence = i > 0 && text[i - 1] == '.' && i + 1 < n;

		if (text[i] == ' ' && (sentence || b->len - start > 64)) {
			hd_buf_char(b, '\n');
			start = b->len;
			continue;
		}
		if (b->len == start && (text[i] == '.' || text[i] == '\''))
			hd_buf_text(b, "\\&");
		put_char(b, text[i]);
	}
	hd_buf_char(b, '\n');
}

static void put_literal(struct hd_buf *b, const char *text, size_t n)
{
	if (n > 0 && (text[0] == '.' || text[0] == '\''))
		hd_buf_text(b, "\\&");
	for (size_t i = 0; i < n; i++)
		put_char(b, text[i]);
	hd_buf_char(b, '\n');
}

static void put_line(struct hd_buf *b, const char *text)
{
	put_text(b, text, strlen(text));
}

/* Words behind a macro: quoted, so that none is taken for another macro. */
static void put_argument(struct hd_buf *b, const char *text)
{
	hd_buf_text(b, " \"\\&");
	for (; *text != '\0'; text++) {
		if (*text == '"')
			hd_buf_text(b, "\\(dq");
		else
			put_char(b, *text);
	}
	hd_buf_char(b, '"');
}

static void put_macro(struct hd_buf *b, const char *macro, const char *text)
{
	hd_buf_printf(b, ".%s", macro);
	put_argument(b, text);
	hd_buf_char(b, '\n');
}

/* Paragraphs; lines that begin with two blanks are shown as they are. */
static void put_paragraphs(struct hd_buf *b, const char *text)
{
	bool literal = false;

	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		bool wants = strncmp(text, "  ", 2) == 0;

		if (wants && !literal)
			hd_buf_text(b, ".Bd -literal -offset indent\n");
		if (!wants && literal)
			hd_buf_text(b, ".Ed\n");
		if (n == 0 && !(literal && text[1] == '\0') && strncmp(text + 1, "  ", 2) != 0)
			hd_buf_text(b, ".Pp\n");
		else if (wants)
			put_literal(b, text + 2, n - 2);
		else if (n > 0)
			put_text(b, text, n);
		literal = wants;
		text += n + (text[n] == '\n');
	}
	if (literal)
		hd_buf_text(b, ".Ed\n");
}

static void put_facts(struct hd_buf *b, const char *macro, const struct hd_fact *fact)
{
	for (; fact->name != NULL; fact++) {
		hd_buf_printf(b, ".It %s", macro);
		put_argument(b, fact->name);
		hd_buf_char(b, '\n');
		put_line(b, fact->text);
	}
}

static void put_command(struct hd_buf *b, const struct hd_command *c)
{
	hd_buf_text(b, ".It Ic");
	put_argument(b, c->name);
	if (c->operands[0] != '\0') {
		hd_buf_text(b, " Ar");
		put_argument(b, c->operands);
	}
	hd_buf_char(b, '\n');
	put_paragraphs(b, c->details != NULL ? c->details : c->summary);
}

static void put_commands(struct hd_buf *b)
{
	hd_buf_text(b, ".Sh COMMANDS\n.Bl -tag -width Ds\n");
	for (const struct hd_command *c = hd_commands; c->name != NULL; c++)
		if (!c->hidden)
			put_command(b, c);
	hd_buf_text(b, ".El\n");
}

static void put_option_text(struct hd_buf *b, const struct hd_option *o)
{
	HD_BUF text;

	hd_buf_init(&text);
	hd_buf_text(&text, o->help);
	if (o->def != NULL)
		hd_buf_printf(&text, " (default %s)", o->def);
	put_line(b, text.data);
}

static void put_option(struct hd_buf *b, const struct hd_option *o)
{
	hd_buf_text(b, ".It");
	if (o->letter != 0)
		hd_buf_printf(b, " Fl %c ,", o->letter);
	hd_buf_text(b, " Fl");
	hd_buf_text(b, " \\-");
	for (const char *p = o->name; *p != '\0'; p++)
		put_char(b, *p);
	if (o->arg != NULL) {
		hd_buf_text(b, " Ar");
		put_argument(b, o->arg);
	}
	hd_buf_char(b, '\n');
	put_option_text(b, o);
}

static void put_options(struct hd_buf *b, const char *title, unsigned int groups)
{
	HD_BUF names;

	hd_buf_init(&names);
	if (title == NULL)
		hd_command_takers(groups, &names);
	put_macro(b, "Ss", title != NULL ? title : names.data);
	hd_buf_text(b, ".Bl -tag -width Ds\n");
	for (const struct hd_option *o = hd_options; o->name != NULL; o++)
		if ((o->groups & groups) != 0 && o->help != NULL && !o->env_only)
			put_option(b, o);
	hd_buf_text(b, ".El\n");
}

static void put_all_options(struct hd_buf *b)
{
	static const struct {
		const char *title; /* NULL: the commands */
		unsigned int groups;
	} groups[] = {
		{ "All commands", HD_FOR_ALL },
		{ "Commands that need a database", HD_FOR_DB },
		{ "Commands that print", HD_FOR_JSON },
		{ NULL, HD_FOR_INIT },
		{ NULL, HD_FOR_RUN },
		{ NULL, HD_FOR_PROBE },
		{ NULL, HD_FOR_WHY },
		{ NULL, HD_FOR_HISTORY },
		{ NULL, HD_FOR_WATCH },
		{ NULL, HD_FOR_MACHINE },
		{ NULL, HD_FOR_STATUS },
		{ NULL, HD_FOR_VERIFY },
	};

	hd_buf_text(b, ".Sh OPTIONS\n");
	put_line(b, "Options stand before or behind the command, as --name VALUE or --name=VALUE. "
	            "Each is taken from the command line, the environment, the file of settings or "
	            "its default, in this order. A flag takes =on or =off. Durations are whole "
	            "numbers with a unit: 500ms, 2s, 5m, 1h, 1d.");
	for (size_t i = 0; i < HD_ARRAY_SIZE(groups); i++)
		put_options(b, groups[i].title, groups[i].groups);
}

static void put_environment(struct hd_buf *b)
{
	hd_buf_text(b, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
	for (const struct hd_option *o = hd_options; o->name != NULL; o++) {
		if (o->env == NULL)
			continue;
		hd_buf_printf(b, ".It Ev %s\n", o->env);
		if (o->env_only)
			put_option_text(b, o);
		else
			hd_buf_printf(b, "as the option\n.Fl \\-%s\n", o->name);
	}
	put_facts(b, "Ev", hd_environment);
	hd_buf_text(b, ".El\n");
}

/* The keys of one kind of section, as a list with commas. */
static void put_keys(struct hd_buf *b, const char *section)
{
	const char *comma = "";

	for (const struct hd_option *o = hd_options; o->name != NULL; o++) {
		if (o->section == NULL || strcmp(o->section, section) != 0)
			continue;
		hd_buf_text(b, comma);
		put_text(b, o->name, strlen(o->name));
		hd_buf_cut(b, b->len - 1);
		comma = ",\n";
	}
	hd_buf_text(b, ".\n");
}

static void put_files(struct hd_buf *b)
{
	hd_buf_text(b, ".Sh FILES\n.Bl -tag -width Ds\n.It Pa /etc/howdah.conf\n");
	put_line(b,
	         "Settings, unless --config or HOWDAH_CONFIG names another file. A line is key = "
	         "value; a comment begins with # on a line of its own; what stands behind the "
	         "first = is the value, in double quotes where blanks at its ends count (\\\" "
	         "and \\\\ inside them). Nothing is cut: lines over 64 KiB and files over 1 MiB "
	         "are refused, and so are unknown and repeated keys.");
	put_paragraphs(b, "\n  db = host=db1,db2 dbname=app user=worker\n"
	                  "  log-format = json\n"
	                  "\n"
	                  "  [role.poller]\n"
	                  "  key = 1840000001\n"
	                  "  heartbeat = 10s\n"
	                  "  lease = 30s\n");
	hd_buf_text(b, ".Pp\nAt the top of the file:\n");
	put_keys(b, "");
	hd_buf_text(b, ".Pp\nIn the section of a role, for\n.Ic run Fl \\-role Ar NAME :\n");
	put_keys(b, "role");
	hd_buf_text(b, ".El\n");
}

static void put_head(struct hd_buf *b)
{
	hd_buf_text(b, ".\\\" Made by `howdah help --man`; change the tables in src and not this.\n"
	               ".Dd " DATE "\n"
	               ".Dt HOWDAH 1\n.Os\n"
	               ".Sh NAME\n.Nm howdah\n"
	               ".Nd run a command on exactly one node, with PostgreSQL\n"
	               ".Sh SYNOPSIS\n.Nm\n.Op Ar OPTION ...\n.Ar COMMAND\n.Op Ar OPTION ...\n"
	               ".Op Ar OPERAND ...\n.Nm\n.Cm help\n.Op Ar COMMAND\n"
	               ".Sh DESCRIPTION\n");
	put_line(b, hd_introduction);
	put_paragraphs(b, "\nEach node runs the same command line; one of them leads the role, the "
	                  "others stand by. A node that loses the database ends its command before "
	                  "another node may start it. Logs go to standard error, a line an event. "
	                  "Passwords belong into libpq's password or service file: a command line "
	                  "can be seen by other users.");
}

void hd_man_page(struct hd_buf *b)
{
	put_head(b);
	put_commands(b);
	put_all_options(b);
	put_environment(b);
	put_files(b);
	hd_buf_text(b, ".Sh EXIT STATUS\n.Bl -tag -width 128+n\n");
	put_facts(b, "Li", hd_exit_codes);
	hd_buf_text(b, ".El\n");
	hd_buf_text(b, ".Sh EXAMPLES\n.Bl -tag -width Ds\n");
	for (const struct hd_fact *f = hd_examples; f->name != NULL; f++) {
		hd_buf_text(b, ".It Ic");
		put_argument(b, f->text);
		hd_buf_char(b, '\n');
		put_line(b, f->name);
	}
	hd_buf_text(b, ".El\n.Sh SEE ALSO\n.Xr psql 1\n");
}
