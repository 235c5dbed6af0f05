#include "feature/leader_parts.h"

#include "base/error.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hd_leader_copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from != NULL ? from : "");
}

struct hd_args hd_leader_args(const struct hd_leader_options *o)
{
	struct hd_args a = { 0 };

	hd_arg_text(&a, o->role);
	return a;
}

hd_status hd_leader_look(struct hd_leader *l, hd_mono deadline, struct hd_leader_look *ret,
                         struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	hd_status st;
	const char *owner;

	hd_arg_int(&a, l->o.key);
	st = hd_exec(l->session, HD_SQL_LEADER_LOOK, &a, deadline, &r, err);
	if (st != HD_OK)
		return st;
	owner = hd_rows_text(&r, 0, 4);
	*ret = (struct hd_leader_look){
		/* Another key or mode is for leader_register to refuse, with both named. */
		.registered = hd_rows_bool(&r, 0, 0) && hd_rows_int(&r, 0, 1) == l->o.key &&
		              strcmp(hd_rows_text(&r, 0, 2), l->ops->name) == 0,
		.token = hd_rows_int(&r, 0, 3),
		.closing = hd_rows_bool(&r, 0, 6),
		.beat = hd_rows_int(&r, 0, 7),
		.resign = hd_rows_bool(&r, 0, 8),
		.paused = hd_rows_bool(&r, 0, 9),
		.lock_free = hd_rows_text(&r, 0, 11) == NULL,
		.in_recovery = hd_rows_bool(&r, 0, 12),
		.clear = hd_rows_bool(&r, 0, 13),
	};
	ret->owned_by_me =
	    owner != NULL && strcmp(owner, l->o.owner) == 0 && ret->token == l->token;
	hd_leader_copy(ret->holder, sizeof(ret->holder), hd_rows_text(&r, 0, 5));
	hd_leader_copy(ret->pause_reason, sizeof(ret->pause_reason), hd_rows_text(&r, 0, 10));
	return HD_OK;
}

hd_status hd_leader_register(struct hd_leader *l, hd_mono deadline, int *ret_roles,
                             struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&a, l->o.key);
	hd_arg_text(&a, l->ops->name);
	st = hd_exec(l->session, HD_SQL_LEADER_REGISTER, &a, deadline, &r, err);
	if (st == HD_OK)
		*ret_roles = (int)hd_rows_int(&r, 0, 0);
	return st;
}

hd_status hd_leader_close(struct hd_leader *l, int64_t token, int64_t beat, hd_mono deadline,
                          bool *ret_closed, struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&a, token);
	hd_arg_int(&a, beat);
	st = hd_exec(l->session, HD_SQL_LEADER_CLOSE, &a, deadline, &r, err);
	if (st == HD_OK)
		*ret_closed = hd_rows_bool(&r, 0, 0);
	return st;
}

static void read_led_term(const struct hd_rows *r, struct hd_led_term *led)
{
	const char *mode = hd_rows_text(r, 0, 5);
	const char *verdict = hd_rows_text(r, 0, 7);

	*led = (struct hd_led_term){
		.led_token = hd_rows_int(r, 0, 1),
		.clear_token = hd_rows_int(r, 0, 2),
		.same_incarnation = hd_rows_bool(r, 0, 3),
		.same_start = hd_rows_bool(r, 0, 4),
		.advisory = mode != NULL && strcmp(mode, "advisory") == 0,
		.pinned = hd_rows_bool(r, 0, 6),
		.direct = verdict != NULL && strcmp(verdict, "direct") == 0,
		.lease_ms = hd_rows_int(r, 0, 8),
		.wait_ms = hd_rows_int(r, 0, 9),
	};
}

void hd_leader_taken(struct hd_leader *l, const struct hd_rows *r, struct hd_leader_answer *ret)
{
	l->held = true;
	l->token = hd_rows_int(r, 0, 0);
	read_led_term(r, &ret->led);
	ret->held = true;
	ret->taken = true;
	ret->token = l->token;
}

hd_status hd_leader_take(struct hd_leader *l, const struct hd_leader_look *seen, hd_mono deadline,
                         struct hd_leader_answer *ret, struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	bool closed = seen->closing; /* a row that is closing already needs no first half */
	hd_status st = HD_OK;

	if (!closed)
		st = hd_leader_close(l, seen->token, seen->beat, deadline, &closed, err);
	if (st != HD_OK || !closed)
		return st;
	hd_arg_int(&a, l->o.key);
	hd_arg_text(&a, l->ops->name);
	hd_arg_int(&a, seen->token);
	hd_arg_int(&a, seen->beat);
	hd_arg_text(&a, l->o.owner);
	hd_arg_text(&a, l->o.node);
	hd_arg_text(&a, l->o.address);
	hd_arg_int(&a, l->o.plan.lease_ms);
	ret->sent = hd_now();
	st = hd_exec(l->session, HD_SQL_LEADER_TAKE, &a, deadline, &r, err);
	if (st == HD_OK && hd_rows_text(&r, 0, 0) != NULL)
		hd_leader_taken(l, &r, ret);
	return st;
}

hd_status hd_leader_led(struct hd_leader *l, hd_mono deadline, struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&a, l->o.key);
	hd_arg_text(&a, l->o.owner);
	hd_arg_int(&a, l->token);
	hd_arg_int(&a, hd_trust_wait_ms(&l->o.plan));
	hd_arg_bool(&a, l->o.pinned);
	hd_arg_text(&a, l->o.verdict);
	st = hd_exec(l->session, HD_SQL_LEADER_LED, &a, deadline, &r, err);
	if (st == HD_OK && !hd_rows_bool(&r, 0, 0))
		return hd_fail(err, HD_LOST, "the role was taken or paused while this node waited");
	return st;
}

/* Remembers the backend of the first heartbeat; later ones must be answered by the same. */
static bool same_backend(struct hd_leader *l, int64_t pid, const char *start)
{
	if (l->backend_pid == 0) {
		l->backend_pid = pid;
		hd_leader_copy(l->backend_start, sizeof(l->backend_start), start);
	}
	return l->backend_pid == pid && strcmp(l->backend_start, start != NULL ? start : "") == 0;
}

hd_status hd_leader_beat(struct hd_leader *l, hd_mono deadline, struct hd_leader_answer *ret,
                         struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS r = { 0 };
	hd_status st;

	hd_arg_int(&a, l->o.key);
	hd_arg_text(&a, l->o.owner);
	hd_arg_int(&a, l->token);
	ret->token = l->token;
	ret->sent = hd_now();
	st = hd_exec(l->session, HD_SQL_LEADER_BEAT, &a, deadline, &r, err);
	if (st != HD_OK)
		return st;
	ret->held = hd_rows_bool(&r, 0, 0);
	ret->resign = hd_rows_bool(&r, 0, 2);
	ret->paused = hd_rows_bool(&r, 0, 3);
	hd_leader_copy(ret->why, sizeof(ret->why), hd_rows_text(&r, 0, 1));
	if (ret->held && !same_backend(l, hd_rows_int(&r, 0, 4), hd_rows_text(&r, 0, 5))) {
		ret->held = false;
		hd_leader_copy(ret->why, sizeof(ret->why),
		               "the session was moved to another backend");
	}
	if (ret->held && hd_rows_bool(&r, 0, 6)) {
		ret->held = false;
		hd_leader_copy(ret->why, sizeof(ret->why), "the server is a standby now");
	}
	l->held = ret->held;
	return HD_OK;
}

hd_status hd_leader_release(struct hd_leader *l, const char *reason, hd_mono deadline,
                            struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);

	hd_arg_text(&a, l->o.owner);
	hd_arg_int(&a, l->token);
	hd_arg_text(&a, reason);
	return hd_exec(l->session, HD_SQL_LEADER_RELEASE, &a, deadline, NULL, err);
}

hd_status hd_leader_notice(struct hd_session *s, const struct hd_leader_options *o, int64_t token,
                           const char *reason, hd_mono deadline, struct hd_error *err)
{
	struct hd_args a = hd_leader_args(o);

	hd_arg_text(&a, o->owner);
	hd_arg_int(&a, token);
	hd_arg_text(&a, reason);
	return hd_exec(s, HD_SQL_LEADER_NOTICE, &a, deadline, NULL, err);
}

static void say_blocker(const struct hd_rows *r, int row, void (*say)(void *, const char *),
                        void *arg)
{
	const char *prepared = hd_rows_text(r, row, 1);
	char line[256];

	if (prepared != NULL)
		(void)snprintf(line, sizeof(line),
		               "prepared transaction '%s' of %s, for %" PRId64 "s", prepared,
		               hd_rows_text(r, row, 2), hd_rows_int(r, row, 4));
	else
		(void)snprintf(line, sizeof(line), "pid %" PRId64 ", user %s, %s, for %" PRId64 "s",
		               hd_rows_int(r, row, 0), hd_rows_text(r, row, 2),
		               hd_rows_text(r, row, 3), hd_rows_int(r, row, 4));
	say(arg, line);
}

hd_status hd_leader_unblock(struct hd_leader *l, void (*say)(void *arg, const char *line),
                            void *arg, hd_mono deadline, int *ret_ended, struct hd_error *err)
{
	struct hd_args a = hd_leader_args(&l->o);
	HD_ROWS blockers = { 0 };
	HD_ROWS ended = { 0 };
	hd_status st = hd_exec(l->session, HD_SQL_LEADER_BLOCKERS, &a, deadline, &blockers, err);

	if (st != HD_OK)
		return st;
	for (int i = 0; i < hd_rows_count(&blockers) && i < 20; i++)
		say_blocker(&blockers, i, say, arg);
	st = hd_exec(l->session, HD_SQL_LEADER_UNBLOCK, &a, deadline, &ended, err);
	if (st != HD_OK)
		return st;
	*ret_ended = 0;
	for (int i = 0; i < hd_rows_count(&ended); i++)
		*ret_ended += hd_rows_bool(&ended, i, 1);
	return HD_OK;
}
