/* show.h - a view on standard output, as text or JSON, and what can stand in its way. */
#ifndef HD_CLI_SHOW_H
#define HD_CLI_SHOW_H

#include "app/config.h"
#include "view/view.h"

/* Columns of the terminal that standard output is; 0: it is none, lines may have any length. */
int hd_show_width(void);

/*
 * Shows the next of a row of pictures: on a terminal in the place of the last one, cut at its foot,
 * else below it, with a blank line between them; with --json only the line that it is. False when
 * it can't be written, or there was no memory for it.
 */
bool hd_show_picture(const struct hd_config *config, const struct hd_buf *picture, bool first);

/* Asks for a view's rows. On failure complains and answers the exit code, else 0. */
int hd_show_ask(struct hd_session *s, enum hd_view_name view, const struct hd_args *args,
                hd_mono deadline, struct hd_rows *ret);

/* Adds the rows to `out`, as --json says or not. */
void hd_show_add(const struct hd_config *config, enum hd_view_name view, const struct hd_rows *rows,
                 struct hd_buf *out);

/* Prints what was collected, or complains when there was no memory for it. Answers `code`. */
int hd_show_end(const struct hd_buf *out, int code);

/*
 * Complains about an error of a statement that needs schema howdah: when the schema is missing or
 * too old the way out is `howdah init` (78), when a privilege is missing it names the grant (77).
 */
int hd_show_complain(struct hd_error *err);

/* The same without printing: puts the way out into the error, answers the exit code. */
int hd_show_explain(struct hd_error *err);

#endif
