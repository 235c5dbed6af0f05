/* howdah verify: three nodes, real faults and a verdict, on the user's own database. */
#include "app/embedded.h"
#include "app/exit.h"
#include "app/gate.h"
#include "base/base.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/command.h"
#include "cli/verify.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AFTER_GRACE_MS 3000

/* The options of every node; short times, so that a lease passes in seconds. */
static void choose_options(struct hd_verify *v)
{
	static const char *const fixed[] = { "--heartbeat", "1s",    "--lease",  "4s",
		                             "--retry",     "500ms", "--margin", "1s" };
	int n = 0;

	for (size_t i = 0; i < HD_ARRAY_SIZE(fixed); i++)
		v->options[n++] = fixed[i];
	(void)snprintf(v->grace, sizeof(v->grace), "%" PRId64 "ms", v->config->grace_ms);
	v->options[n++] = "--grace";
	v->options[n++] = v->grace;
	v->options[n++] = "--election";
	v->options[n++] = v->config->election;
	if (v->config->trust_session)
		v->options[n++] = "--trust-session";
	v->options[n] = NULL;
}

static void verify_init(struct hd_verify *v, const struct hd_config *config)
{
	*v =
	    (struct hd_verify){ .config = config, .lease = strcmp(config->election, "lease") == 0 };
	hd_drill_init(&v->drill);
	(void)snprintf(v->role, sizeof(v->role), "howdah-verify-%08" PRIx32,
	               (uint32_t)hd_random64());
	choose_options(v);
	v->drill.role = v->role;
	v->drill.options = v->options;
	v->drill.command = config->command;
	v->drill.leave_ms = config->grace_ms + AFTER_GRACE_MS;
}

/* Everything is tried, whatever fails on the way. */
static void clean_up(struct hd_verify *v)
{
	struct hd_check *c = hd_verify_check(v, "nothing-left");
	struct hd_error processes, rows;
	hd_status st = hd_drill_close(&v->drill, &processes);
	hd_status row = hd_verify_scrap(v, &rows);

	if (st != HD_OK)
		hd_verify_say(v, c, HD_RESULT_FAIL, "something is left: %s", processes.message);
	else if (row != HD_OK)
		hd_verify_say(v, c, HD_RESULT_FAIL, "something is left in the database: %s",
		              rows.message);
	else
		hd_verify_say(v, c, HD_RESULT_OK,
		              "nothing is left behind, neither processes nor rows");
}

static int finish(struct hd_verify *v, hd_status played)
{
	clean_up(v);
	if (played == HD_LOST && v->drill.told_to_end != 0)
		return HD_EXIT_SIGNAL + v->drill.told_to_end;
	hd_verify_report(v);
	return hd_verify_failed(v) == 0 ? HD_EXIT_OK : HD_EXIT_FAILURE;
}

int hd_cmd_verify(const struct hd_config *config)
{
	static struct hd_verify v;
	struct hd_embedded embedded;
	struct hd_error err = { 0 };
	int code;

	verify_init(&v, config);
	if (hd_gate_check(v.role, v.role, &err) != HD_OK)
		return hd_complain(&err);
	code = hd_options_for_command(config, &embedded, &v.database);
	if (code == HD_EXIT_OK)
		code = hd_verify_fit(&v);
	if (code != HD_EXIT_OK)
		return code;
	if (hd_drill_open(&v.drill, &err) != HD_OK)
		return hd_complain(&err);
	v.drill.began = hd_now();
	if (!config->json)
		(void)printf("Three nodes under the role %s, by %s.\n", v.role, config->election);
	return finish(&v, hd_verify_play(&v, &err));
}
