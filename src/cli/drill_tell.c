/* drill_tell.c - what a drill prints, and the record that its timeline is made of. */
#include "base/base.h"
#include "base/json.h"
#include "cli/drill.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char hd_drill_letter(int node)
{
	return node == HD_DRILL_NOBODY ? '-' : (char)('A' + node);
}

double hd_drill_seconds(hd_mono from, hd_mono to)
{
	return (double)(to.ns - from.ns) / 1e9;
}

/* Kept in the order of time: a report may be read after what happened behind it. */
void hd_drill_note(struct hd_drill *d, hd_mono at, int node, int64_t token, const char *format, ...)
{
	struct hd_drill_event e = { .at = at, .node = node, .token = token };
	va_list args;
	int i = d->nevents;

	if (i == HD_DRILL_EVENTS_MAX)
		return;
	va_start(args, format);
	(void)vsnprintf(e.what, sizeof(e.what), format, args);
	va_end(args);
	for (; i > 0 && hd_before(at, d->events[i - 1].at); i--)
		d->events[i] = d->events[i - 1];
	d->events[i] = e;
	d->nevents++;
}

static bool is_bold(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL && term != NULL &&
	       strcmp(term, "dumb") != 0;
}

void hd_drill_head(const char *format, ...)
{
	va_list args;

	(void)fputs(is_bold() ? "\n\033[1m" : "\n", stdout);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	(void)fputs(is_bold() ? "\033[0m\n" : "\n", stdout);
	(void)fflush(stdout);
}

void hd_drill_say(const char *format, ...)
{
	va_list args;

	(void)fputs("  ", stdout);
	va_start(args, format);
	(void)vprintf(format, args);
	va_end(args);
	(void)fputc('\n', stdout);
	(void)fflush(stdout);
}

void hd_drill_timeline(const struct hd_drill *d)
{
	size_t widest = 0;

	for (int i = 0; i < d->nevents; i++)
		if (strlen(d->events[i].what) > widest)
			widest = strlen(d->events[i].what);
	hd_drill_say("%7s  %4s  %-*s  %s", "SECONDS", "NODE", (int)widest, "WHAT", "TOKEN");
	for (int i = 0; i < d->nevents; i++) {
		const struct hd_drill_event *e = &d->events[i];
		char token[24] = "-";

		if (e->token != 0)
			(void)snprintf(token, sizeof(token), "%" PRId64, e->token);
		hd_drill_say("%7.3f  %-4c  %-*s  %s", hd_drill_seconds(d->began, e->at),
		             hd_drill_letter(e->node), (int)widest, e->what, token);
	}
}

void hd_drill_timeline_json(const struct hd_drill *d, struct hd_buf *out)
{
	hd_buf_char(out, '[');
	for (int i = 0; i < d->nevents; i++) {
		const struct hd_drill_event *e = &d->events[i];
		char node[2] = { hd_drill_letter(e->node), '\0' };

		hd_buf_text(out, i > 0 ? ",{" : "{");
		hd_json_int(out, "at_ms", (e->at.ns - d->began.ns) / 1000000);
		hd_json_text(out, "node", e->node == HD_DRILL_NOBODY ? NULL : node);
		hd_json_text(out, "what", e->what);
		if (e->token != 0)
			hd_json_int(out, "token", e->token);
		else
			hd_json_text(out, "token", NULL);
		hd_buf_char(out, '}');
	}
	hd_buf_char(out, ']');
}
