/* drill_node.c - the nodes of a drill: each one `howdah run` of this very program. */
#include "base/base.h"
#include "base/error.h"
#include "cli/drill.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define START_MS   5000
#define LEAVE_MS   3000
#define SWEEP_MS   5000
#define WORDS_MOST 256 /* of a node's command line */

void hd_drill_init(struct hd_drill *d)
{
	*d = (struct hd_drill){ .began = hd_now(),
		                .signals = -1,
		                .reports = -1,
		                .reports_in = -1,
		                .leave_ms = LEAVE_MS };
	for (int i = 0; i < HD_DRILL_NODES; i++) {
		d->nodes[i].process = (struct hd_child){ .pidfd = -1, .exec_fd = -1 };
		d->nodes[i].log = -1;
	}
}

static hd_status signals_open(struct hd_drill *d, struct hd_error *err)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < HD_ARRAY_SIZE(ending); i++)
		(void)sigaddset(&set, ending[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	/* A reader that goes away must not keep us from cleaning up. */
	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)sigaction(SIGCHLD, &normal, NULL);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->signals < 0)
		return hd_fail_errno(err, HD_RETRY, "no descriptor for signals");
	return HD_OK;
}

static hd_status reports_open(struct hd_drill *d, struct hd_error *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) != 0)
		return hd_fail_errno(err, HD_RETRY, "no pipe for the commands");
	(void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
	d->reports = pair[0];
	d->reports_in = pair[1];
	return HD_OK;
}

hd_status hd_drill_open(struct hd_drill *d, struct hd_error *err)
{
	hd_status st;

	hd_tree_spare_children(&d->strangers);
	st = signals_open(d, err);
	if (st == HD_OK)
		st = reports_open(d, err);
	return st;
}

/* Where this program lies: the name that ps shows for the commands. */
static hd_status own_path(char *ret, size_t size, struct hd_error *err)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	if (n <= 0 || (size_t)n >= size - 1)
		return hd_fail_errno(err, HD_REFUSED, "can't find this program in /proc/self/exe");
	ret[n] = '\0';
	return HD_OK;
}

struct words {
	int n;
	char *word[WORDS_MOST + 1];
};

static bool add_words(struct words *w, const char *const *words)
{
	for (; *words != NULL && w->n < WORDS_MOST; words++)
		w->word[w->n++] = (char *)(uintptr_t)*words;
	w->word[w->n] = NULL;
	return *words == NULL;
}

static hd_status command_line(const struct hd_drill *d, const char *self, struct words *ret,
                              struct hd_error *err)
{
	const char *const run[] = { "howdah",    "run",          "--role", d->role, "--config",
		                    "/dev/null", "--log-format", "json",   NULL };
	const char *const part[] = { "--", self, "part", "drill-worker", NULL };
	const char *const behind[] = { "--", NULL };

	ret->n = 0;
	if (add_words(ret, run) && add_words(ret, d->options) && add_words(ret, part) &&
	    (d->command == NULL ||
	     (add_words(ret, behind) && add_words(ret, (const char *const *)d->command))))
		return HD_OK;
	return hd_fail(err, HD_INVALID, "the command has more than %d words", WORDS_MOST);
}

static hd_status spawn_node(const struct hd_drill *d, const struct hd_drill_node *n, int log,
                            struct hd_child *ret, struct hd_error *err)
{
	char self[PATH_MAX], workers[96];
	struct hd_spawn_options o;
	struct words words;
	HD_BUF db;
	const char *env[] = { "HOWDAH_DB", workers, NULL };
	hd_status st = own_path(self, sizeof(self), err);

	if (st == HD_OK)
		st = command_line(d, self, &words, err);
	if (st != HD_OK)
		return st;
	(void)snprintf(workers, sizeof(workers), "HOWDAH_WORKERS=%s", d->role);
	hd_buf_init(&db);
	hd_buf_printf(&db, "HOWDAH_DB=%s", n->conninfo != NULL ? n->conninfo : "");
	if (!hd_buf_ok(&db))
		return hd_fail(err, HD_NOMEM, "no memory for a node");
	if (n->conninfo != NULL)
		env[0] = db.data;
	hd_spawn_options_init(&o);
	o.path = "/proc/self/exe";
	o.argv = words.word;
	o.env = env;
	o.in = HD_SPAWN_NULL;
	o.out = d->reports_in;
	o.err = log;
	/* Ctrl-C is for the drill, which takes the nodes down in order. */
	o.own_group = true;
	o.death_signal = SIGKILL;
	return hd_spawn(&o, hd_after(hd_now(), START_MS), ret, NULL, err);
}

/* What is left of a node that has ended. */
static void forget_node(struct hd_drill_node *n)
{
	const char *conninfo = n->conninfo;

	hd_spawn_close(&n->process);
	if (n->log >= 0)
		(void)close(n->log);
	*n = (struct hd_drill_node){ .conninfo = conninfo,
		                     .process = { .pidfd = -1, .exec_fd = -1 },
		                     .log = -1 };
}

hd_status hd_drill_start(struct hd_drill *d, int node, struct hd_error *err)
{
	struct hd_drill_node *n = &d->nodes[node];
	int pair[2];
	hd_status st;

	forget_node(n);
	/* From here on, not before: whatever was started by then is nobody's orphan. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return hd_fail_errno(err, HD_REFUSED, "this process can't be a subreaper");
	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0)
		return hd_fail_errno(err, HD_RETRY, "no pipe for a node's log");
	/* The node's end must block like any standard error. */
	(void)fcntl(pair[1], F_SETFL, 0);
	hd_drill_note(d, hd_now(), node, 0, "the node starts");
	st = spawn_node(d, n, pair[1], &n->process, err);
	(void)close(pair[1]);
	if (st != HD_OK) {
		n->process = (struct hd_child){ .pidfd = -1, .exec_fd = -1 };
		(void)close(pair[0]);
		return st;
	}
	n->log = pair[0];
	return HD_OK;
}

void hd_drill_signal(struct hd_drill *d, int node, int sig)
{
	d->nodes[node].may_end = true;
	hd_spawn_signal(&d->nodes[node].process, sig);
}

static void end_node(struct hd_drill_node *n, hd_mono deadline)
{
	int status;

	if (n->process.pid != 0 && n->ended.ns == 0 &&
	    hd_spawn_wait(&n->process, deadline, &status, NULL) != HD_OK)
		(void)!hd_spawn_kill(&n->process, hd_after(hd_now(), SWEEP_MS), &status, NULL);
	forget_node(n);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

hd_status hd_drill_close(struct hd_drill *d, struct hd_error *err)
{
	hd_mono deadline = hd_after(hd_now(), d->leave_ms);
	bool gone;

	hd_drill_thaw(d);
	for (int i = 0; i < HD_DRILL_NODES; i++)
		hd_drill_signal(d, i, SIGTERM);
	for (int i = 0; i < HD_DRILL_NODES; i++)
		end_node(&d->nodes[i], deadline);
	for (int i = 0; i < d->nterms; i++)
		shut(&d->terms[i].pidfd);
	gone = hd_tree_sweep(&d->strangers, hd_after(hd_now(), SWEEP_MS));
	shut(&d->reports);
	shut(&d->reports_in);
	return gone ? HD_OK : hd_fail(err, HD_TIMEOUT, "a process of a node can't be ended");
}
