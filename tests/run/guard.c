/* guard.c - the life of a term: how the command is started, stopped, and told of the end. */
#include "term_kit.h"

#include "app/held.h"
#include <errno.h>
#include <sys/socket.h>

static void shell(const char *script)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };

	kit_start(argv);
}

/* ---- the command ends by itself ---- */

static void code_is_reported(void)
{
	kit_begin();
	shell("exit 9");
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(EXITED(9));
}

static void signal_is_reported(void)
{
	kit_begin();
	shell("kill -USR1 $$");
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(SIGUSR1);
}

static void leftovers_are_swept(void)
{
	int orphan;

	kit_begin();
	kit_start_stubborn("leave-orphan", "3");
	(void)kit_expect(HD_GUARD_STARTED);
	CHECK_INT(kit_expect(HD_GUARD_EXITED), EXITED(3));
	(void)kit_expect(HD_GUARD_GONE);
	orphan = pidfd_open((pid_t)kit_word("orphan"), 0);
	CHECK(orphan < 0 || kit_dead(orphan));
	kit_end();
}

static void orphans_are_reaped_meanwhile(void)
{
	int fd;

	kit_begin();
	kit_lead("short-orphan", NULL);
	fd = pidfd_open((pid_t)kit_word("orphan"), 0);
	for (int i = 0; fd >= 0 && kill((pid_t)kit_word("orphan"), 0) == 0; i++) {
		CHECK(i < PATIENCE_MS / 2);
		(void)poll(NULL, 0, 2);
	}
	kit_end();
}

/* ---- it can't be started ---- */

static void missing_program_is_127(void)
{
	char *argv[] = { (char *)"no-such-program-anywhere", NULL };

	kit_begin();
	kit_start(argv);
	CHECK_INT(hd_guard_exit_code(kit_expect(HD_GUARD_NO_START)), 127);
	(void)kit_expect(HD_GUARD_GONE);
	kit_end();
}

static void unusable_program_is_126(void)
{
	char *argv[] = { kit.report, NULL };
	int fd;

	kit_begin();
	fd = open(kit.report, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	(void)close(fd);
	kit_start(argv);
	CHECK_INT(hd_guard_exit_code(kit_expect(HD_GUARD_NO_START)), 126);
	(void)kit_expect(HD_GUARD_GONE);
	kit_end();
}

static void ended_trust_starts_nothing(void)
{
	kit_begin();
	kit.trust_ms = kit.kill_margin_ms;
	(void)setenv("HOWDAH_CRASH_AT", "guard-before-spawn", 1); /* which must not be reached */
	kit_start_stubborn("plain", NULL);
	(void)unsetenv("HOWDAH_CRASH_AT");
	CHECK_INT(kit_expect(HD_GUARD_LOST), HD_LOSS_TRUST_ENDED);
	(void)kit_expect(HD_GUARD_GONE);
	kit_await_dead(kit.guard.process.pidfd);
	hd_guard_reap(&kit.guard);
	CHECK_INT(kit.guard.tree.status, 0);
	CHECK_INT(kit_word_now("self"), -1);
	kit_end();
}

/* ---- what it finds ---- */

static void environment_tells_the_term(void)
{
	char script[256];

	kit_begin();
	(void)snprintf(script, sizeof(script),
	               "test \"$HOWDAH_ROLE $HOWDAH_TOKEN $HOWDAH_NODE\" = "
	               "'poller 41 0123456789abcdef0123456789abcdef' && exit 5");
	shell(script);
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(EXITED(5));
}

/* The channel, the plan and the lease session's socket stay with the guard. */
static void only_four_descriptors_are_inherited(void)
{
	int pair[2], leak = fcntl(STDIN_FILENO, F_DUPFD, 20); /* not close-on-exec */
	char got[64] = "";
	char word[32];
	FILE *f;
	long n;

	kit_begin();
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	kit.lease_fd = pair[0];
	kit_start_stubborn("descriptors", NULL);
	(void)kit_word("self");
	(void)close(leak);
	(void)close(pair[0]);
	(void)close(pair[1]);
	f = fopen(kit.report, "re");
	CHECK(f != NULL);
	while (fscanf(f, "%31s %ld", word, &n) == 2)
		if (strcmp(word, "fd") == 0)
			(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%ld ", n);
	(void)fclose(f);
	CHECK_TEXT(got, "0 1 2 43 ");
	kit_end();
}

/* Not by way of a shell: some clear their own mask. */
static void signals_are_as_at_birth(void)
{
	static char script[] = "/^Sig(Ign|Blk):/ { if ($2 ~ /^0+$/) n++; else print \"# \" $0 }"
			       "END { exit n == 2 ? 6 : 1 }";
	char *argv[] = { (char *)"awk", script, (char *)"/proc/self/status", NULL };

	kit_begin();
	kit_start(argv);
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(EXITED(6));
}

/* ---- the trust deadline ---- */

static void held_while_trusted(void)
{
	char script[256];

	kit_begin();
	(void)snprintf(script, sizeof(script), "%s held && %s held && exit 4", kit_howdah,
	               kit_howdah);
	shell(script);
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(EXITED(4));
}

static void held_can_not_be_forged(void)
{
	static const char *const attacks[] = { "write",       "map",          "again-write",
		                               "again-map",   "again-shrink", "again-grow",
		                               "again-unseal" };

	kit_begin();
	kit_start_stubborn("attack-held", NULL);
	(void)kit_word("self");
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		CHECK_MSG(kit_word(attacks[i]) > 0, "%s went through", attacks[i]);
	CHECK_INT(kit_word("write"), EBADF); /* the descriptor itself, without the seals */
	(void)kit_expect(HD_GUARD_STARTED);
	kit_expect_end(EXITED(0));
}

static int held_code(const char *value)
{
	char script[256];

	if (value != NULL)
		(void)setenv(HD_HELD_ENV, value, 1);
	else
		(void)unsetenv(HD_HELD_ENV);
	(void)snprintf(script, sizeof(script), "%s held 2>/dev/null 9<%s", kit_howdah, kit.report);
	return kit_shell(script);
}

static void held_is_never_0_by_accident(void)
{
	FILE *f;

	kit_begin();
	f = fopen(kit.report, "we");
	CHECK(f != NULL && fputs("\177\177\177\177\177\177\177\177", f) >= 0 && fclose(f) == 0);
	CHECK_INT(held_code(NULL), 78);
	CHECK_INT(held_code(""), 78);
	CHECK_INT(held_code("x"), 78);
	CHECK_INT(held_code("-1"), 78);
	CHECK_INT(held_code("43"), 78);
	CHECK_INT(held_code("0"), 78);
	CHECK_INT(held_code("9"), 78); /* eight bytes that lie in the future, but no memfd */
	(void)unsetenv(HD_HELD_ENV);
}

/* ---- signals and the planned stop ---- */

static void signals_are_forwarded(void)
{
	kit_begin();
	kit_lead("tell-signals", NULL);
	CHECK(hd_guard_signal(&kit.guard, SIGUSR1, NULL) == HD_OK);
	CHECK_INT(kit_word("got"), SIGUSR1);
	kit_end();
}

static void stop_asks_first(void)
{
	kit_begin();
	kit_lead("polite", NULL);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	kit_expect_end(EXITED(7));
	CHECK_INT(kit_word("got"), SIGTERM);
}

static void stop_reaches_other_sessions(void)
{
	kit_begin();
	kit_lead("setsid-telling", NULL);
	CHECK(kit_word("child") > 0);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	CHECK_INT(kit_word("got"), SIGTERM);
	kit_end();
}

static void stop_wakes_the_stopped(void)
{
	kit_begin();
	kit_lead("polite", NULL);
	CHECK(kill(kit.command, SIGSTOP) == 0);
	kit_await_state(kit.command, 'T');
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	kit_expect_end(EXITED(7));
}

static void grace_is_given_and_ends(void)
{
	hd_mono asked;

	kit_begin();
	kit_lead("ignore", NULL);
	asked = hd_now();
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 400, NULL) == HD_OK);
	kit_expect_end(SIGKILL);
	CHECK(!hd_before(hd_now(), hd_after(asked, 400)));
}

static void trust_is_answered(void)
{
	struct hd_guard_message m;
	hd_mono older;

	kit_begin();
	kit_lead("plain", NULL);
	older = hd_after(kit.trusted_until, -60000);
	CHECK(hd_guard_answered(&kit.guard));
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 1000), NULL) == HD_OK);
	CHECK(!hd_guard_answered(&kit.guard));
	CHECK(hd_guard_next(&kit.guard, hd_after(hd_now(), PATIENCE_MS), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	CHECK(hd_guard_answered(&kit.guard));
	CHECK(hd_guard_trust(&kit.guard, older, NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, hd_after(hd_now(), PATIENCE_MS), &m, NULL) == HD_OK);
	CHECK_INT(m.value, older.ns);
	kit_end();
}

/* Were the older one taken, the term would be over at once. */
static void older_trust_changes_nothing(void)
{
	kit_begin();
	kit_lead("plain", NULL);
	CHECK(hd_guard_trust(&kit.guard, hd_now(), NULL) == HD_OK);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, PATIENCE_MS, NULL) == HD_OK);
	kit_expect_end(SIGTERM);
}

static void trust_is_taken_while_stopping(void)
{
	kit_begin();
	kit.trust_ms = 5000;
	kit_lead("ignore", NULL);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 6000, NULL) == HD_OK);
	CHECK(hd_guard_trust(&kit.guard, hd_after(kit.trusted_until, 600000), NULL) == HD_OK);
	kit_expect_end(SIGKILL); /* and no LOST before */
	CHECK(!hd_before(hd_now(), kit.trusted_until));
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(code_is_reported),
		TAP_TEST(signal_is_reported),
		TAP_TEST(leftovers_are_swept),
		TAP_TEST(orphans_are_reaped_meanwhile),
		TAP_TEST(missing_program_is_127),
		TAP_TEST(unusable_program_is_126),
		TAP_TEST(ended_trust_starts_nothing),
		TAP_TEST(environment_tells_the_term),
		TAP_TEST(only_four_descriptors_are_inherited),
		TAP_TEST(signals_are_as_at_birth),
		TAP_TEST(held_while_trusted),
		TAP_TEST(held_can_not_be_forged),
		TAP_TEST(held_is_never_0_by_accident),
		TAP_TEST(signals_are_forwarded),
		TAP_TEST(stop_asks_first),
		TAP_TEST(stop_reaches_other_sessions),
		TAP_TEST(stop_wakes_the_stopped),
		TAP_TEST(grace_is_given_and_ends),
		TAP_TEST(trust_is_answered),
		TAP_TEST(older_trust_changes_nothing),
		TAP_TEST(trust_is_taken_while_stopping),
	};

	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
