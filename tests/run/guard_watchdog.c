/* guard_watchdog.c - a command that must ping: silence ends it, and nothing else does. */
#include "term_kit.h"

#include "run/watchdog.h"
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LONG_MS (10 * 60 * 1000)

/* ---- what a message says ---- */

static struct hd_watchdog_news news_of(const char *text)
{
	return hd_watchdog_parse(text, strlen(text));
}

static void assignments_are_told_apart(void)
{
	CHECK(news_of("WATCHDOG=1").ping);
	CHECK(news_of("READY=1\nSTATUS=WATCHDOG=trigger\nWATCHDOG=1\nX=y").ping);
	CHECK(!news_of("STATUS=WATCHDOG=trigger\nWATCHDOG=1").trigger);
	CHECK(news_of("WATCHDOG=trigger\n").trigger);
	CHECK(!news_of("READY=1\nSTATUS=fine\nMAINPID=1").ping);
	CHECK_INT(news_of("WATCHDOG_USEC=250000").interval_ms, 250);
	CHECK_INT(news_of("WATCHDOG_USEC=86400000000").interval_ms, 24 * 3600 * 1000);
}

static void nonsense_means_nothing(void)
{
	static const char *const nonsense[] = {
		"",
		"\n\n\n",
		"WATCHDOG",
		"WATCHDOG=",
		"WATCHDOG=2",
		"WATCHDOG=1 ",
		"WATCHDOG=10",
		" WATCHDOG=1",
		"watchdog=1",
		"WATCHDOG=triggered",
		"WATCHDOG_USEC=",
		"WATCHDOG_USEC=0",
		"WATCHDOG_USEC=99999",
		"WATCHDOG_USEC=86400000001",
		"WATCHDOG_USEC=-300000",
		"WATCHDOG_USEC=+300000",
		"WATCHDOG_USEC=300000x",
		"WATCHDOG_USEC=0x493e0",
		"WATCHDOG_USEC=99999999999999999999999999",
		"WATCHDOG_USEC=18446744073709851616",
	};

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct hd_watchdog_news n = news_of(nonsense[i]);

		CHECK_MSG(!n.ping && !n.trigger && n.interval_ms == 0, "\"%s\"", nonsense[i]);
	}
	CHECK(!hd_watchdog_parse("WATCHDOG=1\0", 11).ping);
	CHECK(hd_watchdog_parse("\0\377\nWATCHDOG=1", 13).ping);
}

/* ---- a term ---- */

static void begin(int watchdog_ms)
{
	kit_begin();
	kit.watchdog_ms = watchdog_ms;
}

/* No report comes for so long. */
static void expect_nothing(int ms)
{
	struct hd_guard_message m = { .kind = HD_GUARD_ACK };
	hd_mono end = hd_after(hd_now(), ms);
	hd_status st = HD_OK;

	while (st == HD_OK && m.kind == HD_GUARD_ACK)
		st = hd_guard_next(&kit.guard, end, &m, NULL);
	CHECK_MSG(st == HD_TIMEOUT, "report %d, value %lld", m.kind, (long long)m.value);
}

static void silence_ends_the_command(void)
{
	hd_mono started;

	begin(300);
	started = hd_now();
	kit_lead("plain", NULL);
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 300);
	CHECK(!hd_before(hd_now(), hd_after(started, 300)));
	kit_expect_end(SIGTERM);
}

/* Not LOST: the role is held, renewals go on, and it is handed over. */
static void trust_is_taken_meanwhile(void)
{
	struct hd_guard_message m;
	hd_mono until;

	begin(200);
	kit.lost_grace_ms = 2000;
	kit_lead("ignore", NULL);
	(void)kit_expect(HD_GUARD_SILENT);
	until = hd_after(kit.trusted_until, 1000);
	CHECK(hd_guard_trust(&kit.guard, until, NULL) == HD_OK);
	CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_ACK);
	CHECK_INT(m.value, until.ns);
	kit_expect_end(SIGKILL);
}

static void pings_keep_it_alive(void)
{
	begin(1500);
	kit_lead("ping", NULL);
	expect_nothing(4000);
	CHECK_INT(kit_word_now("unsent"), -1);
	kit_end();
}

static void each_ping_counts_anew(void)
{
	begin(1000);
	kit_lead("ping-a-while", "2500");
	expect_nothing(1500);
	(void)kit_word("silent");
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 1000);
	kit_expect_end(SIGTERM);
}

static void stopped_command_is_silent(void)
{
	begin(1000);
	kit_lead("ping", NULL);
	expect_nothing(500);
	CHECK(kill(kit.command, SIGSTOP) == 0);
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 1000);
	kit_expect_end(SIGTERM); /* which it could act on: it was continued */
}

static void child_may_ping(void)
{
	begin(1500);
	kit_lead("child-pings", NULL);
	(void)kit_word("child");
	expect_nothing(3000);
	CHECK(kill((pid_t)kit_word("child"), SIGSTOP) == 0);
	(void)kit_expect(HD_GUARD_SILENT);
	kit_expect_end(SIGTERM);
}

static void command_may_trigger(void)
{
	begin(LONG_MS);
	kit_lead("say", "STATUS=broken~WATCHDOG=trigger");
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 0);
	kit_expect_end(SIGTERM);
}

static void command_may_change_the_interval(void)
{
	begin(LONG_MS);
	kit_lead("say", "WATCHDOG_USEC=300000");
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 300);
	kit_expect_end(SIGTERM);
	begin(1500);
	kit_lead("say", "WATCHDOG_USEC=600000000");
	expect_nothing(3000);
	kit_end();
}

/* A planned stop has a bound of its own. */
static void stop_ends_the_watch(void)
{
	begin(500);
	kit_lead("ping-until-told", NULL);
	CHECK(hd_guard_stop(&kit.guard, SIGTERM, 2000, NULL) == HD_OK);
	kit_expect_end(SIGKILL);
}

static void abuse_is_no_ping(void)
{
	begin(1000);
	kit_lead("abuse", "20000");
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 1000);
	kit_expect_end(SIGTERM);
	CHECK_INT(kit_word_now("closed"), -1); /* in the middle of it */
}

static void descriptors_that_are_sent_are_closed(void)
{
	begin(LONG_MS);
	kit_lead("abuse", "0");
	CHECK_INT(kit_word("closed"), 0);
	kit_end();
}

/* ---- who may ping ---- */

/* The value of NOTIFY_SOCKET in the command's environment. */
static void read_socket_name(char *ret, size_t room)
{
	char path[64], text[65536];
	FILE *f;
	size_t n;
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)kit.command);
	f = fopen(path, "re");
	CHECK(f != NULL);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	(void)fclose(f);
	at = memmem(text, n, "NOTIFY_SOCKET=", 14);
	CHECK(at != NULL);
	(void)snprintf(ret, room, "%s", at + 14);
	CHECK(ret[0] == '@');
}

static void ping_by_name(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path + 1, name + 1, strlen(name) - 1);
	(void)!sendto(fd, "WATCHDOG=1", 10, MSG_DONTWAIT, (struct sockaddr *)&a, size);
	(void)close(fd);
}

static void stop_guard(void)
{
	hd_spawn_signal(&kit.guard.process, SIGSTOP);
	kit_await_state(kit.guard.process.pid, 'T');
}

/* A process that pings once and is gone before the guard looks at it. */
static void ping_and_vanish(const char *name, uid_t uid)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(uid, uid, uid) == 0)
			ping_by_name(name);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
}

static void living_strangers_do_not_count(void)
{
	char name[128];
	struct hd_guard_message m;
	hd_mono end;
	hd_status st;

	begin(1500);
	kit_lead("plain", NULL);
	read_socket_name(name, sizeof(name));
	end = patience();
	do {
		ping_by_name(name);
		st = hd_guard_next(&kit.guard, hd_after(hd_now(), 20), &m, NULL);
		CHECK(hd_before(hd_now(), end));
	} while (st != HD_OK || m.kind == HD_GUARD_ACK);
	CHECK_INT(m.kind, HD_GUARD_SILENT);
	kit_expect_end(SIGTERM);
}

/* Whether a ping of this user, whose sender is gone, gives the command more time. */
static bool vanished_counts(uid_t uid)
{
	char name[128];
	struct hd_guard_message m = { .kind = HD_GUARD_ACK };
	hd_mono pinged;

	begin(3000);
	kit_lead("plain", NULL);
	read_socket_name(name, sizeof(name));
	CHECK(poll(NULL, 0, 1000) == 0);
	stop_guard();
	ping_and_vanish(name, uid);
	pinged = hd_now();
	hd_spawn_signal(&kit.guard.process, SIGCONT);
	while (m.kind == HD_GUARD_ACK)
		CHECK(hd_guard_next(&kit.guard, patience(), &m, NULL) == HD_OK);
	CHECK_INT(m.kind, HD_GUARD_SILENT);
	return !hd_before(hd_now(), hd_after(pinged, 3000));
}

static void vanished_helpers_count_by_their_user(void)
{
	CHECK(vanished_counts(geteuid()));
	if (geteuid() != 0)
		SKIP("another user needs root");
	CHECK(!vanished_counts(65534));
}

/* ---- time that passed unseen ---- */

static void stopped_guard_blames_nobody(void)
{
	begin(1000);
	kit_lead("ping", NULL);
	stop_guard();
	CHECK(poll(NULL, 0, 2500) == 0);
	hd_spawn_signal(&kit.guard.process, SIGCONT);
	expect_nothing(2500);
	kit_end();
}

static void silence_is_excused_once(void)
{
	hd_mono woken;

	begin(1000);
	kit_lead("plain", NULL);
	stop_guard();
	CHECK(poll(NULL, 0, 4500) == 0); /* more than the kill margin's half too late */
	woken = hd_now();
	hd_spawn_signal(&kit.guard.process, SIGCONT);
	CHECK_INT(kit_expect(HD_GUARD_SILENT), 1000);
	CHECK(!hd_before(hd_now(), hd_after(woken, 1000)));
	kit_expect_end(SIGTERM);
}

/* ---- what the command finds, and what it costs ---- */

static void environment_is_that_of_sd_watchdog(void)
{
	begin(LONG_MS);
	(void)setenv("WATCHDOG_PID", "1", 1);
	kit_lead("watchdog", NULL);
	CHECK_INT(kit_word("watchdog-pid"), 1);
	CHECK_INT(kit_word("watchdog-usec"), LONG_MS * 1000L);
	kit_end();
	(void)unsetenv("WATCHDOG_PID");
	begin(0);
	kit_lead("watchdog", NULL);
	CHECK_INT(kit_word("watchdog-fd"), 0);
	CHECK_INT(kit_word("watchdog-usec"), 0);
	kit_end();
}

static bool bound(const char *name)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];
	bool found = false;

	CHECK(f != NULL);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, name) != NULL;
	(void)fclose(f);
	return found;
}

static void nothing_is_left_of_the_socket(void)
{
	char name[128];

	begin(LONG_MS);
	kit_lead("ping", NULL);
	read_socket_name(name, sizeof(name));
	CHECK(bound(name));
	hd_spawn_signal(&kit.guard.process, SIGKILL);
	kit_end();
	CHECK(!bound(name));
}

static void silent_command_costs_nothing(void)
{
	long before;

	begin(LONG_MS);
	kit_lead("plain", NULL);
	kit_await_state(kit.guard.process.pid, 'S');
	before = kit_proc_number("status", "voluntary_ctxt_switches");
	CHECK(poll(NULL, 0, 1500) == 0);
	CHECK_INT(kit_proc_number("status", "voluntary_ctxt_switches"), before);
	kit_end();
}

static void guard_stays_small(void)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("sanitizers need memory of their own");
#endif
	begin(LONG_MS);
	kit_lead("ping", NULL);
	kit_check_small();
	kit_end();
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(assignments_are_told_apart),
		TAP_TEST(nonsense_means_nothing),
		TAP_TEST(silence_ends_the_command),
		TAP_TEST(trust_is_taken_meanwhile),
		TAP_TEST(pings_keep_it_alive),
		TAP_TEST(each_ping_counts_anew),
		TAP_TEST(stopped_command_is_silent),
		TAP_TEST(child_may_ping),
		TAP_TEST(command_may_trigger),
		TAP_TEST(command_may_change_the_interval),
		TAP_TEST(stop_ends_the_watch),
		TAP_TEST(abuse_is_no_ping),
		TAP_TEST(descriptors_that_are_sent_are_closed),
		TAP_TEST(living_strangers_do_not_count),
		TAP_TEST(vanished_helpers_count_by_their_user),
		TAP_TEST(stopped_guard_blames_nobody),
		TAP_TEST(silence_is_excused_once),
		TAP_TEST(environment_is_that_of_sd_watchdog),
		TAP_TEST(nothing_is_left_of_the_socket),
		TAP_TEST(silent_command_costs_nothing),
		TAP_TEST(guard_stays_small),
	};

	kit_setup();
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
