#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 32

static char folder[64];
static int cleaner_pipe = -1;
static pid_t cleaner, owner;

__attribute__((noreturn)) static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

const char *test_format(const char *format, ...)
{
	static char *kept[4096]; /* reachable, so that no leak is reported */
	static size_t n;
	va_list args;

	if (n == sizeof(kept) / sizeof(kept[0]))
		die("test_format");
	va_start(args, format);
	if (vasprintf(&kept[n], format, args) < 0)
		die("test_format");
	va_end(args);
	return kept[n++];
}

static const char *script_path(const char *script)
{
	return test_format("%s/%s", TEST_LIB, script);
}

static void end_all(void)
{
	/* A forked child of a test that calls exit() must not wait for what is not its child. */
	if (getpid() != owner)
		return;
	(void)close(cleaner_pipe);
	while (waitpid(cleaner, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Forked first, so that it needs nothing from this process but the end of the pipe. */
static void start_cleaner(void)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		die("pipe2");
	cleaner = fork();
	if (cleaner < 0)
		die("fork");
	if (cleaner == 0) {
		(void)setsid();
		(void)dup2(fds[0], 0);
		(void)dup2(2, 1);
		(void)execl(TEST_LIB "/cleanup", "cleanup", folder, (char *)NULL);
		_exit(127);
	}
	(void)close(fds[0]);
	cleaner_pipe = fds[1];
	owner = getpid();
	(void)atexit(end_all);
}

const char *test_dir(void)
{
	if (folder[0] == '\0') {
		(void)snprintf(folder, sizeof(folder), "/tmp/hdt-XXXXXX");
		if (mkdtemp(folder) == NULL || chmod(folder, 0711) != 0)
			die("mkdtemp");
		start_cleaner();
	}
	return folder;
}

const char *test_path(const char *name)
{
	return test_format("%s/%s", test_dir(), name);
}

int test_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) != 0)
		die("a free port");
	(void)close(fd);
	return ntohs(a.sin_port);
}

/* Runs a command; returns its standard output, or ends the program when it fails. */
static char *capture(char *const argv[], char *out, size_t size)
{
	size_t used = 0;
	ssize_t n;
	int fds[2], wstatus;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		die("pipe2");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		(void)dup2(fds[1], 1);
		(void)execv(argv[0], argv);
		_exit(127);
	}
	(void)close(fds[1]);
	while (used < size - 1 && (n = read(fds[0], out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	(void)close(fds[0]);
	out[used] = '\0';
	if (waitpid(pid, &wstatus, 0) != pid || wstatus != 0) {
		errno = 0;
		die(argv[0]);
	}
	return out;
}

const char *test_run(const char *script, const char *verb, const char *name, const char *args)
{
	char words[1024], out[1024];
	char *argv[WORDS_MAX + 4], *save = NULL;
	int n = 0;

	argv[n++] = (char *)(uintptr_t)script_path(script);
	argv[n++] = (char *)(uintptr_t)verb;
	argv[n++] = (char *)(uintptr_t)test_path(name);
	(void)snprintf(words, sizeof(words), "%s", args ? args : "");
	for (char *w = strtok_r(words, " ", &save); w && n < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	argv[n] = NULL;
	(void)capture(argv, out, sizeof(out));
	out[strcspn(out, "\n")] = '\0';
	return test_format("%s", out);
}

void test_blackhole(const char *name, const char *listen_at, const char *target)
{
	const char *control = test_path(name);
	int fds[2];
	pid_t pid, parent = getpid();
	char c;

	if (pipe2(fds, O_CLOEXEC) != 0)
		die("pipe2");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		(void)dup2(fds[1], 1);
		(void)execl(TEST_BLACKHOLE, "blackhole", listen_at, target, control, (char *)NULL);
		_exit(127);
	}
	(void)close(fds[1]);
	if (read(fds[0], &c, 1) != 1) /* it says that it listens */
		die("blackhole");
	(void)close(fds[0]);
}

void test_blackhole_tell(const char *name, const char *command)
{
	char out[64];
	char *argv[] = { (char *)(uintptr_t)TEST_BLACKHOLE, (char *)(uintptr_t) "-c",
		         (char *)(uintptr_t)test_path(name), (char *)(uintptr_t)command, NULL };

	(void)capture(argv, out, sizeof(out));
}
