/* embedded_parts.h - what the files of the embedded server share; nobody else includes it. */
#ifndef HD_APP_EMBEDDED_PARTS_H
#define HD_APP_EMBEDDED_PARTS_H

#include "app/embedded.h"
#include <limits.h>

#define HD_SOCKET_NAME "/.s.PGSQL.5432"

/* Where the server lives and as whom: from the environment, without looking at the disk. */
struct hd_place {
	char state[HD_EMBEDDED_FOLDER_SIZE];
	char folder[HD_EMBEDDED_FOLDER_SIZE];
	char data[HD_EMBEDDED_FOLDER_SIZE + 16];
	char log[HD_EMBEDDED_FOLDER_SIZE + 16];
	char user[33];
	uid_t uid; /* the server's user */
	gid_t gid;
	bool as_root; /* we are root, the server must not be */
	bool chosen;  /* by HOWDAH_STATE */
};

hd_status hd_place_find(struct hd_place *ret, struct hd_error *err);

/* Whether the folder is there. HD_INVALID when it isn't the server's user's own. */
hd_status hd_place_check(const struct hd_place *p, bool *ret_exists, struct hd_error *err);

/*
 * Waits until no other process makes, starts, stops or removes the server. The lock ends with the
 * descriptor. With `wanted` a missing folder is made; without, *ret_fd is -1 when it is missing.
 */
hd_status hd_place_lock(const struct hd_place *p, bool wanted, hd_mono deadline, int *ret_fd,
                        struct hd_error *err);

/* Removes what is in the folder and begins with `prefix`. Best effort: the next call goes on. */
void hd_place_clear(const struct hd_place *p, const char *prefix);

/* Removes the folder; the caller has the lock and the server has ended. */
hd_status hd_place_remove(const struct hd_place *p, struct hd_error *err);

struct hd_pgbin {
	char folder[PATH_MAX];
	int major;
};

/* The newest server binaries of this machine, or those of one `major` (0: any). */
hd_status hd_pgbin_find(const struct hd_place *p, int major, hd_mono deadline, struct hd_pgbin *ret,
                        struct hd_error *err);

/*
 * Runs a program of the server as the server's user, in its folder, and waits. Output goes to
 * `out`. HD_REFUSED: it could not be run or did not end with 0. At the deadline it is killed:
 * HD_TIMEOUT.
 */
hd_status hd_place_run(const struct hd_place *p, const char *const argv[], int out,
                       hd_mono deadline, struct hd_error *err);

/* The major version of the made cluster; 0 when there is none. */
hd_status hd_cluster_major(const struct hd_place *p, int *ret, struct hd_error *err);

/* Makes the cluster under another name first, so that one that is there is a whole one. */
hd_status hd_cluster_make(const struct hd_place *p, const struct hd_pgbin *bin, hd_mono deadline,
                          struct hd_error *err);

/* Starts the server and waits until it accepts connections, or its programs give up. */
hd_status hd_cluster_start(const struct hd_place *p, const struct hd_pgbin *bin, hd_mono deadline,
                           struct hd_error *err);

/* The postmaster that works on our data; 0 when there is none. */
pid_t hd_cluster_pid(const struct hd_place *p);

/*
 * Takes lock files away that would keep PostgreSQL from starting: their number belongs to
 * another program of the same user, and nobody is left of the server that wrote it.
 */
void hd_cluster_forget(const struct hd_place *p);

/*
 * Ends what is left of a server whose postmaster was killed: a busy backend notices that only when
 * it is done, and holds up the next start until then.
 */
void hd_cluster_end_orphans(const struct hd_place *p);

/* Sends `sig` to the postmaster and waits for its end. */
hd_status hd_cluster_stop(const struct hd_place *p, int sig, hd_mono deadline,
                          struct hd_error *err);

#endif
