#include "feature/leader_notice.h"

hd_status hd_leader_ear_open(struct hd_leader_ear *ear, struct hd_error *err)
{
	hd_status st = hd_listener_new(&ear->listener, err);

	if (st == HD_OK)
		st = hd_listener_add(ear->listener, HD_LEADER_CHANNEL, hd_now(), err);
	return st;
}

void hd_leader_ear_close(struct hd_leader_ear *ear)
{
	hd_listener_free(ear->listener);
}

hd_status hd_leader_listen(struct hd_leader_ear *ear, struct hd_session *s, bool on,
                           hd_mono deadline, struct hd_error *err)
{
	hd_status st = HD_OK;

	if (on != ear->on)
		st = on ? hd_listener_attach(ear->listener, s, deadline, err)
		        : hd_listener_detach(ear->listener, deadline, err);
	if (st == HD_OK)
		ear->on = on;
	return st;
}
