/* The server's settings that matter to Howdah. */
#include "cli/doctor.h"
#include "view/view.h"
#include <string.h>

static bool is_off(const char *value)
{
	return strcmp(value, "off") == 0;
}

static bool is_not_durable(const char *value)
{
	return strcmp(value, "off") == 0 || strcmp(value, "local") == 0;
}

static bool is_not_read_committed(const char *value)
{
	return strcmp(value, "read committed") != 0;
}

/* Milliseconds; 0 is no limit. Our own calls of functions take less, migrations may take more. */
static bool is_under_a_second(const char *value)
{
	return strcmp(value, "0") != 0 && strlen(value) <= 3;
}

static bool is_limited(const char *value)
{
	return strcmp(value, "0") != 0;
}

static const struct {
	const char *name;
	bool (*odd)(const char *value); /* NULL: any value is fine */
	enum hd_level level;            /* of an odd value */
	const char *usual, *odd_text;   /* behind the value */
	const char *advice;
} settings[] = {
	{ "default_transaction_isolation", is_not_read_committed, HD_LEVEL_OK, "",
	  "; Howdah's own sessions use read committed", NULL },
	{ "statement_timeout", is_under_a_second, HD_LEVEL_WARN, "",
	  " for this user: too short for howdah init on a busy server",
	  "let this user's statements take a few seconds: alter role ... set statement_timeout" },
	{ "lock_timeout", is_limited, HD_LEVEL_OK, "", "; take-overs have their own bound", NULL },
	{ "idle_session_timeout", is_limited, HD_LEVEL_OK, "; a lease session sets its own",
	  "; a lease session sets its own", NULL },
	{ "idle_in_transaction_session_timeout", is_limited, HD_LEVEL_OK,
	  "; assert_leader sets one for its transaction",
	  "; assert_leader shortens it for its transaction where the lease is shorter", NULL },
	{ "synchronous_commit", is_not_durable, HD_LEVEL_OK, "",
	  "; leadership is committed synchronously all the same", NULL },
	{ "fsync", is_off, HD_LEVEL_WARN, "",
	  ": a crash of the server's machine can destroy the database, leadership included",
	  "set fsync = on, except on a server made for tests" },
	{ "full_page_writes", is_off, HD_LEVEL_WARN, "",
	  ": a crash of the server's machine can leave torn pages",
	  "set full_page_writes = on, unless the file system can't tear pages" },
};

/* Keepalives are three settings and a time-out; 0 everywhere is a unix socket. */
static void judge_keepalives(struct hd_doctor *d, const struct hd_rows *rows)
{
	static const char *const names[] = { "tcp_keepalives_idle", "tcp_keepalives_interval",
		                             "tcp_keepalives_count", "tcp_user_timeout" };
	int64_t value[HD_ARRAY_SIZE(names)] = { 0 };
	int64_t silent_s;
	char age[HD_AGE_TEXT];

	for (int row = 0; row < hd_rows_count(rows); row++)
		for (size_t i = 0; i < HD_ARRAY_SIZE(names); i++)
			if (strcmp(hd_rows_text(rows, row, 0), names[i]) == 0)
				value[i] = hd_rows_int(rows, row, 1);
	silent_s = value[0] + value[1] * value[2];
	if (silent_s == 0) {
		hd_doctor_say(d, HD_LEVEL_OK, "tcp keepalives", NULL,
		              "none: this connection is a unix socket");
		return;
	}
	hd_doctor_say(d, HD_LEVEL_OK, "tcp keepalives", NULL,
	              "a peer that vanished is noticed after %s (idle %lld s, %lld times "
	              "%lld s)%s; a lease session sets its own",
	              hd_age_format(silent_s * 1000, age), (long long)value[0], (long long)value[2],
	              (long long)value[1], value[3] > 0 ? ", tcp_user_timeout is set" : "");
}

void hd_doctor_settings(struct hd_doctor *d, const char *subject, const struct hd_rows *rows)
{
	(void)subject;
	for (size_t i = 0; i < HD_ARRAY_SIZE(settings); i++) {
		for (int row = 0; row < hd_rows_count(rows); row++) {
			bool odd;

			if (strcmp(hd_rows_text(rows, row, 0), settings[i].name) != 0)
				continue;
			odd =
			    settings[i].odd != NULL && settings[i].odd(hd_rows_text(rows, row, 1));
			hd_doctor_say(d, odd ? settings[i].level : HD_LEVEL_OK, settings[i].name,
			              odd ? settings[i].advice : NULL, "%s%s",
			              strcmp(hd_rows_text(rows, row, 1), "0") == 0
			                  ? "off"
			                  : hd_rows_text(rows, row, 2),
			              odd ? settings[i].odd_text : settings[i].usual);
		}
	}
	judge_keepalives(d, rows);
}
