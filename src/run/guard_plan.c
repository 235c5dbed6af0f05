#include "run/guard_plan.h"

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static hd_status store(const struct hd_buf *b, int *ret_fd, struct hd_error *err)
{
	int fd = memfd_create("howdah-plan", MFD_CLOEXEC);

	if (fd < 0)
		return hd_fail_errno(err, HD_RETRY, "no memory for the guard's plan");
	if (pwrite(fd, b->data, b->len, 0) != (ssize_t)b->len) {
		hd_status st = hd_fail_errno(err, HD_RETRY, "no memory for the guard's plan");

		(void)close(fd);
		return st;
	}
	*ret_fd = fd;
	return HD_OK;
}

hd_status hd_guard_plan_write(struct hd_guard_plan *plan, char *const *argv, int *ret_fd,
                              struct hd_error *err)
{
	HD_BUF b;

	hd_buf_init(&b);
	for (plan->argc = 0; argv[plan->argc] != NULL;)
		plan->argc++;
	hd_buf_add(&b, plan, sizeof(*plan));
	for (uint32_t i = 0; i < plan->argc; i++)
		hd_buf_add(&b, argv[i], strlen(argv[i]) + 1);
	if (!hd_buf_ok(&b))
		return hd_fail(err, HD_NOMEM, "no memory for the guard's plan");
	return store(&b, ret_fd, err);
}

static hd_status not_a_plan(struct hd_error *err)
{
	return hd_fail(err, HD_INVALID, "descriptor %d holds no plan of a term", HD_GUARD_FD_PLAN);
}

static bool has_end(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

/* argv of the strings in `text`; NULL when there are fewer than `argc`, or no memory. */
static char **split(char *text, size_t room, uint32_t argc)
{
	char **argv = argc > 0 && argc <= room ? calloc((size_t)argc + 1, sizeof(*argv)) : NULL;

	for (uint32_t i = 0; argv != NULL && i < argc; i++) {
		char *end = memchr(text, '\0', room);

		if (end == NULL) {
			free(argv);
			return NULL;
		}
		argv[i] = text;
		room -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	return argv;
}

hd_status hd_guard_plan_read(int fd, const struct hd_guard_plan **ret_plan, char ***ret_argv,
                             struct hd_error *err)
{
	struct hd_guard_plan *plan;
	struct stat sb;
	size_t size;
	char **argv;

	if (fstat(fd, &sb) != 0 || sb.st_size <= (off_t)sizeof(*plan))
		return not_a_plan(err);
	size = (size_t)sb.st_size;
	plan = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (plan == MAP_FAILED)
		return hd_fail_errno(err, HD_INVALID, "the plan of the term can't be read");
	argv = split((char *)(plan + 1), size - sizeof(*plan), plan->argc);
	if (argv == NULL || plan->kill_margin_ms < 0 || plan->lost_grace_ms < 0 ||
	    plan->watchdog_ms < 0 || !has_end(plan->role, sizeof(plan->role)) ||
	    !has_end(plan->node, sizeof(plan->node))) {
		free(argv);
		(void)munmap(plan, size);
		return not_a_plan(err);
	}
	*ret_plan = plan;
	*ret_argv = argv;
	return HD_OK;
}
