/* leader_parts.h - what the ways of election share beyond leader.h; for the files of this folder.
 */
#ifndef HD_FEATURE_LEADER_PARTS_H
#define HD_FEATURE_LEADER_PARTS_H

#include "feature/leader.h"
#include "pg/exec.h"

/* The columns in which leader_take, lease_attempt and lease_take_over answer a take: the first ten.
 */
void hd_leader_taken(struct hd_leader *l, const struct hd_rows *r, struct hd_leader_answer *ret);

/* First half of a take-over. *ret_closed false: the row moved. */
hd_status hd_leader_close(struct hd_leader *l, int64_t token, int64_t beat, hd_mono deadline,
                          bool *ret_closed, struct hd_error *err);

/* Arguments that begin with the role, as those of all statements of leadership do. */
struct hd_args hd_leader_args(const struct hd_leader_options *o);

void hd_leader_copy(char *to, size_t size, const char *from);

#endif
