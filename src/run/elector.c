#include "run/elector.h"

#include "app/clock_step.h"
#include "app/exit.h"
#include "app/log.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/ids.h"
#include "run/signals.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void hd_elector_because(struct hd_elector *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(e->reason, sizeof(e->reason), format, args);
	va_end(args);
}

static hd_status read_wait(struct hd_elector *e, struct hd_error *err)
{
	int64_t ms;
	hd_status st;

	if (e->config->wait == NULL)
		return HD_OK;
	st = hd_duration_parse(e->config->wait, &ms, err);
	if (st != HD_OK)
		return st;
	e->one_shot = true;
	e->one_shot_until = hd_after(hd_now(), ms);
	return HD_OK;
}

/* From here on a signal ends the process in an orderly way, whatever it is waiting for. */
static void be_ready_for_signals(const struct hd_elector *e)
{
	static char farewell[1024];

	hd_log_context("role", e->config->role);
	hd_log_context("node", e->node);
	hd_log_render(farewell, sizeof(farewell), HD_LOG_INFO, "state", "ended", "exit", "0",
	              "source", "howdah", "reason", "told to stop while no command ran", NULL);
	hd_signals_setup(farewell);
}

static struct hd_candidate candidate(const struct hd_elector *e)
{
	const struct hd_config *c = e->config;
	struct hd_candidate new = {
		.application_name = e->application_name,
		.role = c->role,
		.owner = e->id,
		.node = e->node,
		.address = c->address,
		.key = c->key_given ? c->key : hd_hash64(c->role),
		.retry_ms = c->retry_ms,
		.plan = { .lease_ms = c->lease_ms,
		          .heartbeat_ms = c->heartbeat_ms,
		          .lost_grace_ms = c->lost_grace_ms,
		          .margin_ms = c->margin_ms },
		.by_session = strcmp(c->election, "advisory") == 0,
		.trust_session = c->trust_session,
	};

	hd_candidate_defaults(&new.plan, new.by_session);
	return new;
}

hd_status hd_elector_init(struct hd_elector *e, const struct hd_config *config,
                          struct hd_error *err)
{
	hd_status st;

	*e = (struct hd_elector){
		.config = config,
		.state = HD_ST_STANDBY,
		.exit_source = "howdah",
	};
	e->c = candidate(e);
	if (config->watchdog_ms > 0 && config->command == NULL)
		return hd_fail(err, HD_INVALID,
		               "a watchdog has nothing to watch without a command");
	st = hd_trust_check(&e->c.plan, err);
	if (st == HD_OK)
		st = read_wait(e, err);
	if (st != HD_OK)
		return st;
	(void)hd_id_new(e->id);
	hd_candidate_node_name(e->id, e->node, sizeof(e->node));
	(void)snprintf(e->application_name, sizeof(e->application_name), "howdah:elector:%s",
	               config->role);
	hd_backoff_init(&e->connect_pause, 250, 10000);
	hd_backoff_init(&e->restart_pause, 500, 30000);
	be_ready_for_signals(e);
	return HD_OK;
}

static void log_state(const struct hd_elector *e, const char *why)
{
	char token[24] = "";
	char wait[24] = "";

	if (e->c.leader != NULL && e->c.leader->held)
		(void)snprintf(token, sizeof(token), "%" PRId64, e->c.leader->token);
	if (e->state == HD_ST_WAITING)
		(void)snprintf(wait, sizeof(wait), "%dms", hd_ms_left(e->c.wait_until));
	hd_log(e->state == HD_ST_LOST || e->state == HD_ST_LOST_ENDING ? HD_LOG_WARN : HD_LOG_INFO,
	       HD_LOG_PAIR("state", hd_state_word(e->state)), HD_LOG_PAIR("token", token),
	       HD_LOG_PAIR("wait", wait), HD_LOG_PAIR("reason", e->reason[0] ? e->reason : why),
	       NULL);
}

void hd_elector_signals_forward(struct hd_elector *e)
{
	hd_signals_forward(e->guarded ? e->guard.channel : -1, e->config->grace_ms);
}

/* The status of children that have ended; as process 1, those of strangers too. */
void hd_elector_reap(struct hd_elector *e)
{
	if (e->guarded)
		hd_guard_reap(&e->guard);
	else
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
}

static bool command_may_run(enum hd_state state)
{
	return state == HD_ST_LEADING || state == HD_ST_STOPPING || state == HD_ST_STEPPING_DOWN ||
	       state == HD_ST_PAUSING || state == HD_ST_LOST || state == HD_ST_LOST_ENDING;
}

/* Stop signals may end the process at once only where nothing runs and nothing must be written. */
static void choose_signals(struct hd_elector *e)
{
	if (command_may_run(e->state) || e->state == HD_ST_ENDED) {
		hd_elector_signals_forward(e);
		return;
	}
	hd_signals_exit_at_once();
	/* The exit code of a term that is over is nobody's any more. */
	e->command_known = false;
	e->cannot_run = 0;
}

/* A signal that came while a command ran, too late to be seen there, must not be forgotten. */
static enum hd_event late_signal(const struct hd_elector *e)
{
	return !command_may_run(e->state) && hd_signals_stop() != 0 ? HD_EV_SIGNAL : HD_EV_NONE;
}

/* One event through the table; an action may have the next event as its consequence. */
static void step(struct hd_elector *e, enum hd_event event)
{
	while (event != HD_EV_NONE) {
		const struct hd_transition *t = hd_election_step(e->state, event);
		bool changed;

		if (t == NULL)
			return;
		changed = t->next != e->state;
		e->state = t->next;
		choose_signals(e);
		if (changed && e->state != HD_ST_ENDED && e->state != HD_ST_REFUSED)
			log_state(e, t->why);
		else if (!changed && e->reason[0] != '\0')
			hd_log(HD_LOG_WARN, "event", hd_event_word(event), "reason", e->reason,
			       NULL);
		if (t->action == HD_ACT_STOP || event == HD_EV_COMMAND_ENDED)
			(void)snprintf(e->stop_reason, sizeof(e->stop_reason), "%s",
			               e->reason[0] != '\0' ? e->reason : t->why);
		/* The last line of all repeats the reason of the end. */
		if (e->state != HD_ST_ENDED && e->state != HD_ST_REFUSED)
			e->reason[0] = '\0';
		event = HD_EV_NONE;
		(void)hd_elector_do(e, t->action, &event);
		if (event == HD_EV_NONE)
			event = late_signal(e);
	}
}

/* The command's own end decides, unless it never ran. */
static void settle_exit(struct hd_elector *e)
{
	if (e->exit_code != 0)
		return;
	if (e->cannot_run != 0) {
		e->exit_code = hd_guard_exit_code(e->cannot_run);
		return;
	}
	if (!e->command_known)
		return;
	e->exit_source = "command";
	e->exit_code = WIFSIGNALED(e->command_status) ? HD_EXIT_SIGNAL + WTERMSIG(e->command_status)
	                                              : WEXITSTATUS(e->command_status);
}

static void log_end(const struct hd_elector *e)
{
	char code[16];

	(void)snprintf(code, sizeof(code), "%d", e->exit_code);
	hd_log(e->state == HD_ST_REFUSED ? HD_LOG_ERROR : HD_LOG_INFO,
	       HD_LOG_PAIR("state", e->state == HD_ST_REFUSED ? "refused" : "ended"),
	       HD_LOG_PAIR("exit", code), HD_LOG_PAIR("source", e->exit_source),
	       HD_LOG_PAIR("reason", e->reason), NULL);
}

int hd_elector_run(struct hd_elector *e, const char *conninfo)
{
	struct hd_error err;

	e->c.conninfo = conninfo;
	if (hd_guard_prepare(&err) != HD_OK) {
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		return HD_EXIT_BUG;
	}
	if (hd_contain_choose(e->config->contain, &e->contain, &err) != HD_OK) {
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		return HD_EXIT_REFUSED;
	}
	e->clock_step = hd_clock_step_open();
	log_state(e, "compete for the role");
	while (e->state != HD_ST_ENDED && e->state != HD_ST_REFUSED)
		step(e, hd_elector_next(e));
	if (e->state == HD_ST_REFUSED && e->exit_code == 0)
		e->exit_code = HD_EXIT_REFUSED;
	settle_exit(e);
	hd_candidate_release(&e->c);
	log_end(e);
	return e->exit_code;
}
