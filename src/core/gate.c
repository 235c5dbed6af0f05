#include "core/gate.h"

#include <string.h>

const char *hd_gate_next_name(const char **at, size_t *ret_n)
{
	const char *name;

	*at += strspn(*at, ", \t");
	if (**at == '\0')
		return NULL;
	name = *at;
	*ret_n = strcspn(name, ", \t");
	*at += *ret_n;
	return name;
}

bool hd_gate_is_name(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

bool hd_gate_names(const char *workers, const char *wanted)
{
	const char *name;
	size_t n = 0;

	while ((name = hd_gate_next_name(&workers, &n)) != NULL)
		if (hd_gate_is_name(name, n, wanted))
			return true;
	return false;
}

bool hd_gate_opens(const char *workers, const char *name)
{
	return workers != NULL && (hd_gate_names(workers, name) || hd_gate_names(workers, "all"));
}
