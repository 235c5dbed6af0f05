#include "app/terminal.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void hd_terminal_init(struct hd_terminal *t, pid_t group)
{
	pid_t foreground = tcgetpgrp(STDIN_FILENO);

	t->owner = group;
	t->fd = foreground > 0 && foreground == group ? STDIN_FILENO : -1;
}

void hd_terminal_restore(const struct hd_terminal *t)
{
	sigset_t ttou, old;

	if (t->fd < 0 || tcgetpgrp(t->fd) == t->owner)
		return;
	/* Whoever is in the background and changes the foreground is stopped by this signal. */
	(void)sigemptyset(&ttou);
	(void)sigaddset(&ttou, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &ttou, &old);
	(void)tcsetpgrp(t->fd, t->owner);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}
