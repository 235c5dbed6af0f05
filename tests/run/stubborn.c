/*
 * stubborn.c - commands that a guard has trouble with.
 *
 *   stubborn FILE WAY [ARGUMENT]
 *
 * Each process of it appends lines "word number" to FILE: "self PID" when it is ready, and what its
 * way finds out. Ways that do not end by themselves wait for ever.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int out;
static const char *argument;

static void say(const char *word, long number)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %ld\n", word, number);

	(void)!write(out, line, (size_t)n);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void ignore_requests(void)
{
	static const int requests[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		signal(requests[i], SIG_IGN);
}

static void plain(void)
{
	say("self", getpid());
	wait_for_ever();
}

static void ignore(void)
{
	ignore_requests();
	plain();
}

static void got(int sig)
{
	say("got", sig);
}

static void tell_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGCHLD)
			signal(sig, got);
	plain();
}

static void leave_politely(int sig)
{
	say("got", sig);
	_exit(7);
}

static void polite(void)
{
	signal(SIGTERM, leave_politely);
	plain();
}

/* A child in a session of its own that ignores every request; it is ready when this returns. */
static void detached_child(const char *word)
{
	int ready[2];
	char none;

	if (pipe(ready) != 0)
		_exit(70);
	if (fork() != 0) {
		close(ready[1]);
		(void)!read(ready[0], &none, 1);
		close(ready[0]);
		return;
	}
	setsid();
	ignore_requests();
	say(word, getpid());
	close(ready[1]);
	wait_for_ever();
}

static void setsid_child(void)
{
	detached_child("child");
	plain();
}

/* A child in a session of its own that tells what it gets. */
static void setsid_telling(void)
{
	if (fork() == 0) {
		setsid();
		signal(SIGTERM, got);
		say("child", getpid());
		wait_for_ever();
	}
	ignore();
}

static void orphan(void)
{
	if (fork() == 0) {
		detached_child("orphan");
		_exit(0);
	}
	(void)wait(NULL);
}

static void double_fork(void)
{
	orphan();
	plain();
}

/* Ends by itself with the code of the argument, and leaves an orphan behind. */
static void leave_orphan(void)
{
	orphan();
	say("self", getpid());
	_exit((int)strtol(argument, NULL, 10));
}

/* An orphan that ends at once, to be reaped by whoever adopts it. */
static void short_orphan(void)
{
	if (fork() == 0) {
		pid_t middle = getpid();

		if (fork() == 0) {
			while (getppid() == middle)
				usleep(1000);
			say("orphan", getpid());
		}
		_exit(0);
	}
	(void)wait(NULL);
	plain();
}

static void list_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		long fd = strtol(e->d_name, NULL, 10);

		if (e->d_name[0] != '.' && fd != dirfd(d) && fd != out)
			say("fd", fd);
	}
	say("self", getpid());
	_exit(0);
}

/* Every way to write to the trust deadline; a number of 0 is a success, which must not be. */
static void attack_held(void)
{
	int fd = (int)strtol(getenv("HOWDAH_HELD_FD"), NULL, 10);
	long zero = 0;
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	say("write", pwrite(fd, &zero, 8, 0) == 8 ? 0 : errno);
	say("map", mmap(NULL, 8, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED ? 0 : errno);
	again = open(path, O_RDWR);
	say("again-write", pwrite(again, &zero, 8, 0) == 8 ? 0 : errno);
	say("again-map",
	    mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED ? 0 : errno);
	say("again-shrink", ftruncate(again, 0) == 0 ? 0 : errno);
	say("again-grow", ftruncate(again, 4096) == 0 ? 0 : errno);
	say("again-unseal", fcntl(again, F_ADD_SEALS, 0) == 0 ? 0 : errno);
	say("self", getpid());
	_exit(0);
}

/* Asks `howdah held`, whose path is the argument, for ever; tells when the answer changes. */
static void ask_held(void)
{
	int status, last = -1;

	say("self", getpid());
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(argument, "howdah", "held", NULL);
			_exit(126);
		}
		if (waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) != last) {
			last = WEXITSTATUS(status);
			say(last == 0 ? "held" : "not-held", last);
		}
		usleep(10000);
	}
}

static void ask_held_ignoring(void)
{
	ignore_requests();
	ask_held();
}

static void tell_terminal(void)
{
	say("foreground", tcgetpgrp(0) == getpgrp());
	plain();
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Never the same process for longer than a moment, each in a session of its own, and now and then
 * one more of them. After the argument's milliseconds it gives up, and says that it was let.
 */
static void bomb(void)
{
	long end = now_ms() + strtol(argument, NULL, 10);
	long *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (fork() != 0)
		ignore();
	while (now_ms() < end) {
		long n = __atomic_add_fetch(made, 1, __ATOMIC_RELAXED);
		pid_t pid = fork();

		if (pid == 0) {
			setsid();
			ignore_requests();
			if (n == 200)
				say("burning", getpid());
		} else if (pid < 0 || n % 100 != 0 || n > 3000) {
			_exit(0);
		}
	}
	say("burned-out", getpid());
	_exit(0);
}

/*
 * With the setuid bit and owned by root: a descendant that an ordinary user can't signal, with a
 * child that he can.
 */
static void become_root(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			ignore_requests();
			say("below", setresuid(getuid(), getuid(), getuid()) == 0 ? getpid() : 0);
			wait_for_ever();
		}
		say("root", setresuid(0, 0, 0) == 0 ? getpid() : 0);
		wait_for_ever();
	}
	plain();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*go)(void);
	} ways[] = {
		{ "plain", plain },
		{ "ignore", ignore },
		{ "tell-signals", tell_signals },
		{ "polite", polite },
		{ "setsid", setsid_child },
		{ "setsid-telling", setsid_telling },
		{ "double-fork", double_fork },
		{ "leave-orphan", leave_orphan },
		{ "short-orphan", short_orphan },
		{ "descriptors", list_descriptors },
		{ "attack-held", attack_held },
		{ "ask-held", ask_held },
		{ "ask-held-ignoring", ask_held_ignoring },
		{ "terminal", tell_terminal },
		{ "bomb", bomb },
		{ "root", become_root },
	};

	if (argc < 3)
		return 64;
	argument = argc > 3 ? argv[3] : "0";
	out = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, argv[2]) == 0)
			ways[i].go();
	return 64;
}
