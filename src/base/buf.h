/*
 * buf.h - a growing byte buffer that always ends with NUL.
 *
 * A failed allocation breaks it for good: later calls do nothing, and only the end needs to ask
 * hd_buf_ok(). The idea is that of PostgreSQL's pqexpbuffer.
 */
#ifndef HD_BASE_BUF_H
#define HD_BASE_BUF_H

#include "base/base.h"
#include <howdah/error.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct hd_buf {
	char *data; /* "" when empty; owned */
	size_t len; /* bytes before the NUL */
	size_t cap;
	bool broken;
};

void hd_buf_init(struct hd_buf *b);
void hd_buf_release(struct hd_buf *b);         /* b may be used again afterwards */
void hd_buf_reset(struct hd_buf *b);           /* empties it, keeps the memory */
void hd_buf_cut(struct hd_buf *b, size_t len); /* takes off what stands behind `len` bytes */
static inline bool hd_buf_ok(const struct hd_buf *b)
{
	return !b->broken;
}

void hd_buf_add(struct hd_buf *b, const void *bytes, size_t n);
void hd_buf_text(struct hd_buf *b, const char *text);
void hd_buf_char(struct hd_buf *b, char c);
void hd_buf_printf(struct hd_buf *b, const char *format, ...) HD_PRINTF(2, 3);
void hd_buf_vprintf(struct hd_buf *b, const char *format, va_list args) HD_PRINTF(2, 0);

#define HD_BUF HD_CLEANUP(hd_buf_release) struct hd_buf

#endif
