/*
 * bare CONNINFO COMMAND - the plain way to lead, for comparison: an advisory lock, tried every 2 s
 * and on a notification, and a child while it is held. No probe, heartbeat, token, guard or fence.
 */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY      "4711"
#define RETRY_MS 2000

static volatile sig_atomic_t told;

static void on_term(int sig)
{
	told = sig;
}

static bool ask(PGconn *c, const char *sql)
{
	PGresult *r = PQexec(c, sql);
	bool yes = PQresultStatus(r) == PGRES_COMMAND_OK ||
	           (PQntuples(r) == 1 && PQgetvalue(r, 0, 0)[0] == 't');

	if (PQstatus(c) != CONNECTION_OK) {
		(void)fprintf(stderr, "bare: %s", PQerrorMessage(c));
		exit(1);
	}
	PQclear(r);
	return yes;
}

/* A signal, a notification, or the time; the mask is swapped in, so that no signal is missed. */
static void doze(PGconn *c, int ms, const sigset_t *open)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
	struct pollfd p = { .fd = PQsocket(c), .events = POLLIN };

	(void)ppoll(&p, 1, ms < 0 ? NULL : &time, open);
	(void)PQconsumeInput(c);
	for (PGnotify *n; (n = PQnotifies(c)) != NULL;)
		PQfreemem(n);
}

static pid_t start(char *command, const sigset_t *open)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)sigprocmask(SIG_SETMASK, open, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)execl(command, command, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_term };
	sigset_t block, open;
	PGconn *c;
	pid_t child;

	if (argc != 3)
		return 64;
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &block, &open);
	(void)sigaction(SIGTERM, &act, NULL);
	c = PQconnectdb(argv[1]);
	(void)ask(c, "listen bare");
	(void)dprintf(STDERR_FILENO, "{\"event\":\"connected\"}\n");
	while (!told && !ask(c, "select pg_try_advisory_lock(" KEY ")"))
		doze(c, RETRY_MS, &open);
	if (told)
		return 0;
	(void)setenv("HOWDAH_TOKEN", "1", 1);
	child = start(argv[2], &open);
	while (!told)
		doze(c, -1, &open);
	(void)kill(child, SIGTERM);
	(void)waitpid(child, NULL, 0);
	(void)ask(c, "select pg_advisory_unlock(" KEY "); notify bare");
	PQfinish(c);
	return 0;
}
