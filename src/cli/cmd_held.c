#include "app/exit.h"
#include "app/held.h"
#include "base/base.h"
#include "cli/command.h"

/* Says nothing but errors: shell loops call it many times a minute. */
int hd_cmd_held(HD_UNUSED const struct hd_config *config)
{
	struct hd_error err = { 0 };
	hd_mono deadline;

	if (hd_held_read(&deadline, &err) != HD_OK)
		return hd_complain_with(&err, HD_EXIT_CONFIG);
	return hd_before(hd_now(), deadline) ? HD_EXIT_OK : HD_EXIT_NOT_HELD;
}
