/* The reader of howdah.conf: what is written is what is read, and nothing is cut or guessed. */
#include "app/config_file.h"

#include "tap.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct hd_buf seen; /* "section|key|value;" of each line */
static struct hd_error err;

static hd_status remember(void *context, const struct hd_config_line *line, struct hd_error *e)
{
	(void)context;
	(void)e;
	hd_buf_printf(&seen, "%d:%s|%s|%s;", line->number, line->section,
	              line->key ? line->key : "[]", line->value ? line->value : "");
	return HD_OK;
}

static hd_status parse(const char *text, size_t n)
{
	char *copy = malloc(n + 1);
	hd_status st;

	memcpy(copy, text, n);
	copy[n] = '\0';
	hd_buf_reset(&seen);
	memset(&err, 0, sizeof(err));
	st = hd_config_text_parse(copy, n, "f.conf", remember, NULL, &err);
	free(copy);
	return st;
}

static const char *read_text(const char *text)
{
	return parse(text, strlen(text)) == HD_OK ? seen.data : err.message;
}

static void reads_pairs_and_sections(void)
{
	CHECK_TEXT(read_text(""), "");
	CHECK_TEXT(read_text("# only\n\n   # this\n"), "");
	CHECK_TEXT(read_text("db = x\n[role.a]\n key=1 \n"),
	           "1:|db|x;2:role.a|[]|;3:role.a|key|1;");
	CHECK_TEXT(read_text("db = no newline at the end"), "1:|db|no newline at the end;");
	CHECK_TEXT(read_text("\xef\xbb\xbf"
	                     "db=x\r\n\tjson\t=\ton\r\n"),
	           "1:|db|x;2:|json|on;");
	CHECK_TEXT(read_text("[ role.a ]"), "1:role.a|[]|;");
}

static void values_are_not_cut(void)
{
	CHECK_TEXT(read_text("db = host=a;b # c ; d [e]\n"), "1:|db|host=a;b # c ; d [e];");
	CHECK_TEXT(read_text("db = a\\nb\\\n"), "1:|db|a\\nb\\;");
	CHECK_TEXT(read_text("db = it's \"so\"\n"), "1:|db|it's \"so\";");
	CHECK_TEXT(read_text("db =\n"), "1:|db|;");
}

static void quotes_keep_blanks(void)
{
	CHECK_TEXT(read_text("a = \" x \"\n"), "1:|a| x ;");
	CHECK_TEXT(read_text("a = \"say \\\"hi\\\" \\\\ # no comment\"\n"),
	           "1:|a|say \"hi\" \\ # no comment;");
	CHECK_TEXT(read_text("a = \"\"\n"), "1:|a|;");
	CHECK_HAS(read_text("a = \"x\n"), "f.conf:1: the closing quote is missing");
	CHECK_HAS(read_text("a = \"x\\\"\n"), "closing quote is missing");
	CHECK_HAS(read_text("a = \"x\" # y\n"), "something follows");
	CHECK_HAS(read_text("a = \"x\\n\"\n"), "backslash");
}

static void refuses_what_is_neither(void)
{
	CHECK_HAS(read_text("a = 1\nsecret words\n"), "f.conf:2: this is neither");
	CHECK(strstr(err.message, "secret") == NULL);
	CHECK_HAS(read_text("= x\n"), "f.conf:1: this is neither");
	CHECK_HAS(read_text("[role.a\n"), "f.conf:1: a section that is not closed");
	CHECK_HAS(read_text("[role.a] # x\n"), "not closed");
	CHECK_HAS(read_text("[role.a]]\n"), "not closed");
	CHECK_HAS(read_text("["), "not closed");
	CHECK_HAS(read_text("; x\n"), "neither");
}

static void refuses_bytes_that_are_no_text(void)
{
	CHECK_INT(parse("a = 1\nb = \0x\n", 13), HD_INVALID);
	CHECK_HAS(err.message, "f.conf:2: there is a NUL byte");
}

static void long_lines_are_whole_or_refused(void)
{
	size_t n = HD_CONFIG_LINE_MAX;
	char *text = malloc(n + 2);

	memset(text, 'x', n + 2);
	text[1] = '=';
	text[n] = '\n';
	CHECK_INT(parse(text, n + 1), HD_OK);
	CHECK_INT(seen.len, n - 2 + strlen("1:|x|;"));
	text[n] = 'x';
	CHECK_INT(parse(text, n + 1), HD_INVALID);
	CHECK_HAS(err.message, "f.conf:1: the line is longer than 65536 bytes");
	free(text);
}

static void large_files_are_refused(void)
{
	char path[] = "/tmp/howdah-config-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	HD_BUF b;

	hd_buf_init(&b);
	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, (off_t)HD_CONFIG_FILE_MAX), 0);
	CHECK_INT(hd_config_file_read(path, false, &b, &err), HD_OK);
	CHECK_INT(b.len, HD_CONFIG_FILE_MAX);
	hd_buf_reset(&b);
	CHECK_INT(ftruncate(fd, (off_t)HD_CONFIG_FILE_MAX + 1), 0);
	CHECK_INT(hd_config_file_read(path, false, &b, &err), HD_INVALID);
	CHECK_HAS(err.message, "larger than 1048576 bytes");
	(void)close(fd);
	(void)unlink(path);
}

static void a_missing_file_is_an_error_unless_optional(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	CHECK_INT(hd_config_file_read("/nonexistent/f", false, &b, &err), HD_INVALID);
	CHECK_HAS(err.message, "/nonexistent/f: No such file");
	CHECK_INT(hd_config_file_read("/nonexistent/f", true, &b, &err), HD_OK);
	CHECK_INT(b.len, 0);
	CHECK_INT(hd_config_file_read("/tmp", true, &b, &err), HD_INVALID);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(reads_pairs_and_sections),
		TAP_TEST(values_are_not_cut),
		TAP_TEST(quotes_keep_blanks),
		TAP_TEST(refuses_what_is_neither),
		TAP_TEST(refuses_bytes_that_are_no_text),
		TAP_TEST(long_lines_are_whole_or_refused),
		TAP_TEST(large_files_are_refused),
		TAP_TEST(a_missing_file_is_an_error_unless_optional),
	};
	int code;

	hd_buf_init(&seen);
	code = tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
	hd_buf_release(&seen);
	return code;
}
