/* The buffer: always a string, whatever is added, cut or refused. */
#include "base/buf.h"

#include "tap.h"

static void empty_is_a_string(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	CHECK_TEXT(b.data, "");
	hd_buf_add(&b, "", 0);
	hd_buf_reset(&b);
	CHECK_TEXT(b.data, "");
	CHECK(hd_buf_ok(&b));
}

static void grows_byte_by_byte(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	for (size_t i = 0; i < 100000; i++) {
		hd_buf_char(&b, (char)('a' + i % 26));
		CHECK(b.data[b.len] == '\0');
	}
	CHECK_INT(b.len, 100000);
	CHECK(b.data[99999] == 'a' + 99999 % 26);
}

static void holds_any_byte(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_add(&b, "a\0b", 3);
	CHECK_INT(b.len, 3);
	CHECK(memcmp(b.data, "a\0b", 4) == 0);
}

static void prints_what_is_longer_than_it(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_text(&b, "x=");
	hd_buf_printf(&b, "%0500d", 7);
	CHECK_INT(b.len, 502);
	CHECK(b.data[501] == '7');
}

static void cuts_and_starts_again(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_cut(&b, 5);
	CHECK_TEXT(b.data, "");
	hd_buf_text(&b, "leader");
	hd_buf_cut(&b, 4);
	hd_buf_cut(&b, 100);
	CHECK_TEXT(b.data, "lead");
	hd_buf_release(&b);
	CHECK_TEXT(b.data, "");
	hd_buf_text(&b, "again");
	CHECK_TEXT(b.data, "again");
}

static void broken_does_nothing_more(void)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_text(&b, "kept");
	b.broken = true;
	hd_buf_text(&b, "lost");
	hd_buf_printf(&b, "%d", 1);
	CHECK_TEXT(b.data, "kept");
	CHECK(!hd_buf_ok(&b));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(empty_is_a_string),     TAP_TEST(grows_byte_by_byte),
		TAP_TEST(holds_any_byte),        TAP_TEST(prints_what_is_longer_than_it),
		TAP_TEST(cuts_and_starts_again), TAP_TEST(broken_does_nothing_more),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
