/* role.h - what a role may be called. */
#ifndef HD_CORE_ROLE_H
#define HD_CORE_ROLE_H

#include <howdah/error.h>

#define HD_ROLE_MAX 63 /* bytes, without the NUL */

/*
 * A role is 1 to 63 of the letters A-Z a-z, digits, '.', '_' and '-': it goes into
 * application_name, log lines, file sections and environment variables unquoted. HD_INVALID names
 * what is wrong; '@' is kept for the built-in parts.
 */
HD_MUST_CHECK hd_status hd_role_check(const char *name, struct hd_error *err);

#endif
