#include "run/contain.h"

#include "app/cgroup.h"
#include "app/exit.h"
#include "app/log.h"
#include "app/pidns.h"
#include "base/base.h"
#include "base/error.h"
#include "run/signals.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define KEEPER_PATIENCE_MS (10 * 60 * 1000) /* with processes that hang in the kernel */

static const char *const words[] = {
	[HD_CONTAIN_NONE] = "none",
	[HD_CONTAIN_CGROUP] = "cgroup",
	[HD_CONTAIN_PIDNS] = "pidns",
};

const char *hd_contain_word(enum hd_contain contain)
{
	return words[contain];
}

static hd_status try_pidns(struct hd_error *err)
{
	errno = hd_pidns_try();
	if (errno == 0)
		return HD_OK;
	(void)hd_fail_errno(err, HD_REFUSED, "no pid namespace can be made");
	hd_hint(err,
	        "give this process CAP_SYS_ADMIN, or let its user make user namespaces (sysctl "
	        "user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns); or "
	        "use --contain cgroup or none");
	return HD_REFUSED;
}

static void clean_up(void)
{
	int n = hd_cgroup_clean_up();
	char text[16];

	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text), "%d", n);
	hd_log(HD_LOG_WARN, "event", "ended what a dead node had left in control groups", "groups",
	       text, NULL);
}

static hd_status choose_auto(enum hd_contain *ret)
{
	struct hd_error why;

	*ret = hd_cgroup_try(&why) == HD_OK ? HD_CONTAIN_CGROUP : HD_CONTAIN_NONE;
	if (*ret == HD_CONTAIN_NONE)
		hd_log_error(HD_LOG_DEBUG, &why, "event", "no control group for the command", NULL);
	return HD_OK;
}

hd_status hd_contain_choose(const char *word, enum hd_contain *ret, struct hd_error *err)
{
	hd_status st = HD_OK;

	clean_up();
	if (strcmp(word, "auto") == 0)
		return choose_auto(ret);
	for (size_t i = 0; i < HD_ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0)
			*ret = (enum hd_contain)i;
	if (*ret == HD_CONTAIN_CGROUP)
		st = hd_cgroup_try(err);
	else if (*ret == HD_CONTAIN_PIDNS)
		st = try_pidns(err);
	if (st != HD_OK)
		hd_fail_prefix(err, "--contain %s: ", word);
	return st;
}

int hd_keeper_main(void)
{
	int fd = hd_cgroup_open_again(HD_KEEPER_FD_CGROUP);

	(void)close(HD_KEEPER_FD_CGROUP);
	hd_signals_block();
	if (fd < 0)
		return HD_EXIT_BUG;
	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR)
			return HD_EXIT_BUG;
	if (!hd_cgroup_end(fd, hd_after(hd_now(), KEEPER_PATIENCE_MS)))
		return HD_EXIT_FAILURE;
	hd_cgroup_remove(fd);
	return HD_EXIT_OK;
}
