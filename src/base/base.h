/* base.h - small things that every file may use. Banned functions: see tools/lint. */
#ifndef HD_BASE_H
#define HD_BASE_H

#include <stddef.h>

#define HD_ARRAY_SIZE(a)                 (sizeof(a) / sizeof((a)[0]))
#define HD_CLEANUP(fn)                   __attribute__((cleanup(fn)))
#define HD_UNUSED                        __attribute__((unused))
#define HD_CONTAINER_OF(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#endif
