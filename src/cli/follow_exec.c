/* follow_exec.c - the command of a change: one at a time, bounded, and its failure is only a line.
 */
#include "app/log.h"
#include "app/spawn.h"
#include "base/base.h"
#include "base/error.h"
#include "cli/ending.h"
#include "cli/follow.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 5000
#define GRACE_MS 2000 /* from TERM to KILL */

static hd_status start(const struct hd_follow *f, struct hd_child *ret, struct hd_error *err)
{
	char sh[] = "sh", c[] = "-c";
	char *const shell[] = { sh, c, (char *)(uintptr_t)f->config->exec, NULL };
	char role[96], token[48], node[128];
	const char *const env[] = { role, token, node,
		                    f->led ? "HOWDAH_STATE=led" : "HOWDAH_STATE=free", NULL };
	struct hd_spawn_options o;

	(void)snprintf(role, sizeof(role), "HOWDAH_ROLE=%s", f->role);
	(void)snprintf(token, sizeof(token), "HOWDAH_TOKEN=%" PRId64, f->token);
	(void)snprintf(node, sizeof(node), "HOWDAH_NODE=%s", f->node);
	hd_spawn_options_init(&o);
	o.argv = f->config->exec != NULL ? shell : f->config->command;
	o.env = env;
	o.in = HD_SPAWN_NULL;
	/* Ours is for the lines of changes. */
	o.out = STDERR_FILENO;
	o.own_group = true;
	o.death_signal = SIGTERM;
	return hd_spawn(&o, hd_after(hd_now(), START_MS), ret, NULL, err);
}

/* True: it has ended. False: the time is up, or (`ret_told`) this program was told to end. */
static bool wait_for_end(const struct hd_child *c, hd_mono deadline, int signals, bool *ret_told)
{
	struct pollfd p[] = { { .fd = c->pidfd, .events = POLLIN },
		              { .fd = signals, .events = POLLIN } };

	for (;;) {
		int n = poll(p, HD_ARRAY_SIZE(p), hd_ms_left(deadline));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || p[0].revents != 0)
			return true;
		*ret_told = p[1].revents != 0;
		if (*ret_told || !hd_before(hd_now(), deadline))
			return false;
	}
}

/* Not reaped yet, so the number of the group is still its own. */
static void end_group(const struct hd_child *c)
{
	bool told;

	(void)kill(-c->pid, SIGTERM);
	(void)wait_for_end(c, hd_after(hd_now(), GRACE_MS), -1, &told);
	(void)kill(-c->pid, SIGKILL);
}

static void log_end(const struct hd_follow *f, int status, bool late)
{
	char how[48];

	if (WIFSIGNALED(status))
		(void)snprintf(how, sizeof(how), "signal %d", WTERMSIG(status));
	else
		(void)snprintf(how, sizeof(how), "code %d", WEXITSTATUS(status));
	if (late)
		hd_log(HD_LOG_WARN, "event", "exec took too long", "role", f->role, "ended", how,
		       NULL);
	else if (status != 0)
		hd_log(HD_LOG_WARN, "event", "exec failed", "role", f->role, "ended", how, NULL);
}

void hd_follow_exec(const struct hd_follow *f)
{
	struct hd_error err = { 0 };
	struct hd_child child;
	bool told = false, ended;
	int status = 0;

	if (f->config->exec == NULL && f->config->command == NULL)
		return;
	if (start(f, &child, &err) != HD_OK) {
		hd_log_error(HD_LOG_WARN, &err, "event", "exec failed", "role", f->role, NULL);
		return;
	}
	ended = wait_for_end(&child, hd_after(hd_now(), f->config->exec_timeout_ms), hd_ending_fd(),
	                     &told);
	if (!ended)
		end_group(&child);
	if (hd_spawn_wait(&child, hd_after(hd_now(), GRACE_MS), &status, NULL) == HD_OK)
		log_end(f, status, !ended && !told);
	else
		hd_log(HD_LOG_ERROR, "event", "exec can't be ended", "role", f->role, NULL);
	hd_spawn_close(&child);
}
