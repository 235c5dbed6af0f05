/* error.h - filling a caller's struct hd_error. */
#ifndef HD_BASE_ERROR_H
#define HD_BASE_ERROR_H

#include <howdah/error.h>

/* Sets status and message, clears SQLSTATE and hint; `err` may be NULL. Returns `status`. */
hd_status hd_fail(struct hd_error *err, hd_status status, const char *format, ...) HD_PRINTF(3, 4);

/* As hd_fail, with ": " and strerror(errno) behind the message. */
hd_status hd_fail_errno(struct hd_error *err, hd_status status, const char *format, ...)
    HD_PRINTF(3, 4);

/* Adds what to do about it: "write a whole number and a unit, like 2s". */
void hd_hint(struct hd_error *err, const char *format, ...) HD_PRINTF(2, 3);

/* Puts text in front of the message that is there: "leader lookup: " + message. */
void hd_fail_prefix(struct hd_error *err, const char *format, ...) HD_PRINTF(2, 3);

#endif
