#!/bin/bash
# The lease row: through every pooler, without a session to hold on to, and never beyond the lease.
# shellcheck source-path=SCRIPTDIR
ELECTION=lease
. "$(dirname "$0")/nodes.sh"

start_server
fresh_db app
DSN=$(dsn app)

pair() { # ROLE DSN
	rm -f "$tmp/A.log" "$tmp/B.log"
	start_node A "$1" "$2" && eventually leads A && start_node B "$1" "$2" &&
		eventually log_has B event=connected
	result $? "$1: A leads, B stands by" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
}

# The count of a role's renewals; the server may just be starting.
beat_of() {
	local n
	for _ in $(seq 600); do
		n=$(sql app "select beat from howdah.leadership where role = '$1'")
		[[ ! $n =~ ^[0-9]+$ ]] || break
		sleep 0.05
	done
	echo "$n"
}
renewed() { [ "$(beat_of "$1")" -gt $(($2 + $3)) ]; } # ROLE BEAT TIMES

finish() { # ROLE [ARGUMENT ...]
	local role=$1 said
	shift
	eventually has_terms "$role" 2
	stop_nodes
	said=$(verdict "$role" least 2 "$@")
	result $? "$role: no overlap, tokens grow, idle in bounds" "$said"
}

# A hand-over and a take-over, through each pooler that gives no session.
through() { # NAME DSN
	local role
	if [[ $1 != pgpool* ]]; then
		"$bin" run --db "$2" --role "refused-$1" --wait 1s -- true 2>"$tmp/err"
		is $? 77 "$1: advisory election is refused"
		like "$(cat "$tmp/err")" 'election lease' "$1: and names the way out"
	fi
	role=hand-over-$1
	pair "$role" "$2"
	kill -TERM "${pid[A]}"
	eventually leads B
	result $? "$role: B leads" "$(tail -n 3 "$tmp/B.log")"
	finish "$role" idle $((3 * (RETRY_MS + 500)))
	role=take-over-$1
	pair "$role" "$2"
	kill -KILL "${pid[A]}"
	eventually leads B
	result $? "$role: B leads" "$(tail -n 3 "$tmp/B.log")"
	finish "$role" idle $((3 * (LEASE_MS + RETRY_MS)))
}

through pgpool "$("$lib/pgpool" start "$tmp/g" "$server" | sed 's/dbname=[^ ]*/dbname=app/')"
"$lib/pgpool" stop "$tmp/g"
pool() { "$lib/pgbouncer" start "$tmp/$1" "$server" "${@:2}" | sed 's/dbname=[^ ]*/dbname=app/'; }
through transaction "$(pool pool-t pool_mode=transaction default_pool_size=5)"
through narrow "$(pool pool-n pool_mode=transaction default_pool_size=1)"
through statement "$(pool pool-s pool_mode=statement default_pool_size=5)"
for one in pool-t pool-n pool-s; do "$lib/pgbouncer" stop "$tmp/$one"; done

# One role, one mode.
pair mixed "$DSN"
"$bin" run --db "$DSN" --role mixed --election advisory --wait 0 -- true 2>"$tmp/err"
is $? 77 "mixed: the other mode for the same role is refused"
like "$(cat "$tmp/err")" 'mode lease, not with .* mode advisory' "mixed: both are named"
kill -TERM "${pid[A]}"
finish mixed

# Sessions are nothing: leadership survives their end, and a restart of the server.
pair sessions "$DSN"
for _ in 1 2 3; do
	sql app "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah:elector:sessions'" >/dev/null
	eventually renewed sessions "$(beat_of sessions)" 1
done
leads A
result $? "sessions: A leads on after its sessions were ended" "$(tail -n 5 "$tmp/A.log")"
"$lib/pgserver" restart "$server"
eventually renewed sessions "$(beat_of sessions)" 1
leads A
result $? "sessions: and after a restart of the server" "$(tail -n 5 "$tmp/A.log")"
kill -TERM "${pid[A]}"
finish sessions

# Nobody acts beyond the lease while there is no database.
pair outage "$DSN"
before=$(sql app "select token from howdah.leadership where role = 'outage'")
"$lib/pgserver" stop "$server"
stopped=$(now_ms)
nobody() { ! alive $(awk '{ print $4 }' "$tmp/outage.scribe" | sort -u); }
eventually nobody
took=$(($(now_ms) - stopped))
check "outage: the command is dead within the lease ($took ms of $LEASE_MS)" [ $took -lt $((LEASE_MS + 500)) ]
"$lib/pgserver" start "$server" >/dev/null
again() { [ "$(sql app "select count(*) from howdah.leadership where role = 'outage' and token > $before and state = 'leading'")" = 1 ]; }
eventually again
result $? "outage: somebody leads when it is back" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
finish outage

# The clock that people see is the application's, and nobody compares it: an hour off changes nothing.
pair clock "$DSN"
sql app "update howdah.leadership set expires_at = now() - interval '1 hour', seen_at = now() - interval '1 hour' where role = 'clock'" >/dev/null
eventually renewed clock "$(beat_of clock)" 3
leads A
result $? "clock: an expiry in the past takes nothing from the holder"
kill -TERM "${pid[A]}"
eventually leads B
is "$(sql app "select count(*) from howdah.leadership where role = 'clock' and expires_at > now()")" 1 "clock: people see when the lease ends"
finish clock

# A row that a fool emptied: the holder stops, tokens go on.
pair fool "$DSN"
before=$(sql app "select token from howdah.leadership where role = 'fool'")
sql app "delete from howdah.leadership where role = 'fool'" >/dev/null
newer() { [ "$(sql app "select count(*) from howdah.leadership where role = 'fool' and token > $before and state = 'leading'")" = 1 ]; }
eventually newer
result $? "fool: somebody leads with a larger token after the row was deleted" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
finish fool

done_testing
