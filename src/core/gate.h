/* gate.h - reading the list of names in HOWDAH_WORKERS: "poller, nightly,@relay". */
#ifndef HD_CORE_GATE_H
#define HD_CORE_GATE_H

#include <stdbool.h>
#include <stddef.h>

/* The next name of a list, its length in `ret_n`; NULL at the end. Moves *at behind it. */
const char *hd_gate_next_name(const char **at, size_t *ret_n);

/* Whether the `n` bytes at `text` are the very name. */
bool hd_gate_is_name(const char *text, size_t n, const char *name);

/* Whether the list has the very name in it. */
bool hd_gate_names(const char *workers, const char *wanted);

/* Whether the list, or NULL, opens the gate for `name`: it names it, or "all". */
bool hd_gate_opens(const char *workers, const char *name);

#endif
