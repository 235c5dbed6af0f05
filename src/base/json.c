#include "base/json.h"

#include "base/utf8.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

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
	const char *p = text;

	hd_buf_char(b, '"');
	while (*p != '\0') {
		size_t n = hd_utf8_length(p);

		if (n == 1)
			escape(b, (unsigned char)*p);
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
