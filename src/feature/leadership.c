#include "feature/leadership.h"

#include "base/base.h"
#include "base/error.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MOST_MS (24 * 3600 * 1000)

void hd_leadership_options_init(struct hd_leadership_options *o)
{
	*o = (struct hd_leadership_options){ 0 };
}

struct length {
	const char *name;
	int64_t given, def, least;
	int64_t *ret;
};

static hd_status take_length(const struct length *t, struct hd_error *err)
{
	int64_t ms = t->given != 0 ? t->given : t->def;

	if (ms < t->least || ms > LENGTH_MOST_MS)
		return hd_fail(err, HD_INVALID,
		               "%s is %" PRId64 ": %" PRId64 " to %d milliseconds are possible",
		               t->name, ms, t->least, LENGTH_MOST_MS);
	*t->ret = ms;
	return HD_OK;
}

static hd_status take_lengths(struct hd_leadership *l, const struct hd_leadership_options *o,
                              struct hd_error *err)
{
	struct hd_trust_plan *plan = &l->c.plan;
	bool row = !l->c.by_session;
	const struct length lengths[] = {
		{ "retry_ms", o->retry_ms, 2000, 100, &l->c.retry_ms },
		{ "heartbeat_ms", o->heartbeat_ms, plan->heartbeat_ms, 100, &plan->heartbeat_ms },
		{ "lease_ms", o->lease_ms, plan->lease_ms, 100, &plan->lease_ms },
		{ "margin_ms", row ? o->margin_ms : 0, row ? 5000 : 0, 0, &plan->margin_ms },
		{ "step_ms", o->step_ms, 500, 50, &l->step_ms },
		{ "stop_ms", o->stop_ms, 1000, 1, &l->stop_ms },
	};
	hd_status st = HD_OK;

	for (size_t i = 0; st == HD_OK && i < HD_ARRAY_SIZE(lengths); i++)
		st = take_length(&lengths[i], err);
	if (st != HD_OK)
		return st;
	/* A row is lost by time alone; a session's end has to be seen, by a step. */
	plan->lost_grace_ms = l->stop_ms + (row ? 0 : l->step_ms);
	st = hd_trust_check(plan, err);
	if (st != HD_OK)
		hd_hint(err, "raise lease_ms, or lower heartbeat_ms, margin_ms, stop_ms or "
		             "step_ms; the last two make the lost-grace");
	return st;
}

static hd_status copy_text(char **to, const char *from, struct hd_error *err)
{
	if (from == NULL)
		return HD_OK;
	*to = strdup(from);
	return *to != NULL ? HD_OK : hd_fail(err, HD_NOMEM, "out of memory");
}

static hd_status take_names(struct hd_leadership *l, const struct hd_leadership_options *o,
                            struct hd_error *err)
{
	hd_status st;

	if (o->role == NULL)
		return hd_fail(err, HD_INVALID, "no role is given");
	st = hd_role_check(o->role, err);
	if (st == HD_OK)
		st = copy_text(&l->conninfo, o->conninfo, err);
	if (st == HD_OK)
		st = copy_text(&l->address, o->address, err);
	if (st != HD_OK)
		return st;
	(void)hd_id_new(l->owner);
	(void)snprintf(l->role, sizeof(l->role), "%s", o->role);
	if (o->node != NULL)
		(void)snprintf(l->node, sizeof(l->node), "%s", o->node);
	else
		hd_candidate_node_name(l->owner, l->node, sizeof(l->node));
	/* The name by which `howdah leader` counts the nodes of a role. */
	(void)snprintf(l->application_name, sizeof(l->application_name), "howdah:elector:%s",
	               l->role);
	l->c.conninfo = l->conninfo;
	l->c.address = l->address;
	l->c.role = l->role;
	l->c.node = l->node;
	l->c.owner = l->owner;
	l->c.application_name = l->application_name;
	l->c.key = o->key_given ? o->key : hd_hash64(l->role);
	l->c.trust_session = o->trust_session;
	return HD_OK;
}

static hd_status set_up(struct hd_leadership *l, const struct hd_leadership_options *o,
                        struct hd_error *err)
{
	hd_status st;

	if (o->election != HD_ELECTION_ADVISORY && o->election != HD_ELECTION_LEASE)
		return hd_fail(err, HD_INVALID, "election %d is not known", (int)o->election);
	l->c.by_session = o->election == HD_ELECTION_ADVISORY;
	hd_candidate_defaults(&l->c.plan, l->c.by_session);
	st = take_names(l, o, err);
	if (st == HD_OK)
		st = take_lengths(l, o, err);
	hd_backoff_init(&l->connect_pause, 250, 10000);
	atomic_init(&l->state, HD_ST_STANDBY);
	return st;
}

hd_status hd_leadership_open(const struct hd_leadership_options *o, struct hd_leadership **ret,
                             struct hd_error *err)
{
	struct hd_leadership *l = calloc(1, sizeof(*l));
	hd_status st;

	if (l == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	st = set_up(l, o, err);
	if (st != HD_OK) {
		hd_leadership_close(l);
		return st;
	}
	*ret = l;
	return HD_OK;
}

void hd_leadership_close(struct hd_leadership *l)
{
	if (l == NULL)
		return;
	atomic_store(&l->held_until, 0);
	hd_candidate_release(&l->c);
	free(l->conninfo);
	free(l->address);
	free(l);
}

hd_status hd_leadership_step(struct hd_leadership *l, hd_mono deadline, struct hd_error *err)
{
	l->trouble = HD_OK;
	hd_leadership_apply(l, hd_leadership_next(l, deadline), deadline);
	hd_leadership_publish(l);
	l->stepped = hd_now();
	if (hd_leadership_state(l) == HD_ST_REFUSED)
		l->trouble = HD_REFUSED;
	if (l->trouble == HD_OK)
		return HD_OK;
	l->why.status = l->trouble;
	if (err != NULL)
		*err = l->why;
	return l->trouble;
}

void hd_leadership_stopped(struct hd_leadership *l)
{
	enum hd_state state = hd_leadership_state(l);

	l->stopped = state == HD_ST_LOST || state == HD_ST_STEPPING_DOWN || state == HD_ST_PAUSING;
}

static void doze(const struct hd_leadership *l, hd_mono deadline)
{
	struct pollfd p = { .fd = hd_leadership_socket(l),
		            .events = (short)hd_leadership_wants(l) };
	int ms = hd_leadership_timeout_ms(l);
	int left = hd_ms_left(deadline);

	/* A signal ends the wait early, and the next step finds nothing to do. */
	(void)poll(&p, 1, ms < left ? ms : left);
}

hd_status hd_leadership_wait_until_held(struct hd_leadership *l, hd_mono deadline,
                                        struct hd_error *err)
{
	hd_status st;

	for (;;) {
		hd_leadership_stopped(l);
		st = hd_leadership_step(l, deadline, err);
		if (st == HD_REFUSED || st == HD_NOMEM)
			return st;
		if (hd_leader_held(l))
			return HD_OK;
		if (!hd_before(hd_now(), deadline))
			break;
		doze(l, deadline);
	}
	return hd_fail(err, HD_TIMEOUT, "the role \"%s\" is not held: %s", l->role,
	               hd_leadership_reason(l));
}

hd_status hd_leadership_resign(struct hd_leadership *l, const char *reason, hd_mono deadline,
                               struct hd_error *err)
{
	(void)snprintf(l->resign_reason, sizeof(l->resign_reason), "%s",
	               reason != NULL ? reason : "resigned");
	l->trouble = HD_OK;
	hd_leadership_apply(l, HD_EV_RESIGN, deadline);
	hd_leadership_stopped(l);
	if (l->stopped)
		hd_leadership_apply(l, HD_EV_GONE, deadline);
	hd_leadership_publish(l);
	l->resign_reason[0] = '\0';
	if (l->c.notice_token == 0)
		return HD_OK;
	return hd_candidate_deliver(&l->c, deadline, err);
}

const char *hd_leadership_reason(const struct hd_leadership *l)
{
	return l->why.message;
}

int64_t hd_leader_token(const struct hd_leadership *l)
{
	int64_t token = atomic_load(&l->token);
	int64_t until = atomic_load(&l->held_until);

	/* The token is read again: the instant may be that of a term that began in between. */
	return hd_now().ns < until && atomic_load(&l->token) == token ? token : 0;
}

bool hd_leader_held(const struct hd_leadership *l)
{
	return hd_leader_token(l) != 0;
}

hd_mono hd_leader_trusted_until(const struct hd_leadership *l)
{
	hd_mono until = { atomic_load(&l->held_until) };

	return until;
}

const char *hd_leader_state(const struct hd_leadership *l)
{
	return hd_state_word(hd_leadership_state(l));
}
