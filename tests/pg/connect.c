/* Connecting: whom to, in what time, and what is said when it fails. */
#include "pg.h"
#include "pg/hosts.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *dsn, *tcp;
static int server_port;
static struct hd_error err;

static hd_status try_open(const char *conninfo, int ms, struct hd_session **ret)
{
	struct hd_session_options o;

	hd_session_options_init(&o);
	o.conninfo = conninfo;
	o.application_name = "howdah:test";
	o.host_timeout_ms = 300;
	memset(&err, 0, sizeof(err));
	return hd_session_open(&o, in(ms), ret, &err);
}

static void expect_name(const char *conninfo, const char *want)
{
	struct hd_session *s = test_open(conninfo);
	const char *name = test_one(s, "select current_setting('application_name')");

	hd_session_close(s);
	CHECK_TEXT(name, want);
}

static void all_forms_connect(void)
{
	expect_name(dsn, "howdah:test");
	expect_name(tcp, "howdah:test");
	expect_name(test_format("postgresql://postgres@127.0.0.1:%d/postgres", server_port),
	            "howdah:test");
	expect_name(test_format("postgres:///postgres?host=%s&port=%d&user=postgres",
	                        test_path("a"), server_port),
	            "howdah:test");
	expect_name(test_format("host=localhost port=%d user=postgres", server_port),
	            "howdah:test");
}

static void expect_attrs(const char *conninfo, const char *want)
{
	struct hd_hosts h = { 0 };

	CHECK_MSG(hd_hosts_read(conninfo, &h, &err) == HD_OK, "%s", err.message);
	CHECK_TEXT(h.attrs ? h.attrs : "", want);
	hd_hosts_release(&h);
}

/* Whichever host of it comes first: a stand-by of the server is never meant by a list. */
static void a_list_asks_for_the_primary(void)
{
	expect_attrs("host=a,b", "primary");
	expect_attrs("postgresql://a,b/app", "primary");
	expect_attrs("host=a,b target_session_attrs=any", "any");
	expect_attrs("host=a,b target_session_attrs=read-write", "read-write");
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

static void service_files_are_read(void)
{
	struct hd_session *s = NULL;

	write_file(test_path("service"),
	           test_format("[two]\nhost=127.0.0.1,127.0.0.1\nport=%d,%d\nuser=postgres\n"
	                       "dbname=postgres\noptions=-c work_mem=1234kB\n",
	                       test_port(), server_port));
	(void)setenv("PGSERVICEFILE", test_path("service"), 1);
	s = test_open("service=two");
	CHECK_TEXT(test_one(s, "show work_mem"), "1234kB");
	hd_session_close(s);
	(void)setenv("PGSERVICE", "two", 1);
	s = test_open("");
	hd_session_close(s);
	s = test_open(NULL);
	hd_session_close(s);
	(void)unsetenv("PGSERVICE");
	CHECK_INT(try_open("service=none", 5000, &s), HD_INVALID);
	CHECK_MSG(strstr(err.message, "none"), "%s", err.message);
	(void)unsetenv("PGSERVICEFILE");
}

static void extra_options_follow_the_users(void)
{
	struct hd_session_options o;
	struct hd_session *s = NULL;

	hd_session_options_init(&o);
	o.conninfo = test_format("%s options='-c work_mem=1111kB -c howdah.x=1'", dsn);
	o.server_options = "-c howdah.x=2";
	CHECK_INT(hd_session_open(&o, in(10000), &s, &err), HD_OK);
	CHECK_TEXT(test_one(s, "show work_mem"), "1111kB");
	CHECK_TEXT(test_one(s, "show howdah.x"), "2");
	CHECK_TEXT(test_one(s, "show client_encoding"), "UTF8");
	hd_session_close(s);
}

static void a_password_is_never_told(void)
{
	static const char *const bad[] = {
		"host=/tmp password=geheim nonsense",
		"postgresql://u:geheim@h:x[/",
		"postgresql://u:a@geheim@127.0.0.1/x",
		"postgresql://u:geheim/x@127.0.0.1/x",
		"geheim",
		"host=127.0.0.1 port=1 password=geheim",
		"host=127.0.0.1 port=1 password=geheim sslmode=whatever",
	};
	struct hd_session *s = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		hd_status status = try_open(bad[i], 2000, &s);

		CHECK_MSG(status == (i == 5 ? HD_RETRY : HD_INVALID), "%zu: %s: %s", i,
		          hd_status_name(status), err.message);
		CHECK_MSG(!strstr(err.message, "geheim") && !strstr(err.hint, "geheim"), "%s",
		          err.message);
		CHECK(err.message[0] != '\0');
	}
}

static void refusals_carry_sqlstate(void)
{
	struct hd_session *s = NULL;

	CHECK_INT(try_open(test_format("%s dbname=nowhere", dsn), 5000, &s), HD_REFUSED);
	CHECK_TEXT(err.sqlstate, "3D000");
	CHECK_MSG(strstr(err.message, "\"nowhere\" does not exist"), "%s", err.message);
	CHECK_MSG(!strstr(err.message, "LOCATION") && !strstr(err.message, "3D000"), "%s",
	          err.message);
	CHECK_INT(try_open(test_format("%s options='-c nothing=1'", dsn), 5000, &s), HD_REFUSED);
	CHECK_TEXT(err.sqlstate, "42704");
	CHECK(s == NULL);
}

static void each_dead_host_is_named(void)
{
	int a = test_port(), b = test_port();
	struct hd_session *s = NULL;

	CHECK_INT(try_open(test_format("host=127.0.0.1,/nowhere,localhost port=%d,5432,%d", a, b),
	                   5000, &s),
	          HD_RETRY);
	CHECK_MSG(strstr(err.message, test_format("127.0.0.1:%d: Connection refused", a)), "%s",
	          err.message);
	CHECK_MSG(strstr(err.message, "/nowhere:5432: No such file"), "%s", err.message);
	CHECK_MSG(strstr(err.message, "localhost"), "%s", err.message);
	CHECK_INT(try_open("host=no-such-name.invalid", 20000, &s), HD_RETRY);
	CHECK_MSG(strstr(err.message, "no-such-name.invalid"), "%s", err.message);
}

static void a_black_hole_leaves_time_for_the_next(void)
{
	const char *hole = test_proxied("hole1", "a", server_port);
	int port = (int)strtol(strstr(hole, "port=") + 5, NULL, 10);
	hd_mono begin = hd_now();
	struct hd_session *s;

	test_blackhole_tell("hole1", "silent");
	CHECK_MSG(
	    try_open(test_format("host=127.0.0.1,127.0.0.1,127.0.0.1 port=%d,%d,%d user=postgres",
	                         test_port(), port, server_port),
	             20000, &s) == HD_OK,
	    "%s", err.message);
	hd_session_close(s);
	CHECK(hd_ms_between(begin, hd_now()) < 5000);
	/* Also when the time in all is less than one host's share. */
	CHECK_MSG(try_open(test_format("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres "
	                               "connect_timeout=60",
	                               port, server_port),
	                   2000, &s) == HD_OK,
	          "%s", err.message);
	hd_session_close(s);
	CHECK_MSG(try_open(test_format("host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres "
	                               "connect_timeout=2 target_session_attrs=prefer-standby",
	                               test_port(), server_port),
	                   9000, &s) == HD_OK,
	          "%s", err.message);
	hd_session_close(s);
}

static void connecting_ends_at_the_deadline(void)
{
	const char *hole = test_proxied("hole2", "a", server_port);
	struct hd_session *s = NULL;
	hd_mono begin;

	test_blackhole_tell("hole2", "silent");
	begin = hd_now();
	CHECK_INT(try_open(hole, 400, &s), HD_TIMEOUT);
	CHECK(s == NULL && hd_ms_between(begin, hd_now()) >= 400);
	CHECK(hd_ms_between(begin, hd_now()) < 5000);
	CHECK_MSG(strstr(err.message, "no answer in time"), "%s", err.message);
	CHECK_INT(try_open(test_format("%s connect_timeout=2", hole), 60000, &s), HD_RETRY);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(all_forms_connect),
		TAP_TEST(a_list_asks_for_the_primary),
		TAP_TEST(service_files_are_read),
		TAP_TEST(extra_options_follow_the_users),
		TAP_TEST(a_password_is_never_told),
		TAP_TEST(refusals_carry_sqlstate),
		TAP_TEST(each_dead_host_is_named),
		TAP_TEST(a_black_hole_leaves_time_for_the_next),
		TAP_TEST(connecting_ends_at_the_deadline),
	};
	server_port = test_port();
	dsn = test_run("pgserver", "start", "a", test_format("-p %d", server_port));
	tcp = test_format("host=127.0.0.1 port=%d user=postgres dbname=postgres", server_port);
	return tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
}
