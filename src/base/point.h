/*
 * point.h - crash points: named places between two steps that must be atomic.
 *
 * In test builds (-Dcrash_points=true) HOWDAH_CRASH_AT=NAME ends the process there as SIGKILL
 * would, HOWDAH_CRASH_AT=NAME:stop stops it (SIGSTOP), so that a test can look at the state in
 * between. In other builds the macro is nothing and the variable is not read.
 */
#ifndef HD_BASE_POINT_H
#define HD_BASE_POINT_H

#ifdef HD_CRASH_POINTS
void hd_point(const char *name);
#define HD_POINT(name) hd_point(name)
#else
#define HD_POINT(name) ((void)(name))
#endif

#endif
