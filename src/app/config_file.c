#include "app/config_file.h"

#include "base/base.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static hd_status cannot_read(const char *path, struct hd_error *err)
{
	(void)hd_fail_errno(err, HD_INVALID, "can't read the file of settings %s", path);
	hd_hint(err, "check --config, HOWDAH_CONFIG and who may read the file");
	return HD_INVALID;
}

hd_status hd_config_file_read(const char *path, bool optional, struct hd_buf *ret,
                              struct hd_error *err)
{
	HD_CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char part[4096];
	ssize_t n;

	if (fd < 0 && optional && (errno == ENOENT || errno == ENOTDIR))
		return HD_OK;
	if (fd < 0)
		return cannot_read(path, err);
	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cannot_read(path, err);
		hd_buf_add(ret, part, (size_t)n);
		if (ret->len > HD_CONFIG_FILE_MAX)
			return hd_fail(err, HD_INVALID, "%s is larger than %zu bytes", path,
			               HD_CONFIG_FILE_MAX);
	}
	if (!hd_buf_ok(ret))
		return hd_fail(err, HD_NOMEM, "no memory for %s", path);
	return HD_OK;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the blanks off both ends, in place. */
static char *trim(char *text)
{
	size_t n;

	while (is_blank(*text))
		text++;
	n = strlen(text);
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	text[n] = '\0';
	return text;
}

/* Takes quotes and escapes off, in place; a value without quotes is left as it is. */
static hd_status unquote(char *value, struct hd_error *err)
{
	char *from = value + 1;
	char *to = value;

	if (*value != '"')
		return HD_OK;
	while (*from != '\0' && *from != '"') {
		if (*from == '\\' && from[1] != '"' && from[1] != '\\') {
			(void)hd_fail(err, HD_INVALID,
			              "a backslash in quotes stands before \" or \\");
			hd_hint(err, "write \\\\ for one backslash, or leave the quotes out");
			return HD_INVALID;
		}
		from += *from == '\\';
		*to++ = *from++;
	}
	if (*from != '"' || from[1] != '\0') {
		(void)hd_fail(err, HD_INVALID,
		              *from == '"' ? "something follows the closing quote"
		                           : "the closing quote is missing");
		hd_hint(err,
		        "a value in quotes ends with its quote; a quote in it is written \\\"");
		return HD_INVALID;
	}
	*to = '\0';
	return HD_OK;
}

static hd_status read_section(char *text, struct hd_config_line *line, struct hd_error *err)
{
	size_t n = strlen(text);

	if (text[n - 1] != ']' || strcspn(text + 1, "[]") != n - 2) {
		(void)hd_fail(err, HD_INVALID, "a section that is not closed");
		hd_hint(err, "write it alone on a line, like [role.poller]");
		return HD_INVALID;
	}
	text[n - 1] = '\0';
	line->section = trim(text + 1);
	return HD_OK;
}

static hd_status read_pair(char *text, struct hd_config_line *line, struct hd_error *err)
{
	char *equals = strchr(text, '=');
	char *value;

	/* The line itself is not shown: it may hold a password. */
	if (equals == NULL || equals == text) {
		(void)hd_fail(err, HD_INVALID, "this is neither key = value nor a [section]");
		hd_hint(err, "a comment begins with #, on a line of its own");
		return HD_INVALID;
	}
	*equals = '\0';
	value = trim(equals + 1);
	line->key = trim(text);
	line->value = value;
	return unquote(value, err);
}

static hd_status read_line(char *text, struct hd_config_line *line, hd_config_line_fn fn,
                           void *context, struct hd_error *err)
{
	hd_status st;

	text = trim(text);
	if (*text == '\0' || *text == '#')
		return HD_OK;
	line->key = NULL;
	line->value = NULL;
	st = *text == '[' ? read_section(text, line, err) : read_pair(text, line, err);
	return st == HD_OK ? fn(context, line, err) : st;
}

/* Whether the `len` bytes of a line can be taken as text at all. */
static hd_status check_line(const char *text, size_t len, struct hd_error *err)
{
	if (len > HD_CONFIG_LINE_MAX)
		return hd_fail(err, HD_INVALID, "the line is longer than %zu bytes",
		               HD_CONFIG_LINE_MAX);
	if (memchr(text, '\0', len) != NULL)
		return hd_fail(err, HD_INVALID, "there is a NUL byte: this is not a text file");
	return HD_OK;
}

hd_status hd_config_text_parse(char *text, size_t len, const char *path, hd_config_line_fn fn,
                               void *context, struct hd_error *err)
{
	static const char mark[] = "\xef\xbb\xbf"; /* what some editors put in front of UTF-8 */
	struct hd_config_line line = { .path = path, .section = "" };
	char *end = text + len;

	if (len >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0)
		text += sizeof(mark) - 1;
	while (text < end) {
		char *newline = memchr(text, '\n', (size_t)(end - text));
		char *stop = newline != NULL ? newline : end;
		hd_status st;

		line.number++;
		st = check_line(text, (size_t)(stop - text), err);
		*stop = '\0';
		if (st == HD_OK)
			st = read_line(text, &line, fn, context, err);
		if (st != HD_OK) {
			hd_fail_prefix(err, "%s:%d: ", path, line.number);
			return st;
		}
		text = stop + 1;
	}
	return HD_OK;
}
