/* folder.h - making and removing folders that may belong to another user. */
#ifndef HD_APP_FOLDER_H
#define HD_APP_FOLDER_H

#include <howdah/error.h>
#include <sys/types.h>

/*
 * Makes `path`, an absolute one, and what is missing above it, with `mode` whatever the umask.
 * Folders that exist are left as they are. HD_REFUSED with the reason of the system.
 */
hd_status hd_folder_make(const char *path, mode_t mode, struct hd_error *err);

/*
 * Removes `path` and all in it. Links are removed, never followed, so that root can remove what
 * somebody else filled. A missing one is fine. HD_REFUSED names what could not be removed.
 */
hd_status hd_folder_remove(const char *path, struct hd_error *err);

#endif
