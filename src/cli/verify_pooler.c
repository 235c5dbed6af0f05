/* verify_pooler.c - one more node, behind a pooler: it has to be refused where a lock would not
 * stay with its holder. */
#include "app/exit.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/verify.h"
#include <howdah/probe.h>
#include <signal.h>
#include <sys/wait.h>

#define NODE_MS 20000

static bool settled(const struct hd_drill *d)
{
	const struct hd_drill_node *n = &d->nodes[HD_VERIFY_POOLED];

	return n->ready || n->ended.ns != 0;
}

static bool ended(const struct hd_drill *d)
{
	return d->nodes[HD_VERIFY_POOLED].ended.ns != 0;
}

static hd_status probe(struct hd_verify *v, hd_verdict *ret, struct hd_error *err)
{
	struct hd_session_options o = v->database;
	struct hd_probe_report report;
	struct hd_session *s = NULL;
	hd_status st;

	o.conninfo = v->config->pooler;
	st = hd_probe(&o, v->config->trust_session, hd_after(hd_now(), HD_PROBE_MS), &s, &report,
	              err);
	hd_session_close(s);
	if (st != HD_OK)
		return st;
	*ret = report.trusted ? HD_VERDICT_SESSION_POOLED : report.verdict;
	return HD_OK;
}

static void judge(struct hd_verify *v, struct hd_check *c, hd_verdict verdict)
{
	const struct hd_drill_node *n = &v->drill.nodes[HD_VERIFY_POOLED];
	bool refused =
	    !n->ready && WIFEXITED(n->status) && WEXITSTATUS(n->status) == HD_EXIT_REFUSED;
	bool stable = verdict == HD_VERDICT_DIRECT || verdict == HD_VERDICT_SESSION_POOLED;

	if (n->ready && stable)
		hd_verify_say(v, c, HD_RESULT_OK,
		              "the address of --pooler is %s: a session stays with its client, and "
		              "nodes may lead through it",
		              hd_verdict_name(verdict));
	else if (n->ready && v->lease)
		hd_verify_say(
		    v, c, HD_RESULT_OK,
		    "the address of --pooler is %s: a lease row works through it, and a node "
		    "there stands by",
		    hd_verdict_name(verdict));
	else if (!n->ready && refused && verdict == HD_VERDICT_MULTIPLEXED && !v->lease)
		hd_verify_say(v, c, HD_RESULT_OK,
		              "the address of --pooler is multiplexed: a node there is refused");
	else if (n->ready)
		hd_verify_say(v, c, HD_RESULT_FAIL,
		              "the address of --pooler is %s, and a node there was not refused",
		              hd_verdict_name(verdict));
	else
		hd_verify_say(v, c, HD_RESULT_FAIL, "a node at the address of --pooler (%s): %s",
		              hd_verdict_name(verdict),
		              n->trouble[0] ? n->trouble : "no sign of it");
}

hd_status hd_verify_pooler(struct hd_verify *v, struct hd_check *c, struct hd_error *err)
{
	struct hd_drill_node *n = &v->drill.nodes[HD_VERIFY_POOLED];
	hd_verdict verdict;
	hd_status st = probe(v, &verdict, err);

	if (st != HD_OK)
		return st;
	n->conninfo = v->config->pooler;
	st = hd_drill_start(&v->drill, HD_VERIFY_POOLED, err);
	n->may_end = true;
	if (st == HD_OK)
		st = hd_drill_watch(&v->drill, settled, NODE_MS, err);
	if (st != HD_OK && st != HD_TIMEOUT)
		return st;
	judge(v, c, verdict);
	if (n->ended.ns != 0)
		return HD_OK;
	hd_drill_signal(&v->drill, HD_VERIFY_POOLED, SIGTERM);
	return hd_drill_watch(&v->drill, ended, NODE_MS, err);
}
