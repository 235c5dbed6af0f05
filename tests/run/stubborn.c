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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/* Its pid as the test knows it, who is outside of any pid namespace: as /proc has it. */
static long number(void)
{
	char text[32] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 ? strtol(text, NULL, 10)
	                                                          : getpid();
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
	say("self", number());
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
	say(word, number());
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
		say("child", number());
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
	say("self", number());
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
			say("orphan", number());
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
	say("self", number());
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
	say("self", number());
	_exit(0);
}

/* Asks `howdah held`, whose path is the argument, for ever; tells when the answer changes. */
static void ask_held(void)
{
	int status, last = -1;

	say("self", number());
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

/* ---- the watchdog ---- */

/* One datagram, as sd_notify(3) would; `fd` of -1 sends no descriptor along. */
static void notify(const char *text, size_t size, int fd)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec what = { (void *)text, size };
	struct msghdr m = { .msg_name = &a, .msg_iov = &what, .msg_iovlen = 1 };
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (name == NULL || strlen(name) >= sizeof(a.sun_path))
		_exit(70);
	memcpy(a.sun_path, name, strlen(name));
	if (a.sun_path[0] == '@')
		a.sun_path[0] = '\0';
	m.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	if (fd >= 0) {
		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(int));
	}
	if (sendmsg(s, &m, MSG_NOSIGNAL) < 0)
		say("unsent", errno);
	close(s);
}

static void ping(void)
{
	notify("READY=1\nSTATUS=at work\nWATCHDOG=1\n", 34, -1);
}

/* Every 20 ms. */
static void ping_for_ever(void)
{
	say("self", number());
	for (;;) {
		ping();
		usleep(20000);
	}
}

/* For the argument's milliseconds. */
static void ping_for_a_while(void)
{
	long end = now_ms() + strtol(argument, NULL, 10);

	say("self", number());
	while (now_ms() < end) {
		ping();
		usleep(20000);
	}
	say("silent", number());
	wait_for_ever();
}

static volatile sig_atomic_t told;

static void be_told(int sig)
{
	(void)sig;
	told = 1;
}

/* Silent from a TERM on, which it survives. */
static void ping_until_told(void)
{
	signal(SIGTERM, be_told);
	say("self", number());
	while (!told) {
		ping();
		usleep(20000);
	}
	wait_for_ever();
}

/* The child in a session of its own pings, the command does not. */
static void child_pings(void)
{
	if (fork() == 0) {
		setsid();
		say("child", number());
		for (;;) {
			ping();
			usleep(20000);
		}
	}
	plain();
}

/* The argument, with '~' for a newline. */
static void say_to_watchdog(void)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", argument);
	for (char *p = text; *p != '\0'; p++)
		if (*p == '~')
			*p = '\n';
	say("self", number());
	notify(text, strlen(text), -1);
	say("said", number());
	wait_for_ever();
}

static void abuse_once(int pipefd)
{
	static char large[100000];

	memset(large, 'x', sizeof(large));
	memcpy(large, "WATCHDOG=1\n", 11);
	notify("", 0, -1);
	notify("\n\n\0\377WATCHDOG=1", 14, -1);
	notify("WATCHDOG=10", 11, -1);
	notify("WATCHDOG=trigger2", 17, -1);
	notify("WATCHDOG_USEC=-5", 16, -1);
	notify(large, sizeof(large), -1);
	notify(large, 4097, -1);
	notify("BARRIER=1", 9, pipefd);
}

/* What no receiver should believe, or keep, for the argument's milliseconds: nothing is a ping. */
static void abuse_watchdog(void)
{
	long end = now_ms() + strtol(argument, NULL, 10);
	int pipefd[2];
	char none;

	say("self", number());
	if (pipe(pipefd) != 0)
		_exit(70);
	do
		abuse_once(pipefd[1]);
	while (now_ms() < end);
	close(pipefd[1]);
	/* Ends when the last descriptor that was sent is closed. */
	say("closed", read(pipefd[0], &none, 1));
	wait_for_ever();
}

static void tell_watchdog(void)
{
	const char *pid = getenv("WATCHDOG_PID"), *usec = getenv("WATCHDOG_USEC");

	say("watchdog-pid", pid != NULL ? strtol(pid, NULL, 10) == getpid() : 0);
	say("watchdog-usec", usec != NULL ? strtol(usec, NULL, 10) : 0);
	say("watchdog-fd", getenv("NOTIFY_SOCKET") != NULL);
	plain();
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
				say("burning", number());
		} else if (pid < 0 || n % 100 != 0 || n > 3000) {
			_exit(0);
		}
	}
	say("burned-out", number());
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
			say("below", setresuid(getuid(), getuid(), getuid()) == 0 ? number() : 0);
			wait_for_ever();
		}
		say("root", setresuid(0, 0, 0) == 0 ? number() : 0);
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
		{ "ping", ping_for_ever },
		{ "ping-a-while", ping_for_a_while },
		{ "ping-until-told", ping_until_told },
		{ "child-pings", child_pings },
		{ "say", say_to_watchdog },
		{ "abuse", abuse_watchdog },
		{ "watchdog", tell_watchdog },
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
