/* spawn.c - starting a process, where the tests of the guard do not show it. */
#include "term_kit.h"

#include <errno.h>
#include <grp.h>

static char text[256];

/* Runs a script with these options and reads what it prints. */
static const char *output_of(struct hd_spawn_options *o, const char *script)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	struct hd_child child;
	size_t used = 0;
	int pipefd[2], status;
	ssize_t n;

	CHECK(pipe2(pipefd, O_CLOEXEC) == 0);
	o->argv = argv;
	o->out = pipefd[1];
	CHECK(hd_spawn(o, patience(), &child, NULL, NULL) == HD_OK);
	(void)close(pipefd[1]);
	while ((n = read(pipefd[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	(void)close(pipefd[0]);
	CHECK(hd_spawn_wait(&child, patience(), &status, NULL) == HD_OK);
	CHECK_INT(status, 0);
	hd_spawn_close(&child);
	return text;
}

static void environment_is_changed(void)
{
	const char *const env[] = { "ADDED=1", "REPLACED=new", "GONE", NULL };
	struct hd_spawn_options o;

	(void)setenv("REPLACED", "old", 1);
	(void)setenv("GONE", "old", 1);
	(void)setenv("KEPT", "old", 1);
	hd_spawn_options_init(&o);
	o.env = env;
	CHECK_TEXT(output_of(&o, "echo $ADDED $REPLACED ${GONE-none} $KEPT"), "1 new none old\n");
}

static void folder_and_streams(void)
{
	struct hd_spawn_options o;

	hd_spawn_options_init(&o);
	o.cwd = "/usr";
	o.in = HD_SPAWN_NULL;
	CHECK_TEXT(output_of(&o, "pwd; cat; readlink /proc/self/fd/0"), "/usr\n/dev/null\n");
}

/* The copy must not be spoilt by the placing of another one. */
static void descriptors_may_change_places(void)
{
	int pipes[2][2];
	struct hd_spawn_options o;

	CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
	CHECK(write(pipes[0][1], "a\n", 2) == 2 && write(pipes[1][1], "b\n", 2) == 2);
	(void)close(pipes[0][1]);
	(void)close(pipes[1][1]);
	CHECK(dup2(pipes[0][0], 7) == 7 && dup2(pipes[1][0], 8) == 8);
	hd_spawn_options_init(&o);
	o.fds = (const struct hd_spawn_fd[]){ { 7, 8 }, { 8, 7 } };
	o.nfds = 2;
	CHECK_TEXT(output_of(&o, "cat <&7; cat <&8"), "b\na\n");
	(void)close(pipes[0][0]);
	(void)close(pipes[1][0]);
	(void)close(7);
	(void)close(8);
}

static void another_user_and_no_other_group(void)
{
	struct hd_spawn_options o;

	if (geteuid() != 0)
		SKIP("only root can become another user");
	CHECK(setgroups(2, (const gid_t[]){ 0, 4 }) == 0);
	hd_spawn_options_init(&o);
	o.as_user = true;
	o.uid = o.gid = 65534;
	o.death_signal = SIGKILL;
	CHECK_TEXT(output_of(&o, "id -u; id -G"), "65534\n65534\n");
}

static void failed_step_is_named(void)
{
	char *argv[] = { (char *)"true", NULL };
	struct hd_spawn_options o;
	struct hd_error err;
	struct hd_child child;
	int error = 0;

	hd_spawn_options_init(&o);
	o.argv = argv;
	o.cwd = "/no/such/folder";
	CHECK_INT(hd_spawn(&o, patience(), &child, &error, &err), HD_REFUSED);
	CHECK_INT(error, ENOENT);
	CHECK_TEXT(err.message, "true can't be started (chdir): No such file or directory");
	argv[0] = NULL;
	CHECK_INT(hd_spawn(&o, patience(), &child, &error, &err), HD_INVALID);
}

static void wait_has_a_deadline(void)
{
	char *argv[] = { (char *)"sleep", (char *)"1000", NULL };
	struct hd_spawn_options o;
	struct hd_child child;
	int status;

	hd_spawn_options_init(&o);
	o.argv = argv;
	CHECK(hd_spawn(&o, patience(), &child, NULL, NULL) == HD_OK);
	CHECK_INT(hd_spawn_wait(&child, hd_after(hd_now(), 20), &status, NULL), HD_TIMEOUT);
	CHECK_INT(hd_spawn_kill(&child, patience(), &status, NULL), HD_OK);
	CHECK_INT(status, SIGKILL);
	CHECK_INT(hd_spawn_wait(&child, patience(), &status, NULL), HD_LOST);
	hd_spawn_close(&child);
	hd_spawn_close(&child);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(environment_is_changed),        TAP_TEST(folder_and_streams),
		TAP_TEST(descriptors_may_change_places), TAP_TEST(another_user_and_no_other_group),
		TAP_TEST(failed_step_is_named),          TAP_TEST(wait_has_a_deadline),
	};

	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
