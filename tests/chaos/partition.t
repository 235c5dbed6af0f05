#!/bin/bash
# Half-open connections, for real: a node in a network namespace of its own whose packets vanish. Its
# command must be dead before anybody else's starts, whatever the server's keepalives are.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"

. "$(dirname "$0")/netns.sh"

port=5432
start_server -p $port "listen_addresses=127.0.0.1,$net.1"
echo "host all all $net.0/24 trust" >>"$server/data/pg_hba.conf"
"$lib/pgserver" restart "$server"
fresh_db app
DSN=$(dsn app)
FAR="host=$net.1 port=$port user=postgres dbname=app"

# A lives in the namespace; everybody else does not.
pair() {
	rm -f "$tmp"/[ABC].log
	start_inside A "$1" "$FAR" && eventually leads A && start_node B "$1" "$DSN" && eventually log_has B event=connected
	result $? "$1: A leads over TCP, B stands by" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
	like "$(cat "$tmp/A.log")" 'verdict=direct' "$1: A's connection is direct"
}

finish() {
	local said
	eventually leads "$2"
	result $? "$1: $2 leads" "$(tail -n 4 "$tmp/$2.log")"
	heal
	back() { state_is A standby; }
	eventually back
	result $? "$1: A stands by again after the network is back" "$(tail -n 3 "$tmp/A.log")"
	eventually has_terms "$1" 2
	stop_nodes
	said=$(verdict "$1" least 2 idle $((3 * (2 * LEASE_MS + RETRY_MS + 1100))))
	result $? "$1: no overlap, tokens grow, idle in bounds" "$said"
}

keepalives() { # IDLE INTERVAL COUNT USER_TIMEOUT
	sql postgres "alter system set tcp_keepalives_idle = $1" "alter system set tcp_keepalives_interval = $2" \
		"alter system set tcp_keepalives_count = $3" "alter system set tcp_user_timeout = $4" >/dev/null
	sql postgres "select pg_reload_conf()" >/dev/null
}

pair cut-off
cut
finish cut-off B

# A server whose keepalives give up long before the lease would free the lock early.
keepalives 1 1 1 1000
pair impatient-server
cut
finish impatient-server B
keepalives 0 0 0 0

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
plant() {
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
plant
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

done_testing
