#include "base/utf8.h"

size_t hd_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
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

uint32_t hd_utf8_decode(const char *text, size_t n)
{
	static const unsigned char lead[] = { 0x7f, 0x7f, 0x1f, 0x0f, 0x07 };
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c = p[0] & lead[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}
