#include "core/election.h"

#include "base/base.h"

/* clang-format off */
const struct hd_transition hd_transitions[] = {
	{ HD_ST_STANDBY, HD_EV_TAKEN, HD_ST_WAITING, HD_ACT_NONE, "the role is ours; does the old leader still run?" },
	{ HD_ST_STANDBY, HD_EV_PAUSE, HD_ST_PAUSED, HD_ACT_NONE, "paused by an operator" },
	{ HD_ST_STANDBY, HD_EV_REFUSED, HD_ST_REFUSED, HD_ACT_DROP, "this node may not compete" },
	{ HD_ST_STANDBY, HD_EV_TIME_UP, HD_ST_ENDED, HD_ACT_DROP, "the role was not free in time" },
	{ HD_ST_STANDBY, HD_EV_SIGNAL, HD_ST_ENDED, HD_ACT_DROP, "told to stop" },
	{ HD_ST_STANDBY, HD_EV_LOSS, HD_ST_STANDBY, HD_ACT_DROP, "the session is lost" },

	{ HD_ST_WAITING, HD_EV_WAIT_OVER, HD_ST_LEADING, HD_ACT_START, "nothing of an older leader can be running" },
	{ HD_ST_WAITING, HD_EV_LOSS, HD_ST_STANDBY, HD_ACT_DROP, "the role is lost" },
	{ HD_ST_WAITING, HD_EV_LOSS_FINAL, HD_ST_ENDED, HD_ACT_DROP, "the role is lost" },
	{ HD_ST_WAITING, HD_EV_RESIGN, HD_ST_RESTING, HD_ACT_GIVE_UP, "asked to hand over" },
	{ HD_ST_WAITING, HD_EV_PAUSE, HD_ST_PAUSED, HD_ACT_GIVE_UP, "paused by an operator" },
	{ HD_ST_WAITING, HD_EV_TIME_UP, HD_ST_ENDED, HD_ACT_GIVE_UP, "the wait did not end in time" },
	{ HD_ST_WAITING, HD_EV_SIGNAL, HD_ST_ENDED, HD_ACT_GIVE_UP, "told to stop" },

	{ HD_ST_LEADING, HD_EV_LOSS, HD_ST_LOST, HD_ACT_END, "the role is lost" },
	{ HD_ST_LEADING, HD_EV_LOSS_FINAL, HD_ST_LOST_ENDING, HD_ACT_END, "the role is lost" },
	{ HD_ST_LEADING, HD_EV_SIGNAL, HD_ST_STOPPING, HD_ACT_STOP, "told to stop" },
	{ HD_ST_LEADING, HD_EV_COMMAND_ENDED, HD_ST_STOPPING, HD_ACT_NONE, "the command ended" },
	{ HD_ST_LEADING, HD_EV_RESIGN, HD_ST_STEPPING_DOWN, HD_ACT_STOP, "asked to hand over" },
	{ HD_ST_LEADING, HD_EV_PAUSE, HD_ST_PAUSING, HD_ACT_STOP, "paused by an operator" },

	{ HD_ST_STOPPING, HD_EV_GONE, HD_ST_ENDED, HD_ACT_RELEASE, "the command is dead" },
	{ HD_ST_STOPPING, HD_EV_LOSS, HD_ST_LOST_ENDING, HD_ACT_END, "the role is lost" },
	{ HD_ST_STOPPING, HD_EV_LOSS_FINAL, HD_ST_LOST_ENDING, HD_ACT_END, "the role is lost" },

	{ HD_ST_STEPPING_DOWN, HD_EV_GONE, HD_ST_RESTING, HD_ACT_RELEASE, "the command is dead" },
	{ HD_ST_STEPPING_DOWN, HD_EV_SIGNAL, HD_ST_STOPPING, HD_ACT_NONE, "told to stop" },
	{ HD_ST_STEPPING_DOWN, HD_EV_LOSS, HD_ST_LOST, HD_ACT_END, "the role is lost" },
	{ HD_ST_STEPPING_DOWN, HD_EV_LOSS_FINAL, HD_ST_LOST_ENDING, HD_ACT_END, "the role is lost" },

	{ HD_ST_PAUSING, HD_EV_GONE, HD_ST_PAUSED, HD_ACT_RELEASE, "the command is dead" },
	{ HD_ST_PAUSING, HD_EV_SIGNAL, HD_ST_STOPPING, HD_ACT_NONE, "told to stop" },
	{ HD_ST_PAUSING, HD_EV_LOSS, HD_ST_LOST, HD_ACT_END, "the role is lost" },
	{ HD_ST_PAUSING, HD_EV_LOSS_FINAL, HD_ST_LOST_ENDING, HD_ACT_END, "the role is lost" },

	{ HD_ST_LOST, HD_EV_GONE, HD_ST_STANDBY, HD_ACT_NOTICE, "the command is dead; compete again" },
	{ HD_ST_LOST, HD_EV_SIGNAL, HD_ST_LOST_ENDING, HD_ACT_NONE, "told to stop" },
	{ HD_ST_LOST_ENDING, HD_EV_GONE, HD_ST_ENDED, HD_ACT_NOTICE, "the command is dead" },

	{ HD_ST_RESTING, HD_EV_REST_OVER, HD_ST_STANDBY, HD_ACT_NONE, "compete again" },
	{ HD_ST_RESTING, HD_EV_PAUSE, HD_ST_PAUSED, HD_ACT_NONE, "paused by an operator" },
	{ HD_ST_RESTING, HD_EV_SIGNAL, HD_ST_ENDED, HD_ACT_DROP, "told to stop" },
	{ HD_ST_RESTING, HD_EV_LOSS, HD_ST_RESTING, HD_ACT_DROP, "the session is lost" },
	{ HD_ST_RESTING, HD_EV_TIME_UP, HD_ST_ENDED, HD_ACT_DROP, "the role was not free in time" },

	{ HD_ST_PAUSED, HD_EV_RESUME, HD_ST_STANDBY, HD_ACT_NONE, "resumed by an operator" },
	{ HD_ST_PAUSED, HD_EV_REFUSED, HD_ST_REFUSED, HD_ACT_DROP, "this node may not compete" },
	{ HD_ST_PAUSED, HD_EV_SIGNAL, HD_ST_ENDED, HD_ACT_DROP, "told to stop" },
	{ HD_ST_PAUSED, HD_EV_LOSS, HD_ST_PAUSED, HD_ACT_DROP, "the session is lost" },
	{ HD_ST_PAUSED, HD_EV_TIME_UP, HD_ST_REFUSED, HD_ACT_DROP, "paused, and not to wait" },

	{ HD_ST_COUNT, HD_EV_COUNT, HD_ST_COUNT, HD_ACT_NONE, NULL },
};
/* clang-format on */

const struct hd_transition *hd_election_step(enum hd_state state, enum hd_event event)
{
	for (const struct hd_transition *t = hd_transitions; t->state != HD_ST_COUNT; t++)
		if (t->state == state && t->event == event)
			return t;
	return NULL;
}

const char *hd_state_word(enum hd_state state)
{
	static const char *const words[HD_ST_COUNT] = {
		[HD_ST_STANDBY] = "standby",  [HD_ST_WAITING] = "waiting",
		[HD_ST_LEADING] = "leading",  [HD_ST_STOPPING] = "stopping",
		[HD_ST_PAUSING] = "stopping", [HD_ST_STEPPING_DOWN] = "stopping",
		[HD_ST_LOST] = "lost",        [HD_ST_LOST_ENDING] = "lost",
		[HD_ST_RESTING] = "standby",  [HD_ST_PAUSED] = "paused",
		[HD_ST_REFUSED] = "refused",  [HD_ST_ENDED] = "ended",
	};

	return words[state];
}

const char *hd_state_name(enum hd_state state)
{
	static const char *const names[HD_ST_COUNT] = {
		[HD_ST_STEPPING_DOWN] = "stepping down",
		[HD_ST_PAUSING] = "pausing",
		[HD_ST_LOST_ENDING] = "lost, ending",
		[HD_ST_RESTING] = "resting",
	};

	return names[state] != NULL ? names[state] : hd_state_word(state);
}

const char *hd_event_word(enum hd_event event)
{
	static const char *const words[HD_EV_COUNT] = {
		[HD_EV_TAKEN] = "taken",         [HD_EV_WAIT_OVER] = "wait over",
		[HD_EV_LOSS] = "loss",           [HD_EV_LOSS_FINAL] = "loss, one shot",
		[HD_EV_SIGNAL] = "signal",       [HD_EV_COMMAND_ENDED] = "command ended",
		[HD_EV_RESIGN] = "resign asked", [HD_EV_PAUSE] = "pause",
		[HD_EV_RESUME] = "resume",       [HD_EV_GONE] = "tree gone",
		[HD_EV_REST_OVER] = "rest over", [HD_EV_TIME_UP] = "time up",
		[HD_EV_REFUSED] = "refused",
	};

	return words[event];
}

const char *hd_action_word(enum hd_action action)
{
	static const char *const words[HD_ACT_COUNT] = {
		[HD_ACT_NONE] = "",           [HD_ACT_START] = "start the command",
		[HD_ACT_GIVE_UP] = "give up", [HD_ACT_DROP] = "drop the session",
		[HD_ACT_STOP] = "stop",       [HD_ACT_END] = "end the tree",
		[HD_ACT_RELEASE] = "release", [HD_ACT_NOTICE] = "death notice",
	};

	return words[action];
}
