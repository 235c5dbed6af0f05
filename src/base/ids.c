#include "base/ids.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

uint64_t hd_random64(void)
{
	uint64_t value = 0;

	/* Up to 256 bytes are never cut short once the kernel's pool is ready (getrandom(2)). */
	while (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value))
		;
	return value;
}

char *hd_id_new(char *buf)
{
	(void)snprintf(buf, HD_ID_TEXT, "%016llx%016llx", (unsigned long long)hd_random64(),
	               (unsigned long long)hd_random64());
	return buf;
}

int64_t hd_hash64(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = name; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	h ^= h >> 33;
	return (int64_t)h;
}
