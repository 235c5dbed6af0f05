#!/bin/bash
# The election inside C programs: the two examples as processes that compete on a real server. They are
# killed, stopped, told to go; a checker reads what they did: no overlap, tokens grow.
# shellcheck source-path=SCRIPTDIR
build=${HOWDAH_BUILD:?the build folder under test}
checker=$build/tests/checker
. "$(dirname "$0")/../lib/pg.sh"
unset HOWDAH_WORKERS

LEASE_MS=5000
start_server
fresh_db app
sql app 'create table ledger (role text, token bigint, n bigserial)'
export PGHOST=$server PGPORT PGUSER=postgres PGDATABASE=app
PGPORT=$(cat "$server/port")
declare -A pid stdin
election=advisory

# start NAME PROGRAM ROLE: its lines go to $tmp/ROLE.scribe, its complaints to $tmp/NAME.err.
start() {
	local name=$1 program=$2 role=$3 fd
	rm -f "$tmp/$name.in" && mkfifo "$tmp/$name.in"
	(
		for fd in "${stdin[@]}"; do
			eval "exec $fd>&-" # or it would hold the input of the other one open
		done
		exec "$build/tests/example-$program" "$role" $LEASE_MS $election \
			<"$tmp/$name.in" >>"$tmp/$role.scribe" 2>>"$tmp/$name.err"
	) &
	pid[$name]=$!
	exec {fd}>"$tmp/$name.in" # leader_loop ends with its input
	stdin[$name]=$fd
}

close_input() {
	eval "exec ${stdin[$1]}>&-"
	unset "stdin[$1]"
}

wrote() { awk -v p="${pid[$1]}" '$4 == p { found = 1 } END { exit !found }' "$tmp/$2.scribe"; }
sessions() { [ "$(sql postgres "select count(*) from pg_stat_activity where application_name = 'howdah:elector:$1'")" -ge "$2" ]; }
tokens() { awk '{ print $2 }' "$tmp/$1.scribe" | uniq | wc -l; }

# pair PROGRAM ROLE: A leads, B stands by.
pair() {
	start A "$1" "$2" && eventually wrote A "$2" && start B "$1" "$2" && eventually sessions "$2" 2
	result $? "$2: A leads, B stands by" "$(cat "$tmp/A.err" "$tmp/B.err")"
}

# over ROLE IDLE_MS: B works, A's processes are gone, and nothing overlapped.
over() {
	eventually wrote B "$1"
	result $? "$1: B leads" "$(cat "$tmp/A.err" "$tmp/B.err")"
	for name in A B; do
		kill -CONT "${pid[$name]}" 2>/dev/null
		kill -KILL "${pid[$name]}" 2>/dev/null
		wait "${pid[$name]}" 2>/dev/null
		[ -z "${stdin[$name]:-}" ] || close_input "$name"
	done
	local said
	said=$("$checker" "$tmp/$1.scribe" least 2 idle "$2")
	result $? "$1: no overlap, tokens grow, idle in bounds" "$said"
	is "$(sql app "select count(*) from (select token < lag(token) over (order by n) as back from ledger
		where role = '$1') x where back")" 0 "$1: the ledger has no write of an older token behind a newer one"
}

# Bounds are three times the budget: what the leader promised (2 s) and a retry, or a lease more.
SEEN=$((3 * 4500)) BLIND=$((3 * (LEASE_MS + 4500)))

for program in leader_process leader_loop; do
	role=$program-killed
	pair $program "$role"
	kill -KILL "${pid[A]}"
	over "$role" $SEEN

	# Longer than the lease: another one led meanwhile, so the first thing after SIGCONT must be to stop.
	role=$program-stopped
	pair $program "$role"
	kill -STOP "${pid[A]}"
	eventually wrote B "$role"
	result $? "$role: B leads while A is stopped"
	kill -CONT "${pid[A]}"
	eventually grep -q '^lost: ' "$tmp/A.err"
	result $? "$role: A says that it lost the role" "$(cat "$tmp/A.err")"
	eventually sessions "$role" 2
	result $? "$role: and competes again"
	over "$role" $BLIND

	role=$program-terminated
	pair $program "$role"
	: >"$tmp/A.err"
	sql postgres "select pg_terminate_backend(a.pid) from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and a.application_name = 'howdah:elector:$role'" >/dev/null
	eventually grep -q '^lost: ' "$tmp/A.err"
	result $? "$role: A notices that its session was ended" "$(cat "$tmp/A.err")"
	more_tokens() { [ "$(tokens "$role")" -ge 2 ]; }
	eventually more_tokens
	result $? "$role: somebody works under a new token"
	kill -KILL "${pid[A]}"
	over "$role" $((2 * SEEN))
done

# A graceful end: no wait at all, well below what a killed leader costs.
hand_over() { # PROGRAM ROLE COMMAND ...
	local program=$1 role=$2
	shift 2
	pair "$program" "$role"
	"$@"
	wait "${pid[A]}"
	is $? 0 "$role: A ends with 0"
	over "$role" 1900
	like "$(sql app "select event || ' ' || reason from howdah.leadership_history where role = '$role'")" \
		'released done' "$role: the history says so"
}
terminate_a() { kill -TERM "${pid[A]}"; }
hand_over leader_process handed-over terminate_a
hand_over leader_loop loop-handed-over close_input A

# Behind a pooler that shares sessions: refused with the way out, and led by a lease row.
"$lib/pgbouncer" start "$tmp/pooler" "$server" pool_mode=transaction default_pool_size=2 >/dev/null
PGHOST=$tmp/pooler PGPORT=$(cat "$tmp/pooler/port")
start A leader_process pooled
eventually grep -q '^refused: ' "$tmp/A.err"
result $? "behind a pooler: an advisory lock is refused" "$(cat "$tmp/A.err")"
kill -KILL "${pid[A]}"
wait "${pid[A]}" 2>/dev/null

election=lease
rm -f "$tmp/A.err"
competes() { [ "$(sql app "select count(*) from howdah.leadership where role = '$1' and beat > 0")" = 1 ]; }
lease_pair() {
	start A leader_process "$1" && eventually wrote A "$1" && start B leader_process "$1" && eventually competes "$1"
	result $? "$1: A leads by a lease row through the pooler" "$(cat "$tmp/A.err" "$tmp/B.err")"
}
lease_pair pooled-killed
kill -KILL "${pid[A]}"
over pooled-killed $BLIND
lease_pair pooled-stopped
kill -STOP "${pid[A]}"
over pooled-stopped $BLIND
lease_pair pooled-handed-over
terminate_a
wait "${pid[A]}"
is $? 0 "pooled-handed-over: A ends with 0"
over pooled-handed-over $BLIND
"$lib/pgbouncer" stop "$tmp/pooler"

done_testing
