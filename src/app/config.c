#include "app/config_file.h"
#include "app/option.h"
#include "base/base.h"
#include "base/error.h"
#include "base/nearest.h"
#include "core/role.h"
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "/etc/howdah.conf"
#define ROLE_SECTION "role"
#define SECTIONS_MAX 256 /* as many roles as a database may have */

/* While a file is read: where its values go, and what was seen of it. */
struct reading {
	struct hd_config *config;
	struct hd_config
	    unused; /* values that this command does not take are checked all the same */
	unsigned int groups;
	const char *role; /* whose section counts; NULL: none */
	const char *kind; /* of the section: "" or ROLE_SECTION */
	bool applies;
	int nsections;
	const char *section[SECTIONS_MAX];
	int seen[HD_OPTIONS_MAX]; /* line of each option in this section; 0: not yet */
};

static hd_status unknown_section(const char *section, struct hd_error *err)
{
	(void)hd_fail(err, HD_INVALID, "there is no section [%s]", section);
	hd_hint(err, "sections are named after roles, like [role.poller]");
	return HD_INVALID;
}

static hd_status begin_section(struct reading *r, const struct hd_config_line *line,
                               struct hd_error *err)
{
	const char *name = strchr(line->section, '.');
	size_t n = strlen(ROLE_SECTION);
	hd_status st;

	if (name == NULL || (size_t)(name - line->section) != n ||
	    strncmp(line->section, ROLE_SECTION, n) != 0)
		return unknown_section(line->section, err);
	st = hd_role_check(name + 1, err);
	if (st != HD_OK)
		return st;
	for (int i = 0; i < r->nsections; i++)
		if (strcmp(r->section[i], line->section) == 0)
			return hd_fail(err, HD_INVALID, "the section [%s] is there twice",
			               line->section);
	if (r->nsections == SECTIONS_MAX)
		return hd_fail(err, HD_INVALID, "more than %d sections", SECTIONS_MAX);
	r->section[r->nsections++] = line->section;
	r->kind = ROLE_SECTION;
	r->applies = r->role != NULL && strcmp(name + 1, r->role) == 0;
	memset(r->seen, 0, sizeof(r->seen));
	return HD_OK;
}

/* Why `key` can't stand here: wrong section, not for files, or no such key. */
static hd_status wrong_key(const struct reading *r, const char *key, struct hd_error *err)
{
	const struct hd_option *o = hd_option_find(key);
	struct hd_nearest near;

	if (o != NULL && o->section == NULL) {
		(void)hd_fail(err, HD_INVALID, "\"%s\" can't be set in a file", key);
		hd_hint(err, "give it on the command line: --%s", key);
		return HD_INVALID;
	}
	if (o != NULL) {
		(void)hd_fail(err, HD_INVALID, "\"%s\" stands in the wrong section", key);
		if (*o->section == '\0')
			hd_hint(err, "it belongs to the top of the file, before the first section");
		else
			hd_hint(err, "it belongs into a section of its role, like [%s.poller]",
			        o->section);
		return HD_INVALID;
	}
	(void)hd_fail(err, HD_INVALID, "there is no setting \"%s\"", key);
	hd_nearest_init(&near, key);
	for (o = hd_options; o->name != NULL; o++)
		if (o->section != NULL && strcmp(o->section, r->kind) == 0)
			hd_nearest_offer(&near, o->name);
	if (near.best != NULL)
		hd_hint(err, "did you mean %s?", near.best);
	else
		hd_hint(err, "howdah(1) lists the settings, in FILES");
	return HD_INVALID;
}

static hd_status take_line(void *context, const struct hd_config_line *line, struct hd_error *err)
{
	struct reading *r = context;
	const struct hd_option *o;
	int *seen;
	hd_status st;

	if (line->key == NULL)
		return begin_section(r, line, err);
	o = hd_option_find(line->key);
	if (o == NULL || o->section == NULL || strcmp(o->section, r->kind) != 0)
		return wrong_key(r, line->key, err);
	seen = &r->seen[o - hd_options];
	if (*seen != 0)
		return hd_fail(err, HD_INVALID, "\"%s\" was set in line %d already", o->name,
		               *seen);
	*seen = line->number;
	st = hd_option_set(r->applies && (o->groups & r->groups) != 0 ? r->config : &r->unused, o,
	                   line->value, err);
	if (st != HD_OK)
		hd_fail_prefix(err, "%s: ", o->name);
	return st;
}

static const char *environment(const struct hd_option *o)
{
	const char *value = o->env != NULL ? getenv(o->env) : NULL;

	/* Set to nothing is how container files unset a variable. */
	return value != NULL && *value != '\0' ? value : NULL;
}

static hd_status load_file(struct hd_config *config, unsigned int groups, struct hd_error *err)
{
	struct reading r = { .config = config,
		             .groups = groups,
		             .role = config->role,
		             .kind = "",
		             .applies = true };
	const char *path = config->config_file;
	hd_status st;

	st = hd_config_file_read(path != NULL ? path : DEFAULT_FILE, path == NULL, &config->file,
	                         err);
	if (st != HD_OK)
		return st;
	return hd_config_text_parse(config->file.data, config->file.len,
	                            path != NULL ? path : DEFAULT_FILE, take_line, &r, err);
}

static hd_status load_defaults(struct hd_config *config, struct hd_error *err)
{
	hd_status st = HD_OK;

	for (const struct hd_option *o = hd_options; o->name != NULL && st == HD_OK; o++)
		if (o->def != NULL)
			st = hd_option_set(config, o, o->def, err);
	return st;
}

static hd_status load_environment(struct hd_config *config, unsigned int groups,
                                  struct hd_error *err)
{
	for (const struct hd_option *o = hd_options; o->name != NULL; o++) {
		const char *value = (o->groups & groups) != 0 ? environment(o) : NULL;
		hd_status st;

		if (value == NULL)
			continue;
		st = hd_option_set(config, o, value, err);
		if (st != HD_OK) {
			hd_fail_prefix(err, "%s, in the environment: ", o->env);
			return st;
		}
	}
	return HD_OK;
}

void hd_config_apply(struct hd_config *config, const struct hd_command_line *line)
{
	/* Each value was checked when the command line was read. */
	for (int i = 0; i < line->nsettings; i++)
		(void)hd_option_set(config, line->setting[i].option, line->setting[i].value, NULL);
	config->command = line->command;
}

static hd_status load(struct hd_config *config, unsigned int groups,
                      const struct hd_command_line *line, struct hd_error *err)
{
	hd_status st = load_defaults(config, err);

	/* The first round is for the file's name and the role, whose section counts. */
	if (st == HD_OK)
		st = load_environment(config, groups, err);
	hd_config_apply(config, line);
	if (st == HD_OK && (groups & HD_NO_FILE) == 0)
		st = load_file(config, groups, err);
	if (st == HD_OK)
		st = load_environment(config, groups, err);
	hd_config_apply(config, line);
	return st;
}

hd_status hd_config_load(struct hd_config *config, unsigned int groups,
                         const struct hd_command_line *line, struct hd_error *err)
{
	hd_status st;

	*config = (struct hd_config){ 0 };
	hd_buf_init(&config->file);
	st = load(config, groups, line, err);
	if (st != HD_OK)
		hd_config_release(config);
	return st;
}

void hd_config_release(struct hd_config *config)
{
	hd_buf_release(&config->file);
}
