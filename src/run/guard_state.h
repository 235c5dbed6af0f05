/* guard_state.h - the guard's own state; for run/guard*.c only. */
#ifndef HD_RUN_GUARD_STATE_H
#define HD_RUN_GUARD_STATE_H

#include "app/held.h"
#include "app/spawn.h"
#include "app/terminal.h"
#include "app/tree.h"
#include "core/ending.h"
#include "run/term.h"
#include <stdbool.h>

struct hd_guard_state {
	const struct hd_guard_plan *plan;
	char **argv;
	struct hd_ending ending;
	hd_mono armed; /* what the timer is set to */
	bool survivors;
	bool started; /* STARTED was reported */
	int start_error;
	struct hd_child command;
	struct hd_tree tree;
	struct hd_held held;
	struct hd_terminal terminal;
	int channel; /* -1 once the elector is gone */
	int lease;   /* -1: none, or seen to be closed */
	int timer;
	int deaths; /* signalfd of SIGCHLD */
};

/* guard_term.c: what happens to the term. None of these blocks, the sweep excepted. */
void hd_guard_do(struct hd_guard_state *g, const struct hd_guard_message *order);
void hd_guard_lost(struct hd_guard_state *g, enum hd_guard_loss how);
void hd_guard_settle(struct hd_guard_state *g);  /* the exec has an answer, perhaps */
void hd_guard_finish(struct hd_guard_state *g);  /* KILL, sweep, last reports */
void hd_guard_on_time(struct hd_guard_state *g); /* whatever is due by now */
void hd_guard_report(const struct hd_guard_state *g, enum hd_guard_report kind, int64_t value);

#endif
