/* Log lines: one write each, bounded, readable by programs whatever is in the values. */
#include "app/log.h"

#include "base/base.h"
#include "base/error.h"
#include "tap.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static char got[65536];
static int real_stderr;
static int ends[2];

/* From here on stderr is a pipe; what was written to it is fetched by hear(). */
static void listen(void)
{
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	CHECK(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	(void)close(ends[1]);
}

static const char *hear(void)
{
	ssize_t n;
	size_t len = 0;

	(void)dup2(real_stderr, STDERR_FILENO);
	(void)close(real_stderr);
	while ((n = read(ends[0], got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	got[len] = '\0';
	(void)close(ends[0]);
	return got;
}

/* What stands behind "time=... ". */
static const char *line(void)
{
	const char *blank = strchr(hear(), ' ');

	return blank != NULL ? blank + 1 : got;
}

static void pairs_and_quotes(void)
{
	hd_log_setup(HD_LOG_TEXT, HD_LOG_INFO);
	listen();
	hd_log(HD_LOG_INFO, "state", "leading", "token", "7", "reason", "two words", "q",
	       "a=\"b\"\\", "nl", "x\ny", "u", "\xc3\xbc\xff", NULL);
	CHECK_TEXT(line(), "level=info state=leading token=7 reason=\"two words\" "
	                   "q=\"a=\\\"b\\\"\\\\\" nl=\"x\\ny\" u=\"\xc3\xbc\xef\xbf\xbd\"\n");
}

static void time_is_utc_in_milliseconds(void)
{
	int year, month, day, hour, minute, second, ms;
	char end[2];

	listen();
	hd_log(HD_LOG_WARN, "a", "b", NULL);
	CHECK_INT(sscanf(hear(), "time=%4d-%2d-%2dT%2d:%2d:%2d.%3d%1[Z] ", &year, &month, &day,
	                 &hour, &minute, &second, &ms, end),
	          8);
	CHECK(year >= 2024 && month <= 12 && day <= 31);
}

static void empty_values_are_left_out(void)
{
	const char *nothing = NULL;

	listen();
	hd_log(HD_LOG_INFO, "a", "", HD_LOG_PAIR("b", nothing), "c", "x", NULL);
	CHECK_TEXT(line(), "level=info c=x\n");
}

static void context_is_on_every_line(void)
{
	listen();
	hd_log_context("role", "poller");
	hd_log_context("node", "9f");
	hd_log_context("role", "other");
	hd_log(HD_LOG_INFO, "a", "1", NULL);
	hd_log_context("node", NULL);
	hd_log(HD_LOG_INFO, "a", "2", NULL);
	hd_log_context("role", NULL);
	(void)hear();
	CHECK_HAS(got, "level=info role=other node=9f a=1\n");
	CHECK_HAS(got, "level=info role=other a=2\n");
}

static void context_takes_eight_and_frees_places(void)
{
	char name[8];

	for (int i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		hd_log_context(name, "x");
	}
	listen();
	hd_log(HD_LOG_INFO, "a", "1", NULL);
	CHECK_HAS(hear(), " c7=x a=1\n");
	for (int i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		hd_log_context(name, NULL);
	}
	listen();
	hd_log(HD_LOG_INFO, "a", "1", NULL);
	CHECK_TEXT(line(), "level=info a=1\n");
}

static void levels(void)
{
	listen();
	hd_log_setup(HD_LOG_TEXT, HD_LOG_WARN);
	hd_log(HD_LOG_INFO, "a", "info", NULL);
	hd_log(HD_LOG_WARN, "a", "warn", NULL);
	hd_log_setup(HD_LOG_TEXT, HD_LOG_DEBUG);
	hd_log(HD_LOG_DEBUG, "b", "debug", NULL);
	hd_log_setup(HD_LOG_TEXT, HD_LOG_INFO);
	hd_log(HD_LOG_DEBUG, "c", "debug", NULL);
	(void)hear();
	CHECK(strstr(got, "a=info") == NULL && strstr(got, "c=debug") == NULL);
	CHECK_HAS(got, "level=warn a=warn");
	CHECK_HAS(got, "level=debug b=debug");
}

static void json(void)
{
	listen();
	hd_log_setup(HD_LOG_JSON, HD_LOG_INFO);
	hd_log(HD_LOG_INFO, "state", "leading", "reason", "a \"b\"\n", NULL);
	hd_log_setup(HD_LOG_TEXT, HD_LOG_INFO);
	(void)hear();
	CHECK(strncmp(got, "{\"time\":\"", 9) == 0);
	CHECK_HAS(got,
	          "\",\"level\":\"info\",\"state\":\"leading\",\"reason\":\"a \\\"b\\\"\\n\"}\n");
}

static void errors_come_with_state_and_hint(void)
{
	struct hd_error err = { .sqlstate = "42501", .message = "no right", .hint = "ask" };

	listen();
	hd_log_error(HD_LOG_ERROR, &err, "state", "refused", NULL);
	CHECK_TEXT(line(),
	           "level=error state=refused error=\"no right\" sqlstate=42501 hint=ask\n");
}

/* The longest values in both formats: never over PIPE_BUF, marked, whole characters. */
static void long_values_are_cut_and_marked(void)
{
	static char plain[20000], worst[20000], umlauts[20001];
	const char *values[] = { plain, worst, umlauts };

	memset(plain, 'x', sizeof(plain) - 1);
	memset(worst, '\x01', sizeof(worst) - 1);
	umlauts[0] = 'x'; /* so that every even cut is in the middle of one */
	for (size_t i = 1; i + 2 < sizeof(umlauts); i += 2)
		memcpy(umlauts + i, "\xc3\xbc", 2);
	for (int i = 0; i < 6; i++) {
		listen();
		hd_log_setup(i % 2 ? HD_LOG_JSON : HD_LOG_TEXT, HD_LOG_INFO);
		hd_log(HD_LOG_INFO, "a", values[i / 2], "b", values[i / 2], "c", values[i / 2],
		       NULL);
		(void)hear();
		CHECK_MSG(strlen(got) <= 4096, "%zu bytes", strlen(got));
		CHECK_HAS(got, "[cut]");
		CHECK(strstr(got, "\xef\xbf\xbd") == NULL);
		CHECK(strchr(got, '\n') == got + strlen(got) - 1);
		CHECK(i % 2 == 0 || got[strlen(got) - 2] == '}');
	}
	hd_log_setup(HD_LOG_TEXT, HD_LOG_INFO);
}

static void pairs_that_do_not_fit_are_announced(void)
{
	static char value[2000];

	memset(value, 'x', sizeof(value) - 1);
	listen();
	hd_log(HD_LOG_INFO, "a", value, "b", value, "c", value, "d", value, "e", value, "f", value,
	       "g", value, "h", value, "i", value, "j", value, NULL);
	(void)hear();
	CHECK(strlen(got) <= 4096);
	CHECK_HAS(got, " cut=true\n");
}

static void a_reader_that_stopped_does_not_stop_us(void)
{
	static char value[2000];

	memset(value, 'x', sizeof(value) - 1);
	listen();
	CHECK(fcntl(STDERR_FILENO, F_SETPIPE_SZ, 4096) > 0);
	for (int i = 0; i < 50; i++)
		hd_log(HD_LOG_INFO, "a", value, NULL);
	CHECK(read(ends[0], got, sizeof(got)) > 0);
	hd_log(HD_LOG_INFO, "a", "back", NULL);
	CHECK_HAS(hear(), "a=back dropped=");
}

static void a_reader_that_is_gone_does_not_end_us(void)
{
	sigset_t pending;

	listen();
	(void)close(ends[0]);
	hd_log(HD_LOG_INFO, "a", "1", NULL);
	(void)dup2(real_stderr, STDERR_FILENO);
	(void)close(real_stderr);
	CHECK_INT(sigpending(&pending), 0);
	CHECK(!sigismember(&pending, SIGPIPE));
	listen();
	hd_log(HD_LOG_INFO, "a", "2", NULL);
	CHECK_HAS(hear(), "a=2 dropped=1");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(pairs_and_quotes),
		TAP_TEST(time_is_utc_in_milliseconds),
		TAP_TEST(empty_values_are_left_out),
		TAP_TEST(context_is_on_every_line),
		TAP_TEST(context_takes_eight_and_frees_places),
		TAP_TEST(levels),
		TAP_TEST(json),
		TAP_TEST(errors_come_with_state_and_hint),
		TAP_TEST(long_values_are_cut_and_marked),
		TAP_TEST(pairs_that_do_not_fit_are_announced),
		TAP_TEST(a_reader_that_stopped_does_not_stop_us),
		TAP_TEST(a_reader_that_is_gone_does_not_end_us),
	};

	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
