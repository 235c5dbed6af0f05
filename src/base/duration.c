#include "base/duration.h"

#include "base/base.h"
#include "base/error.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
	{ "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};

static int64_t unit_ms(const char *name)
{
	for (size_t i = 0; i < HD_ARRAY_SIZE(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].ms;
	return 0;
}

hd_status hd_duration_parse(const char *text, int64_t *ret_ms, struct hd_error *err)
{
	const char *p = text;
	int64_t n = 0;
	int64_t unit;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (n > HD_DURATION_MAX_MS)
			break;
		n = n * 10 + (*p - '0');
	}
	unit = p == text ? 0 : unit_ms(p);
	if (unit == 0 && n == 0 && p != text && *p == '\0')
		unit = 1;
	if (unit == 0) {
		(void)hd_fail(err, HD_INVALID, "\"%s\" is not a duration", text);
		hd_hint(err, "write a whole number and a unit, like 500ms, 2s, 5m, 1h or 1d");
		return HD_INVALID;
	}
	if (n > HD_DURATION_MAX_MS / unit)
		return hd_fail(err, HD_INVALID, "\"%s\" is longer than 366 days", text);
	*ret_ms = n * unit;
	return HD_OK;
}

char *hd_duration_format(int64_t ms, char *buf, size_t size)
{
	size_t i = 0;

	while (i + 1 < HD_ARRAY_SIZE(units) && (ms == 0 || ms % units[i].ms != 0))
		i++;
	(void)snprintf(buf, size, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
	return buf;
}
