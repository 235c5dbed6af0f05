/* "Did you mean": what is near is found, what is not is not offered. */
#include "base/nearest.h"

#include "base/base.h"
#include "tap.h"

static const char *nearest(const char *wanted)
{
	static const char *const names[] = { "heartbeat", "lease", "lost-grace", "grace",
		                             "role",      "retry", "json",       "db" };
	struct hd_nearest n;

	hd_nearest_init(&n, wanted);
	for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++)
		hd_nearest_offer(&n, names[i]);
	return n.best;
}

static void finds_typing_errors(void)
{
	CHECK_TEXT(nearest("heartbat"), "heartbeat");
	CHECK_TEXT(nearest("haertbeat"), "heartbeat");
	CHECK_TEXT(nearest("leas"), "lease");
	CHECK_TEXT(nearest("leese"), "lease");
	CHECK_TEXT(nearest("rloe"), "role");
	CHECK_TEXT(nearest("lostgrace"), "lost-grace");
	CHECK_TEXT(nearest("bd"), "db");
	CHECK_TEXT(nearest("grace"), "grace");
}

static void offers_nothing_far_away(void)
{
	CHECK(nearest("verbose") == NULL);
	CHECK(nearest("xyz") == NULL);
	CHECK(nearest("") == NULL);
}

static void long_names_are_no_danger(void)
{
	char name[500];

	memset(name, 'r', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK(nearest(name) == NULL);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(finds_typing_errors),
		TAP_TEST(offers_nothing_far_away),
		TAP_TEST(long_names_are_no_danger),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
