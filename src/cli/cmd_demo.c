/* cmd_demo.c - howdah demo: what Howdah does, shown on a private server in less than a minute. */
#include "app/exit.h"
#include "app/gate.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/demo.h"
#include "pg/exec.h"
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NODES_MS     15000 /* until the first one leads */
#define TAKE_OVER_MS 20000
#define CALL_MS      5000
#define LOOK_MS      700 /* a moment of steady work between two scenes */

static hd_status scene_server(struct hd_demo *d, struct hd_error *err)
{
	hd_status st;

	hd_drill_head("1. A private PostgreSQL is made");
	st = hd_demo_build(d, err);
	if (st != HD_OK)
		return st;
	hd_drill_say("PostgreSQL %d in %s, on a unix socket only: %.1f s.", d->server.major,
	             d->folder, hd_drill_seconds(d->drill.began, hd_now()));
	hd_drill_say("No other database is touched, and all of it is removed at the end.");
	return HD_OK;
}

static const char *const no_options[] = { NULL };

static bool all_ready(const struct hd_drill *d)
{
	for (int i = 0; i < HD_DEMO_NODES; i++)
		if (!d->nodes[i].ready)
			return false;
	return d->nterms == 1 && d->terms[0].up.ns != 0;
}

static hd_status scene_nodes(struct hd_demo *d, struct hd_error *err)
{
	const struct hd_drill_term *t = &d->drill.terms[0];
	hd_status st = HD_OK;

	hd_drill_head("2. Three nodes compete for the role \"" HD_DEMO_ROLE "\"");
	hd_drill_say("Each one is: howdah run --role " HD_DEMO_ROLE " -- COMMAND");
	d->drill.began = hd_now();
	for (int i = 0; i < HD_DEMO_NODES && st == HD_OK; i++) {
		d->drill.nodes[i].conninfo = d->server.conninfo;
		st = hd_drill_start(&d->drill, i, err);
	}
	if (st == HD_OK)
		st = hd_drill_watch(&d->drill, all_ready, NODES_MS, err);
	if (st != HD_OK)
		return st;
	hd_drill_say("Node %c leads: its command is process %d, its token %" PRId64 ".",
	             hd_drill_letter(t->node), (int)t->pid, t->token);
	hd_drill_say("The other two stand by.");
	return hd_drill_watch(&d->drill, NULL, LOOK_MS, err);
}

static bool taken_over(const struct hd_drill *d)
{
	return d->nterms == 2 && d->terms[0].over.ns != 0 && d->terms[1].up.ns != 0;
}

static hd_status scene_kill(struct hd_demo *d, struct hd_error *err)
{
	const struct hd_drill_term *old = &d->drill.terms[0], *new = &d->drill.terms[1];
	char was = hd_drill_letter(old->node), is;
	hd_mono killed = hd_now();
	hd_status st;

	hd_drill_head("3. Node %c is killed (SIGKILL)", was);
	hd_drill_note(&d->drill, killed, old->node, old->token, "SIGKILL");
	hd_drill_signal(&d->drill, old->node, SIGKILL);
	st = hd_drill_watch(&d->drill, taken_over, TAKE_OVER_MS, err);
	if (st != HD_OK)
		return st;
	is = hd_drill_letter(new->node);
	hd_drill_say("%.3f s later its command was dead too: the guard beside it ended it.",
	             hd_drill_seconds(killed, old->over));
	hd_drill_say("%.3f s later node %c had the role: stand-bys look every 2 s.",
	             hd_drill_seconds(killed, new->taken), is);
	hd_drill_say("%.3f s later the command of %c ran, with token %" PRId64 ".",
	             hd_drill_seconds(killed, new->up), is, new->token);
	hd_drill_say("%c waited %s in between: %s.", is, new->wait, new->reason);
	hd_drill_say("(A lock can be free before the old command is dead, so the next one waits.)");
	return hd_drill_watch(&d->drill, NULL, LOOK_MS, err);
}

static bool handed_over(const struct hd_drill *d)
{
	return d->nterms == 3 && d->terms[1].over.ns != 0 && d->terms[2].up.ns != 0 &&
	       d->nodes[d->terms[1].node].ended.ns != 0;
}

static hd_status scene_hand_over(struct hd_demo *d, struct hd_error *err)
{
	const struct hd_drill_term *old = &d->drill.terms[1], *new = &d->drill.terms[2];
	char was = hd_drill_letter(old->node), is;
	hd_mono told = hd_now();
	hd_status st;

	hd_drill_head("4. Node %c is asked to stop (SIGTERM), as in a deployment", was);
	hd_drill_note(&d->drill, told, old->node, old->token, "SIGTERM");
	hd_drill_signal(&d->drill, old->node, SIGTERM);
	st = hd_drill_watch(&d->drill, handed_over, TAKE_OVER_MS, err);
	if (st != HD_OK)
		return st;
	is = hd_drill_letter(new->node);
	hd_drill_say("%.3f s later its command had ended; then it gave the role up.",
	             hd_drill_seconds(told, old->over));
	hd_drill_say("%.3f s later the command of %c ran, with token %" PRId64 ".",
	             hd_drill_seconds(told, new->up), is, new->token);
	hd_drill_say("No wait this time: %s.", new->reason);
	return hd_drill_watch(&d->drill, NULL, LOOK_MS, err);
}

/* A transaction that begins with the token; `said` is what the server refused it with, or "". */
static hd_status guarded(struct hd_demo *d, int64_t token, char *said, size_t size,
                         struct hd_error *err)
{
	struct hd_args args = { 0 };
	hd_mono deadline = hd_after(hd_now(), CALL_MS);
	hd_status st = hd_exec_text(d->session, "begin", NULL, deadline, NULL, err);

	said[0] = '\0';
	if (st != HD_OK)
		return st;
	hd_arg_text(&args, HD_DEMO_ROLE);
	hd_arg_int(&args, token);
	st = hd_exec(d->session, HD_SQL_DEMO_ASSERT, &args, deadline, NULL, err);
	if (st == HD_OK)
		return hd_exec_text(d->session, "commit", NULL, deadline, NULL, err);
	if (strcmp(err->sqlstate, "HD001") != 0)
		return st;
	(void)snprintf(said, size, "%s", err->message);
	return hd_exec_text(d->session, "rollback", NULL, deadline, NULL, err);
}

static hd_status scene_fence(struct hd_demo *d, struct hd_error *err)
{
	const struct hd_drill_term *old = &d->drill.terms[0], *new = hd_drill_last(&d->drill);
	char said[sizeof(err->message)];
	hd_status st;

	hd_drill_head("5. A late write of the first leader");
	hd_drill_say("BEGIN; SELECT howdah.assert_leader('" HD_DEMO_ROLE "', %" PRId64 "); ...",
	             old->token);
	st = guarded(d, old->token, said, sizeof(said), err);
	if (st == HD_OK && said[0] == '\0')
		return hd_fail(err, HD_REFUSED, "a transaction with an old token was let through");
	if (st != HD_OK)
		return st;
	hd_drill_note(&d->drill, hd_now(), old->node, old->token,
	              "a write with its token is refused");
	hd_drill_say("refused: %s", said);
	st = guarded(d, new->token, said, sizeof(said), err);
	if (st != HD_OK)
		return st;
	if (said[0] != '\0')
		return hd_fail(err, HD_REFUSED, "the leader's own transaction was refused: %s",
		               said);
	hd_drill_note(&d->drill, hd_now(), new->node, new->token, "a write with its token is done");
	hd_drill_say("The same with the token of %c, who leads: done.", hd_drill_letter(new->node));
	return hd_drill_watch(&d->drill, NULL, 0, err);
}

static hd_status scene_timeline(struct hd_demo *d, struct hd_error *err)
{
	hd_drill_head("6. What happened, as the nodes told it");
	hd_drill_timeline(&d->drill);
	if (d->drill.nterms != 3 || d->drill.alive == 0)
		return hd_fail(err, HD_REFUSED, "the role changed hands %d times, not 3",
		               d->drill.nterms);
	(void)putchar('\n');
	hd_drill_say("Checked: %d commands ran, one after the other; they gave %" PRId64
	             " signs of life,",
	             d->drill.nterms, d->drill.alive);
	hd_drill_say("and never were two alive at once. Tokens only grew.");
	return HD_OK;
}

/* A folder of PATH needs no export. */
static bool in_path(const char *folder)
{
	const char *p = getenv("PATH");
	size_t n = strlen(folder);

	for (; p != NULL; p = strchr(p, ':') != NULL ? strchr(p, ':') + 1 : NULL)
		if (strncmp(p, folder, n) == 0 && (p[n] == ':' || p[n] == '\0'))
			return true;
	return false;
}

static void what_next(void)
{
	char folder[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;

	hd_drill_head("Try it yourself");
	if (n > 0) {
		folder[n] = '\0';
		slash = strrchr(folder, '/');
		*slash = '\0';
		if (!in_path(folder))
			hd_drill_say("export PATH=%s:$PATH", folder);
	}
	hd_drill_say("export HOWDAH_DB=dev HOWDAH_WORKERS=all   # a private server that stays");
	hd_drill_say("howdah init");
	hd_drill_say(
	    "howdah run --role poller -- sleep 600     # in two terminals: one of them runs");
	hd_drill_say("howdah leader                             # in a third one: who leads?");
	hd_drill_say("howdah dev destroy                        # and away with it");
}

static const struct scene {
	hd_status (*play)(struct hd_demo *d, struct hd_error *err);
	bool promises; /* a failure is ours, not that of the machine */
} scenes[] = {
	{ scene_server, false },   { scene_nodes, true }, { scene_kill, true },
	{ scene_hand_over, true }, { scene_fence, true }, { scene_timeline, true },
};

static void demo_init(struct hd_demo *d)
{
	*d = (struct hd_demo){ .folder = "" };
	hd_drill_init(&d->drill);
	d->drill.role = HD_DEMO_ROLE;
	d->drill.options = no_options;
}

static int failed(struct hd_demo *d, const struct scene *s, struct hd_error *err)
{
	if (d->drill.told_to_end != 0)
		return HD_EXIT_SIGNAL + d->drill.told_to_end;
	if (!s->promises)
		return err->status == HD_INVALID ? hd_complain_with(err, HD_EXIT_CONFIG)
		                                 : hd_complain(err);
	hd_drill_head("It went wrong. What happened up to there");
	hd_drill_timeline(&d->drill);
	if (err->hint[0] == '\0')
		hd_hint(err, "this is a bug of howdah, or this machine is very busy");
	return hd_complain_with(err, HD_EXIT_BUG);
}

static int play(struct hd_demo *d)
{
	struct hd_error err = { 0 };

	hd_drill_head("Howdah demo: three nodes, one role, one command at a time");
	for (size_t i = 0; i < HD_ARRAY_SIZE(scenes) && !ferror(stdout); i++) {
		struct hd_error stopped;

		if (scenes[i].play(d, &err) == HD_OK)
			continue;
		/* A signal to the whole group may have ended what we waited for. */
		if (d->drill.told_to_end == 0)
			(void)!hd_drill_watch(&d->drill, NULL, 0, &stopped);
		return failed(d, &scenes[i], &err);
	}
	return HD_EXIT_OK;
}

int hd_cmd_demo(HD_UNUSED const struct hd_config *config)
{
	static struct hd_demo demo;
	struct hd_error err = { 0 };
	hd_mono began = hd_now();
	int code;

	if (hd_gate_check(HD_DEMO_ROLE, HD_DEMO_ROLE, &err) != HD_OK)
		return hd_complain(&err);
	demo_init(&demo);
	if (hd_drill_open(&demo.drill, &err) != HD_OK)
		return hd_complain(&err);
	code = play(&demo);
	if (hd_demo_strike(&demo, &err) != HD_OK) {
		(void)hd_complain(&err);
		code = code != HD_EXIT_OK ? code : HD_EXIT_BUG;
	} else if (code == HD_EXIT_OK) {
		hd_drill_head("Everything is removed again; %.1f s in all.",
		              hd_drill_seconds(began, hd_now()));
		what_next();
	} else if (demo.drill.told_to_end != 0) {
		hd_drill_head("Stopped by a signal; everything is removed again.");
	}
	return code;
}
