/* about.h - what the commands of `howdah leader` share: one conversation about one role. */
#ifndef HD_CLI_ABOUT_H
#define HD_CLI_ABOUT_H

#include "cli/show.h"

struct hd_about {
	const struct hd_config *config;
	const char *role;
	struct hd_session *session;
	hd_mono deadline;
	struct hd_rows row; /* the role's line of the view of roles */
};

/*
 * Checks the role's name, connects, reads its line. Else complains and answers the exit code:
 * an unknown role is 75, as nobody leads it. Released in either case by hd_about_close.
 */
int hd_about_open(struct hd_about *a, const struct hd_config *config);
void hd_about_close(struct hd_about *a);

/* Reads the line again, after a change. */
int hd_about_read(struct hd_about *a);

/* A value of the line; NULL for null. */
const char *hd_about_text(const struct hd_about *a, const char *column);

/* Somebody holds the role, leading or about to. */
bool hd_about_held(const struct hd_about *a);

/* What a state means to a person; NULL where the word says it all. */
const char *hd_about_note(const char *state);

/* Adds the list of all roles, for `howdah leader` and `howdah status`. */
hd_status hd_show_roles(const struct hd_config *config, struct hd_session *s, hd_mono deadline,
                        struct hd_buf *out, struct hd_error *err);

#endif
