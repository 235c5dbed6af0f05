/* guard_tree.c - what belongs to the command's tree and what does not; the terminal; the cost. */
#include "term_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

/* A child of this process, in no relation to the command. */
static pid_t stranger(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	CHECK(pid > 0);
	return pid;
}

static void end_stranger(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it lives */
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, 0) == pid);
}

/* What a shell had started before it executed the elector, or a process 1 has adopted since. */
static void strangers_are_spared(void)
{
	pid_t before, meanwhile;

	kit_begin();
	before = stranger();
	kit_lead("double-fork", NULL);
	meanwhile = stranger();
	kit_end();
	end_stranger(before);
	end_stranger(meanwhile);
}

static void strangers_of_before_are_spared_when_the_guard_died_unseen(void)
{
	int orphan;
	pid_t before;

	kit_begin();
	before = stranger();
	kit_lead("double-fork", NULL);
	orphan = kit_watch("orphan");
	hd_spawn_signal(&kit.guard.process, SIGKILL);
	kit_await_dead(kit.guard.process.pidfd);
	kit_end();
	CHECK(kit_dead(orphan));
	end_stranger(before);
}

/* The elector reaps whatever ends, and still knows what became of its guard. */
static void reaping_keeps_the_guard_s_status(void)
{
	pid_t pid;
	int fd;

	kit_begin();
	kit_lead("plain", NULL);
	pid = stranger();
	fd = pidfd_open(pid, 0);
	CHECK(fd >= 0 && kill(pid, SIGKILL) == 0);
	kit_await_dead(fd);
	(void)close(fd);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	CHECK_INT(kit_expect(HD_GUARD_EXITED), SIGTERM);
	(void)kit_expect(HD_GUARD_GONE);
	kit_await_dead(kit.guard.process.pidfd);
	hd_guard_reap(&kit.guard);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	CHECK(kit.guard.tree.ended);
	CHECK_INT(kit.guard.tree.status, 0);
	kit_end();
}

static void fork_bomb(void)
{
	kit_begin();
	kit_lead("bomb", "60000");
	(void)kit_word("burning");
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 0, NULL) == HD_OK);
	kit_expect_end(SIGKILL);
	CHECK_INT(kit_word_now("burned-out"), -1);
}

static void fork_bomb_without_its_guard(void)
{
	kit_begin();
	kit_lead("bomb", "60000");
	(void)kit_word("burning");
	kit_end();
	CHECK_INT(kit_word_now("burned-out"), -1);
}

/* ---- who can't be ended ---- */

/* Runs as nobody; answers an exit code, as a process that lost its privileges can't go on. */
static int term_of_nobody(char *command_path)
{
	char *argv[] = { command_path, kit.report, (char *)"root", NULL };
	struct hd_error err = { 0 };
	struct hd_guard_message m;
	pid_t survivor;
	int below;

	if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0 ||
	    hd_guard_prepare(NULL) != HD_OK)
		return 77;
	kit.kill_margin_ms = 300;
	kit_start(argv);
	(void)kit_expect(HD_GUARD_STARTED);
	survivor = (pid_t)kit_word("root");
	below = kit_watch("below");
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 0, NULL) == HD_OK);
	(void)kit_expect(HD_GUARD_EXITED);
	CHECK_INT(kit_expect(HD_GUARD_SURVIVOR), survivor);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_LOST); /* no GONE */
	CHECK(kit_dead(below));
	CHECK_INT(hd_guard_end(&kit.guard, hd_after(hd_now(), 2000), &err), HD_REFUSED);
	CHECK_INT(kit.guard.nsurvivors, 1);
	CHECK_INT(kit.guard.survivors[0], survivor);
	return 0;
}

static void survivor_is_named(void)
{
	char path[128];
	int status;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("only root can make a process that the guard can't end");
	kit_begin();
	kit_copy_setuid(path, sizeof(path));
	pid = fork();
	if (pid == 0) {
		if (setjmp(tap_failed) != 0)
			_exit(1);
		_exit(term_of_nobody(path));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	(void)unlink(path);
	CHECK_INT(status, 0);
}

/* ---- the terminal ---- */

/* A session leader with a terminal of its own: its exit code says what it found. */
static int elector_on_terminal(int master, int tty, bool in_background)
{
	pid_t other;

	(void)setsid();
	if (ioctl(tty, TIOCSCTTY, 0) != 0 || dup2(tty, STDIN_FILENO) < 0 ||
	    hd_guard_prepare(NULL) != HD_OK)
		return 77;
	other = stranger();
	CHECK(setpgid(other, other) == 0);
	if (in_background)
		CHECK(tcsetpgrp(STDIN_FILENO, other) == 0);
	kit_lead("terminal", NULL);
	CHECK_INT(kit_word("foreground"), !in_background);
	CHECK_INT(tcgetpgrp(STDIN_FILENO), in_background ? other : kit.command);
	if (in_background) {
		kit_end();
		CHECK_INT(tcgetpgrp(STDIN_FILENO), other);
		return 0;
	}
	CHECK(write(master, "\003", 1) == 1); /* Ctrl-C, for the command alone */
	CHECK_INT(kit_expect(HD_GUARD_EXITED), SIGINT);
	(void)kit_expect(HD_GUARD_GONE);
	CHECK_INT(tcgetpgrp(STDIN_FILENO), getpgrp());
	kit_end();
	(void)unlink(kit.report);
	kit_lead("terminal", NULL);
	kit_end(); /* a killed guard can't give it back */
	CHECK_INT(tcgetpgrp(STDIN_FILENO), getpgrp());
	end_stranger(other);
	return 0;
}

static void on_terminal(bool in_background)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int tty, status;
	pid_t pid;

	kit_begin();
	CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	tty = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(tty >= 0);
	pid = fork();
	if (pid == 0) {
		if (setjmp(tap_failed) != 0)
			_exit(1);
		_exit(elector_on_terminal(master, tty, in_background));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
	(void)close(master);
	(void)close(tty);
}

static void terminal_is_lent_and_given_back(void)
{
	on_terminal(false);
}

static void terminal_is_not_taken_from_the_background(void)
{
	on_terminal(true);
}

/* ---- the cost ---- */

/* A timer that is only needed at the end of the trust must not wake anybody before. */
static void idle_guard_sleeps(void)
{
	long before;

	kit_begin();
	kit_lead("plain", NULL);
	kit_await_state(kit.guard.process.pid, 'S');
	before = kit_proc_number("status", "voluntary_ctxt_switches");
	(void)poll(NULL, 0, 1500);
	CHECK_INT(kit_proc_number("status", "voluntary_ctxt_switches"), before);
	kit_end();
}

static void guard_is_small(void)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("sanitizers need memory of their own");
#endif
	kit_begin();
	kit_lead("plain", NULL);
	kit_check_small();
	kit_end();
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(strangers_are_spared),
		TAP_TEST(strangers_of_before_are_spared_when_the_guard_died_unseen),
		TAP_TEST(reaping_keeps_the_guard_s_status),
		TAP_TEST(fork_bomb),
		TAP_TEST(fork_bomb_without_its_guard),
		TAP_TEST(survivor_is_named),
		TAP_TEST(terminal_is_lent_and_given_back),
		TAP_TEST(terminal_is_not_taken_from_the_background),
		TAP_TEST(idle_guard_sleeps),
		TAP_TEST(guard_is_small),
	};

	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
