/*
 * gate.h - the two gates in front of everything that works by itself.
 *
 * Gate 1 is the build: -Dworkers=true. Gate 2 is the node: HOWDAH_WORKERS names the roles, and the
 * built-in parts (with '@'), that may run there; "all" opens it, unset leaves the node inert.
 */
#ifndef HD_APP_GATE_H
#define HD_APP_GATE_H

#include <howdah/error.h>
#include <stdbool.h>

/* Whether the worker loops are in this program. */
bool hd_gate_built(void);

/* Both gates for a role or a built-in part ("@relay"). HD_REFUSED says which is closed, and how to
 * open it. */
HD_MUST_CHECK hd_status hd_gate_check(const char *workers, const char *name, struct hd_error *err);

/*
 * The names in `workers` that are neither `role` (NULL: none) nor a built-in part, one after the
 * other: start with *at == workers, false when there are no more. `ret_near` is the known name that
 * was probably meant: NULL when nothing is near, or when that name is in the list as well, since
 * then the other one is just another role. A name with '@' is always a mistake.
 */
struct hd_gate_name {
	char name[80]; /* cut to fit */
	const char *near;
};
bool hd_gate_next_unknown(const char *workers, const char **at, const char *role,
                          struct hd_gate_name *ret);

/* Logs a warning for each of those that look like a mistake. */
void hd_gate_warn(const char *workers, const char *role);

#endif
