/*
 * spawn.h - the one way in which Howdah starts another process.
 *
 * fork and exec with everything that is easy to forget: signal mask and handlers reset, no
 * descriptor inherited that was not asked for, the death signal without its race, a failed exec
 * told from a program that ran and failed. The caller is single-threaded: the kernel sends the
 * death signal when the thread ends that forked.
 */
#ifndef HD_APP_SPAWN_H
#define HD_APP_SPAWN_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	HD_SPAWN_INHERIT = -1, /* the caller's own standard stream */
	HD_SPAWN_NULL = -2,    /* /dev/null */
};

/* The child finds a copy of `from` at the number `to` (3 or more). */
struct hd_spawn_fd {
	int from;
	int to;
};

#define HD_SPAWN_FDS_MAX  8
#define HD_SPAWN_PID_ROOM 16

/* Everything is borrowed until hd_spawn_begin returns. */
struct hd_spawn_options {
	const char *path; /* what to execute; NULL: argv[0], looked up in PATH */
	char *const *argv;
	const char *const *env; /* NULL-ended "NAME=value" (added or replaced) and "NAME" (taken
	                           out) on top of the caller's environment; NULL: as it is */
	const char *cwd;        /* NULL: the caller's */
	bool as_user;           /* become uid and gid, with no other group; needs root */
	uid_t uid;
	gid_t gid;
	int in, out, err; /* a descriptor, HD_SPAWN_INHERIT or HD_SPAWN_NULL */
	const struct hd_spawn_fd *fds;
	size_t nfds;      /* at most HD_SPAWN_FDS_MAX; all others are closed by the exec */
	bool own_group;   /* a process group of its own */
	int terminal;     /* a terminal whose foreground the new group becomes; -1: none */
	int death_signal; /* what it gets when the caller dies; 0: nothing. A program with setuid
	                     bit or capabilities loses it */
	int cgroup;       /* app/cgroup.h: what it joins; -1: the caller's */
	bool pidns;       /* app/pidns.h: it is the first of its pid namespace. The child is then
	                     what stays behind as process 1, with the program as its own child */
	char *own_pid;    /* where the child writes its pid, as text of at most HD_SPAWN_PID_ROOM
	                     bytes: the value of a variable in `env`, say. NULL: nowhere */
};

struct hd_child {
	pid_t pid;   /* 0: none */
	int pidfd;   /* readable once it has ended; close-on-exec; -1: none */
	int exec_fd; /* readable once hd_spawn_settle has an answer; -1 after it */
};

/* What hd_spawn_settle tells. */
struct hd_spawn_result {
	bool settled;  /* false: the exec is still under way */
	int error;     /* 0: the program runs, or ran; else errno */
	char step[16]; /* of what: "exec", "chdir", … */
};

/* Every default: inherit the streams, nothing else. */
void hd_spawn_options_init(struct hd_spawn_options *o);

/*
 * Forks. The answer of the exec comes later, through exec_fd: a caller that must not block polls
 * it. HD_RETRY: the system has no process or descriptor to spare. HD_INVALID: options.
 */
HD_MUST_CHECK hd_status hd_spawn_begin(const struct hd_spawn_options *o, struct hd_child *ret,
                                       struct hd_error *err);

/* Reads exec_fd without blocking. */
struct hd_spawn_result hd_spawn_settle(struct hd_child *child);

/*
 * Both steps: the program runs, or it never will. HD_REFUSED: it can't be started; ret_errno, if
 * not NULL, has why (ENOENT: no such program). HD_TIMEOUT: no answer; it was killed. On failure
 * nothing is left to wait for or to close.
 */
HD_MUST_CHECK hd_status hd_spawn(const struct hd_spawn_options *o, hd_mono deadline,
                                 struct hd_child *ret, int *ret_errno, struct hd_error *err);

/*
 * Waits for its end and takes its wait status, as waitpid(2) has it. HD_TIMEOUT: it still runs, and
 * may be waited for again. HD_LOST: somebody else has taken the status.
 */
HD_MUST_CHECK hd_status hd_spawn_wait(const struct hd_child *child, hd_mono deadline,
                                      int *ret_status, struct hd_error *err);

/* SIGKILL, and the wait for it. */
HD_MUST_CHECK hd_status hd_spawn_kill(const struct hd_child *child, hd_mono deadline,
                                      int *ret_status, struct hd_error *err);

/* Sends a signal to exactly this process, never to one that got its number later. */
void hd_spawn_signal(const struct hd_child *child, int sig);

/* Closes the descriptors; the process is left alone. A zeroed or closed one is fine. */
void hd_spawn_close(struct hd_child *child);

#endif
