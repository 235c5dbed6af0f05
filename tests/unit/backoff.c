/* Back-off: between the base and the cap, never below, whatever the random numbers are. */
#include "base/backoff.h"

#include "base/ids.h"
#include "tap.h"

static void first_pause_is_the_base(void)
{
	struct hd_backoff b;

	hd_backoff_init(&b, 100, 5000);
	CHECK_INT(hd_backoff_next(&b, UINT64_MAX), 100);
}

static void pauses_stay_in_their_bounds(void)
{
	struct hd_backoff b;

	hd_backoff_init(&b, 100, 5000);
	for (int i = 0; i < 10000; i++) {
		int64_t before = b.last_ms;
		int64_t ms = hd_backoff_next(&b, hd_random64());

		CHECK(ms >= 100 && ms <= 5000);
		CHECK(before == 0 || ms <= 3 * before);
	}
}

static void pauses_grow_to_the_cap(void)
{
	struct hd_backoff b;

	hd_backoff_init(&b, 100, 5000);
	for (int i = 0; i < 20; i++) {
		/* The largest random number of the span: the slowest node. */
		int64_t span = b.last_ms * 3 - b.base_ms;

		(void)hd_backoff_next(&b, span > 0 ? (uint64_t)span - 1 : 0);
	}
	CHECK_INT(b.last_ms, 5000);
	hd_backoff_reset(&b);
	CHECK_INT(hd_backoff_next(&b, 0), 100);
}

static void jitter_is_a_tenth(void)
{
	CHECK_INT(hd_jitter(2000, 0), 1800);
	CHECK_INT(hd_jitter(2000, 400), 2200);
	CHECK_INT(hd_jitter(5, 12345), 5);
	for (int i = 0; i < 1000; i++) {
		int64_t ms = hd_jitter(2000, hd_random64());

		CHECK(ms >= 1800 && ms <= 2200);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(first_pause_is_the_base),
		TAP_TEST(pauses_stay_in_their_bounds),
		TAP_TEST(pauses_grow_to_the_cap),
		TAP_TEST(jitter_is_a_tenth),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
