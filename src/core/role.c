#include "core/role.h"

#include "base/error.h"
#include <string.h>

static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

hd_status hd_role_check(const char *name, struct hd_error *err)
{
	size_t n = strlen(name);
	size_t good = strspn(name, allowed);

	if (n == 0)
		(void)hd_fail(err, HD_INVALID, "the name of the role is empty");
	else if (name[0] == '@')
		(void)hd_fail(err, HD_INVALID, "\"%s\" is no role: '@' is for built-in parts",
		              name);
	else if (good < n)
		(void)hd_fail(err, HD_INVALID,
		              "the role \"%s\" has a character that is not allowed", name);
	else if (n > HD_ROLE_MAX)
		(void)hd_fail(err, HD_INVALID, "the role \"%s\" is longer than %d bytes", name,
		              HD_ROLE_MAX);
	else
		return HD_OK;
	hd_hint(err, "a role is 1 to %d letters (A-Z a-z), digits, '.', '_' or '-'", HD_ROLE_MAX);
	return HD_INVALID;
}
