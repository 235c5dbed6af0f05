/* ids.h - identities and hashes. */
#ifndef HD_BASE_IDS_H
#define HD_BASE_IDS_H

#include <stddef.h>
#include <stdint.h>

#define HD_ID_TEXT 33

/* 128 random bits as 32 lower-case hex digits, from getrandom(2). Returns `buf` of HD_ID_TEXT. */
char *hd_id_new(char *buf);

uint64_t hd_random64(void);

/*
 * The fixed 64-bit hash of a name, the same in every release and on every machine: FNV-1a over the
 * bytes, then the finalizer of MurmurHash3 (FNV alone leaves the high bits of short names alike).
 * It is made here and not with PostgreSQL's hashtextextended(), whose result is not promised.
 */
int64_t hd_hash64(const char *name);

#endif
