/* demo.h - the stage of `howdah demo`: a drill on a private server of its own. */
#ifndef HD_CLI_DEMO_H
#define HD_CLI_DEMO_H

#include "app/embedded.h"
#include "cli/drill.h"
#include <howdah/session.h>

#define HD_DEMO_ROLE  "demo"
#define HD_DEMO_NODES 3

struct hd_demo {
	struct hd_drill drill;
	char folder[64]; /* "" until it is made */
	struct hd_embedded server;
	struct hd_session *session;
};

/* demo_stage.c: environment, folder, server, schema; and all of it away again. */
hd_status hd_demo_build(struct hd_demo *d, struct hd_error *err);
hd_status hd_demo_strike(struct hd_demo *d, struct hd_error *err);

#endif
