#include "app/embedded.h"
#include "app/exit.h"
#include "app/gate.h"
#include "base/error.h"
#include "cli/command.h"
#include "core/role.h"
#include <howdah/session.h>
#ifdef HD_WORKERS
#include "run/elector.h"
#endif

#ifdef HD_WORKERS
static int run_elector(const struct hd_config *config)
{
	static struct hd_elector elector;
	struct hd_session_options options;
	struct hd_embedded embedded;
	struct hd_error err;
	int code;

	if (hd_elector_init(&elector, config, &err) != HD_OK)
		return hd_complain_with(&err, HD_EXIT_USAGE);
	code = hd_options_for_command(config, &embedded, &options);
	return code == HD_EXIT_OK ? hd_elector_run(&elector, options.conninfo) : code;
}
#else
static int run_elector(const struct hd_config *config)
{
	(void)config;
	return HD_EXIT_REFUSED; /* not reached: the first gate is checked before */
}
#endif

int hd_cmd_run(const struct hd_config *config)
{
	struct hd_error err;

	if (config->role == NULL) {
		(void)hd_fail(&err, HD_INVALID, "run needs --role NAME");
		hd_hint(&err, "like: howdah run --role poller -- ./poller");
		return hd_complain(&err);
	}
	if (hd_role_check(config->role, &err) != HD_OK ||
	    hd_gate_check(config->workers, config->role, &err) != HD_OK)
		return hd_complain(&err);
	hd_gate_warn(config->workers, config->role);
	return run_elector(config);
}
