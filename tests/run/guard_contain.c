/* guard_contain.c - a term in a control group or a pid namespace. */
#include "contain_kit.h"

#include <dirent.h>
#include <sys/prctl.h>

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
	run_shell(HD_CONTAIN_PIDNS, "(sleep 0.01 &); sleep 0.3; exit 3", EXITED(3));
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

/* In a group that was given to nobody, with a command that becomes root. */
static int in_delegated_group(int group, char *command_path)
{
	char *argv[] = { command_path, kit.report, (char *)"root", NULL };
	enum hd_contain got;
	struct hd_error err = { 0 };

	if (!hd_cgroup_join(group) || setresgid(65534, 65534, 65534) != 0 ||
	    setresuid(65534, 65534, 65534) != 0 || hd_guard_prepare(NULL) != HD_OK)
		return 70;
	CHECK_MSG(hd_contain_choose("auto", &got, &err) == HD_OK, "%s", err.message);
	CHECK_INT(got, HD_CONTAIN_CGROUP);
	kit.contain = got;
	kit_start(argv);
	(void)kit_expect(HD_GUARD_STARTED);
	outsider = kit_watch("root");
	CHECK(kill((pid_t)kit_word("root"), 0) != 0 && errno == EPERM);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 0, NULL) == HD_OK);
	(void)kit_expect(HD_GUARD_EXITED);
	(void)kit_expect(HD_GUARD_GONE); /* no SURVIVOR, as without the group */
	CHECK(kit_dead(outsider));
	kit_end();
	return 0;
}

static void delegated_group_ends_what_its_user_can_not(void)
{
	char path[128];
	int group, status;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root to delegate a group");
	BEGIN(HD_CONTAIN_CGROUP);
	kit_copy_setuid(path, sizeof(path));
	CHECK(hd_cgroup_make(&group, NULL) == HD_OK);
	CHECK(fchown(group, 65534, 65534) == 0);
	CHECK(fchownat(group, "cgroup.procs", 65534, 65534, 0) == 0);
	pid = fork();
	if (pid == 0) {
		if (setjmp(tap_failed) != 0)
			_exit(1);
		_exit(in_delegated_group(group, path));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	(void)unlink(path);
	CHECK(hd_cgroup_end(group, patience()));
	hd_cgroup_remove(group);
	CHECK_INT(status, 0);
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
		TAP_TEST(group_goes_with_the_term),
		TAP_TEST(namespace_of_an_ordinary_user),
		TAP_TEST(group_that_is_not_delegated),
		TAP_TEST(delegated_group_ends_what_its_user_can_not),
	};

	return contain_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
