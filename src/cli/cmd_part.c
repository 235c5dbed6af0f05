#include "app/exit.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/drill.h"
#ifdef HD_WORKERS
#include "run/contain.h"
#include "run/guard.h"
#endif
#include <string.h>

struct part {
	const char *name;
	int (*main)(char *const *command);
};

#ifdef HD_WORKERS
static int guard_main(HD_UNUSED char *const *command)
{
	return hd_guard_main();
}

static int keeper_main(HD_UNUSED char *const *command)
{
	return hd_keeper_main();
}
#endif

/* The kinds of processes that Howdah starts by executing itself again. */
static const struct part parts[] = {
#ifdef HD_WORKERS
	{ "guard", guard_main },
	{ "keeper", keeper_main },
	{ "drill-worker", hd_drill_worker_main },
#endif
	{ NULL, NULL },
};

int hd_cmd_part(const struct hd_config *config)
{
	const char *name = config->operand[0];
	struct hd_error err = { 0 };

	for (const struct part *p = parts; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return p->main(config->command);
	(void)hd_fail(&err, HD_REFUSED, "there is no part \"%s\" in this program", name);
	hd_hint(&err, "parts are started by `howdah run`; nobody else needs them");
	return hd_complain(&err);
}
