#include "app/exit.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/demo.h"
#ifdef HD_WORKERS
#include "run/guard.h"
#endif
#include <string.h>

struct part {
	const char *name;
	int (*main)(void);
};

/* The kinds of processes that Howdah starts by executing itself again. */
static const struct part parts[] = {
#ifdef HD_WORKERS
	{ "guard", hd_guard_main },
	{ "demo-worker", hd_demo_worker_main },
#endif
	{ NULL, NULL },
};

int hd_cmd_part(const struct hd_config *config)
{
	const char *name = config->operand[0];
	struct hd_error err = { 0 };

	for (const struct part *p = parts; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p->main();
	(void)hd_fail(&err, HD_REFUSED, "there is no part \"%s\" in this program", name);
	hd_hint(&err, "parts are started by `howdah run`; nobody else needs them");
	return hd_complain(&err);
}
