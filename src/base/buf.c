#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1] = "";

void hd_buf_init(struct hd_buf *b)
{
	*b = (struct hd_buf){ .data = empty };
}

void hd_buf_release(struct hd_buf *b)
{
	if (b->cap > 0)
		free(b->data);
	hd_buf_init(b);
}

void hd_buf_cut(struct hd_buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

void hd_buf_reset(struct hd_buf *b)
{
	hd_buf_cut(b, 0);
}

/* Makes room for `n` more bytes and the NUL. */
static bool reserve(struct hd_buf *b, size_t n)
{
	size_t cap = b->cap < 64 ? 64 : b->cap;
	char *data;

	if (b->broken)
		return false;
	while (cap - b->len <= n)
		cap *= 2;
	if (cap == b->cap)
		return true;
	data = realloc(b->cap > 0 ? b->data : NULL, cap);
	if (data == NULL) {
		b->broken = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void hd_buf_add(struct hd_buf *b, const void *bytes, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n > 0)
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void hd_buf_text(struct hd_buf *b, const char *text)
{
	hd_buf_add(b, text, strlen(text));
}

void hd_buf_char(struct hd_buf *b, char c)
{
	hd_buf_add(b, &c, 1);
}

void hd_buf_vprintf(struct hd_buf *b, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0 || !reserve(b, (size_t)n))
		return;
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
	b->len += (size_t)n;
}

void hd_buf_printf(struct hd_buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hd_buf_vprintf(b, format, args);
	va_end(args);
}
