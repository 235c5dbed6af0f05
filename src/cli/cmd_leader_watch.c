/* howdah leader watch: the connection, and when to look again. */
#include "app/embedded.h"
#include "app/exit.h"
#include "app/log.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/command.h"
#include "cli/ending.h"
#include "cli/follow.h"
#include "cli/show.h"
#include "core/role.h"
#include "feature/leader.h"
#include <howdah/listener.h>
#include <howdah/probe.h>
#include <string.h>

#define AWAY_MS      250 /* the first pause while the database is away, and the longest */
#define AWAY_MOST_MS 10000

struct watcher {
	const struct hd_config *config;
	struct hd_follow follow;
	struct hd_session_options options;
	struct hd_session *session;
	struct hd_listener *listener;
	bool listens;
	bool read; /* it went well at least once */
	struct hd_backoff away;
	char said[sizeof(((struct hd_error *)NULL)->message)]; /* the last complaint */
};

/* Once for each new reason. */
static void say(struct watcher *w, const char *event, const struct hd_error *err)
{
	enum hd_log_level level = strcmp(w->said, err->message) == 0 ? HD_LOG_DEBUG : HD_LOG_WARN;

	hd_log_error(level, err, "event", event, "role", w->follow.role, NULL);
	memcpy(w->said, err->message, sizeof(w->said));
}

static void disconnect(struct watcher *w)
{
	hd_session_close(w->session);
	w->session = NULL;
	w->listens = false;
}

/* A listener needs a session of its own server process; without one the row is only read. */
static hd_status listen_if_possible(struct watcher *w, const struct hd_probe_report *r,
                                    struct hd_error *err)
{
	if (hd_probe_judge(r, err) != HD_OK) {
		hd_log(HD_LOG_INFO, "event", "polls only", "role", w->follow.role, "verdict",
		       hd_verdict_name(r->verdict), NULL);
		return HD_OK;
	}
	w->listens = true;
	return hd_listener_attach(w->listener, w->session,
	                          hd_after(hd_now(), w->config->timeout_ms), err);
}

static hd_status connect(struct watcher *w, struct hd_error *err)
{
	struct hd_probe_report report;
	hd_status st = hd_probe(&w->options, w->config->trust_session,
	                        hd_after(hd_now(), HD_PROBE_MS), &w->session, &report, err);

	if (st != HD_OK)
		return st;
	if (w->session == NULL)
		return hd_fail(err, HD_LOST, "the session was lost during the probe");
	if (report.verdict == HD_VERDICT_STANDBY) {
		(void)hd_fail(err, HD_RETRY, "this server is a standby, which knows of no locks");
		hd_hint(err, "name the primary, or all hosts: host=db1,db2");
		return HD_RETRY;
	}
	return listen_if_possible(w, &report, err);
}

/* Until the next look is due, or a notice says that now is better. */
static hd_status rest(struct watcher *w, struct hd_error *err)
{
	hd_mono until = hd_after(hd_now(), hd_jitter(w->config->retry_ms, hd_random64()));
	struct hd_notice notice = { .kind = HD_NOTICE_NONE };
	hd_status st;

	if (!w->listens) {
		hd_ending_sleep(until);
		return HD_OK;
	}
	do {
		st = hd_listener_next(w->listener, until, &notice, err);
		if (st != HD_OK || notice.kind != HD_NOTICE_MESSAGE)
			return st;
	} while (strcmp(notice.payload, w->follow.role) != 0);
	return HD_OK;
}

/* One look, with all that goes before and after it. */
static hd_status look(struct watcher *w, struct hd_error *err)
{
	hd_status st = w->session == NULL ? connect(w, err) : HD_OK;

	if (st != HD_OK)
		return st;
	st = hd_follow_read(&w->follow, w->session, err);
	if (st == HD_INVALID) {
		say(w, "waits for the role", err);
		st = HD_OK;
	} else if (st == HD_OK) {
		w->said[0] = '\0';
	}
	if (st != HD_OK || w->follow.ended)
		return st;
	hd_backoff_reset(&w->away);
	w->read = true;
	return rest(w, err);
}

static int watch(struct watcher *w)
{
	struct hd_error err;
	hd_status st;

	while (!w->follow.ended) {
		err = (struct hd_error){ 0 };
		st = look(w, &err);
		if (st == HD_OK)
			continue;
		/* What was wrong from the beginning is for whoever started this. */
		if (!w->read && (st == HD_REFUSED || st == HD_INVALID))
			return hd_show_complain(&err);
		disconnect(w);
		(void)hd_show_explain(&err);
		say(w, "database away", &err);
		hd_ending_sleep(hd_after(hd_now(), hd_backoff_next(&w->away, hd_random64())));
	}
	return HD_EXIT_BUG;
}

static hd_status check(const struct hd_config *config, struct hd_error *err)
{
	if (config->exec != NULL && config->command != NULL)
		return hd_fail(err, HD_INVALID,
		               "--exec and a command behind -- exclude each other");
	return hd_role_check(config->operand[0], err);
}

int hd_cmd_leader_watch(const struct hd_config *config)
{
	struct watcher w = { .config = config,
		             .follow = {
				 .config = config, .role = config->operand[0], .last = -1 } };
	struct hd_embedded embedded;
	struct hd_error err = { 0 };
	int code;

	if (check(config, &err) != HD_OK)
		return hd_complain(&err);
	code = hd_options_for_command(config, &embedded, &w.options);
	if (code != HD_EXIT_OK)
		return code;
	if (hd_listener_new(&w.listener, &err) != HD_OK ||
	    hd_listener_add(w.listener, HD_LEADER_CHANNEL, hd_now(), &err) != HD_OK)
		return hd_complain(&err);
	hd_backoff_init(&w.away, AWAY_MS, AWAY_MOST_MS);
	hd_ending_setup();
	code = watch(&w);
	disconnect(&w);
	hd_listener_free(w.listener);
	return code;
}
