#!/bin/bash
# What happens to the server happens to everybody: sessions terminated, restarts, crashes. And what an
# operator does: resign, pause, resume.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/nodes.sh"

start_server
fresh_db app
DSN=$(dsn app)
SEEN=$((3 * (RETRY_MS + 1100)))

some_lead() { leads A || leads B; }
led_since() { # ROLE TOKEN: by a newer token
	[ "$(sql app "select count(*) from howdah.leadership where role = '$1' and led_token > $2 and state = 'leading'")" = 1 ]
}
token_of() { sql app "select led_token from howdah.leadership where role = '$1'"; }

pair() {
	rm -f "$tmp/A.log" "$tmp/B.log"
	start_node A "$1" "$DSN" && eventually leads A && start_node B "$1" "$DSN" &&
		eventually log_has B event=connected
	result $? "$1: A leads, B stands by" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
	before=$(token_of "$1")
}

finish() { # ROLE [ARGUMENT ...]
	local role=$1 said
	shift
	eventually has_terms "$role" 2
	stop_nodes
	said=$(verdict "$role" least 2 "$@")
	result $? "$role: no overlap, tokens grow, idle in bounds" "$said"
}

pair terminated
sql app "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted" >/dev/null
eventually led_since terminated "$before"
result $? "terminated: somebody leads again" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
like "$(cat "$tmp/A.log")" 'state=lost' "terminated: A noticed at once, without a heartbeat"
finish terminated idle $SEEN

pair cancelled
for _ in 1 2 3; do
	sql app "select pg_cancel_backend(pid) from pg_locks where locktype = 'advisory' and granted" >/dev/null
done
leads A
result $? "cancelled: a cancelled statement costs no leadership"
kill -TERM "${pid[A]}"
eventually leads B
finish cancelled

# After a restart nobody can see the old leader: whoever is first waits for a whole lease, unless the
# old leader comes back and says that its command is dead.
LEASE_MS=30000
for how in restart immediate kill; do
	pair "server-$how"
	case $how in
	restart) "$lib/pgserver" restart "$server" ;;
	*) "$lib/pgserver" $how "$server" && "$lib/pgserver" start "$server" >/dev/null ;;
	esac
	eventually led_since "server-$how" "$before"
	result $? "server-$how: somebody leads again" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
	finish "server-$how" idle $((LEASE_MS / 2))
done
LEASE_MS=5000

pair resigned
like "$("$bin" leader resign resigned --db "$DSN" --reason "new kernel" 2>&1)" "$before" "resigned: the token that is asked is named"
eventually leads B
result $? "resigned: B leads" "$(tail -n 3 "$tmp/A.log" "$tmp/B.log")"
like "$(sql app "select reason from howdah.leadership_history where role = 'resigned' and event = 'resign asked'")" \
	'new kernel' "resigned: the history knows why"
like "$(tail -n 1 "$tmp/A.log")" 'state=standby' "resigned: A stands by again"
finish resigned idle $SEEN

pair paused
"$bin" leader pause paused --db "$DSN" --reason "night shift" >/dev/null 2>&1
both_paused() { state_is A paused && state_is B paused; }
eventually both_paused
result $? "paused: both nodes say so" "$(tail -n 2 "$tmp/A.log" "$tmp/B.log")"
nobody() { ! alive $(awk '{ print $4 }' "$tmp/paused.scribe" | sort -u); }
eventually nobody
result $? "paused: no command runs"
"$bin" run --db "$DSN" --role paused --wait 0 -- true 2>"$tmp/err"
is $? 77 "paused: a one-shot node is refused"
"$bin" leader resume paused --db "$DSN" >/dev/null 2>&1
eventually led_since paused "$before"
result $? "paused: after resume somebody leads" "$(tail -n 2 "$tmp/A.log" "$tmp/B.log")"
finish paused

# A take-over that a transaction holds back ends it at the bound, and says whom it ended.
pair blocked
connect zombie app
ask zombie "begin; select howdah.assert_leader('blocked', $before)" >/dev/null
kill -KILL "${pid[A]}"
busy() { ask zombie "select pg_sleep($LEASE_MS / 1000.0 + 3)" >/dev/null; }
busy &
eventually log_has B 'event="take-over blocked" by='
result $? "blocked: B names who holds it back" "$(tail -n 3 "$tmp/B.log")"
eventually leads B
result $? "blocked: and leads once that session was ended" "$(tail -n 3 "$tmp/B.log")"
finish blocked

done_testing
