# shellcheck shell=bash
# partition_rows.sh - partition.t's part for the lease row.

# Leases are watched anew after a restart, whatever was seen before it.
LEASE_MS=8000
role=restarted
pair $role
cut
at=$(now_ms)
watched() { [ "$(now_ms)" -gt $((at + LEASE_MS / 2)) ]; }
eventually watched
"$lib/pgserver" restart "$server"
restarted=$(now_ms)
eventually leads B
took=$(($(now_ms) - restarted))
check "$role: B watches for a whole lease after the restart ($took ms of $LEASE_MS)" [ $took -ge $LEASE_MS ]
like "$(grep state=waiting "$tmp/B.log" | tail -n 1)" 'silent for a whole lease' "$role: and says so"
finish $role B

# A guard that hangs when the trust ends: its elector ends it before anybody can take the row, also where
# the command's grace is longer than the margin.
role=hung-guard
pair $role --lost-grace 2500ms
cut
kill -STOP "$(guard_of A)"
finish $role B

# The checker must see it when somebody else tells that A is dead while it is only cut off.
role=planted
pair $role
cut
sql app "update howdah.leadership set owner = null, state = null, closing = true, clear_token = led_token where role = '$role'"
eventually leads B
heal
eventually state_is A standby
stop_nodes
like "$(verdict $role)" 'overlap of' "planted: a false death notice gives two leaders, and the checker sees it"
