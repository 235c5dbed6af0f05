/*
 * term_kit.h - a scripted elector for the tests of the guard; no PostgreSQL.
 *
 * A test has one term at a time. kit_begin() ends whatever the test before has left.
 */
#ifndef TERM_KIT_H
#define TERM_KIT_H

#include "app/procfs.h"
#include "run/guard_link.h"
#include "tap.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS  30000 /* for what must happen, and may take long on a busy machine */
#define EXITED(code) ((code) << 8)

struct kit {
	char folder[64];
	char report[96];
	struct hd_guard guard;
	bool running;
	pid_t command;
	/* Change these between kit_begin and kit_start. */
	int trust_ms; /* from the start on */
	int lost_grace_ms;
	int kill_margin_ms;
	int lease_fd;
	int watchdog_ms;
	enum hd_contain contain;
	hd_mono trusted_until; /* set by kit_start */
};

static struct kit kit;
static const char *kit_howdah; /* the binary under test */

static inline hd_mono patience(void)
{
	return hd_after(hd_now(), PATIENCE_MS);
}

/* Ends what is left of a term, and removes its files. */
static inline void kit_clean(void)
{
	struct hd_tree all = { 0 };

	if (kit.running)
		(void)!hd_guard_end(&kit.guard, patience(), NULL);
	kit.running = false;
	(void)hd_tree_sweep(&all, patience());
	if (kit.folder[0] == '\0')
		return;
	(void)unlink(kit.report);
	(void)rmdir(kit.folder);
	kit.folder[0] = '\0';
}

/* Runs a script to its end; its exit code. */
static inline int kit_shell(const char *script)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	struct hd_spawn_options o;
	struct hd_child child;
	int status;

	hd_spawn_options_init(&o);
	o.argv = argv;
	CHECK(hd_spawn(&o, patience(), &child, NULL, NULL) == HD_OK);
	CHECK(hd_spawn_wait(&child, patience(), &status, NULL) == HD_OK);
	hd_spawn_close(&child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Once, first in main(). */
static inline void kit_setup(void)
{
	struct hd_error err;

	kit_howdah = getenv("HOWDAH") != NULL ? getenv("HOWDAH") : TEST_HOWDAH;
	(void)atexit(kit_clean);
	if (hd_guard_prepare(&err) != HD_OK)
		exit(70);
}

/* First in every test. */
static inline void kit_begin(void)
{
	kit_clean();
	kit = (struct kit){ .trust_ms = 10 * 60 * 1000,
		            .lost_grace_ms = 200,
		            .kill_margin_ms = 3000,
		            .lease_fd = -1 };
	(void)snprintf(kit.folder, sizeof(kit.folder), "/tmp/howdah-guard-XXXXXX");
	CHECK(mkdtemp(kit.folder) != NULL);
	(void)snprintf(kit.report, sizeof(kit.report), "%s/report", kit.folder);
}

/* Starts a term; does not wait for anything. */
static inline void kit_start(char *const *argv)
{
	struct hd_error err = { 0 };
	struct hd_guard_start s = {
		.binary = kit_howdah,
		.argv = argv,
		.role = "poller",
		.node = "0123456789abcdef0123456789abcdef",
		.token = 41,
		.lost_grace_ms = kit.lost_grace_ms,
		.kill_margin_ms = kit.kill_margin_ms,
		.lease_fd = kit.lease_fd,
		.watchdog_ms = kit.watchdog_ms,
		.contain = kit.contain,
	};

	kit.trusted_until = s.trusted_until = hd_after(hd_now(), kit.trust_ms);
	CHECK_MSG(hd_guard_start(&s, patience(), &kit.guard, &err) == HD_OK, "%s", err.message);
	kit.running = true;
}

static inline void kit_start_stubborn(const char *way, const char *argument)
{
	char *argv[] = { (char *)TEST_STUBBORN, kit.report, (char *)way, (char *)argument, NULL };

	kit_start(argv);
}

/* The next report but ACK; fails the test when it is of another kind. Answers its value. */
static inline int64_t kit_expect(enum hd_guard_report kind)
{
	struct hd_guard_message m = { .kind = HD_GUARD_ACK };

	while (m.kind == HD_GUARD_ACK)
		CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, kind);
	return m.value;
}

/* The end of the term by the elector's own hand. */
static inline void kit_end(void)
{
	struct hd_error err = { 0 };

	CHECK_MSG(hd_guard_end(&kit.guard, patience(), &err) == HD_OK, "%s", err.message);
	kit.running = false;
}

/* EXITED with this wait status, then GONE, then a good end of the term. */
static inline void kit_expect_end(int status)
{
	CHECK_INT(kit_expect(HD_GUARD_EXITED), status);
	(void)kit_expect(HD_GUARD_GONE);
	kit_end();
}

/* The number behind the word in stubborn's report; -1: it is not there. */
static inline long kit_word_now(const char *word)
{
	FILE *f = fopen(kit.report, "re");
	char got[32];
	long number, answer = -1;

	while (f != NULL && answer < 0 && fscanf(f, "%31s %ld", got, &number) == 2)
		if (strcmp(got, word) == 0)
			answer = number;
	if (f != NULL)
		(void)fclose(f);
	return answer;
}

/* The same, waiting for it. */
static inline long kit_word(const char *word)
{
	hd_mono end = patience();
	long number;

	while ((number = kit_word_now(word)) < 0) {
		CHECK_MSG(hd_before(hd_now(), end), "no word \"%s\"", word);
		(void)poll(NULL, 0, 2);
	}
	return number;
}

/* Starts a term of stubborn, and waits until that is ready. */
static inline void kit_lead(const char *way, const char *argument)
{
	kit_start_stubborn(way, argument);
	kit.command = (pid_t)kit_expect(HD_GUARD_STARTED);
	CHECK_INT(kit_word("self"), kit.command);
}

/* Another elector, which starts a term of stubborn and then does nothing. */
static inline pid_t kit_elector(const char *way, pid_t *ret_guard)
{
	int pipefd[2];
	pid_t pid;

	CHECK(pipe2(pipefd, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		if (setjmp(tap_failed) != 0 || hd_guard_prepare(NULL) != HD_OK)
			_exit(70);
		kit_start_stubborn(way, NULL);
		(void)!write(pipefd[1], &kit.guard.process.pid, sizeof(pid_t));
		for (;;)
			(void)pause();
	}
	(void)close(pipefd[1]);
	CHECK(read(pipefd[0], ret_guard, sizeof(*ret_guard)) == (ssize_t)sizeof(*ret_guard));
	(void)close(pipefd[0]);
	return pid;
}

/* A handle on the process that the word names, while it lives. */
static inline int kit_watch(const char *word)
{
	int fd = pidfd_open((pid_t)kit_word(word), 0);

	CHECK(fd >= 0);
	return fd;
}

static inline bool kit_dead(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static inline void kit_await_dead(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	CHECK(poll(&p, 1, PATIENCE_MS) == 1);
}

static inline void kit_await_state(pid_t pid, char state)
{
	struct hd_procfs_stat st = { 0 };
	hd_mono end = patience();

	while (hd_procfs_stat(pid, &st) && st.state != state) {
		CHECK_MSG(hd_before(hd_now(), end), "process %d is %c", (int)pid, st.state);
		(void)poll(NULL, 0, 2);
	}
}

/* Kills an elector of kit_elector(), its guard stopped before if wished, and waits for that one's
 * end. */
static inline void kit_kill_elector(pid_t elector, pid_t guard, bool stop_the_guard)
{
	int fd = pidfd_open(guard, 0);

	CHECK(fd >= 0);
	if (stop_the_guard) {
		CHECK(kill(guard, SIGSTOP) == 0);
		kit_await_state(guard, 'T');
	}
	CHECK(kill(elector, SIGKILL) == 0);
	kit_await_dead(fd);
	(void)close(fd);
}

/* The sum of the numbers behind `name` in a file of the guard in /proc. */
static inline long kit_proc_number(const char *file, const char *name)
{
	char path[64], line[256];
	long sum = 0, n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)kit.guard.process.pid, file);
	f = fopen(path, "re");
	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 &&
		    sscanf(strchr(line, ':') + 1, "%ld", &n) == 1)
			sum += n;
	(void)fclose(f);
	return sum;
}

/*
 * The guard's own memory: the budget is 2 MiB. Clean pages of programs are its elector's as well,
 * which is no howdah here. Not under a sanitizer, which needs memory of its own.
 */
static inline void kit_check_small(void)
{
	long kib = kit_proc_number("smaps_rollup", "Private_Dirty");

	printf("# %ld KiB private\n", kib);
	CHECK(kib <= 2048);
}

/* A stubborn that becomes root, in the folder of the test, which everybody may use from now on. */
static inline void kit_copy_setuid(char *to, size_t room)
{
	char script[512];
	struct stat sb;

	(void)snprintf(to, room, "%s/rooted", kit.folder);
	(void)snprintf(script, sizeof(script), "cp %s %s && chmod 4755 %s && chmod 777 %s",
	               TEST_STUBBORN, to, to, kit.folder);
	CHECK_INT(kit_shell(script), 0);
	CHECK(stat(to, &sb) == 0 && (sb.st_mode & S_ISUID) != 0);
}

#endif
