#include "app/gate.h"

#include "app/log.h"
#include "base/base.h"
#include "base/error.h"
#include "base/nearest.h"
#include "core/gate.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const parts[] = { "@scheduler", "@relay", "@sweep" };

bool hd_gate_built(void)
{
#ifdef HD_WORKERS
	return true;
#else
	return false;
#endif
}

static bool is_known(const char *name, size_t n, const char *role)
{
	if (hd_gate_is_name(name, n, "all") || (role != NULL && hd_gate_is_name(name, n, role)))
		return true;
	for (size_t i = 0; i < HD_ARRAY_SIZE(parts); i++)
		if (hd_gate_is_name(name, n, parts[i]))
			return true;
	return false;
}

static const char *nearest_known(const char *name, const char *role)
{
	struct hd_nearest near;

	hd_nearest_init(&near, name);
	if (role != NULL)
		hd_nearest_offer(&near, role);
	for (size_t i = 0; i < HD_ARRAY_SIZE(parts); i++)
		hd_nearest_offer(&near, parts[i]);
	return near.best;
}

bool hd_gate_next_unknown(const char *workers, const char **at, const char *role,
                          struct hd_gate_name *ret)
{
	const char *name;
	size_t n = 0;

	while (workers != NULL && (name = hd_gate_next_name(at, &n)) != NULL) {
		if (is_known(name, n, role))
			continue;
		(void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(n < 80 ? n : 79), name);
		ret->near = nearest_known(ret->name, role);
		if (ret->near != NULL && ret->name[0] != '@' && hd_gate_names(workers, ret->near))
			ret->near = NULL;
		return true;
	}
	return false;
}

void hd_gate_warn(const char *workers, const char *role)
{
	const char *at = workers;
	struct hd_gate_name unknown;

	while (hd_gate_next_unknown(workers, &at, role, &unknown)) {
		if (unknown.near == NULL && unknown.name[0] != '@')
			continue;
		hd_log(HD_LOG_WARN, "event", "gate", "reason",
		       "a name in HOWDAH_WORKERS matches nothing known", "name", unknown.name,
		       HD_LOG_PAIR("nearest", unknown.near), NULL);
	}
}

hd_status hd_gate_check(const char *workers, const char *name, struct hd_error *err)
{
	const char *at = workers;
	struct hd_gate_name unknown;

	if (!hd_gate_built()) {
		(void)hd_fail(err, HD_REFUSED, "this howdah is built without workers; %s can't run",
		              name);
		hd_hint(err, "use a build with -Dworkers=true; `howdah version` shows the gates");
		return HD_REFUSED;
	}
	if (hd_gate_opens(workers, name))
		return HD_OK;
	if (workers == NULL || *workers == '\0') {
		(void)hd_fail(err, HD_REFUSED,
		              "%s is not enabled on this node: HOWDAH_WORKERS is not set", name);
		hd_hint(err,
		        "where %s may run, set HOWDAH_WORKERS=%s in the environment (or "
		        "HOWDAH_WORKERS=all)",
		        name, name);
		return HD_REFUSED;
	}
	(void)hd_fail(err, HD_REFUSED, "%s is not enabled on this node: HOWDAH_WORKERS=%s", name,
	              workers);
	hd_hint(err, "where %s may run, add it to HOWDAH_WORKERS, separated by a comma", name);
	while (hd_gate_next_unknown(workers, &at, name, &unknown))
		if (unknown.near != NULL && strcmp(unknown.near, name) == 0)
			hd_hint(err, "HOWDAH_WORKERS names \"%s\": was \"%s\" meant?", unknown.name,
			        name);
	return HD_REFUSED;
}
