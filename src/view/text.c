#include "base/utf8.h"
#include "view/view.h"

#include <stdio.h>
#include <string.h>

/* One character as it is shown. */
struct glyph {
	char text[12];
	size_t bytes; /* of the source */
	int width;
};

static bool turns_direction(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f;
}

static void control(struct glyph *g, uint32_t c)
{
	static const char from[] = "\n\r\t";
	static const char to[] = "nrt";
	const char *at = c < ' ' ? strchr(from, (int)c) : NULL;

	if (at != NULL && *at != '\0')
		g->width = snprintf(g->text, sizeof(g->text), "\\%c", to[at - from]);
	else if (c < 0x80)
		g->width = snprintf(g->text, sizeof(g->text), "\\x%02x", c);
	else
		g->width = snprintf(g->text, sizeof(g->text), "\\u%04x", c);
}

static void take(struct glyph *g, const char *p)
{
	static const char utf8[] = "UTF8";
	uint32_t c;

	g->bytes = hd_utf8_length(p);
	if (g->bytes == 0) {
		g->bytes = 1;
		g->width = snprintf(g->text, sizeof(g->text), "\\x%02x", (unsigned char)*p);
		return;
	}
	c = hd_utf8_decode(p, g->bytes);
	g->width = PQdsplen(p, pg_char_to_encoding(utf8));
	if (g->width < 0 || turns_direction(c)) {
		control(g, c);
		return;
	}
	memcpy(g->text, p, g->bytes);
	g->text[g->bytes] = '\0';
}

static int measure(const char *text)
{
	struct glyph g;
	int width = 0;

	for (const char *p = text; *p != '\0'; p += g.bytes) {
		take(&g, p);
		width += g.width;
	}
	return width;
}

int hd_text_add(struct hd_buf *out, const char *text, int most)
{
	int whole = measure(text);
	int room = most > 0 && whole > most ? most - 1 : whole;
	int width = 0;
	struct glyph g;

	if (out == NULL)
		return most > 0 && whole > most ? most : whole;
	for (const char *p = text; *p != '\0'; p += g.bytes) {
		take(&g, p);
		if (width + g.width > room)
			break;
		hd_buf_text(out, g.text);
		width += g.width;
	}
	if (room == whole)
		return width;
	hd_buf_text(out, "\xe2\x80\xa6"); /* the ellipsis */
	return width + 1;
}

void hd_text_wrap(struct hd_buf *out, const char *text, int at, int indent, int most)
{
	bool first = true;
	char word[512];

	while (*text != '\0') {
		size_t n = strcspn(text, " ");
		size_t kept = n < sizeof(word) ? n : sizeof(word) - 1;
		int width;

		memcpy(word, text, kept);
		word[kept] = '\0';
		text += kept;
		text += strspn(text, " ");
		width = measure(word);
		if (!first && most > 0 && at + 1 + width > most) {
			hd_buf_printf(out, "\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			hd_buf_char(out, ' ');
			at++;
		}
		at += hd_text_add(out, word, 0);
		first = false;
	}
}
