/*
 * leader_advisory.c - election by session advisory lock: the lock says who, the row fences.
 *
 * A stand-by listens for the release notice and stops listening before it tries the lock: a holder
 * that listened could be kept alive by a flood of notices after it was stopped, and its lock with
 * it.
 */
#include "base/error.h"
#include "base/point.h"
#include "feature/leader_notice.h"
#include "feature/leader_parts.h"
#include <stdlib.h>
#include <string.h>

struct advisory {
	struct hd_leader base;
	struct hd_leader_ear ear;
	bool locked; /* the lock is ours, whatever the row says */
};

static hd_status unlock(struct advisory *a, hd_mono deadline, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&args, a->base.o.key);
	hd_arg_text(&args, a->base.o.role);
	st = hd_exec(a->base.session, HD_SQL_LEADER_UNLOCK, &args, deadline, &r, err);
	if (st != HD_OK)
		return st;
	a->locked = false;
	if (!hd_rows_bool(&r, 0, 0))
		return hd_fail(err, HD_LOST, "the advisory lock was not held any more");
	return HD_OK;
}

static hd_status try_lock(struct advisory *a, hd_mono deadline, struct hd_error *err)
{
	struct hd_args args = { 0 };
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&args, a->base.o.key);
	st = hd_exec(a->base.session, HD_SQL_LEADER_LOCK, &args, deadline, &r, err);
	if (st == HD_OK)
		a->locked = hd_rows_bool(&r, 0, 0);
	return st;
}

/* With the lock held: reads the row anew, since it may have changed before the lock was ours. */
static hd_status take(struct advisory *a, hd_mono deadline, struct hd_leader_answer *ret,
                      struct hd_error *err)
{
	struct hd_leader_look seen;
	hd_status st = hd_leader_look(&a->base, deadline, &seen, err);

	if (st != HD_OK || seen.paused || !seen.registered)
		return st;
	return hd_leader_take(&a->base, &seen, deadline, ret, err);
}

/* *ret_deaf: it began to listen after it had looked. */
static hd_status compete(struct advisory *a, hd_mono deadline, struct hd_leader_answer *ret,
                         bool *ret_deaf, struct hd_error *err)
{
	struct hd_leader_look seen;
	hd_status st = hd_leader_look(&a->base, deadline, &seen, err);

	if (st != HD_OK)
		return st;
	if (seen.in_recovery)
		return hd_fail(err, HD_REFUSED, "the server is a standby: nobody can lead on it");
	if (!seen.registered)
		st = hd_leader_register(&a->base, deadline, &ret->roles, err);
	ret->paused = seen.paused;
	memcpy(ret->holder, seen.holder, sizeof(ret->holder));
	memcpy(ret->why, seen.pause_reason, sizeof(ret->why));
	if (st == HD_OK && !seen.paused && seen.lock_free) {
		st = hd_leader_listen(&a->ear, a->base.session, false, deadline, err);
		if (st == HD_OK)
			st = try_lock(a, deadline, err);
		if (st == HD_OK && a->locked)
			st = take(a, deadline, ret, err);
	}
	if (a->locked && !ret->held && st == HD_OK)
		st = unlock(a, deadline, err); /* the row moved, or was paused meanwhile */
	*ret_deaf = st == HD_OK && !a->locked && !a->ear.on;
	if (*ret_deaf)
		HD_POINT("leader-looked-before-listen");
	if (st == HD_OK && !a->locked)
		st = hd_leader_listen(&a->ear, a->base.session, true, deadline, err);
	return st;
}

static hd_status advisory_attempt(struct hd_leader *l, hd_mono deadline,
                                  struct hd_leader_answer *ret, struct hd_error *err)
{
	struct advisory *a = HD_CONTAINER_OF(l, struct advisory, base);
	bool deaf = false;
	hd_status st;

	*ret = (struct hd_leader_answer){ 0 };
	if (l->held)
		return hd_leader_beat(l, deadline, ret, err);
	if (a->locked) /* a take-over that ran into its bound goes on */
		return take(a, deadline, ret, err);
	st = compete(a, deadline, ret, &deaf, err);
	/* What became free in between has told nobody: one more look. */
	if (st == HD_OK && deaf && !ret->paused)
		st = compete(a, deadline, ret, &deaf, err);
	return st;
}

static hd_status advisory_resign(struct hd_leader *l, const char *reason, hd_mono deadline,
                                 struct hd_error *err)
{
	struct advisory *a = HD_CONTAINER_OF(l, struct advisory, base);
	hd_status st = HD_OK;

	if (l->held)
		st = hd_leader_release(l, reason, deadline, err);
	l->held = false;
	HD_POINT("leader-released-before-unlock");
	if (st == HD_OK && a->locked)
		st = unlock(a, deadline, err);
	return st;
}

static void advisory_free(struct hd_leader *l)
{
	struct advisory *a = HD_CONTAINER_OF(l, struct advisory, base);

	hd_leader_ear_close(&a->ear);
	free(a);
}

static const struct hd_leader_ops advisory_ops = {
	.name = "advisory",
	.session_bound = true,
	.attempt = advisory_attempt,
	.resign = advisory_resign,
	.free = advisory_free,
};

hd_status hd_leader_advisory_new(struct hd_session *s, const struct hd_leader_options *o,
                                 struct hd_leader **ret, struct hd_error *err)
{
	struct advisory *a = calloc(1, sizeof(*a));
	hd_status st;

	if (a == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	a->base = (struct hd_leader){ .ops = &advisory_ops, .o = *o, .session = s };
	st = hd_leader_ear_open(&a->ear, err);
	if (st != HD_OK) {
		advisory_free(&a->base);
		return st;
	}
	*ret = &a->base;
	return HD_OK;
}
