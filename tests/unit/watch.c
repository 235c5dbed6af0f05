/* The watch over a lease row: pure, so all of it. */
#include "core/watch.h"
#include "tap.h"

#define LEASE_MS 30000

static const struct hd_watch_value first = {
	.system = 7, .timeline = 1, .started = 1000, .token = 5, .beat = 100
};

static hd_mono at(int64_t ms)
{
	return hd_after((hd_mono){ 0 }, ms);
}

static void what_was_never_seen_is_never_over(void)
{
	struct hd_watch w = { 0 };

	CHECK(!hd_watch_over(&w, LEASE_MS, at(10 * LEASE_MS)));
	CHECK(!hd_watch_over(&w, 0, at(0)));
}

static void a_lease_after_the_first_answer_it_is_over(void)
{
	struct hd_watch w = { 0 };

	hd_watch_see(&w, &first, at(500));
	CHECK(!hd_watch_over(&w, LEASE_MS, at(500 + LEASE_MS - 1)));
	CHECK(hd_watch_over(&w, LEASE_MS, at(500 + LEASE_MS)));
	CHECK(!hd_watch_over(&w, 2 * LEASE_MS, at(500 + LEASE_MS)));
}

static void the_same_value_again_changes_nothing(void)
{
	struct hd_watch w = { 0 };

	hd_watch_see(&w, &first, at(0));
	hd_watch_see(&w, &first, at(2000));
	hd_watch_see(&w, &first, at(LEASE_MS - 1));
	CHECK(hd_watch_over(&w, LEASE_MS, at(LEASE_MS)));
}

static void each_field_alone_restarts_it(void)
{
	for (int field = 0; field < 5; field++) {
		struct hd_watch w = { 0 };
		struct hd_watch_value v = first;
		int64_t *const fields[] = { &v.system, &v.timeline, &v.started, &v.token, &v.beat };

		hd_watch_see(&w, &first, at(0));
		*fields[field] += 1;
		hd_watch_see(&w, &v, at(2000));
		CHECK_MSG(!hd_watch_over(&w, LEASE_MS, at(LEASE_MS)), "field %d", field);
		CHECK(hd_watch_over(&w, LEASE_MS, at(2000 + LEASE_MS)));
		/* Back to what it was is a change too. */
		hd_watch_see(&w, &first, at(4000));
		CHECK(!hd_watch_over(&w, LEASE_MS, at(2000 + LEASE_MS)));
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(what_was_never_seen_is_never_over),
		TAP_TEST(a_lease_after_the_first_answer_it_is_over),
		TAP_TEST(the_same_value_again_changes_nothing),
		TAP_TEST(each_field_alone_restarts_it),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
