#include "base/json.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* How many bytes the valid UTF-8 character at `p` takes (RFC 3629); 0 when it is none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static void escape(struct hd_buf *b, unsigned char c)
{
	static const char from[] = "\"\\\n\r\t";
	static const char to[] = "\"\\nrt";
	const char *at = c == '\0' ? NULL : strchr(from, c);

	if (at != NULL) {
		hd_buf_char(b, '\\');
		hd_buf_char(b, to[at - from]);
	} else if (c < ' ' || c == 0x7f) {
		hd_buf_printf(b, "\\u%04x", c);
	} else {
		hd_buf_char(b, (char)c);
	}
}

void hd_json_string(struct hd_buf *b, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	hd_buf_char(b, '"');
	while (*p != '\0') {
		size_t n = utf8_length(p);

		if (n == 1)
			escape(b, *p);
		else if (n == 0)
			hd_buf_text(b, "\xef\xbf\xbd");
		else
			hd_buf_add(b, p, n);
		p += n == 0 ? 1 : n;
	}
	hd_buf_char(b, '"');
}

void hd_json_name(struct hd_buf *b, const char *name)
{
	if (b->len > 0 && strchr("{[,:", b->data[b->len - 1]) == NULL)
		hd_buf_char(b, ',');
	hd_json_string(b, name);
	hd_buf_char(b, ':');
}

void hd_json_text(struct hd_buf *b, const char *name, const char *text)
{
	hd_json_name(b, name);
	if (text == NULL)
		hd_buf_text(b, "null");
	else
		hd_json_string(b, text);
}

void hd_json_int(struct hd_buf *b, const char *name, int64_t value)
{
	hd_json_name(b, name);
	hd_buf_printf(b, "%" PRId64, value);
}

void hd_json_bool(struct hd_buf *b, const char *name, bool value)
{
	hd_json_name(b, name);
	hd_buf_text(b, value ? "true" : "false");
}
