#include "app/log.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/utc.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* PIPE_BUF: a longer write to a pipe may be mixed with those of other processes (pipe(7)). */
#define LINE_LIMIT  4096
#define LINE_ROOM   (LINE_LIMIT - 64) /* the rest is for "cut", "dropped" and the end */
#define VALUE_LIMIT 2048
#define CUT_MARK    "...[cut]"
#define STALL_MS    100
#define CONTEXT_MAX 8

static struct {
	enum hd_log_format format;
	enum hd_log_level most;
	struct {
		char name[24];
		char value[256];
	} context[CONTEXT_MAX];
	struct hd_buf line;
	bool cut;              /* a pair of this line was left out */
	bool stalled;          /* whoever reads stderr does not: do not wait for it again */
	unsigned long dropped; /* lines, since the last one that was written */
} log_state = { .most = HD_LOG_INFO };

static const char *const level_names[] = {
	[HD_LOG_ERROR] = "error",
	[HD_LOG_WARN] = "warn",
	[HD_LOG_INFO] = "info",
	[HD_LOG_DEBUG] = "debug",
};

void hd_log_setup(enum hd_log_format format, enum hd_log_level most)
{
	log_state.format = format;
	log_state.most = most;
}

bool hd_log_shows(enum hd_log_level level)
{
	return level <= log_state.most;
}

void hd_log_context(const char *name, const char *value)
{
	int place = -1;

	for (int i = 0; i < CONTEXT_MAX; i++) {
		if (strcmp(log_state.context[i].name, name) == 0) {
			place = i;
			break;
		}
		if (place < 0 && log_state.context[i].name[0] == '\0')
			place = i;
	}
	if (place < 0)
		return;
	(void)snprintf(log_state.context[place].name, sizeof(log_state.context[place].name), "%s",
	               value != NULL ? name : "");
	(void)snprintf(log_state.context[place].value, sizeof(log_state.context[place].value), "%s",
	               value != NULL ? value : "");
}

/* A value that needs no quotes: printing ASCII without blank, quote, backslash and '='. */
static bool is_plain(const char *value)
{
	for (const char *p = value; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("\"=\\", *p) != NULL)
			return false;
	return true;
}

static void put_pair(const char *name, const char *value)
{
	struct hd_buf *b = &log_state.line;

	if (log_state.format == HD_LOG_JSON) {
		hd_json_text(b, name, value);
		return;
	}
	if (b->len > 0)
		hd_buf_char(b, ' ');
	hd_buf_text(b, name);
	hd_buf_char(b, '=');
	if (is_plain(value))
		hd_buf_text(b, value);
	else
		hd_json_string(b, value);
}

/* The first `n` bytes of a value and the mark, never half a character. */
static void put_cut_pair(const char *name, const char *value, size_t n)
{
	char part[VALUE_LIMIT + sizeof(CUT_MARK)];

	while (n > 0 && ((unsigned char)value[n] & 0xc0) == 0x80)
		n--;
	(void)snprintf(part, sizeof(part), "%.*s%s", (int)n, value, CUT_MARK);
	put_pair(name, part);
}

/* Escapes may make a value six times as long, so what fits is found by trying. */
static void add_pair(const char *name, const char *value)
{
	struct hd_buf *b = &log_state.line;
	size_t start = b->len;
	size_t n = strnlen(value, VALUE_LIMIT + 1);

	if (n == 0 || log_state.cut)
		return;
	if (n <= VALUE_LIMIT) {
		put_pair(name, value);
		if (b->len <= LINE_ROOM)
			return;
	}
	for (n = n > VALUE_LIMIT ? VALUE_LIMIT : n / 2; n > 0; n /= 2) {
		hd_buf_cut(b, start);
		put_cut_pair(name, value, n);
		if (b->len <= LINE_ROOM)
			return;
	}
	hd_buf_cut(b, start);
	log_state.cut = true;
}

static void begin_line(enum hd_log_level level)
{
	char text[HD_UTC_TEXT];

	if (!hd_buf_ok(&log_state.line) || log_state.line.data == NULL)
		hd_buf_release(&log_state.line);
	hd_buf_reset(&log_state.line);
	log_state.cut = false;
	if (log_state.format == HD_LOG_JSON)
		hd_buf_char(&log_state.line, '{');
	hd_utc_now(text);
	put_pair("time", text);
	put_pair("level", level_names[level]);
	for (int i = 0; i < CONTEXT_MAX; i++)
		if (log_state.context[i].name[0] != '\0')
			add_pair(log_state.context[i].name, log_state.context[i].value);
}

/* A reader that stopped must stop the log and not the program. */
static bool can_write(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	int n = poll(&p, 1, log_state.stalled ? 0 : STALL_MS);

	log_state.stalled = n == 0;
	return n > 0 || errno == EINTR;
}

/* Writes without ever raising SIGPIPE, whose disposition is inherited by commands that we start. */
static bool write_line(const char *text, size_t n)
{
	static const struct timespec at_once = { 0 };
	sigset_t pipe_signal;
	sigset_t before;
	ssize_t done;

	(void)sigemptyset(&pipe_signal);
	(void)sigaddset(&pipe_signal, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &pipe_signal, &before);
	do
		done = write(STDERR_FILENO, text, n);
	while (done < 0 && errno == EINTR);
	if (done < 0 && errno == EPIPE)
		(void)sigtimedwait(&pipe_signal, NULL, &at_once);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return done >= 0;
}

static void close_line(void)
{
	hd_buf_text(&log_state.line, log_state.format == HD_LOG_JSON ? "}\n" : "\n");
}

static void end_line(void)
{
	struct hd_buf *b = &log_state.line;
	char number[24];

	if (log_state.cut)
		put_pair("cut", "true");
	if (log_state.dropped > 0) {
		(void)snprintf(number, sizeof(number), "%lu", log_state.dropped);
		put_pair("dropped", number);
	}
	close_line();
	if (hd_buf_ok(b) && can_write() && write_line(b->data, b->len))
		log_state.dropped = 0;
	else
		log_state.dropped++;
}

static void add_pairs(va_list args)
{
	const char *name;

	while ((name = va_arg(args, const char *)) != NULL) {
		const char *value = va_arg(args, const char *);

		if (value == NULL)
			break;
		add_pair(name, value);
	}
}

void hd_log(enum hd_log_level level, ...)
{
	int saved = errno;
	va_list args;

	if (!hd_log_shows(level))
		return;
	begin_line(level);
	va_start(args, level);
	add_pairs(args);
	va_end(args);
	end_line();
	errno = saved;
}

void hd_log_render(char *buf, size_t size, enum hd_log_level level, ...)
{
	va_list args;

	buf[0] = '\0';
	if (!hd_log_shows(level))
		return;
	begin_line(level);
	va_start(args, level);
	add_pairs(args);
	va_end(args);
	close_line();
	(void)snprintf(buf, size, "%s", log_state.line.data);
}

void hd_log_stamp(char *line)
{
	char text[HD_UTC_TEXT];
	size_t at = line[0] == '{' ? strlen("{\"time\":\"") : strlen("time=");

	if (line[0] == '\0')
		return;
	hd_utc_now(text);
	memcpy(line + at, text, HD_UTC_TEXT - 1);
}

void hd_log_error(enum hd_log_level level, const struct hd_error *err, ...)
{
	int saved = errno;
	va_list args;

	if (!hd_log_shows(level))
		return;
	begin_line(level);
	va_start(args, err);
	add_pairs(args);
	va_end(args);
	add_pair("error", err->message);
	add_pair("sqlstate", err->sqlstate);
	add_pair("hint", err->hint);
	end_line();
	errno = saved;
}
