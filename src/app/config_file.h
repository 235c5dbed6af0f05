/*
 * config_file.h - the reader of howdah.conf.
 *
 *   # a comment has a line of its own
 *   db = host=db1 dbname=app
 *
 *   [role.poller]
 *   key = 1840000001
 *   address = "a \"quoted\" value, with \\ for a backslash"
 *
 * What stands behind the first '=' is the value, without the blanks around it: ';', '#' and '='
 * in it are part of it. Nothing is ever cut: what is too long is refused.
 */
#ifndef HD_APP_CONFIG_FILE_H
#define HD_APP_CONFIG_FILE_H

#include "base/buf.h"
#include <howdah/error.h>

#define HD_CONFIG_LINE_MAX ((size_t)64 * 1024)
#define HD_CONFIG_FILE_MAX ((size_t)1024 * 1024)

struct hd_config_line {
	const char *path;
	int number;
	const char *section; /* "" at the top, else what stands in [] */
	const char *key;     /* NULL: the line begins the section */
	const char *value;
};

typedef hd_status (*hd_config_line_fn)(void *context, const struct hd_config_line *line,
                                       struct hd_error *err);

/*
 * Calls `fn` for each section and pair of `text` (`len` bytes and a NUL), until it answers
 * something else than HD_OK. The text is changed; sections, keys and values point into it.
 * HD_INVALID: what can't be read, with `path` and line in front, also in front of what `fn`
 * complained of.
 */
hd_status hd_config_text_parse(char *text, size_t len, const char *path, hd_config_line_fn fn,
                               void *context, struct hd_error *err);

/*
 * Reads a whole file into `ret`, an initialised buffer. HD_INVALID: it can't be read or is too
 * large. A missing file is an empty one when `optional`.
 */
hd_status hd_config_file_read(const char *path, bool optional, struct hd_buf *ret,
                              struct hd_error *err);

#endif
