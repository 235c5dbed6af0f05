#include "base/error.h"

#include "base/base.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *hd_status_name(hd_status status)
{
	static const char *const names[] = {
		[HD_OK] = "ok",           [HD_RETRY] = "retry",     [HD_TIMEOUT] = "timeout",
		[HD_LOST] = "lost",       [HD_REFUSED] = "refused", [HD_INVALID] = "invalid",
		[HD_NOMEM] = "no memory",
	};

	return (unsigned int)status < HD_ARRAY_SIZE(names) ? names[status] : "unknown";
}

/* Messages are one line each: a log line must stay a line whatever the server sent. */
static void one_line(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

HD_PRINTF(3, 0)
static void fill(struct hd_error *err, hd_status status, const char *format, va_list args)
{
	err->status = status;
	err->sqlstate[0] = '\0';
	err->hint[0] = '\0';
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	one_line(err->message);
}

hd_status hd_fail(struct hd_error *err, hd_status status, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return status;
	va_start(args, format);
	fill(err, status, format, args);
	va_end(args);
	return status;
}

hd_status hd_fail_errno(struct hd_error *err, hd_status status, const char *format, ...)
{
	int saved = errno;
	va_list args;
	size_t used;

	if (err == NULL)
		return status;
	va_start(args, format);
	fill(err, status, format, args);
	va_end(args);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s", strerror(saved));
	return status;
}

void hd_hint(struct hd_error *err, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
	one_line(err->hint);
}

void hd_fail_prefix(struct hd_error *err, const char *format, ...)
{
	char old[sizeof(err->message)];
	va_list args;
	size_t used;

	if (err == NULL)
		return;
	memcpy(old, err->message, sizeof(old));
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, "%s", old);
}
