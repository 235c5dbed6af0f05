/* verify_tell.c - the verdicts, as lines or as one object. */
#include "base/base.h"
#include "base/json.h"
#include "cli/show.h"
#include "cli/verify.h"
#include <stdarg.h>
#include <stdio.h>

static const char *const words[] = {
	[HD_RESULT_OK] = "ok",
	[HD_RESULT_FAIL] = "FAIL",
	[HD_RESULT_SKIP] = "skip",
};

struct hd_check *hd_verify_check(struct hd_verify *v, const char *name)
{
	struct hd_check *c = &v->checks[v->nchecks];

	/* There are fewer checks than room; the last one is written over rather than more. */
	if (v->nchecks < HD_VERIFY_CHECKS_MAX - 1)
		v->nchecks++;
	*c = (struct hd_check){ .name = name, .dead = -1, .lock = -1, .command = -1 };
	return c;
}

void hd_verify_say(struct hd_verify *v, struct hd_check *c, enum hd_result result,
                   const char *format, ...)
{
	va_list args;

	c->result = result;
	va_start(args, format);
	(void)vsnprintf(c->text, sizeof(c->text), format, args);
	va_end(args);
	if (v->config->json)
		return;
	(void)printf("%-4s  %s\n", words[result], c->text);
	(void)fflush(stdout);
}

int hd_verify_failed(const struct hd_verify *v)
{
	int n = 0;

	for (int i = 0; i < v->nchecks; i++)
		n += v->checks[i].result == HD_RESULT_FAIL;
	return n;
}

static void add_ms(struct hd_buf *b, const char *name, double seconds)
{
	if (seconds >= 0)
		hd_json_int(b, name, (int64_t)(seconds * 1000));
	else
		hd_json_text(b, name, NULL);
}

static void add_check(struct hd_buf *b, const struct hd_check *c)
{
	hd_buf_char(b, '{');
	hd_json_text(b, "name", c->name);
	hd_json_text(b, "result", words[c->result]);
	hd_json_text(b, "text", c->text);
	add_ms(b, "dead_ms", c->dead);
	add_ms(b, "lock_ms", c->lock);
	add_ms(b, "command_ms", c->command);
	hd_buf_char(b, '}');
}

static void report_json(const struct hd_verify *v)
{
	HD_BUF b;

	hd_buf_init(&b);
	hd_buf_char(&b, '{');
	hd_json_text(&b, "howdah", HD_VERSION);
	hd_json_bool(&b, "ok", hd_verify_failed(v) == 0);
	hd_json_text(&b, "role", v->role);
	hd_json_text(&b, "election", v->config->election);
	hd_json_name(&b, "checks");
	hd_buf_char(&b, '[');
	for (int i = 0; i < v->nchecks; i++) {
		hd_buf_text(&b, i > 0 ? "," : "");
		add_check(&b, &v->checks[i]);
	}
	hd_buf_char(&b, ']');
	hd_json_name(&b, "timeline");
	hd_drill_timeline_json(&v->drill, &b);
	hd_buf_text(&b, "}\n");
	(void)hd_show_end(&b, 0);
}

void hd_verify_report(const struct hd_verify *v)
{
	if (v->config->json) {
		report_json(v);
		return;
	}
	hd_drill_head("What happened");
	hd_drill_timeline(&v->drill);
	if (hd_verify_failed(v) == 0)
		hd_drill_head("As promised.");
	else
		hd_drill_head("NOT as promised: %d of %d.", hd_verify_failed(v), v->nchecks);
}
