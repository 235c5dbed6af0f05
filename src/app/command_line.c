#include "app/option.h"

#include "base/base.h"
#include "base/error.h"
#include "base/nearest.h"
#include <stdio.h>
#include <string.h>

static hd_status unknown_option(const char *word, struct hd_error *err)
{
	/* What stands behind '=' may be a password. */
	size_t n = strcspn(word, "=");
	char shown[200] = "";
	struct hd_nearest near;

	memcpy(shown, word, n < sizeof(shown) ? n : sizeof(shown) - 1);
	(void)hd_fail(err, HD_INVALID, "there is no option %s", shown);
	hd_nearest_init(&near, shown + strspn(shown, "-"));
	for (const struct hd_option *o = hd_options; o->name != NULL; o++)
		if (!o->env_only && o->help != NULL)
			hd_nearest_offer(&near, o->name);
	if (near.best != NULL)
		hd_hint(err, "did you mean --%s?", near.best);
	else
		hd_hint(err, "`howdah help COMMAND` lists the options; those of a command that "
		             "howdah shall run stand with it behind --");
	return HD_INVALID;
}

/* The option that `word` names; `ret_value` is what stands behind '=', or NULL. */
static const struct hd_option *option_of(const char *word, const char **ret_value)
{
	size_t n = strcspn(word + 2, "=");
	char name[64];

	*ret_value = NULL;
	if (word[1] != '-') {
		for (const struct hd_option *o = hd_options; o->name != NULL; o++)
			if (o->letter != 0 && word[1] == o->letter && word[2] == '\0')
				return o;
		return NULL;
	}
	if (n >= sizeof(name))
		return NULL;
	memcpy(name, word + 2, n);
	name[n] = '\0';
	if (word[2 + n] == '=')
		*ret_value = word + 2 + n + 1;
	return hd_option_find(name);
}

/* A next word that is an option itself was hardly meant as a value: `--db --json`. */
static hd_status need_value(const struct hd_option *o, const char *next, struct hd_error *err)
{
	if (next != NULL && strncmp(next, "--", 2) != 0)
		return HD_OK;
	(void)hd_fail(err, HD_INVALID, "--%s needs a value: %s", o->name, o->arg);
	if (next != NULL)
		hd_hint(err,
		        "the next word is %.*s; a value that really begins with -- is "
		        "written --%s=VALUE",
		        (int)strcspn(next, "="), next, o->name);
	return HD_INVALID;
}

static hd_status add_setting(struct hd_command_line *line, const struct hd_option *o,
                             const char *value, struct hd_error *err)
{
	struct hd_config scratch = { 0 };
	hd_status st = hd_option_set(&scratch, o, value, err);

	if (st != HD_OK) {
		hd_fail_prefix(err, "--%s, on the command line: ", o->name);
		return st;
	}
	if (line->nsettings == HD_OPTIONS_MAX)
		return hd_fail(err, HD_INVALID, "more than %d options", HD_OPTIONS_MAX);
	line->setting[line->nsettings++] = (struct hd_setting){ o, value };
	return HD_OK;
}

/* Reads the option at argv[0]; `ret_used` is how many words it took. */
static hd_status read_option(struct hd_command_line *line, char **argv, int *ret_used,
                             struct hd_error *err)
{
	const char *value = NULL;
	const struct hd_option *o = option_of(argv[0], &value);

	*ret_used = 1;
	if (o == NULL)
		return unknown_option(argv[0], err);
	if (value == NULL && o->type == HD_OPT_FLAG) {
		value = "on";
	} else if (value == NULL) {
		hd_status st = need_value(o, argv[1], err);

		if (st != HD_OK)
			return st;
		value = argv[1];
		*ret_used = 2;
	}
	return add_setting(line, o, value, err);
}

hd_status hd_command_line_read(struct hd_command_line *line, char **argv, struct hd_error *err)
{
	*line = (struct hd_command_line){ 0 };
	while (*argv != NULL) {
		int used = 1;

		if (strcmp(*argv, "--") == 0) {
			line->command = argv + 1;
			return HD_OK;
		}
		if (argv[0][0] == '-' && argv[0][1] != '\0') {
			hd_status st = read_option(line, argv, &used, err);

			if (st != HD_OK)
				return st;
		} else if (line->nwords == (int)HD_ARRAY_SIZE(line->word)) {
			return hd_fail(err, HD_INVALID, "too many words: %s", *argv);
		} else {
			line->word[line->nwords++] = *argv;
		}
		argv += used;
	}
	return HD_OK;
}
