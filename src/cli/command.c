#include "cli/command.h"

#include "base/error.h"
#include "base/nearest.h"
#include <stdio.h>
#include <string.h>

static bool is_words(const char *name, const char *first, const char *second)
{
	size_t n = strlen(first);

	if (strncmp(name, first, n) != 0)
		return false;
	if (second == NULL)
		return name[n] == '\0';
	return name[n] == ' ' && strcmp(name + n + 1, second) == 0;
}

const struct hd_command *hd_command_find(const char *const *word, int nwords, int *ret_words)
{
	for (int take = nwords < 2 ? nwords : 2; take > 0; take--) {
		for (const struct hd_command *c = hd_commands; c->name != NULL; c++) {
			if (is_words(c->name, word[0], take == 2 ? word[1] : NULL)) {
				*ret_words = take;
				return c;
			}
		}
	}
	return NULL;
}

bool hd_command_is_under(const struct hd_command *c, const char *name)
{
	size_t n = strlen(name);

	return strncmp(c->name, name, n) == 0 && c->name[n] == ' ';
}

bool hd_command_has_parts(const struct hd_command *of)
{
	for (const struct hd_command *c = hd_commands; c->name != NULL; c++)
		if (!c->hidden && hd_command_is_under(c, of->name))
			return true;
	return false;
}

void hd_command_takers(unsigned int groups, struct hd_buf *b)
{
	const char *comma = "";

	for (const struct hd_command *c = hd_commands; c->name != NULL; c++) {
		if ((c->groups & groups) == 0 || c->hidden)
			continue;
		hd_buf_printf(b, "%s%s", comma, c->name);
		comma = ", ";
	}
}

/* The name that was probably meant by one word, or by the first two. */
static const char *nearest_command(const char *wanted)
{
	struct hd_nearest near;

	hd_nearest_init(&near, wanted);
	for (const struct hd_command *c = hd_commands; c->name != NULL; c++)
		if (!c->hidden)
			hd_nearest_offer(&near, c->name);
	return near.best;
}

void hd_command_unknown(const char *const *word, int nwords, struct hd_error *err)
{
	char wanted[80];
	const char *near;
	int words = 0;
	const struct hd_command *first = hd_command_find(word, 1, &words);

	(void)snprintf(wanted, sizeof(wanted), "%s%s%s", word[0],
	               first != NULL && nwords > 1 ? " " : "",
	               first != NULL && nwords > 1 ? word[1] : "");
	(void)hd_fail(err, HD_INVALID, "there is no command \"%s\"", wanted);
	near = nearest_command(wanted);
	if (near != NULL && (first == NULL || strcmp(near, first->name) != 0))
		hd_hint(err, "did you mean howdah %s?", near);
	else if (first != NULL)
		hd_hint(err, "`howdah help %s` lists what there is", first->name);
	else
		hd_hint(err, "`howdah help` lists the commands");
}
