/* leader_notice.h - listening for the release notice, for stand-bys only. */
#ifndef HD_FEATURE_LEADER_NOTICE_H
#define HD_FEATURE_LEADER_NOTICE_H

#include "feature/leader.h"
#include <howdah/listener.h>

struct hd_leader_ear {
	struct hd_listener *listener;
	bool on;
};

hd_status hd_leader_ear_open(struct hd_leader_ear *ear, struct hd_error *err);
void hd_leader_ear_close(struct hd_leader_ear *ear);

/*
 * Listens, or stops listening: a stand-by does before it takes the role, since a flood of notices
 * could keep the session of a stopped holder alive.
 */
hd_status hd_leader_listen(struct hd_leader_ear *ear, struct hd_session *s, bool on,
                           hd_mono deadline, struct hd_error *err);

#endif
