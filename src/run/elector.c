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

/* A name for people: the host and enough of the identity to tell two processes apart. */
static void name_node(struct hd_elector *e)
{
	char host[64] = "";

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(e->node, sizeof(e->node), "%s-%.8s", host[0] != '\0' ? host : "node", e->id);
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

/* What was not said depends on the way of election. */
static void set_plan(struct hd_elector *e)
{
	const struct hd_config *c = e->config;

	e->plan = (struct hd_trust_plan){
		.heartbeat_ms = e->by_session ? 15000 : 10000,
		.lease_ms = e->by_session ? 45000 : 30000,
		.lost_grace_ms = c->lost_grace_ms,
		.margin_ms = e->by_session ? 0 : c->margin_ms,
	};
	if (c->heartbeat_ms != 0)
		e->plan.heartbeat_ms = c->heartbeat_ms;
	if (c->lease_ms != 0)
		e->plan.lease_ms = c->lease_ms;
}

hd_status hd_elector_init(struct hd_elector *e, const struct hd_config *config,
                          struct hd_error *err)
{
	hd_status st;

	*e = (struct hd_elector){
		.config = config,
		.key = config->key_given ? config->key : hd_hash64(config->role),
		.by_session = strcmp(config->election, "advisory") == 0,
		.state = HD_ST_STANDBY,
		.exit_source = "howdah",
	};
	set_plan(e);
	st = hd_trust_check(&e->plan, err);
	if (st == HD_OK)
		st = read_wait(e, err);
	if (st != HD_OK)
		return st;
	(void)hd_id_new(e->id);
	name_node(e);
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

	if (e->leader != NULL && e->leader->held)
		(void)snprintf(token, sizeof(token), "%" PRId64, e->leader->token);
	if (e->state == HD_ST_WAITING)
		(void)snprintf(wait, sizeof(wait), "%" PRId64 "ms",
		               hd_ms_between(hd_now(), e->wait_until));
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

	e->conninfo = conninfo;
	if (hd_guard_prepare(&err) != HD_OK) {
		hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
		return HD_EXIT_BUG;
	}
	e->clock_step = hd_clock_step_open();
	log_state(e, "compete for the role");
	while (e->state != HD_ST_ENDED && e->state != HD_ST_REFUSED)
		step(e, hd_elector_next(e));
	if (e->state == HD_ST_REFUSED && e->exit_code == 0)
		e->exit_code = HD_EXIT_REFUSED;
	settle_exit(e);
	hd_elector_disconnect(e);
	hd_leader_free(e->leader);
	log_end(e);
	return e->exit_code;
}
