/*
 * json.h - a writer of flat JSON objects, for logs and --json.
 *
 * Everything else in JSON is made and read by PostgreSQL.
 */
#ifndef HD_BASE_JSON_H
#define HD_BASE_JSON_H

#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Adds `text` as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD. */
void hd_json_string(struct hd_buf *b, const char *text);

/* Adds a comma where one is due, `"name":`, and the value. Between '{' and '}' of the caller. */
void hd_json_text(struct hd_buf *b, const char *name, const char *text); /* NULL becomes null */
void hd_json_int(struct hd_buf *b, const char *name, int64_t value);
void hd_json_bool(struct hd_buf *b, const char *name, bool value);
void hd_json_name(struct hd_buf *b, const char *name); /* the caller adds the value */

#endif
