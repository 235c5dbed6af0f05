/*
 * log.h - one event, one line on stderr; nothing else in Howdah writes there while it works.
 *
 *   time=2026-11-30T21:40:42.123Z level=info role=poller node=9f3c… state=leading token=7
 *
 * or the same names as one JSON object with --log-format json. Values are quoted where they must
 * be, bytes that are not UTF-8 become U+FFFD. A line is one write(2) of at most 4096 bytes, so
 * lines of processes that share stderr never mix; a longer value ends with "...[cut]". When whoever
 * reads stderr stops, lines are dropped after a short wait and counted: the next one says
 * dropped=N. One thread.
 */
#ifndef HD_APP_LOG_H
#define HD_APP_LOG_H

#include <howdah/error.h>
#include <stdbool.h>
#include <stddef.h>

enum hd_log_level {
	HD_LOG_ERROR,
	HD_LOG_WARN,
	HD_LOG_INFO,
	HD_LOG_DEBUG
};
enum hd_log_format {
	HD_LOG_TEXT,
	HD_LOG_JSON
};

void hd_log_setup(enum hd_log_format format, enum hd_log_level most);

/* Whether a line of this level would be written, for values that cost something. */
bool hd_log_shows(enum hd_log_level level);

/* A field that every later line of this process carries; NULL removes it. At most 8; text is
 * copied. */
void hd_log_context(const char *name, const char *value);

/*
 * Pairs of name and value, ended by NULL: hd_log(HD_LOG_INFO, "state", "leading", "token", t,
 * NULL). A pair with an empty value is left out; a value that may be NULL is written as
 * HD_LOG_PAIR(name, value).
 */
void hd_log(enum hd_log_level level, ...) __attribute__((sentinel));
#define HD_LOG_PAIR(name, value) (name), ((value) != NULL ? (value) : "")

/*
 * For a signal handler, which can only write(2): renders now the line that hd_log would write, cut
 * to fit, and puts the time into it when it is written.
 */
void hd_log_render(char *buf, size_t size, enum hd_log_level level, ...) __attribute__((sentinel));
void hd_log_stamp(char *line);

/* The fields error=, sqlstate=, hint= of `err` behind the pairs. */
void hd_log_error(enum hd_log_level level, const struct hd_error *err, ...)
    __attribute__((sentinel));

#endif
