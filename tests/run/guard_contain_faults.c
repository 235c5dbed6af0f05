/* guard_contain_faults.c - what containment adds when there is nobody to sweep the tree. */
#include "contain_kit.h"

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

/* While the elector is stopped there is nobody to sweep either. */
static void kill_guard_of_a_stopped_elector(enum hd_contain mode)
{
	pid_t elector, guard;

	kit_begin();
	kit.contain = mode;
	elector = kit_elector("double-fork", &guard);
	command = kit_watch("self");
	outsider = kit_watch("orphan");
	CHECK(kill(elector, SIGSTOP) == 0);
	kit_await_state(elector, 'T');
	CHECK(kill(guard, SIGKILL) == 0);
	kit_await_dead(command);
	kit_await_dead(outsider);
}

static void elector_stopped_with_a_group(void)
{
	BEGIN(HD_CONTAIN_CGROUP);
	kill_guard_of_a_stopped_elector(HD_CONTAIN_CGROUP);
}

static void elector_stopped_with_a_namespace(void)
{
	BEGIN(HD_CONTAIN_PIDNS);
	kill_guard_of_a_stopped_elector(HD_CONTAIN_PIDNS);
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

	kit_begin();
	kit.contain = mode;
	kit.lost_grace_ms = 50;
	elector = kit_elector("setsid", &guard);
	command = kit_watch("self");
	outsider = kit_watch("child");
	group_folder(guard, folder, sizeof(folder));
	kit_kill_elector(elector, guard, stop_the_guard);
	CHECK(all_dead());
	await_removal(folder);
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

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(both_killed_in_a_group),
		TAP_TEST(both_killed_in_a_namespace),
		TAP_TEST(both_killed_without),
		TAP_TEST(guard_killed_in_a_group),
		TAP_TEST(guard_killed_in_a_namespace),
		TAP_TEST(elector_killed_with_a_group),
		TAP_TEST(elector_killed_with_a_namespace),
		TAP_TEST(elector_stopped_with_a_group),
		TAP_TEST(elector_stopped_with_a_namespace),
		TAP_TEST(fork_bomb_in_a_group),
		TAP_TEST(fork_bomb_in_a_namespace),
		TAP_TEST(next_start_ends_what_was_left),
	};

	return contain_main(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
