# shellcheck shell=bash
# partition_locks.sh - partition.t's part for the advisory lock.

# The server restarts while A is cut off: nobody told A. B gets the lock, waits for a whole lease, and
# is killed or stopped in the middle; C must know nothing less than B did.
LEASE_MS=8000
for how in KILL STOP; do
	role=laundered-$how
	pair "$role"
	cut
	"$lib/pgserver" restart "$server"
	waits() { state_is "$1" waiting; }
	eventually waits B
	result $? "$role: B waits" "$(tail -n 3 "$tmp/B.log")"
	like "$(grep state=waiting "$tmp/B.log" | tail -n 1)" 'wait=(7[0-9]{3}|8000)ms reason="the server restarted' \
		"$role: for the whole lease, and says why"
	start_node C "$role" "$DSN"
	eventually log_has C event=connected
	kill -$how "${pid[B]}"
	eventually waits C
	like "$(grep state=waiting "$tmp/C.log" | tail -n 1)" 'wait=(7[0-9]{3}|8000)ms reason="the server restarted' \
		"$role: C waits just as long, for the same reason"
	[ $how = KILL ] || kill -KILL "${pid[B]}"
	finish "$role" C
done

# The same with a planted bug: a server function that lets the node that takes the role write its own
# server start over that of the term that led. Then C can't know, and the checker must see it.
plant_overwritten() {
	sql app "create or replace function howdah.planted() returns trigger language plpgsql as \$\$
		begin
			if new.token > old.token then
				new.led_started = pg_postmaster_start_time();
			end if;
			return new;
		end \$\$;
		create trigger planted before update on howdah.leadership
			for each row execute function howdah.planted()"
}
plant_overwritten
role=planted
pair $role
cut
"$lib/pgserver" restart "$server"
eventually state_is B waiting
start_node C "$role" "$DSN"
eventually log_has C event=connected
kill -KILL "${pid[B]}"
eventually leads C
heal
eventually state_is A standby
stop_nodes
like "$(verdict $role)" 'overlap of' "planted: a taker that overwrites the led term gives two leaders, and the checker sees it"
