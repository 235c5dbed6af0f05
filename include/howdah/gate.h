/*
 * howdah/gate.h - the two gates of Howdah for the workers of a C program.
 *
 * A worker is what acts by itself: a poller, a nightly job. Gate 1 is the build: where workers do
 * not belong, HOWDAH_WORKERS_BUILT is not defined and they are not compiled. Gate 2 is the node:
 * the environment variable HOWDAH_WORKERS names the workers that may run there, separated by commas
 * or blanks; "all" opens it, unset leaves the node inert. `howdah run` obeys the same variable.
 *
 *   #if HD_GATE_BUILT
 *           if (hd_gate_enabled("poller"))
 *                   start_poller();
 *   #endif
 */
#ifndef HOWDAH_GATE_H
#define HOWDAH_GATE_H

#include <howdah/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gate 1, of the program that includes this: define HOWDAH_WORKERS_BUILT before, or by -D. */
#ifdef HOWDAH_WORKERS_BUILT
#define HD_GATE_BUILT 1
#else
#define HD_GATE_BUILT 0
#endif

/*
 * Gate 2: whether HOWDAH_WORKERS names `name`, to the letter, or "all". Reads the environment at
 * each call, so as getenv(3) it must not run beside setenv(3) of another thread.
 */
HD_API bool hd_gate_enabled(const char *name);

/* Both gates. */
static inline bool hd_gate_open(const char *name)
{
	return HD_GATE_BUILT && hd_gate_enabled(name);
}

#ifdef __cplusplus
}
#endif
#endif
