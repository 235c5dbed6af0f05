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

# A lives in the namespace; everybody else does not. pair ROLE [OPTION ...]
pair() {
	rm -f "$tmp"/[ABC].log
	start_inside A "$1" "$FAR" "${@:2}" && eventually leads A && start_node B "$1" "$DSN" "${@:2}" &&
		eventually log_has B event=connected
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

if [ "$ELECTION" = lease ]; then
	. "$(dirname "$0")/partition_rows.sh"
else
	. "$(dirname "$0")/partition_locks.sh"
fi

done_testing
