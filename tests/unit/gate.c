/* The run-time gate: closed unless HOWDAH_WORKERS names the very role, and typing errors are seen.
 */
#include "app/gate.h"

#include "base/base.h"
#include "core/gate.h"
#include "core/role.h"
#include "tap.h"

static void closed_unless_named(void)
{
	static const char *const closed[] = { NULL,      "",        ",",      " ",
		                              "polle",   "pollers", "Poller", "@poller",
		                              "poll,er", "none",    "alll",   "a" };

	for (size_t i = 0; i < HD_ARRAY_SIZE(closed); i++)
		CHECK_MSG(!hd_gate_opens(closed[i], "poller"), "%s", closed[i]);
}

static void open_when_named(void)
{
	static const char *const open[] = { "poller",         "all",       "a,poller",
		                            "poller,b",       " poller ,", "@sweep, poller",
		                            ",,poller\t,zzz", "x,all" };

	for (size_t i = 0; i < HD_ARRAY_SIZE(open); i++)
		CHECK_MSG(hd_gate_opens(open[i], "poller"), "%s", open[i]);
	CHECK(hd_gate_opens("@relay", "@relay"));
	CHECK(!hd_gate_opens("relay", "@relay"));
}

static void refusal_says_how_to_open_it(void)
{
	struct hd_error err = { 0 };

	if (!hd_gate_built()) {
		CHECK_INT(hd_gate_check("all", "poller", &err), HD_REFUSED);
		CHECK_HAS(err.message, "without workers");
		return;
	}
	CHECK_INT(hd_gate_check("poller", "poller", &err), HD_OK);
	CHECK_INT(hd_gate_check(NULL, "poller", &err), HD_REFUSED);
	CHECK_HAS(err.message, "HOWDAH_WORKERS is not set");
	CHECK_HAS(err.hint, "HOWDAH_WORKERS=poller");
	CHECK_INT(hd_gate_check("other", "poller", &err), HD_REFUSED);
	CHECK_HAS(err.message, "HOWDAH_WORKERS=other");
	CHECK_HAS(err.hint, "add it");
	CHECK_INT(hd_gate_check("other,poler", "poller", &err), HD_REFUSED);
	CHECK_HAS(err.hint, "\"poler\"");
}

static void unknown_names_come_with_the_nearest(void)
{
	const char *workers = "poler,@relai,@sweep,nightly,all";
	const char *at = workers;
	struct hd_gate_name u;

	CHECK(hd_gate_next_unknown(workers, &at, "poller", &u));
	CHECK_TEXT(u.name, "poler");
	CHECK_TEXT(u.near, "poller");
	CHECK(hd_gate_next_unknown(workers, &at, "poller", &u));
	CHECK_TEXT(u.name, "@relai");
	CHECK_TEXT(u.near, "@relay");
	CHECK(hd_gate_next_unknown(workers, &at, "poller", &u));
	CHECK_TEXT(u.name, "nightly");
	CHECK(u.near == NULL);
	CHECK(!hd_gate_next_unknown(workers, &at, "poller", &u));
}

/* poller-a and poller-b on one node: neither is a typing error of the other. */
static void a_second_role_is_no_mistake(void)
{
	const char *workers = "poller-a,poller-b";
	const char *at = workers;
	struct hd_gate_name u;

	CHECK(hd_gate_next_unknown(workers, &at, "poller-a", &u));
	CHECK_TEXT(u.name, "poller-b");
	CHECK(u.near == NULL);
}

static void a_list_without_end_is_no_danger(void)
{
	char workers[1000];
	const char *at = workers;
	struct hd_gate_name u;

	memset(workers, 'x', sizeof(workers));
	workers[sizeof(workers) - 1] = '\0';
	CHECK(!hd_gate_opens(workers, "x"));
	CHECK(hd_gate_next_unknown(workers, &at, NULL, &u));
	CHECK_INT(strlen(u.name), sizeof(u.name) - 1);
	CHECK(!hd_gate_next_unknown(workers, &at, NULL, &u));
}

static void role_names(void)
{
	struct hd_error err = { 0 };
	char name[HD_ROLE_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[HD_ROLE_MAX + 1] = '\0';
	CHECK_INT(hd_role_check(name, &err), HD_INVALID);
	CHECK_HAS(err.message, "longer than 63");
	name[HD_ROLE_MAX] = '\0';
	CHECK_INT(hd_role_check(name, &err), HD_OK);
	CHECK_INT(hd_role_check("A.b_c-9", &err), HD_OK);
	CHECK_INT(hd_role_check("", &err), HD_INVALID);
	CHECK_INT(hd_role_check("@relay", &err), HD_INVALID);
	CHECK_HAS(err.message, "built-in");
	CHECK_INT(hd_role_check("a b", &err), HD_INVALID);
	CHECK_INT(hd_role_check("a'b", &err), HD_INVALID);
	CHECK_INT(hd_role_check("p\xc3\xb6ller", &err), HD_INVALID);
	CHECK_INT(hd_role_check("a\n", &err), HD_INVALID);
	CHECK_HAS(err.hint, "letters");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(closed_unless_named),
		TAP_TEST(open_when_named),
		TAP_TEST(refusal_says_how_to_open_it),
		TAP_TEST(unknown_names_come_with_the_nearest),
		TAP_TEST(a_second_role_is_no_mistake),
		TAP_TEST(a_list_without_end_is_no_danger),
		TAP_TEST(role_names),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
