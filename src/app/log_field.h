/* log_field.h - reading back one of our own log lines, as --log-format json writes them. */
#ifndef HD_APP_LOG_FIELD_H
#define HD_APP_LOG_FIELD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of field `name` of a flat JSON object of strings; cut to fit. False: it has no such
 * field, or is not such an object up to there; `ret` is then "".
 */
bool hd_log_field(const char *line, const char *name, char *ret, size_t size);

#endif
