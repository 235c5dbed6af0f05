/* listener.h - for tests: how long silence may last. */
#ifndef HD_PG_LISTENER_H
#define HD_PG_LISTENER_H

#include <howdah/listener.h>

/* Milliseconds without a byte from the server, and for the answer then; 30 s and 5 s at first. */
void hd_listener_set_patience(struct hd_listener *l, int64_t silence_ms, int64_t answer_ms);

#endif
