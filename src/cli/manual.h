/* manual.h - what help and man page share: wrapped text, and tables of facts for people. */
#ifndef HD_CLI_MANUAL_H
#define HD_CLI_MANUAL_H

#include "app/option.h"
#include "base/buf.h"
#include "cli/command.h"

struct hd_fact {
	const char *name;
	const char *text;
};

extern const struct hd_fact hd_exit_codes[];  /* ended by a row without name */
extern const struct hd_fact hd_environment[]; /* what is no option */
extern const struct hd_fact hd_examples[];    /* text: a command line; name: what for */
extern const char *const hd_introduction;

/* Adds `text`, wrapped to 80 columns, each line after `indent` blanks; the first begins at the end
 * of what is in `b`. */
void hd_wrap(struct hd_buf *b, size_t indent, const char *text);

/* The paragraphs of a command; see struct hd_command. */
void hd_wrap_paragraphs(struct hd_buf *b, size_t indent, const char *text);

/* "name ARG", and the sentence of an option with its default and where else it may be set. */
void hd_option_usage(struct hd_buf *b, const struct hd_option *o);
void hd_option_help(struct hd_buf *b, const struct hd_option *o);

/* Writes the whole man page: howdah(1), in mdoc(7). */
void hd_man_page(struct hd_buf *b);

#endif
