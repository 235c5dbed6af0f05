/* verify_scenes.c - the faults, in their order, and what has to follow each. */
#include "base/base.h"
#include "base/error.h"
#include "cli/verify.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NODES_MS     20000 /* until the first one leads */
#define TAKE_OVER_MS 45000
#define WAKE_MS      5000 /* a node that wakes has to see at once that its time is over */
#define LOOK_MS      500  /* a moment of steady work between two scenes */

/* What the predicates of a watch see of the verify that is at work. */
static const struct hd_verify *now_playing;

static bool all_ready(const struct hd_drill *d)
{
	for (int i = 0; i < HD_VERIFY_NODES; i++)
		if (!d->nodes[i].ready)
			return false;
	return d->nterms > 0 && d->terms[d->nterms - 1].up.ns != 0;
}

static bool new_leads(const struct hd_drill *d)
{
	return d->nterms > now_playing->hurt + 1 && d->terms[d->nterms - 1].up.ns != 0;
}

static bool old_dead(const struct hd_drill *d)
{
	return d->terms[now_playing->hurt].over.ns != 0;
}

static bool taken_over(const struct hd_drill *d)
{
	return new_leads(d) && old_dead(d);
}

static bool handed_over(const struct hd_drill *d)
{
	return taken_over(d) && d->nodes[d->terms[now_playing->hurt].node].ended.ns != 0;
}

static struct hd_drill_term *hurt(struct hd_verify *v)
{
	return &v->drill.terms[v->hurt];
}

/* All three compete again and one leads; that one is to be hurt next. */
static hd_status settle(struct hd_verify *v, struct hd_error *err)
{
	hd_status st = hd_drill_watch(&v->drill, all_ready, NODES_MS, err);

	if (st == HD_OK)
		st = hd_drill_watch(&v->drill, NULL, LOOK_MS, err);
	v->hurt = v->drill.nterms - 1;
	return st;
}

static void measure(struct hd_verify *v, struct hd_check *c, hd_mono from)
{
	const struct hd_drill_term *new = hd_drill_last(&v->drill);

	c->dead = hd_drill_seconds(from, hurt(v)->over);
	c->lock = hd_drill_seconds(from, new->taken);
	c->command = hd_drill_seconds(from, new->up);
}

/* Two of the times; that of the old command is told by each scene in its own words. */
static void say_times(struct hd_verify *v, struct hd_check *c, const char *what)
{
	const struct hd_drill_term *new = hd_drill_last(&v->drill);

	hd_verify_say(
	    v, c, HD_RESULT_OK,
	    "%s; node %c had the role after %.3f s, its command ran after %.3f s (waited %s: %s)",
	    what, hd_drill_letter(new->node), c->lock, c->command, new->wait, new->reason);
}

static hd_status scene_start(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	hd_mono from = hd_now();
	hd_status st = HD_OK;

	for (int i = 0; i < HD_VERIFY_NODES && st == HD_OK; i++) {
		v->drill.nodes[i].conninfo = v->database.conninfo;
		st = hd_drill_start(&v->drill, i, err);
	}
	if (st == HD_OK)
		st = settle(v, err);
	if (st != HD_OK)
		return st;
	c->lock = hd_drill_seconds(from, hurt(v)->taken);
	c->command = hd_drill_seconds(from, hurt(v)->up);
	if (v->drill.nterms != 1)
		return hd_fail(err, HD_REFUSED, "the role changed hands %d times by itself",
		               v->drill.nterms - 1);
	hd_verify_say(v, c, HD_RESULT_OK,
	              "one of three nodes leads: %c had the role after %.3f s, its command ran "
	              "after %.3f s (%s)",
	              hd_drill_letter(hurt(v)->node), c->lock, c->command,
	              v->drill.nodes[hurt(v)->node].verdict);
	return HD_OK;
}

static hd_status scene_kill(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	int node = hurt(v)->node;
	hd_mono from = hd_now();
	char what[128];
	hd_status st;

	hd_drill_note(&v->drill, from, node, hurt(v)->token, "SIGKILL");
	hd_drill_signal(&v->drill, node, SIGKILL);
	st = hd_drill_watch(&v->drill, taken_over, TAKE_OVER_MS, err);
	if (st != HD_OK)
		return st;
	measure(v, c, from);
	(void)snprintf(what, sizeof(what),
	               "SIGKILL of leader %c: its command was dead after %.3f s",
	               hd_drill_letter(node), c->dead);
	say_times(v, c, what);
	return hd_drill_start(&v->drill, node, err);
}

static hd_status scene_freeze(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	int node = hurt(v)->node;
	hd_mono from = hd_now(), woken;
	char what[160];
	hd_status st;

	v->drill.nodes[node].may_lose = true;
	hd_drill_note(&v->drill, from, node, hurt(v)->token, "SIGSTOP to all of the node");
	st = hd_drill_freeze(&v->drill, node, err);
	if (st == HD_OK)
		st = hd_drill_watch(&v->drill, new_leads, TAKE_OVER_MS, err);
	if (st != HD_OK)
		return st;
	woken = hd_now();
	hd_drill_note(&v->drill, woken, node, hurt(v)->token, "SIGCONT");
	hd_drill_thaw(&v->drill);
	st = hd_drill_watch(&v->drill, old_dead, WAKE_MS, err);
	if (st != HD_OK)
		return st;
	measure(v, c, from);
	c->dead = hd_drill_seconds(woken, hurt(v)->over);
	(void)snprintf(
	    what, sizeof(what),
	    "SIGSTOP of node %c, all of it: woken afterwards, its command was dead after "
	    "%.3f s",
	    hd_drill_letter(node), c->dead);
	say_times(v, c, what);
	return HD_OK;
}

/* With a lease row no session matters: the leader calls again and leads on. */
static hd_status leads_on(struct hd_verify *v, struct hd_check *c, int n, struct hd_error *err)
{
	hd_status st = hd_drill_watch(&v->drill, NULL, HD_VERIFY_LEASE_MS + 1000, err);

	if (st != HD_OK)
		return st;
	if (v->drill.nterms != v->hurt + 1 || hurt(v)->over.ns != 0)
		return hd_fail(err, HD_REFUSED,
		               "node %c lost the role with its session, and a lease row needs none",
		               hd_drill_letter(hurt(v)->node));
	hd_verify_say(v, c, HD_RESULT_OK,
	              "all %d sessions terminated: node %c leads on by another one", n,
	              hd_drill_letter(hurt(v)->node));
	return HD_OK;
}

static hd_status scene_terminate(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	int node = hurt(v)->node, n = 0;
	hd_mono from = hd_now();
	char what[128];
	hd_status st;

	for (int i = 0; i < HD_VERIFY_NODES; i++)
		v->drill.nodes[i].may_lose = true;
	st = hd_verify_terminate(v, &n, err);
	if (st == HD_OK && n == 0) {
		hd_verify_say(v, c, HD_RESULT_SKIP,
		              "a terminated session: no session of the role can be seen");
		return HD_OK;
	}
	if (st == HD_REFUSED && strcmp(err->sqlstate, "42501") == 0) {
		hd_verify_say(v, c, HD_RESULT_SKIP, "a terminated session: %s", err->message);
		return HD_OK;
	}
	if (st != HD_OK)
		return st;
	hd_drill_note(&v->drill, from, node, hurt(v)->token, "its session is terminated");
	if (v->lease)
		return leads_on(v, c, n, err);
	st = hd_drill_watch(&v->drill, taken_over, TAKE_OVER_MS, err);
	if (st != HD_OK)
		return st;
	measure(v, c, from);
	(void)snprintf(what, sizeof(what),
	               "session of leader %c terminated: its command was dead after %.3f s",
	               hd_drill_letter(node), c->dead);
	say_times(v, c, what);
	return HD_OK;
}

static hd_status scene_stop(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	int node = hurt(v)->node;
	hd_mono from = hd_now();
	char what[128];
	hd_status st;

	hd_drill_note(&v->drill, from, node, hurt(v)->token, "SIGTERM");
	hd_drill_signal(&v->drill, node, SIGTERM);
	st = hd_drill_watch(&v->drill, handed_over, TAKE_OVER_MS + v->config->grace_ms, err);
	if (st != HD_OK)
		return st;
	measure(v, c, from);
	(void)snprintf(what, sizeof(what),
	               "SIGTERM to leader %c: its command had ended after %.3f s",
	               hd_drill_letter(node), c->dead);
	say_times(v, c, what);
	/* The next one may look at three again. */
	return hd_drill_start(&v->drill, node, err);
}

static hd_status scene_sum(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	const struct hd_drill *d = &v->drill;
	char tokens[200] = "";
	size_t n = 0;

	if (d->command == NULL && d->alive == 0)
		return hd_fail(err, HD_REFUSED, "no command ever gave a sign of life");
	for (int i = 0; i < d->nterms && n < sizeof(tokens) - 32; i++)
		n += (size_t)snprintf(tokens + n, sizeof(tokens) - n, "%s%" PRId64,
		                      i > 0 ? " < " : "", d->terms[i].token);
	hd_verify_say(v, c, HD_RESULT_OK, "never two commands at once: %d ran, one after the other",
	              d->nterms);
	c = hd_verify_check(v, "tokens");
	hd_verify_say(v, c, HD_RESULT_OK, "tokens only grew: %s", tokens);
	return HD_OK;
}

static const struct scene {
	const char *name;
	hd_status (*play)(struct hd_verify *v, struct hd_check *c, struct hd_error *err);
	const char *what; /* for the line of one that was not reached */
} scenes[] = {
	{ "one-leader", scene_start, "one of three nodes leads" },
	{ "kill", scene_kill, "SIGKILL of the leader" },
	{ "stop-whole-node", scene_freeze, "SIGSTOP of a whole node" },
	{ "session", scene_terminate, "a terminated session" },
	{ "hand-over", scene_stop, "SIGTERM to the leader" },
	{ "pooler", hd_verify_pooler, "the address of --pooler" },
	{ "overlap", scene_sum, "never two commands at once, growing tokens" },
};

/* A promise was broken, or one of the nodes can't do what is asked of it. */
static void fail(struct hd_verify *v, struct hd_check *c, const struct scene *s,
                 const struct hd_error *err)
{
	hd_verify_say(v, c, HD_RESULT_FAIL, "%s: %s%s%s%s", s->what, err->message,
	              err->hint[0] != '\0' ? " (" : "", err->hint, err->hint[0] != '\0' ? ")" : "");
}

hd_status hd_verify_play(struct hd_verify *v, struct hd_error *err)
{
	bool broken = false;

	now_playing = v;
	for (size_t i = 0; i < HD_ARRAY_SIZE(scenes) && !ferror(stdout); i++) {
		const struct scene *s = &scenes[i];
		struct hd_check *c;
		hd_status st;

		if (s->play == hd_verify_pooler && v->config->pooler == NULL)
			continue;
		c = hd_verify_check(v, s->name);
		if (broken) {
			hd_verify_say(v, c, HD_RESULT_SKIP, "%s: not tried any more", s->what);
			continue;
		}
		st = i > 0 ? settle(v, err) : HD_OK;
		if (st == HD_OK)
			st = s->play(v, c, err);
		if (v->drill.told_to_end != 0)
			return HD_LOST;
		broken = st != HD_OK;
		if (broken)
			fail(v, c, s, err);
	}
	return HD_OK;
}
