#include "app/embedded.h"
#include "app/exit.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/show.h"
#include <assert.h>
#include <stdio.h>

#define INDENT 6 /* columns of "ok", "warn", "FAIL" and their gap */

static const struct {
	const char *text, *json;
} levels[] = {
	[HD_LEVEL_OK] = { "ok", "ok" },
	[HD_LEVEL_WARN] = { "warn", "warn" },
	[HD_LEVEL_FAIL] = { "FAIL", "fail" },
};

void hd_doctor_say(struct hd_doctor *d, enum hd_level level, const char *subject,
                   const char *advice, const char *format, ...)
{
	struct hd_doctor_finding *f = &d->finding[d->n];
	va_list args;

	assert((level == HD_LEVEL_OK) == (advice == NULL));
	if (d->n == HD_DOCTOR_MAX)
		return;
	d->n++;
	f->level = level;
	f->subject = subject;
	va_start(args, format);
	(void)vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	(void)snprintf(f->advice, sizeof(f->advice), "%s", advice ? advice : "");
}

bool hd_doctor_ask(struct hd_doctor *d, const char *subject, enum hd_sql stmt,
                   const struct hd_args *args, struct hd_rows *ret)
{
	struct hd_error err = { 0 };

	if (d->session == NULL)
		return false;
	if (hd_exec(d->session, stmt, args, d->deadline, ret, &err) == HD_OK)
		return true;
	if (hd_session_ok(d->session)) {
		hd_doctor_say(d, HD_LEVEL_WARN, subject,
		              err.hint[0] != '\0' ? err.hint : "grant this user what is missing",
		              "could not be read: %s", err.message);
		return false;
	}
	hd_doctor_say(d, HD_LEVEL_FAIL, subject, "run it again; raise --timeout if it was short",
	              "the session is gone: %s", err.message);
	hd_session_close(d->session);
	d->session = NULL;
	return false;
}

static int count(const struct hd_doctor *d, enum hd_level level)
{
	int n = 0;

	for (int i = 0; i < d->n; i++)
		n += d->finding[i].level == level;
	return n;
}

static void add_text(const struct hd_doctor *d, struct hd_buf *out)
{
	int width = hd_show_width();
	int warnings = count(d, HD_LEVEL_WARN), failures = count(d, HD_LEVEL_FAIL);

	for (int i = 0; i < d->n; i++) {
		const struct hd_doctor_finding *f = &d->finding[i];
		char head[64];
		int at = snprintf(head, sizeof(head), "%-*s%s: ", INDENT, levels[f->level].text,
		                  f->subject);

		hd_buf_text(out, head);
		hd_text_wrap(out, f->text, at, INDENT, width);
		if (f->advice[0] != '\0') {
			hd_buf_printf(out, "\n%*s-> ", INDENT, "");
			hd_text_wrap(out, f->advice, INDENT + 3, INDENT + 3, width);
		}
		hd_buf_char(out, '\n');
	}
	hd_buf_printf(out, "\n%s: %s", hd_verdict_name(d->report.verdict),
	              failures > 0 ? "nobody can lead over this connection"
	                           : "a leader can work over this connection");
	if (warnings > 0)
		hd_buf_printf(out, "; warnings: %d", warnings);
	hd_buf_char(out, '\n');
}

static void add_json(const struct hd_doctor *d, const char *verdict, struct hd_buf *out)
{
	hd_buf_char(out, '{');
	hd_json_text(out, "verdict", verdict);
	hd_json_bool(out, "usable", count(d, HD_LEVEL_FAIL) == 0);
	hd_json_int(out, "warnings", count(d, HD_LEVEL_WARN));
	hd_json_int(out, "failures", count(d, HD_LEVEL_FAIL));
	hd_json_name(out, "findings");
	hd_buf_char(out, '[');
	for (int i = 0; i < d->n; i++) {
		const struct hd_doctor_finding *f = &d->finding[i];

		hd_buf_text(out, i > 0 ? ",{" : "{");
		hd_json_text(out, "level", levels[f->level].json);
		hd_json_text(out, "subject", f->subject);
		hd_json_text(out, "finding", f->text);
		hd_json_text(out, "advice", f->advice[0] != '\0' ? f->advice : NULL);
		hd_buf_char(out, '}');
	}
	hd_buf_text(out, "]}\n");
}

/* No session: for people an error as of every command, for programs the same object as ever. */
static int unreachable(struct hd_doctor *d, const struct hd_error *err)
{
	HD_BUF out;
	int code =
	    err->status == HD_INVALID ? hd_complain_with(err, HD_EXIT_CONFIG) : hd_complain(err);

	hd_buf_init(&out);
	if (!d->config->json)
		return code;
	hd_doctor_say(d, HD_LEVEL_FAIL, "connection",
	              err->hint[0] != '\0' ? err->hint
	                                   : "see whether the server runs and the "
	                                     "address is right",
	              "%s", err->message);
	add_json(d, code == HD_EXIT_UNAVAILABLE ? "unreachable" : "refused", &out);
	return hd_show_end(&out, code);
}

static void examine(struct hd_doctor *d)
{
	hd_doctor_probe(d);
	if (d->session == NULL) {
		hd_doctor_say(d, HD_LEVEL_FAIL, "connection", "run it again",
		              "the session was lost during the probe");
		return;
	}
	d->deadline = hd_after(hd_now(), d->config->timeout_ms);
	hd_doctor_clock(d);
	hd_doctor_schema(d);
	for (const struct hd_doctor_check *c = hd_doctor_checks; c->subject != NULL; c++) {
		HD_ROWS rows = { 0 };

		if (hd_doctor_ask(d, c->subject, c->stmt, NULL, &rows))
			c->judge(d, c->subject, &rows);
	}
}

int hd_cmd_doctor(const struct hd_config *config)
{
	struct hd_doctor d = { .config = config };
	struct hd_session_options options;
	struct hd_embedded embedded;
	struct hd_error err = { 0 };
	HD_BUF out;
	bool lost;
	int code = hd_options_for_command(config, &embedded, &options);

	hd_buf_init(&out);
	if (code != HD_EXIT_OK)
		return code;
	if (hd_probe(&options, config->trust_session, hd_after(hd_now(), config->timeout_ms),
	             &d.session, &d.report, &err) != HD_OK)
		return unreachable(&d, &err);
	examine(&d);
	lost = d.session == NULL;
	hd_session_close(d.session);
	if (config->json)
		add_json(&d, hd_verdict_name(d.report.verdict), &out);
	else
		add_text(&d, &out);
	code = lost                           ? HD_EXIT_UNAVAILABLE
	       : count(&d, HD_LEVEL_FAIL) > 0 ? HD_EXIT_REFUSED
	                                      : HD_EXIT_OK;
	return hd_show_end(&out, code);
}
