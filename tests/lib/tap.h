/*
 * tap.h - tests speak TAP (testanything.org) to prove(1).
 *
 *   static void second_owner_waits(void) { CHECK(lease(B) == 0); }
 *   int main(int argc, char **argv)
 *   {
 *           static const struct tap_test tests[] = { TAP_TEST(second_owner_waits) };
 *           return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
 *   }
 *
 * A failed CHECK ends its test, not the program. With an argument one test runs alone.
 */
#ifndef TAP_H
#define TAP_H

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

#define TAP_TEST(f)                                                                                \
	{                                                                                          \
#f, f                                                                              \
	}

static jmp_buf tap_failed;
static const char *tap_skipped;

#define CHECK(cond) CHECK_MSG(cond, "%s", #cond)
#define CHECK_MSG(cond, ...)                                                                       \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("# %s:%d: failed: ", __FILE__, __LINE__);                           \
			printf(__VA_ARGS__);                                                       \
			putchar('\n');                                                             \
			longjmp(tap_failed, 1);                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long tap_got = (long long)(got), tap_want = (long long)(want);                \
		CHECK_MSG(tap_got == tap_want, "%s is %lld, not %lld", #got, tap_got, tap_want);   \
	} while (0)
#define CHECK_TEXT(got, want)                                                                      \
	do {                                                                                       \
		const char *tap_got = (got), *tap_want = (want);                                   \
		CHECK_MSG(tap_got &&strcmp(tap_got, tap_want) == 0, "%s is \"%s\", not \"%s\"",    \
		          #got, tap_got ? tap_got : "(null)", tap_want);                           \
	} while (0)
#define CHECK_HAS(got, part)                                                                       \
	do {                                                                                       \
		const char *tap_got = (got), *tap_part = (part);                                   \
		CHECK_MSG(tap_got &&strstr(tap_got, tap_part), "%s is \"%s\", without \"%s\"",     \
		          #got, tap_got ? tap_got : "(null)", tap_part);                           \
	} while (0)
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		tap_skipped = (reason);                                                            \
		longjmp(tap_failed, 2);                                                            \
	} while (0)

static inline int tap_main(const struct tap_test *tests, size_t n, const char *only)
{
	volatile int number = 0;
	volatile int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (volatile size_t i = 0; i < n; i++) {
		int jumped;

		if (only && strcmp(only, tests[i].name) != 0)
			continue;
		jumped = setjmp(tap_failed);
		if (jumped == 0)
			tests[i].run();
		number++;
		if (jumped == 2)
			printf("ok %d - %s # SKIP %s\n", number, tests[i].name,
			       tap_skipped ? tap_skipped : "");
		else
			printf("%s %d - %s\n", jumped ? "not ok" : "ok", number, tests[i].name);
		failed += jumped == 1;
	}
	printf("1..%d\n", number);
	return failed > 0;
}

#endif
