#include "core/takeover.h"

static const char *blind_reason(const struct hd_led_term *led)
{
	if (!led->same_incarnation && led->led_token == 0)
		return "first term on a server that may have lost an earlier one";
	if (!led->same_incarnation)
		return "the last leader led on another server or timeline";
	if (!led->same_start)
		return "the server restarted and the last leader may not know";
	if (!led->advisory)
		return "the last leader held a lease row";
	if (!led->direct)
		return "the last leader was behind a pooler";
	return "the last leader's keepalives were not pinned";
}

struct hd_takeover hd_takeover_wait(const struct hd_led_term *led, int64_t own_lease_ms)
{
	struct hd_takeover t = { HD_TAKEOVER_CLEAR, 0, "the last leader is known to be dead" };

	if (led->clear_token >= led->led_token && led->same_incarnation) {
		if (led->led_token == 0)
			t.reason = "nobody led before";
		return t;
	}
	if (led->watched) {
		t.reason = "the last leader was silent for a whole lease";
		return t;
	}
	if (led->led_token > 0 && led->same_incarnation && led->same_start && led->advisory &&
	    led->pinned && led->direct) {
		t.kind = HD_TAKEOVER_SEEN;
		t.wait_ms = led->wait_ms;
		t.reason = "the last leader is ending its command";
		return t;
	}
	t.kind = HD_TAKEOVER_BLIND;
	t.wait_ms = led->lease_ms > own_lease_ms ? led->lease_ms : own_lease_ms;
	t.reason = blind_reason(led);
	return t;
}
