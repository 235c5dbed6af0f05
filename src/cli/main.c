#include "app/exit.h"
#include "app/log.h"
#include "app/option.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/command.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A connection that took the place of a closed stdout would get what is printed. */
static void keep_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO && fcntl(fd, F_SETFD, 0) == 0);
	if (fd >= 0)
		(void)close(fd);
}

static hd_status not_taken(const struct hd_command *command, const struct hd_option *o,
                           struct hd_error *err)
{
	HD_BUF names;

	hd_buf_init(&names);
	hd_command_takers(o->groups, &names);
	(void)hd_fail(err, HD_INVALID, "howdah %s takes no option --%s", command->name, o->name);
	hd_hint(err, "it is an option of: %s", names.data);
	return HD_INVALID;
}

/* Each option on the command line must be one of the command. */
static hd_status check_options(const struct hd_command *command, const struct hd_command_line *line,
                               struct hd_error *err)
{
	for (int i = 0; i < line->nsettings; i++) {
		const struct hd_option *o = line->setting[i].option;

		if ((o->groups & command->groups) == 0)
			return not_taken(command, o, err);
	}
	return HD_OK;
}

static hd_status too_many(const struct hd_command *command, const char *word, struct hd_error *err)
{
	(void)hd_fail(err, HD_INVALID, "howdah %s: there is a word too many: \"%s\"", command->name,
	              word);
	if (command->takes_command)
		hd_hint(err, "the command to run stands behind --: howdah %s ... -- %s",
		        command->name, word);
	else
		hd_hint(err, "it is used as: howdah %s%s%s", command->name,
		        command->operands[0] != '\0' ? " " : "", command->operands);
	return HD_INVALID;
}

/* Operands are what is left of the words; `ret` gets them. */
static hd_status take_operands(const struct hd_command *command, const struct hd_command_line *line,
                               int words, struct hd_config *ret, struct hd_error *err)
{
	int n = line->nwords - words;

	if (n > command->most)
		return too_many(command, line->word[words + command->most], err);
	if (n < command->least) {
		(void)hd_fail(err, HD_INVALID, "howdah %s needs %s", command->name,
		              command->operands);
		hd_hint(err, "`howdah help %s` says more", command->name);
		return HD_INVALID;
	}
	if (line->command != NULL && !command->takes_command)
		return hd_fail(err, HD_INVALID, "howdah %s takes nothing behind --", command->name);
	if (line->command != NULL && *line->command == NULL)
		return hd_fail(err, HD_INVALID, "there is no command behind --");
	for (int i = 0; i < n; i++)
		ret->operand[i] = line->word[words + i];
	ret->noperands = n;
	return HD_OK;
}

static hd_status check_config(const struct hd_config *config, struct hd_error *err)
{
	if (config->quiet && config->verbose)
		return hd_fail(err, HD_INVALID, "--quiet and --verbose exclude each other");
	return HD_OK;
}

static void set_up_log(const struct hd_config *config)
{
	hd_log_setup(strcmp(config->log_format, "json") == 0 ? HD_LOG_JSON : HD_LOG_TEXT,
	             config->quiet     ? HD_LOG_WARN
	             : config->verbose ? HD_LOG_DEBUG
	                               : HD_LOG_INFO);
}

static int run(const struct hd_command *command, const struct hd_command_line *line, int words)
{
	struct hd_config config;
	struct hd_config operands = { 0 };
	struct hd_error err = { 0 };
	hd_status st = check_options(command, line, &err);
	int code;

	if (st == HD_OK)
		st = take_operands(command, line, words, &operands, &err);
	if (st != HD_OK)
		return hd_complain(&err);
	if (hd_config_load(&config, command->groups, line, &err) != HD_OK)
		return hd_complain_with(&err, HD_EXIT_CONFIG);
	config.noperands = operands.noperands;
	memcpy(config.operand, operands.operand, sizeof(config.operand));
	if (check_config(&config, &err) == HD_OK) {
		set_up_log(&config);
		code = command->run(&config);
	} else {
		code = hd_complain(&err);
	}
	hd_config_release(&config);
	return code;
}

/* Decides between help, version and the command; `words` of the line are the command's name. */
static int dispatch(const struct hd_command_line *line)
{
	struct hd_config asked = { 0 };
	struct hd_error err = { 0 };
	int words = 0;
	const struct hd_command *command = hd_command_find(line->word, line->nwords, &words);

	hd_config_apply(&asked, line);
	if (command != NULL && !(command->most == 0 && words == 1 && line->nwords > 1 &&
	                         hd_command_has_parts(command))) {
		if (!asked.help)
			return run(command, line, words);
		hd_help(command);
		return HD_EXIT_OK;
	}
	if (line->nwords > 0) {
		hd_command_unknown(line->word, line->nwords, &err);
		return hd_complain(&err);
	}
	if (asked.version)
		return hd_cmd_version(&asked);
	if (asked.help || line->nsettings == 0) {
		hd_help(NULL);
		return asked.help ? HD_EXIT_OK : HD_EXIT_USAGE;
	}
	(void)hd_fail(&err, HD_INVALID, "there is no command");
	hd_hint(&err, "`howdah help` lists them");
	return hd_complain(&err);
}

/* What was printed has to have arrived: a full disk must not look like success. */
static int finish(int code)
{
	struct hd_error err = { 0 };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	(void)hd_fail_errno(&err, HD_REFUSED, "can't write the output");
	return code != HD_EXIT_OK ? code : hd_complain_with(&err, HD_EXIT_BUG);
}

int main(int argc, char **argv)
{
	struct hd_command_line line;
	struct hd_error err = { 0 };

	keep_standard_descriptors();
	if (hd_command_line_read(&line, argv + (argc > 0), &err) != HD_OK)
		return hd_complain(&err);
	return finish(dispatch(&line));
}
