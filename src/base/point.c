#include "base/point.h"

#ifdef HD_CRASH_POINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void hd_point(const char *name)
{
	const char *wanted = getenv("HOWDAH_CRASH_AT");
	size_t n = strlen(name);

	if (wanted == NULL || strncmp(wanted, name, n) != 0)
		return;
	if (wanted[n] == '\0')
		(void)raise(SIGKILL);
	else if (strcmp(wanted + n, ":stop") == 0)
		(void)raise(SIGSTOP);
}
#else
typedef int hd_point_not_built; /* ISO C wants one declaration in a file */
#endif
