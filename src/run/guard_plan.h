/* guard_plan.h - a term's plan in a memfd, as the elector writes and the guard reads it. */
#ifndef HD_RUN_GUARD_PLAN_H
#define HD_RUN_GUARD_PLAN_H

#include "run/term.h"
#include <howdah/error.h>

/* Fills in argc and writes everything; the descriptor is close-on-exec, the caller's. */
HD_MUST_CHECK hd_status hd_guard_plan_write(struct hd_guard_plan *plan, char *const *argv,
                                            int *ret_fd, struct hd_error *err);

/*
 * Maps the plan; it stays for the life of the process. argv, to be freed, points into it.
 * HD_INVALID: it is no plan, or one of another version.
 */
HD_MUST_CHECK hd_status hd_guard_plan_read(int fd, const struct hd_guard_plan **ret_plan,
                                           char ***ret_argv, struct hd_error *err);

#endif
