/*
 * scribe.c - the command that chaos runs under a role: it writes down that it lives.
 *
 *   scribe FILE [alone|family]
 *
 * Appends a line at its start, every 10 ms, and when TERM ends it: "WORD TOKEN NANOSECONDS PID
 * NODE", the clock being CLOCK_BOOTTIME. `family` also leaves a grandchild in a session of its own
 * that ignores TERM and writes as well, as a badly behaved daemon would.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int file;
static volatile sig_atomic_t stop;

static void on_term(int number)
{
	stop = number;
}

static void note(const char *word)
{
	const char *token = getenv("HOWDAH_TOKEN");
	const char *node = getenv("HOWDAH_NODE");
	struct timespec t;
	char line[256];
	int n;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	n = snprintf(line, sizeof(line), "%s %s %" PRId64 " %ld %s\n", word, token ? token : "-",
	             (int64_t)t.tv_sec * 1000000000 + t.tv_nsec, (long)getpid(), node ? node : "-");
	/* One write to an O_APPEND file: lines of several processes never mix. */
	if (write(file, line, (size_t)n) != n)
		_exit(3);
}

static void live(void)
{
	const struct timespec pause = { 0, 10 * 1000000 };

	note("start");
	while (!stop) {
		(void)nanosleep(&pause, NULL);
		note("beat");
	}
	note("end");
}

static void leave_grandchild(void)
{
	if (fork() != 0)
		return;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	(void)signal(SIGTERM, SIG_IGN);
	live();
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 64;
	file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0)
		return 66;
	(void)signal(SIGTERM, on_term);
	if (argc > 2 && strcmp(argv[2], "family") == 0)
		leave_grandchild();
	live();
	return 0;
}
