/* base.h - small things that every file may use. */
#ifndef HD_BASE_H
#define HD_BASE_H

#include <stddef.h>

#define HD_ARRAY_SIZE(a)    (sizeof(a) / sizeof((a)[0]))
#define HD_CLEANUP(fn)      __attribute__((cleanup(fn)))
#define HD_UNUSED           __attribute__((unused))
#define HD_CONTAINER_OF(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* Functions whose results can't be checked or whose bounds can't be told: never here. */
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol gets gmtime localtime system popen

#endif
