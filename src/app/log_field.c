#include "app/log_field.h"

#include <stdlib.h>
#include <string.h>

/* What was read so far; a NULL buffer only counts its way. */
struct sink {
	char *at;
	size_t room; /* for the NUL too */
};

static void put(struct sink *s, char c)
{
	if (s->room < 2)
		return;
	*s->at++ = c;
	s->room--;
}

/* Of \u only control characters are written by the log. False: it is another one. */
static bool put_code(struct sink *s, const char *four)
{
	char hex[5] = "";
	char *end;
	unsigned long code;

	for (int i = 0; i < 4 && four[i] != '\0'; i++)
		hex[i] = four[i];
	code = strtoul(hex, &end, 16);
	if (end != hex + 4 || code == 0 || code > 0x7f)
		return false;
	put(s, (char)code);
	return true;
}

static bool put_escaped(struct sink *s, const char **p)
{
	static const char from[] = "\"\\/nrtbf";
	static const char to[] = "\"\\/\n\r\t\b\f";
	const char *at;

	if (**p == 'u') {
		if (!put_code(s, *p + 1))
			return false;
		*p += 5;
		return true;
	}
	at = **p == '\0' ? NULL : strchr(from, **p);
	if (at == NULL)
		return false;
	put(s, to[at - from]);
	(*p)++;
	return true;
}

/* Takes the string that begins at *p, its quotes included. */
static bool take_string(const char **p, char *ret, size_t size)
{
	struct sink s = { ret, size };

	if (**p != '"')
		return false;
	(*p)++;
	while (**p != '"') {
		if (**p == '\0')
			return false;
		if (**p == '\\') {
			(*p)++;
			if (!put_escaped(&s, p))
				return false;
		} else {
			put(&s, *(*p)++);
		}
	}
	(*p)++;
	if (size > 0)
		*s.at = '\0';
	return true;
}

static bool find(const char *p, const char *name, char *ret, size_t size)
{
	char key[64];

	if (*p != '{')
		return false;
	do {
		p++;
		if (!take_string(&p, key, sizeof(key)) || *p != ':')
			return false;
		p++;
		if (strcmp(key, name) == 0)
			return take_string(&p, ret, size);
		if (!take_string(&p, ret, 0))
			return false;
	} while (*p == ',');
	return false;
}

bool hd_log_field(const char *line, const char *name, char *ret, size_t size)
{
	bool found = find(line, name, ret, size);

	if (!found)
		ret[0] = '\0';
	return found;
}
