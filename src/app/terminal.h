/* terminal.h - lending the foreground of a terminal to a child's process group. */
#ifndef HD_APP_TERMINAL_H
#define HD_APP_TERMINAL_H

#include <sys/types.h>

struct hd_terminal {
	int fd;      /* -1: there is none, or it is not ours to lend */
	pid_t owner; /* the process group that gets it back */
};

/*
 * Standard input, when it is a terminal whose foreground belongs to `group`: a job in the
 * background has nothing to lend, and must not take it from the shell.
 */
void hd_terminal_init(struct hd_terminal *t, pid_t group);

/* Gives the foreground back to its owner, unless that has it already. */
void hd_terminal_restore(const struct hd_terminal *t);

#endif
