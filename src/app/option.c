#include "app/option.h"

#include "base/base.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/nearest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct hd_option *hd_option_find(const char *name)
{
	for (const struct hd_option *o = hd_options; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0 && !o->env_only)
			return o;
	return NULL;
}

static hd_status set_flag(const struct hd_option *o, const char *text, void *at,
                          struct hd_error *err)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = { { "on", true },   { "true", true },   { "yes", true },
		      { "off", false }, { "false", false }, { "no", false } };

	(void)o;
	for (size_t i = 0; i < HD_ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i].word) == 0) {
			*(bool *)at = words[i].value;
			return HD_OK;
		}
	}
	(void)hd_fail(err, HD_INVALID, "\"%s\" is neither on nor off", text);
	hd_hint(err, "write on or off");
	return HD_INVALID;
}

static hd_status set_text(const struct hd_option *o, const char *text, void *at,
                          struct hd_error *err)
{
	if (*text == '\0') {
		(void)hd_fail(err, HD_INVALID, "the value is empty");
		hd_hint(err, "give a value (%s), or leave it out altogether", o->arg);
		return HD_INVALID;
	}
	*(const char **)at = text;
	return HD_OK;
}

static hd_status out_of_bounds(const struct hd_option *o, const char *text, struct hd_error *err)
{
	char least[HD_DURATION_TEXT];
	char most[HD_DURATION_TEXT];

	(void)hd_fail(err, HD_INVALID, "\"%s\" is out of bounds", text);
	if (o->type == HD_OPT_DURATION)
		hd_hint(err, "from %s to %s",
		        o->least == 0 ? "0" : hd_duration_format(o->least, least, sizeof(least)),
		        hd_duration_format(o->most, most, sizeof(most)));
	else
		hd_hint(err, "from %" PRId64 " to %" PRId64, o->least, o->most);
	return HD_INVALID;
}

static hd_status store_number(const struct hd_option *o, const char *text, int64_t value, void *at,
                              struct hd_error *err)
{
	if ((o->least != 0 || o->most != 0) && (value < o->least || value > o->most))
		return out_of_bounds(o, text, err);
	*(int64_t *)at = value;
	return HD_OK;
}

static hd_status set_duration(const struct hd_option *o, const char *text, void *at,
                              struct hd_error *err)
{
	int64_t ms = 0;
	hd_status st = hd_duration_parse(text, &ms, err);

	return st != HD_OK ? st : store_number(o, text, ms, at, err);
}

static hd_status set_period(const struct hd_option *o, const char *text, void *at,
                            struct hd_error *err)
{
	int64_t ms = 0;
	hd_status st = hd_duration_parse(text, &ms, err);

	(void)o;
	if (st == HD_OK)
		*(const char **)at = text;
	return st;
}

static hd_status set_int(const struct hd_option *o, const char *text, void *at,
                         struct hd_error *err)
{
	const char *digits = text + (*text == '-');
	char *end = NULL;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (*digits < '0' || *digits > '9' || *end != '\0') {
		(void)hd_fail(err, HD_INVALID, "\"%s\" is not a whole number", text);
		hd_hint(err, "write it with decimal digits, like 1840000001");
		return HD_INVALID;
	}
	if (errno == ERANGE)
		return hd_fail(err, HD_INVALID, "\"%s\" does not fit into 64 bits", text);
	return store_number(o, text, value, at, err);
}

/* Whether `text` is one of the words of `list`, which are separated by '|'. */
static bool is_choice(const char *list, const char *text)
{
	size_t n = strcspn(text, "|");

	if (n == 0 || text[n] != '\0')
		return false;
	for (const char *p = list; p != NULL; p = strchr(p, '|')) {
		p += *p == '|';
		if (strncmp(p, text, n) == 0 && (p[n] == '|' || p[n] == '\0'))
			return true;
	}
	return false;
}

static hd_status set_choice(const struct hd_option *o, const char *text, void *at,
                            struct hd_error *err)
{
	if (!is_choice(o->arg, text)) {
		(void)hd_fail(err, HD_INVALID, "\"%s\" is not known here", text);
		hd_hint(err, "it can be: %s", o->arg);
		return HD_INVALID;
	}
	*(const char **)at = text;
	return HD_OK;
}

hd_status hd_option_set(struct hd_config *config, const struct hd_option *o, const char *text,
                        struct hd_error *err)
{
	static hd_status (*const set[])(const struct hd_option *, const char *, void *,
	                                struct hd_error *) = {
		[HD_OPT_FLAG] = set_flag,         [HD_OPT_TEXT] = set_text,
		[HD_OPT_DURATION] = set_duration, [HD_OPT_PERIOD] = set_period,
		[HD_OPT_INT] = set_int,           [HD_OPT_CHOICE] = set_choice,
	};
	hd_status st = set[o->type](o, text, (char *)config + o->at, err);

	if (st == HD_OK && o->given != 0)
		*(bool *)((char *)config + o->given) = true;
	return st;
}
