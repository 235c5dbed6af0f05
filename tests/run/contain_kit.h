/* contain_kit.h - for the tests of containment, on top of term_kit.h. */
#ifndef CONTAIN_KIT_H
#define CONTAIN_KIT_H

#include "term_kit.h"

#include "app/cgroup.h"
#include <errno.h>
#include <sys/stat.h>

/* The tree of the term that is being tested: the command, and who left its session. */
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

static inline void lead_with_outsider(const char *way, const char *outsiders_word)
{
	kit_lead(way, NULL);
	command = kit_watch("self");
	outsider = kit_watch(outsiders_word);
}

static inline bool all_dead(void)
{
	return kit_dead(command) && kit_dead(outsider);
}

/* The folder of the command's control group, as a guard has it open; "" without one. */
static inline void group_folder(pid_t guard, char *ret, size_t room)
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)guard, HD_GUARD_FD_CGROUP);
	n = kit.contain == HD_CONTAIN_CGROUP ? readlink(link, ret, room - 1) : 0;
	CHECK(n >= 0);
	ret[n] = '\0';
}

static inline void await_removal(const char *folder)
{
	hd_mono end = patience();
	struct stat sb;

	while (folder[0] != '\0' && stat(folder, &sb) == 0) {
		CHECK_MSG(hd_before(hd_now(), end), "%s stays", folder);
		(void)poll(NULL, 0, 5);
	}
}

struct other {
	pid_t than, pid;
};

static inline void keep_other(pid_t pid, void *arg)
{
	struct other *o = arg;

	if (pid != o->than)
		o->pid = pid;
}

static inline int contain_main(const struct tap_test *tests, size_t n, int argc, char **argv)
{
	/* The leak check makes a thread, which can't be once the next child is to be a process 1.
	 */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	kit_setup();
	return tap_main(tests, n, argc > 1 ? argv[1] : NULL);
}

#endif
