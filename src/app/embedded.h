/*
 * embedded.h - the private PostgreSQL of `--db dev`.
 *
 * One cluster for each user of a machine, made on first use, reached through a unix socket only and
 * shared by all howdah processes of that user. It outlives the process that started it. Everything
 * lies in one folder, dev-server, in the state folder: HOWDAH_STATE, else /var/lib/howdah for root,
 * $XDG_STATE_HOME/howdah or ~/.local/state/howdah for others. Root runs the server as the user
 * postgres, else nobody. HOWDAH_PGBIN names the folder of the server's binaries.
 *
 * HD_INVALID means everywhere that a setting or the machine must be changed: commands end with 78.
 */
#ifndef HD_APP_EMBEDDED_H
#define HD_APP_EMBEDDED_H

#include <howdah/clock.h>
#include <howdah/error.h>
#include <stdbool.h>
#include <sys/types.h>

#define HD_EMBEDDED_FOLDER_SIZE   108 /* as the path of a socket */
#define HD_EMBEDDED_CONNINFO_SIZE 256

/* How long the first use may take on a slow disk; a good deadline for the calls below. */
#define HD_EMBEDDED_PATIENCE_MS 60000

struct hd_embedded {
	char folder[HD_EMBEDDED_FOLDER_SIZE];
	char conninfo[HD_EMBEDDED_CONNINFO_SIZE]; /* without a password */
	char user[33];                            /* of the operating system, who runs the server */
	int major;                                /* of the cluster's PostgreSQL; 0: none is made */
	pid_t pid;                                /* of the postmaster; 0: not running */
	bool made;                                /* by this call */
	bool started;                             /* by this call */
};

/* Says what there is; starts and changes nothing, needs no server binaries. */
HD_MUST_CHECK hd_status hd_embedded_look(struct hd_embedded *ret, struct hd_error *err);

/*
 * Makes the cluster and starts the server where that is needed. On HD_OK it accepts connections and
 * has the database of `conninfo`. A few milliseconds when it runs already. HD_TIMEOUT: the
 * deadline passed, the next call goes on where this one stopped. HD_REFUSED: the server's own
 * programs failed; the hint carries their last words.
 */
HD_MUST_CHECK hd_status hd_embedded_ensure(hd_mono deadline, struct hd_embedded *ret,
                                           struct hd_error *err);

/* Fast stop: connections are ended. `ret` says what was there before; not running is fine. */
HD_MUST_CHECK hd_status hd_embedded_stop(hd_mono deadline, struct hd_embedded *ret,
                                         struct hd_error *err);

/*
 * Stops the server without a checkpoint and removes its folder with all data. `ret` says what was
 * there before; `made` is false when nothing was.
 */
HD_MUST_CHECK hd_status hd_embedded_destroy(hd_mono deadline, struct hd_embedded *ret,
                                            struct hd_error *err);

/* Logs one line: that this database is private and for this machine only, and where it is. */
void hd_embedded_announce(const struct hd_embedded *e);

/* The folder of the cluster's client and server programs, for psql. `size` bytes at `ret`. */
HD_MUST_CHECK hd_status hd_embedded_programs(hd_mono deadline, char *ret, size_t size,
                                             struct hd_error *err);

#endif
