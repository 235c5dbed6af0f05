#include "app/exit.h"
#include "app/gate.h"
#include "base/json.h"
#include "cli/command.h"
#include "pg/migrate.h"
#include <libpq-fe.h>
#include <stdio.h>

#ifdef HD_CRASH_POINTS
#define CRASH_POINTS true
#else
#define CRASH_POINTS false
#endif

static void print_json(const char *libpq)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "version", HD_VERSION);
	hd_json_int(&b, "schema", hd_migrate_latest());
	hd_json_text(&b, "libpq", libpq);
	hd_json_bool(&b, "workers", hd_gate_built());
	hd_json_bool(&b, "crash_points", CRASH_POINTS);
	hd_buf_text(&b, "}\n");
	(void)fputs(b.data, stdout);
}

int hd_cmd_version(const struct hd_config *config)
{
	char libpq[24];

	(void)snprintf(libpq, sizeof(libpq), "%d.%d", PQlibVersion() / 10000,
	               PQlibVersion() % 10000);
	if (config->json) {
		print_json(libpq);
		return HD_EXIT_OK;
	}
	(void)printf("howdah %s\n"
	             "schema   %d\n"
	             "libpq    %s\n"
	             "workers  %s\n",
	             HD_VERSION, hd_migrate_latest(), libpq,
	             hd_gate_built() ? "yes" : "no (build with -Dworkers=true to run them)");
	if (CRASH_POINTS)
		(void)printf("crash points  yes (a test build)\n");
	return HD_EXIT_OK;
}
