#include "cli/manual.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 80

const char *const hd_introduction =
    "Howdah runs a command on exactly one of your nodes, with the PostgreSQL you already run.";

const struct hd_fact hd_exit_codes[] = {
	{ "0", "done; `run`: the command ended with 0, or a stand-by was asked to stop" },
	{ "64", "the command line is wrong" },
	{ "69", "the database could not be reached" },
	{ "70", "an error of howdah itself" },
	{ "75", "not held: somebody else leads, or nobody does" },
	{ "76", "leadership was lost while the command ran (with --wait)" },
	{ "77",
	  "refused: a gate is closed, a pooler is in between, key or mode conflict, a standby "
	  "server, a paused role" },
	{ "78", "nothing says which database, or a setting is wrong" },
	{ "126", "the command exists and can't be started" },
	{ "127", "the command does not exist" },
	{ "128+n", "the command was ended by signal n" },
	{ NULL, NULL },
};

const struct hd_fact hd_environment[] = {
	{ "PGHOST, PGHOSTADDR, PGSERVICE",
	  "libpq's own settings name the database when neither --db nor HOWDAH_DB nor the file "
	  "does; "
	  "its other variables (PGPORT, PGDATABASE, PGPASSFILE, PGSSLMODE, ...) count as always" },
	{ "HOWDAH_STATE", "the folder of the embedded server" },
	{ "HOWDAH_PGBIN", "the folder of the server programs for the embedded server" },
	{ "HOWDAH_ROLE, HOWDAH_TOKEN, HOWDAH_NODE",
	  "are set for the command that `howdah run` starts: the role, the fencing token of this "
	  "term, "
	  "the identity of the node; howdah itself does not read them" },
	{ "HOWDAH_HELD_FD",
	  "is set for the command as well: a descriptor that `howdah held` reads" },
	{ NULL, NULL },
};

const struct hd_fact hd_examples[] = {
	{ "who leads what, and where", "howdah leader" },
	{ "schema, roles and nodes", "howdah status" },
	{ "is the connection good enough?", "howdah doctor" },
	{ "stop a role on all nodes", "howdah leader pause ROLE" },
	{ "and let it go on", "howdah leader resume ROLE" },
	{ "what happened last night", "howdah leader history ROLE" },
	{ NULL, NULL },
};

static void indent_line(struct hd_buf *b, size_t indent)
{
	for (size_t i = 0; i < indent; i++)
		hd_buf_char(b, ' ');
}

/* How many bytes the last line of `b` has. */
static size_t column(const struct hd_buf *b)
{
	const char *newline = b->len > 0 ? memrchr(b->data, '\n', b->len) : NULL;

	return newline == NULL ? b->len : b->len - (size_t)(newline + 1 - b->data);
}

void hd_wrap(struct hd_buf *b, size_t indent, const char *text)
{
	bool first = true;

	while (*(text += strspn(text, " \n")) != '\0') {
		size_t n = strcspn(text, " \n");

		if (!first && column(b) + 1 + n > COLUMNS) {
			hd_buf_char(b, '\n');
			indent_line(b, indent);
			first = true;
		}
		if (!first)
			hd_buf_char(b, ' ');
		hd_buf_add(b, text, n);
		text += n;
		first = false;
	}
	hd_buf_char(b, '\n');
}

void hd_wrap_paragraphs(struct hd_buf *b, size_t indent, const char *text)
{
	while (*text != '\0') {
		const char *end = strchr(text, '\n');
		size_t n = end != NULL ? (size_t)(end - text) : strlen(text);

		if (n > 0)
			indent_line(b, indent);
		if (strncmp(text, "  ", 2) == 0 || n == 0) {
			hd_buf_add(b, text, n);
			hd_buf_char(b, '\n');
		} else {
			char *line = strndup(text, n);

			hd_wrap(b, indent, line != NULL ? line : "");
			free(line);
		}
		text += n + (text[n] == '\n');
	}
}

void hd_option_usage(struct hd_buf *b, const struct hd_option *o)
{
	if (o->env_only) {
		hd_buf_printf(b, "%s=%s", o->env, o->arg);
		return;
	}
	if (o->letter != 0)
		hd_buf_printf(b, "-%c, ", o->letter);
	hd_buf_printf(b, "--%s", o->name);
	if (o->arg != NULL)
		hd_buf_printf(b, " %s", o->arg);
}

void hd_option_help(struct hd_buf *b, const struct hd_option *o)
{
	hd_buf_text(b, o->help);
	if (o->def != NULL)
		hd_buf_printf(b, " (default %s)", o->def);
	if (o->env != NULL && !o->env_only)
		hd_buf_printf(b, " [%s]", o->env);
}
