/* Options: one table, four sources in a fixed order, and every refusal says where it came from. */
#include "app/option.h"

#include "app/database.h"
#include "base/base.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

#define RUN (HD_FOR_ALL | HD_FOR_DB | HD_FOR_RUN | HD_FOR_PROBE)

static char path[64];
static struct hd_config config;
static struct hd_error err;
static char *argv_copy[16];

/* The words of a command line, separated by '~'. */
static struct hd_command_line line_of(const char *words, hd_status expected)
{
	static char text[4096];
	struct hd_command_line line;
	size_t n = 0;
	char *rest = text;

	(void)snprintf(text, sizeof(text), "%s", words);
	while (rest != NULL && *words != '\0' && n + 1 < HD_ARRAY_SIZE(argv_copy))
		argv_copy[n++] = strsep(&rest, "~");
	argv_copy[n] = NULL;
	memset(&err, 0, sizeof(err));
	CHECK_INT(hd_command_line_read(&line, argv_copy, &err), expected);
	return line;
}

static hd_status load(const char *words, unsigned int groups)
{
	struct hd_command_line line = line_of(words, HD_OK);

	hd_config_release(&config);
	return hd_config_load(&config, groups, &line, &err);
}

static void write_file(const char *text)
{
	FILE *f = fopen(path, "we");

	CHECK(f != NULL);
	(void)fputs(text, f);
	(void)fclose(f);
	setenv("HOWDAH_CONFIG", path, 1);
}

static void clear(void)
{
	unsetenv("HOWDAH_DB");
	unsetenv("HOWDAH_TIMEOUT");
	unsetenv("HOWDAH_WORKERS");
	setenv("HOWDAH_CONFIG", "/dev/null", 1);
}

static const char *refused(const char *words)
{
	(void)line_of(words, HD_INVALID);
	return err.message;
}

static void table_is_sound(void)
{
	size_t n = 0;

	for (const struct hd_option *o = hd_options; o->name != NULL; o++, n++) {
		struct hd_config scratch = { 0 };

		CHECK_MSG((o->arg == NULL) == (o->type == HD_OPT_FLAG), "%s", o->name);
		CHECK_MSG(o->def == NULL || hd_option_set(&scratch, o, o->def, NULL) == HD_OK, "%s",
		          o->name);
		CHECK_MSG(o->groups != 0 && (o->groups & HD_NO_FILE) == 0, "%s", o->name);
		for (const struct hd_option *p = hd_options; p < o; p++) {
			CHECK_MSG(strcmp(p->name, o->name) != 0, "%s twice", o->name);
			CHECK_MSG(o->letter == 0 || p->letter != o->letter, "-%c twice", o->letter);
		}
	}
	CHECK(n < HD_OPTIONS_MAX);
}

/* What the command finds in its environment must never come back as an option. */
static void what_the_command_gets_is_not_read(void)
{
	static const char *const names[] = { "HOWDAH_ROLE", "HOWDAH_TOKEN", "HOWDAH_NODE",
		                             "HOWDAH_HELD_FD" };

	for (const struct hd_option *o = hd_options; o->name != NULL; o++)
		for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++)
			CHECK(o->env == NULL || strcmp(o->env, names[i]) != 0);
	setenv("HOWDAH_ROLE", "poller", 1);
	CHECK_INT(load("run", RUN), HD_OK);
	CHECK(config.role == NULL);
	unsetenv("HOWDAH_ROLE");
}

static void defaults(void)
{
	clear();
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_INT(config.timeout_ms, 10000);
	CHECK_INT(config.retry_ms, 2000);
	CHECK_INT(config.heartbeat_ms, 0); /* depends on the election */
	CHECK_INT(config.lease_ms, 0);
	CHECK_INT(config.margin_ms, 5000);
	CHECK_INT(config.grace_ms, 10000);
	CHECK_INT(config.lost_grace_ms, 500);
	CHECK_TEXT(config.election, "advisory");
	CHECK_TEXT(config.contain, "auto");
	CHECK(config.db == NULL && config.wait == NULL && config.workers == NULL);
	CHECK(!config.key_given && !config.restart && config.command == NULL);
}

static void splits_words_options_and_command(void)
{
	struct hd_command_line line =
	    line_of("--db~host=a~leader~-v~pause~--reason=x=y~poller~--~ls~--all", HD_OK);

	CHECK_INT(line.nwords, 3);
	CHECK_TEXT(line.word[0], "leader");
	CHECK_TEXT(line.word[1], "pause");
	CHECK_TEXT(line.word[2], "poller");
	CHECK_INT(line.nsettings, 3);
	CHECK_TEXT(line.setting[0].value, "host=a");
	CHECK_TEXT(line.setting[2].value, "x=y");
	CHECK_TEXT(line.command[0], "ls");
	CHECK_TEXT(line.command[1], "--all");
	CHECK(line.command[2] == NULL);
	line = line_of("run~-~--key~-5", HD_OK);
	CHECK_TEXT(line.word[1], "-");
	CHECK_TEXT(line.setting[0].value, "-5");
}

static void precedence(void)
{
	clear();
	write_file("timeout = 3s\ndb = file\n");
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_INT(config.timeout_ms, 3000);
	CHECK_TEXT(config.db, "file");
	setenv("HOWDAH_TIMEOUT", "4s", 1);
	setenv("HOWDAH_DB", "environment", 1);
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_INT(config.timeout_ms, 4000);
	CHECK_TEXT(config.db, "environment");
	CHECK_INT(load("--timeout~5s~--db=line", RUN), HD_OK);
	CHECK_INT(config.timeout_ms, 5000);
	CHECK_TEXT(config.db, "line");
	CHECK_INT(load("--db~one~--db~two", RUN), HD_OK);
	CHECK_TEXT(config.db, "two");
	setenv("HOWDAH_DB", "", 1);
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_TEXT(config.db, "file");
	clear();
}

static void a_section_is_for_its_role(void)
{
	clear();
	write_file("[role.poller]\nkey = 1840000001\nretry = 5s\nrestart = on\n"
	           "address = \"10.0.0.1:80\"\n[role.other]\nretry = 7s\ntrust-session = on\n");
	CHECK_INT(load("--role~poller", RUN), HD_OK);
	CHECK_INT(config.key, 1840000001);
	CHECK(config.key_given && config.restart && !config.trust_session);
	CHECK_INT(config.retry_ms, 5000);
	CHECK_TEXT(config.address, "10.0.0.1:80");
	CHECK_INT(load("--role~poller~--restart=off~--retry~1s", RUN), HD_OK);
	CHECK(!config.restart);
	CHECK_INT(config.retry_ms, 1000);
	CHECK_INT(load("--role~other", RUN), HD_OK);
	CHECK(!config.key_given && config.trust_session);
	CHECK_INT(config.retry_ms, 7000);
	CHECK_INT(load("--role~third", RUN), HD_OK);
	CHECK_INT(config.retry_ms, 2000);
	CHECK_INT(load("", HD_FOR_ALL | HD_FOR_DB | HD_FOR_JSON), HD_OK);
	CHECK_INT(config.key, 0);
	clear();
}

static void a_command_takes_only_its_own(void)
{
	clear();
	write_file("worker-role = w\ndb = x\n");
	setenv("HOWDAH_WORKERS", "all", 1);
	CHECK_INT(load("", HD_FOR_ALL), HD_OK);
	CHECK(config.db == NULL && config.workers == NULL);
	CHECK_TEXT(config.worker_role, "howdah_worker");
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_TEXT(config.workers, "all");
	write_file("nonsense\n");
	CHECK_INT(load("", HD_FOR_ALL | HD_NO_FILE), HD_OK);
	clear();
}

static void refusals_on_the_command_line(void)
{
	CHECK_HAS(refused("--rool~x"), "no option --rool");
	CHECK_HAS(err.hint, "--role");
	CHECK_HAS(refused("--pasword=hunter2"), "--pasword");
	CHECK(strstr(err.message, "hunter2") == NULL && strstr(err.hint, "hunter2") == NULL);
	CHECK_HAS(refused("-x"), "no option -x");
	CHECK_HAS(refused("-qv"), "no option -qv");
	CHECK_HAS(refused("--workers~all"), "no option --workers");
	CHECK_HAS(refused("--role"), "--role needs a value: NAME");
	CHECK_HAS(refused("--role~--json"), "--role needs a value");
	CHECK_HAS(err.hint, "--json");
	CHECK_HAS(refused("--role~--~ls"), "--role needs a value");
	CHECK_HAS(refused("--db="), "--db, on the command line: the value is empty");
	CHECK_HAS(refused("--heartbeat~15"), "--heartbeat, on the command line: \"15\"");
	CHECK_HAS(err.hint, "500ms");
	CHECK_HAS(refused("--retry~0"), "\"0\" is out of bounds");
	CHECK_HAS(err.hint, "from 10ms to 1h");
	CHECK_HAS(refused("--wait~soon"), "\"soon\"");
	CHECK_HAS(refused("--contain~cgroups"), "\"cgroups\"");
	CHECK_HAS(err.hint, "auto|none");
	CHECK_HAS(refused("--contain="), "\"\"");
	CHECK_HAS(refused("--contain=auto|none"), "auto|none");
	CHECK_HAS(refused("--json=maybe"), "\"maybe\"");
	CHECK_HAS(refused("-n~0"), "--limit, on the command line");
}

static void numbers(void)
{
	CHECK_HAS(refused("--key~1840000001x"), "not a whole number");
	CHECK_HAS(refused("--key~0x10"), "not a whole number");
	CHECK_HAS(refused("--key~ 1"), "not a whole number");
	CHECK_HAS(refused("--key~-"), "not a whole number");
	CHECK_HAS(refused("--key~--5"), "needs a value");
	CHECK_HAS(refused("--key~9223372036854775808"), "64 bits");
	clear();
	CHECK_INT(load("--key~-9223372036854775808", RUN), HD_OK);
	CHECK(config.key == INT64_MIN && config.key_given);
	CHECK_INT(load("--key=0", RUN), HD_OK);
	CHECK(config.key == 0 && config.key_given);
}

static const char *file_refused(const char *text)
{
	write_file(text);
	CHECK_INT(load("--role~poller", RUN), HD_INVALID);
	return err.message;
}

static void refusals_in_file_and_environment(void)
{
	CHECK_HAS(file_refused("\ntimout = 1s\n"), ":2: there is no setting \"timout\"");
	CHECK_HAS(err.message, path);
	CHECK_HAS(err.hint, "timeout");
	CHECK_HAS(file_refused("heartbeat = 1s\n"),
	          ":1: \"heartbeat\" stands in the wrong section");
	CHECK_HAS(err.hint, "[role.poller]");
	CHECK_HAS(file_refused("[role.a]\ndb = x\n"), ":2: \"db\" stands in the wrong section");
	CHECK_HAS(file_refused("reason = x\n"), "can't be set in a file");
	CHECK_HAS(file_refused("workers = all\n"), "there is no setting \"workers\"");
	CHECK_HAS(file_refused("db = a\ntimeout = 1s\ndb = b\n"), ":3: \"db\" was set in line 1");
	CHECK_HAS(file_refused("[role.a]\n[role.b]\n[role.a]\n"), ":3: the section [role.a]");
	CHECK_HAS(file_refused("[roles.a]\n"), ":1: there is no section [roles.a]");
	CHECK_HAS(file_refused("[role]\n"), "there is no section [role]");
	CHECK_HAS(file_refused("[role.a b]\n"), ":1: the role \"a b\"");
	CHECK_HAS(file_refused("[role.@relay]\n"), "built-in");
	/* Also where this command would not use it. */
	CHECK_HAS(file_refused("[role.other]\nlease = 1\n"), ":2: lease: \"1\" is not a duration");
	CHECK_HAS(file_refused("db =\n"), ":1: db: the value is empty");
	clear();
	setenv("HOWDAH_TIMEOUT", "10", 1);
	CHECK_INT(load("", RUN), HD_INVALID);
	CHECK_HAS(err.message, "HOWDAH_TIMEOUT, in the environment: \"10\"");
	clear();
	CHECK_INT(load("--config~/nonexistent", RUN), HD_INVALID);
	CHECK_HAS(err.message, "/nonexistent");
}

static void long_values_arrive_whole(void)
{
	char text[5000];

	(void)snprintf(text, sizeof(text), "db = host=%04000d;x # y\n", 1);
	write_file(text);
	CHECK_INT(load("", RUN), HD_OK);
	CHECK_INT(strlen(config.db), 4000 + strlen("host=;x # y"));
	clear();
}

static void which_database(void)
{
	static const char *const names[] = { "PGHOST", "PGHOSTADDR", "PGSERVICE" };
	static const char *const others[] = { "PGDATABASE", "PGPORT", "PGUSER", "PGSERVICEFILE" };
	struct hd_database db = { 0 };
	struct hd_config c = { 0 };

	for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	for (size_t i = 0; i < HD_ARRAY_SIZE(others); i++)
		unsetenv(others[i]);
	CHECK_INT(hd_database_from(&c, &db, &err), HD_INVALID);
	CHECK_HAS(err.hint, "--db");
	CHECK_HAS(err.hint, "HOWDAH_DB");
	CHECK_HAS(err.hint, "PGHOST");
	for (size_t i = 0; i < HD_ARRAY_SIZE(others); i++) {
		setenv(others[i], "5432", 1);
		CHECK_INT(hd_database_from(&c, &db, &err), HD_INVALID);
		CHECK_HAS(err.message, others[i]);
		unsetenv(others[i]);
	}
	for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++) {
		setenv(names[i], "", 1);
		CHECK_INT(hd_database_from(&c, &db, &err), HD_INVALID);
		setenv(names[i], "x", 1);
		CHECK_INT(hd_database_from(&c, &db, &err), HD_OK);
		CHECK(db.conninfo == NULL && !db.embedded);
		unsetenv(names[i]);
	}
	c.db = "dev";
	CHECK_INT(hd_database_from(&c, &db, &err), HD_OK);
	CHECK(db.embedded);
	c.db = "dbname=dev";
	CHECK_INT(hd_database_from(&c, &db, &err), HD_OK);
	CHECK(!db.embedded);
	CHECK_TEXT(db.conninfo, "dbname=dev");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		TAP_TEST(table_is_sound),
		TAP_TEST(what_the_command_gets_is_not_read),
		TAP_TEST(defaults),
		TAP_TEST(splits_words_options_and_command),
		TAP_TEST(precedence),
		TAP_TEST(a_section_is_for_its_role),
		TAP_TEST(a_command_takes_only_its_own),
		TAP_TEST(refusals_on_the_command_line),
		TAP_TEST(numbers),
		TAP_TEST(refusals_in_file_and_environment),
		TAP_TEST(long_values_arrive_whole),
		TAP_TEST(which_database),
	};
	int code;

	(void)snprintf(path, sizeof(path), "/tmp/howdah-option-%d.conf", (int)getpid());
	hd_buf_init(&config.file);
	clear();
	code = tap_main(tests, sizeof(tests) / sizeof(tests[0]), argc > 1 ? argv[1] : NULL);
	hd_config_release(&config);
	(void)unlink(path);
	return code;
}
