/* Identities are new each time; hashes of names are the same for ever. */
#include "base/ids.h"

#include "tap.h"
#include <stdlib.h>

static void ids_are_hex_and_new(void)
{
	char a[HD_ID_TEXT];
	char b[HD_ID_TEXT];

	CHECK(hd_id_new(a) == a);
	(void)hd_id_new(b);
	CHECK_INT(strlen(a), 32);
	CHECK_INT(strspn(a, "0123456789abcdef"), 32);
	CHECK(strcmp(a, b) != 0);
}

/* These keys are in the locks and tables of everybody who uses Howdah: they must never change. */
static void hashes_never_change(void)
{
	CHECK_INT(hd_hash64(""), INT64_C(-1166397803181037274));
	CHECK_INT(hd_hash64("poller"), INT64_C(5652476348105644271));
	CHECK_INT(hd_hash64("p\xc3\xb6ller"), INT64_C(2755812881521800422));
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void hashes_of_short_names_differ(void)
{
	static int64_t hash[20000];
	size_t n = sizeof(hash) / sizeof(hash[0]);
	int high = 0;

	for (size_t i = 0; i < n; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "r%zu", i);
		hash[i] = hd_hash64(name);
		high += (uint64_t)hash[i] >> 63 == 1;
	}
	qsort(hash, n, sizeof(hash[0]), compare);
	for (size_t i = 1; i < n; i++)
		CHECK(hash[i] != hash[i - 1]);
	CHECK_MSG(high > 9000 && high < 11000, "%d of %zu have the high bit", high, n);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(ids_are_hex_and_new),
		TAP_TEST(hashes_never_change),
		TAP_TEST(hashes_of_short_names_differ),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
