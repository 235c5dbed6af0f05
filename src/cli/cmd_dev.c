/* cmd_dev.c - howdah dev: the private server of `--db dev`, seen and handled. */
#include "app/embedded.h"
#include "app/exit.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/command.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PSQL_ARGS_MAX 64

static hd_mono patience(void)
{
	return hd_after(hd_now(), HD_EMBEDDED_PATIENCE_MS);
}

/* A setting or the machine is wrong, not the command line. */
static int complain(const struct hd_error *err)
{
	return err->status == HD_INVALID ? hd_complain_with(err, HD_EXIT_CONFIG) : hd_complain(err);
}

static const char *state_of(const struct hd_embedded *e)
{
	return e->pid != 0 ? "running" : e->major != 0 ? "stopped" : "not made yet";
}

static void show_json(const struct hd_embedded *e)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "state", state_of(e));
	hd_json_text(&b, "folder", e->folder);
	hd_json_text(&b, "user", e->user);
	hd_json_int(&b, "major", e->major);
	hd_json_int(&b, "pid", e->pid);
	hd_json_text(&b, "dsn", e->conninfo);
	hd_buf_char(&b, '}');
	printf("%s\n", b.data);
}

static int show(const struct hd_config *config)
{
	struct hd_error err = { 0 };
	struct hd_embedded e;

	if (hd_embedded_look(&e, &err) != HD_OK)
		return complain(&err);
	if (config->json) {
		show_json(&e);
		return HD_EXIT_OK;
	}
	printf("state   %s\n", state_of(&e));
	printf("folder  %s\n", e.folder);
	if (e.major != 0)
		printf("server  PostgreSQL %d\n", e.major);
	printf("user    %s\n", e.user);
	if (e.pid != 0)
		printf("pid     %d\n", (int)e.pid);
	printf("dsn     %s\n", e.conninfo);
	return HD_EXIT_OK;
}

static int start(const struct hd_config *config)
{
	struct hd_error err = { 0 };
	struct hd_embedded e;

	(void)config;
	if (hd_embedded_ensure(patience(), &e, &err) != HD_OK)
		return complain(&err);
	hd_embedded_announce(&e);
	printf("%s\n", e.conninfo);
	return HD_EXIT_OK;
}

static int dsn(const struct hd_config *config)
{
	struct hd_error err = { 0 };
	struct hd_embedded e;

	(void)config;
	if (hd_embedded_look(&e, &err) != HD_OK)
		return complain(&err);
	printf("%s\n", e.conninfo);
	return HD_EXIT_OK;
}

static int stop(const struct hd_config *config)
{
	struct hd_error err = { 0 };
	struct hd_embedded e;

	(void)config;
	if (hd_embedded_stop(patience(), &e, &err) != HD_OK)
		return complain(&err);
	if (e.pid != 0)
		printf("stopped the server in %s, process %d\n", e.folder, (int)e.pid);
	else
		printf("no server runs in %s\n", e.folder);
	return HD_EXIT_OK;
}

static int destroy(const struct hd_config *config)
{
	struct hd_error err = { 0 };
	struct hd_embedded e;

	(void)config;
	if (hd_embedded_destroy(patience(), &e, &err) != HD_OK)
		return complain(&err);
	if (e.made)
		printf("removed %s and all data in it\n", e.folder);
	else
		printf("nothing to remove: %s does not exist\n", e.folder);
	return HD_EXIT_OK;
}

/* The psql of PATH; else the one beside the server's programs. Returns only on failure. */
static int exec_psql(char **argv, struct hd_error *err)
{
	char folder[PATH_MAX], path[PATH_MAX + 8];

	(void)execvp("psql", argv);
	if (errno != ENOENT) {
		hd_fail_errno(err, HD_REFUSED, "can't run psql");
		return HD_EXIT_CANNOT_RUN;
	}
	if (hd_embedded_programs(patience(), folder, sizeof(folder), err) != HD_OK)
		return HD_EXIT_NOT_FOUND;
	(void)snprintf(path, sizeof(path), "%s/psql", folder);
	(void)execv(path, argv);
	hd_fail_errno(err, HD_REFUSED, "no psql in PATH, and %s", path);
	hd_hint(err, "install the package postgresql-client");
	return HD_EXIT_NOT_FOUND;
}

static int psql(const struct hd_config *config)
{
	static char name[] = "psql", option[] = "-d";
	struct hd_error err = { 0 };
	struct hd_embedded e;
	char *argv[PSQL_ARGS_MAX + 4] = { name, option, e.conninfo };
	size_t n = 3;
	int code;

	for (char **more = config->command; more != NULL && *more != NULL; more++) {
		if (n == 3 + PSQL_ARGS_MAX) {
			hd_fail(&err, HD_INVALID, "more than %d arguments for psql", PSQL_ARGS_MAX);
			return hd_complain(&err);
		}
		argv[n++] = *more;
	}
	if (hd_embedded_ensure(patience(), &e, &err) != HD_OK)
		return complain(&err);
	if (e.started)
		hd_embedded_announce(&e);
	code = exec_psql(argv, &err);
	(void)hd_complain(&err);
	return code;
}

static const struct verb {
	const char *name;
	int (*run)(const struct hd_config *config);
	bool passes; /* what follows "--" */
} verbs[] = {
	{ "start", start, false }, { "stop", stop, false },       { "dsn", dsn, false },
	{ "psql", psql, true },    { "destroy", destroy, false },
};

static int unknown(const char *word)
{
	struct hd_error err = { 0 };
	struct hd_nearest near;

	hd_nearest_init(&near, word);
	for (size_t i = 0; i < HD_ARRAY_SIZE(verbs); i++)
		hd_nearest_offer(&near, verbs[i].name);
	hd_fail(&err, HD_INVALID, "howdah dev does not know \"%s\"", word);
	if (near.best != NULL)
		hd_hint(&err, "did you mean: howdah dev %s", near.best);
	else
		hd_hint(&err, "howdah dev [start|stop|dsn|psql|destroy]");
	return hd_complain(&err);
}

int hd_cmd_dev(const struct hd_config *config)
{
	const char *word = config->noperands > 0 ? config->operand[0] : NULL;
	const struct verb *v = NULL;
	struct hd_error err = { 0 };

	for (size_t i = 0; word != NULL && i < HD_ARRAY_SIZE(verbs); i++)
		if (strcmp(word, verbs[i].name) == 0)
			v = &verbs[i];
	if (word != NULL && v == NULL)
		return unknown(word);
	if (config->command != NULL && (v == NULL || !v->passes)) {
		hd_fail(&err, HD_INVALID, "only howdah dev psql takes more behind \"--\"");
		return hd_complain(&err);
	}
	return v != NULL ? v->run(config) : show(config);
}
