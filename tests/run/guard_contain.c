/* guard_contain.c - what a control group or a pid namespace adds to the sweep of the tree. */
#include "term_kit.h"

#include "app/cgroup.h"
#include <dirent.h>
#include <errno.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static int command;
static int outsider;

/* First in a test; false, and the test is skipped, when this machine can't do it. */
#define BEGIN(mode)                                                                                \
	do {                                                                                       \
		enum hd_contain got;                                                               \
		struct hd_error why;                                                               \
		if (hd_contain_choose(hd_contain_word(mode), &got, &why) != HD_OK)                 \
			SKIP(why.message);                                                         \
		kit_begin();                                                                       \
		kit.contain = (mode);                                                              \
	} while (0)

static void lead_with_outsider(const char *way, const char *outsiders_word)
{
	kit_lead(way, NULL);
	command = kit_watch("self");
	outsider = kit_watch(outsiders_word);
}

static bool all_dead(void)
{
	return kit_dead(command) && kit_dead(outsider);
}

/* The folder of the command's control group, as a guard has it open; "" without one. */
static void group_folder(pid_t guard, char *ret, size_t room)
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)guard, HD_GUARD_FD_CGROUP);
	n = kit.contain == HD_CONTAIN_CGROUP ? readlink(link, ret, room - 1) : 0;
	CHECK(n >= 0);
	ret[n] = '\0';
}

static void await_removal(const char *folder)
{
	hd_mono end = patience();
	struct stat sb;

	while (folder[0] != '\0' && stat(folder, &sb) == 0) {
		CHECK_MSG(hd_before(hd_now(), end), "%s stays", folder);
		(void)poll(NULL, 0, 5);
	}
}

/* ---- as without ---- */

static void run_shell(enum hd_contain mode, const char *script, int status)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };

	kit_begin();
	kit.contain = mode;
	kit_start(argv);
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(status);
}

static void codes_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	run_shell(HD_CONTAIN_CGROUP, "exit 9", EXITED(9));
	run_shell(HD_CONTAIN_CGROUP, "kill -USR1 $$", SIGUSR1);
}

/* Process 1 can't die of a signal, so it says which it was as a shell does. */
static void codes_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	run_shell(HD_CONTAIN_PIDNS, "exit 9", EXITED(9));
	run_shell(HD_CONTAIN_PIDNS, "kill -USR1 $$", EXITED(128 + SIGUSR1));
	run_shell(HD_CONTAIN_PIDNS, "(sleep 0.01 &); wait; exit 3", EXITED(3));
}

static void missing_program(enum hd_contain mode)
{
	char *argv[] = { (char *)"no-such-program-anywhere", NULL };

	kit_begin();
	kit.contain = mode;
	kit_start(argv);
	CHECK_INT(hd_guard_exit_code(kit_expect(HD_GUARD_NO_START)), 127);
	(void)kit_expect(HD_GUARD_GONE);
	kit_end();
}

static void missing_program_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	missing_program(HD_CONTAIN_CGROUP);
}

static void missing_program_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	missing_program(HD_CONTAIN_PIDNS);
}

static void signals_and_stop(enum hd_contain mode)
{
	kit_lead("tell-signals", NULL);
	CHECK(hd_guard_signal(&kit.guard, SIGUSR1, NULL) == HD_OK);
	CHECK_INT(kit_word("got"), SIGUSR1);
	kit_end();
	kit_begin();
	kit.contain = mode;
	kit_lead("polite", NULL);
	CHECK(kill(kit.command, SIGSTOP) == 0);
	kit_await_state(kit.command, 'T');
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	kit_expect_end(EXITED(7));
}

static void signals_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	signals_and_stop(HD_CONTAIN_CGROUP);
}

static void signals_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	signals_and_stop(HD_CONTAIN_PIDNS);
}

static int open_descriptors(pid_t pid)
{
	char path[64];
	DIR *d;
	int n = -2; /* "." and ".." */

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	CHECK(d != NULL);
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n;
}

static void keep_last(pid_t pid, void *arg)
{
	*(pid_t *)arg = pid;
}

/* A descriptor in it would keep the session alive, or a reader of the command's output waiting. */
static void init_has_no_descriptor(void)
{
	pid_t init = 0;
	hd_mono end = patience();

	BEGIN(HD_CONTAIN_PIDNS);
	kit_lead("plain", NULL);
	hd_procfs_children(kit.guard.process.pid, keep_last, &init);
	CHECK(init > 0 && init != kit.command);
	while (open_descriptors(init) > 0)
		CHECK(hd_before(hd_now(), end));
	kit_end();
}

static void watchdog_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	kit.watchdog_ms = 1500;
	kit_lead("watchdog", NULL);
	CHECK_INT(kit_word("watchdog-pid"), 1);
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 1500);
	kit_expect_end(EXITED(128 + SIGTERM));
	kit_begin();
	kit.contain = HD_CONTAIN_PIDNS;
	kit.watchdog_ms = 2000;
	kit_lead("ping-a-while", "5000");
	(void)kit_word("silent");
	CHECK_INT(kit_word_now("unsent"), -1);
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 2000);
	kit_end();
}

/* ---- who is killed ---- */

/* Elector and guard in the same instant: nobody of ours is left to sweep. */
static void kill_both(enum hd_contain mode, const char *way)
{
	char folder[1024];
	pid_t elector, guard;
	int fd;

	kit_begin();
	kit.contain = mode;
	elector = kit_elector(way, &guard);
	command = kit_watch("self");
	outsider = kit_watch(strcmp(way, "setsid") == 0 ? "child" : "orphan");
	group_folder(guard, folder, sizeof(folder));
	fd = pidfd_open(guard, 0);
	CHECK(fd >= 0 && kill(elector, SIGSTOP) == 0 && kill(guard, SIGSTOP) == 0);
	CHECK(kill(guard, SIGKILL) == 0 && kill(elector, SIGKILL) == 0);
	kit_await_dead(fd);
	kit_await_dead(command);
	await_removal(folder);
	(void)close(fd);
}

static void both_killed_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	kill_both(HD_CONTAIN_CGROUP, "setsid");
	kit_await_dead(outsider);
	kill_both(HD_CONTAIN_CGROUP, "double-fork");
	kit_await_dead(outsider);
}

static void both_killed_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	kill_both(HD_CONTAIN_PIDNS, "setsid");
	kit_await_dead(outsider);
	kill_both(HD_CONTAIN_PIDNS, "double-fork");
	kit_await_dead(outsider);
}

/* What containment is for. */
static void both_killed_without(void)
{
	struct pollfd p;

	kill_both(HD_CONTAIN_NONE, "double-fork");
	p = (struct pollfd){ .fd = outsider, .events = POLLIN };
	CHECK_INT(poll(&p, 1, 500), 0);
}

static void guard_killed(enum hd_contain mode)
{
	kit_begin();
	kit.contain = mode;
	lead_with_outsider("double-fork", "orphan");
	hd_spawn_signal(&kit.guard.process, SIGKILL);
	kit_end();
	CHECK(all_dead());
}

static void guard_killed_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	guard_killed(HD_CONTAIN_CGROUP);
}

static void guard_killed_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	guard_killed(HD_CONTAIN_PIDNS);
}

static void elector_killed(enum hd_contain mode, bool stop_the_guard)
{
	char folder[1024];
	pid_t elector, guard;
	int fd;

	kit_begin();
	kit.contain = mode;
	kit.lost_grace_ms = 50;
	elector = kit_elector("setsid", &guard);
	command = kit_watch("self");
	outsider = kit_watch("child");
	group_folder(guard, folder, sizeof(folder));
	fd = pidfd_open(guard, 0);
	CHECK(fd >= 0);
	if (stop_the_guard) {
		CHECK(kill(guard, SIGSTOP) == 0);
		kit_await_state(guard, 'T');
	}
	CHECK(kill(elector, SIGKILL) == 0);
	kit_await_dead(fd);
	CHECK(all_dead());
	await_removal(folder);
	(void)close(fd);
}

static void elector_killed_with_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	elector_killed(HD_CONTAIN_CGROUP, false);
	elector_killed(HD_CONTAIN_CGROUP, true);
}

static void elector_killed_with_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	elector_killed(HD_CONTAIN_PIDNS, false);
	elector_killed(HD_CONTAIN_PIDNS, true);
}

static void bomb(enum hd_contain mode)
{
	kit_begin();
	kit.contain = mode;
	kit_lead("bomb", "60000");
	(void)kit_word("burning");
	kit_end();
	CHECK_INT(kit_word_now("burned-out"), -1);
}

static void fork_bomb_in_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	bomb(HD_CONTAIN_CGROUP);
}

static void fork_bomb_in_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	bomb(HD_CONTAIN_PIDNS);
}

/* ---- what is left of the group ---- */

static void group_goes_with_the_term(void)
{
	char folder[1024], below[1100];
	struct stat sb;
	pid_t keeper;

	BEGIN(HD_CONTAIN_CGROUP);
	kit_lead("double-fork", NULL);
	group_folder(kit.guard.process.pid, folder, sizeof(folder));
	(void)snprintf(below, sizeof(below), "%s/below", folder); /* as another howdah would */
	CHECK(stat(folder, &sb) == 0 && mkdir(below, 0755) == 0);
	CHECK(hd_cgroup_living(kit.guard.cgroup, (pid_t[8]){ 0 }, 8) == 2);
	keeper = kit.guard.keeper.pid;
	CHECK(keeper > 0 && kill(keeper, 0) == 0);
	CHECK_INT(hd_cgroup_clean_up(), 0); /* it is somebody's */
	kit_end();
	CHECK(stat(folder, &sb) != 0 && errno == ENOENT);
	(void)waitpid(keeper, NULL, 0);
}

struct other {
	pid_t than, pid;
};

static void keep_other(pid_t pid, void *arg)
{
	struct other *o = arg;

	if (pid != o->than)
		o->pid = pid;
}

/* Whoever kills the keeper as well leaves the rest to the next start. */
static void next_start_ends_what_was_left(void)
{
	char folder[1024];
	struct stat sb;
	pid_t elector, guard;
	struct other keeper = { 0 };

	BEGIN(HD_CONTAIN_CGROUP);
	elector = kit_elector("double-fork", &guard);
	command = kit_watch("self");
	outsider = kit_watch("orphan");
	group_folder(guard, folder, sizeof(folder));
	CHECK(kill(elector, SIGSTOP) == 0);
	keeper.than = guard;
	hd_procfs_children(elector, keep_other, &keeper);
	CHECK(keeper.pid > 0 && kill(keeper.pid, SIGKILL) == 0);
	CHECK(kill(guard, SIGKILL) == 0 && kill(elector, SIGKILL) == 0);
	kit_await_dead(command);
	CHECK(!kit_dead(outsider) && stat(folder, &sb) == 0);
	while (hd_cgroup_clean_up() == 0)
		(void)poll(NULL, 0, 5);
	CHECK(kit_dead(outsider));
	CHECK(stat(folder, &sb) != 0 && errno == ENOENT);
}

/* ---- by an ordinary user ---- */

/* Answers an exit code, as a process that lost its privileges can't go on. */
static int as_nobody(enum hd_contain mode)
{
	enum hd_contain got;
	struct hd_error err = { 0 };

	/* As an exec by that user would leave it. */
	if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0 ||
	    prctl(PR_SET_DUMPABLE, 1) != 0 || hd_guard_prepare(NULL) != HD_OK)
		return 70;
	if (hd_contain_choose(hd_contain_word(mode), &got, &err) != HD_OK) {
		printf("# %s; %s\n", err.message, err.hint);
		(void)fflush(stdout);
		return err.status == HD_REFUSED && err.hint[0] != '\0' ? 77 : 1;
	}
	kit.contain = mode;
	lead_with_outsider("double-fork", "orphan");
	hd_spawn_signal(&kit.guard.process, SIGSTOP);
	kit_await_state(kit.guard.process.pid, 'T');
	hd_spawn_signal(&kit.guard.process, SIGKILL);
	kit_await_dead(outsider);
	kit_end();
	return all_dead() ? 0 : 1;
}

static int code_as_nobody(enum hd_contain mode)
{
	int status;
	pid_t pid;

	kit_begin();
	CHECK(chmod(kit.folder, 0777) == 0);
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setjmp(tap_failed) != 0)
			_exit(1);
		_exit(as_nobody(mode));
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void namespace_of_an_ordinary_user(void)
{
	int code;

	if (geteuid() != 0)
		SKIP("needs root to become another user");
	code = code_as_nobody(HD_CONTAIN_PIDNS);
	if (code == 77)
		SKIP("this kernel gives ordinary users no user namespaces");
	CHECK_INT(code, 0);
}

static void group_that_is_not_delegated(void)
{
	if (geteuid() != 0)
		SKIP("needs root to become another user");
	CHECK_INT(code_as_nobody(HD_CONTAIN_CGROUP), 77);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(codes_in_a_group),
		TAP_TEST(codes_in_a_namespace),
		TAP_TEST(missing_program_in_a_group),
		TAP_TEST(missing_program_in_a_namespace),
		TAP_TEST(signals_in_a_group),
		TAP_TEST(signals_in_a_namespace),
		TAP_TEST(init_has_no_descriptor),
		TAP_TEST(watchdog_in_a_namespace),
		TAP_TEST(both_killed_in_a_group),
		TAP_TEST(both_killed_in_a_namespace),
		TAP_TEST(both_killed_without),
		TAP_TEST(guard_killed_in_a_group),
		TAP_TEST(guard_killed_in_a_namespace),
		TAP_TEST(elector_killed_with_a_group),
		TAP_TEST(elector_killed_with_a_namespace),
		TAP_TEST(fork_bomb_in_a_group),
		TAP_TEST(fork_bomb_in_a_namespace),
		TAP_TEST(group_goes_with_the_term),
		TAP_TEST(next_start_ends_what_was_left),
		TAP_TEST(namespace_of_an_ordinary_user),
		TAP_TEST(group_that_is_not_delegated),
	};

	/* The leak check makes a thread, which can't be once the next child is to be a process 1.
	 */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
