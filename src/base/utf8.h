/* utf8.h - where one character of UTF-8 ends. */
#ifndef HD_BASE_UTF8_H
#define HD_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes the valid UTF-8 character at `p` takes (RFC 3629); 0 when it is none. */
size_t hd_utf8_length(const char *p);

/* The code point of a character of `n` valid bytes. */
uint32_t hd_utf8_decode(const char *p, size_t n);

#endif
