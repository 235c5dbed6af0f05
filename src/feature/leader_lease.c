/*
 * leader_lease.c - election by one row, through any pooler: nothing depends on a session.
 *
 * A stand-by takes a released role at once, and one whose holder is silent after it has itself seen
 * the same value for a whole lease (core/watch). The holder stops a margin earlier.
 */
#include "base/base.h"
#include "base/error.h"
#include "base/point.h"
#include "base/utc.h"
#include "core/watch.h"
#include "feature/leader_notice.h"
#include "feature/leader_parts.h"
#include <stdlib.h>
#include <string.h>

struct lease {
	struct hd_leader base;
	struct hd_leader_ear ear;
	struct hd_watch watch;
};

/* When the lease will have ended, by the wall clock of this machine: for people, never compared. */
static const char *expiry(const struct lease *a, char text[HD_UTC_TEXT])
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += a->base.o.plan.lease_ms / 1000;
	hd_utc_format(&t, text);
	return text;
}

/* Role, key and who we are, as both ways of taking begin and end. */
static void add_claim(struct hd_args *args, const struct hd_leader_options *o)
{
	hd_arg_text(args, o->owner);
	hd_arg_text(args, o->node);
	hd_arg_text(args, o->address);
	hd_arg_int(args, o->plan.lease_ms);
}

static void read_watched(const struct hd_rows *r, struct hd_watch_value *ret)
{
	*ret = (struct hd_watch_value){
		.token = hd_rows_int(r, 0, 10),
		.beat = hd_rows_int(r, 0, 11),
		.system = hd_rows_int(r, 0, 14),
		.timeline = hd_rows_int(r, 0, 15),
		.started = hd_rows_int(r, 0, 16),
	};
}

/* Second half of a take-over, on the very value that was watched. */
static hd_status take_over(struct lease *a, hd_mono deadline, struct hd_leader_answer *ret,
                           struct hd_error *err)
{
	const struct hd_watch_value *v = &a->watch.value;
	struct hd_args args = hd_leader_args(&a->base.o);
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&args, a->base.o.key);
	hd_arg_int(&args, v->token);
	hd_arg_int(&args, v->beat);
	hd_arg_int(&args, v->system);
	hd_arg_int(&args, v->timeline);
	hd_arg_int(&args, v->started);
	add_claim(&args, &a->base.o);
	ret->sent = hd_now();
	st = hd_exec(a->base.session, HD_SQL_LEASE_TAKE_OVER, &args, deadline, &r, err);
	if (st != HD_OK || hd_rows_text(&r, 0, 0) == NULL)
		return st;
	hd_leader_taken(&a->base, &r, ret);
	/* Only of the holder itself the silence tells: another may have led before it and waited.
	 */
	ret->led.watched = ret->led.led_token == v->token;
	return HD_OK;
}

/* The role is somebody's: has it been silent for a whole lease, its own or ours? */
static hd_status watch(struct lease *a, const struct hd_rows *r, hd_mono arrived, hd_mono deadline,
                       struct hd_leader_answer *ret, struct hd_error *err)
{
	struct hd_watch_value value;
	int64_t lease_ms = hd_rows_int(r, 0, 12);
	bool closed = hd_rows_bool(r, 0, 13);
	hd_status st = HD_OK;

	if (lease_ms < a->base.o.plan.lease_ms)
		lease_ms = a->base.o.plan.lease_ms;
	read_watched(r, &value);
	hd_watch_see(&a->watch, &value, arrived);
	if (!hd_watch_over(&a->watch, lease_ms, hd_now()))
		return HD_OK;
	if (a->base.listens)
		st = hd_leader_listen(&a->ear, a->base.session, false, deadline, err);
	if (st == HD_OK && !closed)
		st = hd_leader_close(&a->base, value.token, value.beat, deadline, &closed, err);
	HD_POINT("lease-closed-before-take");
	if (st == HD_OK && closed)
		st = take_over(a, deadline, ret, err);
	return st;
}

/* *ret_deaf: it began to listen after it had looked. */
static hd_status compete(struct lease *a, hd_mono deadline, struct hd_leader_answer *ret,
                         bool *ret_deaf, struct hd_error *err)
{
	struct hd_args args = hd_leader_args(&a->base.o);
	char until[HD_UTC_TEXT];
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&args, a->base.o.key);
	add_claim(&args, &a->base.o);
	hd_arg_text(&args, expiry(a, until));
	ret->sent = hd_now();
	st = hd_exec(a->base.session, HD_SQL_LEASE_ATTEMPT, &args, deadline, &r, err);
	if (st != HD_OK)
		return st;
	if (hd_rows_bool(&r, 0, 17))
		return hd_fail(err, HD_LOST, "the server is a standby now: nobody can lead on it");
	ret->paused = hd_rows_bool(&r, 0, 18);
	hd_leader_copy(ret->why, sizeof(ret->why), hd_rows_text(&r, 0, 19));
	hd_leader_copy(ret->holder, sizeof(ret->holder), hd_rows_text(&r, 0, 20));
	if (hd_rows_text(&r, 0, 0) != NULL)
		hd_leader_taken(&a->base, &r, ret);
	else if (!ret->paused)
		st = watch(a, &r, hd_now(), deadline, ret, err);
	*ret_deaf = st == HD_OK && a->base.listens && !ret->held && !a->ear.on;
	if (*ret_deaf)
		HD_POINT("leader-looked-before-listen");
	if (st == HD_OK && a->base.listens)
		st = hd_leader_listen(&a->ear, a->base.session, !ret->held, deadline, err);
	return st;
}

static hd_status renew(struct lease *a, hd_mono deadline, struct hd_leader_answer *ret,
                       struct hd_error *err)
{
	struct hd_args args = hd_leader_args(&a->base.o);
	char until[HD_UTC_TEXT];
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_text(&args, a->base.o.owner);
	hd_arg_int(&args, a->base.token);
	hd_arg_text(&args, expiry(a, until));
	ret->token = a->base.token;
	ret->sent = hd_now();
	st = hd_exec(a->base.session, HD_SQL_LEASE_RENEW, &args, deadline, &r, err);
	if (st != HD_OK)
		return st;
	ret->held = hd_rows_bool(&r, 0, 0);
	hd_leader_copy(ret->why, sizeof(ret->why), hd_rows_text(&r, 0, 1));
	ret->resign = hd_rows_bool(&r, 0, 2);
	ret->paused = hd_rows_bool(&r, 0, 3);
	a->base.held = ret->held;
	return HD_OK;
}

static hd_status lease_attempt(struct hd_leader *l, hd_mono deadline, struct hd_leader_answer *ret,
                               struct hd_error *err)
{
	struct lease *a = HD_CONTAINER_OF(l, struct lease, base);
	bool deaf = false;
	hd_status st;

	*ret = (struct hd_leader_answer){ 0 };
	if (l->held)
		return renew(a, deadline, ret, err);
	st = compete(a, deadline, ret, &deaf, err);
	/* What became free in between has told nobody: one more look. */
	if (st == HD_OK && deaf && !ret->paused)
		st = compete(a, deadline, ret, &deaf, err);
	return st;
}

static hd_status lease_resign(struct hd_leader *l, const char *reason, hd_mono deadline,
                              struct hd_error *err)
{
	struct hd_args args = hd_leader_args(&l->o);
	hd_status st = HD_OK;

	if (l->held)
		st = hd_leader_release(l, reason, deadline, err);
	l->held = false;
	if (st == HD_OK)
		st = hd_exec(l->session, HD_SQL_LEADER_ANNOUNCE, &args, deadline, NULL, err);
	return st;
}

static void lease_free(struct hd_leader *l)
{
	struct lease *a = HD_CONTAINER_OF(l, struct lease, base);

	hd_leader_ear_close(&a->ear);
	free(a);
}

static const struct hd_leader_ops lease_ops = {
	.name = "lease",
	.attempt = lease_attempt,
	.resign = lease_resign,
	.free = lease_free,
};

hd_status hd_leader_lease_new(struct hd_session *s, const struct hd_leader_options *o,
                              struct hd_leader **ret, struct hd_error *err)
{
	struct lease *a = calloc(1, sizeof(*a));
	hd_status st;

	if (a == NULL)
		return hd_fail(err, HD_NOMEM, "out of memory");
	a->base = (struct hd_leader){ .ops = &lease_ops, .o = *o, .session = s };
	st = hd_leader_ear_open(&a->ear, err);
	if (st != HD_OK) {
		lease_free(&a->base);
		return st;
	}
	*ret = &a->base;
	return HD_OK;
}

void hd_leader_move(struct hd_leader *l, struct hd_session *s, bool listens)
{
	struct lease *a = HD_CONTAINER_OF(l, struct lease, base);

	if (l->ops != &lease_ops)
		return; /* a claim that is bound to its session does not move */
	a->ear.on = false;
	l->session = s;
	l->listens = listens;
}
